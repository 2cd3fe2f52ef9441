"""The questionnaire as a state machine, the items that it asks, and simulated answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import labapp.analysis
from labapp.base import resources
from labapp.record.events.commands import Back, Begin, Command, Next, SkipStage
from labapp.record.events.registry import Event, Pauses, Source
from labapp.record.journal.opening import iter_records, open_record
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.instruments import Instrument
from labapp.study.instruments.items import REMARK
from labapp.study.instruments.kinds.choice import Choices
from labapp.study.instruments.kinds.written import Written
from labapp.study.loading import load
from labapp.study.plan import QuestionnairePart
from labapp.study.planner import realise
from labapp.tasks.questionnaire.machine import Answer, QuestionnaireState, QuestionnaireTask
from labapp.tasks.questionnaire.simulated import answer
from tests.helpers.beside import put_beside
from tests.helpers.questionnaires import ALL, questionnaire_study

FILE: dict[str, Any] = {
    "id": "paged",
    "version": 2,
    "title": "Paged",
    "source": "made for tests",
    "per_page": 2,
    "scale": {"points": 3, "low": "no", "high": "yes"},
    "items": [
        {"id": "a", "kind": "statement", "text": "A"},
        {"id": "b", "kind": "written", "text": "B", "required": False},
        {"id": "easy", "kind": "statement", "text": "Stage {stage}", "repeat": "stages"},
    ],
}


class Sheet:
    """Plays one questionnaire and keeps its events."""

    def __init__(self, *items: str) -> None:
        part = QuestionnairePart(
            id="q", title="", instrument="paged", about=None, items=items or ("a", "b", "easy_1")
        )
        self.task = QuestionnaireTask(part, 4, Instrument.model_validate(FILE))
        self.state: QuestionnaireState = self.task.initial(Pauses())
        self.payloads: list[Any] = []

    def send(self, *commands: Command) -> int:
        """How many events the commands gave."""
        before = len(self.payloads)
        for command in commands:
            for unstamped in self.task.decide(self.state, command, 0):
                event = Event(
                    seq=1,
                    segment=1,
                    t_ns=0,
                    utc="",
                    source=Source.PARTICIPANT,
                    kind=unstamped.payload.kind,
                    v=1,
                    part_id="q",
                    trial=None,
                    attempt=None,
                    payload={},
                )
                self.state = self.task.apply(self.state, event, unstamped.payload)
                self.payloads.append(unstamped.payload)
        return len(self.payloads) - before


def test_pages_go_on_when_theirs_is_answered_and_back_at_any_time() -> None:
    sheet = Sheet()
    assert not sheet.send(Next()), "a is required"
    assert not sheet.send(Back()), "the first page"
    sheet.send(Answer("a", 2), Next())
    assert sheet.state.page == 1
    assert not sheet.send(Next()), "easy_1 is required"
    sheet.send(Back())
    assert (sheet.state.page, sheet.state.answers) == (0, {"a": 2})
    sheet.send(Next(), Answer("easy_1", 3), Next())
    assert sheet.state.outcome == "completed"
    assert sheet.payloads[-2].answers == {"a": 2, "easy_1": 3}
    assert sheet.payloads[-2].instrument_version == 2


def test_an_answer_taken_back_is_not_handed_in() -> None:
    sheet = Sheet("a", "b")
    sheet.send(Answer("a", 1), Answer("b", "x"), Answer("b", ""))
    assert sheet.state.answers == {"a": 1, "b": ""}
    sheet.send(Next())
    assert sheet.payloads[-2].answers == {"a": 1}


def test_the_same_answer_in_other_words_is_no_change() -> None:
    sheet = Sheet("a", "b")
    assert sheet.send(Answer("b", "x")) == 1
    assert sheet.send(Answer("b", " x ")) == 0


def test_items_are_asked_in_the_order_of_the_plan() -> None:
    sheet = Sheet("easy_2", "a", "easy_1")
    assert [item.id for item in sheet.task.instrument.items] == ["easy_2", "a", "easy_1"]
    assert sheet.task.instrument.items[0].text == "Stage 2"
    assert not sheet.send(Answer("b", "not asked")), "an item of the file that is not asked"


@pytest.mark.parametrize("page", [0, 1])
def test_the_moderator_can_skip_it_on_any_page(page: int) -> None:
    sheet = Sheet()
    sheet.send(Answer("a", 2), *[Next()] * page, SkipStage())
    assert sheet.state.outcome == "skipped"
    assert not sheet.send(Answer("a", 3), Next())


QUESTIONNAIRE_ASKED_FILE: dict[str, Any] = {
    "id": "use",
    "version": 1,
    "title": "Use",
    "source": "made for tests",
    "per_page": 2,
    "scale": {"points": 3, "low": "no", "high": "yes"},
    "scores": {"both": {"mean": ["used", "trust"]}},
    "items": [
        {"id": "used", "kind": "statement", "text": "Used"},
        {"id": "often", "kind": "statement", "text": "Often", "only_if": {"used": [2, 3]}},
        {"id": "why", "kind": "written", "text": "Why", "only_if": {"often": 3}},
        {"id": "how", "kind": "written", "text": "How", "only_if": {"used": 1}},
        {"id": "trust", "kind": "statement", "text": "Trust", "only_if": {"hint": "with"}},
        {"id": "last", "kind": "slider", "text": "L", "only_if": {"before.like": ["a", "c"]}},
    ],
}


class Sheet_questionnaire_asked:
    """Plays one questionnaire and keeps its events."""

    def __init__(self, hint: str = "with", like: tuple[str, ...] = ("a", "b")) -> None:
        part = QuestionnairePart(
            id="q", title="", instrument="use", about=None, variables={"hint": hint}
        )
        self.task = QuestionnaireTask(part, 4, Instrument.model_validate(QUESTIONNAIRE_ASKED_FILE))
        before = {"before.like": like, "before.other": (1,)}
        self.state = self.task.told(self.task.initial(Pauses()), before)
        self.payloads: list[Any] = []

    def send(self, *commands: Command) -> int:
        """How many events the commands gave."""
        before = len(self.payloads)
        for command in commands:
            for unstamped in self.task.decide(self.state, command, 0):
                kind = unstamped.payload.kind
                event = Event(1, 1, 0, "", Source.PARTICIPANT, kind, 1, "q", None, None, {})
                self.state = self.task.apply(self.state, event, unstamped.payload)
                self.payloads.append(unstamped.payload)
        return len(self.payloads) - before

    @property
    def ids(self) -> frozenset[str]:
        return self.task.asked(self.state).ids


def test_what_was_answered_before_shows_and_hides() -> None:
    sheet = Sheet_questionnaire_asked()
    assert sheet.ids == {"used", "trust", "last"}
    assert not sheet.send(Answer("often", 2)), "it is not asked"
    sheet.send(Answer("used", 2))
    assert sheet.ids == {"used", "often", "trust", "last"}
    assert [item.id for item in sheet.task.missing(sheet.state, 0)] == ["often"]
    assert not sheet.send(Next())
    sheet.send(Answer("often", 3), Next(), Answer("why", "because"))
    sheet.send(Back(), Answer("used", 1), Next())
    assert sheet.ids == {"used", "how", "trust", "last"}, "what often said does not decide any more"
    assert [item.id for item in sheet.task.missing(sheet.state)] == ["how", "trust"]
    sheet.send(Answer("how", "so"), Next(), Answer("trust", 1), Next())
    submitted = sheet.payloads[-2]
    assert submitted.not_asked == ("often", "why")
    assert submitted.answers == {
        "used": 1,
        "how": "so",
        "trust": 1,
        "last": {"value": 0, "touched": False},
    }
    assert submitted.as_dict()["not_asked"] == ("often", "why")
    changed = [payload for payload in sheet.payloads if payload.kind == "response.changed"]
    assert [payload.item for payload in changed] == [
        *("used", "often", "why", "used", "how", "trust")
    ], "the events stay"
    scores = sheet.task.instrument.scores
    assert isinstance(scores, dict)
    assert scores["both"].of(submitted.answers) == 1.0


def test_back_again_an_answer_that_was_hidden_counts_again() -> None:
    sheet = Sheet_questionnaire_asked()
    sheet.send(Answer("used", 2), Answer("often", 3), Answer("used", 1))
    assert "often" not in sheet.ids
    sheet.send(Answer("used", 3))
    assert "often" in sheet.ids
    assert not sheet.task.missing(sheet.state, 0)


def test_pages_of_which_nothing_is_asked_are_passed_over() -> None:
    sheet = Sheet_questionnaire_asked("without", ("b",))
    sheet.send(Answer("used", 3), Answer("often", 1))
    assert sheet.task.pages_asked(sheet.state) == (0,)
    assert sheet.send(Next()) == 2, "the first page is the last one"
    assert sheet.payloads[-2].not_asked == ("why", "how", "trust", "last")
    sheet = Sheet_questionnaire_asked()
    sheet.send(Answer("used", 3), Answer("often", 1), Next())
    assert sheet.state.page == 2
    sheet.send(Back())
    assert sheet.state.page == 0


def test_a_questionnaire_of_which_nothing_is_asked_is_over_at_once() -> None:
    file = QUESTIONNAIRE_ASKED_FILE | {
        "scores": None,
        "items": [QUESTIONNAIRE_ASKED_FILE["items"][4]],
    }
    part = QuestionnairePart(
        id="q", title="", instrument="use", about=None, variables={"hint": "without"}
    )
    task = QuestionnaireTask(part, 4, Instrument.model_validate(file))
    state = task.told(task.initial(Pauses()), {})
    assert task.wants_begin(state)
    submitted, ended = (unstamped.payload for unstamped in task.decide(state, Begin(), 0))
    assert (submitted.answers, submitted.not_asked) == ({}, ("trust",))
    assert ended.outcome == "completed"
    shown = task.at_page(state, 0)
    assert not task.wants_begin(shown), "a preview shows it"
    assert task.asked(shown).ids == {"trust"}
    assert not Sheet_questionnaire_asked().send(Begin())


def test_only_what_was_submitted_is_told_to_later_parts() -> None:
    sheet = Sheet_questionnaire_asked(like=())
    sheet.send(Answer("used", 3), Answer("often", 1), Next(), Answer("trust", 2))
    assert sheet.task.answers(sheet.state) == {}
    sheet.send(Next())
    assert sheet.task.answers(sheet.state) == {
        "use.used": (3,),
        "use.often": (1,),
        "use.why": (),
        "use.how": (),
        "use.trust": (2,),
        "use.last": (),
    }


def test_room_is_kept_for_what_an_answer_on_the_same_page_adds() -> None:
    sheet = Sheet_questionnaire_asked()
    first, second, third = sheet.task.instrument.pages
    asked = sheet.task.asked(sheet.state)
    assert asked.awaited(first) == {"often"}
    assert asked.awaited(second) == asked.awaited(third) == frozenset(), "decided on another page"


@pytest.mark.parametrize("like", [(), ("b",), ("a",), ("b", "c")])
def test_any_of_the_chosen_options_decides(like: tuple[str, ...]) -> None:
    assert ("last" in Sheet_questionnaire_asked(like=like).ids) is bool({"a", "c"} & {*like})


ANSWERS = st.lists(
    st.one_of(
        st.builds(Answer, st.sampled_from(["used", "often", "trust"]), st.integers(1, 3)),
        st.builds(Answer, st.sampled_from(["why", "how"]), st.sampled_from(["", "x"])),
        st.just(Next()),
        st.just(Back()),
    ),
    max_size=25,
)


@given(ANSWERS, st.sampled_from(["with", "without"]))
def test_whatever_is_done_what_is_submitted_is_what_is_asked(
    commands: list[Command], hint: str
) -> None:
    sheet = Sheet_questionnaire_asked(hint)
    for command in commands:
        sheet.send(command)
        assert sheet.state.outcome or sheet.state.page in sheet.task.pages_asked(sheet.state)
    items = [item.id for item in sheet.task.instrument.items]
    if sheet.state.outcome:
        submitted = sheet.payloads[-2]
        assert set(submitted.answers).isdisjoint(submitted.not_asked)
        assert {*submitted.answers, *submitted.not_asked} == set(items)
        assert sheet.ids == set(submitted.answers)


@pytest.mark.parametrize("name", ALL)
def test_every_item_is_answered_validly(name: str) -> None:
    path = resources.assets() / "instruments" / f"{name}.yaml"
    file = Instrument.parse(path, path.read_bytes())
    instrument = file.realise(file.item_ids(5))
    given = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        for item in instrument.items:
            value = answer(item, rng)
            if value is None:
                assert not item.required
            else:
                assert item.check(value) == value
                assert item.answered(value)
            given.append((item.id, str(value)))
    assert len(set(given)) > len(instrument.items), "not always the same"
    again = [answer(item, np.random.default_rng(5)) for item in instrument.items]
    assert again == [answer(item, np.random.default_rng(5)) for item in instrument.items]


@pytest.mark.parametrize("longest", [1, 9, 10, 17, 18, 20, 2000])
@pytest.mark.parametrize("lines", [1, 4])
def test_a_written_answer_fits_its_field(longest: int, lines: int) -> None:
    item = Written(kind="written", id="why", text="Why?", longest=longest, lines=lines)
    for seed in range(30):
        value = answer(item, np.random.default_rng(seed))
        assert item.check(value) == value
        assert item.answered(value)


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two participants of a study with every instrument."""
    folder = tmp_path_factory.mktemp("asked")
    study = questionnaire_study(folder / "study")
    return simulate_study(str(study), 2, "understanding", folder / "out", seed=3)


