"""The HIVE studies without their shipped stimulus sets: small sets of the same ids, ten of each."""

from __future__ import annotations

import shutil
from pathlib import Path

from labapp.stimuli.library import StimulusSet
from tests.helpers import stimuli

OF = {
    "birds-gradcam": "heatmaps",
    "birds-bagnet": "heatmaps-signed",
    "birds-protopnet-distinction": "prototype-distinction",
    "birds-protopnet": "prototype-agreement",
    "birds-prototree-distinction": "path-distinction",
    "birds-prototree": "path-agreement",
}
"""Ids of shipped sets, and the small set that is like each."""
STUDIES = {
    "gradcam-distinction": "birds-gradcam",
    "gradcam-distinction-labels": "birds-gradcam",
    "bagnet-distinction": "birds-bagnet",
    "bagnet-distinction-labels": "birds-bagnet",
    "protopnet-distinction": "birds-protopnet-distinction",
    "protopnet-agreement": "birds-protopnet",
    "prototree-distinction": "birds-prototree-distinction",
    "prototree-agreement": "birds-prototree",
    "prototree-agreement-tree": "birds-prototree",
}
"""The nine studies and the set of each."""


def install(folder: Path) -> dict[str, StimulusSet]:
    """Write stand-ins into a folder that `LABAPP_STIMULI` may name, by id; a shipped set of the
    same id goes before its stand-in."""
    made = {}
    for id_, like in OF.items():
        small = stimuli.write(folder / "small", like)
        own = folder / id_
        shutil.copytree(small.folder, own)

        def ten(manifest: stimuli.Json, id_: str = id_) -> None:
            manifest["id"] = id_
            manifest["photos"] = [
                photo | {"id": f"{photo['id']}-{number}", "set": number}
                for number in range(1, 11)
                for photo in manifest["photos"]
                if photo["set"] == 1 + number % 2
            ]

        made[id_] = stimuli.edited(StimulusSet(small.manifest, own, ""), ten)
    return made
