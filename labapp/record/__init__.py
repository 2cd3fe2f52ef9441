"""What is recorded: events, the journal, sound, and streams to other devices.

A session is its journal; everything that is known of it later was written here first.
"""
