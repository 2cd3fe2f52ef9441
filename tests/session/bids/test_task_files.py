"""What a task says of its files in a bundle, and what is refused where it says nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from labapp.analysis.columns import table_columns
from labapp.base.errors import BundleError
from labapp.record.events import Payload
from labapp.record.events import registry as kinds
from labapp.record.events.lifecycle import PartEnded, PartStarted, SessionCompleted
from labapp.record.events.trials import StageTimeExpired, TrialEnded
from labapp.record.journal.opening import open_record
from labapp.session.bids.contents import (
    SESSION_TYPES,
    WITHHELD,
    WITHOUT_ROW,
    redact_payload,
    session_timeline,
)
from labapp.session.bids.derived import codebook
from labapp.session.bids.export import export
from labapp.session.bids.tasks import task_timeline, tasks_of, trial_columns
from labapp.session.bids.verify import verify
from labapp.study.loading import files_digest
from labapp.study.plugins import registry
from labapp.study.plugins.bids import Column, CourseRow, TaskFiles
from labapp.study.plugins.part import PlannedPart, TrialsPart
from labapp.study.plugins.registry import TaskType
from tests.analysis.sessions import paired
from tests.helpers.journals import SessionBuilder

COUNTING = TaskFiles(
    parts=("counting",),
    name="counting",
    label="counting",
    description="The participant counts dots.",
    event_columns=(Column("dots", "number: how many were said."), Column("device", "With what.")),
    types={"stage": "A stage.", "trial": "A picture of dots.", "number": "A number was said."},
    kinds={"dots.said": "number"},
    drawn="dots.drawn",
    shown="dots.shown",
)


COURSE = (
    CourseRow(
        "dots.rested", "The eyes were closed for value s.", lambda payload: {"value": payload.s}
    ),
    CourseRow("dots.asked", "How it went was asked.", behind="gap"),
)
KEPT_TEXT = {"dots.said": ("device",)}


class CountingPart(TrialsPart):
    part: Literal["counting"] = "counting"
    role: Literal["stage"] = "stage"
    number: int = 1
    model: str
    trials: int = 1
    task: ClassVar[str] = "counting"


class Counting(TaskType[CountingPart]):
    """A task that labapp has never heard of."""

    name = "counting"
    parts = (CountingPart,)

    def plan(self, *_: Any) -> Iterator[PlannedPart]:
        raise NotImplementedError

    machine = screen = plan


class CountingWithFiles(Counting):
    bids = (f"{__name__}:COUNTING",)
    course = f"{__name__}:COURSE"
    kept_text = f"{__name__}:KEPT_TEXT"


Install = Callable[[TaskType[Any]], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Makes labapp know of one more task type while the test runs."""
    shipped = registry.task_types()

    def forget() -> None:
        for value in vars(registry).values():
            if isinstance(value, functools._lru_cache_wrapper):
                value.cache_clear()

    def add(task_type: TaskType[Any]) -> None:
        monkeypatch.setattr(registry, "task_types", lambda: (*shipped, task_type))
        monkeypatch.setattr(registry, "load", load_here)
        forget()

    def load_here(where: str) -> Any:
        return globals()[where.partition(":")[2]] if where.startswith(__name__) else load(where)

    load = registry.load
    yield add
    monkeypatch.undo()
    forget()


def session(folder: Path, *, tried: bool = True) -> Path:
    """A session with a stage of counting, in which trials were recorded or none."""
    builder = SessionBuilder(study_files=None)
    plan = {"part": "counting", "id": "stage-1", "title": "Counting", "model": "dots"}
    builder.plan([plan], study_sha256=files_digest({}))
    builder.segment(0, 1)
    builder.at(1, PartStarted(0), "stage-1")
    builder.at(9, StageTimeExpired(8.0), "stage-1", 1 if tried else None)
    builder.at(9, PartEnded(0, "time_expired"), "stage-1")
    builder.at(9, SessionCompleted())
    return builder.write(folder)


