"""Representations of data: latent spaces, distances, decoders and their model packages.

`load_package(path)` gives an object with `.space` and `.decode(z)`. It is loaded on first use, so
that importing `labapp.models.representations.space` leaves torch alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labapp.models.representations.package import load_package

__all__ = ["load_package"]


def __getattr__(name: str) -> Any:
    if name == "load_package":
        from labapp.models.representations.package import load_package

        return load_package
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
