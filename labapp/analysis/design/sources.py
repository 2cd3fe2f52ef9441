"""The outcomes of a study, as frames for its analyses: what was measured, by which factors.

A study that declares its design is analysed by that; of another the rows tell it: models are a
factor within participants who met several, else between them, as variables of the assignment are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from labapp.analysis.column import ends_of, range_unit
from labapp.analysis.columns import outcome_columns, table_columns
from labapp.analysis.declared import Declaration, factor_column
from labapp.analysis.design.layout import PARTICIPANT, VALUE, Factor, Layout
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import _PLACE as PLACE
from labapp.analysis.task_report import unit_of_thresholds
from labapp.analysis.tracks import beyond
from labapp.base.report.labels import current_labels, label_measure
from labapp.base.report.page import Verbatim, say
from labapp.study.conditions import RESERVED
from labapp.study.design import MODEL, SESSION, SKIPPED, SOLVED, Missing
from labapp.study.measures import Called, meanings, several, with_items

PRIMARY, SECONDARY, UNDECLARED = "primary", "secondary", "undeclared"
MANIPULATION = "manipulation check"
POSITION, STIMULUS = "position", "stimulus"
STEPS = 11
"""A score of whole numbers with at most so many different values is of steps."""
THRESHOLD = "threshold"
AT_TARGET = "the level at which the share of right answers reaches its target"
"""What thresholds are, if it is known what the levels are."""
TIME_ON_QUESTION = "time_on_question"
NO_VALUES = "no session that was analysed has a value"
NOT_MEASURED = "no session that was analysed has a column, score or item of that name"
ONE_LEVEL = "only one level of {} has values"


@dataclass(frozen=True)
class Outcome:
    """One outcome of a task or questionnaire, ready to be analysed.

    Attributes
    ----------
    name, title, unit : column or score, in words, and its unit.
    group : task, or questionnaire.
    role : primary, secondary, manipulation check or undeclared.
    layout : its factors.
    frame : columns `participant`, those of the factors and covariates, `position` if there is
        one, and `value`: one row per participant and cell, before any transform.
    trials : the same by trials, with `stimulus`; None if there are none.
    yes_no : a trial's value is 0 or 1.
    steps : the values are those of a rating.
    on_success : the value is of solved trials only.
    remarks : what is to be known of what was left out.
    shared : an outcome of another task, which is analysed too, has the same name.
    skips : it is the time of questions of which some were skipped.
    """

    name: str
    title: str
    unit: str
    group: str
    role: str
    layout: Layout
    frame: pd.DataFrame
    trials: pd.DataFrame | None = None
    yes_no: bool = False
    steps: bool = False
    on_success: bool = False
    remarks: tuple[str, ...] = ()
    shared: bool = False
    skips: bool = False

    @property
    def label(self) -> Verbatim:
        """What reports call it, with its task where another one has an outcome of this name."""
        label = label_measure(self.measure, self.group)
        return Verbatim(f"{label} ({self.of})" if self.shared else label)

    @property
    def measure(self) -> str:
        """By which it has its label: the name, but of a time up to an answer or to skipping."""
        labels = current_labels()
        known = labels is not None and not labels.label(self.name)
        return TIME_ON_QUESTION if self.skips and known else self.name

    @property
    def of(self) -> str:
        """What reports call its task or questionnaire."""
        labels = current_labels()
        called = self.group if labels is None else labels.of_group(self.group)
        return say(self.group) if called == self.group else called

    @property
    def axis(self) -> Verbatim:
        """The title of an axis: the outcome, and its unit or the ends of its scale."""
        ends = ends_of(self.unit)
        if ends is None or self.unit == "%":
            return Verbatim(", ".join(filter(None, (self.label, say(self.unit)))))
        low, high = (say(f"{end:g}") for end in ends)
        return Verbatim(f"{self.label}, {low}–{high}")


@dataclass(frozen=True)
class LeftOut:
    """What was not analysed, and why."""

    name: str
    group: str
    role: str
    why: str

    @property
    def label(self) -> Verbatim:
        """What reports call it."""
        return Verbatim(label_measure(self.name, self.group))


@dataclass
class StudyOutcomes:
    """What can be analysed of a study, in the order of the report, and what cannot.

    declaration: the study's, with every outcome called as in `analysed`.
    """

    declaration: Declaration
    analysed: list[Outcome] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def outcomes_of(counted: Tables, declaration: Declaration) -> StudyOutcomes:
    """Every outcome of a study; counted: its rows of sessions that count."""
    names = _Names(counted, declaration)
    declaration = names.declaration
    plan = declaration.analysis.outcomes
    roles = dict.fromkeys(plan.primary, PRIMARY) | dict.fromkeys(plan.secondary, SECONDARY)
    some = bool(roles)
    roles |= dict.fromkeys(plan.manipulation_checks, MANIPULATION)
    measured = _Measured(counted, declaration)
    outcomes = StudyOutcomes(declaration)
    candidates = list(_candidates(counted, roles, names))
    known = {candidate.name for candidate in candidates}
    for name in roles:
        if name not in known and answers_of(counted, name).empty:
            why = names.unclear.get(name, NOT_MEASURED)
            outcomes.left_out.append(LeftOut(name, "", roles[name], why))
    for candidate in candidates:
        if some and candidate.name not in roles:
            continue
        role = roles.get(candidate.name, UNDECLARED)
        for part in _by_design(candidate, counted, declaration, measured):
            if isinstance(part, LeftOut):
                outcomes.left_out.append(replace(part, role=role))
            else:
                outcomes.analysed.append(replace(part, role=role))
    groups: dict[str, set[str]] = {}
    for outcome in outcomes.analysed:
        groups.setdefault(outcome.name, set()).add(outcome.group)
    outcomes.analysed = [
        replace(outcome, shared=len(groups[outcome.name]) > 1) for outcome in outcomes.analysed
    ]
    order = list(roles)
    outcomes.analysed.sort(
        key=lambda outcome: order.index(outcome.name) if outcome.name in roles else len(order)
    )
    return outcomes


@dataclass(frozen=True)
class _Candidate:
    """An outcome before its design is known. rows: the table's, with `value`."""

    name: str
    title: str
    unit: str
    group: str
    rows: pd.DataFrame
    trials: pd.DataFrame | None = None
    yes_no: bool = False
    on_success: bool = False
    remark: str = ""


