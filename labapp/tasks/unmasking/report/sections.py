"""The report's sections on the unmasking study (paper 004): main results in sentences, and tables;
all of it is in the table statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from labapp.analysis.bootstrap import Float64, Interval, ratio
from labapp.analysis.statistic import Statistic, select
from labapp.analysis.task_records import Row
from labapp.base.report.listing import NONE, records
from labapp.base.report.page import Html, count, decimal, heading, paragraph, table, two_lines
from labapp.tasks.unmasking.report import published as paper
from labapp.tasks.unmasking.report.curves import AnnotationCells, Bool, columns, truths
from labapp.tasks.unmasking.report.results import (
    AGREED,
    CORRECT,
    LABEL,
    MODEL,
    OTHER,
    PEOPLE,
    WHOLE,
    AnnotationGroup,
    UnmaskingResults,
)

INTERVAL = "Vertical lines: 95 % intervals, bootstrap over participants (ours)."
AT_EACH_MASK = "At each mask, n is the number of annotations."
OVER_IMAGES = "Vertical lines: 95 % intervals, bootstrap over images (ours)."


def of_people(group: AnnotationGroup) -> str:
    """62 participants, 18,600 annotations. A figure goes around without its report: where a program
    took part, and no person, it says so."""
    simulated = group.annotations["timed_by"].fillna("") == "simulated"
    who = "simulated participant" if len(simulated) and simulated.all() else "participant"
    return f"{count(group.participants, who)}, {format_annotations(len(group.annotations))}"


def format_annotations(n: int) -> str:
    """1,860 annotations."""
    return f"{n:,} annotation{'' if n == 1 else 's'}"


def describe_untimed(group: AnnotationGroup) -> str:
    """Which reaction times are left out, to be put behind what is counted; empty for none."""
    n = int(truths(group.annotations["keyboard_away"]).sum())
    return f" but {n:,} in which the keyboard was away" if n else ""


def annotations_of(counts: pd.Series[int]) -> str:
    """How many stand behind each value of a line: n = 620, or n = 12 to 620."""
    known = counts.dropna()
    if known.empty:
        return "n = 0"
    least, most = int(known.min()), int(known.max())
    return f"n = {least:,}" if least == most else f"n = {least:,} to {most:,}"


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """The rows of a frame by column; numbers that are missing stay NaN."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def unbroken(text: str) -> str:
    """Prevent line breaks between numbers and their percent signs."""
    return text.replace(" %", "\u00a0%")


def percent(share: float) -> str:
    """Of a share from 0 to 1: 63.2 %."""
    return f"{decimal(100 * share, 1)} %"


def ms(value: float) -> str:
    return f"{decimal(value, 0)} ms"


def with_interval(value: float, low: float, high: float, form: Callable[[float], str]) -> str:
    """63.2 % [60.1, 66.0]; a dash without a value."""
    if not np.isfinite(value):
        return NONE
    if not (np.isfinite(low) and np.isfinite(high)):
        return form(value)
    ends = (form(end).split(" ")[0] for end in (low, high))
    return f"{form(value)} [{', '.join(ends)}]"


def two_digits(value: float) -> str:
    return decimal(value, 2)


FILLS = {
    "mean": "the mean of the set's pictures",
    "black": "black",
    "grey": "middle grey",
    "white": "white",
}
SIGNS = {"signed": "by their scores", "absolute": "by the absolute values of their scores"}
NO_MODEL = (
    "There are no outputs of the model on the masked images: its accuracy there, its ranks and "
    "the bias on masked images are missing. They are computed when a session is planned and the "
    "model of the stimulus set is installed."
)
ALONE = (
    "With one participant there are no intervals over participants and no tests between "
    "methods. The figures show only this person."
)
METHODS = (
    "Intervals are percentile bootstraps of 2,000 draws with a fixed seed. Participants are "
    "drawn with all their annotations; for the model alone, images are drawn. The interval of "
    "people's average rank is ± 1.96 standard deviations of the draws, since percentiles lie "
    "nearer to the middle rank. Reaction times run from the first painted frame of the stimulus "
    "to the time stamp of the input event; no reaction times are trimmed or transformed. "
    "Reaction times of trials during which the moderator or another program had the keyboard are "
    "left out, but their answers count. A key press before that frame was meant for the previous "
    "stimulus and is not a response. If a pause or an interruption cut a stimulus off, it was "
    "shown again, and only the answered attempt counts. The example never counts."
)


