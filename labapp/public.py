"""What labapp offers to scripts and notebooks.

The functions are `labapp.load`, `labapp.analyze`, `labapp.figures`, `labapp.decode`,
`labapp.metric` and `labapp.still`. They stay as they are within 0.x, and so do what they return,
`labapp.testing` and what the recipes of the documentation use. Everything else of labapp may
change.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from labapp.analysis.tables import Tables
    from labapp.base.report.drawing import ReportFigure
    from labapp.models.metrics.registry import Function

OFFERED = ("load", "analyze", "figures", "decode", "metric", "still")
"""What `labapp` itself has of this module."""


def load(paths: Path | str | Sequence[Path | str], **options: Any) -> Tables:
    """The tables of sessions and bundles, as pandas frames; see `labapp.analysis.tables.load`."""
    from labapp.analysis import tables

    return tables.load(paths, **options)


def analyze(paths: Sequence[Path | str], out: Path | str, **options: Any) -> Path:
    """Write tables, figures and report.html, as `labapp analyze` does; returns the report's path.
    See `labapp.analysis.analyze.analyze`."""
    from labapp.analysis import analyze as analysis

    return analysis.analyze(paths, Path(out), **options)


def figures(tables: Tables) -> dict[str, ReportFigure]:
    """Every figure that a report of these tables has, by its name.

    `figure` of each is a matplotlib figure, `label` and `caption` say what it shows and how to read
    it, and `save(folder)` writes it as SVG, PNG and PDF.

    Parameters
    ----------
    tables : what `labapp.load` returns; figures leave out sessions that do not count.
    """
    from labapp.analysis import analyze as analysis

    return {each.name: each for each in analysis.figures(tables)}


def decode(model: str | Path, z: ArrayLike) -> NDArray[np.float32]:
    """The pictures that a model makes for values of its sliders.

    Parameters
    ----------
    model : id or folder of a model package, such as `sinelines/ae`.
    z : the value of each slider, shape (sliders,) or (n, sliders): of a continuous one within its
        limits, of a discrete one its index.

    Returns
    -------
    float32, with the shape of an instance, preceded by n if `z` has it.

    Raises
    ------
    ValueError : `z` has another shape, or a value that its slider does not have.
    labapp.base.errors.ModelError : there is no such model, or it is damaged.
    """
    import numpy as np

    from labapp.models.representations import load_package
    from labapp.models.representations.space import Continuous

    decoder = load_package(model)
    states = np.asarray(z, dtype=np.float64)
    dials = decoder.space.dimensions
    if states.ndim not in (1, 2) or states.shape[-1] != len(dials):
        raise ValueError(
            f"z has the shape {states.shape}; {decoder.id} has {len(dials)} sliders: give "
            f"({len(dials)},) or (n, {len(dials)})"
        )
    for number, dial in enumerate(dials):
        values = states[..., number]
        if isinstance(dial, Continuous):
            good = (values >= dial.low) & (values <= dial.high)
            has = f"values from {dial.low:g} to {dial.high:g}"
        else:
            good = np.isin(values, np.arange(dial.k))
            has = f"indices from 0 to {dial.k - 1}"
        if not good.all():
            wrong = values[~good].flat[0]
            raise ValueError(f"slider {number} of {decoder.id} has {has}, not {wrong:g}")
    pictures = decoder.decode(decoder.space.encode_rows(np.atleast_2d(states).astype(np.float32)))
    return pictures if states.ndim == 2 else pictures[0]


def metric(name: str) -> Function:
    """The metric of representations with a name used on the command line, such as `mig`, including
    metrics from other packages.

    It is called with codes of shape (n, C) and factors of shape (n, K), row for row, and returns a
    `labapp.models.metrics.inputs.Score`.
    """
    from labapp.models.metrics.registry import METRICS

    return METRICS[name].load()


def still(
    session: Path | str, seconds: float, out: Path | str, *, size: tuple[int, int] = (1366, 768)
) -> Path:
    """Write the participant's screen at a time of a recorded session as a PNG; returns its path.

    Like `labapp replay --still`, it notes in the session's folder that the picture was made, so
    that a withdrawal can list it. It warns about anything that may look different from the session.

    Parameters
    ----------
    session : its folder, or a bundle of one session.
    seconds : session time.
    size : width and height of the window in pixels.

    Raises
    ------
    labapp.base.errors.LabappError : no screen of the session can be shown, the time is not in it,
        or the file is there already.
    """
    from labapp.ui.replay.controller import readable_record, write_still

    record = readable_record(Path(session))
    for problem in write_still(record, round(seconds * 1e9), Path(out), *size):
        warnings.warn(problem, stacklevel=2)
    return Path(out)
