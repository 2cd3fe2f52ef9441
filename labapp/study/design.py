"""What a study file may say of its design, of who is excluded, and of how it is analysed.

Everything that is balanced, planned, tested and reported follows from here. A study that says none
of it is balanced by its `assignment` and the `order` of its stages, and analysed by the design that
its sessions show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from labapp.base.documents import MEASURE, Language, Path_, Strict, faults_at, refuse_again
from labapp.study.conditions import RESERVED, Name, OrderByGroup
from labapp.study.quotas import Quota
from labapp.study.when import Condition, describe

MODEL = "model"
"""The factor whose levels are the models that stages list."""
SESSION = "session"
"""The factor whose levels are the sessions for which people come again."""
SOLVED, SKIPPED = "solved", "skipped"
"""Outcomes of questions: the participant was right, or left it by *Skip*."""
Measure = Annotated[str, Field(pattern=MEASURE)]
Order = Literal["position", "williams", "latin-square", "random", "as_listed"]
Correction = Literal["holm", "bonferroni", "fdr", "none"]
FurtherTest = Literal["bayes_factor", "trimmed_means", "permutation", "aligned_ranks"]


def _level(level: Any) -> Any:
    """YAML reads an unquoted yes, no, on or off as true or false."""
    if isinstance(level, bool):
        written = "yes, on or true" if level else "no, off or false"
        raise ValueError(f'a text in quotes, such as "yes"; {written} without them is not text')
    return level


Level = Annotated[str | int | float, BeforeValidator(_level)]
Levels = Annotated[tuple[Level, ...], Field(min_length=2, max_length=100)]


def _number(weight: Any) -> Any:
    """A weight may be written as a fraction, in quotes: "-1/3"."""
    if isinstance(weight, str):
        try:
            return float(Fraction(weight.replace(" ", "")))
        except (ValueError, ZeroDivisionError) as error:
            raise ValueError('a number, or a fraction in quotes such as "-1/3"') from error
    return weight


Weight = Annotated[float, BeforeValidator(_number)]


CellSize = Annotated[int, Field(ge=1, le=100_000)]


class UnequalCell(Strict):
    """How many participants some cells need.

    Attributes
    ----------
    of : the cells, by levels of factors between participants (default: all cells not listed
        before).
    participants : the number of included participants that each of these cells needs.
    """

    of: dict[Name, Level] = Field(default_factory=dict)
    participants: CellSize

    def fits(self, cell: Mapping[str, Level]) -> bool:
        """Whether a cell is one of these."""
        return all(str(cell.get(factor)) == str(level) for factor, level in self.of.items())


class Design(Strict):
    """The factors of a study, and how participants are spread over them.

    Attributes
    ----------
    between : Factors of which each participant has one level: `{hint: [with, without]}`. Refer to a
        level as `{hint}` in models, texts and `only_if`.
    by_moderator : Factors between participants that the moderator carries out, so that nothing in
        the session itself depends on them.
    within : Factors of which each participant meets every level. `model` means the models that
        stages list. Another factor lists its levels, as in `{feedback: [with, without]}`, and
        `each: feedback` goes through them.
    measured : Items or scores of questionnaires that are analysed together with the factors: a
        number as a covariate, a choice as a group.
    sessions : Labels of the sessions, if people come more than once.
    needed_sessions : How many of the `sessions` a participant must complete to count (default:
        all). Until then, a participant occupies a place and is still to come.
    session_order : What happens when someone comes for a session after missing an earlier one.
        `told`: it runs, and the checklist and the deviations mention it; `refused`: it does not
        start; `any`: sessions may be held in any order.
    order : The order in which participants meet the levels of a factor within participants.
        `position`: each level equally often in each position, with a new random square each time;
        `latin-square`: the same with one cyclic square; `williams`: each level also follows each
        other level equally often; `random`: random for each participant; `as_listed`: the same for
        everybody.
    orders : The order of a factor's levels if it depends on the group, instead of `order`:
        `{feedback: {by: start, orders: {first: [with, without], last: [without, with]}}}`.
    assign : `slots` assigns the places of one data folder in turn, and again if someone is
        replaced; `number` derives condition and order from the participant's number, for laptops
        that do not share data.
    per_cell : The number of included participants that each combination of the factors between
        participants needs (default: no limit). Cells of unequal size are a list: `[{of: {hint:
        with}, participants: 14}, {participants: 10}]`; the first line that fits a cell applies.
    """

    between: dict[Name, Levels] = Field(default_factory=dict)
    by_moderator: tuple[Name, ...] = ()
    within: tuple[Name | dict[Name, Levels], ...] = Field(default=(), max_length=6)
    measured: tuple[Measure, ...] = Field(default=(), max_length=20)
    sessions: tuple[str | int, ...] = Field(default=(), max_length=20)
    needed_sessions: int | None = Field(default=None, ge=1)
    session_order: Literal["told", "refused", "any"] = "told"
    order: Order = "williams"
    orders: dict[Name, OrderByGroup] = Field(default_factory=dict)
    assign: Literal["slots", "number"] = "slots"
    per_cell: CellSize | tuple[UnequalCell, ...] | None = None

    @field_validator("between")
    @classmethod
    def _between(cls, between: dict[str, tuple[Level, ...]]) -> dict[str, tuple[Level, ...]]:
        for name, levels in between.items():
            _free(name)
            if name in (MODEL, SESSION):
                raise ValueError(
                    f"a factor with a different name; {name!r} is met within participants, or "
                    "through models with a factor in braces"
                )
            refuse_again([str(level) for level in levels], (name,))
        return between

    @field_validator("within")
    @classmethod
    def _within(
        cls, within: tuple[str | dict[str, tuple[Level, ...]], ...]
    ) -> tuple[str | dict[str, tuple[Level, ...]], ...]:
        for index, factor in enumerate(within):
            if isinstance(factor, str):
                if factor != MODEL:
                    raise ValueError(
                        f"`{MODEL}`, or a factor with its levels, as {{{factor}: [a, b]}}"
                    )
                continue
            if len(factor) != 1:
                raise ValueError("each factor as a separate item of the list")
            ((name, levels),) = factor.items()
            _free(name)
            if name in (MODEL, SESSION):
                raise ValueError(f"`{name}` without levels, because they are given elsewhere")
            refuse_again([str(level) for level in levels], (index, name))
        names = [factor if isinstance(factor, str) else next(iter(factor)) for factor in within]
        refuse_again(names)
        return within

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.needed_sessions is not None and self.needed_sessions > len(self.sessions):
            raise ValueError(
                f"at most {len(self.sessions)} as `needed_sessions`, because there are no more "
                "`sessions`"
            )
        if both := sorted(self.between.keys() & self.within_levels.keys()):
            raise ValueError(f"each factor either between or within; {both[0]!r} is both")
        if other := sorted({*self.by_moderator} - self.between.keys()):
            raise ValueError(
                f"factors of `between` as `by_moderator`; {other[0]!r} is not one of them"
            )
        return self

    @model_validator(mode="after")
    def _orders_fit(self) -> Self:
        wrong: dict[Path_, str] = {}
        within = self.within_levels
        for factor, order in self.orders.items():
            at: Path_ = ("orders", factor)
            if factor not in within:
                known = ", ".join(within) or "none"
                wrong[at] = f"{factor!r} is not a factor within participants; allowed: {known}"
            elif order.by not in self.between:
                known = ", ".join(self.between) or "none"
                wrong[(*at, "by")] = f"found {order.by!r}; allowed: factors of between: {known}"
            else:
                # The models are in the flow, and looked at there.
                faults = order.faults(self.between[order.by], within[factor] or ())
                wrong |= {(*at, *place): what for place, what in faults}
        if wrong:
            raise faults_at(wrong)
        return self

    @model_validator(mode="after")
    def _every_cell_has_its_size(self) -> Self:
        if not isinstance(self.per_cell, tuple):
            return self
        wrong: dict[Path_, str] = {}
        for index, line in enumerate(self.per_cell):
            for factor, level in line.of.items():
                known = list(map(str, self.between.get(factor, ())))
                if str(level) not in known:
                    allowed = f"levels of it: {', '.join(known)}" if known else "factors of between"
                    what = f"found {factor}: {level}; allowed: {allowed}"
                    wrong["per_cell", index, "of", factor] = what
        if wrong:
            raise faults_at(wrong)
        if lacking := [cell for cell in self.cells if self.wanted(cell) is None]:
            named = ", ".join(f"{factor}: {level}" for factor, level in lacking[0].items())
            raise faults_at({("per_cell",): f"found no size for {named}; allowed: one for each"})
        used = {id(self._line_of(cell)) for cell in self.cells}
        idle = [index for index, line in enumerate(self.per_cell) if id(line) not in used]
        if idle:
            what = (
                "found a line that no cell needs, because the lines before it already "
                "match; allowed: other lines"
            )
            raise faults_at({("per_cell", idle[0]): what})
        return self

    def _line_of(self, cell: Mapping[str, Level]) -> UnequalCell | None:
        lines = self.per_cell if isinstance(self.per_cell, tuple) else ()
        return next((line for line in lines if line.fits(cell)), None)

    def wanted(self, cell: Mapping[str, Level]) -> int | None:
        """Included participants that a combination of the factors between needs; None for any
        number."""
        if not isinstance(self.per_cell, tuple):
            return self.per_cell
        line = self._line_of(cell)
        return None if line is None else line.participants

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """Of each cell how many it needs, in the order of `cells`; None for any number."""
        sizes = [size for cell in self.cells if (size := self.wanted(cell)) is not None]
        return tuple(sizes) or None

    @property
    def within_levels(self) -> dict[str, tuple[Level, ...] | None]:
        """The factors within participants and their levels; None if stages list them."""
        factors: dict[str, tuple[Level, ...] | None] = {}
        for factor in self.within:
            factors |= {factor: None} if isinstance(factor, str) else factor
        return factors

    @property
    def cells(self) -> tuple[dict[str, Level], ...]:
        """Every combination of the factors between participants, the last one changing fastest;
        one empty combination where there is none."""
        combinations = product(*self.between.values())
        return tuple(dict(zip(self.between, levels, strict=True)) for levels in combinations)


def _free(name: str) -> None:
    if name in RESERVED | {"slot"}:
        raise ValueError(f"a factor with a different name; {name!r} is already in use")


class ExcludeRule(Strict):
    """A rule that excludes participants from the analysis. Each rule has one criterion.

    Attributes
    ----------
    when : Excludes participants for whom this condition is true. It can use variables of the design
        and answers, as in `{hint: with}`, `{people.used: [often, always]}` or `{people.age: {above:
        65}}`; `any`, `all` (with lists) and `not` combine conditions. A missing answer decides
        nothing.
    only_if : To whom the rule applies: a condition as in `when`. It excludes nobody else.
    item : An item of a questionnaire, checked by one of the next keys.
    score : A score of a questionnaire, checked by `below` or `above`.
    answer : Excludes participants who ever gave this answer, or one of several.
    answer_not : Excludes participants who gave any answer other than this one, or these.
        Participants who were not asked, or did not answer, are not excluded.
    below : Excludes participants below this number.
    above : Excludes participants above this number.
    median_response_s_below : Excludes participants whose median response time, over the questions
        that count and that they completed, is below this number of seconds.
    median_response_s_above : Excludes participants whose median response time is above this number
        of seconds.
    completion_rate_below : Excludes participants who solved a smaller share of the questions, from
        0 to 1: the mean `completion_rate` of their stages. `missing.skipped_trials` says how
        skipped questions count; participants without a rate are not excluded.
    failed_checks_above : Excludes participants who failed more attention and comprehension checks
        (`check` of an item) than this; each time a check is asked counts.
    interrupted_s_above : Excludes participants whose sessions lost more than this number of seconds
        while the program was stopped.
    """

    when: Condition = Field(default_factory=dict)
    only_if: Condition = Field(default_factory=dict)
    item: Measure | None = None
    score: Measure | None = None
    answer: Level | tuple[Level, ...] | None = None
    answer_not: Level | tuple[Level, ...] | None = None
    below: float | None = None
    above: float | None = None
    median_response_s_below: float | None = Field(default=None, gt=0)
    median_response_s_above: float | None = Field(default=None, gt=0)
    completion_rate_below: float | None = Field(default=None, gt=0, le=1)
    failed_checks_above: int | None = Field(default=None, ge=0)
    interrupted_s_above: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        given = self.model_fields_set
        judged = [key for key in ("answer", "answer_not", "below", "above") if key in given]
        of_items = {"item", "score", "answer", "answer_not", "below", "above"}
        of_itself = sorted(given - of_items - {"only_if"})
        empty = [key for key in ("only_if", "when") if key in given and not getattr(self, key)]
        if empty:
            raise faults_at({(empty[0],): "found no condition; allowed: names with their values"})
        asked = [key for key in ("item", "score") if key in given]
        if len(of_itself) + len(asked) != 1:
            raise ValueError(
                "exactly one criterion: item, score, when, median_response_s_below, "
                "median_response_s_above, completion_rate_below, failed_checks_above or "
                "interrupted_s_above"
            )
        if of_itself and judged:
            raise ValueError(f"{of_itself[0]} alone; {judged[0]} belongs to an item or a score")
        if asked and len(judged) != 1:
            raise ValueError(
                f"{asked[0]} with one of answer, answer_not, below and above"
                if asked == ["item"]
                else "score with one of below and above"
            )
        if asked == ["score"] and judged[0].startswith("answer"):
            raise ValueError("score with one of below and above")
        return self

    def fails(self) -> str:
        """Who fails it, in words that follow "Somebody who"."""
        words = self._describe()
        return f"{words}, where {describe(self.only_if)}" if self.only_if else words

    def _describe(self) -> str:
        if self.when:
            return f"took part where {describe(self.when)}"
        if self.answer is not None:
            return f"answered {_either(self.answer)} to {self.item}"
        if self.answer_not is not None:
            return f"did not answer {_either(self.answer_not)} to {self.item}"
        for key, words in _LIMITS.items():
            if (limit := getattr(self, key)) is not None:
                return words.format(name=self.item or self.score, limit=limit)
        raise AssertionError(self)


_LIMITS = {
    "below": "is below {limit:g} in {name}",
    "above": "is above {limit:g} in {name}",
    "median_response_s_below": "has a median response time below {limit:g} s",
    "median_response_s_above": "has a median response time above {limit:g} s",
    "completion_rate_below": "solved less than {limit:.0%} of the questions",
    "failed_checks_above": "failed more than {limit:g} checks",
    "interrupted_s_above": "lost more than {limit:g} s of the session because the program stopped",
}


def _either(answers: Level | tuple[Level, ...]) -> str:
    return " or ".join(map(str, answers if isinstance(answers, tuple) else (answers,)))


class ScaleItems(Strict):
    """What becomes of a scale where answers are missing."""

    at_least: int = Field(
        ge=1,
        description="The number of items of a mean or sum that must be answered (all of them, "
        "if it has fewer). The scale is then computed from the answered items, and a sum is "
        "scaled up to all items. An item that was not asked counts as not answered.",
    )


class Missing(Strict):
    """What becomes of what is missing."""

    scale_items: ScaleItems | None = Field(
        default=None, description="How many items of a scale must be answered (default: all)."
    )
    skipped_trials: Literal["unsolved", "left_out"] = Field(
        default="unsolved",
        description="Whether a question that was skipped counts as not solved, or not at all, in "
        "`completion_rate`: in the tables, in rules of exclusion and in every analysis.",
    )

    def solved(self, outcome: str | None) -> bool | None:
        """Whether a question that ended so was solved; None if it does not count for the share
        that was."""
        if outcome == SKIPPED and self.skipped_trials == "left_out":
            return None
        return outcome == SOLVED


def _with_factors_beside(schema: dict[str, Any]) -> None:
    """In a file the factors stand beside the name."""
    del schema["properties"]["weights"]
    schema["additionalProperties"] = {
        "description": "A factor with the weight of each of its levels; the weights add up to 0.",
        "type": "object",
        "additionalProperties": {"type": ["number", "string"]},
    }
    schema["required"] = ["name"]
    schema["minProperties"] = 2


class Contrast(Strict):
    """A comparison that is tested: weights over the levels of a factor that add up to 0. In the
    file the factors stand beside `name`, as `model: {a/x: 1, a/y: -1}`; with several factors the
    contrast is their interaction.
    """

    model_config = ConfigDict(json_schema_extra=_with_factors_beside)

    name: str = Field(min_length=1, max_length=120, description="The name of the comparison.")
    weights: dict[Name, dict[Level, Weight]] = Field(
        min_length=1,
        description="For each factor, the weight of each level. In the file, the factors are "
        "next to `name`: `model: {a/x: 1, a/y: -1}`.",
    )

    @model_validator(mode="before")
    @classmethod
    def _factors_beside(cls, fields: Any) -> Any:
        if not isinstance(fields, dict) or "weights" in fields:
            return fields
        weights = {key: value for key, value in fields.items() if key != "name"}
        return {**{key: fields[key] for key in ("name",) if key in fields}, "weights": weights}

    @field_validator("weights")
    @classmethod
    def _sums(cls, weights: dict[str, dict[Level, float]]) -> dict[str, dict[Level, float]]:
        for factor, levels in weights.items():
            if abs(sum(levels.values())) > 1e-3 or not any(levels.values()):
                raise ValueError(
                    f"weights that add up to 0, not all of them 0; those of {factor} add up to "
                    f"{sum(levels.values()):g}"
                )
        return weights


class SmallestEffect(Strict):
    """The smallest difference that matters, for tests of equivalence and for planning."""

    contrast: str = Field(description="The name of the contrast to which it applies.")
    raw: float | None = Field(
        default=None, gt=0, description="In the outcome's own unit, before any transform."
    )
    standardised: float | None = Field(
        default=None,
        gt=0,
        description="In standard deviations (of the differences, if participants meet all levels).",
    )

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        if (self.raw is None) == (self.standardised is None):
            raise ValueError("either raw or standardised")
        return self


def _one_or_several(effects: Any) -> str:
    return "several" if isinstance(effects, list | tuple) else "one"


SmallestEffects = Annotated[
    Annotated[SmallestEffect, Tag("one")]
    | Annotated[tuple[SmallestEffect, ...], Field(min_length=1, max_length=100), Tag("several")],
    Discriminator(_one_or_several),
]
"""The smallest effect of one contrast, or a list of them, one for each of several contrasts."""


class Outcomes(Strict):
    """What is tested."""

    primary: tuple[Measure, ...] = Field(
        default=(), max_length=50, description="The outcomes that the study is about."
    )
    secondary: tuple[Measure, ...] = Field(
        default=(), max_length=100, description="Further outcomes."
    )
    manipulation_checks: tuple[Measure, ...] = Field(
        default=(),
        max_length=50,
        description="Items or scores that show whether the manipulation worked. Numbers are "
        "analysed like outcomes; answers in words are counted by each factor between "
        "participants and tested with chi-square.",
    )

    @model_validator(mode="after")
    def _once(self) -> Self:
        roles = {
            "primary": self.primary,
            "secondary": self.secondary,
            "a manipulation check": self.manipulation_checks,
        }
        for (first, names), (other, more) in combinations(roles.items(), 2):
            if both := sorted(set(names) & set(more)):
                raise ValueError(f"each outcome once; {both[0]!r} is {first} and {other}")
        return self


class AnalysisPlan(Strict):
    """How the outcomes are analysed.

    Attributes
    ----------
    profile : The published study whose tests and values are shown next to ours.
    outcomes : Primary and secondary outcomes (default: every number of the tasks and every score).
    transform : For each outcome, how its values are transformed before tests.
    contrasts : Comparisons that are tested (default: every pair of levels of each factor with up to
        six levels).
    correction : The correction for several tests in a family; `fdr` is Benjamini-Hochberg.
    family : The tests that the correction covers: those of one outcome, or all.
    smallest_effect : For each outcome, the smallest difference that matters, for tests of
        equivalence and for planning; or a list with one for each contrast.
    further_tests : Tests in addition to the usual ones, registered with them: `bayes_factor`,
        `trimmed_means` (Yuen) and `permutation` for every contrast, `aligned_ranks` for every term.
        They do not decide any hypothesis.
    bayes_prior_width : Width of the Cauchy prior of `bayes_factor`, in standard deviations.
    """

    profile: str | None = Field(default=None, min_length=1)
    outcomes: Outcomes = Outcomes()
    transform: dict[Measure, Literal["log", "sqrt", "logit"]] = Field(default_factory=dict)
    contrasts: tuple[Contrast, ...] = Field(default=(), max_length=100)
    correction: Correction = "holm"
    family: Literal["per_outcome", "all"] = "per_outcome"
    smallest_effect: dict[Measure, SmallestEffects] = Field(default_factory=dict)
    further_tests: tuple[FurtherTest, ...] = Field(default=(), max_length=4)
    bayes_prior_width: float = Field(default=0.707, gt=0, le=10)

    @field_validator("smallest_effect")
    @classmethod
    def _one_a_contrast(cls, effects: dict[str, Any]) -> dict[str, Any]:
        for outcome, several in effects.items():
            if isinstance(several, tuple):
                refuse_again([each.contrast for each in several], (outcome,), ("contrast",))
        return effects

    def smallest_of(self, outcome: str) -> tuple[SmallestEffect, ...]:
        """The smallest effects of an outcome, each of another contrast; none if none is
        declared."""
        return tuple(effect for name, effect, _ in self.smallest_effects() if name == outcome)

    def smallest_effects(self) -> Iterator[tuple[str, SmallestEffect, Path_]]:
        """Every smallest effect with its outcome, and where it stands below `smallest_effect`."""
        for outcome, effects in self.smallest_effect.items():
            if isinstance(effects, SmallestEffect):
                yield outcome, effects, (outcome,)
                continue
            for index, effect in enumerate(effects):
                yield outcome, effect, (outcome, index)

    @field_validator("further_tests")
    @classmethod
    def _each_once(cls, tests: tuple[FurtherTest, ...]) -> tuple[FurtherTest, ...]:
        refuse_again(list(tests))
        return tests


class Hypothesis(Strict):
    """What is expected.

    Attributes
    ----------
    text : The hypothesis in words.
    outcome : The outcome of the hypothesis; leave it out if a task has the `test`.
    test : The name of a task's own test of the hypothesis. It replaces the outcome, and itself says
        what is measured and how.
    contrast : The name of the contrast that tests it. Without one, the hypothesis is that all
        levels differ.
    term : Without a contrast, the term of the analysis that tests it: the name of a factor, or of
        several for their interaction. Not needed if there is only one factor.
    direction : Whether the contrast is above 0, below it, either, or too small to matter.
    role : Its role in the study.
    """

    text: str = Field(min_length=1)
    outcome: Measure = ""
    test: Name | None = None
    contrast: str | None = None
    term: tuple[Name, ...] | None = Field(default=None, min_length=1, max_length=8)
    direction: Literal["greater", "less", "two-sided", "equivalent"] = "two-sided"
    role: Literal["primary", "secondary", "exploratory"] = "primary"

    @field_validator("term", mode="before")
    @classmethod
    def _single(cls, term: Any) -> Any:
        return (term,) if isinstance(term, str) else term

    @model_validator(mode="after")
    def _one_test(self) -> Self:
        if self.contrast is not None and self.term is not None:
            raise ValueError("either contrast or term")
        if bool(self.outcome) == (self.test is not None):
            raise ValueError("an outcome, or the test of a task")
        if self.test is not None and (self.contrast or self.term or self.direction != "two-sided"):
            raise ValueError("a test of a task without contrast, term and direction")
        return self


LabelText = Annotated[str, Field(min_length=1, max_length=80)]
Label = LabelText | Annotated[dict[Language, LabelText], Field(min_length=1)]
"""What people read for a name: a text, or a text by language."""


class Interrupts(Strict):
    """What comes between the rounds of a part of the flow, and when; see
    `labapp.study.flow.Interruption`.

    Attributes
    ----------
    each : what its rounds are of.
    asked : the questionnaires.
    """

    each: str
    asked: tuple[str, ...] = ()
    every: int | None = None
    first: int | None = None
    times: int | None = None

    @property
    def when(self) -> str:
        """After which rounds."""
        if self.times == 1:
            return "after 1 round drawn at random for each participant"
        if self.times is not None:
            return f"after {self.times} rounds drawn at random for each participant"
        again = "after every round" if self.every == 1 else f"after every {self.every} rounds"
        if self.first in (None, self.every):
            return again
        return f"{again}, for the first time after round {self.first}"


class Declared(Strict):
    """What a study declares of its design and analysis, as the first event of a session has it:
    the fields of `labapp.study.schema.Study` of the same names."""

    design: Design | None = None
    exclude: dict[Name, ExcludeRule] = Field(default_factory=dict)
    missing: Missing = Missing()
    analysis: AnalysisPlan = AnalysisPlan()
    hypotheses: tuple[Hypothesis, ...] = ()
    languages: tuple[Language, ...] = ()
    quotas: dict[Name, Quota] = Field(default_factory=dict)
    labels: dict[str, Label] = Field(default_factory=dict)
    models: tuple[str, ...] = ()
    """Of a design with `model` within participants: those that its stages list, in that order."""
    adaptive: tuple[tuple[str, ...], ...] = ()
    """The rules that choose levels; see `labapp.study.adaptive.rule.Rule.words`."""
    interrupts: tuple[Interrupts, ...] = ()
    """What comes between the rounds of a part of the flow."""

    def labels_in(self, language: str) -> dict[str, str]:
        """The labels by name, in a language; in the first that there is where one has it not. An
        outcome without its questionnaire has the label that is written with it."""
        own = self.languages[0] if self.languages else ""
        labels = {
            name: label
            if isinstance(label, str)
            else label.get(language) or label.get(own) or next(iter(label.values()))
            for name, label in self.labels.items()
        }
        outcomes = self.analysis.outcomes
        for name in (*outcomes.primary, *outcomes.secondary, *outcomes.manipulation_checks):
            longer = [key for key in labels if "." in key and key.rpartition(".")[2] == name]
            if len(longer) == 1:
                labels.setdefault(name, labels[longer[0]])
        return labels

    @property
    def of_design(self) -> tuple[Hypothesis, ...]:
        """The hypotheses tested according to the design; tasks test the others."""
        return of_design(self.hypotheses)


def of_design(hypotheses: tuple[Hypothesis, ...]) -> tuple[Hypothesis, ...]:
    """The contrasts of hypotheses tested according to the design, and not by a task."""
    return tuple(each for each in hypotheses if each.test is None)
