"""The report's sections on the items of questionnaires: what was answered to each, in the order of
the questionnaire, and how well the items of a scale go together.

Also the sections on attention checks (how often each was passed by everyone who was asked,
including those excluded for it) and on questionnaires: scores by model, ratings, chosen options,
written answers.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.analysis.planes import WHOLE, draw_kinds, kinds_with_figures
from labapp.analysis.questionnaires import FAILED, PASSED
from labapp.analysis.reliability import Reliability
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import TaskReport, in_order, questionnaire_name, reports, wide
from labapp.analysis.wording import cells_of_item, name_item
from labapp.base.reading.values import json_value
from labapp.base.report.labels import Labels, current_labels
from labapp.base.report.listing import NONE, format_first_rows, records, spread
from labapp.base.report.page import (
    Html,
    Verbatim,
    decimal,
    details,
    heading,
    join_parts,
    paragraph,
    say,
    table,
    two_lines,
)
from labapp.study.instruments.items import MOST_CIRCLES
from labapp.study.instruments.kinds import ITEM_KINDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LONGEST = 46
"""Letters of an item's words in the report; the table of items has all of them."""
IN_FIGURE = 34
"""Letters of a line of them beside a figure."""
TOLD = 0.07
"""The count stands in a part of a bar that is at least this share of it."""
TURNED = "reverse-scored"
CODEBOOK = "The full text of each item, with its range and conditions, is in items.csv."


def short(words: str, longest: int = LONGEST) -> str:
    """The beginning of a text, up to a blank, with an ellipsis where some is left out."""
    return textwrap.shorten(words, longest, placeholder=" …")


def find_rated_items(counted: Tables) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """By questionnaire and version its items that are answered with a number, as listed, and the
    answers to them; not of who somebody is, nor of attention checks. An item that is asked once a
    stage is one."""
    known = _with_ends(counted)
    known = known[~known["identifying"]]
    keys = ["instrument", "instrument_version"]
    known = known[known["check"].isna()].drop_duplicates([*keys, "item"])
    answers = counted.answers[counted.answers["submitted"] & ~is_check(counted.answers)]
    answers = answers[~answers["about_person"].fillna(value=False) & answers["value"].notna()]
    for (instrument, version), items in known.groupby(keys):
        own = answers[answers["instrument"] == instrument]
        own = own[own["instrument_version"] == version]
        again = set(items.loc[items["once_a_stage"], "item"])
        bases = [
            base if (base := str(name).rpartition("_")[0]) in again else str(name)
            for name in own["item"]
        ]
        own = own.assign(item=bases)
        own = own[own["item"].isin(items["item"])]
        several = counted.worded.loc[counted.worded["instrument"] == instrument]
        name = questionnaire_name(counted.worded, str(instrument))
        if several["instrument_version"].nunique() > 1:
            name = f"{name}, version {version}"
        if len(own):
            yield name, items.sort_values("listed", kind="stable"), own


def _with_ends(counted: Tables) -> pd.DataFrame:
    """The items that are answered with a number; if one has no lowest or highest number, with
    that of the answers."""
    answers = counted.answers[counted.answers["submitted"] & counted.answers["value"].notna()]
    given = answers.groupby(["instrument", "item"])["value"].agg(["min", "max"]).reset_index()
    alike = given["min"] == given["max"]
    given = given.assign(min=given["min"] - alike, max=given["max"] + alike)
    items = counted.worded.merge(given, on=["instrument", "item"], how="left")
    items["low"] = items["low"].fillna(items["min"])
    items["high"] = items["high"].fillna(items["max"])
    return items[items["low"].notna() & items["high"].notna()].drop(columns=["min", "max"])


