"""Studies of the single-dimension task, for tests and pictures of screens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.helpers.beside import put_beside


def write_single_study(
    folder: Path,
    models: Sequence[str] = ("sinelines/gt",),
    visualisation: str = "traversals",
    *,
    practice: bool = False,
    language: str = "en",
    presentation: str = "improved",
    lines: Sequence[str] = (),
) -> Path:
    """A study of one stage a model; practice: with tutorial and practice; lines: more of `stages`,
    as `key: value`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "single.yaml"
    before = [f"  - tutorial: {visualisation}", f"  - practice: circles-{visualisation}"]
    put_beside(folder)
    path.write_text(
        "\n".join(
            [
                "id: single",
                "title: A study for tests",
                "version: 1",
                f"language: {language}",
                *([] if presentation == "improved" else [f"presentation: {presentation}"]),
                "flow:",
                *(before if practice else ()),
                "  - stages:",
                "      task: single-dimension",
                f"      visualisation: {visualisation}",
                f"      models: [{', '.join(models)}]",
                *(f"      {line}" for line in lines),
            ]
        )
        + "\n"
    )
    return path
