"""`labapp plan --preregister`: what a study file declares, as the answers that AsPredicted and OSF
ask for, frozen with the hash of the study.

What no file can know (why this many participants, what they are paid) is marked for the authors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from labapp import __version__
from labapp.analysis.columns import table_columns
from labapp.analysis.declared import CORRECTIONS, FORMAT, RECORD
from labapp.base import leftovers
from labapp.base.errors import DataFolderError, UsageError
from labapp.base.report.page import count
from labapp.models.representations.card import hash_installed_card
from labapp.session import folder
from labapp.session.condition_assignment import other_phases, read_phase
from labapp.session.gate import gate
from labapp.session.planning.files import create_folder
from labapp.study.allocation import cell_name, rule_of
from labapp.study.conditions import as_tuple
from labapp.study.design import SESSION, Contrast, Design, Hypothesis, SmallestEffect, of_design
from labapp.study.flow import items_of, list_interrupts, rules_in_words, task_tests, walk_items
from labapp.study.instruments.items import Check
from labapp.study.loading import LoadedStudy
from labapp.study.measures import items, meanings, scores
from labapp.study.people import Visits
from labapp.study.plan import Plan
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart
from labapp.study.when import describe

YOURS = "[To be written by you: {}]"
"""What stands where only the authors can answer."""
FORMS = {"aspredicted.md": "AsPredicted", "osf.md": "OSF Preregistration"}
STUDY = "study"
"""Folder of the study's files as they were registered."""
_ORDERS = {
    "position": "each of them has each position equally often, in new random Latin squares",
    "latin-square": "each of them has each position equally often, in one cyclic Latin square",
    "williams": "each of them has each position equally often and follows each other one "
    "equally often (Williams design)",
    "random": "in a random order for each participant",
    "as_listed": "in the same order for everybody",
}
_DIRECTIONS = {
    "greater": "It is expected to be above 0 (one-sided test).",
    "less": "It is expected to be below 0 (one-sided test).",
    "two-sided": "Its sign is not predicted (two-sided test).",
    "equivalent": "It is expected to be too small to matter (two one-sided tests).",
}
Answers = list[tuple[str, str]]
"""Questions of a form, and what is answered."""


@dataclass(frozen=True)
class Preregistration:
    """A registration as it was written.

    Attributes
    ----------
    folder : Path
    sha256 : of its record, to be put into the registration itself.
    open : how many answers are the authors' to write.
    """

    folder: Path
    sha256: str
    open: int


def preregister(loaded: LoadedStudy, out: Path, data: Path | None = None) -> Preregistration:
    """Write a study's registration into a new folder: the two forms, the study's files as they are,
    and the record that a later report is compared with. Raises UsageError: the study declares
    nothing that could be registered; ExportExists, DataFolderError: the folder exists or cannot be
    written.

    Parameters
    ----------
    data : data root, to say whether sessions of the study exist.
    """
    study = loaded.study
    outcomes = study.analysis.outcomes.primary or study.analysis.outcomes.secondary
    if not study.hypotheses or (of_design(study.hypotheses) and not outcomes):
        lacking = "hypotheses" if not study.hypotheses else "analysis.outcomes"
        raise UsageError(
            f"{loaded.path}: there is nothing to register yet, because the study does not "
            f"declare any {lacking}.",
            todo="Declare `hypotheses` and `analysis: {outcomes: {primary: [...]}}` in the study "
            "file. `labapp studies schema` shows what they can contain.",
        )
    made = datetime.now(UTC)
    homes = () if data is None else folder.sessions_of(data, study.id)
    phases = [read_phase(home.path) if study.phase else None for home in homes]
    others = other_phases(phases, study)
    sessions = len(phases) - others.total()
    plans: list[Plan] = []
    gate(loaded.path, plans=plans)
    frozen = Frozen.of(plans)
    facts = _Facts(loaded, sessions, others, plans, frozen)
    forms = {"aspredicted.md": facts.aspredicted(), "osf.md": facts.osf()}
    record = {
        "format": FORMAT,
        "labapp": __version__,
        "registered_utc": f"{made:%Y-%m-%dT%H:%M:%SZ}",
        "study": study.id,
        "study_version": study.version,
        "study_sha256": loaded.sha256,
        "sessions_before": sessions,
        "files": {name: sha256(content).hexdigest() for name, content in loaded.files.items()},
        "inclusion": study.inclusion.model_dump(mode="json"),
        "declared": study.declared,
        **asdict(frozen),
    }
    text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    digest = sha256(text.encode()).hexdigest()
    with create_folder(out, "--preregister"):
        try:
            for name, content in loaded.files.items():
                (out / STUDY / name).parent.mkdir(parents=True, exist_ok=True)
                (out / STUDY / name).write_bytes(content)
            for name, answers in forms.items():
                page = _page(FORMS[name], loaded, made, digest, answers)
                (out / name).write_text(page, encoding="utf-8")
            (out / RECORD).write_text(text, encoding="utf-8")
        except OSError as error:
            leftovers.drop(out)
            raise DataFolderError.unwritten(
                "The registration", out, error, "Nothing was kept."
            ) from error
    mark = YOURS.partition("{")[0]
    unwritten = sum(answer.count(mark) for answers in forms.values() for _, answer in answers)
    return Preregistration(out, digest, unwritten)


