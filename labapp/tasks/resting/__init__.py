"""Breaks: the participant rests, and no duration counts it."""
