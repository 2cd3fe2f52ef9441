"""Answers that replicate a wrong prediction of the model (paper 004, section 4.4, figure 9).

Only images of which the prediction is wrong are looked at. The paper does not say whether that is
the prediction for the whole image or for the masked one: the first is what is explained, and our
default; the second is a second panel.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from labapp.analysis.bootstrap import Float64, divided, drawn, interval
from labapp.tasks.unmasking.report.cells import Bool, Cells, truths
from labapp.tasks.unmasking.report.curves import by_mask, columns, of_times
from labapp.tasks.unmasking.report.results import AGREED, DONT_KNOW, MASKED, OTHER, WHOLE, Bias

_COLUMNS = {
    WHOLE: ("correct_prediction", "follows_prediction"),
    MASKED: ("correct_prediction_masked", "follows_prediction_masked"),
}


def bias(cells: Cells) -> Bias:
    """Figure 9; see `Bias`."""
    shares, times = [], []
    for wrong, (correct, follows) in _COLUMNS.items():
        right = cells.rows[correct]
        of_wrong = right.notna().to_numpy(np.bool_) & ~truths(right)
        agreed = truths(cells.rows[follows])
        shares.append(_shares(cells, wrong, of_wrong, agreed))
        times.append(_times(cells, wrong, of_wrong, agreed))
    return Bias(pd.concat(shares, ignore_index=True), pd.concat(times, ignore_index=True))


def _shares(cells: Cells, wrong: str, of_wrong: Bool, agreed: Bool) -> pd.DataFrame:
    """The share of each image, then their mean, so that all images weigh alike."""
    over, under = cells.sums(agreed, of=of_wrong), cells.sums(np.ones(len(agreed)), of=of_wrong)
    value = _mean_of_images(over.sum(axis=0)[None], under.sum(axis=0)[None])[0]
    draws = _mean_of_images(drawn(cells.drawing, over), drawn(cells.drawing, under))
    frame = by_mask(cells.percents, cells.methods)
    frame.insert(0, "wrong", wrong)
    frame["n_images"] = (under.sum(axis=0) > 0).sum(axis=0).ravel()
    frame["n"] = under.sum(axis=(0, 1)).ravel().astype(np.int64)
    return frame.assign(**columns(interval(value, draws), "share", "low", "high"))


def _mean_of_images(over: Float64, under: Float64) -> Float64:
    """over, under : shape (draws, images, methods, masks)."""
    shares = divided(over, under)
    known = np.isfinite(shares).sum(axis=1).astype(np.float64)
    return divided(np.nan_to_num(shares).sum(axis=1), known)


def _times(cells: Cells, wrong: str, of_wrong: Bool, agreed: Bool) -> pd.DataFrame:
    answers = {
        AGREED: agreed,
        OTHER: cells.label & ~agreed,
        DONT_KNOW: ~cells.label,
    }
    frame = pd.DataFrame({"wrong": wrong, "answer": list(answers)})
    return pd.concat(
        [frame, of_times(cells, [of_wrong & answer for answer in answers.values()])], axis=1
    )