class _Names:
    """What the names of outcomes stand for in these tables.

    An outcome may be called by its score alone in one place and with its questionnaire in another:
    `declaration` calls it everywhere as it does first. unclear: by name, what several things it
    stands for.
    """

    def __init__(self, counted: Tables, declaration: Declaration) -> None:
        pairs = counted.scores[["instrument", "score"]].drop_duplicates().to_numpy()
        # What another task would call so hides no item of this study.
        tables = counted.small()
        known = [
            *{
                ("", column.name)
                for table, column in outcome_columns()
                if column.name in (rows := tables[table]) and rows[column.name].notna().any()
            }
        ]
        known += [(str(of), str(name)) for of, name in pairs]
        self._known = known
        self._items = _numbers_answered(counted)
        self.items: list[Called] = []
        self._called: dict[Called, str] = {}
        self.unclear: dict[str, str] = {}
        plan = declaration.analysis
        outcomes = plan.outcomes.model_copy(
            update={
                role: tuple(map(self._own, getattr(plan.outcomes, role)))
                for role in ("primary", "secondary", "manipulation_checks")
            }
        )
        update = {
            key: {self._own(name): value for name, value in getattr(plan, key).items()}
            for key in ("transform", "smallest_effect")
        }
        hypotheses = tuple(
            each.model_copy(update={"outcome": self._own(each.outcome)})
            for each in declaration.of_design
        )
        analysis = plan.model_copy(update={**update, "outcomes": outcomes})
        self.declaration = declaration.model_copy(
            update={"analysis": analysis, "hypotheses": hypotheses}
        )

    def _own(self, name: str) -> str:
        possible = meanings(name, with_items(name, self._known, self._items))
        if len(possible) == 1:
            if possible[0] in self._items and possible[0] not in self._known:
                self.items.append(possible[0])
            return self._called.setdefault(possible[0], name)
        if possible:
            self.unclear[name] = several(name, possible)
        return name

    def of_score(self, instrument: str, score: str) -> str:
        """As the study calls a score; without its questionnaire if that is clear."""
        clear = meanings(score, self._known) == [(instrument, score)]
        own = score if clear else f"{instrument}.{score}"
        return self._called.get((instrument, score), own)


