"""De-identified copies: what is withheld, and the one list of what is kept.

Rule: of every payload, numbers, true/false and null are kept; text is kept only where `KEPT_TEXT`
names its field as one of the program's or the study's own words. Anything else, also in kinds
that do not exist yet, becomes `WITHHELD`. Of an answer to a questionnaire the chosen options are
kept, which are the study's own codes; what was written beside them is withheld like any written
answer. Answers to the `DEMOGRAPHICS` instruments are dropped whatever their type, and so are those
of variants of them, such as `hive-demographics` or a lab's own `demographics-…`.

The hash chain of a de-identified journal is made anew over the rows as exported. Keeping the
original hashes would undo the work: whoever has the hash before and after a withheld answer can
try the few answers there are until the hash fits. The lab holds the original journal and can make
the same copy again to prove where it comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from labapp.events import GENESIS
from labapp.events.event import payload_text
from labapp.events.lifecycle import QuestionnaireSubmitted, ResponseChanged
from labapp.records.rows import Row
from labapp.study.demographics import DEMOGRAPHICS, is_demographic

WITHHELD = "[withheld]"

KEPT_TEXT: Mapping[str, frozenset[str]] = {
    "session.planned": frozenset(
        {
            "study",
            "study_sha256",
            "participant",
            "session",
            "assignment",
            "presentation",
            "language",
            "audio",
            "plan",
        }
    ),
    "segment.started": frozenset({"utc", "app_version", "study_sha256"}),
    "session.ended": frozenset({"withdrawal"}),
    "inclusion.decided": frozenset({"failed"}),
    "payment.computed": frozenset({"currency"}),
    "part.ended": frozenset({"outcome"}),
    "consent.given": frozenset({"document_sha256", "signed"}),
    "consent.declined": frozenset({"document_sha256"}),
    "response.changed": frozenset({"instrument", "item"}),
    "questionnaire.submitted": frozenset({"instrument"}),
    "alarm.raised": frozenset({"code"}),
    "alarm.cleared": frozenset({"code"}),
    "screen.changed": frozenset({"change"}),
    "decoder.warmed": frozenset({"model", "device", "card_sha256"}),
    "dial.moved": frozenset({"device"}),
    "dial.selected": frozenset({"device"}),
    "alignment.marked": frozenset({"mark"}),
    "trial.ended": frozenset({"outcome"}),
    "question.drawn": frozenset({"regime"}),
    "choice.made": frozenset({"device"}),
    "rating.made": frozenset({"item", "device"}),
    "stimuli.kept": frozenset({"stimuli", "manifest_sha256", "files"}),
    "photo.drawn": frozenset({"photo", "truth", "prediction"}),
    "judgement.made": frozenset({"question", "device"}),
    "stimulus.drawn": frozenset({"image", "method", "truth", "prediction"}),
    "stimulus.shown": frozenset({"shown_by"}),
    "response.given": frozenset({"device", "timed_by"}),
    "performance.computed": frozenset({"ties"}),
    "description.opened": frozenset({"what"}),
    "description.closed": frozenset({"what"}),
    "interview.question_asked": frozenset({"text"}),
    "audio.started": frozenset({"file", "subtype"}),
    "audio.block": frozenset({"file", "sha256"}),
    "audio.gap": frozenset({"file", "cause"}),
    "audio.stopped": frozenset({"file"}),
    "audio.state": frozenset({"state"}),
}
"""Fields by kind whose text is the program's or the study's, never a person's or a machine's."""

KEPT_ENVIRONMENT = frozenset({"labapp", "python", "system", "libraries"})
"""Entries of environment.json (and of environment.recorded) whose text is kept."""


def redact(rows: Iterable[Row]) -> list[Row]:
    """The rows of a de-identified journal, marked where they were reduced, chained anew."""
    out = []
    previous = GENESIS
    for row in rows:
        payload = row.event().payload
        reduced = redact_payload(row.kind, payload)
        if reduced != payload:
            row = row._replace(payload=payload_text(reduced), redacted=True)
        previous = row.chained(previous)
        out.append(row._replace(hash=previous))
    return out


def redact_payload(kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """A payload without free text and demographics."""
    if kind == "environment.recorded":
        return {name: redact_environment(value) for name, value in payload.items()}
    kept = KEPT_TEXT.get(kind, frozenset())
    reduced = {name: value if name in kept else withhold(value) for name, value in payload.items()}
    if kind == ResponseChanged.kind:
        reduced["value"] = _answer(payload["value"])
    elif kind == QuestionnaireSubmitted.kind and isinstance(payload["answers"], dict):
        reduced["answers"] = {name: _answer(value) for name, value in payload["answers"].items()}
    if is_demographic(payload.get("instrument")):
        if "value" in reduced:
            reduced["value"] = None
        if "answers" in reduced:
            reduced["answers"] = {}
    return reduced


def _answer(value: Any) -> Any:
    """An answer without what was written; see `labapp.study.instruments.items` for its form."""
    reduced = withhold(value)
    if isinstance(value, dict) and isinstance(value.get("chosen"), list):
        reduced["chosen"] = value["chosen"]
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
* kept: all times, numbers, dial states, answers that are numbers or chosen from a list, the
  participant's and session's labels, the study's own texts and pictures and the program's own
  codes;
* replaced by {WITHHELD}: notes, deviations as written down, names given to dials, prompts,
  meanings of flags, reasons of pauses, written answers, details of alarms, names of devices,
  screens and machines;
* dropped: the answers of these instruments and of their variants: \
{", ".join(sorted(DEMOGRAPHICS))}."""
"""The rule for people, in the README of the bundle."""
