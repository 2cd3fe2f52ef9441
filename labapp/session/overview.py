"""What a study is and will do, and how far it has come: `labapp studies show`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, groupby, islice
from pathlib import Path
from typing import Any

from labapp.base.report.labels import Labels
from labapp.session import folder
from labapp.session.condition_assignment import (
    CellAssignment,
    Coverage,
    count_other_phases,
    count_quotas,
    coverage,
    folder_problems,
    people_of,
)
from labapp.session.stimuli import stimuli_of
from labapp.study import loading, planner
from labapp.study.allocation import SLOT, variants
from labapp.study.design import MODEL, Declared
from labapp.study.loading import LoadedStudy
from labapp.study.overview import prior_of, space_of
from labapp.study.people import PEOPLE_WORDS, Person, Visits, count_states
from labapp.study.plan import Plan
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart
from labapp.study.schema import Study
from labapp.study.when import describe

BEGINNING = 4
"""Sequences of masked pictures that are told of a participant."""


def next_free(loaded: LoadedStudy, data: Path, number: int) -> list[str]:
    """The next labels of participants without a session in this study or a related one."""
    study = loaded.study
    used = {*folder.list_taken_labels(data, study.id), *folder.list_refused(data, study)}
    labels = (study.participants.label(n) for n in count(1))
    return list(islice((label for label in labels if label not in used), number))


@dataclass(frozen=True)
class Overview:
    """What a study will do, before anybody takes part.

    Attributes
    ----------
    parts : of a first participant.
    plans : of the next ones, by label.
    wanted : how many plans were asked for.
    covered : None in a study that draws no cells.
    problems : what is wrong with session folders, a sentence each.
    others : sessions of other phases, by phase.
    """

    loaded: LoadedStudy
    people: Sequence[Person[CellAssignment]]
    parts: Sequence[PlannedPart]
    plans: Mapping[str, Plan]
    wanted: int
    covered: Coverage | None
    problems: Sequence[str]
    others: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        study = self.loaded.study
        return {
            "id": study.id,
            "title": study.title,
            "version": study.version,
            "sha256": self.loaded.sha256,
            "recorded": len(self.people),
            "people": [person.to_json() for person in self.people],
            "languages": self._count_languages(),
            "quotas": count_quotas(self.people, study),
            "problems": list(self.problems),
            "flow": [part.model_dump(mode="json") for part in self.parts],
            "next": {label: plan.assignment for label, plan in self.plans.items()},
            "coverage": None if self.covered is None else self.covered.to_json(),
        }

    def lines(self) -> list[str]:
        study = self.loaded.study
        labels = labels_of(study)
        counts = ", ".join(
            f"{n} {PEOPLE_WORDS[state]}" for state, n in count_states(self.people).items()
        )
        numbers = f"{len(self.people)} ({counts})" if counts else "0"
        phase = f", phase {study.phase}" if study.phase else ""
        out = [
            f"{study.title} ({study.id}, version {study.version}{phase})",
            f"Participants so far: {numbers}. Sound: {study.recording.audio}.",
            *self._other_phases(),
            *self._languages(),
            *self._quotas(),
            *self._sessions(),
            "",
            "Flow:" if self.covered is None else "Flow in one of the conditions:",
        ]
        out += [f"  {labels.put(_describe_part(part))}" for part in self.parts]
        within = self._levels_in_order()
        models = any("models" in plan.assignment for plan in self.plans.values())
        shuffled = sorted(
            {part.ordered for plan in self.plans.values() for part in plan.parts if part.order()}
        )
        order = " and their order of models" if models else ""
        if within:
            order = f" and their order of {' and '.join(map(labels.put, within))}"
        elif shuffled:
            order = f" and the beginning of their order of {' and '.join(shuffled)}"
        if self.covered is None:
            out += ["", f"Next participants{order}:"]
        else:
            included = ", if all of them are included" + ("," if order else "")
            out += [
                "",
                *describe_coverage(self.covered, study),
                "",
                f"Next participants{included}{order}:",
            ]
        out += [
            f"  {label}  {self._describe_assignment(plan)}" for label, plan in self.plans.items()
        ]
        if len(self.plans) < self.wanted:
            out.append("  After that, every condition has its participants and the study is full.")
        return out

    def _count_languages(self) -> dict[str, int]:
        """How many people who hold a place read the study in each of its languages."""
        counts = dict.fromkeys(self.loaded.study.languages, 0)
        for person in self.people:
            read = person.sessions[-1].language
            if person.holds and read in counts:
                counts[read] += 1
        return counts

    def _other_phases(self) -> list[str]:
        counts = ", ".join(f"{phase} {n}" for phase, n in sorted(self.others.items()))
        return [f"Sessions of other phases: {counts}."] if counts else []

    def _languages(self) -> list[str]:
        counts = ", ".join(f"{code} {n}" for code, n in self._count_languages().items())
        return [f"By language: {counts}."] if counts else []

    def _quotas(self) -> list[str]:
        study = self.loaded.study
        counts, limits = count_quotas(self.people, study), study.quota_limits
        return [
            f"Quota {name}: {n} of at most {limits[name]}{' (full)' if n >= limits[name] else ''}."
            for name, n in counts.items()
        ]

    def _sessions(self) -> list[str]:
        """Who came for which session, and who is still to come, where there are several; and what
        is wrong with the folders."""
        visits, out = Visits.of(self.loaded.study.design), []
        if len(visits.labels) > 1:
            needed = (
                f"{visits.needed} of {len(visits.labels)} are needed for a participant to count"
            )
            out = ["", f"Sessions ({needed}):"]
            width = max((len(person.participant) for person in self.people), default=0)
            out += [
                f"  {person.participant:{width}}  {PEOPLE_WORDS[person.state]}: {person.text()}"
                for person in self.people
            ]
        return out + [f"  {line}" for line in self.problems]

    def _describe_assignment(self, plan: Plan) -> str:
        variable = SLOT if self.covered is None else self.covered.rule.variable
        places = plan.assignment.get(variable)
        cells = places if isinstance(places, list) else []
        within = [plan.assignment[factor] for factor in self._levels_in_order()]
        models = [] if within else plan.assignment.get("models", [])
        names = [] if within else [name for part in plan.parts for name in part.order()]
        begin = [*names[:BEGINNING], *["…"] * (len(names) > BEGINNING)]
        parts = (cells, *within, models, begin)
        labels = labels_of(self.loaded.study)
        return ": ".join(
            " → ".join(labels.put(str(each)) for each in part) for part in parts if part
        )

    def _levels_in_order(self) -> list[str]:
        """The factors within participants that are no model, and whose order each plan has."""
        design, plans = self.loaded.study.design, self.plans.values()
        return [
            factor
            for factor in (design.within_levels if design is not None else ())
            if factor != MODEL and all(isinstance(p.assignment.get(factor), list) for p in plans)
        ]


def labels_of(study: Study) -> Labels:
    """What the study calls its names where people read them, in its own language."""
    declared = Declared.model_validate(study.declared)
    return Labels(declared.labels_in(study.own_language))


def describe_coverage(covered: Coverage, study: Study) -> list[str]:
    """The lines of a study's coverage, with its labels for the names that they begin with and for
    those of an order. Names of lines of one list have the same width."""
    labels = labels_of(study)
    lines: list[str] = []
    for (indent, _), block in groupby(covered.lines(), _indent_of_list):
        split = [re.split(r"(?<=\S)(?=\s\s)", line.strip(), maxsplit=1) for line in block]
        names = [labels.put(first) for first, *_ in split]
        width = max(map(len, names))
        for name, (_, *rest) in zip(names, split, strict=True):
            put = re.sub(
                r"\S+(?: \S+)* → .*?(?=  )", lambda order: labels.put(order[0]), "".join(rest)
            )
            last = f"{name:{width}}  {put.strip()}" if put else name
            lines.append(f"{indent}{last}")
    return lines


def _describe_part(part: PlannedPart) -> str:
    """A part in a line, with what it depends on."""
    line = registry.task_type_of(part).line(part)
    return f"{line}, only if {describe(part.only_if)}" if part.only_if else line


def _indent_of_list(line: str) -> tuple[str, bool]:
    """By which lines of a list are told from others: how far in they begin, and whether they have
    columns."""
    indent = line[: len(line) - len(line.lstrip())]
    return indent, bool(re.search(r"\S\s\s", line))


def overview(study: str, participants: int, data: Path) -> Overview:
    """The study, its coverage so far and the plans of its next participants."""
    loaded = loading.load(study)
    labels = next_free(loaded, data, participants)
    covered = coverage(data, loaded)
    drawn: Mapping[str, tuple[str, ...]] = dict.fromkeys(labels, ())
    if covered is not None:
        drawn = covered.upcoming(labels, loaded.study.seed, loaded.study.id)

    def make_plan(label: str, cells: tuple[str, ...]) -> Plan:
        return planner.realise(
            loaded, label, space_of=space_of, prior_of=prior_of, stimuli_of=stimuli_of, drawn=cells
        )

    plans = {label: make_plan(label, cells) for label, cells in drawn.items()}
    number, cells = next(variants(loaded.study))
    first = next(iter(plans.values()), None) or make_plan(
        loaded.study.participants.label(number), cells
    )
    everybody = people_of(data, loaded.study) if covered is None else covered.people
    problems = list(folder_problems(data / loaded.study.id))
    others = count_other_phases(data / loaded.study.id, loaded.study)
    shown = (loaded, everybody, first.parts, plans, participants, covered, problems, others)
    return Overview(*shown)
