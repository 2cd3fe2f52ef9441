"""The mixed logistic model of annotations against statsmodels' design, made from a formula."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

from labapp.analysis.bootstrap import NORMAL
from labapp.tasks.unmasking.report import contents as of_mixed
from labapp.tasks.unmasking.report.contents import INTERCEPT, LOG_PERCENT, mixed
from tests.helpers.observers import World, annotated, cells_of, observed, tables_with


def test_effects_are_those_of_statsmodels_formula() -> None:
    """Its estimates are modes under priors that draw effects to 0: ours are a little larger."""
    tables = observed(12, World(images=6))
    effects, why = mixed(cells_of(tables))
    assert why == ""
    rows = pd.DataFrame(
        {
            "correct": tables.annotations["correct"].astype(float),
            "method": tables.annotations["method"].astype(str),
            "participant": tables.annotations["participant"].astype(str),
            "image": tables.annotations["image"].astype(str),
        }
    )
    x = np.log(tables.annotations["percent"].to_numpy(float))
    rows["x"] = x - np.log(np.unique(tables.annotations["percent"])).mean()
    random = {"participant": "0 + C(participant)", "image": "0 + C(image)"}
    model = BinomialBayesMixedGLM.from_formula("correct ~ method + x", random, rows)
    # From a place of its own that leads to the mode that holds the most: not every one does.
    precise = {"ftol": 1e-14, "gtol": 1e-7, "maxiter": 10_000, "maxfun": 100_000}
    theirs = model.fit_map(method="L-BFGS-B", minim_opts=precise, rng=5)
    assert effects["effect"].tolist() == [INTERCEPT, "guided_backprop", "lrp", LOG_PERCENT]
    assert effects["estimate"].to_numpy() == pytest.approx(theirs.fe_mean, abs=0.035)
    assert (effects["estimate"].abs() > np.abs(theirs.fe_mean)).tolist()[1:] == [True] * 3
    assert effects["sd"].to_numpy()[1:] == pytest.approx(theirs.fe_sd[1:], rel=0.02)
    assert (effects["n"] == 12 * 6 * 30).all()
    ends = effects["estimate"] + NORMAL * effects["sd"]
    assert effects["high"].to_numpy() == pytest.approx(ends.to_numpy())


def test_the_better_method_has_the_greater_odds() -> None:
    effects = mixed(cells_of(observed(12)))[0].set_index("effect")
    assert effects.loc["guided_backprop", "low"] > 0
    assert effects.loc["guided_backprop", "estimate"] > effects.loc["lrp", "estimate"]
    assert effects.loc[LOG_PERCENT, "low"] > 0


def test_the_same_annotations_have_the_same_numbers_to_the_last_digit() -> None:
    cells = cells_of(observed(4, World(images=4)))
    pd.testing.assert_frame_equal(mixed(cells)[0], mixed(cells)[0], check_exact=True)


def test_why_it_is_not_fitted() -> None:
    for tables in (observed(0), observed(1), observed(3, World(images=1))):
        found, why = mixed(cells_of(tables))
        assert found.empty
        assert why == of_mixed.FEW
    world = World(images=2)
    right = [annotated(one, who, one["truth"]) for who in ("P1", "P2") for one in world.rows()]
    assert mixed(cells_of(tables_with(world, right)))[1] == of_mixed.FLAT
