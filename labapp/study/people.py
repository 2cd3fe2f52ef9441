"""The people of a study, with the sessions they came for and what became of them.

A place, a withdrawal and an exclusion belong to a person, however many sessions there are. Every
number of people that labapp gives is counted from here: places to hand out, overviews, reports and
bundles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from labapp.base.naming import natural
from labapp.study.design import Design

SessionState = Literal[
    "reserved", "open", "included", "excluded", "declined", "ended", "withdrawn", "gone"
]
PersonState = Literal[
    "included", "running", "awaited", "missed", "excluded", "ended", "withdrawn", "declined", "gone"
]
"""awaited: more sessions are to come before the person counts; missed: too few sessions are left
for the person to count."""
HOLDING = ("included", "running", "awaited")
"""States in which a person holds a place."""
PEOPLE_WORDS: Mapping[str, str] = {
    "included": "included",
    "running": "running",
    "awaited": "still to come",
    "missed": "missed a session",
    "excluded": "excluded",
    "ended": "ended early",
    "withdrawn": "withdrawn",
    "declined": "declined",
    "gone": "gone",
}
"""States for people, in the order of what counts most."""


class Visit(Protocol):
    """A session of a participant."""

    @property
    def participant(self) -> str: ...
    @property
    def session(self) -> str: ...
    @property
    def state(self) -> SessionState: ...


V = TypeVar("V", bound=Visit)


@dataclass(frozen=True, slots=True)
class Visits:
    """What a study says of the sessions for which people come.

    labels: in their order, empty if the study names none; needed: how many of them a participant
    must complete to count; order: what becomes of a session that is run out of that order.
    """

    labels: tuple[str, ...] = ()
    needed: int = 1
    order: Literal["told", "refused", "any"] = "told"

    @classmethod
    def of(cls, design: Design | None) -> Visits:
        if design is None or not design.sessions:
            return cls()
        labels = tuple(map(str, design.sessions))
        return cls(labels, design.needed_sessions or len(labels), design.session_order)

    def skipped(self, session: str, had: Iterable[str]) -> tuple[str, ...]:
        """The earlier sessions that somebody who comes for this one has not had."""
        if self.order == "any" or session not in self.labels:
            return ()
        earlier = self.labels[: self.labels.index(session)]
        return tuple(label for label in earlier if label not in set(had))


@dataclass(frozen=True)
class Person(Generic[V]):
    """Somebody who takes part. sessions: the person's, oldest first."""

    participant: str
    visits: Visits
    sessions: Sequence[V]

    @property
    def had(self) -> dict[str, SessionState]:
        """What became of each session, by its label; of one that was held twice, what counts."""
        states: dict[str, SessionState] = {}
        for each in self.sessions:
            if each.state != "gone" and states.get(each.session) != "included":
                states[each.session] = each.state
        return states

    @property
    def to_come(self) -> tuple[str, ...]:
        """Sessions that the person has not had, and that may still be held."""
        had = self.had
        labels = self.visits.labels
        last = max((labels.index(label) for label in had if label in labels), default=-1)
        first = 0 if self.visits.order == "any" else last + 1
        return tuple(label for label in labels[first:] if label not in had)

    @property
    def missed(self) -> tuple[str, ...]:
        """Sessions that the person has not had, and after which they came for another one."""
        return tuple(
            label
            for label in self.visits.labels
            if label not in self.had and label not in self.to_come
        )

    @property
    def state(self) -> PersonState:
        had = self.had
        states = Counter(had.values())
        if any(each.state == "withdrawn" for each in self.sessions):
            return "withdrawn"
        if not had:
            return "gone"
        if states["declined"] == len(had):
            return "declined"
        running = states["open"] + states["reserved"]
        if states["included"] >= self.visits.needed:
            return "included"
        if states["included"] + running:  # where nothing that was held counts, nobody is waited for
            if states["included"] + running + len(self.to_come) >= self.visits.needed:
                return "running" if running else "awaited"
            if states["included"] + running == len(had):
                return "missed"
        return "excluded" if states["excluded"] else "ended"

    @property
    def holds(self) -> bool:
        """Whether the person holds a place of the study."""
        return self.state in HOLDING

    @property
    def twice(self) -> tuple[str, ...]:
        """Sessions of which there are several records."""
        there = Counter(each.session for each in self.sessions if each.state != "gone")
        return tuple(label for label, n in there.items() if n > 1)

    def to_json(self) -> dict[str, object]:
        """Plain values for `--json`."""
        return {
            "participant": self.participant,
            "state": self.state,
            "sessions": {label: _simplify_state(state) for label, state in self.had.items()},
            "missed": list(self.missed),
            "to_come": list(self.to_come) if self.holds else [],
        }

    def text(self) -> str:
        """The person's sessions in words, such as `1 included, 2 missed, 3 still to come`."""
        words = {label: PEOPLE_WORDS[_simplify_state(state)] for label, state in self.had.items()}
        words |= dict.fromkeys(self.missed, "missed")
        if self.holds:
            words |= dict.fromkeys(self.to_come, "still to come")
        order = [*self.visits.labels, *words]
        return ", ".join(
            f"{label} {words[label]}" for label in dict.fromkeys(order) if label in words
        )


def _simplify_state(state: SessionState) -> PersonState:
    return "running" if state == "open" or state == "reserved" else state


def people(sessions: Iterable[V], visits: Visits) -> list[Person[V]]:
    """The people who came for these sessions, P2 before P10; sessions: oldest first."""
    by_person: dict[str, list[V]] = {}
    for each in sessions:
        by_person.setdefault(each.participant, []).append(each)
    return [Person(who, visits, by_person[who]) for who in sorted(by_person, key=natural)]


def count_states(everybody: Iterable[Person[V]]) -> dict[PersonState, int]:
    """How many people are in each state, those in which nobody is left out."""
    counts = Counter(person.state for person in everybody)
    return {state: counts[state] for state in PEOPLE_WORDS if counts[state]}  # type: ignore[misc, index]
