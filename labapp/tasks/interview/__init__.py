"""Interviews: the moderator asks along a guide, and the participant talks."""
