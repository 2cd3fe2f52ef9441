"""Widgets that know no session: dials, choices, pictures, text fields, bars.

They are given values and words, and tell what the hand did. They import Qt and the theme.
"""
