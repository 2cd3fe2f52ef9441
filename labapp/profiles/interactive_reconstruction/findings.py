"""Everything that sessions of the reconstruction and single-dimension tasks say, group by group."""

from __future__ import annotations

from dataclasses import replace

from labapp.analysis.tables import Tables
from labapp.profiles.interactive_reconstruction.comparisons import comparisons
from labapp.profiles.interactive_reconstruction.groups import groups_of
from labapp.profiles.interactive_reconstruction.results import Compared, Found


def findings(counted: Tables) -> tuple[Found, ...]:
    """What each group among these sessions, which all count, says; p is corrected over the tests of
    all groups. counted: `Tables.included()`."""
    compared = [(group, comparisons(group)) for group in groups_of(counted)]
    n_tests = sum(len(one.tests) for _, some in compared for one in some)
    return tuple(
        Found(group, tuple(_corrected(one, n_tests) for one in some), n_tests)
        for group, some in compared
    )


def _corrected(one: Compared, n_tests: int) -> Compared:
    """With Bonferroni's correction over so many tests."""

    def p(plain: float | None) -> float | None:
        return None if plain is None else min(1.0, plain * n_tests)

    omnibus = one.omnibus
    return replace(
        one,
        omnibus=omnibus and replace(omnibus, p_corrected=p(omnibus.outcome.p)),
        pairs=tuple(replace(pair, p_corrected=p(pair.outcome.p)) for pair in one.pairs),
    )
