"""What the published psychophysics study found (paper 004), to stand beside our numbers.

Source: sections 3.1, 3.2, 3.5 and 4, Tables 1 and 2, captions of Figures 3 to 9. Only what is
printed as a number or said in words: nothing is read off the figures.
"""

from __future__ import annotations

from dataclasses import dataclass

PAPER = "Biessmann and Refiano 2019"
"""The study by its authors and year."""
NOT_OURS = (
    f"The paper is {PAPER}, “A psychophysics approach for quantitative comparison of "
    "interpretable computer vision models”. Its values come from other faces, another model and "
    "62 online participants. They are for orientation only; the results here need not match them."
)
LABELS_AT = 6.0
"""The mask, in percent shown, of which the counts are printed (caption of Figure 3)."""
LABELS, DONT_KNOW = 663, 1197
"""Annotations at that mask, over all methods."""
IMAGES = {
    "anger": 45,
    "contempt": 18,
    "disgust": 59,
    "fear": 25,
    "happiness": 69,
    "sadness": 28,
    "surprise": 83,
}
"""Images by class of the extended Cohn-Kanade data set (Table 1); anger and happiness were used."""


@dataclass(frozen=True, slots=True)
class ClassReport:
    """A row of Table 2: of held-out images, shares from 0 to 1."""

    precision: float
    recall: float
    f1: float
    support: int


MODEL = {
    "anger": ClassReport(0.48, 0.47, 0.47, 45),
    "happiness": ClassReport(0.66, 0.67, 0.66, 69),
    "": ClassReport(0.59, 0.59, 0.59, 114),
}
"""Table 2 by class; the empty one is the average over all images. Its recall is the accuracy."""
SAID = {
    "labels": (
        "663 of 1,860 annotations (36 %) named a class at 6 %, all of them at 60 %; most with "
        "Guided BackProp, fewest with Gradient"
    ),
    "times": "longest around 15 %, shorter as more is shown",
    "accuracy": (
        "as low as 20 % at the smallest masks, reliable above 45 %; Guided BackProp best, LRP "
        "second, Gradient worst"
    ),
    "model": "no clear ranking of the methods; best around 30 %; 59 % on the whole images",
    "ranks": (
        "people: Guided BackProp best, Gradient worst, at most masks; model: no clear ranking"
    ),
    "bias": "highest with Guided BackProp from 6 to 19 %",
}
"""What it says of each of our findings, in our words."""
