"""labapp: think-aloud lab studies of how well people understand machine-learning models.

In Python: `labapp.load`, `labapp.analyze`, `labapp.figures`, `labapp.decode`, `labapp.metric`,
`labapp.still`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from labapp.base.former_names import add_former_names

if TYPE_CHECKING:
    from labapp.public import analyze, decode, figures, load, metric, still

__version__ = "0.1.0"
__all__ = ["__version__", "analyze", "decode", "figures", "load", "metric", "still"]

add_former_names()


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("labapp.public"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
