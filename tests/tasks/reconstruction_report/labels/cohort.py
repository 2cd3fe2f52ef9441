"""Sessions whose participants named dials, as five of the published study did (Tables 1, A.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import Tables, tables_of
from labapp.models.representations import card
from labapp.models.representations.package import find
from labapp.models.representations.space import LatentSpace
from labapp.record.events import Source
from labapp.record.events.lifecycle import DecoderWarmed, PartEnded, PartStarted, SessionCompleted
from labapp.record.events.trials import TrialEnded
from labapp.tasks.reconstruction.events import LabelEdited, TrialDrawn, TrialStarted
from labapp.tasks.reconstruction.report.labels.sheet import NamedModels, collect_names
from tests.analysis.sessions import paired, stage_row
from tests.helpers.journals import SessionBuilder

TC5 = {
    1: ("thickness", "0-1", "closedness", "2-0"),
    2: ("shrinking horizontally", "paint white", "0-1"),
    3: ("diagonal", "rotate", "4-5-3"),
    4: ("add bottom left", "3-5-6", "3-5-blob"),
    5: ("ccw", "6-7", "7-6?"),
}
"""Names of Table 1 by dial; each of another participant, from the first on."""
TC10 = {
    1: ("numbers", "reflect but not really", "number?", "little"),
    2: ("x", "ignore", "nothing", "no"),
    3: ("thickness", "numb"),
    5: ("makes things thick", "thickness", "thicker"),
    7: ("x", "ignore", "nothing", "nothing", "no"),
}
"""Some of Table A.4."""

Names = Mapping[int, Sequence[str]]


@cache
def space_of(model: str) -> LatentSpace:
    """The dials of a shipped model, read once."""
    return card.read(find(model)).space


def row_of(model: str, number: int = 1, **changes: Any) -> dict[str, Any]:
    """The row of a plan: a stage on a shipped model."""
    dials = space_of(model).to_json()
    return stage_row(
        f"stage-{number}", model=model, dimensions=dials, number=number, trials=1, **changes
    )


def warmed(model: str, sha: str | None = None) -> DecoderWarmed:
    found = sha256((find(model) / card.CARD).read_bytes()).hexdigest() if sha is None else sha
    return DecoderWarmed(model, "cpu", 1, 50, 1.0, 2.0, found)


def session(
    participant: str,
    names: Mapping[str, Mapping[int, str]],
    *,
    study: str = "names",
    cards: Mapping[str, str] | None = None,
    source: Source = Source.PARTICIPANT,
    **changes: Any,
) -> SessionBuilder:
    """One who met these models and named some dials (from 1) of each; an empty text takes a name
    away again. cards: hashes of model cards other than those installed. source: who it was."""
    rows = [row_of(model, number, **changes) for number, model in enumerate(names, start=1)]
    made = SessionBuilder(study_files=None, participant=participant, study=study)
    made.plan(rows, replicates={"paper": "000", "study": "mnist-think-aloud", "run": "lab"})
    made.segment(0, 1)
    for model in names:
        made.at(0.5, warmed(model, (cards or {}).get(model)))
    t = 1.0
    for row, given in zip(rows, names.values(), strict=True):
        stage, zero = row["id"], (0.0,) * len(row["dimensions"])
        made.at(t, PartStarted(0), stage)
        made.at(t + 0.5, TrialDrawn(zero, zero), stage, 1)
        made.at(t + 0.5, TrialStarted(0.25, 8.0, 0.5, False), stage, 1)
        for dial, text in given.items():
            made.at(t + 1, LabelEdited(dial - 1, text), stage, 1, source=source)
        made.at(t + 2, TrialEnded("skipped"), stage, 1)
        made.at(t + 2.5, PartEnded(0, "completed"), stage)
        t += 3
    made.at(t, SessionCompleted())
    return made


def cohort(models: Mapping[str, Names], people: int = 5, **changes: Any) -> list[SessionBuilder]:
    """Participants P01 to P05 with the names of each model; the first name of each dial is the
    first participant's."""
    return [
        session(
            f"P{person + 1:02d}",
            {
                model: {d: texts[person] for d, texts in names.items() if person < len(texts)}
                for model, names in models.items()
            },
            **changes,
        )
        for person in range(people)
    ]


def tables(made: Sequence[SessionBuilder]) -> Tables:
    """What the analysis reads, without files in between; those that count."""
    return tables_of([SessionRecords.of(paired(one), one.participant) for one in made]).included()


def names_of(made: Sequence[SessionBuilder]) -> NamedModels:
    return collect_names(tables(made))


def write(made: Sequence[SessionBuilder], root: Path) -> list[Path]:
    return [one.write(root) for one in made]
