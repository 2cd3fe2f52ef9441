"""Decoders of a lab's own on the participant's screen and in the moderator's: grey and in colour,
small and large, and series with limits of their own."""

from __future__ import annotations