def test_a_study_of_all_instruments_runs_and_is_scored(sessions: list[Path]) -> None:
    tables = labapp.analysis.load(sessions)
    assert set(tables.participants["outcome"]) == {"completed"}
    assert set(tables.answers["instrument"]) >= set(ALL) - {"demographics", "comments"}
    scores = tables.scores[tables.scores["participant"] == "P01"].set_index("score")["value"]
    assert {"seq", "raw_tlx", "weighted_tlx", "sus", "overall", "frustrating"} <= set(scores.index)
    assert scores.filter(like="weight_").sum() == 15
    assert scores.notna().all()
    first = tables.answers[tables.answers["item"] == "mental_demand"].iloc[0]
    assert 0 < first["first_s"] <= first["last_s"] <= first["submitted_s"]


def test_the_bundle_describes_every_column_of_every_questionnaire(
    sessions: list[Path], tmp_path: Path
) -> None:
    bundle = export(sessions, tmp_path / "bundle")
    assert not verify(bundle).problems
    for name in ALL:
        table = bundle / "phenotype" / f"{name}.tsv"
        if not table.exists():
            assert name == "comments"
            continue
        header, *lines = table.read_text().splitlines()
        described = json.loads(table.with_suffix(".json").read_text())
        assert set(header.split("\t")) == set(described) - {"MeasurementToolMetadata"}
        assert all(len(line.split("\t")) == len(header.split("\t")) for line in lines)
        assert described["MeasurementToolMetadata"]["Source"]
    ages = json.loads((bundle / "phenotype" / "demographics.json").read_text())
    levels = [entry["Levels"] for name, entry in ages.items() if name.endswith("_age")]
    assert levels
    assert levels[0]["from_70"] == "70 and above"


