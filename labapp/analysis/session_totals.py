"""What one session came to as a whole: how long it took, how it ended, what sound there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from labapp.base.clock import NS
from labapp.base.errors import RecordError
from labapp.record.events import Event, Payload, Source
from labapp.record.events.agreement import Agreement
from labapp.record.events.durations import Pauses
from labapp.record.events.lifecycle import (
    PartEnded,
    ParticipantSimulated,
    PartRestarted,
    PartSkipped,
    PartStarted,
    SegmentStarted,
    SessionCompleted,
    SessionEnded,
    SessionPlanned,
)
from labapp.record.events.moderation import BlindingSet
from labapp.record.events.registry import frequent_kinds
from labapp.record.events.undoing import SessionReopened
from labapp.record.events.voice import AudioBlock, AudioGap, AudioOff, AudioStarted
from labapp.study.plugins import registry

UNFINISHED = "unfinished"
LAST_MOVED_YEAR = "1925"
"""Dates up to this year are not true ones: de-identified copies have them moved there, as BIDS asks
for (specification, "Common principles")."""


@dataclass(slots=True)
class Span:
    """When a part ran, in working seconds; outcome and ended_s stay None while it has no end. One
    that was skipped before it began has an outcome and no end."""

    started_s: float
    ended_s: float | None = None
    outcome: str | None = None

    @property
    def duration_s(self) -> float | None:
        return None if self.ended_s is None else self.ended_s - self.started_s


@dataclass(slots=True)
class SessionTotals:
    """A session as a whole.

    outcome: completed, ended_early, declined or unfinished. elapsed_s is session time,
    duration_s working time (without pauses and gaps). sound_s is the length of the sound files,
    sound_lost_s the part of it that was lost and filled with silence. breaks: session time in s of
    each planned break, by its id; None while it has no end. strategy: of a simulated participant.
    consent_signed: how the form was signed, None without consent; agreed: to which uses of the
    data, of those that were asked one by one.
    blind: whether the moderator began blind, None where the journal does not say; unblinded_s:
    session time from which representations were named to one who did.
    """

    planned: SessionPlanned
    started_utc: str
    boot_id: str
    n_events: int = 0
    outcome: str = UNFINISHED
    ended_reason: str = ""
    elapsed_s: float = 0.0
    duration_s: float = 0.0
    simulated: bool = False
    strategy: str | None = None
    spans: dict[str, Span] = field(default_factory=dict)
    breaks: dict[str, float | None] = field(default_factory=dict)
    app_versions: list[str] = field(default_factory=list)
    sound_s: float = 0.0
    sound_lost_s: float = 0.0
    no_sound_because: str = ""
    consent_signed: str | None = None
    agreed: Mapping[str, bool] = field(default_factory=dict)
    blind: bool | None = None
    unblinded_s: float | None = None

    @property
    def interviews(self) -> list[Span]:
        """When the interviews of the plan ran, as far as they did."""
        ids = {
            str(row["id"])
            for row in self.planned.plan
            if registry.part_class(str(row["part"])).talks
        }
        return [span for part_id, span in self.spans.items() if part_id in ids]


def true_date(utc: str) -> bool:
    """Whether a time, as journals and tables have it, is of the day on which it was."""
    return utc[:4] > LAST_MOVED_YEAR


def fold_totals(events: Iterable[tuple[Event, Payload]]) -> SessionTotals:
    """The totals of one session. Raises RecordError when it does not begin with its plan."""
    totals: SessionTotals | None = None
    pauses = Pauses()
    rates: dict[str, int] = {}
    frames: dict[str, int] = {}
    planned_breaks: frozenset[str] = frozenset()
    rest_began_s = 0.0
    last_ns = 0
    frequent = frequent_kinds()
    for event, payload in events:
        if totals is None:
            totals = _opened(event, payload)
            planned_breaks = breaks_of(totals.planned)
        totals.n_events += 1
        last_ns = event.t_ns
        totals.simulated = totals.simulated or event.source == Source.SIMULATED
        if event.kind in frequent:
            continue
        pauses = pauses.apply(event)
        working_s = pauses.working_ns(event.t_ns) / NS
        totals.elapsed_s = event.t_ns / NS
        match payload:
            case SegmentStarted():
                totals.boot_id = totals.boot_id or payload.boot_id
                if payload.app_version not in totals.app_versions:
                    totals.app_versions.append(payload.app_version)
            case ParticipantSimulated():
                totals.strategy = payload.strategy
            case PartStarted() | PartRestarted() if event.part_id is not None:
                totals.spans[event.part_id] = Span(working_s)
                if event.part_id in planned_breaks:
                    totals.breaks[event.part_id], rest_began_s = None, totals.elapsed_s
            case PartEnded() if event.part_id in totals.spans:
                span = totals.spans[event.part_id]
                span.ended_s, span.outcome = working_s, payload.outcome
                if event.part_id in planned_breaks:
                    totals.breaks[event.part_id] = totals.elapsed_s - rest_began_s
            case PartSkipped() if event.part_id is not None:
                totals.spans[event.part_id] = Span(working_s, outcome="skipped")
            case SessionCompleted():
                totals.outcome = "completed"
            case SessionEnded():
                declined = any(span.outcome == "declined" for span in totals.spans.values())
                totals.outcome = "declined" if declined else "ended_early"
                totals.ended_reason = payload.reason
            case Agreement():
                totals.consent_signed, totals.agreed = payload.signed, payload.uses
            case SessionReopened():
                totals.outcome, totals.ended_reason = UNFINISHED, ""
            case AudioStarted():
                rates[payload.file] = payload.nominal_rate
                totals.no_sound_because = ""  # a microphone came late
            case AudioBlock():
                frames[payload.file] = payload.frames
            case AudioGap() if payload.file in rates:
                totals.sound_lost_s += payload.frames / rates[payload.file]
            case BlindingSet():
                if event.segment == 1 and totals.blind is None:
                    totals.blind = payload.blind
                elif totals.blind and not payload.blind and totals.unblinded_s is None:
                    totals.unblinded_s = event.t_ns / NS
            case AudioOff():
                totals.no_sound_because = payload.reason
    if totals is None:
        raise RecordError(
            "The session holds no event.", safe="Nothing was changed.", todo="Leave it out."
        )
    totals.elapsed_s, totals.duration_s = last_ns / NS, pauses.working_ns(last_ns) / NS
    totals.sound_s = sum(count / rates[file] for file, count in frames.items() if file in rates)
    return totals


def breaks_of(planned: SessionPlanned) -> frozenset[str]:
    """The ids of the breaks of a plan."""
    return frozenset(
        str(row["id"]) for row in planned.plan if registry.part_class(str(row["part"])).rests
    )


def _opened(event: Event, payload: Payload) -> SessionTotals:
    if not isinstance(payload, SessionPlanned):
        raise RecordError(
            f"The session begins with {event.kind!r} instead of its plan.",
            safe="Nothing was changed.",
            todo="Check it with `labapp sessions verify`.",
        )
    return SessionTotals(planned=payload, started_utc=event.utc, boot_id="")
