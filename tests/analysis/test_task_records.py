"""A task that labapp has never heard of is in its tables; what no task knows is refused by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pandas as pd
import pytest

from labapp.analysis.analyze import write
from labapp.analysis.column import (
    INCLUDED,
    TRIAL,
    WHO,
    Column,
    along,
    cells,
    columns_in,
    of,
    text,
    whole,
    yes,
)
from labapp.analysis.columns import table_columns
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import Tables, load, tables_of
from labapp.analysis.task_records import (
    Attempt,
    Key,
    Ran,
    Row,
    TaskRecords,
    TaskTables,
    never_handled,
    older_ways,
    records_class,
)
from labapp.base import discovery
from labapp.base.errors import LabappError, RecordError, SessionError, SetupError
from labapp.record.events import Event, Payload, lifecycle
from labapp.record.events import registry as kinds
from labapp.record.events.lifecycle import DecoderWarmed, PartEnded, PartStarted, SessionCompleted
from labapp.record.events.trials import ResponseChanged, TrialEnded
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.study.loading import files_digest
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart, TrialsPart
from labapp.study.plugins.registry import TaskType
from labapp.tasks.concept_repair.events import AnswerPicked
from labapp.tasks.reconstruction.events import DialMoved, LabelEdited, OverlayToggled
from labapp.tasks.reconstruction.records import ReconstructionRecords
from labapp.tasks.single_dimension.events import ChoiceMade
from tests.analysis.sessions import begin_trial, builder, end_trial, paired, stage_row
from tests.helpers.journals import SessionBuilder

PLAN = {
    "part": "counting",
    "id": "stage-1",
    "title": "Counting",
    "role": "stage",
    "number": 1,
    "model": "dots/seven",
}


class CountingPart(TrialsPart):
    part: Literal["counting"] = "counting"
    role: Literal["stage"] = "stage"
    number: int
    model: str
    trials: int = 2
    task: ClassVar[str] = "counting"


class Counting(TaskType[CountingPart]):
    """Two pictures of dots are counted."""

    name = "counting"
    parts = (CountingPart,)
    records = f"{__name__}:CountingRecords"

    def plan(self, *_: Any) -> Iterator[PlannedPart]:
        raise NotImplementedError

    machine = screen = plan


class Count(Attempt):
    part: CountingPart

    def __init__(self, part: CountingPart, key: Key) -> None:
        super().__init__(key)
        self.part = part
        self.said: int | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        if event.kind == "dots.said":
            self.said = event.payload["dots"]
        elif event.kind == "dots.shown":
            self.started_session_ns, self.started_ns = event.t_ns, working


class CountingRecords(TaskRecords[CountingPart, Count]):
    tables = TaskTables(
        own={"counts": (*WHO, text("stage", "part"), *TRIAL, whole("dots", "said"), INCLUDED)},
        added={
            "trials": {"excluded": (whole("dots", "how many were said"),)},
            "stages": {"n_correct": (whole("most_dots", "the most that were said"),)},
        },
    )
    begins = "dots.drawn"
    kinds = frozenset({"dots.shown", "dots.said"})

    def begin(self, part: CountingPart, key: Key, event: Event, payload: Any) -> Count:
        return Count(part, key)

    def trial_row(self, attempt: Count) -> Row:
        return {"dots": attempt.said}

    def stage_row(self, part: CountingPart, attempts: Sequence[Count], ran: Ran) -> Row:
        said = [count.said for count in attempts if count.said is not None]
        return {"most_dots": max(said), "n_answered": len(said)}

    def own_rows(self) -> Mapping[str, Iterable[Row]]:
        return {
            "counts": [
                {"stage": one.part.id, "trial": one.trial, "attempt": one.attempt, "dots": one.said}
                for one in self.attempts
            ]
        }


def forget() -> None:
    """Empty whatever the registry keeps."""
    for value in vars(registry).values():
        if isinstance(value, functools._lru_cache_wrapper):
            value.cache_clear()


Install = Callable[[TaskType[Any]], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Makes labapp know of one more task type while the test runs."""
    shipped = registry.task_types()

    def add(task_type: TaskType[Any]) -> None:
        monkeypatch.setattr(registry, "task_types", lambda: (*shipped, task_type))
        forget()

    yield add
    monkeypatch.undo()
    forget()


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

    @kinds.kind("dots.wondered", of_trial=True)
    class DotsWondered(Payload):
        """Something that the records of the task do not take."""

    yield {"drawn": DotsDrawn, "shown": DotsShown, "said": DotsSaid, "wondered": DotsWondered}
    kinds._KINDS.clear()
    kinds._KINDS.update(known)


