"""Small stimulus sets with everything a task needs: birds as photos, explanations made up.

Each kind is written with `write(folder, name)`; `NAMES` says which there are. Two numbered sets of
four photos (two where species are told apart by prototypes), half of them predicted right where the
study has both, and the two worked examples; the masked pictures have shapes as photos.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from labapp.models.datasets.birds import SPECIES, guide, name_of
from labapp.models.stimuli import library, masked_pictures, pictures, score_files
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Manifest

SEED = 7
CELLS = 12
ROWS = 3
STEPS = 4
SIDE, GRID = 48, 24
"""Pixels of a side of the pictures that have scores, and cells of their grid."""
SHAPES = ("disc", "ring")

Json = dict[str, Any]


def write(folder: Path, name: str) -> StimulusSet:
    """Write the small set of that name into `folder`/`name` and read it.

    name : one of `NAMES`; the set's id is "tiny-" and the name.
    """
    return written(folder / f"tiny-{name}", _files(name))


def written(target: Path, files: Mapping[str, bytes]) -> StimulusSet:
    """The set of these files, in a new folder."""
    target.mkdir(parents=True)
    for name, content in files.items():
        (target / name).write_bytes(content)
    return library.load(target)


@cache
def _files(name: str) -> dict[str, bytes]:
    """Drawn once: hundreds of tests write the same few sets."""
    with TemporaryDirectory() as folder:
        manifest = WRITERS[name](Path(folder))
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    return files | {library.MANIFEST: json.dumps(manifest, indent=1).encode()}


def edited(made: StimulusSet, change: Callable[[Json], None]) -> StimulusSet:
    """The set with its manifest changed in place, read again."""
    path = made.folder / library.MANIFEST
    manifest = json.loads(path.read_text("utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest, indent=1), "utf-8")
    return library.load(made.folder)


def _class(species: int) -> str:
    return f"s{species:02}"


def _frame(name: str, kind: str, photos: list[Json], **more: Any) -> Json:
    """A manifest with everything but the photos' explanations; the last two are the examples."""
    manifest = {
        "id": f"tiny-{name}",
        "title": f"Tiny set: {name}",
        "kind": kind,
        "method": {"name": "Tiny", "accuracy": 81.5},
        "classes_are": "species",
        "invented": True,
        "classes": [
            {"id": _class(n), "name": name_of(n), "marks": ", ".join(guide(n))}
            for n in range(SPECIES)
        ],
        "photos": photos[:-2],
        "correct_example": photos[-2],
        "incorrect_example": photos[-1],
        "seed": SEED,
        "made_with": "tests",
        **more,
    }
    Manifest.model_validate_json(json.dumps(manifest))
    return manifest


def _photos(a_set: int, *, all_right: bool = False) -> list[Json]:
    """Two sets of so many photos, then the examples: right, wrong, right, wrong, …"""
    out = []
    for n in range(2 * a_set + 2):
        example = n >= 2 * a_set
        genus, sister = divmod(n, 4)
        truth = 4 * (genus % 5) + sister
        right = (all_right and not example) or n % 2 == 0
        out.append(
            {
                "id": f"p{n:02}",
                "set": None if example else 1 + n // a_set,
                "photo": pictures.bird_ref(SEED, "test", truth, n),
                "truth": _class(truth),
                "prediction": _class(truth if right else truth ^ 1),
                "facts": {"visible": 0.9},
            }
        )
    return out


def _sisters(photo: Json) -> list[str]:
    """The four species of the photo's genus, from another one on in each photo."""
    species = int(photo["truth"][1:])
    first = species - species % 4
    return [_class(first + (k + int(photo["id"][1:])) % 4) for k in range(4)]


