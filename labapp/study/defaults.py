"""What the published studies fix for each data set; a study file may say otherwise.

Source: paper 000, 4.3 (target, T, overlay, labels, displays) and A.2 (distances, targets); of the
circles A.4 and the published application.
"""

from __future__ import annotations

from dataclasses import dataclass

from labapp.representations.display import Display


@dataclass(frozen=True, slots=True)
class TaskDefaults:
    """distance: a name in representations.distance; target_alignment in 0..1; skip_after_s: T in
    seconds of active time."""

    distance: str
    target_alignment: float
    skip_after_s: float
    overlay_at_start: bool
    labels_editable: bool
    display: Display


DEFAULTS: dict[str, TaskDefaults] = {
    "sinelines": TaskDefaults("sinelines", 0.90, 30.0, True, False, "series"),
    "dsprites": TaskDefaults("dsprites", 0.90, 30.0, True, False, "image"),
    "mnist": TaskDefaults("mnist", 0.75, 45.0, False, True, "binary_image"),
    "circles": TaskDefaults("dsprites", 0.98, 30.0, False, False, "image"),
}


def for_model(model: str) -> TaskDefaults:
    """Defaults of a model id `<dataset>/<name>`; `mnist8k` and the like share their family's.

    Raises KeyError with the known data sets when there are none.
    """
    dataset = model.split("/", 1)[0]
    for name, defaults in DEFAULTS.items():
        if dataset == name or (dataset.startswith(name) and dataset[len(name) :][:1].isdigit()):
            return defaults
    raise KeyError(f"no task defaults for data set {dataset!r}; known: {', '.join(DEFAULTS)}")