def _candidates(counted: Tables, roles: Iterable[str], names: _Names) -> Iterator[_Candidate]:
    missing = names.declaration.missing
    met: set[str] = set()
    stages = counted.stages
    columns = {column.name: column for column in table_columns()["stages"]}
    for task, rows in stages.groupby("task", sort=True):
        every = counted.trials
        of_task = (every["task"] == task) & (every["role"] == "stage") & ~every["excluded"]
        trials = _with_stimulus(every[of_task])
        for name, column in columns.items():
            wanted = name in roles
            measures = column.kind == "number" and not name.startswith("change_")
            if name in PLACE or not (measures or (wanted and column.kind == "integer")):
                continue
            if not rows[name].notna().any() and not wanted:
                continue  # another task's number
            met.add(name)
            own, yes_no, on_success = _by_trial(trials, name, missing)
            values = rows.assign(value=rows[name].astype("float64"))
            title, unit = column.meaning.split(";")[0], column.unit
            remark = ""
            if name == THRESHOLD:
                remark = _count_beyond(counted, str(task))
                if level := unit_of_thresholds(str(task)):
                    title, unit = AT_TARGET, level
            yield _Candidate(
                name, title, unit, str(task), values,
                own, yes_no, on_success, remark,
            )  # fmt: skip
    scores = counted.scores
    for (instrument, score), rows in scores.groupby(["instrument", "score"], sort=True):
        if not roles and score in met:
            continue  # the same, already by stages
        name = names.of_score(str(instrument), str(score))
        meaning = next(map(str, rows["meaning"].dropna()), name)
        values = rows.assign(value=rows["value"].astype("float64"))
        yield _Candidate(name, meaning, range_unit(rows), str(instrument), values)
    for instrument, item in dict.fromkeys(names.items):
        rows = _rows_of_item(counted, instrument, item)
        name = names.of_score(instrument, item)
        meaning = next(map(str, rows["text"].dropna()), name)
        yield _Candidate(name, meaning, range_unit(rows), instrument, rows)
    own_tables = [
        name for name in roles if name not in {*columns, *names.unclear} and "." not in name
    ]
    yield from _of_own_tables(counted, own_tables)


def _count_beyond(counted: Tables, task: str) -> str:
    """How many thresholds of a task were not measured, as a remark; "" for none."""
    own = counted.tracks
    own = own[(own["task"] == task) & (own["role"] == "stage") & own["threshold"].notna()]
    stages = beyond(own).groupby([own[name] for name in ("participant", "session", "stage")]).any()
    n = int(stages.sum())
    return f"{n} of {len(stages)} thresholds lie beyond the levels and are left out" if n else ""


def _answered_with_number(counted: Tables) -> pd.DataFrame:
    """The submitted answers that are numbers; an item that is asked once for each stage by its id
    in the questionnaire."""
    answers = counted.answers
    rows = answers[answers["submitted"].fillna(False).astype(bool) & answers["value"].notna()]
    asked = counted.worded[counted.worded["once_a_stage"].fillna(False).astype(bool)]
    repeated = {*zip(asked["instrument"], asked["item"], strict=True)}
    pairs = zip(rows["instrument"], rows["item"].astype(str), strict=True)
    base = [
        own if (own := re.sub(r"_\d+$", "", item)) != item and (of, own) in repeated else item
        for of, item in pairs
    ]
    return rows.assign(item=base)


def _numbers_answered(counted: Tables) -> list[Called]:
    pairs = _answered_with_number(counted)[["instrument", "item"]].drop_duplicates().to_numpy()
    return [(str(of), str(name)) for of, name in pairs]


def _rows_of_item(counted: Tables, instrument: str, item: str) -> pd.DataFrame:
    """The answers to an item, with its words and its lowest and highest number."""
    rows = _answered_with_number(counted)
    rows = rows[(rows["instrument"] == instrument) & (rows["item"] == item)]
    asked = counted.worded[["instrument", "item", "text", "low", "high"]]
    asked = asked.drop_duplicates(["instrument", "item"], keep="last")
    rows = rows.drop(columns=["low", "high", "text"], errors="ignore")
    rows = rows.merge(asked, on=["instrument", "item"], how="left")
    return rows.assign(value=rows["value"].astype("float64"))