def item_sections(counted: Tables, anchor: str) -> Iterator[Html]:
    """What was answered to each item. anchor: prefix of ids."""
    for place, (name, items, answers) in enumerate(find_rated_items(counted), start=1):
        yield heading(4, f"Items of {name}")
        broken = answers.loc[answers["value"] % 1 != 0, "item"]
        few = (items["high"] - items["low"] < MOST_CIRCLES) & ~items["item"].isin(broken)
        if len(some := items[few]):
            own = answers[answers["item"].isin(some["item"])]
            yield distribution(name, some, own, f"{anchor}-items-{place}")
            yield details("How often each number was chosen", counts(some, own))
        ranges = items[~few].groupby(["low", "high"], sort=False)
        for number, (_, some) in enumerate(ranges, start=1):
            own = answers[answers["item"].isin(some["item"])]
            yield strips(name, some, own, f"{anchor}-items-{place}-range-{number}")
            yield details("The numbers that were given", numbers_given(some, own))


def _abouts(answers: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The answers about each model; those about none are of the whole session."""
    about = answers["model"].where(answers["model"].notna(), "whole session")
    groups = {str(model): own for model, own in answers.groupby(about, sort=False)}
    return [(model, groups[model]) for model in in_order(groups)]


def _item(words: str, instrument: str, name: str, *, turned: bool) -> Html:
    """An item in a table: its words, and below them its label, or its id without one, and whether
    it is reversed."""
    label, _ = (current_labels() or Labels({})).of_item(f"{instrument}.{name}")
    called = label or name
    told = f"{called}, {say(TURNED)}" if turned else called
    return two_lines(Verbatim(short(words)), Verbatim(told))


def distribution(name: str, items: pd.DataFrame, answers: pd.DataFrame, prefix: str) -> Html:
    """One bar per item, in parts by what was answered."""
    from matplotlib.colors import LinearSegmentedColormap, rgb_to_hsv, to_rgb

    from labapp.base.figure_style import colours, points_of
    from labapp.base.report.drawing import SAID

    def bar(ax: Axes, row: int, item: Mapping[str, Any], given: pd.DataFrame) -> None:
        shades = LinearSegmentedColormap.from_list("answers", colours().differences)
        values = given["value"].to_numpy(dtype=float)
        low, high = int(item["low"]), int(item["high"])
        left = 0.0
        for number in range(low, high + 1):
            n = int((values == number).sum())
            share = n / len(values) if len(values) else 0.0
            colour = shades((number - low) / (high - low))
            ax.barh(row, share, left=left, height=0.8, color=colour,
                    edgecolor=colours().secondary, linewidth=0.4)  # fmt: skip
            if share >= TOLD:
                dark = rgb_to_hsv(to_rgb(colour))[2] < 0.75
                ax.text(left + share / 2, row, str(n), ha="center", va="center",
                        size=points_of(7.5), color="white" if dark else colours().ink,
                        label=SAID)  # fmt: skip
            left += share

    def axis(ax: Axes) -> None:
        ax.set(xlim=(0, 1), xticks=[0, 0.5, 1])
        ax.set_xticklabels(["0", "50", "100"])
        ax.set_xlabel("% of answers")

    return _rows(name, items, answers, prefix, bar, axis, f"{_ends(items)} {_READ} {CODEBOOK}")


def strips(name: str, items: pd.DataFrame, answers: pd.DataFrame, prefix: str) -> Html:
    """A strip an item over the numbers that could be given, which are the same for all of them."""
    from labapp.base.report import kit

    def strip(ax: Axes, row: int, item: Mapping[str, Any], given: pd.DataFrame) -> None:
        given = given[~not_touched(given)]
        kit.lying_strip(ax, float(row), given["value"].to_numpy(dtype=float))

    low, high = float(items["low"].iloc[0]), float(items["high"].iloc[0])

    def axis(ax: Axes) -> None:
        ax.set_xlim(low - 0.02 * (high - low), high + 0.02 * (high - low))
        ax.set_xticks([low, (low + high) / 2, high])
        ax.set_xlabel("number given")
        kit.grid(ax, "x")

    told = f"{_ends(items)} {_READ_STRIPS} {kit.LYING_READ}"
    if untouched := int(not_touched(answers).sum()):
        told += f" {UNTOUCHED.format(n=untouched)}"
    return _rows(name, items, answers, prefix, strip, axis, f"{told} {CODEBOOK}")


def _rows(
    name: str,
    items: pd.DataFrame,
    answers: pd.DataFrame,
    prefix: str,
    draw: Callable[[Axes, int, Mapping[str, Any], pd.DataFrame], None],
    axis: Callable[[Axes], None],
    caption: str,
) -> Html:
    """A panel for each thing that was asked about, in it one row per item. draw: what is shown in a
    row; axis: set the axis of a panel."""
    import matplotlib as mpl  # slow to load

    from labapp.base.figure_style import panels_across, points_of, style
    from labapp.base.report import kit
    from labapp.base.report.drawing import SAID, Drawing, shorten_names, svg_of

    abouts = _abouts(answers)
    with mpl.rc_context(style()):
        figure, axes = kit.panels(len(abouts), min(2, len(abouts)), 0.45 * len(items) + 0.7)
        across = panels_across(min(2, len(abouts)))
        titles = shorten_names([about for about, _ in abouts])
        for at, (ax, (_, own)) in enumerate(zip(axes, abouts, strict=True)):
            for row, item in enumerate(records(items)):
                draw(ax, row, item, own[own["item"] == item["item"]])
                if at % across == 0:
                    words = short(str(item["text"]), 2 * IN_FIGURE)
                    words += f" ({say(TURNED)})" if item["reversed_in"] is not None else ""
                    ax.text(-0.02, row, textwrap.fill(words, IN_FIGURE), ha="right", va="center",
                            size=points_of(8), label=SAID,
                            transform=ax.get_yaxis_transform())  # fmt: skip
            axis(ax)
            ax.set(ylim=(len(items) - 0.5, -0.5), yticks=[])
            ax.set_title(titles[at])
            ax.spines["left"].set_visible(False)
        drawing = Drawing(svg_of(figure, prefix), f"Answers to the items of {name}")
    return drawing.html(caption)


_READ = (
    "Each bar is an item, in the order of the questionnaire, with the numbers that people chose, "
    "from the lowest on the left to the highest on the right. The figures in the bars are numbers "
    "of answers."
)

_READ_STRIPS = (
    "Each row is an item, in the order of the questionnaire, on a scale of all possible "
    "numbers. Each point is an answer."
)
UNTOUCHED = "Sliders that were not touched count as no answer and are left out: {n}."


def not_touched(answers: pd.DataFrame) -> NDArray[np.bool_]:
    """Which rows are of a slider that was left where it stood: there is no answer to it."""
    return answers["touched"].eq(other=False).fillna(value=False).to_numpy(dtype=bool)


def _words(answers: Any) -> Mapping[str, str]:
    """What each answer is called; nothing if the table came from elsewhere and says no such."""
    try:
        words = json_value(answers or "{}")
    except ValueError:
        return {}
    return words if isinstance(words, dict) else {}


def _ends(items: pd.DataFrame) -> str:
    """What stands at the ends of the items that all have the same; empty if they differ."""
    ends = set()
    for row in records(items):
        words = _words(row["answers"])
        low, high = str(int(row["low"])), str(int(row["high"]))
        ends.add((low, words.get(low, ""), high, words.get(high, "")))
    if len(ends) != 1:
        return ""
    low, least, high, most = ends.pop()
    return f"{low}: {least}; {high}: {most}." if least or most else ""


def counts(items: pd.DataFrame, answers: pd.DataFrame) -> Html:
    """How often each number was chosen, by item and what was asked about."""
    low, high = int(items["low"].min()), int(items["high"].max())
    numbers = range(low, high + 1)
    rows = []
    for item in records(items):
        turned = item["reversed_in"] is not None
        name = _item(str(item["text"]), str(item["instrument"]), str(item["item"]), turned=turned)
        for about, own in _abouts(answers[answers["item"] == item["item"]]):
            values = own["value"].to_numpy(dtype=float)
            offered = range(int(item["low"]), int(item["high"]) + 1)
            chosen = [int((values == n).sum()) if n in offered else NONE for n in numbers]
            rows.append((name, about, *chosen, spread(values, 2)))
    return table(
        ("Item", "About", *map(str, numbers), "Answer"),
        rows,
        numeric=range(2, 3 + len(numbers)),
        caption="How many people gave each answer; mean ± SD over answers, the median and n.",
    )


def numbers_given(items: pd.DataFrame, answers: pd.DataFrame) -> Html:
    """What was answered to each item and about what, if the numbers are many."""
    slid = answers["touched"].notna().any()
    rows = []
    for item in records(items):
        turned = item["reversed_in"] is not None
        name = _item(str(item["text"]), str(item["instrument"]), str(item["item"]), turned=turned)
        for about, own in _abouts(answers[answers["item"] == item["item"]]):
            values = own.loc[~not_touched(own), "value"].to_numpy(dtype=float)
            extremes = [values.min(), values.max()] if values.size else []
            ends = [decimal(float(end), 0) for end in extremes] or [NONE, NONE]
            untouched = int(not_touched(own).sum())
            alone = [untouched if own["touched"].notna().any() else NONE] if slid else []
            rows.append((name, about, *ends, *alone, spread(values, 2)))
    return table(
        ("Item", "About", "Lowest", "Highest", *(["No answer"] if slid else []), "Answer"),
        rows,
        numeric=range(2, 5 + slid),
        caption="The lowest and highest number given; mean ± SD over answers, the median and n. "
        "No answer: sliders that were not touched, which are left out.",
    )


SAYS = (
    "Alpha is Cronbach's, with Feldt's 95 % interval; omega is McDonald's omega total, from one "
    "factor by maximum likelihood. Both are for the people who answered all items, after "
    "reversed items were recoded. Questionnaires and their versions are never pooled."
)
OCCASIONS = (
    "If people answered a questionnaire several times, each occasion is shown separately, "
    "because several answers from one person are not answers from several people."
)


def reliability_section(scales: Sequence[Reliability], counted: Tables) -> Iterator[Html]:
    """Alpha and omega of each scale, and below them its items."""
    if not scales:
        return
    yield heading(3, "Reliability of the scales")
    several = any(scale.occasion for scale in scales)
    yield paragraph(SAYS)
    if several:
        yield paragraph(OCCASIONS)
    rows = []
    for scale in scales:
        value: object = NONE
        if scale.alpha.value is not None:
            ends = (decimal(end or 0.0, 2) for end in (scale.alpha.low, scale.alpha.high))
            value = two_lines(decimal(scale.alpha.value, 2), " to ".join(ends))
        about = scale.about
        version = f"version {about['instrument_version']}"
        rows.append(
            (
                two_lines(Verbatim(f"{about['instrument']}: {about['score']}"), version),
                *([Verbatim(scale.occasion)] if several else []),
                len(scale.items),
                len(scale.complete),
                0 if scale.why else scale.n_incomplete,
                0 if scale.why else scale.n_unscored,
                value,
                NONE if scale.omega.value is None else decimal(scale.omega.value, 2),
            )
        )  # fmt: skip
    yield table(
        ("Scale", *(["Occasion"] if several else []), "Items", "Answered all", "Answered some",
         "No score", two_lines("Alpha", "95 % interval"), "Omega"),
        rows,
        numeric=range(1 + several, 7 + several),
    )  # fmt: skip
    yield from _reasons(scales)
    yield details(
        "Item by item", join_parts(part for scale in scales for part in _items(scale, counted))
    )


def _reasons(scales: Sequence[Reliability]) -> Iterator[Html]:
    """Why there is no number, or what is to be known of one."""
    for scale in scales:
        alike = scale.alpha.why == scale.omega.why
        told = {"Alpha and omega" if alike else "Alpha": scale.alpha.why}
        told |= {} if alike else {"Omega": scale.omega.why}
        for name, why in told.items():
            if why:
                of = ", ".join(filter(None, (str(scale.about["score"]), scale.occasion)))
                yield paragraph(Verbatim(f"{say(name)}, {of}: {say(why)}."), "quiet")


def _items(scale: Reliability, counted: Tables) -> Iterator[Html]:
    """What each item is to its scale, in the order of the questionnaire."""
    if scale.why or not len(scale.complete):
        return
    known = counted.worded[counted.worded["instrument"] == scale.about["instrument"]]
    known = known[known["instrument_version"] == scale.about["instrument_version"]]
    known = known.drop_duplicates("item").set_index("item")
    order = {name: int(place) for name, place in known["listed"].items()}
    numbers = sorted(scale.item_numbers, key=lambda row: order.get(row["item"], 0))
    rows = []
    for row in numbers:
        words = known["text"].get(row["item"], row["item"])
        rows.append(
            (
                _item(
                    str(words), str(scale.about["instrument"]), row["item"], turned=row["reversed"]
                ),
                *(
                    NONE if row[name] is None else decimal(row[name], 2)
                    for name in ("mean", "sd", "item_rest", "alpha", "loading")
                ),
            )
        )
    name = f"{scale.about['instrument']}: {scale.about['score']}"
    title = ", ".join(filter(None, (name, scale.occasion)))
    yield table(
        ("Item", "Mean", "SD", "Item-rest r", "Alpha without it", "Loading"),
        rows,
        numeric=range(1, 6),
        caption=Verbatim(title),
    )


def is_check(answers: pd.DataFrame) -> pd.Series[bool]:
    """Which rows of the table of answers are attention checks."""
    return answers["check"].notna()


def attention(answers: pd.DataFrame) -> Iterator[Html]:
    """A row a check. answers: of a study's sessions."""
    checks = answers[is_check(answers)]
    if checks.empty:
        return
    rows = []
    for (instrument, item), some in checks.groupby(["instrument", "item"], sort=False):
        sessions = some[["participant", "session"]].drop_duplicates()
        failed = some[some["check"] == FAILED][["participant", "session"]].drop_duplicates()
        passed = int((some["check"] == PASSED).sum())
        named = cells_of_item(str(instrument), str(item))
        rows.append((*named, passed, len(some) - passed, len(failed), len(sessions)))
    yield heading(3, "Attention checks")
    yield table(
        ("Instrument", "Item", "Passed", "Failed", "Sessions that failed it", "Sessions asked"),
        rows,
        numeric=(2, 3, 4, 5),
        caption="From all sessions, including excluded ones. Checks are not part of any score.",
    )


def show_unknown(answers: pd.DataFrame) -> Iterator[Html]:
    """How often participants answered that they do not know, of the items if somebody did."""
    rows = []
    for (instrument, item), some in answers.groupby(["instrument", "item"], sort=False):
        if unknown := int(some["dont_know"].fillna(value=False).sum()):
            share = decimal(100 * unknown / len(some), 0)
            named = cells_of_item(str(instrument), str(item))
            rows.append((*named, unknown, len(some), share))
    if not rows:
        return
    yield heading(3, "Answered by not knowing")
    yield table(
        ("Instrument", "Item", "Don't know", "Answers", two_lines("Share", "% of answers")),
        rows,
        numeric=(2, 3, 4),
        caption="These answers have no value. Analyses treat them as missing.",
    )


SEQ = "seq"
TLX = (
    *("mental_demand", "physical_demand", "temporal_demand", "performance", "effort"),
    *("frustration", "raw_tlx", "weighted_tlx"),
)
FEW = 4
"""With more models than this a panel of the figure is twice as wide."""
NAMES = {
    "raw_tlx": "Raw TLX",
    "weighted_tlx": "Weighted TLX",
    "sus": "SUS",
    "seq": "SEQ",
    "pragmatic": "Pragmatic quality",
    "hedonic": "Hedonic quality",
}


def _elsewhere(told: Callable[[TaskReport[Any]], Iterable[str]]) -> set[str]:
    """What tasks' own sections tell of questionnaires."""
    return {name for report in reports() for name in told(report)}


def questionnaires(counted: Tables, anchor: str) -> Iterator[Html]:
    """Everything that was asked of the sessions that count; anchor: prefix of the page's ids."""
    scores = by_stage(counted)
    scores = scores[~((scores["score"] == SEQ) & (scores["of"] != WHOLE))]  # is with the metrics
    scores = scores[~scores["instrument"].isin(_elsewhere(lambda report: report.instruments))]
    answers = counted.answers[counted.answers["submitted"] & ~is_check(counted.answers)]
    if scores.empty and answers.empty:
        return
    for instrument, of_one in scores.groupby("instrument", sort=False):
        for task, some in of_one.groupby("task", sort=True):
            name = questionnaire_name(counted.worded, str(instrument))
            yield heading(3, ", ".join(filter(None, (f"Questionnaire {name}", str(task)))))
            yield score_table(some)
            if set(some["score"]) & set(TLX) and not _is_drawn_by_model(counted, str(task), some):
                yield workload(some, "-".join(filter(None, (anchor, str(instrument), str(task)))))
    scored = set(counted.scores["instrument"])
    yield from show_ratings(answers, scored)
    yield from show_choices(counted.participants, answers, set(scores["instrument"]))
    yield from draw_kinds(counted, anchor)
    yield from show_texts(counted.participants, answers)


def _is_drawn_by_model(counted: Tables, task: str, scores: pd.DataFrame) -> bool:
    """Whether these ratings are of stages whose models are compared: their figure stands there."""
    tasks = {task} if task else set(counted.stages["task"])
    drawn = _elsewhere(lambda report: report.draws_workload)
    return tasks <= drawn and bool((scores["of"] != WHOLE).all())


def workload(scores: pd.DataFrame, name: str) -> Html:
    """The figure of NASA-TLX ratings; name: prefix of its ids."""
    from labapp.base.report import kit  # matplotlib is slow to load

    about = sorted(str(of) for of in scores["of"].unique())
    measured = [
        kit.StripPanel(
            _name(score),
            "0–100",
            wide(scores[scores["score"] == score], "of", "value", about),
            (0.0, 100.0),
        )
        for score in TLX
        if (scores["score"] == score).any()
    ]
    many = 4 if len(about) <= FEW else 2
    drawing = kit.strip_panels(measured, about, name, "Workload by model", many)
    return drawing.html(f"{kit.READ} 100 is the highest demand; for Performance, 100 is failure.")


def by_stage(counted: Tables) -> pd.DataFrame:
    """The scores with the columns `of`, the model of the stage asked about or the whole session,
    and `task`, that stage's task (empty if the sessions have one task only)."""
    stages = {}
    for row in records(counted.stages):
        stages[row["participant"], row["session"], row["stage"]] = (row["model"], row["task"])
    tasks = counted.stages["task"].nunique()
    rows = []
    for row in records(counted.scores):
        known = stages.get((row["participant"], row["session"], row["about"]))
        row["of"], row["task"] = known or (WHOLE, "")
        if tasks < 2:
            row["task"] = ""
        rows.append(row)
    return pd.DataFrame(rows, columns=[*counted.scores.columns, "of", "task"])


def score_table(scores: pd.DataFrame) -> Html:
    """One instrument: one row per score, one column per model (or the whole session)."""
    columns = sorted(set(scores["of"]), key=lambda of: (of == WHOLE, of))
    rows: list[list[object]] = []
    for score, some in scores.groupby("score", sort=False):
        meaning = str(some["meaning"].iloc[0])
        name: object = two_lines(_name(str(score)), meaning)
        wide = (some["high"] - some["low"]).max() > 20
        cells = [spread(_values(some[some["of"] == of]), 1 if wide else 2) for of in columns]
        rows.append([name, *cells])
    return table(
        ["Score", *columns],
        rows,
        numeric=range(1, 1 + len(columns)),
        caption="Mean ± SD over participants; below it the median and n.",
    )


def _values(scores: pd.DataFrame) -> NDArray[np.float64]:
    """One value per participant: if a model had several stages, their mean."""
    one_each = scores.groupby(["participant", "session"])["value"].mean()
    return one_each.to_numpy(dtype=float)


def _name(score: str) -> str:
    return NAMES.get(score, score[:1].upper() + score[1:].replace("_", " "))


def show_ratings(answers: pd.DataFrame, scored: set[str]) -> Iterator[Html]:
    """Answers with a number, of questionnaires that name no scoring; scored: those that name one.

    Who somebody is, is reported only as counts. Items that a task's own
    sections tell are left to these.
    """
    given = answers[answers["value"].notna()]
    given = given[~given["instrument"].isin(scored)]
    given = given[~given["item"].isin(_elsewhere(lambda report: report.items))]
    given = given[~given["about_person"].fillna(value=False)]
    if given.empty:
        return
    yield heading(3, "Ratings")
    by_model = given.assign(of=given["model"].where(given["model"].notna(), WHOLE))
    rows = [
        (*cells_of_item(str(instrument), str(item)), of, spread(_values(some), 2))
        for (instrument, item, of), some in by_model.groupby(
            ["instrument", "item", "of"], sort=False
        )
    ]
    yield table(
        ("Instrument", "Item", "About", "Answer"),
        rows,
        numeric=(3,),
        caption="Mean ± SD over participants; below it the median and n. Numbers are those that "
        "people gave.",
    )


def _choosing() -> set[str]:
    """What tables call answers that are options."""
    return {kind.form or kind.name for kind in ITEM_KINDS.values() if kind.item.chooses}


def show_choices(
    participants: pd.DataFrame, answers: pd.DataFrame, scored: set[str]
) -> Iterator[Html]:
    """How often each option was chosen; scored: instruments whose scores say it already.

    What instruments ask about the person is reported only as counts, and not at all for
    de-identified sessions.
    """
    picked = answers[answers["kind"].isin(_choosing()) & ~answers["instrument"].isin(scored)]
    picked = picked[~picked["dont_know"].fillna(value=False)]
    about_people = picked["about_person"].fillna(value=False)
    known = _has_identity(participants, picked)
    for title, some in (
        ("Demographics", picked[about_people & known]),
        ("Options chosen", picked[~about_people]),
    ):
        if some.empty:
            continue
        yield heading(3, title)
        rows: list[tuple[object, ...]] = []
        for (instrument, item), given in some.groupby(["instrument", "item"], sort=False):
            named = cells_of_item(str(instrument), str(item))
            _, words = name_item(f"{instrument}.{item}")
            options = given["value_text"].str.split(";").explode().value_counts()
            for option, n in sorted(
                options.items(), key=lambda entry: (-int(entry[1]), str(entry[0]))
            ):
                text = words.get(str(option)) or str(option).replace("_", " ")
                share = decimal(100 * int(n) / len(given), 0)
                rows.append((*named, Verbatim(text), int(n), len(given), share))
        yield table(
            (
                "Instrument",
                "Item",
                "Option",
                two_lines("Chosen", "n"),
                two_lines("Answers", "n"),
                two_lines("Share", "% of answers"),
            ),
            rows,
            numeric=(3, 4, 5),
        )
        if title == "Demographics":
            yield paragraph("Text written next to an option is not shown here.", "quiet")


def _has_identity(participants: pd.DataFrame, answers: pd.DataFrame) -> NDArray[np.bool_]:
    """For each answer whether its session still has its identities."""
    sessions = zip(participants["participant"], participants["session"], strict=True)
    reduced = dict(zip(sessions, participants["deidentified"], strict=True))
    whose = zip(answers["participant"], answers["session"], strict=True)
    return np.array([not reduced[participant] for participant in whose], dtype=bool)


def show_texts(participants: pd.DataFrame, answers: pd.DataFrame) -> Iterator[Html]:
    """Comments and other texts, by participant; not those of instruments that ask about the person,
    nor of de-identified copies."""
    numbers = answers["value"].notna()
    texts = answers[
        ~answers["kind"].isin(_choosing() | kinds_with_figures())
        & ~numbers
        & answers["value_text"].notna()
    ]
    texts = texts[_has_identity(participants, texts)]
    texts = texts[~texts["about_person"].fillna(value=False)]
    if texts.empty:
        return
    yield heading(3, "Written answers")
    yield format_first_rows(
        ("Participant", "Instrument", "Item", "About", "Answer"),
        [
            (
                row["participant"],
                *cells_of_item(row["instrument"], row["item"]),
                row["model"] or WHOLE,
                Verbatim(row["value_text"]),
            )
            for row in records(texts)
        ],
    )