def of_study(study: str, results: Sequence[UnmaskingResults], anchor: str) -> Iterator[Html]:
    """Everything about the unmasked images of one study; nothing if it has none. anchor: prefix
    of the page's ids."""
    own = [result for result in results if result.group.study == study]
    for number, item in enumerate(own, start=1):
        name = item.group.name.removeprefix(study).lstrip(", ")
        yield heading(3, f"Unmasked images: {name}" if name else "Unmasked images")
        yield from _of(item, f"{anchor}-u{number}")


def _of(result: UnmaskingResults, anchor: str) -> Iterator[Html]:
    group = result.group
    yield paragraph(unbroken(describe_group(group)))
    if group.participants == 0:
        yield paragraph(
            "No annotations were analysed, so there are no results from people here.", "note"
        )
    if group.participants == 1:
        yield paragraph(ALONE, "note")
    if not group.has_model:
        yield paragraph(NO_MODEL, "note")
    means = overall(group)
    if results := list(main_results(result, means)):
        yield results_shown(results)
        yield paragraph(paper.NOT_OURS, "quiet")
    if not means.methods.empty:
        yield by_method(result, means)
    for plate in result.drawn:
        yield heading(3, plate.label)
        yield plate.html(anchor)
    yield from _show_comparisons(result)
    yield heading(3, "The model and its images")
    yield classes(result)
    yield (
        model(result)
        if len(result.report)
        else paragraph(
            "The stimulus set does not say how the model performs on the images from which "
            "these were chosen.",
            "quiet",
        )
    )
    yield heading(3, "Timing of stimuli and responses")
    yield from timing(group)
    yield paragraph(METHODS, "quiet")


def describe_group(group: AnnotationGroup) -> str:
    """What was shown to whom."""
    shown_images = group.predictions.drop_duplicates("image")
    if shown_images.empty:
        shown_images = group.annotations.drop_duplicates("image")
    wrong = int((~shown_images["correct_prediction"].astype(bool)).sum())
    names = ", ".join(group.methods.values())
    percents = ", ".join(f"{percent:g}" for percent in group.percents)
    rows, columns = group.grid
    model = f"{group.classifier}: " if group.classifier else ""
    return (
        f"{of_people(group)}. Stimulus set {group.stimuli} (manifest "
        f"{group.manifest_sha256[:12]}…): {count(len(shown_images), 'image')} of "
        f"{count(len(group.classes), 'class').replace('classs', 'classes')} "
        f"({', '.join(group.classes)}), with {count(len(group.methods), 'method')} ({names}) and "
        f"{count(len(group.percents), 'mask')} that show {percents} % of {rows} × {columns} "
        f"pixels. Pixels are ranked {SIGNS[group.sign]}; the others become {FILLS[group.fill]}. "
        f"The model ({model}accuracy {group.accuracy:g} % on its test images) is wrong on "
        f"{wrong} of the {len(shown_images)}."
    )


def _show_comparisons(result: UnmaskingResults) -> Iterator[Html]:
    """The tests between methods, which the paper has none of."""
    compared = result.comparisons
    if len(result.fits.pooled):
        yield heading(3, "Psychometric functions, fitted (ours)")
        yield fits(result)
    if not compared.friedman:
        return
    yield heading(3, "Methods compared (ours)")
    made = (*compared.friedman, *compared.pairs)
    if any(test.p is not None for test in made):
        yield tests(result)
    else:
        # Each reason once, not at every mask and pair.
        whys = dict.fromkeys(test.why for test in made if test.why)
        reasons = list(whys) or ["there are no values"]
        yield paragraph(f"No tests: {' and '.join(reasons)}.", "quiet")
    yield (
        show_mixed_model(result)
        if len(compared.mixed)
        else paragraph(f"No mixed logistic model: {compared.mixed_why}.", "quiet")
    )