def _page(form: str, loaded: LoadedStudy, made: datetime, digest: str, answers: Answers) -> str:
    lines = [
        f"# {form}: {loaded.study.title}",
        "",
        f"Made by labapp {__version__} on {made:%Y-%m-%d %H:%M} UTC.",
        f"Study: {loaded.study.id}, version {loaded.study.version}.",
        f"SHA-256 of the study's files: {loaded.sha256}.",
        f"SHA-256 of {RECORD}: {digest}.",
    ]
    for question, answer in answers:
        lines += ["", f"## {question}", "", answer]
    return "\n".join(lines) + "\n"


class _Facts:
    """What a study declares, in sentences."""

    def __init__(
        self,
        loaded: LoadedStudy,
        sessions: int,
        others: Mapping[str, int],
        plans: Sequence[Plan],
        frozen: Frozen,
    ) -> None:
        self.loaded, self.study, self.sessions = loaded, loaded.study, sessions
        self.others = ", ".join(f"{phase} {n}" for phase, n in sorted(others.items()))
        self.plans, self.frozen = plans, frozen
        self.design = self.study.design or Design()
        known = task_tests(self.study.flow)
        named = (each.test for each in self.study.hypotheses if each.test is not None)
        self.tests = {name: known[name] for name in dict.fromkeys(named)}
        self.plan = self.study.analysis

    def aspredicted(self) -> Answers:
        return [
            ("1) Data collection", self._data()),
            ("2) Hypothesis", self._hypotheses()),
            ("3) Dependent variable", self._outcomes()),
            ("4) Conditions", self._conditions()),
            ("5) Analyses", self._analyses()),
            ("6) Outliers and exclusions", self._exclusions()),
            ("7) Sample size", self._sample()),
            ("8) Other", f"{self._missing()}\n\n{self._rules()}\n\n{self._exploratory()}"),
        ]

    def osf(self) -> Answers:
        return [
            ("Title", self.study.title),
            ("Description", YOURS.format("what the study is about, and why")),
            ("Hypotheses", self._hypotheses()),
            ("Study type", self._type()),
            ("Blinding", YOURS.format("who knows which condition a participant is in")),
            ("Study design", self._conditions()),
            ("Randomization", self._describe_randomisation()),
            ("Existing data", self._data()),
            ("Data collection procedures", self._procedure()),
            ("Sample size", self._sample()),
            ("Sample size rationale", self._rationale()),
            ("Stopping rule", self._stopping()),
            ("Manipulated variables", "\n".join(f"* {f}" for f in self._factors()) or "None."),
            ("Measured variables", f"{self._outcomes()}\n\n{self._describe_covariates()}".strip()),
            ("Indices", self._indices()),
            ("Statistical models", self._analyses()),
            ("Transformations", self._transforms()),
            ("Inference criteria", self._criteria()),
            ("Data exclusion", self._exclusions()),
            ("Missing data", self._missing()),
            ("Exploratory analysis", self._exploratory()),
        ]

    def _data(self) -> str:
        of = f"the phase {self.study.phase} of this study" if self.study.phase else "this study"
        others = f" Sessions of other phases: {self.others}." if self.others else ""
        known = YOURS.format("what was known of them")
        if self.sessions:
            return (
                f"Yes: {count(self.sessions, 'session')} of {of} had been recorded when "
                f"this was written.{others} {known}"
            )
        told = f"No session of {of} had been recorded in the data folder.{others}"
        return f"{told} {known}" if others else told

    def _hypotheses(self) -> str:
        return "\n".join(
            f"{number}. ({hypothesis.role}) {hypothesis.text} {self._describe_test(hypothesis)}"
            for number, hypothesis in enumerate(self.study.hypotheses, start=1)
        )

    def _describe_test(self, hypothesis: Hypothesis) -> str:
        if hypothesis.test is not None:
            return f"Tested by “{hypothesis.test}” (see the analyses). {_DIRECTIONS['two-sided']}"
        if hypothesis.term is not None:
            term = " × ".join(hypothesis.term)
            return f"Tested by the term {term} of the analysis of {hypothesis.outcome}."
        if hypothesis.contrast is None:
            return f"Tested by the levels' differences in {hypothesis.outcome}."
        contrast = next(c for c in self.plan.contrasts if c.name == hypothesis.contrast)
        return (
            f"Tested on {hypothesis.outcome} by the contrast “{contrast.name}”: "
            f"{_weights(contrast)}. {_DIRECTIONS[hypothesis.direction]}"
        )

    def _outcomes(self) -> str:
        outcomes = self.plan.outcomes
        roles = {
            "primary": outcomes.primary,
            "secondary": outcomes.secondary,
            "manipulation check": outcomes.manipulation_checks,
        }
        lines = [
            f"* {role}: {self._measure(name)}" for role, names in roles.items() for name in names
        ]
        lines += [
            f"* {each.role}: {self.tests[each.test].measure} (test “{each.test}”)"
            for each in self.study.hypotheses
            if each.test is not None
        ]
        return "\n".join(lines)

    def _measure(self, name: str) -> str:
        for table in ("stages", "trials"):
            for column in table_columns()[table]:
                if column.name == name:
                    unit = f" ({column.unit})" if column.unit else ""
                    return f"`{name}`{unit}: {column.meaning}"
        for of, short in meanings(name, scores(self.loaded)):
            declared = self.loaded.instruments[of].scores
            if isinstance(declared, Mapping):
                needs = ", ".join(declared[short].needs)
                return f"`{name}`: a score of the questionnaire {of}, of {needs}"
        for of, _ in meanings(name, items(self.loaded)):
            return f"`{name}`: an item of the questionnaire {of}"
        return f"`{name}`"

    def _factors(self) -> Iterator[str]:
        for name, levels in self.design.between.items():
            yield f"{name}, between participants: {_format_levels(levels)}"
        for name in self.design.within_levels:
            levels = self.study.factor_levels[name]
            yield f"{name}, within participants: {_format_levels(levels)}"
        if self.design.sessions:
            yield f"{SESSION}, within participants: {_format_levels(self.design.sessions)}"
            needed = count(Visits.of(self.design).needed, "session")
            yield f"Participants are analysed if they completed at least {needed}"

    def _conditions(self) -> str:
        some = conditions(self.loaded)
        limited = "\n\nNot everybody meets everything:\n" + "\n".join(some) if some else ""
        if self.study.design is None:
            return YOURS.format("the conditions; the study file declares no design") + limited
        factors = list(self._factors())
        cells = len(self.design.cells)
        spread = (
            f"Each participant is in one of {cells} conditions."
            if cells > 1
            else "There is one condition."
        )
        listed = "\n".join(
            [spread, *(f"* {factor}" for factor in factors), self._describe_randomisation()]
        )
        return listed + limited

    def _describe_randomisation(self) -> str:
        if self._drawn_places() is not None:
            return (
                "The program assigns places: the emptiest condition comes first, and ties are "
                "broken at random. The place of a participant who is replaced is assigned again."
            )
        if self.study.design is None:
            return YOURS.format("how participants were assigned")
        by = (
            "The program assigns places, the emptiest condition first and ties at random; the "
            "place of a replaced participant is assigned again"
            if self.design.assign == "slots"
            else "Condition and order follow from the participant's number"
        )
        if not self.design.within_levels:
            return f"{by}."
        names = " and ".join(self.design.within_levels)
        own = "".join(
            f" Levels of {factor}: "
            + "; ".join(
                f"{' → '.join(map(str, order))} where {each.by} is {level}"
                for level, order in each.orders.items()
            )
            + "."
            for factor, each in self.design.orders.items()
        )
        return f"{by}. Levels of {names}: {_ORDERS[self.design.order]}.{own}" if names else by + own

    def _describe_covariates(self) -> str:
        names = self.design.measured
        return f"Covariates and measured groups: {', '.join(names)}." if names else ""

    def _analyses(self) -> str:
        """How the hypotheses are tested: those of tasks, then those of the design."""
        told = [f"* “{name}”: {test.method}" for name, test in self.tests.items()]
        outcomes = self.plan.outcomes.primary or self.plan.outcomes.secondary
        by_design = [self._analyses_by_design()] if outcomes or not told else []
        return "\n\n".join(filter(None, ["\n".join(told), *by_design]))

    def _analyses_by_design(self) -> str:
        between, within = bool(self.design.between), bool(self.design.within_levels)
        anova = {
            (True, True): "mixed analyses of variance",
            (False, True): "repeated-measures analyses of variance",
            (True, False): "analyses of variance",
            (False, False): "descriptions with intervals",
        }[between, within]
        sphericity = (
            " The Greenhouse-Geisser correction is used if a factor within participants has "
            "more than two levels."
            if within
            else ""
        )
        covariates = (
            f" Covariates and measured groups in the model: {', '.join(self.design.measured)}."
            if self.design.measured
            else ""
        )
        contrasts = (
            "\n".join(f"* “{each.name}”: {_weights(each)}" for each in self.plan.contrasts)
            or "* every pair of levels of each factor with up to six levels"
        )
        family = "one outcome" if self.plan.family == "per_outcome" else "all outcomes"
        smallest = "\n".join(
            f"* {outcome}: {_smallest(effect)}"
            for outcome, effect, _ in self.plan.smallest_effects()
        )
        equivalence = (
            f"\n\nSmallest differences that matter, tested by two one-sided tests:\n{smallest}"
            if smallest
            else ""
        )
        return (
            f"Participants' means in each cell are compared by {anova}.{sphericity}{covariates} "
            "If values are missing, a mixed model with a random intercept for each participant "
            "is used instead. Questions that are solved or not are also compared with "
            "generalised estimating equations, clustered by participant.\n\nContrasts, with "
            f"{CORRECTIONS[self.plan.correction]} over the tests of "
            f"{family}:\n{contrasts}{equivalence}{self._further()}"
        )

    def _further(self) -> str:
        """The tests that are made besides the usual ones; empty if the study chooses none."""
        if not self.plan.further_tests:
            return ""
        told = {
            "bayes_factor": "Bayes factors of the contrasts (JZS, Cauchy prior of width "
            f"{self.plan.bayes_prior_width:g} standard deviations)",
            "trimmed_means": "the contrasts of 20 % trimmed means (Yuen)",
            "permutation": "the contrasts by permutation",
            "aligned_ranks": "the terms by analysis of variance of aligned ranks",
        }
        named = "\n".join(f"* {told[name]}" for name in self.plan.further_tests)
        return (
            "\n\nFurther tests with the participants who have every cell, not corrected and not "
            f"deciding any hypothesis:\n{named}"
        )

    def _transforms(self) -> str:
        transforms = [f"{outcome}: {name}" for outcome, name in self.plan.transform.items()]
        return f"Before tests: {'; '.join(transforms)}." if transforms else "None."

    def _criteria(self) -> str:
        one_sided = any(h.direction in ("greater", "less") for h in self.study.hypotheses)
        sides = (
            "two-sided, except for hypotheses that name a direction" if one_sided else "two-sided"
        )
        return (
            f"p < .05 after the correction; tests are {sides}. Intervals are 95 % intervals; those "
            "of eta squared are 90 % intervals."
        )

    def _exclusions(self) -> str:
        study, lines = self.study, []
        if study.inclusion.completed:
            lines.append("did not complete the session, or a stage was skipped")
        if study.inclusion.practice_correct:
            lines.append("answered a practice question wrongly")
        if study.inclusion.min_solved:
            lines.append(f"solved fewer than {count(study.inclusion.min_solved, 'question')}")
        lines += [f"{rule.fails()} (rule “{name}”)" for name, rule in study.exclude.items()]
        lines.append("withdrew")
        told = "Somebody is not analysed who\n" + "\n".join(f"* {line}" for line in lines)
        items = [
            f"* {instrument.id}.{item.id}, passed by {' or '.join(map(str, as_tuple(item.right)))}"
            f"{_attempts(item.comprehension)}"
            for instrument in self.loaded.instruments.values()
            for item in instrument.items
            if item.right is not None
        ]
        return (
            f"{told}\n\nChecks of attention and comprehension:\n" + "\n".join(items)
            if items
            else told
        )

    def _sample(self) -> str:
        quotas = [f"* {quota.words} (quota “{name}”)" for name, quota in self.study.quotas.items()]
        return "\n".join([self._places(), *quotas])

    def _places(self) -> str:
        drawn = self._drawn_places()
        if drawn is not None:
            wanted, places = drawn
            return (
                f"{count(wanted, 'participant')} who are not excluded; the study file has "
                f"{count(places, 'place')}, which are assigned until each has its participants."
            )
        if self.design.per_cell is None:
            return YOURS.format("how many participants, or how the number is decided")
        cells, sizes = len(self.design.cells), self.design.sizes or ()
        if len(set(sizes)) > 1:
            named = (
                f"{size} ({cell_name(cell)})"
                for size, cell in zip(sizes, self.design.cells, strict=True)
            )
            return f"{sum(sizes)} participants who are not excluded: {', '.join(named)}."
        each = f" in each of {cells} conditions" if cells > 1 else ""
        total = sum(sizes)
        return (
            f"{count(sizes[0], 'participant')} who are not excluded{each}"
            f"{f', {total} in all' if cells > 1 else ''}."
        )

    def _drawn_places(self) -> tuple[int, int] | None:
        """How many participants a study without a declared design needs, on how many places; None
        if it does not say."""
        rule = None if self.study.design is not None else rule_of(self.study)
        if rule is None or rule.participants is None:
            return None
        return rule.participants, len(rule.cells)

    def _stopping(self) -> str:
        if self.design.per_cell is None and self._drawn_places() is None:
            return YOURS.format("when recruitment ends")
        return (
            "Recruitment ends when every place is filled with a participant who is not "
            "excluded; excluded participants are replaced. Nothing is tested before that."
        )

    def _rationale(self) -> str:
        effects = [
            f"the smallest difference that matters in {outcome} is {_smallest(effect)}"
            for outcome, effect, _ in self.plan.smallest_effects()
        ]
        why = YOURS.format("why this number, for example from the power curves of `labapp plan`")
        return f"For the contrasts, {'; '.join(effects)}. {why}" if effects else why

    def _type(self) -> str:
        return (
            "Experiment: participants are assigned to conditions, or meet conditions in assigned "
            "orders."
            if self.design.between or self.design.within_levels
            else "Observational study."
        )

    def _procedure(self) -> str:
        tasks = dict.fromkeys(
            stages.task
            for item in items_of(self.study.flow)
            if (stages := item.task_stages()) is not None
        )
        asked = ", ".join(self.loaded.instruments) or "none"
        people = YOURS.format("who takes part, how they are recruited, and what they are paid")
        return (
            f"Sessions in the lab, led by a moderator. Tasks: {', '.join(tasks) or 'none'}. "
            f"Questionnaires: {asked}. {people}\n\n{self._rules()}"
        )

    def _rules(self) -> str:
        shown = self.frozen.lines()
        files = "\n\nFiles, by the beginning of their hashes:\n" + "\n".join(shown)
        trials = "\n".join(rules(self.loaded, self.plans))
        return f"Rules of the trials:\n{trials}{files if shown else ''}"

    def _indices(self) -> str:
        lines = []
        for instrument in self.loaded.instruments.values():
            scores = instrument.scores
            if isinstance(scores, Mapping):
                for name, score in scores.items():
                    if score.needs:
                        turned = f", reversed: {', '.join(score.reverse)}" if score.reverse else ""
                        lines.append(
                            f"* {instrument.id}.{name}: {score.rule_name} of "
                            f"{', '.join(score.needs)}{turned}"
                        )
        return "\n".join(lines) or "None."

    def _missing(self) -> str:
        missing = self.study.missing
        scale = (
            "Scales with a missing answer are left out."
            if missing.scale_items is None
            else "A mean or sum is computed from the answered items if at least "
            f"{missing.scale_items.at_least} of them are answered (all, if it has fewer "
            "items); a sum is scaled up."
        )
        trials = {
            "unsolved": "A question that was skipped counts as not solved.",
            "left_out": "A question that was skipped is left out.",
        }[missing.skipped_trials]
        return f"{scale} {trials}"

    def _exploratory(self) -> str:
        named = [h.text for h in self.study.hypotheses if h.role == "exploratory"]
        listed = f" Named beforehand: {'; '.join(named)}." if named else ""
        return f"Everything that is not named here is exploratory and is reported as such.{listed}"


