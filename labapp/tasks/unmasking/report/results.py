"""What one group of sessions of the unmasking study says, as frames (paper 004, section 4).

Each frame is named for what the paper shows it in. Shares are from 0 to 1, times in ms, masks in
percent of the pixels shown, methods by their ids (`Group.methods` has their names). `low` and
`high` are the ends of a 95 % interval. Of what people do it is a percentile bootstrap over
participants, each of whom is drawn with all that they did; of what the model does it is over
images, since no participant was asked. They are NaN if nothing can be resampled: of a single
participant or image. Where a number has no value, it is NaN too and its n is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from labapp.analysis.statistic import Statistic
from labapp.models.stimuli.manifest import Confusion

if TYPE_CHECKING:
    from labapp.base.report.drawing import ReportFigure

PEOPLE, MODEL = "people", "model"
"""Who ranks the methods."""
WHOLE, MASKED = "whole", "masked"
"""On which picture the model's prediction is wrong."""
AGREED, OTHER, DONT_KNOW = "agreed", "other label", "don't know"
"""Answers to a picture of which the model's prediction is wrong: that prediction, another class,
or "I don't know"."""
LABEL, CORRECT = "label", "correct"
"""What a psychometric function is of: any label, or the true one, of all annotations."""


@dataclass(frozen=True)
class AnnotationGroup:
    """The annotations of one study with one stimulus set, masked in one way, that count.

    name: the study, and what else tells this group from others of it. stimuli, manifest_sha256:
    the set; grid: rows and columns of the scores. classes: ids; methods: id -> name, in the order
    of the set; percents: ascending. accuracy: the model's on its test photos, in percent; pool: how
    it does on all photos the images were chosen from. annotations: rows of that table that count,
    of participants that count; every_annotation: those and what does not count (practice, attempts
    that were broken off). predictions: rows of the table of masked predictions, of this group's
    images; without model outputs their columns of the masked picture are empty.
    """

    study: str
    name: str
    stimuli: str
    manifest_sha256: str
    classifier: str | None
    accuracy: float
    classes: tuple[str, ...]
    methods: Mapping[str, str]
    percents: tuple[float, ...]
    fill: str
    sign: str
    grid: tuple[int, int]
    pool: tuple[Confusion, ...]
    annotations: pd.DataFrame
    every_annotation: pd.DataFrame
    predictions: pd.DataFrame

    @property
    def participants(self) -> int:
        """How many gave an annotation that counts."""
        return int(self.annotations["participant"].nunique())

    @property
    def images(self) -> tuple[str, ...]:
        """Ids of the images that were annotated or predicted."""
        return tuple(sorted({*self.annotations["image"], *self.predictions["image"]}))

    @property
    def has_model(self) -> bool:
        """Whether there are outputs of the model on masked pictures."""
        return bool(self.predictions["prediction_masked"].notna().any())


@dataclass(frozen=True)
class Ranks:
    """Figure 8. Rank 1 is best: the highest mean accuracy of people, the least cross-entropy of the
    model; ties have the average of their ranks. Units are image x mask; ranks are averaged over
    images (and masks, in `overall`). Intervals of what people do are ± 1.96 standard deviations of
    the bootstrap draws here, whose percentiles are drawn to the middle rank.

    overall: who (people, model), method, n (units), rank, low, high.
    by_mask: the same with percent; n is images.
    agreement: of the two rankings over the methods: over (overall: of the average ranks; units:
    mean of the coefficient within each unit), coefficient (Kendall's tau-b, Spearman's rho), n,
    value, low, high, why (it has no value; else empty).
    """

    overall: pd.DataFrame
    by_mask: pd.DataFrame
    agreement: pd.DataFrame


@dataclass(frozen=True)
class Bias:
    """Figure 9: answers to images of which the model's prediction is wrong, on the whole picture
    (`whole`, the prediction that is explained: the default), or on the masked one (`masked`).

    shares: wrong (whole, masked), method, percent, n_images, n (annotations), share (equal to the
    wrong prediction, mean over images), low, high.
    times: wrong, answer (agreed, other label, don't know), n, mean, mean_low, mean_high, median,
    median_low, median_high: reaction times in ms.
    """

    shares: pd.DataFrame
    times: pd.DataFrame


@dataclass(frozen=True)
class Fits:
    """Psychometric functions (ours). The share of annotations that are a label (`label`), or the
    true one (`correct`), of all annotations is

        guess + (1 - guess - lapse) / (1 + exp(-slope * (log(percent) - log(threshold))))

    with natural logarithms: threshold is the percentage half-way between the two ends.

    pooled: of (label, correct), method, n (annotations), n_participants, threshold, threshold_low,
    threshold_high, slope, slope_low, slope_high, guess, lapse, log_likelihood, why (there is no
    fit, or its threshold means nothing: the share does not grow by more than chance, the threshold
    lies outside the masks or is not settled; else empty).
    own: of each participant, with the guess and lapse of the pooled fit: of, method, participant,
    n, threshold, slope, why.
    """

    pooled: pd.DataFrame
    own: pd.DataFrame


@dataclass(frozen=True)
class MethodComparisons:
    """Tests between methods (ours), of each participant's accuracy with "I don't know" counted.

    friedman, pairs: rows of the table of statistics, by mask (`percent`; those of all masks
    together have none); of pairs `mean` is that of the differences of shares.
    mixed: effect, n (annotations), estimate (log odds), sd, low, high; empty if it was not
    fitted, and then mixed_why says why.

    Holm's correction is over all masks (friedman) and over all masks and pairs (pairs); those over
    all masks together are a family of their own.
    """

    friedman: Sequence[Statistic]
    pairs: Sequence[Statistic]
    mixed: pd.DataFrame
    mixed_why: str


@dataclass(frozen=True)
class UnmaskingResults:
    """All results of a group.

    labels (Figure 3): percent, labels, dont_know, n, share (of labels), low, high.
    labels_by_method (Figure 4): method and the same.
    times (Figure 5): method, percent, n, mean, mean_low, mean_high, median, median_low,
    median_high: reaction times in ms, but of trials in which the keyboard was away.
    accuracy (Figure 6): method, percent, n, share, low, high ("I don't know" is not correct), and
    n_labels, share_of_labels, labels_low, labels_high (it is left out).
    model (Figure 7): method, percent, n (images), share, low, high, cross_entropy (nats, mean).
    whole (beside Figure 7): one row: n (images), share: the model on the whole pictures.
    classes (Table 1): class, n (photos of the pool), n_shown (images of the study).
    report (Table 2): class, precision, recall, f1, support; last the average weighted by support,
    whose class is empty. Empty without a pool.
    """

    group: AnnotationGroup
    labels: pd.DataFrame
    labels_by_method: pd.DataFrame
    times: pd.DataFrame
    accuracy: pd.DataFrame
    model: pd.DataFrame
    whole: pd.DataFrame
    ranks: Ranks
    bias: Bias
    classes: pd.DataFrame
    report: pd.DataFrame
    fits: Fits
    comparisons: MethodComparisons

    @cached_property
    def drawn(self) -> Sequence[ReportFigure]:
        """The figures, drawn once for the page and the files. matplotlib is loaded here."""
        from labapp.tasks.unmasking.report.figures import plates

        return plates(self)
