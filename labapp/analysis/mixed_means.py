"""A linear mixed model of one value a participant and condition (ours), as statsmodels fits it.

Value on condition with a random intercept of participants, by restricted maximum likelihood; unlike
the analysis of variance it takes in participants who lack a condition.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import stats

from labapp.analysis.inference import FEW, SAME, Outcome, varies
from labapp.analysis.variance import FEW_CONDITIONS, Matrix

Places = np.ndarray[tuple[int, ...], np.dtype[np.intp]]

MIXED = "linear mixed model, Wald chi-square"
FAILED = "the fit did not converge"
NO_VARIANCE = "the variance between participants is estimated as 0"
MOST = 2000
"""The time of a fit grows with the participants: some two seconds for so many."""
MANY = f"there are more than {MOST:,} participants"
SMALL = 1e-8
"""Share of the residual variance below which that between participants is called 0."""


def mixed(values: Matrix) -> Outcome:
    """Wald's chi-square of the conditions; values: shape (participants, conditions), NaN where a
    participant lacks a condition. `why` tells of a fit that did not converge, and of a variance
    between participants that is 0."""
    values = values[:, np.isfinite(values).any(axis=0)]
    person, condition = np.nonzero(np.isfinite(values))
    own = values[person, condition]
    people, k = np.unique(person).size, values.shape[1]
    if k < 2 or own.size <= people + k:
        return Outcome(MIXED, why=FEW_CONDITIONS if k < 2 else FEW)
    if people > MOST:
        return Outcome(MIXED, why=MANY)
    means = np.bincount(condition, own) / np.bincount(condition)
    if not varies(own - means[condition]):
        return Outcome(MIXED, why=SAME)
    return _fitted(own, condition, person, k)


def _fitted(
    own: Matrix,
    condition: Places,
    person: Places,
    k: int,
) -> Outcome:
    from statsmodels.regression.mixed_linear_model import MixedLM

    # In standard deviations: the search stops by absolute steps, and the test is of no unit.
    level = (own - own.mean()) / own.std()
    fixed = np.column_stack([np.ones(own.size), *(condition == at for at in range(1, k))])
    with warnings.catch_warnings():
        # On its way the search warns of what is asked below.
        warnings.simplefilter("ignore")
        try:
            fit = MixedLM(level, fixed.astype(np.float64), groups=person).fit(reml=True)
            effects = np.asarray(fit.fe_params)[1:]
            spread = np.asarray(fit.cov_params())[1:k, 1:k]
            chi_square = float(effects @ np.linalg.solve(spread, effects))
        except (np.linalg.LinAlgError, ValueError):
            return Outcome(MIXED, why=FAILED)
    if not fit.converged or not np.isfinite(chi_square):
        return Outcome(MIXED, why=FAILED)
    between = float(np.asarray(fit.cov_re).item())
    remark = NO_VARIANCE if between < SMALL * float(fit.scale) else ""
    p = float(stats.chi2.sf(chi_square, k - 1))
    return Outcome(MIXED, chi_square, k - 1, p, why=remark)