def _format_levels(levels: Sequence[Any]) -> str:
    return ", ".join(map(str, levels)) or "as the sessions have them"


def _weights(contrast: Contrast) -> str:
    parts = []
    for factor, weights in contrast.weights.items():
        signed = (f"{weight:+g}".replace("-", "−") for weight in weights.values())
        terms = (f"{weight} × {level}" for weight, level in zip(signed, weights, strict=True))
        parts.append(f"{factor}: {' '.join(terms)}")
    return ", crossed with ".join(parts)


def _smallest(effect: SmallestEffect) -> str:
    size = f"{effect.raw:g}" if effect.raw is not None else f"{effect.standardised:g} sd"
    return f"{size} in “{effect.contrast}”"


_INTERRUPTED = {
    "resume": "An interrupted session continues where it stopped.",
    "restart_stage": "An interrupted stage begins again with its first question.",
    "block": "An interrupted session is not continued.",
}

_STALLS = {
    "leave-out": "Time during which the computer freezes is left out of durations and limits.",
    "keep": "Time during which the computer freezes counts in durations and limits.",
    "repeat-question": "Time during which the computer freezes is left out of durations and "
    "limits, and the question in progress is asked again.",
}


@dataclass(frozen=True)
class Frozen:
    """The files that a study shows beside its own, as they are now.

    Attributes
    ----------
    models : by id the hash of the card, which holds the hashes of the weights.
    classifiers : by id the hash of the weights.
    stimulus_sets : by name the hash of the manifest.
    """

    models: Mapping[str, str]
    classifiers: Mapping[str, str]
    stimulus_sets: Mapping[str, str]

    @classmethod
    def of(cls, plans: Sequence[Plan]) -> Frozen:
        """Of all conditions."""
        parts = list(_parts(plans))
        return cls(
            {
                model: hash_installed_card(model)
                for part in parts
                for model in sorted(part.models())
            },
            {name: sha or "" for part in parts for name, sha in part.classifiers()},
            {shown.name: shown.sha256 for part in parts for shown in part.stimulus_sets()},
        )

    def lines(self) -> list[str]:
        """Each with the beginning of its hash."""
        named = {
            "model": self.models,
            "classifier": self.classifiers,
            "stimulus set": self.stimulus_sets,
        }
        return [
            f"* {kind} {name}: {sha[:12]}"
            for kind, hashes in named.items()
            for name, sha in hashes.items()
        ]