def _of_own_tables(counted: Tables, names: Sequence[str]) -> Iterator[_Candidate]:
    """Declared numbers that stand in another table: the mean of a participant's rows."""
    for table, column in outcome_columns():
        if table == "stages" or column.name not in names:
            continue
        rows = counted.small()[table]
        if "participant" not in rows:
            continue
        if "excluded" in rows:
            rows = rows[~rows["excluded"].fillna(False).astype(bool)]
        if "role" in rows:
            rows = rows[rows["role"] == "stage"]
        if not rows[column.name].notna().any():
            continue
        rows = rows.assign(value=rows[column.name].astype("float64"))
        per_trial = _with_stimulus(rows) if "trial" in rows else None
        yes_no = column.kind == "boolean"
        yield _Candidate(column.name, column.meaning, column.unit, table, rows, per_trial, yes_no)


def _with_stimulus(rows: pd.DataFrame) -> pd.DataFrame:
    """With what was shown, if it can be the same for several participants."""
    for name in ("photo", "image"):
        if name in rows:
            return rows.assign(stimulus=rows[name].astype(str))
    if "z_target" in rows and rows["z_target"].notna().any():
        return rows.assign(stimulus=[f"{z}" for z in rows["z_target"]])
    return rows.assign(stimulus=None)


_SHARES = {"completion_rate": "outcome", "correctness_rate": "correct"}
"""Shares of trials, and the column that says it of each."""
_TIMES = {"response_time_s": ("response_s", "duration_s")}


def _by_trial(
    trials: pd.DataFrame, name: str, missing: Missing
) -> tuple[pd.DataFrame | None, bool, bool]:
    """The trials with the outcome as `value`, whether it is yes or no, and whether it is of solved
    trials alone."""
    if trials.empty:
        return None, False, False
    if name in _SHARES:
        column = _SHARES[name]
        if not trials[column].notna().any():
            return None, False, False
        solved = trials[column].map(missing.solved) if column == "outcome" else trials[column]
        own = trials.assign(value=solved.astype("float64"))
        return own[own["value"].notna()] if column == "outcome" else own, True, False
    if name in _TIMES:
        for column in _TIMES[name]:
            if trials[column].notna().any():
                ended = trials[trials["outcome"].isin([SOLVED, SKIPPED, "answered"])]
                return ended.assign(value=ended[column].astype("float64")), False, False
        return None, False, False
    if name in trials and trials[name].notna().any() and name not in PLACE:
        own = trials.assign(value=trials[name].astype("float64"))
        return own, False, name == "solved_s"
    return None, False, False


class _Measured:
    """Items and scores that are analysed beside the factors, one value per participant."""

    def __init__(self, counted: Tables, declaration: Declaration) -> None:
        names = () if declaration.design is None else declaration.design.measured
        self.covariates: dict[str, dict[str, float]] = {}
        self.groups: dict[str, dict[str, str]] = {}
        self.missing: list[str] = []
        submitted = counted.answers[counted.answers["submitted"].fillna(False).astype(bool)]
        for name in names:
            scores, many = _select_named_rows(counted.scores, "score", name)
            answers, more = _select_named_rows(submitted, "item", name)
            # A score may be called like the item of which it is made.
            if possible := dict.fromkeys((*many, *more)) if len({*many, *more}) > 1 else {}:
                self.missing.append(f"{several(name, possible)}; it is in no analysis")
            elif len(scores):
                self.covariates[name] = _by_participant(scores)
            elif answers["value"].notna().any():
                self.covariates[name] = _by_participant(answers)
            elif answers["value_text"].notna().any():
                rows = answers.dropna(subset=["value_text"]).drop_duplicates("participant")
                texts = zip(rows["participant"].astype(str), rows["value_text"], strict=True)
                self.groups[name] = {who: str(text) for who, text in texts}
            else:
                self.missing.append(f"nobody answered {name}, which is declared as measured")