def fits(result: UnmaskingResults) -> Html:
    of = {LABEL: "a class is named", CORRECT: "the true class is named"}
    rows = []
    for row in rows_of(result.fits.pooled):
        ends = {
            name: with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"], form)
            for name, form in (("threshold", partial(decimal, decimals=1)), ("slope", two_digits))
        }
        rates = [
            decimal(row[name], 3) if np.isfinite(row[name]) else NONE for name in ("guess", "lapse")
        ]
        name = two_lines(result.group.methods[row["method"]], of[row["of"]])
        rows.append(
            [name, f"{row['n']:,}", ends["threshold"], ends["slope"], *rates, row["why"] or NONE]
        )
    names = (
        "Method",
        two_lines("Annotations", "n"),
        two_lines("Threshold", "% of pixels"),
        two_lines("Slope", "per unit of log %"),
        two_lines("Guess", "rate"),
        two_lines("Lapse", "rate"),
        "Note",
    )
    shown = len(names) if any(row[-1] != NONE for row in rows) else len(names) - 1
    return table(
        names[:shown],
        [row[:shown] for row in rows],
        numeric=range(1, 6),
        caption="Logistic functions of the logarithm of the percentage, by maximum likelihood. "
        "In brackets: 95 % intervals.",
    )


def tests(result: UnmaskingResults) -> Html:
    """Friedman's test by mask, and each pair of methods by Wilcoxon's."""
    compared = result.comparisons
    pairs = list(dict.fromkeys((row.method, row.compared_with) for row in compared.pairs))
    by_pair = {(row.percent, row.method, row.compared_with): row for row in compared.pairs}
    rows = []
    for row in compared.friedman:
        printed: object = two_lines(NONE, row.why) if row.why else NONE
        if row.p is not None:
            chi = f"χ²({row.df:g}) = {decimal(row.statistic or 0.0, 1)}"
            printed = two_lines(chi, p_value(row.p_corrected))
        mask = "all masks" if row.percent is None else f"{row.percent:g} %"
        cells: list[object] = [mask, row.n, printed]
        cells += [_pair(by_pair.get((row.percent, *pair))) for pair in pairs]
        rows.append(cells)
    methods = result.group.methods
    return table(
        (
            "Mask",
            two_lines("n", "participants"),
            two_lines("Friedman", "p by Holm"),
            *(two_lines(f"{methods[pair]} –", methods[other]) for pair, other in pairs),
        ),
        rows,
        numeric=range(1, 3 + len(pairs)),
        caption="Accuracy of the participants (“I don't know” is not correct). Pairs: mean "
        "difference in percentage points, and p of Wilcoxon's signed-rank test with Holm's "
        "correction; * p < 0.05, with at least five participants. The correction covers all "
        "masks and pairs; the tests over all masks together are a separate family.",
    )


def show_mixed_model(result: UnmaskingResults) -> Html:
    methods = result.group.methods
    first = next(iter(methods.values()))
    effects = {method: f"{name}, against {first}" for method, name in methods.items()}
    rows = [
        (
            effects.get(row["effect"], row["effect"]),
            f"{row['n']:,}",
            decimal(row["estimate"], 2),
            decimal(row["sd"], 2),
            f"{decimal(row['low'], 2)} to {decimal(row['high'], 2)}",
        )
        for row in rows_of(result.comparisons.mixed)
    ]
    return table(
        (
            "Effect",
            two_lines("Annotations", "n"),
            two_lines("Estimate", "log odds"),
            "sd",
            "95 % interval",
        ),
        rows,
        numeric=range(1, 5),
        caption="Mixed logistic model of correct annotations (“I don't know” is not correct), "
        "with random intercepts for participants and images. sd: standard error. Beyond "
        "that, the annotations of a sequence are treated as independent, so these intervals "
        "are too narrow.",
    )


def _pair(row: Statistic | None) -> object:
    if row is None or row.mean is None:
        return NONE
    text = decimal(100 * row.mean, 1, sign=True)
    if row.p_corrected is None:
        return two_lines(text, row.why or NONE)
    return two_lines(text, f"{p_value(row.p_corrected)}{'*' if row.significant else ''}")


QUICK_MS = 150.0
"""Faster than people see and press: such a press was begun before the stimulus was there."""
SHOWN_BY = {
    "frame": "the window system confirmed the frame",
    "flush": "handed to the window system, which confirms nothing",
    "simulated": "simulated",
}
TIMED_BY = {
    "event": "the input event's own time stamp",
    "arrival": "when the program got it: the stamp could not be trusted",
    "simulated": "simulated",
}


