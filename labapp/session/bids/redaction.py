"""De-identified copies: what is withheld and what is kept, and how dates are moved.

Rule: of every payload, numbers, true/false and null are kept; text is kept only where its
field is declared as the program's or the study's own words (`labapp.record.events.types.Word`).
Anything else, also in kinds that do not exist yet, becomes `WITHHELD`.

Answers to questionnaires go by what their items declare, `identifying: yes` or `no`, in the file
of the instrument as the session used it. Where nothing is declared ratings are kept, and written
answers, choices and numbers on a slider are not: a number may be an age, and a choice a gender.
An answer to an item that is not known is not kept either, nor one to an item that is asked only
after certain answers which are not kept, nor that it was not asked: it would tell them. A withheld
text becomes `WITHHELD`; any other withheld answer is dropped. What somebody wrote beside an option
is always withheld.

Dates: every date of a participant is moved by the same number of days, which is kept in the lab's
private folder and nowhere in the bundle. Times of day and all intervals stay as they were. The
clock of a sound card, which on Linux counts the seconds since 1970, begins at 0 in each file.

The path of the pointer is kept in trials only: elsewhere it leads to the answers that were given.

The hash chain of a de-identified journal is made anew over the rows as exported. Keeping the
original hashes would undo the work: whoever has the hash before and after a withheld answer can
try the few answers there are until the hash fits. The lab holds the original journal and can make
the same copy again to prove where it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from labapp.base.errors import BundleError
from labapp.record.events import GENESIS
from labapp.record.events.event import payload_text
from labapp.record.events.lifecycle import SegmentStarted
from labapp.record.events.moderation import PointerMoved
from labapp.record.events.questionnaires import QuestionnaireSubmitted, ResponseChanged
from labapp.record.events.voice import AudioBlock
from labapp.record.journal.integrity import plausible
from labapp.record.journal.layout import FolderName
from labapp.record.journal.read import Row, payloads
from labapp.study.instruments import Instrument, Item
from labapp.study.instruments.asking import withheld
from labapp.study.plugins import registry

WITHHELD = "[withheld]"

KEPT_ENVIRONMENT = frozenset({"labapp", "python", "system", "libraries", "plugins"})
"""Entries of environment.json (and of environment.recorded) whose text is kept."""


def redact(rows: Sequence[Row], instruments: Mapping[str, Instrument], days: int = 0) -> list[Row]:
    """The rows of a de-identified journal, marked where they were reduced, chained anew.

    instruments: the session's, by id; days: by which its dates are moved back. Raises BundleError
    for a date that is none.
    """
    out = []
    previous = GENESIS
    clocks: dict[str, float] = {}
    for row, (event, payload) in zip(rows, plausible(payloads(rows)), strict=True):
        reduced = redact_payload(row.kind, event.payload, instruments)
        if row.kind == SegmentStarted.kind and isinstance(reduced.get("utc"), str):
            reduced["utc"] = moved(reduced["utc"], days)
        elif isinstance(payload, AudioBlock):
            # On a clock that is 0 at the first of the file.
            for _, adc_s, _ in payload.anchors[:1]:
                clocks.setdefault(payload.file, adc_s)
            reduced["anchors"] = [
                [frame, adc_s - clocks[payload.file], captured_ns]
                for frame, adc_s, captured_ns in payload.anchors
            ]
        elif isinstance(payload, PointerMoved) and event.trial is None:
            reduced |= {"t_ms": [], "x": [], "y": []}
        if reduced != event.payload:
            row = row._replace(payload=payload_text(reduced), redacted=True)
        row = row._replace(utc=moved(row.utc, days))
        previous = row.chained(previous)
        out.append(row._replace(hash=previous))
    return out


def moved(utc: str, days: int) -> str:
    """A time as `labapp.base.clock` writes it, so many days earlier. Raises BundleError."""
    if not days:
        return utc
    try:
        return f"{date.fromisoformat(utc[:10]) - timedelta(days)}{utc[10:]}"
    except (ValueError, OverflowError) as error:
        raise BundleError(
            f"A time in the journal cannot be read as a date ({utc[:40]!r}).",
            safe="No bundle was made; the session was not touched.",
            todo="Look at it with `labapp sessions verify`.",
        ) from error


def moved_name(name: FolderName, days: int) -> FolderName:
    """The name of a session folder, so many days earlier. Raises BundleError."""
    dashed = f"{name.utc[:4]}-{name.utc[4:6]}-{name.utc[6:]}"
    return FolderName(name.participant, name.session, moved(dashed, days).replace("-", ""))


def redact_payload(
    kind: str, payload: Mapping[str, Any], instruments: Mapping[str, Instrument]
) -> dict[str, Any]:
    """A payload without free text and without answers that identify somebody."""
    if kind == "environment.recorded":
        return {name: redact_environment(value) for name, value in payload.items()}
    fields = registry.kept_text().get(kind, frozenset())
    reduced = {
        name: value if name in fields else withhold(value) for name, value in payload.items()
    }
    instrument = str(payload.get("instrument"))
    if kind == ResponseChanged.kind:
        reduced["value"] = _answer(instruments, instrument, payload["item"], payload["value"])
    elif kind == QuestionnaireSubmitted.kind and isinstance(payload["answers"], dict):
        answers = {
            item: _answer(instruments, instrument, item, value)
            for item, value in payload["answers"].items()
        }
        reduced["answers"] = {item: value for item, value in answers.items() if value is not None}
        left_out = reduced.pop("not_asked", ())
        if told := [i for i in left_out if _shared(instruments, instrument, i) is not None]:
            reduced["not_asked"] = told
    return reduced


def _shared(instruments: Mapping[str, Instrument], instrument: str, item: object) -> Item | None:
    """An item whose answers are kept; None for one that is withheld or not known."""
    try:
        if withheld(instruments, instrument, str(item)):
            return None
        return instruments[instrument].item(str(item))
    except KeyError:
        return None


def _answer(
    instruments: Mapping[str, Instrument], instrument: str, item: object, value: Any
) -> Any:
    """An answer as it is kept, `WITHHELD` for a text, None for another one that is not kept; see
    `labapp.study.instruments.items` for its form."""
    known = _shared(instruments, instrument, item)
    if known is None:
        return WITHHELD if isinstance(value, str) else None
    if "" in known.own_words:
        return value
    reduced = withhold(value)
    if isinstance(value, dict):
        reduced |= {name: value[name] for name in known.own_words & value.keys()}
    return reduced


def redact_environment(environment: Any) -> Any:
    """An entry of environment.json: versions are kept, names of machines and devices are not."""
    if not isinstance(environment, dict):
        return withhold(environment)
    return {
        name: value if name in KEPT_ENVIRONMENT else withhold(value)
        for name, value in environment.items()
    }


def withhold(value: Any) -> Any:
    """The value with every text in it withheld; keys of objects stay, and that a text is empty (a
    name or a note that was taken back)."""
    if isinstance(value, str):
        return WITHHELD if value else value
    if isinstance(value, list):
        return [withhold(item) for item in value]
    if isinstance(value, dict):
        return {name: withhold(item) for name, item in value.items()}
    return value


AGREED_LIST = f"""\
* kept: session times and intervals, numbers, dial states, ratings, the participant's and session's
  labels, the study's own texts and pictures and the program's own codes;
* replaced by {WITHHELD}: notes, deviations as written down, names given to dials, prompts,
  meanings of flags, reasons of pauses, written answers, details of alarms, names of devices,
  screens and machines;
* dropped: answers chosen from a list or set on a slider, and the path of the pointer outside of
  trials, which leads to such answers. An item of a questionnaire that declares
  `identifying: no` in the study's files keeps its answers, one that declares `identifying: yes`
  loses them whatever its kind, and so does an item that is asked only after certain answers to
  such a one; what was written beside an option is always withheld;
* moved: every date, by a number of days that is the same for all sessions of a participant and is
  not in this bundle. Times of day and intervals are true; the years are not. The sound card's own
  clock, in the time marks of the sound (`anchors`), begins at 0 in each file;
* of what was said about a session after its end: units, codes and values are kept, and texts only
  where a person has read them against the sound; remarks on codes and reasons of what was settled
  are dropped, and raters are numbered. Codebooks keep their codes and lose examples, explanations
  and comments, unless one declares `identifying: no`."""
"""The rule for people, in the README of the bundle."""
