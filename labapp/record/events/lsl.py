"""Kinds of what a session sends over the Lab Streaming Layer."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from labapp.record.events.registry import MessagePayload, Payload, kind
from labapp.record.events.types import Whole


@kind("lsl.opened", durable=True)
class LslOpened(Payload):
    """The session's events are sent over the Lab Streaming Layer from here on, unencrypted.

    Attributes
    ----------
    source_id : by which recordings of the streams are known as this session's; drawn at random, and
        the same in each run of a session.
    streams : their names.
    library : the version of liblsl that sends them.
    """

    source_id: str
    streams: tuple[str, ...]
    library: str


@kind("lsl.clock")
class LslClock(Payload):
    """One moment on the session's clock and on that of LSL; a further one where they drift apart.

    Attributes
    ----------
    session_ns : the moment as session time.
    lsl_s : the same on the clock that time stamps in the streams are of, in seconds.
    """

    session_ns: Whole
    lsl_s: float


@kind("lsl.off", durable=True)
class LslOff(MessagePayload):
    """The session's events were to be sent over the Lab Streaming Layer, and are not.

    Attributes
    ----------
    reason : why, in words.
    """

    reason: str
    message: dict[str, Any] = field(default_factory=dict)