def counted(dots: dict[str, type[Payload]], *more: str) -> SessionBuilder:
    made = SessionBuilder(study_files=None)
    made.plan([PLAN], study_sha256=files_digest({}))
    made.segment(0, 1)
    made.at(1, PartStarted(0), "stage-1")
    for trial in (1, 2):
        made.at(10 * trial, dots["drawn"](), "stage-1", trial)
        made.at(10 * trial + 1, dots["shown"](), "stage-1", trial)
        for name in more:
            made.at(10 * trial + 2, dots[name](), "stage-1", trial)
        made.at(10 * trial + 5, dots["said"](6 + trial), "stage-1", trial)
        made.at(10 * trial + 6, TrialEnded("answered"), "stage-1", trial)
    made.at(30, PartEnded(0, "completed"), "stage-1")
    made.at(31, SessionCompleted())
    return made


def folded(made: SessionBuilder) -> Tables:
    return tables_of([SessionRecords.of(paired(made), "test")])


def test_its_answers_are_in_trials_stages_and_a_table_of_its_own(
    tmp_path: Path, install: Install, dots: dict[str, type[Payload]]
) -> None:
    install(Counting())
    session = counted(dots).write(tmp_path)
    tables = load(session)
    assert tables.trials["dots"].tolist() == [7, 8]
    assert tables.trials["task"].tolist() == ["counting"] * 2
    assert tables.trials["excluded"].tolist() == [False] * 2
    stage = tables.stages.iloc[0]
    assert (stage["most_dots"], stage["n_trials"], stage["n_answered"]) == (8, 2, 2)
    assert (stage["n_planned"], stage["outcome"], stage["duration_s"]) == (2, "completed", 29.0)
    counts = tables.more["counts"]
    assert counts["dots"].tolist() == [7, 8]
    assert counts["included"].tolist() == [True] * 2
    assert tables.by_name()["counts"] is counts
    assert verify(session).ok


def test_its_table_is_written_with_the_others(
    tmp_path: Path, install: Install, dots: dict[str, type[Payload]]
) -> None:
    install(Counting())
    write(load(counted(dots).write(tmp_path)), tmp_path / "out")
    assert pd.read_csv(tmp_path / "out" / "counts.csv")["dots"].tolist() == [7, 8]
    dictionary = pd.read_csv(tmp_path / "out" / "columns.csv")
    assert {"dots", "most_dots"} <= set(dictionary["column"])


def test_its_columns_stand_where_it_says_and_move_no_other(install: Install) -> None:
    before = {name: [one.name for one in some] for name, some in table_columns().items()}
    install(Counting())
    after = {name: [one.name for one in some] for name, some in table_columns().items()}
    place = after["trials"].index("dots")
    assert after["trials"][place - 1] == "excluded"
    assert [name for name in after["trials"] if name != "dots"] == before["trials"]
    assert [name for name in after if name != "counts"] == list(before)


def test_a_part_that_no_task_type_claims_is_an_error_by_its_kind(
    tmp_path: Path, dots: dict[str, type[Payload]]
) -> None:
    session = counted(dots).write(tmp_path)
    for read in (load, lambda path: export([path], tmp_path / "bundle")):
        with pytest.raises(LabappError, match="'counting'"):
            read(session)
    report = verify(session)
    assert not report.ok
    assert any("'counting'" in problem for problem in report.problems)


def test_a_kind_of_event_that_the_task_does_not_take_is_an_error(
    tmp_path: Path, install: Install, dots: dict[str, type[Payload]]
) -> None:
    install(Counting())
    session = counted(dots, "wondered").write(tmp_path)
    for read in (load, lambda path: export([path], tmp_path / "bundle")):
        with pytest.raises(LabappError, match=r"dots\.wondered|'counting'"):
            read(session)
    assert any("dots.wondered" in problem for problem in verify(session).problems)


