"""The report's sections on judged explanations (paper 003): of one study, and of all together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labapp.analysis.tables import Tables
from labapp.report.formats import decimal
from labapp.report.listing import NONE
from labapp.report.page import Html, heading, paragraph, stacked, strong, table, two_lines
from labapp.tasks.judging.report import published as paper
from labapp.tasks.judging.report.comparisons import Findings
from labapp.tasks.judging.report.groups import Group, per_session, plain
from labapp.tasks.judging.report.results import MEAN, Quantity, Result, of_item
from labapp.tasks.judging.report.statistics import RIGHT, first_wrong_steps

HEADINGS: tuple[tuple[tuple[int, ...], str, str], ...] = (
    (
        (1, 2),
        "Accuracy",
        (
            "Chance: one of the classes to choose from, with the last two steps of a tree one of "
            "their four ends; half with agreement."
        ),
    ),
    ((4,), "Steps of the tree", "Of the first step disagreed with: shares of a session's photos."),
    (
        (5, 6),
        "Similarity as rated",
        (
            "Chosen: rows of the class chosen, or of a prediction that was believed (3 or 4). "
            "Against ranks: 1 is the most similar, so that a negative rho is agreement with the "
            "model."
        ),
    ),
    ((7,), "Belief in predictions", "1 incorrect to 4 correct; 2.5 is neutral."),
    (
        (8,),
        "Least accuracy at which a black box would be preferred",
        (
            "Touched: of the sliders alone that were moved or confirmed. The reasons are among the "
            "written answers."
        ),
    ),
    ((9,), "Understanding as rated", "1 very poor to 5 very good, asked three times."),
    ((12,), "The score that was told", "Half of the photos are taken as believed correct."),
    (
        (13,),
        "Confidence in the own answers",
        (
            "1 not confident at all to 5 completely confident. Asked as in the paper (figures A11 "
            "to A13 and A15), which prints nothing of it."
        ),
    ),
    ((10,), "Duration", "Working time of a session, without pauses."),
)
"""Items of the list of analyses under each heading, and a word on them."""
LENGTHS_MATTER = (
    "Accuracy, ratings, belief, confidence and time all hang on it: “with … here …” stands beside "
    "each value of the paper."
)
BY_RANK = "rating at rank"
"""Begins the quantities that the figure shows, and the table of statistics holds."""
NO_VALUE = "no value"
"""In place of tests of which none has one; before the names of those that have none."""
STAR = (
    "* p < .001, as in the paper; none where a group has fewer than 5 values. Ours: not in the "
    "paper. W of Wilcoxon's test by the normal approximation where there are ties. No value: "
    "there are too few, or they do not vary."
)


def of_study(study: str, found: Findings) -> Iterator[Html]:
    """The tables of one study; nothing where it judges no explanations."""
    results = found.by_study.get(study, [])
    groups = [group for group in found.groups if group.study == study]
    if not groups:
        return
    yield heading(3, "Judged explanations")
    yield paragraph(_told(groups))
    yield from _about_lengths(groups)
    for items, title, said in HEADINGS:
        own = [one for one in of_item(results, *items) if not one.of.name.startswith(BY_RANK)]
        if own:
            yield heading(3, title)
            yield result_table(own, said, several=len({one.of.study for one in own}) > 1)
    yield paragraph(STAR, "quiet")
    yield paragraph(paper.NOT_OURS, "quiet")
    yield from _about_labels(groups)


def _told(groups: Sequence[Group]) -> str:
    """What was judged, in a sentence a group."""
    said = []
    for group in groups:
        sessions = per_session(group.photos, "trial").size
        sets = int(group.photos["set"].nunique())
        accuracy = group.model_accuracy
        model = "" if accuracy is None else f" (accuracy of the model {accuracy:g} %)"
        known = " with labels" if group.labels else ""
        said.append(
            f"{group.method}{model}, {group.task}{known}: {len(group.photos)} photos judged in "
            f"{sessions} {'session' if sessions == 1 else 'sessions'}, "
            f"{sets} {'set' if sets == 1 else 'sets'} of photos."
        )
        if places := first_wrong_steps(group):
            where = ", ".join(f"{_place(place)} {n}" for place, n in places.items())
            said.append(
                f"The model has {sum(places.values())} different photos among them wrong; first "
                f"wrong step of its path: {where} photos."
            )
    return " ".join(said)


def _place(back: int | None) -> str:
    """A step of a path, counted back from its last."""
    if back is None:
        return "none"
    if back == 0:
        return "last"
    return f"last but {_BACK[back - 1] if back <= len(_BACK) else back}"


_BACK = ("one", "two", "three")


def _about_lengths(groups: Sequence[Group]) -> Iterator[Html]:
    told = [f"{one.name}: {one.length_sentence}" for one in groups if one.length_sentence]
    if told:
        yield paragraph(f"{' '.join(told)} {LENGTHS_MATTER}", "note")


def _about_labels(groups: Sequence[Group]) -> Iterator[Html]:
    if any(group.labels and group.invented for group in groups):
        yield paragraph(paper.INVENTED, "note")


def together(counted: Tables, found: Findings, anchor: str) -> Iterator[Html]:
    """All studies of judged explanations side by side, with the figures."""
    yield paragraph(paper.NOT_OURS)
    yield from _about_labels(found.groups)
    yield from _about_lengths(found.groups)
    yield overview(found)
    yield from plates(counted, found, anchor)
    if found.between:
        yield heading(3, "Between studies")
        yield result_table(found.between, "Two groups of different sessions.", several=True)
    for items, title in (((9,), "Understanding, all studies"), ((10,), "Who took part")):
        if own := of_item(found.pooled, *items):
            yield heading(3, title)
            yield result_table(own, "")
    yield paragraph(STAR, "quiet")


def plates(counted: Tables, found: Findings, anchor: str) -> Iterator[Html]:
    """The figures; matplotlib is loaded here."""
    from labapp.tasks.judging.report import figures

    for plate in figures.plates(counted, found.groups):
        yield heading(3, plate.label)
        yield plate.html(anchor)


def overview(found: Findings) -> Html:
    """Table 1: a row a group; a star for what differs from chance, the highest value in bold."""
    results = [one for some in found.by_study.values() for one in of_item(some, 1)]
    best = {
        name: max((one.mean or 0.0 for one in results if one.of.name == name), default=0.0)
        for name in RIGHT
    }
    rows = []
    for group in found.groups:
        sessions = plain(per_session(group.photos, "trial")).size
        cells: list[object] = [two_lines(group.name, f"{group.method}, {group.task}"), sessions]
        cells += [_cell(group, name, results, best[name]) for name in RIGHT]
        rows.append(cells)
    return table(
        (
            "Study",
            two_lines("Sessions", "n"),
            *(two_lines(name.capitalize(), "% ± sd; the paper") for name in RIGHT),
        ),
        rows,
        numeric=(1, 2, 3, 4),
        caption=f"Mean accuracy ± sd over sessions. * differs from chance ({_chances(results)}) "
        "with p < .001, n ≥ 5. Bold: the highest of the column.",
    )


def _chances(results: Sequence[Result]) -> str:
    """What guessing gets, of the accuracies that are there."""
    said = []
    for name, of in (("", {paper.DISTINCTION, paper.OUTPUT}), ("agreement ", {paper.AGREEMENT})):
        found = {one.against for one in results if one.of.name in of and one.against is not None}
        if found:
            said.append(name + " or ".join(f"{one:.3g} %" for one in sorted(found)))
    return ", ".join(said)


def _cell(group: Group, name: str, results: Sequence[Result], best: float) -> object:
    own = [one for one in results if one.of.study == group.name and one.of.name == name]
    if not own:
        return NONE
    star = "*" if any(one.test == "one-sample t" and one.significant for one in own) else ""
    said = f"{_spread(own[0].mean, own[0].sd, '%')}{star}"
    return two_lines(strong(said) if own[0].mean == best else said, own[0].of.published or NONE)


def result_table(results: Sequence[Result], said: str, *, several: bool = False) -> Html:
    """Results with what they were compared with in a row each, tests of the paper before ours.

    several: results of different studies, which are then named.
    """
    rows: dict[tuple[Quantity, str | None], list[Result]] = {}
    for one in results:
        rows.setdefault((one.of, one.compared_with), []).append(one)
    merged: list[list[object]] = []
    for (of, other), own in rows.items():
        if other is None and all(one.test == MEAN for one in own):
            tests: object = NONE
        else:
            tests = _tests(own)
        what: object = two_lines(of.name, of.study.split(" + ")[0]) if several else of.name
        first = own[0]
        merged.append(
            [
                what,
                of.unit,
                first.n,
                _spread(first.mean, first.sd, of.unit),
                _against(own, of.unit),
                tests,
                of.published or NONE,
            ]
        )
    names = ("Quantity", "Unit", "n", "Mean ± sd", "Compared with", "Tests", "Paper")
    shown = [at for at in range(len(names)) if at < _ALWAYS or any(r[at] != NONE for r in merged)]
    kept = [[row[at] for at in shown] for row in merged]
    return table([names[at] for at in shown], kept, numeric=(2, 3), caption=said)


_ALWAYS = 4
"""So many of the columns stand there in any case; others only where a row has something in them."""


def _spread(mean: float | None, sd: float | None, unit: str) -> str:
    if mean is None:
        return NONE
    decimals = 1 if unit in ("%", "min", "photos") else 2
    said = decimal(mean, decimals)
    return said if sd is None else f"{said} ± {decimal(sd, decimals, like=mean)}"


def _against(own: Sequence[Result], unit: str) -> object:
    for one in own:
        if one.compared_with is not None:
            return two_lines(
                one.compared_with, f"{_spread(one.mean_2, one.sd_2, unit)}, n = {one.n_2}"
            )
        if one.against is not None:
            return f"{one.against:g}"
    return NONE


def _tests(own: Sequence[Result]) -> Html:
    """A line a test; those that have no value are named together below, and not even named where
    none has one."""
    papers, quieter, without = [], [], []
    for one in sorted((one for one in own if one.test != MEAN), key=lambda one: one.ours):
        said = _said(one)
        if said is None:
            without.append(_name(one))
        elif one.ours:
            quieter.append(f"ours: {said}")
        else:
            papers.append(said)
    if without:
        named = f": {', '.join(dict.fromkeys(without))}" if papers or quieter else ""
        quieter.append(f"{NO_VALUE}{named}")
    return stacked(papers, quieter)


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


def _name(one: Result) -> str:
    return _SIGNS.get(one.test, one.test)


def _said(one: Result) -> str | None:
    """A test or an interval; None where it has no value."""
    if one.low is not None and one.high is not None:
        return f"{one.test}: {decimal(one.low, 1)} to {decimal(one.high, 1)}"
    if one.statistic is None or one.p is None:
        return None
    df = "" if one.df is None else f"({one.df:g})"
    p = "p < 0.001" if one.p < 0.001 else f"p = {one.p:.3f}"
    return f"{_name(one)}{df} = {decimal(one.statistic, 2)}, {p}{'*' if one.significant else ''}"