def timing(group: AnnotationGroup) -> Iterator[Html]:
    """A table of what is known of the times, and of what was broken off."""
    rows = list(_rows(group))
    if rows:
        yield table(("What", "Value", "n"), rows, numeric=(2,))
    every = group.every_annotation
    text = f"{format_annotations(len(group.annotations))} count."
    reasons = every.loc[every["excluded"], "excluded_because"].value_counts()
    each = ", ".join(f"{n:,} {reason}" for reason, n in reasons.items())
    left_out = f"Attempts that do not count: {each}." if each else "None was left out."
    yield paragraph(f"{text} {left_out}", "quiet")


def _rows(group: AnnotationGroup) -> Iterator[tuple[object, object, object]]:
    counted = group.annotations
    for column, names, what in (
        ("shown_by", SHOWN_BY, "Appearance timed by"),
        ("timed_by", TIMED_BY, "Response timed by"),
    ):
        for value, n in counted[column].value_counts().items():
            text = f"{what}: {names.get(str(value), str(value))}"
            yield text, percent(n / len(counted)), f"{n:,}"
    # The first one of a part waits for its screen, and one that is shown again for the participant.
    waited = counted[(counted["attempt"] == 1) & (counted["trial"] > 1)]
    late = waited["due_to_paint_ms"].dropna().to_numpy(np.float64)
    if late.size:
        median, p95, p99 = (decimal(float(value), 1) for value in np.percentile(late, (50, 95, 99)))
        text = f"median {median} ms, 95th percentile {p95} ms, 99th {p99} ms"
        yield "From its planned time to its first painted frame", text, f"{late.size:,}"
    for value, n in counted["refresh_ms"].round(2).value_counts().items():
        shown = f"{value:.2f} ms ({1000 / float(str(value)):.0f} Hz)"
        yield "Refresh interval of the display", shown, f"{n:,}"
    if unknown := int(counted["refresh_ms"].isna().sum()):
        yield "Refresh interval of the display", "not told", f"{unknown:,}"
    for side, n in counted["side_px"].value_counts().items():
        yield "Side of the pictures on the display", f"{side} of its pixels", f"{n:,}"
    small = truths(counted["too_small"])
    if small.any():
        label = "Window too small for the study's size of the picture"
        yield label, percent(float(small.mean())), f"{int(small.sum()):,}"
    for device, n in counted["device"].value_counts().items():
        yield f"Answered by {device}", percent(n / len(counted)), f"{n:,}"
    away = truths(counted["keyboard_away"])
    if away.any():
        text = "Keyboard away, reaction time left out"
        yield text, percent(float(away.mean())), f"{int(away.sum()):,}"
    if again := int((counted["prior_exposures"] > 0).sum()):
        yield "Picture seen before in the session", percent(again / len(counted)), f"{again:,}"
    ms = counted["reaction_time_ms"].mask(away).dropna().to_numpy(np.float64)
    if ms.size:
        quick = int((ms < QUICK_MS).sum())
        yield f"Reaction times below {QUICK_MS:g} ms (kept)", percent(quick / ms.size), f"{quick:,}"


NO_RANKS = "There are none, because no image was seen with every method at the same mask."
ONE_METHOD = "There are none, because there is only one method."


def main_results(result: UnmaskingResults, overall: Overall) -> Iterator[tuple[str, str, str]]:
    """Of each result its name, what was found here and what the paper says (empty if that is
    ours alone); what has no values is left out."""
    makers: tuple[tuple[str, Callable[[UnmaskingResults, Overall], str], str], ...] = (
        ("Confidence", _confidence, "labels"),
        ("Reaction time", _times, "times"),
        ("Accuracy", _accuracy, "accuracy"),
        ("The model alone", _model, "model"),
        ("Ranks", _ranks, "ranks"),
        ("Algorithmic bias", _bias, "bias"),
        ("Thresholds (ours)", _thresholds, ""),
        ("Methods compared (ours)", _tests, ""),
    )
    for name, make, key in makers:
        if sentence := make(result, overall):
            yield name, sentence, paper.SAID.get(key, "")


def _confidence(result: UnmaskingResults, overall: Overall) -> str:
    counts = result.labels[result.labels["n"] > 0].sort_values("percent")
    if counts.empty:
        return ""
    ends = [
        f"{_interval(row, 'share')} of annotations at {row['percent']:g} % of the pixels"
        for row in (rows_of(counts)[0], rows_of(counts)[-1])
    ]
    text = f"A class was named in {ends[0]}" + (f", and in {ends[1]}." if len(counts) > 1 else ".")
    for row in rows_of(counts[counts["percent"] == paper.LABELS_AT]):
        text += f" At {row['percent']:g} %: {row['labels']:,} of {row['n']:,}."
    return (
        f"{text} Over all masks, {_format_ranking(result, overall.methods, 'labels', 'most with')}."
    )


