"""What a session sends to other devices of the lab, in each run of it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from labapp.base.clock import Clock
from labapp.base.errors import LslError
from labapp.base.messages import Message, coded
from labapp.record.events import Event, Payload
from labapp.record.events.lsl import LslOff, LslOpened
from labapp.session.runner import Runner

if TYPE_CHECKING:
    from labapp.record.lsl.streams import SessionStreams

MakeStreams = Callable[[str, Clock, Callable[[Payload], None]], "SessionStreams"]
"""Opens streams of a source id, on the session's clock; with what stores events of their own."""


def open_streams(
    runner: Runner, past: Sequence[Event], make: MakeStreams | None, reason: str, *, required: bool
) -> list[Payload]:
    """Send the events of a run from the first on; what the journal says of it.

    Parameters
    ----------
    past : of the runs before, which keep their source id.
    make : opens the streams; None where none are sent.
    reason : why none are sent although they were asked for; else empty.
    required : whether the session is refused where the streams cannot be opened.

    Raises
    ------
    LslError : they cannot be opened, and are required.
    """
    sources = [str(event.payload["source_id"]) for event in past if event.kind == LslOpened.kind]
    if make is None:
        if not reason and sources:
            reason = Message("lsl_not_again")
        return [LslOff(str(reason), coded(reason))] if reason else []
    try:
        streams = make(sources[-1] if sources else secrets.token_hex(8), runner.clock, runner.emit)
    except LslError as error:
        if required:
            raise
        return [LslOff(str(error.what), coded(error.what))]
    runner.streams = streams
    runner.journal.subscribe(streams.take)
    return [streams.opened]