def test_what_was_written_never_leaves_with_a_deidentified_copy(
    sessions: list[Path], tmp_path: Path
) -> None:
    plain = open_record(export(sessions[:1], tmp_path / "plain"))
    assert REMARK in str([row.payload for row in plain.rows])
    folder = export(sessions, tmp_path / "reduced", deidentify=True)
    for record in iter_records(folder):
        payloads = str([row.payload for row in record.rows])
        assert REMARK not in payloads
        assert "mental_demand_or_effort" in payloads
        weights = [row.payload for row in record.rows if "_or_" in row.payload]
        assert any('"chosen":["effort"]' in one for one in weights), "chosen options are kept"
    for path in folder.rglob("*.[tj]s*"):
        assert REMARK not in path.read_text(), path
    assert not (folder / "phenotype" / "demographics.tsv").exists()
    scores = labapp.analysis.load(folder).scores
    assert len(scores) == len(labapp.analysis.load(sessions).scores), "as good for statistics"


SHUFFLED = """
id: mixed
version: 1
title: Mixed
source: Ours
scale: {points: 5, low: little, high: much}
options: [{id: a, text: A}, {id: b, text: B}, {id: c, text: C}, {id: none, text: N, alone: true}]
items:
  - {id: fruit, kind: choices, text: Which, shuffle: true, options: [a, b, c, none]}
  - id: rows
    kind: matrix
    text: How
    shuffle: true
    rows: [{id: a, text: A}, {id: b, text: B}, {id: c, text: C}, {id: d, text: D}]
  - {id: listed, kind: choice, text: Which, options: [a, b]}
"""