def _select_named_rows(
    rows: pd.DataFrame, column: str, measure: str
) -> tuple[pd.DataFrame, list[Called]]:
    """The rows of the scores or items that a name may stand for, and these."""
    pairs = rows[["instrument", column]].drop_duplicates().to_numpy()
    possible = meanings(measure, [(str(of), str(name)) for of, name in pairs])
    own = [
        (of, name) in possible
        for of, name in zip(rows["instrument"].astype(str), rows[column].astype(str), strict=True)
    ]
    return rows[np.array(own, dtype=bool)], possible


def answers_of(counted: Tables, name: str) -> pd.DataFrame:
    """The answers in words to the item of a name, submitted ones; empty if it has none or the
    name is not clear."""
    answers = counted.answers
    submitted = answers[answers["submitted"].fillna(False).astype(bool)]
    rows, possible = _select_named_rows(submitted, "item", name)
    if len(possible) > 1 or rows["value"].notna().any():
        return rows.iloc[:0]
    return rows.dropna(subset=["value_text"])


def _by_participant(rows: pd.DataFrame) -> dict[str, float]:
    means = rows.groupby("participant")["value"].mean().dropna()
    return {str(who): float(value) for who, value in means.items()}


def _by_design(
    candidate: _Candidate, counted: Tables, declaration: Declaration, measured: _Measured
) -> Iterator[Outcome | LeftOut]:
    """The outcome with its factors; several if participants met models that are apart."""
    rows = candidate.rows[candidate.rows["value"].notna()]
    if rows.empty:
        why = candidate.remark or NO_VALUES
        yield LeftOut(candidate.name, candidate.group, UNDECLARED, why)
        return
    parts: Iterable[tuple[pd.DataFrame, list[Factor], list[str]]]
    if declaration.design is not None:
        parts = [(rows, *_read_declared_factors(rows, declaration))]
    else:
        parts = _infer_parts(rows, counted)
    for some, factors, remarks in parts:
        yield _outcome(candidate, some, factors, remarks, measured)


def _read_declared_factors(
    rows: pd.DataFrame, declaration: Declaration
) -> tuple[list[Factor], list[str]]:
    design = declaration.design
    assert design is not None
    given: dict[str, tuple[Sequence[str | int | float] | None, bool]] = {
        name: (levels, False) for name, levels in design.between.items()
    }
    given |= {name: (levels, True) for name, levels in design.within_levels.items()}
    if design.sessions:
        given[SESSION] = design.sessions, True
    factors, remarks = [], []
    for name, (declared, within) in given.items():
        column = factor_column(name)
        if column not in rows or not rows[column].notna().any():
            remarks.append(f"the factor {name} has no levels here")
            continue
        present = {str(level) for level in rows[column].dropna()}
        if declared is None:
            first = dict.fromkeys(level for level in declaration.models if level in present)
            levels = (*first, *sorted(present - first.keys()))
        else:
            levels = tuple(str(level) for level in declared if str(level) in present)
        if len(levels) < 2:
            remarks.append(ONE_LEVEL.format(name))
            continue
        factors.append(Factor(column, levels, within))
    return factors, remarks


def _infer_parts(
    rows: pd.DataFrame, counted: Tables
) -> Iterator[tuple[pd.DataFrame, list[Factor], list[str]]]:
    """By the design that rows show: models that somebody met together are compared within
    participants, those that each met one of between them."""
    variables = _tabulate_assignment(counted)
    with_model = rows[rows[MODEL].notna()] if MODEL in rows else rows.iloc[:0]
    if with_model.empty:
        some, factors = _with_assigned(rows, variables)
        yield some, factors, []
        return
    met = [frozenset(map(str, own)) for _, own in with_model.groupby("participant")[MODEL]]
    parts: list[set[str]] = []
    for models in sorted(set(met), key=sorted):
        apart = [part for part in parts if not part & models]
        parts = [*apart, set(models).union(*(part for part in parts if part & models))]
    several = [part for part in parts if _mostly_several([m for m in met if m <= part])]
    one_each: set[str] = set().union(*(part for part in parts if part not in several))
    groups = [(part, True) for part in several] + ([(one_each, False)] if one_each else [])
    for part, within in sorted(groups, key=lambda group: sorted(group[0])):
        some = with_model[with_model[MODEL].isin(part)]
        if not within:
            first = some.groupby("participant")[MODEL].transform("first")
            some = some[some[MODEL] == first]  # each person once
        model = [Factor(MODEL, tuple(sorted(part)), within)] if len(part) > 1 else []
        some, factors = _with_assigned(some, variables)
        apart_from_model = [
            factor
            for factor in factors
            # What the model says already is no factor beside it.
            if not model or some.groupby(MODEL)[factor.name].nunique().max() > 1
        ]
        remarks = [] if model else [ONE_LEVEL.format(MODEL)]
        yield some, [*apart_from_model, *model], remarks


