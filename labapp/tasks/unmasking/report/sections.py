"""The report's sections on the unmasking study (paper 004)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from labapp.analysis.task_records import Row
from labapp.report.formats import count, decimal
from labapp.report.listing import NONE
from labapp.report.page import Html, heading, paragraph, table, two_lines
from labapp.tasks.unmasking.report import published as paper
from labapp.tasks.unmasking.report import tables_shown as shown
from labapp.tasks.unmasking.report.cells import truths
from labapp.tasks.unmasking.report.overall import overall
from labapp.tasks.unmasking.report.results import CORRECT, LABEL, Comparisons, Found, Group
from labapp.tasks.unmasking.report.sentences import main_results, p_value
from labapp.tasks.unmasking.report.words import (
    images,
    labelled,
    of_people,
    one_digit,
    percent,
    rows_of,
    two_digits,
    unbroken,
    with_interval,
)

FILLS = {
    "mean": "the mean of the set's pictures",
    "black": "black",
    "grey": "middle grey",
    "white": "white",
}
SIGNS = {"signed": "by their scores", "absolute": "by the absolute values of their scores"}
NO_MODEL = (
    "There are no outputs of the model on the masked images: its accuracy there, its ranks and the "
    "bias on masked images are missing. They are computed when a session is planned, where the "
    "model of the stimulus set is at hand."
)
ALONE = (
    "One participant: there are no intervals over participants and no tests between methods. What "
    "is drawn is of this person alone."
)
METHODS = (
    "Intervals are percentile bootstraps of 2,000 draws with a fixed seed: participants are drawn "
    "with all their annotations, and for the model alone images are; the interval of an average "
    "rank by people is ± 1.96 standard deviations of the draws, for percentiles lie nearer to the "
    "middle rank. Reaction times run from the first painted frame of the stimulus to the input "
    "event's own time stamp; none is trimmed or transformed. Left out are those of trials during "
    "which the participant's keyboard was away (with the moderator, or with another program); "
    "their answers count. A press whose time stamp lies before that frame was meant for the "
    "stimulus before and is no response. A stimulus that a pause or an interruption broke off was "
    "shown again; only the attempt that was answered counts. The example counts nowhere."
)


def of_study(study: str, results: Sequence[Found], anchor: str) -> Iterator[Html]:
    """Everything about the unmasked images of one study; nothing where it has none. anchor: prefix
    of the page's ids."""
    own = [result for result in results if result.group.study == study]
    for number, item in enumerate(own, start=1):
        name = item.group.name.removeprefix(study).lstrip(", ")
        yield heading(3, f"Unmasked images: {name}" if name else "Unmasked images")
        yield from _of(item, f"{anchor}-u{number}")


def _of(result: Found, anchor: str) -> Iterator[Html]:
    group = result.group
    yield paragraph(unbroken(told(group)))
    if group.participants == 0:
        yield paragraph("No annotation counts, so there is nothing of people here.", "note")
    if group.participants == 1:
        yield paragraph(ALONE, "note")
    if not group.has_model:
        yield paragraph(NO_MODEL, "note")
    means = overall(group)
    if results := list(main_results(result, means)):
        yield shown.results(results)
        yield paragraph(paper.NOT_OURS, "quiet")
    if not means.methods.empty:
        yield shown.by_method(result, means)
    yield from _plates(result, anchor)
    yield from _compared(result)
    yield heading(3, "The model and its images")
    yield shown.classes(result)
    yield (
        shown.model(result)
        if len(result.report)
        else paragraph(
            "The stimulus set does not say how the model does on the images that these are from.",
            "quiet",
        )
    )
    yield heading(3, "Timing of stimuli and responses")
    yield from timing(group)
    yield paragraph(METHODS, "quiet")


def told(group: Group) -> str:
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
        f"{group.manifest_sha256[:12]}…): {images(len(shown_images))} of "
        f"{count(len(group.classes), 'class').replace('classs', 'classes')} "
        f"({', '.join(group.classes)}), with {count(len(group.methods), 'method')} ({names}) and "
        f"{count(len(group.percents), 'mask')} that show {percents} % of {rows} × {columns} "
        f"pixels. Pixels are ranked {SIGNS[group.sign]}; the others become {FILLS[group.fill]}. "
        f"The model ({model}accuracy {group.accuracy:g} % on its test images) is wrong about "
        f"{wrong} of the {len(shown_images)}."
    )


def _plates(result: Found, anchor: str) -> Iterator[Html]:
    for plate in result.drawn:
        yield heading(3, plate.label)
        yield plate.html(anchor)