def test_options_are_shuffled_for_each_participant_and_the_plan_keeps_their_order(
    tmp_path: Path,
) -> None:
    (tmp_path / "instruments").mkdir()
    (tmp_path / "instruments/mixed.yaml").write_text(SHUFFLED)
    study = tmp_path / "own.yaml"
    study.write_text(
        "id: own\ntitle: Own\nversion: 1\nunnamed_texts: shipped\nflow: [{questionnaire: mixed}]\n"
    )
    put_beside(tmp_path)
    loaded = load(study)
    orders = []
    for label in ("P01", "P02", "P03", "P04"):
        (part,) = realise(loaded, label, space_of=lambda model: None).parts  # type: ignore
        assert isinstance(part, QuestionnairePart)
        assert part.orders.keys() == {"fruit", "rows"}
        assert part.orders["fruit"][-1] == "none"
        task = QuestionnaireTask(part, 0, loaded.instruments["mixed"])
        item = task.instrument.item("fruit")
        assert isinstance(item, Choices)
        assert tuple(option.id for option in item.shown()) == part.orders["fruit"]
        assert item.check({"chosen": ("c", "a")}) == {"chosen": ("a", "c")}, "stored as listed"
        assert type(part).model_validate(part.model_dump(mode="json")) == part
        orders.append(part.orders["rows"])
    assert len(set(orders)) > 1
