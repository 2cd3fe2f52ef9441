"""The report's sections on the unmasking study (paper 004)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labapp.report.formats import count
from labapp.report.page import Html, heading, paragraph
from labapp.tasks.unmasking.report import published as paper
from labapp.tasks.unmasking.report import tables_ours as ours
from labapp.tasks.unmasking.report import tables_shown as shown
from labapp.tasks.unmasking.report.overall import overall
from labapp.tasks.unmasking.report.results import Comparisons, Found, Group
from labapp.tasks.unmasking.report.sentences import main_results
from labapp.tasks.unmasking.report.timing import timing
from labapp.tasks.unmasking.report.words import images, of_people, unbroken

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
        yield ours.fits(result)
    if not len(compared.friedman):
        return
    yield heading(3, "Methods compared (ours)")
    if compared.friedman["p"].notna().any() or compared.pairs["p"].notna().any():
        yield ours.tests(result)
    else:
        # Said once, not at every mask and pair.
        yield paragraph(f"No tests: {' and '.join(_reasons(compared))}.", "quiet")
    yield (
        ours.mixed(result)
        if len(compared.mixed)
        else paragraph(f"No mixed logistic model: {compared.mixed_why}.", "quiet")
    )


def _reasons(compared: Comparisons) -> list[str]:
    """Why there are no tests, each reason once."""
    whys = [*compared.friedman["why"], *compared.pairs["why"]]
    return list(dict.fromkeys(str(why) for why in whys if why)) or ["there are no values"]