def _heatmaps(folder: Path, name: str, scale: str) -> Json:
    photos = _photos(4)
    y, x = np.mgrid[:CELLS, :CELLS] / (CELLS - 1)
    for photo in photos:
        options = _sisters(photo)
        photo |= {"options": options, "heatmaps": [], "strengths": [], "logits": []}
        for place, option in enumerate(options):
            strength = 1.0 if option == photo["prediction"] else 0.3 + 0.1 * place
            peak = np.exp(-((x - 0.2 - 0.2 * place) ** 2 + (y - 0.4) ** 2) / 0.05) * strength
            if scale == "signed":
                peak = (peak - 0.4 * np.exp(-((x - 0.8) ** 2 + (y - 0.8) ** 2) / 0.05) + 1) / 2
            file = f"heat-{photo['id']}-{place + 1}.png"
            grey = np.rint(255 * peak.clip(0, 1)).astype(np.uint8)
            (folder / file).write_bytes(pictures.png(grey))
            photo["heatmaps"].append(file)
            photo["strengths"].append(round(strength, 3))
            photo["logits"].append(round(5 * strength, 3))
    return _frame(name, "heatmaps", photos, scale=scale)


def _prototypes(classes: range, rows: int) -> list[Json]:
    """Some prototypes of each class, from training birds."""
    return [
        {
            "id": f"{_class(n)}-{k}",
            "of": _class(n),
            "photo": pictures.bird_ref(SEED, "train", n, k),
            "box": [0.1 + 0.1 * k, 0.2, 0.4 + 0.1 * k, 0.5],
        }
        for n in classes
        for k in range(rows)
    ]


def _row(prototype: str, place: int, similarity: float, **more: Any) -> Json:
    region = [0.1 * place, 0.3, 0.1 * place + 0.3, 0.6]
    return {"prototype": prototype, "region": region, "similarity": round(similarity, 3), **more}


def _similar(of: str, best: float) -> list[Json]:
    """The rows of a class, most similar first."""
    return [_row(f"{of}-{k}", k, best - 0.5 * k, rank=k + 1) for k in range(ROWS)]


def _prototype_distinction(folder: Path, name: str) -> Json:
    photos = _photos(2, all_right=True)
    for photo in photos:
        options = _sisters(photo)
        rows = [r for o in options for r in _similar(o, 5.0 if o == photo["prediction"] else 3.0)]
        photo |= {"options": options, "rows": rows}
    return _frame(name, "prototypes", photos, prototypes=_prototypes(range(SPECIES), ROWS))


def _prototype_agreement(folder: Path, name: str) -> Json:
    photos = _photos(4)
    for photo in photos:
        right = photo["truth"] == photo["prediction"]
        photo["rows"] = _similar(photo["prediction"], 5.0 if right else 3.5)
    return _frame(name, "prototypes", photos, prototypes=_prototypes(range(SPECIES), ROWS))


def _tree_of(folder: Path) -> Json:
    """The prototypes of a tree, and its picture."""
    prototypes = [
        {
            "id": f"n{n}",
            "photo": pictures.bird_ref(SEED, "train", n, 0),
            "box": [0.3, 0.3, 0.5, 0.5],
        }
        for n in range(7)
    ]
    picture = np.full((300, 500, 3), 255, np.uint8)
    picture[::30] = 200
    picture[:, ::50] = 120
    (folder / "tree.png").write_bytes(pictures.png(picture))
    return {"prototypes": prototypes, "tree": "tree.png"}


def _steps(number: int, count: int) -> list[Json]:
    """Steps from the root, present or absent, similarities between 0 and 1."""
    present = [(number + k) % 2 == 0 for k in range(count)]
    return [
        _row(f"n{k}", k, 0.9 - 0.1 * k if there else 0.2 + 0.05 * k, present=there)
        for k, there in enumerate(present)
    ]


