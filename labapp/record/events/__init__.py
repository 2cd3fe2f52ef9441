"""The vocabulary: everything that can happen in a session, and everything that can be asked of it.

What only one task has is in that task's folder (`labapp.tasks.*.events`); the
registry of kinds knows it all the same, those of other packages too.

This package imports no other part of labapp: journals must stay readable whatever else changes.
"""

from labapp.record.events.registry import (
    GENESIS,
    Event,
    Payload,
    Source,
    UnstampedEvent,
    describe,
    payload_of,
    payloads_of,
    registered_kinds,
    row_hash,
)

__all__ = [
    "GENESIS",
    "Event",
    "Payload",
    "Source",
    "UnstampedEvent",
    "describe",
    "payload_of",
    "payloads_of",
    "registered_kinds",
    "row_hash",
]