def _times(result: UnmaskingResults, overall: Overall) -> str:
    means = overall.by_mask.dropna()
    if means.empty:
        return ""
    longest = max(rows_of(means), key=lambda row: row["ms"])
    text = (
        f"The mean is longest at {longest['percent']:g} % ({ms(longest['ms'])}, all methods)"
        if len(means) > 1
        else f"The mean is {ms(longest['ms'])} over all methods"
    )
    each = "; ".join(
        f"{result.group.methods[row['method']]} mean {_interval(row, 'ms', ms)}, median "
        f"{ms(row['median_ms'])}"
        for row in rows_of(overall.methods)
        if np.isfinite(row["ms"])
    )
    return f"{text}. Over all masks: {each}."


def _accuracy(result: UnmaskingResults, overall: Overall) -> str:
    if overall.methods.empty:
        return ""
    counted = _format_ranking(result, overall.methods, "accuracy", "highest with")
    left = _format_ranking(result, overall.methods, "of_labels")
    guess = f"{100 / len(result.group.classes):.3g} %"
    text = f"Over all masks, {counted}."
    if left:
        text += f" Without “I don't know” (ours; guessing reaches {guess}): {left}."
    return text


def _model(result: UnmaskingResults, _: Overall) -> str:
    if not result.group.has_model:
        return ""
    whole = result.whole[result.whole["n"] > 0]
    listed = "".join(
        f"On the whole images it is right on {round(row['share'] * row['n'])} of {row['n']:g} "
        f"({percent(row['share'])}). "
        for row in rows_of(whole)
    )
    means = result.model.dropna(subset=["share"]).groupby("method")["share"].mean()
    names = ", ".join(
        f"{result.group.methods[str(method)]} {percent(share)}"
        for method, share in means.sort_values(ascending=False, kind="stable").items()
    )
    return f"{listed}On the masked ones, mean over all masks: {names}."


def _ranks(result: UnmaskingResults, _: Overall) -> str:
    if len(result.group.methods) == 1:
        return ONE_METHOD
    sentences = []
    for who, name in ((PEOPLE, "people"), (MODEL, "the model")):
        own = result.ranks.overall
        own = own[(own["who"] == who) & own["rank"].notna()].sort_values("rank", kind="stable")
        if not own.empty:
            each = ", ".join(
                f"{result.group.methods[row['method']]} {_interval(row, 'rank', two_digits)}"
                for row in rows_of(own)
            )
            sentences.append(f"by {name} {each}")
    if not sentences:
        return NO_RANKS if result.group.participants else ""
    agreed = result.ranks.agreement
    agreed = agreed[(agreed["over"] == "units") & agreed["value"].notna()]
    between = "; ".join(
        f"{row['coefficient']} {_interval(row, 'value', two_digits)}" for row in rows_of(agreed)
    )
    more = f" Agreement of the two within an image and mask, on average: {between}." * bool(between)
    return f"Average ranks, 1 is best: {'; '.join(sentences)}.{more}"


def _bias(result: UnmaskingResults, overall: Overall) -> str:
    shares = result.bias.shares
    wrong = shares[(shares["wrong"] == WHOLE) & (shares["n"] > 0)]
    if wrong.empty:
        return ""
    text = (
        f"On {count(int(wrong['n_images'].max()), 'image')} the model is wrong. Its wrong "
        "prediction is "
        f"repeated {_format_ranking(result, overall.methods, 'repeated', 'most with')}, as a "
        "share of all annotations of these images, over all masks."
    )
    times = result.bias.times
    own = times[(times["wrong"] == WHOLE) & times["mean"].notna()]
    names = {AGREED: "it is repeated", OTHER: "another class is named"}
    each = ", ".join(
        f"{names[row['answer']]} in {_interval(row, 'mean', ms)} (median {ms(row['median'])}, "
        f"n = {row['n']:,})"
        for row in rows_of(own)
        if row["answer"] in names
    )
    return f"{text} On average {each}." if each else text