def test_trials_without_files_are_refused_by_name(tmp_path: Path, install: Install) -> None:
    install(Counting())
    with pytest.raises(BundleError, match=r"The task type 'counting' .* trials of 'stage-1'"):
        export([session(tmp_path / "data")], tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_a_part_that_nobody_knows_is_refused_by_its_kind(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="Parts of the kind 'counting'"):
        export([session(tmp_path / "data")], tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_no_trial_needs_no_files(tmp_path: Path, install: Install) -> None:
    install(Counting())
    bundle = export([session(tmp_path / "data", tried=False)], tmp_path / "bundle")
    assert verify(bundle).ok


def test_a_bundle_of_a_task_that_is_not_there_is_not_called_whole(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(CountingWithFiles())
    bundle = export([session(tmp_path / "data")], tmp_path / "bundle")
    assert verify(bundle).ok
    install(Counting())
    assert any("'counting'" in problem for problem in verify(bundle).problems)


@pytest.fixture
def dots() -> Iterator[dict[str, type[Payload]]]:
    """The events of counting, known while the test runs."""
    known = dict(kinds._KINDS)

    @kinds.kind("dots.drawn", begins=("counting",))
    class DotsDrawn(Payload):
        """A picture begins."""

    @kinds.kind("dots.shown", of_trial=True)
    class DotsShown(Payload):
        """It is on the screen."""

    @kinds.kind("dots.said", of_trial=True)
    class DotsSaid(Payload):
        """A number was said."""

        dots: int
        device: str
        hidden: str

    @kinds.kind("dots.rested")
    class DotsRested(Payload):
        """The participant closed their eyes."""

        s: float

    yield {"drawn": DotsDrawn, "shown": DotsShown, "said": DotsSaid, "rested": DotsRested}
    kinds._KINDS.clear()
    kinds._KINDS.update(known)


def test_a_new_task_has_its_timeline_and_its_place_in_the_codebook(
    tmp_path: Path, install: Install, dots: dict[str, type[Payload]]
) -> None:
    install(CountingWithFiles())
    builder = SessionBuilder()
    plan = {"part": "counting", "id": "stage-1", "title": "Counting", "model": "dots/seven"}
    builder.plan([plan])
    builder.segment(0, 1)
    builder.at(1, PartStarted(0), "stage-1")
    builder.at(1, dots["drawn"](), "stage-1", 1)
    builder.at(2, dots["shown"](), "stage-1", 1)
    builder.at(5, dots["said"](7, "mouse", "not for others"), "stage-1", 1)
    builder.at(6, TrialEnded("answered"), "stage-1", 1)
    builder.at(7, PartEnded(0, "completed"), "stage-1")
    record = open_record(builder.write(tmp_path))
    assert tasks_of(record) == [COUNTING]
    table = task_timeline(list(record.payloads()), COUNTING.rows(COUNTING, record))
    header, *lines = (line.split("\t") for line in table.text().splitlines())
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert [(row["trial_type"], row["onset"], row["duration"], row["outcome"]) for row in rows] == [
        ("stage", "1", "6", "completed"),
        ("trial", "2", "4", "answered"),
        ("number", "5", "0", "n/a"),
    ]
    assert {row["model"] for row in rows} == {"dots/seven"}
    assert (rows[2]["dots"], rows[2]["device"]) == ("7", "mouse")
    assert "hidden" not in header
    described = codebook()
    assert described["task-counting_events.tsv"]["dots"]["Description"]
    assert "outcome" in described["task-counting_beh.tsv"], "all that every task has"
    assert "moved_by_mouse" not in described["task-counting_beh.tsv"], "it is of another task"


def test_what_happens_outside_of_trials_is_in_the_course_of_the_session(
    tmp_path: Path, install: Install, dots: dict[str, type[Payload]]
) -> None:
    install(CountingWithFiles())
    builder = SessionBuilder()
    builder.plan([{"part": "counting", "id": "stage-1", "title": "Counting", "model": "dots"}])
    builder.segment(0, 1)
    builder.at(1, PartStarted(0), "stage-1")
    builder.at(4, dots["rested"](2.5), "stage-1")
    table = session_timeline(open_record(builder.write(tmp_path)).payloads())
    (row,) = [row for row in table.rows if row["trial_type"] == "dots.rested"]
    assert (row["onset"], row["stage"], row["value"]) == ("4", "stage-1", 2.5)
    (levels,) = [column.levels for column in table.columns if column.name == "trial_type"]
    names = list(levels)
    assert names[-1] == "dots.rested"
    assert names[names.index("gap") + 1] == "dots.asked"


def test_a_kind_that_nobody_has_a_row_for_has_one_with_all_it_says(
    install: Install, dots: dict[str, type[Payload]]
) -> None:
    install(CountingWithFiles())
    plans = {
        # Its files have a row for a number, and none for the end of the time.
        "counting": {"part": "counting", "id": "part-1", "title": "", "model": "dots"},
        # No files at all are of this part.
        "text": {"part": "text", "id": "part-1", "title": "", "document": "a.md"},
    }
    fields = {
        "dots.said": '{"device":"mouse","dots":7,"hidden":"x"}',
        "stage.time_expired": '{"limit_s":8.0}',
    }
    for kind, elsewhere in (("counting", {"dots.said"}), ("text", set[str]())):
        builder = SessionBuilder()
        builder.plan([plans[kind]])
        builder.segment(0, 1)
        builder.at(1, PartStarted(0), "part-1")
        builder.at(1.5, dots["said"](7, "mouse", "x"), "part-1", 1)
        builder.at(2, StageTimeExpired(8.0), "part-1", 1)
        table = session_timeline(paired(builder))
        told = {r["trial_type"]: r["text"] for r in table.rows if r["trial_type"] in fields}
        (levels,) = [column.levels for column in table.columns if column.name == "trial_type"]
        assert told == {name: text for name, text in fields.items() if name not in elsewhere}
        for name in told:
            meaning = " ".join((kinds.registered_kinds()[name].__doc__ or "").split())
            assert levels[name] == f"{meaning} Text is its fields as JSON."


def test_every_shipped_kind_has_a_place_in_a_bundle() -> None:
    """None of them comes into a bundle by the row that kinds without a place have."""
    of_tasks = {kind for files in registry.task_files() for kind in files.placed}
    begun = {"segment.started", "part.started"}
    placed = {*SESSION_TYPES, *registry.course_rows(), *of_tasks, *WITHOUT_ROW, *begun}
    assert set(kinds.registered_kinds()) == placed - {"segment", "part", "pause", "break", "gap"}
    assert not WITHOUT_ROW & {*SESSION_TYPES, *registry.course_rows(), *of_tasks}


def test_a_deidentified_copy_keeps_the_texts_that_a_task_names(install: Install) -> None:
    said = {"dots": 7, "device": "mouse", "hidden": "what a person wrote"}
    withheld = {"dots": 7, "device": WITHHELD, "hidden": WITHHELD}
    assert redact_payload("dots.said", said, {}) == withheld
    install(CountingWithFiles())
    assert redact_payload("dots.said", said, {}) == withheld | {"device": "mouse"}


def test_the_rows_of_shipped_tasks_stand_behind_rows_that_are_there() -> None:
    rows = registry.course_rows()
    for row in rows.values():
        assert row.behind in {*SESSION_TYPES, *rows}
        assert row.kind in kinds.registered_kinds()
        assert row.kind not in SESSION_TYPES


def test_two_tasks_cannot_write_the_same_files(install: Install) -> None:
    class Judged(CountingWithFiles):
        name = "counting-too"
        bids = ("labapp.tasks.judging.bids:JUDGING",)

    install(Judged())
    with pytest.raises(BundleError, match=r"'judging' and 'counting-too' .* task-judging"):
        registry.task_files()


def test_files_that_cannot_be_loaded_are_named(install: Install) -> None:
    class Lost(Counting):
        bids = ("nowhere.at_all:FILES",)

    install(Lost())
    with pytest.raises(BundleError, match="'counting' cannot be loaded from nowhere"):
        registry.task_files()


@pytest.mark.parametrize("label", ["", "two words", "session", "zwölf", "a-b"])
def test_a_label_that_file_names_cannot_have(label: str) -> None:
    with pytest.raises(ValueError, match="label"):
        replace(COUNTING, label=label)


def test_a_type_of_row_must_be_described() -> None:
    with pytest.raises(ValueError, match="'number' are not described"):
        replace(COUNTING, types={"stage": "A stage.", "trial": "A picture."})


def test_the_shipped_files_have_every_column_of_their_tables() -> None:
    """A column that is added to a table of trials comes into some task's file of a bundle."""
    elsewhere = {"study", "participant", "session", "included"}
    for name in {files.table for files in registry.task_files()}:
        sharing = [files for files in registry.task_files() if files.table == name]
        written = {column.name for files in sharing for column in trial_columns(files)}
        assert {column.name for column in table_columns()[name]} - elsewhere <= written


def test_columns_that_a_package_lists_as_until_0_1_are_those_of_its_file() -> None:
    listed = replace(registry.task_files()[0], trial_columns=("trial", "outcome"))
    names = [column.name for column in trial_columns(listed)]
    assert names == ["trial", "outcome", *(column.name for column in listed.more_columns)]


def test_every_kind_with_a_row_is_a_kind_of_event() -> None:
    known = set(kinds.registered_kinds())
    for files in registry.task_files():
        assert {files.drawn, files.shown, *files.kinds} <= known
        assert set(files.kinds.values()) | {"stage", "trial"} == set(files.types)
