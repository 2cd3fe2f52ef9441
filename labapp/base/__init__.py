"""What every other wing stands on: files from outside, errors and messages, processes, pages.

Nothing here knows what a session is.
"""