def _compared(result: Found) -> Iterator[Html]:
    """The tests between methods, which the paper has none of."""
    compared = result.comparisons
    if len(result.fits.pooled):
        yield heading(3, "Psychometric functions, fitted (ours)")
        yield fits(result)
    if not len(compared.friedman):
        return
    yield heading(3, "Methods compared (ours)")
    if compared.friedman["p"].notna().any() or compared.pairs["p"].notna().any():
        yield tests(result)
    else:
        # Said once, not at every mask and pair.
        yield paragraph(f"No tests: {' and '.join(_reasons(compared))}.", "quiet")
    yield (
        mixed(result)
        if len(compared.mixed)
        else paragraph(f"No mixed logistic model: {compared.mixed_why}.", "quiet")
    )


def _reasons(compared: Comparisons) -> list[str]:
    """Why there are no tests, each reason once."""
    whys = [*compared.friedman["why"], *compared.pairs["why"]]
    return list(dict.fromkeys(str(why) for why in whys if why)) or ["there are no values"]


OF = {LABEL: "a class is named", CORRECT: "the true class is named"}
RATES = ("guess", "lapse")


def fits(result: Found) -> Html:
    """The parameters of the psychometric functions."""
    rows = []
    for row in rows_of(result.fits.pooled):
        ends = {
            name: with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"], form)
            for name, form in (("threshold", one_digit), ("slope", two_digits))
        }
        rates = [decimal(row[name], 3) if np.isfinite(row[name]) else NONE for name in RATES]
        name = two_lines(result.group.methods[row["method"]], OF[row["of"]])
        rows.append(
            [name, f"{row['n']:,}", ends["threshold"], ends["slope"], *rates, row["why"] or NONE]
        )
    names = (
        "Method",
        two_lines("Annotations", "n"),
        two_lines("Threshold", "% of pixels"),
        two_lines("Slope", "a unit of log %"),
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


def tests(result: Found) -> Html:
    """Friedman's test by mask, and each pair of methods by Wilcoxon's."""
    compared = result.comparisons
    pairs = list(dict.fromkeys(zip(compared.pairs["method"], compared.pairs["other"], strict=True)))
    by_pair = {
        (_mask(row["percent"]), row["method"], row["other"]): row for row in rows_of(compared.pairs)
    }
    rows = []
    for row in rows_of(compared.friedman):
        known = np.isfinite(row["p"])
        printed: object = NONE
        if known:
            chi = f"χ²({row['df']:g}) = {decimal(row['statistic'], 1)}"
            printed = two_lines(chi, p_value(row["p_holm"]))
        elif row["why"]:
            printed = two_lines(NONE, row["why"])
        cells: list[object] = [_mask(row["percent"]), row["n"], printed]
        cells += [_pair(by_pair.get((_mask(row["percent"]), *pair))) for pair in pairs]
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
        "difference in points, and p of Wilcoxon's signed rank test by Holm; * p < 0.05, never of "
        "fewer than five participants. Holm's correction is over all masks, and pairs; all masks "
        "together are a family of their own.",
    )


def mixed(result: Found) -> Html:
    """The mixed logistic model."""
    rows = [
        (
            _effect(result, row["effect"]),
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
        caption="Mixed logistic model of correct annotations (“I don't know” is not correct), with "
        "random intercepts of participants and of images. sd: standard error. "
        "Annotations of a sequence are taken as independent beyond that, so that these intervals "
        "are narrow.",
    )


def _effect(result: Found, name: str) -> str:
    methods = result.group.methods
    return f"{methods[name]}, against {next(iter(methods.values()))}" if name in methods else name


def _pair(row: Row | None) -> object:
    if row is None or not np.isfinite(row["mean_difference"]):
        return NONE
    text = decimal(100 * row["mean_difference"], 1, sign=True)
    if not np.isfinite(row["p_holm"]):
        return two_lines(text, row["why"] or NONE)
    return two_lines(text, f"{p_value(row['p_holm'])}{'*' if row['significant'] else ''}")


def _mask(value: float) -> str:
    return f"{value:g} %" if np.isfinite(value) else "all masks"


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


def timing(group: Group) -> Iterator[Html]:
    """A table of what is known of the times, and of what was broken off."""
    rows = list(_rows(group))
    if rows:
        yield table(("What", "Value", "n"), rows, numeric=(2,))
    yield paragraph(_left_out(group), "quiet")


def _rows(group: Group) -> Iterator[tuple[object, object, object]]:
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
        yield "From when it was due to its first painted frame", text, f"{late.size:,}"
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


def _left_out(group: Group) -> str:
    every = group.every_annotation
    text = f"{labelled(len(group.annotations))} count."
    reasons = every.loc[every["excluded"], "excluded_because"].value_counts()
    if reasons.empty:
        return f"{text} None was left out."
    each = ", ".join(f"{n:,} {reason}" for reason, n in reasons.items())
    return f"{text} Attempts that do not count: {each}."
