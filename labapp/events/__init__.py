"""The vocabulary: everything that can happen in a session, and everything that can be asked of it.

This package imports no other part of labapp: journals must stay readable whatever else changes.
"""

from labapp.events.event import GENESIS, Draft, Event, Source, row_hash
from labapp.events.registry import Body, body_of, describe, is_durable, registered

__all__ = [
    "GENESIS",
    "Body",
    "Draft",
    "Event",
    "Source",
    "body_of",
    "describe",
    "is_durable",
    "registered",
    "row_hash",
]