def _mostly_several(met: Sequence[frozenset[str]]) -> bool:
    return 2 * sum(len(models) > 1 for models in met) >= len(met)


def _tabulate_assignment(counted: Tables) -> pd.DataFrame:
    """Variables of the assignment with one text or number per participant, the same in all of their
    sessions, as columns."""
    rows = []
    for participant, text in zip(
        counted.participants["participant"], counted.participants["assignment"], strict=True
    ):
        fields = json.loads(text) if isinstance(text, str) and text else {}
        plain = {
            str(name): str(value)
            for name, value in fields.items()
            if type(value) in (str, int, float) and name not in RESERVED
        }
        rows.append({"participant": participant, **plain})
    frame = pd.DataFrame(rows, columns=None if rows else ["participant"])
    changing = [
        name
        for name in frame.columns.drop("participant")
        if (frame.groupby("participant")[name].nunique() > 1).any()
    ]
    return frame.drop(columns=changing).drop_duplicates("participant")


def _with_assigned(
    rows: pd.DataFrame, variables: pd.DataFrame
) -> tuple[pd.DataFrame, list[Factor]]:
    """The rows with the variables that differ between their participants, each person in one level
    and at least two persons in each."""
    own = variables[variables["participant"].isin(rows["participant"].unique())]
    factors = []
    for name in own.columns.drop("participant"):
        counts = own[name].value_counts()
        if own[name].isna().any() or not 2 <= len(counts) <= 10 or counts.min() < 2:
            continue
        column = f"factor_{name}"
        levels = dict(zip(own["participant"], own[name], strict=True))
        rows = rows.assign(**{column: rows["participant"].map(levels)})
        factors.append(Factor(column, tuple(sorted(counts.index)), False))
    return rows, factors


def _outcome(
    candidate: _Candidate,
    rows: pd.DataFrame,
    factors: Sequence[Factor],
    remarks: Sequence[str],
    measured: _Measured,
) -> Outcome | LeftOut:
    met = {f.name: rows.groupby("participant")[f.name].nunique().max() for f in factors}
    # Declared within participants, but each met one level: it is between them.
    factors = [f if met[f.name] > 1 else replace(f, within=False) for f in factors]
    remarks = [*filter(None, [candidate.remark]), *remarks]
    between = [factor.name for factor in factors if not factor.within]
    levels = rows.groupby("participant")[between].nunique().max(axis=1)
    if twice := list(levels.index[levels > 1]):
        remarks.append(f"participants left out because they were in several groups: {len(twice)}")
        rows = rows[~rows["participant"].isin(twice)]
    add, groups = _build_measured_columns(rows, measured, remarks)
    factors = [*(factor for factor in factors if not factor.within), *groups, *(
        factor for factor in factors if factor.within
    )]  # fmt: skip
    covariates = tuple(name for name in add if name not in {group.name for group in groups})
    if not factors and not covariates:
        why = "; ".join(remarks) or "there is no factor with two levels"
        return LeftOut(candidate.name, candidate.group, UNDECLARED, why)
    names = [factor.name for factor in factors]
    extra = [POSITION] if POSITION in rows else []
    if not extra and "stage_number" in rows:
        rows = rows.assign(**{POSITION: rows["stage_number"]})
        extra = [POSITION]

    def make_frame(some: pd.DataFrame, more: Sequence[str]) -> pd.DataFrame:
        frame = some.assign(**{name: some["participant"].map(of) for name, of in add.items()})
        frame = frame[[PARTICIPANT, *names, *covariates, *more, VALUE]].copy()
        frame[PARTICIPANT] = frame[PARTICIPANT].astype(str)
        for name in names:
            frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
        return frame.dropna(subset=[*names, *covariates, VALUE]).reset_index(drop=True)

    frame = make_frame(rows, extra)
    n_lost = rows["participant"].nunique() - frame[PARTICIPANT].nunique()
    if n_lost:
        remarks.append(f"participants left out because they lack a factor or covariate: {n_lost}")
    if frame.empty:
        why = "; ".join((*remarks, NO_VALUES))
        return LeftOut(candidate.name, candidate.group, UNDECLARED, why)
    by = frame.groupby([PARTICIPANT, *names, *covariates], sort=True, as_index=False)
    cells = by.agg({VALUE: "mean", **dict.fromkeys(extra, "min")})
    layout = Layout(tuple(factors), covariates).met_in(cells)
    if flat := layout.flat:
        why = "; ".join((*remarks, ONE_LEVEL.format(flat)))
        return LeftOut(candidate.name, candidate.group, UNDECLARED, why)
    trials = None
    if candidate.trials is not None:
        trials = _trial_frame(candidate.trials, rows, names, make_frame)
    known = rows["value"].dropna().to_numpy(np.float64)
    steps = bool((known == np.round(known)).all() and np.unique(known).size <= STEPS)
    return Outcome(
        candidate.name, candidate.title, candidate.unit, candidate.group, UNDECLARED,
        layout, cells, trials, candidate.yes_no,
        steps, candidate.on_success, tuple(remarks), skips=_skips(candidate),
    )  # fmt: skip


