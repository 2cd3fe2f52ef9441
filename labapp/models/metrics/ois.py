"""OIS, the oracle impurity score: how well single codes predict concepts that they do not stand
for.

Paper 001, Definitions 3.1 and 3.2: how well each concept can be predicted from each code alone,
against how well it can be predicted from the other concepts themselves.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from numpy.typing import ArrayLike

from labapp.models.datasets.split import Float64
from labapp.models.metrics.alignment import check_enough, greedy
from labapp.models.metrics.concepts import (
    Concepts,
    Coordinates,
    RowDivision,
    concepts,
    divide_rows,
    in_coordinates,
)
from labapp.models.metrics.helper_networks import (
    BATCH,
    EPOCHS,
    HIDDEN,
    PUBLISHED_BATCH,
    predictability,
)
from labapp.models.metrics.inputs import SEEDS, Score, check_vectors, generator


def ois(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    align: bool | None = None,
    hidden: int = HIDDEN,
    epochs: int = EPOCHS,
    coordinates: Coordinates = "as given",
    maps: bool = False,
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """The oracle impurity score, lower is better: 0 for codes that tell of every concept just what
    the concept they stand for tells of it, 1 for codes that tell all others and not their own.

    The helper networks are trained briefly and on codes as they are, so that a score also says how
    easily a leak is read. Leaks that rise and fall with the code are read, too: a uniform code from
    -2 to 2 tells whether it lies beyond 1 on either side at an area of 1.0 (4,000 rows). Two codes
    2 c1 + c2 and 2 c2 + c1 tell both concepts outright, which makes 0.707 by the definition, and
    score 0.35 (4,000 rows; purity 0.75 in place of 1, also after ten times the steps); less 1.5,
    they score 0.74. Logits score higher than the probabilities made of them, which hold the same
    information. Compare different kinds of codes only in the same `coordinates`, and see with
    `epochs` whether a score still moves.

    A code that is honestly unsure of its concept for some inputs tells which inputs these are, and
    that counts as impurity. Where a concept cannot be seen in some inputs, look at `deviation`.

    Scores can be compared only
    between equal numbers of rows, and a code's unit and origin count: with a few hundred rows, or
    codes far from the size of 1, helpers have not learnt what there is to learn; below about 200
    rows they may not even tell a concept from itself. Chance keeps pure codes above 0: with 5
    concepts and 3,000 rows at 0.02 to 0.03, as published 0.05; more with fewer rows. An area under
    the ROC curve below 0.5 is kept, so that a score can exceed 1. The order and the sign of codes
    change the score within chance: they change which helper begins with which weights.

    Parameters
    ----------
    codes : real numbers, shape (n, C), or (n, C, d) for codes of d numbers each; at least as many
        codes as concepts. A code that takes one value only tells nothing: areas of 0.5.
    factors : the concepts: columns of classes, shape (n, K). With more than two classes, the area
        is the mean of those of each class against the others. See `concepts.concepts`.
    align : False: code j stands for concept j, and there are as many. True: codes learnt without
        concepts are aligned first, see `alignment`; codes that stand for none do not enter the
        score. None: aligned where there are more codes than concepts; where there are as many and
        alignment would lower the score by more than chance, a note says so.
    hidden : units of the helpers' hidden layer.
    epochs : how often helpers see the rows that they learn from: 25 in the paper (A.3).
    coordinates : "as given"; "standardised", each number of a code less its mean and over its SD;
        or "ranks", the same of its ranks, so that every map that keeps the order of rows leaves the
        score alone. Means, SDs and ranks are of all rows.
    maps : whether the d numbers of a code are a square map, row by row: its helpers are then small
        convolutions, as in the released code for the feature maps of concept whitening. Those of
        the oracle stay as they are.
    seed : of the division into 80 % training and 20 % test rows, of the helpers' initial weights
        and of the order of their rows; 0 to 2^32 - 1. Both matrices use the same: concepts of two
        classes, 0 and 1, that are given as their own codes score 0, once helpers have learnt them.
    as_published : as the released code behind paper 001: batches of 512 rows in place of 128, a
        division of the rows and initial weights for the oracle that are not those for the codes (so
        that concepts given as codes score above 0), and, where codes are aligned, no division by
        K / 2. It draws other random numbers than the released code.

    Returns
    -------
    Score with the parts
        purity : (C, K), the area under the ROC curve when concept j is predicted from code i.
        oracle : (K, K), the same from concept i; 1 on the diagonal by definition, not estimated.
        deviation : (K, K), the purity of the codes in the concepts' order less the oracle.
        alignment : (K,), the code of each concept, counted from 0.
        per_factor : (K,), 2 / sqrt(K) times the length of the concept's column of `deviation`.
        per_code : (C,), likewise of the code's row; NaN for a code that stands for no concept.
    The score is the root of the mean square of `per_factor`. With one concept, it is twice what
    the area misses to 1.

    Raises
    ------
    MetricError : see `inputs.check_vectors` and `concepts.concepts`; fewer codes than concepts,
        or more with align=False; no hidden unit or epoch; unknown
        coordinates; a seed outside its range; or a code beyond 1e15
        in size.
    """
    c, f = check_vectors(codes, factors)
    c = in_coordinates(c, coordinates)
    check_enough(c.shape[1], f.shape[1], exactly=align is False)
    targets = concepts(f)
    count = len(targets.classes)
    rng = generator(seed)
    batch = PUBLISHED_BATCH if as_published else BATCH
    division, begin = divide_rows(targets, rng), int(rng.integers(SEEDS))
    trained = partial(predictability, hidden=hidden, epochs=epochs, batch=batch)
    purity = trained(c, targets, division, maps=maps, seed=begin)
    if as_published:
        division, begin = divide_rows(targets, rng), int(rng.integers(SEEDS))
    labels = targets.labels[:, :, None].astype(np.float64)
    oracle = trained(labels, targets, division, seed=begin)
    np.fill_diagonal(oracle, 1.0)

    aligned = c.shape[1] > count if align is None else align
    order = greedy(purity) if aligned else np.arange(count)
    notes: tuple[str, ...] = ()
    if align is None and not aligned:
        notes = _other_order(purity, oracle, _chance(targets, division))
    deviation = purity[order] - oracle
    per_code = np.full(c.shape[1], np.nan)
    per_code[order] = np.linalg.norm(deviation, axis=1) * 2 / np.sqrt(count)
    norm = float(np.linalg.norm(deviation))
    return Score(
        metric="ois",
        score=norm if as_published and aligned else 2 * norm / count,
        parts={
            "purity": purity,
            "oracle": oracle,
            "deviation": deviation,
            "alignment": order.astype(np.float64),
            "per_factor": np.linalg.norm(deviation, axis=0) * 2 / np.sqrt(count),
            "per_code": per_code,
        },
        settings={
            "codes": "aligned greedily" if aligned else "in the order of the concepts",
            "oracle_draws": "its own" if as_published else "those for the codes",
            "hidden": hidden,
            "epochs": epochs,
            "coordinates": coordinates,
            **({"maps": maps} if maps else {}),
            "batch": batch,
            "seed": seed,
            "as_published": as_published,
            "rows": len(c),
            "torch": torch.__version__,
        },
        notes=notes,
    )


def _other_order(purity: Float64, oracle: Float64, chance: float) -> tuple[str, ...]:
    """What to say where the codes, taken in the order of the concepts, stand for others."""
    score, aligned = (
        2 * float(np.linalg.norm(purity[order] - oracle)) / len(oracle)
        for order in (np.arange(len(oracle)), greedy(purity))
    )
    if score - aligned <= chance:
        return ()
    note = "Codes were taken in the order of the concepts; aligned with them, the score is"
    return (f"{note} {aligned:.2f} (--set align=true).",)


def _chance(targets: Concepts, division: RowDivision) -> float:
    """By how much two scores may differ by chance alone: four times the SD of areas under ROC
    curves of codes that tell nothing (Mann and Whitney, 1947), of the rarest classes. A score is at
    most twice the root of the mean square of such areas' deviations."""
    variances = []
    for labels in targets.labels[division.test].T:
        least = np.unique(labels, return_counts=True)[1].min()
        rows = len(labels)
        variances.append((rows + 1) / (12 * least * (rows - least)))
    return 4 * float(np.sqrt(np.mean(variances)))
