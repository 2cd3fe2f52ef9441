"""Studies of one stage that judges explanations of a small stimulus set, for tests and pictures of
screens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from labapp.models.stimuli.library import StimulusSet
from tests.helpers import stimuli
from tests.helpers.stimuli import Json

TASKS = {
    "heatmaps": "heatmap-distinction",
    "heatmaps-signed": "heatmap-distinction",
    "prototype-distinction": "prototype-distinction",
    "prototype-agreement": "prototype-agreement",
    "path-distinction": "path-distinction",
    "path-agreement": "path-agreement",
}
"""The task of each small set."""
DESCRIPTION = """# How the model decides

It compares parts of the photo with parts of photos it has learned from, and adds up what it finds.
"""


def write_judging_study(
    folder: Path,
    name: str,
    *,
    task: str = "",
    language: str = "en",
    rows: int = 0,
    change: Callable[[Json], None] | None = None,
    before: Sequence[Json] = (),
    after: Sequence[Json] = (),
    **stages: object,
) -> Path:
    """A study of one stage with the small set of that name.

    rows: of each class, where the set's own three are too few; change: of the manifest. before,
    after: items of the flow around the stage; stages: more of `stages`.
    """
    made = stimuli.write(folder, name)
    if rows:
        made = with_rows(made, rows)
    if change is not None:
        made = stimuli.edited(made, change)
    for text, said in (("intro", "# Next\n\nPhotos follow."), ("description", DESCRIPTION)):
        (folder / f"{text}.md").write_text(said, "utf-8")
    study = {
        "id": f"judging-{name}",
        "title": "A study for tests",
        "version": 1,
        "language": language,
        "flow": [
            *before,
            {
                "stages": {
                    "task": task or TASKS[name],
                    "stimuli": str(made.folder),
                    "set": 1,
                    "order": "as_listed",
                    "description": "description.md",
                    "intro": "intro.md",
                    **stages,
                }
            },
            *after,
        ],
    }
    path = folder / "judging.yaml"
    path.write_text(yaml.safe_dump(study, allow_unicode=True), "utf-8")
    return path


def with_rows(made: StimulusSet, rows: int) -> StimulusSet:
    """The set with so many rows a class, the regions all over the photo."""

    def box(number: int) -> list[float]:
        left, top = 0.1 + 0.07 * (3 * number % 9), 0.15 + 0.06 * (5 * number % 9)
        return [round(at, 3) for at in (left, top, left + 0.22, top + 0.22)]

    def change(manifest: Json) -> None:
        of = {prototype["of"]: prototype["photo"] for prototype in manifest["prototypes"]}
        manifest["prototypes"] = [
            {"id": f"{name}-{n}", "of": name, "photo": photo, "box": box(n + 2)}
            for name, photo in of.items()
            for n in range(rows)
        ]
        shown = [*manifest["photos"], manifest["correct_example"], manifest["incorrect_example"]]
        for photo in shown:
            classes = dict.fromkeys(row["prototype"].rsplit("-", 1)[0] for row in photo["rows"])
            photo["rows"] = [
                {
                    "prototype": f"{name}-{n}",
                    "region": box(n),
                    "similarity": round(6 - 0.5 * n, 3),
                    "rank": n + 1,
                }
                for name in classes
                for n in range(rows)
            ]

    return stimuli.edited(made, change)
