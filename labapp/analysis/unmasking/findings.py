"""Everything that sessions of the unmasking study say, group by group."""

from __future__ import annotations

from labapp.analysis.tables import Tables
from labapp.analysis.unmasking import curves, model
from labapp.analysis.unmasking.bias import bias
from labapp.analysis.unmasking.cells import Cells
from labapp.analysis.unmasking.comparisons import comparisons
from labapp.analysis.unmasking.fits import fits
from labapp.analysis.unmasking.groups import groups_of
from labapp.analysis.unmasking.ranks import ranks
from labapp.analysis.unmasking.results import Found, Group


def findings(counted: Tables) -> tuple[Found, ...]:
    """What each study with unmasked pictures among these sessions, which all count, says.

    counted: `Tables.included()`. Random draws are seeded, so that the same tables give the same
    intervals.
    """
    return tuple(found_of(group) for group in groups_of(counted))


def found_of(group: Group) -> Found:
    """What one group says."""
    cells = Cells.of(group)
    return Found(
        group=group,
        labels=curves.labels(cells),
        labels_by_method=curves.labels_by_method(cells),
        times=curves.times(cells),
        accuracy=curves.accuracy(cells),
        model=model.accuracy(group),
        whole=model.whole(group),
        ranks=ranks(group, cells),
        bias=bias(cells),
        classes=model.classes(group),
        report=model.report(group),
        fits=fits(cells),
        comparisons=comparisons(cells),
    )
