"""All stretches of a study that have a code or words: where, what was said, in which condition."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labapp.base.errors import LabappError
from labapp.coding.annotations.model import Mark, SessionAnnotations, Text
from labapp.coding.annotations.store import annotations_of
from labapp.record.journal.opening import open_record, places
from labapp.record.journal.record import Record
from labapp.session.replay.lanes import lanes_of


@dataclass(frozen=True, slots=True)
class CodedStretch:
    """A stretch that was given a code, or a unit with words that has none.

    Attributes
    ----------
    session : the folder of its session.
    t0_ns, t1_ns : session time.
    tier, code : of the codebook; empty where nobody gave a code.
    value : on a tier with values.
    raters : who gave it, by name; several where they agree.
    unread : whether some of these words were not read against the sound.
    memo : what the raters remarked.
    conditions : what the participant got, by the study's variables.
    outcome : how the trial ended in which it lies; empty where it lies in none.
    """

    session: Path
    participant: str
    t0_ns: int
    t1_ns: int
    tier: str
    code: str
    value: int | None = None
    raters: tuple[str, ...] = ()
    text: str = ""
    unread: bool = False
    memo: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found in a study, and sessions that could not be looked at, each with why."""

    stretches: tuple[CodedStretch, ...] = ()
    problems: tuple[str, ...] = ()


def retrieve(study: Path) -> Retrieved:
    """Every stretch of a study that has a code or words, session by session in order of time.

    Parameters
    ----------
    study : the folder of its sessions. Sessions of which the participant withdrew are left out.
    """
    stretches: list[CodedStretch] = []
    problems: list[str] = []
    for path in places(study):
        try:
            record = open_record(path)
            if not record.withdrawn:
                stretches.extend(coded_stretches(record, path, annotations_of(record)))
        except LabappError as error:
            problems.append(f"{path.name}: {error.what}")
    return Retrieved(tuple(stretches), tuple(problems))


def coded_stretches(
    record: Record, path: Path, annotations: SessionAnnotations
) -> Iterator[CodedStretch]:
    """The stretches of a session in order of time; a code that several raters gave is one."""
    together: dict[tuple[object, ...], list[Mark]] = {}
    for rater in annotations.raters.values():
        for mark in rater.marks if not rater.machine else ():
            place = mark.unit if mark.unit is not None else (mark.t0_ns, mark.t1_ns)
            together.setdefault((place, mark.tier, mark.code, mark.value), []).append(mark)
    coded = {place for place, *_ in together}
    for unit in annotations.segmentation.units:
        if unit.id in annotations.texts and unit.id not in coded:
            mark = Mark("", "", "", "", unit.t0_ns, unit.t1_ns, unit.id)
            together[(unit.id,)] = [mark]
    if not together:
        return
    items = (item for lane in lanes_of(record) if lane.id == "screen" for item in lane.items)
    trials = sorted((i for i in items if i.kind == "trial"), key=lambda item: item.t0_ns)
    begins = [trial.t0_ns for trial in trials]
    conditions = {
        str(name): str(value)
        for name, value in record.planned.assignment.items()
        if isinstance(value, str | int | float)
    }
    for marks in sorted(together.values(), key=lambda group: (group[0].t0_ns, group[0].code)):
        first = marks[0]
        at = bisect_right(begins, first.t0_ns) - 1
        inside = at >= 0 and first.t0_ns < trials[at].t1_ns
        texts = _texts(annotations, first)
        yield CodedStretch(
            path,
            record.participant,
            first.t0_ns,
            first.t1_ns,
            first.tier,
            first.code,
            first.value,
            tuple(sorted({mark.rater for mark in marks if mark.rater})),
            " ".join(text.text for text in texts),
            not all(text.reviewed for text in texts),
            " · ".join(mark.memo for mark in marks if mark.memo),
            conditions,
            trials[at].outcome if inside else "",
        )


def _texts(annotations: SessionAnnotations, mark: Mark) -> list[Text]:
    """The words of a unit, or of all units that a span or a moment has time of."""
    end_ns = max(mark.t1_ns, mark.t0_ns + 1)
    units = [
        unit.id
        for unit in annotations.segmentation.units
        if unit.t0_ns < end_ns and mark.t0_ns < unit.t1_ns
    ]
    touched = units if mark.unit is None else [mark.unit]
    return [annotations.texts[unit] for unit in touched if unit in annotations.texts]
