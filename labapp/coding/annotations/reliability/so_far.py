"""How far raters agree while they still learn a codebook: of one session, in the training round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labapp.coding.agreement.coefficients import CohenKappa, alpha_for, masi_alpha, unit_alpha
from labapp.coding.agreement.measure import Coefficient, coefficient
from labapp.coding.annotations.codebook import Codebook, Tier
from labapp.coding.annotations.model import Mark, SessionAnnotations
from labapp.coding.annotations.reliability.gathering import (
    CodedSession,
    Coding,
    TierCoding,
    unit_table,
)
from labapp.coding.annotations.reliability.results import codes_of, continua, shared_stretches


@dataclass(frozen=True, slots=True)
class SoFar:
    """The agreement on a tier so far.

    Attributes
    ----------
    tier : the tier.
    raters : who coded it.
    result : kappa of two raters or alpha of more, alpha with MASI distance where a unit may have
        several codes, nominal u-alpha of spans; without an interval, for there is one session.
    """

    tier: Tier
    raters: tuple[str, ...]
    result: Coefficient


def agreement_so_far(
    annotations: SessionAnnotations, codebook: Codebook, marks: Mapping[str, Sequence[Mark]]
) -> tuple[SoFar, ...]:
    """Compare raters on what each of them has reached.

    Parameters
    ----------
    marks : by rater those of the training round. What lies behind a rater's last mark on a tier is
        not yet coded, and not compared.

    Returns
    -------
    By tier; nothing of tiers that fewer than two raters have begun, nor of spans that may overlap,
    for which there is no single figure.
    """
    own = {
        rater: tuple(mark for mark in given if mark.codebook == codebook.sha256)
        for rater, given in sorted(marks.items())
    }
    end = max((mark.t1_ns for given in own.values() for mark in given), default=0) + 1
    session = CodedSession("", "", annotations, 0, end)
    results = []
    for tier in codebook.tiers:
        given = {
            rater: of_tier
            for rater, given_marks in own.items()
            if (of_tier := tuple(mark for mark in given_marks if mark.tier == tier.name))
        }
        if len(given) < 2:
            continue
        # What a rater left without a code on an optional tier counts up to the last code of it:
        # tiers may be gone through one after the other.
        reached = {
            rater: ((0, max(max(mark.t1_ns, mark.t0_ns + 1) for mark in of_tier)),)
            for rater, of_tier in given.items()
        }
        coding = TierCoding(codebook, tier, "training", (Coding(session, given, reached),))
        result = _result(coding)
        if result is not None:
            results.append(SoFar(tier, coding.raters, result))
    return tuple(results)


def _result(of_tier: TierCoding) -> Coefficient | None:
    tier, raters = of_tier.tier, of_tier.raters
    if tier.on == "units":
        table = unit_table(of_tier).of(raters)
        if not tier.exclusive:
            sets = table.sets()
            return coefficient(masi_alpha(sets), sets)
        ratings = table.codes([code.id for code in codes_of(of_tier)], tier.optional)
        two = len(raters) == 2
        return coefficient(CohenKappa() if two else alpha_for(ratings, "nominal"), ratings)
    stretches = shared_stretches(of_tier, raters)
    if not tier.exclusive or any(stretch.overlapping for stretch in stretches):
        return None
    parts, clusters = continua(stretches)
    return unit_alpha(parts, clusters=clusters)