def _thresholds(result: UnmaskingResults, _: Overall) -> str:
    own = result.fits.pooled
    own = own[own["of"] == CORRECT].sort_values("threshold", kind="stable")
    each = ", ".join(
        f"{result.group.methods[row['method']]} {_interval(row, 'threshold', _of_pixels)}"
        for row in rows_of(own[own["why"] == ""])
    )
    without = "; ".join(
        f"{result.group.methods[row['method']]} ({row['why']})"
        for row in rows_of(own[own["why"] != ""])
    )
    text = (
        f"The function for naming the true class is half-way between its ends at {each} of the "
        "pixels."
        if each
        else ""
    )
    return f"{text} No threshold: {without}.".strip() if without else text


def _tests(result: UnmaskingResults, _: Overall) -> str:
    tested = [row for row in result.comparisons.friedman if row.p is not None]
    row = next(iter(select(tested, percent=None)), None)
    if row is None:
        return ""
    text = (
        "Accuracy of the participants over all masks, by method: Friedman's χ²"
        f"({row.df:g}) = {decimal(row.statistic or 0.0, 1)}, {p_value(row.p)} (n = {row.n})."
    )
    names = result.group.methods
    each = "; ".join(
        f"{names[pair.method]} minus {names[pair.compared_with]} "
        f"{decimal(100 * (pair.mean or 0.0), 1, sign=True)} points, {p_value(pair.p_corrected)}"
        for pair in select(result.comparisons.pairs, percent=None)
        if pair.p_corrected is not None
    )
    return f"{text} Pairs (Wilcoxon, Holm): {each}." if each else text


def p_value(p: float | None) -> str:
    """p < 0.001, or p = 0.012; a dash where there is none."""
    if p is None or not np.isfinite(p):
        return "–"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _format_ranking(
    result: UnmaskingResults, methods: pd.DataFrame, measure: str, most: str = ""
) -> str:
    """Methods by a measure, highest first: Guided backpropagation 63 % [60, 66]. most: said before
    the first of several."""
    known = methods[methods[measure].notna()].sort_values(measure, ascending=False, kind="stable")
    each = ", ".join(
        f"{result.group.methods[row['method']]} {_interval(row, measure)}" for row in rows_of(known)
    )
    return f"{most if len(known) > 1 else 'with'} {each}" if most else each


def _interval(row: Row, name: str, form: Callable[[float], str] = percent) -> str:
    """A value of a row with the ends of its interval."""
    shared = "" if name in ("share", "rank", "value") else f"{name}_"
    return with_interval(row[name], row[f"{shared}low"], row[f"{shared}high"], form)


def _of_pixels(value: float) -> str:
    return f"{decimal(value, 1)} %"


def results_shown(sentences: Iterable[tuple[str, str, str]]) -> Html:
    """What was found, beside what the paper says."""
    rows = [(name, unbroken(here), unbroken(result) or NONE) for name, here, result in sentences]
    return table(("Result", two_lines("Here", "in brackets: 95 % intervals"), "Paper"), rows)


def by_method(result: UnmaskingResults, means: Overall) -> Html:
    """One row per method, over all masks and images."""
    ranks = result.ranks.overall
    rows = []
    for row in rows_of(means.methods):
        own = {
            rank["who"]: with_interval(rank["rank"], rank["low"], rank["high"], two_digits)
            for rank in rows_of(ranks[ranks["method"] == row["method"]])
        }
        rows.append(
            (
                two_lines(result.group.methods[row["method"]], f"n = {row['n']:,}"),
                *(_ends(row, name) for name in ("labels", "accuracy", "of_labels")),
                two_lines(_value(row["ms"], ms), f"median {_value(row['median_ms'], ms)}"),
                own.get(PEOPLE, NONE),
                own.get(MODEL, NONE),
                _ends(row, "repeated"),
            )
        )
    return table(
        (
            "Method",
            two_lines("A class named", "% of annotations"),
            two_lines("Correct", "% of annotations"),
            two_lines("Correct", "% of labels"),
            two_lines("Reaction time", "mean"),
            two_lines("Rank, people", "1 = best"),
            two_lines("Rank, model", "1 = best"),
            two_lines("Wrong prediction repeated", "% where it is wrong"),
        ),
        rows,
        numeric=range(1, 8),
        caption="Over all masks and images; below each value, or in brackets, its 95 % "
        "interval. “Where it is wrong” means on the whole image.",
    )