def _path_distinction(folder: Path, name: str) -> Json:
    photos = _photos(4, all_right=True)
    for number, photo in enumerate(photos):
        photo["rows"] = _steps(number, STEPS)
        photo["final"] = {
            "first": _row("n4", 1, 0.7),
            "absent": _row("n5", 2, 0.4),
            "present": _row("n6", 3, 0.8),
            "classes": _sisters(photo),
        }
    return _frame(name, "path", photos, **_tree_of(folder))


def _path_agreement(folder: Path, name: str) -> Json:
    photos = _photos(4)
    for number, photo in enumerate(photos):
        photo["rows"] = _steps(number, STEPS + 2)
        if photo["truth"] != photo["prediction"]:
            photo["first_wrong"] = 1 + number % (STEPS + 2)
    return _frame(name, "path", photos, **_tree_of(folder))


def _scores(folder: Path, name: str) -> Json:
    """Two classes of grey pictures, discs and rings; two methods, of which one ranks the middle
    first and the other the edge."""
    photos = []
    random = np.random.default_rng(SEED)
    y, x = np.mgrid[:SIDE, :SIDE] / (SIDE - 1) - 0.5
    far = np.hypot(x, y)
    cells = far.reshape(GRID, SIDE // GRID, GRID, SIDE // GRID).mean((1, 3))
    for n in range(10):
        truth, right = n % 2, n % 4 < 2 if n < 8 else n == 8
        ring = np.abs(far - 0.3) < 0.08 if truth else far < 0.3
        grey = np.rint(60 + 120 * ring + random.uniform(0, 40, far.shape)).astype(np.uint8)
        photo: Json = {
            "id": f"p{n:02}",
            "set": None if n >= 8 else 1 + n // 4,
            "photo": f"p{n:02}.png",
            "truth": SHAPES[truth],
            "prediction": SHAPES[truth if right else 1 - truth],
            "options": list(SHAPES),
            "logits": [1.5, -0.5] if (truth == 0) == right else [-0.5, 1.5],
            "scores": {},
        }
        (folder / photo["photo"]).write_bytes(pictures.png(grey))
        for method, values in (("middle", -cells), ("edge", cells)):
            file = f"p{n:02}-{method}.npy"
            noisy = values + random.normal(0, 0.05, values.shape)
            (folder / file).write_bytes(score_files.encode_scores(noisy))
            photo["scores"][method] = file
        photo["masked"] = [
            {
                "method": method,
                "percent": percent,
                "fill": "mean",
                "sign": "signed",
                # The more is shown, the more it is what the model makes of the whole picture.
                "logits": [
                    round(logit * percent / 60 + shift * (1 - percent / 60), 3)
                    for logit, shift in zip(photo["logits"], (0.3, -0.1 * n), strict=True)
                ],
            }
            for method in photo["scores"]
            for percent in masked_pictures.sizes()
        ]
        photos.append(photo)
    return _frame(
        name,
        "scores",
        photos,
        method={"name": "Tiny", "accuracy": 75.0},
        classes_are="objects",
        classes=[{"id": one, "name": one} for one in SHAPES],
        methods=[{"id": "middle", "name": "Middle"}, {"id": "edge", "name": "Edge"}],
        mean_level=[0.5],
        pool=[
            {"truth": truth, "prediction": said, "count": 30 if truth == said else 10}
            for truth in SHAPES
            for said in SHAPES
        ],
    )


WRITERS: dict[str, Callable[[Path], Json]] = {
    "heatmaps": lambda folder: _heatmaps(folder, "heatmaps", "positive"),
    "heatmaps-signed": lambda folder: _heatmaps(folder, "heatmaps-signed", "signed"),
    "prototype-distinction": lambda f: _prototype_distinction(f, "prototype-distinction"),
    "prototype-agreement": lambda f: _prototype_agreement(f, "prototype-agreement"),
    "path-distinction": lambda f: _path_distinction(f, "path-distinction"),
    "path-agreement": lambda f: _path_agreement(f, "path-agreement"),
    "scores": lambda f: _scores(f, "scores"),
}
NAMES = tuple(WRITERS)