def conditions(loaded: LoadedStudy) -> list[str]:
    """What only some participants meet, of the flow and of questionnaires."""
    lines = [
        f"* {_describe_item(item.key, getattr(item, item.key, None))}: only where "
        f"{describe(item.only_if)}"
        for _, item in walk_items(loaded.study.flow)
        if item.only_if
    ]
    for instrument in loaded.instruments.values():
        lines += [
            f"* item {instrument.id}.{item.id}: asked only where {describe(item.only_if)}"
            for item in instrument.items
            if item.only_if
        ]
    return lines


def _attempts(check: Check | None) -> str:
    """How often a comprehension check may be answered; nothing for an attention check."""
    return "" if check is None else f", with at most {count(check.attempts, 'attempt')}"


def _describe_item(key: str, value: object) -> str:
    """An item of the flow, as the study file names it."""
    if isinstance(value, str):
        return f"{key} {value}"
    task = getattr(value, "task", None)
    return key if task is None else f"{key} of {task}"


def rules(loaded: LoadedStudy, plans: Sequence[Plan]) -> list[str]:
    """By which rules trials go, with the models for which they do; and what an interruption leads
    to."""
    models: dict[str, dict[str, None]] = {}
    for part in _parts(plans):
        if part.has_trials:
            task = registry.task_type_of(part)
            text = f"{task.name}: {task.rules(part)}"
            models.setdefault(text, {}).update(dict.fromkeys(part.models()))
    lines = [
        f"* {text} ({', '.join(names)})" if names else f"* {text}" for text, names in models.items()
    ]
    study = loaded.study
    for name, *settings in dict.fromkeys(rules_in_words(study.flow)):
        lines.append(f"* adaptive rule {name}: {'; '.join(settings)}")
    for each in list_interrupts(study.flow):
        asked = ", ".join(f"questionnaire {name}" for name in each.asked)
        lines.append(
            f"* between the rounds of {each.each}: {asked or 'no questionnaire'}, {each.when}; "
            "never after the last round"
        )
    return [*lines, f"* {_INTERRUPTED[study.when_interrupted]}", f"* {_STALLS[study.stalls]}"]


def _parts(plans: Sequence[Plan]) -> Iterator[PlannedPart]:
    return (part for plan in plans for part in plan.parts)