def test_a_task_without_records_is_an_error(
    tmp_path: Path, install: Install, dots: dict[str, type[Payload]]
) -> None:
    class Forgetful(Counting):
        records = ""

    install(Forgetful())
    with pytest.raises(RecordError, match=r"dots\.drawn.*whose task 'counting'"):
        folded(counted(dots))


def test_an_event_of_another_task_is_an_error() -> None:
    made = builder()
    begin_trial(made, 1)
    made.at(2, ChoiceMade(1, "mouse"), "stage-1", 1)
    end_trial(made, 3)
    with pytest.raises(RecordError, match=r"choice\.made.*'stage-1', whose task 'reconstruction'"):
        folded(made)


def test_an_event_that_no_table_needs_is_an_error_in_another_task() -> None:
    made = builder()
    begin_trial(made, 1)
    made.at(2, AnswerPicked("", "mouse"), "stage-1", 1)
    end_trial(made, 3)
    with pytest.raises(RecordError, match=r"answer\.picked.*'stage-1', whose task"):
        folded(made)


@pytest.mark.parametrize("stage", [None, "elsewhere"])
@pytest.mark.parametrize("payload", [ResponseChanged("seq", "seq", 2), LabelEdited(1, "size")])
def test_an_answer_that_would_be_in_no_table_is_an_error(
    stage: str | None, payload: Payload
) -> None:
    made = builder(stage_row())
    made.at(2, payload, stage)
    with pytest.raises(RecordError, match="would be missing from all tables"):
        folded(made)


def test_an_event_of_a_trial_that_was_never_begun_is_an_error() -> None:
    made = builder(stage_row())
    made.at(2, LabelEdited(1, "size"), "stage-1", 1)
    with pytest.raises(RecordError, match=r"label\.edited.* never began"):
        folded(made)


def test_a_row_with_a_column_that_nobody_describes_is_an_error(
    install: Install, dots: dict[str, type[Payload]], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(Counting())
    monkeypatch.setattr(CountingRecords, "trial_row", lambda *_: {"dotz": 1})
    with pytest.raises(SessionError, match="column 'dotz' of the table 'trials'"):
        folded(counted(dots))


def test_rows_of_a_table_that_nobody_describes_are_an_error(
    install: Install, dots: dict[str, type[Payload]], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(Counting())
    monkeypatch.setattr(CountingRecords, "own_rows", lambda _: {"numbers": [{"dots": 1}]})
    with pytest.raises(SessionError, match="the table 'numbers'"):
        folded(counted(dots))


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        (TaskTables(own={"trials": WHO}), "'trials' already exists"),
        (TaskTables(own={"judgements": WHO}), "'judgements' already exists"),
        (TaskTables(added={"trails": {"trial": WHO}}), "no table 'trails'"),
        (TaskTables(added={"trials": {"try": WHO}}), "no shared column 'try'"),
        (TaskTables(added={"trials": {"trial": (yes("correct", ""),)}}), "same name"),
        (TaskTables(shared={"trials": {"duration": len}}), "no shared column 'duration'"),
        (TaskTables(words={"durtaions": "of dots"}), "words of tasks called 'durtaions'"),
    ],
)
def test_tables_that_do_not_fit_together_are_refused(
    install: Install, monkeypatch: pytest.MonkeyPatch, tables: TaskTables, why: str
) -> None:
    install(Counting())
    monkeypatch.setattr(CountingRecords, "tables", tables)
    with pytest.raises(SetupError, match=why):
        table_columns()


def test_what_only_this_version_knows_is_named() -> None:
    told = list(older_ways(Counting()))
    assert [way.split("`")[1] for way in told] == [
        f"CountingRecords.{name}" for name in ("trial_row", "stage_row", "own_rows")
    ]
    assert not [way for task_type in registry.task_types() for way in older_ways(task_type)]


DOTS = whole("dots", "how many were said", get=lambda count: count.said)
LOST = whole("dotz", "nobody fills it")


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        (TaskTables(own={"n": (DOTS, LOST)}, rows={"n": lambda records: ()}), "'dotz' of 'n'"),
        (TaskTables(own={"n": (DOTS,)}), "what the rows of its table 'n' are about"),
        (TaskTables(rows={"n": lambda records: ()}), "no table 'n' of its own"),
        (TaskTables(added={"trials": {"excluded": (DOTS, LOST)}}), "'dotz' of 'trials'"),
        (TaskTables(added={"stages": {"n_correct": (DOTS, LOST)}}), "'dotz' of 'stages'"),
    ],
)
def test_a_column_that_nothing_fills_is_refused_where_it_is_declared(
    tables: TaskTables, why: str
) -> None:
    with pytest.raises(TypeError, match=why):
        type("Lost", (TaskRecords,), {"tables": tables})