def _skips(candidate: _Candidate) -> bool:
    """Whether it is the time of questions of which some were skipped."""
    trials = candidate.trials
    if candidate.name not in _TIMES or trials is None:
        return False
    return bool((trials["outcome"] == SKIPPED).any())


def _trial_frame(
    trials: pd.DataFrame,
    rows: pd.DataFrame,
    names: Sequence[str],
    framed: Callable[[pd.DataFrame, Sequence[str]], pd.DataFrame],
) -> pd.DataFrame | None:
    own = trials[trials["participant"].isin(rows["participant"].unique())]
    for name in names:
        if name not in own and name in rows:  # what is measured is added to any rows
            levels = rows.drop_duplicates("participant").set_index("participant")[name]
            own = own.assign(**{name: own["participant"].map(levels)})
    if MODEL in names:
        own = own[own[MODEL].isin(rows[MODEL].unique())]
    frame = framed(own, [STIMULUS])
    return None if frame.empty else frame


def _build_measured_columns(
    rows: pd.DataFrame, measured: _Measured, remarks: list[str]
) -> tuple[dict[str, dict[str, str] | dict[str, float]], list[Factor]]:
    """By measured name the value of each participant, and those that are groups."""
    people = {str(who) for who in rows["participant"].unique()}
    add: dict[str, dict[str, str] | dict[str, float]] = {}
    groups = []
    remarks += measured.missing
    for name, covariate in measured.covariates.items():
        values = [covariate[who] for who in people if who in covariate]
        if len(set(values)) < 2:
            remarks.append(f"the covariate {name} does not vary")
        else:
            add[name] = covariate
    for name, group in measured.groups.items():
        levels = tuple(sorted({group[who] for who in people if who in group}))
        if len(levels) < 2:
            remarks.append(ONE_LEVEL.format(name))
        else:
            add[name] = group
            groups.append(Factor(name, levels, False, measured=True))
    return add, groups


def in_words(unit: str) -> dict[str, object]:
    """A unit as templates say it: `unit`, or `scale` for one that names its ends, other than a
    share's, with `digits` after the decimal point."""
    scale = None if unit == "%" else ends_of(unit)
    digits = 0 if all(map(float.is_integer, scale or ())) else 1
    own = None if scale == (0.0, 1.0) else scale
    return {"unit": "" if scale else unit, "scale": own, "digits": digits}


def unit_of_difference(row: Statistic) -> object:
    """The unit of a difference in words. A scale has none: 5 more of 0 to 100 are 5 more."""
    return "percentage points" if row.unit == "%" else in_words(row.unit)["unit"]