def classes(result: UnmaskingResults) -> Html:
    """Table 1: how many images there are of each class."""
    rows = [
        (
            row["class"],
            NONE if row["n"] is None else f"{row['n']:,}",
            row["n_shown"],
            paper.IMAGES.get(row["class"], NONE),
        )
        for row in records(result.classes)
    ]
    return table(
        (
            "Class",
            two_lines("Chosen from", "images"),
            two_lines("Shown", "images"),
            two_lines("Paper", "images of CK+"),
        ),
        rows,
        numeric=(1, 2, 3),
        caption="Images by class, as in Biessmann and Refiano 2019, Table 1.",
    )


def model(result: UnmaskingResults) -> Html:
    """Table 2: how the model does on the images that these were chosen from."""
    rows = []
    for row in rows_of(result.report):
        printed = paper.MODEL.get(row["class"])
        cells: list[object] = [row["class"] or "average, weighted by support"]
        for name in ("precision", "recall", "f1"):
            beside = NONE if printed is None else f"{getattr(printed, name):.2f}"
            own = decimal(row[name], 2) if np.isfinite(row[name]) else NONE
            cells.append(two_lines(own, f"paper {beside}"))
        beside = NONE if printed is None else f"{printed.support}"
        rows.append([*cells, two_lines(f"{row['support']:,}", f"paper {beside}")])
    return table(
        ("Class", "Precision", "Recall", "F1", two_lines("Support", "images")),
        rows,
        numeric=range(1, 5),
        caption="The model on the images from which those of the study were chosen, as in "
        "Biessmann and Refiano 2019, Table 2. The paper's values are for another model and "
        "other images.",
    )


def _ends(row: Row, name: str) -> object:
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if not np.isfinite(value):
        return NONE
    if not np.isfinite(low):
        return decimal(100 * value, 1)
    return two_lines(
        decimal(100 * value, 1), f"{decimal(100 * low, 1)} to {decimal(100 * high, 1)}"
    )


def _value(value: float, form: Callable[[float], str]) -> str:
    return form(value) if np.isfinite(value) else NONE


@dataclass(frozen=True)
class Overall:
    """methods: one row per method: method, n (annotations), median_ms (reaction time), and of each
    measure its value, with its ends as labels_low and labels_high, and so on (95 %, bootstrap over
    participants). by_mask: the mean reaction time over all methods: percent, n, ms.

    The measures: labels, share of annotations that name a class; accuracy, that name the true one;
    of_labels, the same without "I don't know"; ms, mean reaction time; repeated, share equal to the
    prediction, of the annotations of images whose prediction is wrong on the whole picture.
    """

    methods: pd.DataFrame
    by_mask: pd.DataFrame


def overall(group: AnnotationGroup) -> Overall:
    """Without annotations both have no rows."""
    rows = group.annotations
    cells = AnnotationCells.of(group)
    wrong = ~truths(rows["correct_prediction"])
    known = np.isfinite(cells.ms)
    measures = {
        "labels": _ratio(cells, cells.label),
        "accuracy": _ratio(cells, cells.correct),
        "of_labels": _ratio(cells, cells.correct, cells.label),
        "ms": _ratio(cells, np.nan_to_num(cells.ms), known),
        "repeated": _ratio(cells, truths(rows["follows_prediction"]) & wrong, wrong),
    }
    times = pd.Series(cells.ms)
    by_method = times.groupby(rows["method"].to_numpy(), sort=False).median()
    frame = pd.DataFrame({"method": list(cells.methods)})
    frame["n"] = cells.counts.sum((0, 1, 3)).astype(np.int64)
    frame["median_ms"] = by_method.reindex(list(cells.methods)).to_numpy(np.float64)
    for name, values in measures.items():
        frame = frame.assign(**columns(values, name, f"{name}_low", f"{name}_high"))
    by_mask = times.groupby(rows["percent"].to_numpy(np.float64), sort=True).agg(["count", "mean"])
    by_mask = by_mask.rename_axis("percent").reset_index()
    return Overall(frame[frame["n"] > 0], by_mask.set_axis(["percent", "n", "ms"], axis=1))


def _ratio(cells: AnnotationCells, over: Float64 | Bool, of: Bool | None = None) -> Interval:
    """Sum over sum of a method's annotations, each with an interval; of: those that count."""
    under = np.ones(len(cells.ms), np.bool_) if of is None else of
    chosen = cells.sums(over, of=of), cells.sums(under)
    return ratio(cells.drawing, *(sums.sum((1, 3)) for sums in chosen))