def test_a_column_has_the_attribute_of_its_name() -> None:
    said, stage = whole("said", "how many"), text("stage", "part", "part.id")
    columns = of(Count, said, stage, whole("trials", "how many"), *TRIAL, INCLUDED, via=("part",))
    count = Count(CountingPart.model_validate(PLAN), ("stage-1", 2, 1))
    row = {"said": None, "stage": "stage-1", "trials": 2, "trial": 2, "attempt": 1}
    assert cells(columns, count) == row


@pytest.mark.parametrize("columns", [(LOST,), (text("stage", "part", "prat.id"),)])
def test_a_column_of_something_that_lacks_it_is_refused(columns: tuple[Column, ...]) -> None:
    with pytest.raises(TypeError, match=r"Count has no '(dotz|prat\.id)'"):
        of(Count, *columns, via=("part",))
    with pytest.raises(TypeError, match="getter for 'other'"):
        of(Count, DOTS, other="said")


def test_a_cell_is_empty_where_its_path_leads_to_nothing() -> None:
    count = Count(CountingPart.model_validate(PLAN), ("stage-1", 2, 1))
    assert along("outcome.length")(count) is None


LABELS = {LabelEdited: Count}


class Handling(CountingRecords):
    """Mentions kinds in each way in which records do."""

    kinds = frozenset({OverlayToggled.kind, DialMoved.kind, LabelEdited.kind, "skip.offered"})
    of_session = frozenset({"dial.selected", DecoderWarmed.kind})

    def take(self, event: Event, payload: Payload, working_ns: int) -> None:
        match payload:
            case OverlayToggled() | lifecycle.DecoderWarmed():
                super().take(event, payload, working_ns)
            case _ if event.kind in ("skip.offered", "dial.selected"):
                helped(payload)
            case _:
                LABELS[type(payload)](CountingPart.model_validate(PLAN), ("stage-1", 1, 1))


def helped(payload: Payload) -> None:
    assert not isinstance(payload, DialMoved)


class Dropping(Handling):
    kinds = Handling.kinds | {"trial.solved", "dots.said"}


class Dropped(Counting):
    records = f"{__name__}:Dropping"
    told_elsewhere = ()


def test_a_kind_that_records_claim_and_no_function_handles_is_an_error() -> None:
    assert never_handled(Handling) == set()
    assert never_handled(Dropping) == {"trial.solved"}
    assert never_handled(type("Elsewhere", (ReconstructionRecords,), {})) == set()
    with pytest.raises(SetupError, match=r":Dropping handles 'trial\.solved'"):
        records_class(Dropped())


def test_a_kind_that_no_table_needs_is_named_in_the_task_type() -> None:
    dropped = Dropped()
    dropped.told_elsewhere = ("trial.solved",)  # type: ignore[misc]
    assert records_class(dropped) is Dropping


def test_every_kind_of_event_of_a_shipped_task_is_taken_or_told_of_elsewhere() -> None:
    claimed: set[str] = set()
    for task_type in registry.task_types():
        records = records_class(task_type)
        claimed |= set(task_type.told_elsewhere)
        claimed |= set() if records is None else {records.begins, *records.kinds}
    homes = tuple(f"labapp.tasks.{name}." for name in discovery.TASKS)
    of_tasks = {
        name
        for name, payload in kinds.registered_kinds().items()
        if payload.__module__.startswith(homes)
    }
    assert of_tasks
    assert of_tasks - claimed == set()
    assert claimed <= kinds.registered_kinds().keys()


def test_columns_are_described_in_lines() -> None:
    speed, seen = columns_in("""
        number speed [m/s]: how fast it was,
            on the whole
        yes seen: somebody saw it
    """)
    assert speed == Column("speed", "number", "how fast it was, on the whole", "m/s")
    assert seen == Column("seen", "boolean", "somebody saw it")
    with pytest.raises(TypeError, match="describes no column: colour hue"):
        tuple(columns_in("colour hue: what it looks like"))
