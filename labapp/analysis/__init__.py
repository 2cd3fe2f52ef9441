"""What sessions say: folds over their events, tables, figures and the report.

`load` and `Tables` come on first use, so that importing the package leaves pandas and matplotlib
alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labapp.analysis.tables import Tables, load

__all__ = ["Tables", "load"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from labapp.analysis import tables

        return getattr(tables, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
