"""What the report has of judged explanations (paper 003): of one study, and of all together.

Between studies of judged explanations that are analysed together, and over all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from labapp.analysis import inference
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import ReportedStudy, TaskReport
from labapp.base.report.listing import NONE
from labapp.base.report.page import (
    Html,
    decimal,
    heading,
    paragraph,
    stack_lines,
    strong,
    table,
    two_lines,
)
from labapp.models.stimuli.manifest import Manifest
from labapp.tasks.judging.plan import TASKS, WARM_UP
from labapp.tasks.judging.report import published as paper
from labapp.tasks.judging.report.opinions import RISK_ITEMS, of_opinions, people, understanding
from labapp.tasks.judging.report.statistics import (
    MEAN,
    PERCENT,
    RIGHT,
    PhotoGroup,
    accuracy,
    add_remarks,
    first_wrong_steps,
    groups_of,
    of_group,
    of_item,
    of_quantity,
    of_set,
    per_session,
    plain,
    result_of,
)

if TYPE_CHECKING:
    from labapp.base.report.drawing import ReportFigure


HEATMAPS = "heatmap-distinction"
TREE = frozenset({"path-agreement", "path-first-step"})


@dataclass(frozen=True)
class JudgingFindings:
    """Every statistic of the sessions that count: of each study by its id, between studies, and
    over all of them; and the groups they are of. counted: the tables they are made of."""

    counted: Tables
    groups: tuple[PhotoGroup, ...]
    by_study: dict[str, list[Statistic]]
    between: list[Statistic]
    pooled: list[Statistic]

    @property
    def all(self) -> list[Statistic]:
        studies = [result for results in self.by_study.values() for result in results]
        return [*studies, *self.between, *self.pooled]

    @cached_property
    def drawn(self) -> Sequence[ReportFigure]:
        """The figures, drawn once for the page and the files. matplotlib is loaded here."""
        from labapp.tasks.judging.report.figures import plates

        return plates(self.counted, self.groups) if self.groups else ()


def findings(counted: Tables) -> JudgingFindings:
    """What the studies of judged explanations among these sessions, which all count, say."""
    groups = groups_of(counted)
    by_study = {}
    for study in dict.fromkeys(group.study for group in groups):
        own = [group for group in groups if group.study == study]
        of_photos = [result for group in own for result in of_group(group)]
        by_study[study] = [*of_photos, *of_opinions(counted, own)]
    over_all = list(pool_studies(counted, groups)) if groups else []
    return JudgingFindings(counted, tuple(groups), by_study, list(between(groups)), over_all)


def between(groups: Sequence[PhotoGroup]) -> Iterator[Statistic]:
    """Item 3, labels against no labels and method against method with heatmaps, by two-sample t as
    in the paper; of item 4 (ours) the two ways to judge a tree. Ours besides: by ranks."""
    for pair, other in combinations(groups, 2):
        if {pair.task, other.task} == {HEATMAPS}:
            if (pair.method == other.method) != (pair.labels == other.labels):
                yield from _compare_groups(pair, other, 3, ours=False)
        elif {pair.task, other.task} == TREE and pair.method == other.method:
            yield from _compare_groups(pair, other, 4, ours=True)


def _compare_groups(
    own: PhotoGroup, other: PhotoGroup, item: int, *, ours: bool
) -> Iterator[Statistic]:
    for name in RIGHT:
        first, second = plain(accuracy(own, name)), plain(accuracy(other, name))
        if not (first.size and second.size):
            continue
        both = [paper.find_published(group.design, name) for group in (own, other)]
        # That the methods differ is said for both conditions; of the labels nothing was tested.
        compared = paper.compare_published(*both, significant=own.method != other.method)
        compared = add_remarks(compared, own, other)
        of = of_quantity(f"{own.name} + {other.name}", own.design, item, name, PERCENT, compared)
        than = (other.name, second)
        yield result_of(of, first, inference.two_sample(first, second), other=than, ours=ours)
        yield result_of(of, first, inference.rank_sum(first, second), other=than, ours=True)


def pool_studies(counted: Tables, groups: Sequence[PhotoGroup]) -> Iterator[Statistic]:
    """Of items 9 and 10 what the paper says of all studies together."""
    studies = list(dict.fromkeys(group.study for group in groups))
    counted = counted.of_study(*studies)
    name = " + ".join(studies)
    if len(studies) > 1:
        yield from understanding(counted, name, paper.POOLED)
    yield from people(counted, name)


DEFINITIONS = {
    "Judged explanations": "Accuracy: photos answered correctly divided by photos judged, for "
    "each session. Distinction: the participant found the correct class; chance is one "
    "divided by the number of classes. With the last two steps of a tree, both must be "
    "answered as the model does, and chance is one in four. Agreement: 3 and 4 mean that the "
    "prediction is correct, 1 and 2 that it is not; chance is one in two. t tests are "
    "two-sided; two-sample tests assume equal variances. The interval clustered by set "
    "treats sessions with the same photos as one cluster (cluster-robust variance, t with "
    "one degree of freedom fewer than there are sets). It is computed for the logit of the "
    "share and transformed back, so it stays between 0 and 100 % (Korn and Graubard 1999). "
    "The score that participants saw splits the photos into halves by their ratings, and a "
    "random draw breaks ties; without the draw, it is the mean over all ways to break the "
    "ties. All of it is in the table statistics."
}


class JudgingReport(TaskReport[JudgingFindings]):
    activities: ClassVar = {
        "heatmap-distinction": "identified the class of photos with the help of heatmaps",
        "prototype-distinction": "found the class of photos explained by prototypes",
        "prototype-agreement": "judged predictions explained by prototypes",
        "path-distinction": "chose the last steps of a path through a decision tree",
        "path-agreement": "judged predictions explained by the path through a tree",
        "path-first-step": "named the first step of a path through a tree that they disagreed with",
    }
    tasks = (*TASKS, WARM_UP)
    definitions = DEFINITIONS
    instruments = frozenset({"hive-understanding"})
    items = frozenset(RISK_ITEMS)

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> JudgingFindings:
        return findings(counted)

    def statistics(self, findings: JudgingFindings) -> Iterator[Mapping[str, Any]]:
        """By the list of analyses."""
        for result in sorted(findings.all, key=lambda result: int(result.item)):
            yield result.row()

    def sections(self, study: ReportedStudy, findings: JudgingFindings) -> Iterator[Html]:
        yield from of_study(study.name, findings)

    def chapter(
        self, counted: Tables, findings: JudgingFindings, anchor: str
    ) -> tuple[str, Iterator[Html]]:
        if not findings.groups:
            return "", iter(())
        return "Judged explanations, all studies", together(findings, anchor)

    def plates(self, counted: Tables, findings: JudgingFindings) -> Sequence[ReportFigure]:
        return findings.drawn

    def methods(self, study: ReportedStudy, findings: JudgingFindings) -> Iterator[str]:
        """How long the explanations are beside those of the paper."""
        for group in findings.groups:
            if group.study == study.name and group.length_sentence:
                yield group.length_sentence

    def about_stimuli(self, manifest: Manifest) -> str:
        return of_set(manifest)


REPORT = JudgingReport()


HEADINGS: tuple[tuple[tuple[int, ...], str, str], ...] = (
    (
        (1, 2),
        "Accuracy",
        (
            "Chance: one divided by the number of classes; with the last two steps of a tree, "
            "one in four; with agreement, one in two."
        ),
    ),
    ((4,), "Steps of the tree", "The first step disagreed with, as a share of a session's photos."),
    (
        (5, 6),
        "Rated similarity",
        (
            "Chosen: rows of the chosen class, or of a prediction that was believed (3 or 4). "
            "With ranks, 1 is the most similar, so a negative rho means agreement with the "
            "model."
        ),
    ),
    ((7,), "Belief in predictions", "1 incorrect to 4 correct; 2.5 is neutral."),
    (
        (8,),
        "Minimum accuracy at which a black box would be preferred",
        (
            "Touched: only sliders that were moved or confirmed. The reasons are among the "
            "written answers."
        ),
    ),
    ((9,), "Self-rated understanding", "1 very poor to 5 very good, asked three times."),
    (
        (12,),
        "The score that participants saw",
        (
            "The score compares photos rated above the median with those below it, so it treats "
            "half of them as believed correct."
        ),
    ),
    (
        (13,),
        "Confidence in one's own answers",
        (
            "1 not confident at all to 5 completely confident. Asked as in the paper (figures "
            "A11 to A13 and A15), which does not report the answers."
        ),
    ),
    ((10,), "Duration", "Working time of a session, without pauses."),
)
"""Items of the list of analyses under each heading, and a word on them."""
LENGTHS_MATTER = (
    "Accuracy, ratings, belief, confidence and time all depend on it, so each value from the "
    "paper is followed by “with … here …”."
)
BY_RANK = "rating at rank"
"""Begins the quantities that the figure shows, and the table of statistics holds."""
NO_VALUE = "no value"
"""In place of tests of which none has one; before the names of those that have none."""
STAR = (
    "* p < .001, as in the paper; no star if a group has fewer than 5 values. Ours: not in the "
    "paper. If there are ties, W of Wilcoxon's test uses the normal approximation. No value: "
    "there are too few values, or they do not vary."
)


def of_study(study: str, result: JudgingFindings) -> Iterator[Html]:
    """The tables of one study; nothing if it judges no explanations."""
    results = result.by_study.get(study, [])
    groups = [group for group in result.groups if group.study == study]
    if not groups:
        return
    yield heading(3, "Judged explanations")
    yield paragraph(_describe_judging(groups))
    yield from _about_lengths(groups)
    for items, title, words in HEADINGS:
        own = [
            outcome
            for outcome in of_item(results, *items)
            if not outcome.quantity.startswith(BY_RANK)
        ]
        if own:
            yield heading(3, title)
            yield result_table(own, words, several=len({outcome.study for outcome in own}) > 1)
    yield paragraph(STAR, "quiet")
    yield paragraph(paper.NOT_OURS, "quiet")
    yield from _about_labels(groups)


def _describe_judging(groups: Sequence[PhotoGroup]) -> str:
    """What was judged, in a sentence a group."""
    result = []
    for group in groups:
        sessions = per_session(group.photos, "trial").size
        sets = int(group.photos["set"].nunique())
        accuracy = group.model_accuracy
        model = "" if accuracy is None else f" (accuracy of the model {accuracy:g} %)"
        known = " with labels" if group.labels else ""
        result.append(
            f"{group.method}{model}, {group.task}{known}: {len(group.photos)} photos judged in "
            f"{sessions} {'session' if sessions == 1 else 'sessions'}, "
            f"{sets} {'set' if sets == 1 else 'sets'} of photos."
        )
        if places := first_wrong_steps(group):
            where = ", ".join(f"{_place(place)} {n}" for place, n in places.items())
            result.append(
                f"The model is wrong on {sum(places.values())} different photos among them; first "
                f"wrong step of its path: {where} photos."
            )
    return " ".join(result)


def _place(back: int | None) -> str:
    if back is None:
        return "none"
    return f"last but {({1: 'one', 2: 'two', 3: 'three'}).get(back, back)}" if back else "last"


def _about_lengths(groups: Sequence[PhotoGroup]) -> Iterator[Html]:
    told = [
        f"In {group.name}: {group.length_sentence}" for group in groups if group.length_sentence
    ]
    if told:
        yield paragraph(f"{' '.join(told)} {LENGTHS_MATTER}", "note")


def _about_labels(groups: Sequence[PhotoGroup]) -> Iterator[Html]:
    if any(group.labels and group.invented for group in groups):
        yield paragraph(paper.INVENTED, "note")


def together(result: JudgingFindings, anchor: str) -> Iterator[Html]:
    """All studies of judged explanations side by side, with the figures."""
    yield paragraph(paper.NOT_OURS)
    yield from _about_labels(result.groups)
    yield from _about_lengths(result.groups)
    yield overview(result)
    for plate in result.drawn:
        yield heading(3, plate.label)
        yield plate.html(anchor)
    if result.between:
        yield heading(3, "Between studies")
        yield result_table(result.between, "Two groups of different sessions.", several=True)
    for items, title in (((9,), "Understanding, all studies"), ((10,), "Who took part")):
        if own := of_item(result.pooled, *items):
            yield heading(3, title)
            yield result_table(own, "")
    yield paragraph(STAR, "quiet")


def overview(result: JudgingFindings) -> Html:
    """Table 1: one row per group; a star if it differs from chance, the highest value in bold."""
    results = [outcome for some in result.by_study.values() for outcome in of_item(some, 1)]
    best = {
        name: max(
            (outcome.mean or 0.0 for outcome in results if outcome.quantity == name), default=0.0
        )
        for name in RIGHT
    }
    rows = []
    for group in result.groups:
        sessions = plain(per_session(group.photos, "trial")).size
        cells: list[object] = [two_lines(group.name, f"{group.method}, {group.task}"), sessions]
        cells += [_cell(group, name, results, best[name]) for name in RIGHT]
        rows.append(cells)
    return table(
        (
            "Study",
            two_lines("Sessions", "n"),
            *(two_lines(name.capitalize(), "% ± SD; the paper") for name in RIGHT),
        ),
        rows,
        numeric=(1, 2, 3, 4),
        caption=f"Mean accuracy ± SD over sessions. * differs from chance ({_chances(results)}) "
        "with p < .001, n ≥ 5. Bold: the highest value in the column.",
    )


def _chances(results: Sequence[Statistic]) -> str:
    result = []
    for name, of in (("", {paper.DISTINCTION, paper.OUTPUT}), ("agreement ", {paper.AGREEMENT})):
        against = {outcome.against for outcome in results if outcome.quantity in of}
        if chances := sorted(chance for chance in against if chance is not None):
            result.append(name + " or ".join(f"{chance:.3g} %" for chance in chances))
    return ", ".join(result)


def _cell(group: PhotoGroup, name: str, results: Sequence[Statistic], best: float) -> object:
    own = [result for result in results if result.study == group.name and result.quantity == name]
    if not own:
        return NONE
    differs = any(outcome.test == "one-sample t" and outcome.significant for outcome in own)
    text = f"{_spread(own[0].mean, own[0].sd, '%')}{'*' if differs else ''}"
    return two_lines(strong(text) if own[0].mean == best else text, own[0].published or NONE)


def result_table(results: Sequence[Statistic], text: str, *, several: bool = False) -> Html:
    """Results with what they were compared with in a row each, tests of the paper before ours.

    several: results of different studies, which are then named.
    """
    rows: dict[tuple[str, ...], list[Statistic]] = {}
    for row in results:
        key = (row.study, row.item, row.quantity, row.published, row.compared_with)
        rows.setdefault(key, []).append(row)
    merged: list[list[object]] = []
    for own in rows.values():
        first = own[0]
        only_mean = not first.compared_with and all(outcome.test == MEAN for outcome in own)
        name = first.quantity
        merged.append(
            [
                two_lines(name, first.study.split(" + ")[0]) if several else name,
                first.unit,
                first.n,
                _spread(first.mean, first.sd, first.unit),
                _against(own, first.unit),
                NONE if only_mean else _tests(own),
                first.published or NONE,
            ]
        )
    names = ("Quantity", "Unit", "n", "Mean ± SD", "Compared with", "Tests", "Paper")
    shown = [at for at in range(len(names)) if at < _ALWAYS or any(r[at] != NONE for r in merged)]
    cells = [[row[at] for at in shown] for row in merged]
    return table([names[at] for at in shown], cells, numeric=(2, 3), caption=text)


_ALWAYS = 4
"""So many of the columns stand there in any case; others only where a row has something in them."""


def _spread(mean: float | None, sd: float | None, unit: str) -> str:
    if mean is None:
        return NONE
    decimals = 1 if unit in ("%", "min", "photos") else 2
    text = decimal(mean, decimals)
    return text if sd is None else f"{text} ± {decimal(sd, decimals, like=mean)}"


def _against(own: Sequence[Statistic], unit: str) -> object:
    for outcome in own:
        if outcome.compared_with:
            return two_lines(
                outcome.compared_with,
                f"{_spread(outcome.mean_2, outcome.sd_2, unit)}, n = {outcome.n_2}",
            )
        if outcome.against is not None:
            return f"{outcome.against:g}"
    return NONE


def _tests(own: Sequence[Statistic]) -> Html:
    """One line per test; those that have no value are named together below, and not even named
    where none has one."""
    papers, quieter, without = [], [], []
    for outcome in sorted(
        (outcome for outcome in own if outcome.test != MEAN), key=lambda outcome: bool(outcome.ours)
    ):
        text = _format_test(outcome)
        if text is None:
            without.append(_name(outcome))
        elif outcome.ours:
            quieter.append(f"ours: {text}")
        else:
            papers.append(text)
    if without:
        named = f": {', '.join(dict.fromkeys(without))}" if papers or quieter else ""
        quieter.append(f"{NO_VALUE}{named}")
    return stack_lines(papers, quieter)


_SIGNS = {
    "one-sample t": "t",
    "two-sample t": "t",
    "paired t": "paired t",
    "Wilcoxon signed rank": "Wilcoxon W",
    "Mann-Whitney U": "Mann–Whitney U",
    "Shapiro-Wilk W": "Shapiro–Wilk W",
    "Pearson r": "Pearson r",
    "Spearman rho": "Spearman ρ",
}


def _name(result: Statistic) -> str:
    return _SIGNS.get(result.test, result.test)


def _format_test(result: Statistic) -> str | None:
    """A test or an interval; None if it has no value."""
    if result.statistic is None and result.low is not None and result.high is not None:
        return f"{result.test}: {decimal(result.low, 1)} to {decimal(result.high, 1)}"
    if result.statistic is None or result.p is None:
        return None
    df = "" if result.df is None else f"({result.df:g})"
    p = "p < 0.001" if result.p < 0.001 else f"p = {result.p:.3f}"
    star = "*" if result.significant else ""
    return f"{_name(result)}{df} = {decimal(result.statistic, 2)}, {p}{star}"
