"""Texts of one or more pages, and the debrief."""
