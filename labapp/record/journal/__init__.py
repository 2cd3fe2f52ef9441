"""Journals: the rows of a session's file, written by `write` and read by everything else.

`rows`, `layout` and `integrity` are what writer and readers agree on. What was recorded is never
changed; whatever comes from outside is read with limits and refused in words. It imports events,
reading, errors and the clock, and no study, task or session.
"""
