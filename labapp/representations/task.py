"""What a model's card says of the tasks that it is used in; a study file may say otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from labapp.documents import Strict
from labapp.representations.display import Chart, Display
from labapp.representations.distance import DistanceName

if TYPE_CHECKING:
    from labapp.representations.card import ModelCard


class Task(Strict):
    """How reconstruction with a model goes where the study does not say.

    Attributes
    ----------
    distance : how pictures are compared, by its name, see `labapp.representations.distance`.
    target_alignment : how alike they must be for a question to be solved, 0 to 1.
    skip_after_s : seconds of active time after which a question can be skipped.
    overlay_at_start : whether the two pictures lie over one another at first.
    labels_editable : whether participants name the dials.
    """

    distance: DistanceName
    target_alignment: float = Field(gt=0, le=1)
    skip_after_s: float = Field(gt=0, le=3600)
    overlay_at_start: bool = False
    labels_editable: bool = False


def _published(distance: str, target: float, seconds: float, overlay: bool, labels: bool) -> Task:
    return Task(
        distance=distance,
        target_alignment=target,
        skip_after_s=seconds,
        overlay_at_start=overlay,
        labels_editable=labels,
    )


PUBLISHED = {
    "sinelines": _published("sinelines", 0.90, 30.0, True, False),
    "dsprites": _published("dsprites", 0.90, 30.0, True, False),
    "mnist": _published("mnist", 0.75, 45.0, False, True),
    "circles": _published("dsprites", 0.98, 30.0, False, False),
}
"""What the published studies fix for each data set (paper 000, 4.3, A.2 and A.4, and the published
application). It stands on the cards that are made here, and fills those of older packages, which
say nothing of tasks."""
SHOWN_ROUNDED = frozenset({"mnist"})
"""Data sets whose pictures the published studies show in black and white."""


class InTasks(NamedTuple):
    """What tasks follow of a model. task: None where neither its card nor the table says it;
    chart: of a series whose chart is not the published one."""

    display: Display
    task: Task | None
    chart: Chart | None = None


def in_tasks(card: ModelCard) -> InTasks:
    """What a card says; one of an older package as the published study with its data set."""
    if card.task is not None or card.dataset not in PUBLISHED:
        return InTasks(card.display, card.task, card.chart)
    return InTasks(published_display(card.dataset, card.display), PUBLISHED[card.dataset])


def published_display(dataset: str, display: Display) -> Display:
    """How the published studies show pictures of a data set that are drawn like this."""
    return "binary_image" if dataset in SHOWN_ROUNDED and display == "image" else display
