"""Records of questions with an answer that is chosen, handed in, and then right or wrong.

Also what is read from beside a journal since it is not in it: the cards of bundles, and the study
file of older sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, Generic, Protocol, TypeVar

from labapp.analysis.task_records import Attempt, Key, Row
from labapp.base.documents import parse_yaml
from labapp.base.errors import LabappError, StudyError
from labapp.models.representations import card
from labapp.models.representations.card import ModelCard
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.journal.layout import SOURCEDATA, STUDY, study_files_of
from labapp.record.journal.opening import SessionPlace, bundle_tree
from labapp.record.journal.record import Record
from labapp.study.plugins.part import TrialsPart


class HandedIn(Protocol):
    """An event with which an answer is handed in."""

    @property
    def correct(self) -> bool: ...


P = TypeVar("P", bound=TrialsPart)
D = TypeVar("D")
A = TypeVar("A", bound=HandedIn)


class AnsweredAttempt(Attempt, Generic[P, D, A]):
    """One attempt at a question. P is the part's type, D that of the event that drew the question,
    A that of the event that hands the answer in.

    Attributes
    ----------
    choice : the one that counts, from 0.
    choices : how many were made.
    answer : what was handed in.
    first_choice_ns, answered_ns, last_ns : working time of the first choice, of the answer, and of
        the last event.
    """

    part: P
    drawn: D
    choice: int | None = None
    choices = 0
    answer: A | None = None
    first_choice_ns: int | None = None
    answered_ns: int | None = None
    last_ns: int | None = None

    def __init__(self, part: P, key: Key, drawn: D) -> None:
        super().__init__(key)
        self.part = part
        self.drawn = drawn

    def show(self, event: Event, working: int) -> None:
        """Record that the question was on the screen."""
        self.started_session_ns, self.started_ns = event.t_ns, working

    def choose(self, choice: int, working: int) -> None:
        """An answer was chosen."""
        self.choice = choice
        self.choices += 1
        if self.first_choice_ns is None:
            self.first_choice_ns = working

    def hand_in(self, answer: A, working: int) -> None:
        """The answer was handed in."""
        self.answer, self.answered_ns = answer, working

    @property
    def correct(self) -> bool | None:
        return None if self.answer is None else self.answer.correct

    @property
    def response_s(self) -> float | None:
        """From the question's appearance to the answer."""
        return self.since_start(self.answered_ns)

    @property
    def duration_s(self) -> float | None:
        """From the question's appearance to its last event."""
        return self.since_start(self.last_ns)

    @property
    def choice_changes(self) -> int:
        """Choices after the first."""
        return max(self.choices - 1, 0)


Q = TypeVar("Q", bound=AnsweredAttempt[Any, Any, Any])


def answered(attempts: Sequence[Q]) -> list[Q]:
    """The attempts that count and have an answer: one that the time limit cut off has none."""
    return [each for each in attempts if each.excluded_because is None and each.answer is not None]


class AnsweredStage(Generic[Q]):
    """The questions of a stage that count and were answered, for the table of stages."""

    def __init__(self, attempts: Sequence[Q]) -> None:
        self.questions = answered(attempts)
        self.answers = [each.answer for each in self.questions if each.answer is not None]

    @property
    def n_answered(self) -> int:
        return len(self.questions)

    @property
    def n_correct(self) -> int:
        return sum(answer.correct for answer in self.answers)

    @property
    def correctness_rate(self) -> float | None:
        """Share of the answers that were right."""
        return mean(float(answer.correct) for answer in self.answers)

    @property
    def response_time_s(self) -> float | None:
        """Mean time to answer."""
        return mean(question.response_s for question in self.questions)

    def mean_of(self, rating: str) -> float | None:
        """Mean of a rating that is handed in with the answer."""
        return mean(getattr(answer, rating) for answer in self.answers)


ANSWERS = {
    name: name for name in ("n_answered", "n_correct", "correctness_rate", "response_time_s")
}
"""The cells of an `AnsweredStage` in shared columns (`TaskTables.shared`)."""


def answers_row(attempts: Sequence[AnsweredAttempt[Any, Any, Any]]) -> Row:
    """The same as a row, for tables without getters."""
    stage = AnsweredStage(attempts)
    return {name: getattr(stage, name) for name in ANSWERS}


def mean(values: Iterable[float | None]) -> float | None:
    """Of those that are there; None if none is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


MODELS = f"{SOURCEDATA}/models"
"""The folder of a bundle with the cards of its models."""


def know_bundled_cards(places: Iterable[SessionPlace]) -> None:
    """Take in the cards of the bundles among these, for models that are not installed here."""
    for path in dict.fromkeys(place.path for place in places if place.prefix):
        for model, model_card in read_bundled_cards(path).items():
            card.know(model, model_card)


def read_bundled_cards(bundle: Path) -> dict[str, ModelCard]:
    """The cards of a bundle that can be read, by the ids of their models."""
    tree = bundle_tree(bundle)
    if tree is None:
        return {}
    below = tree.below(MODELS)
    cards = {}
    for name in below.names():
        model, _, file = name.rpartition("/")
        if file != card.CARD:
            continue
        with TemporaryDirectory() as folder:
            (Path(folder) / card.CARD).write_bytes(below.read(name))
            try:
                cards[model] = card.read(Path(folder))
            except LabappError:
                continue  # of a newer version, or of a classifier
    return cards


def with_replicates(
    events: list[tuple[Event, Payload]], record: Record
) -> list[tuple[Event, Payload]]:
    """The events of a session; if its first one does not say which published study it repeats,
    as that of older ones does not, its copy of the study file does."""
    if not events or not isinstance(events[0][1], SessionPlanned) or events[0][1].replicates:
        return events
    repeated = study_document(record).get("replicates")
    if not isinstance(repeated, Mapping) or not repeated:
        return events
    event, planned = events[0]
    names = {str(key): str(value) for key, value in repeated.items()}
    return [(event, planned.__replace__(replicates=names)), *events[1:]]


def study_document(record: Record) -> Mapping[str, Any]:
    """A session's copy of its study file as it is there; empty if there is none, or none
    that can be read: what a session needs of it to be analysed stands in its journal."""
    below = record.tree.below(STUDY)
    for name in study_files_of(below.names()):
        return _document(below.read(name))
    return {}


def title_of(record: Record) -> str | None:
    """The title of a session's study, as its copy of the study file has it; None for none."""
    title = study_document(record).get("title")
    return title if isinstance(title, str) else None


@lru_cache(maxsize=64)
def _document(content: bytes) -> Mapping[str, Any]:
    """Read once: the sessions of a study all have the same file."""
    try:
        document = parse_yaml(Path("study.yaml"), content).value
    except StudyError:
        return {}
    return document if isinstance(document, dict) else {}
