"""Everything that sessions of the unmasking study say, group by group."""

from __future__ import annotations

from labapp.analysis.tables import Tables
from labapp.tasks.unmasking.report import curves, model
from labapp.tasks.unmasking.report.bias import bias
from labapp.tasks.unmasking.report.cells import Cells
from labapp.tasks.unmasking.report.comparisons import comparisons
from labapp.tasks.unmasking.report.fits import fits
from labapp.tasks.unmasking.report.groups import groups_of
from labapp.tasks.unmasking.report.ranks import ranks
from labapp.tasks.unmasking.report.results import Found, Group


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
