"""The shipped models of dSprites and Sinelines beside each other, as in Figure 2 of paper 000.

    python -m scripts.models_picture [--out FILE.png]

By default it draws docs/pictures/representations.png, which models/README.md shows.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

from labapp.base import resources
from labapp.base.figure_style import STYLE
from labapp.models.metrics.information import mutual_information
from labapp.models.representations import card as cards
from labapp.models.representations import package
from labapp.models.representations.measuring import load_labelled_encodings
from scripts.side_by_side import Representation, draw

DATA_SETS = {"dsprites": "dSprites", "sinelines": "Sinelines"}
KINDS = {"gt": "Ground truth (GT)", "vae": "VAE", "ae": "Autoencoder (AE)"}
FILE = resources.assets().parent / "docs" / "pictures" / "representations.png"


def representation(model: str, title: str) -> Representation:
    """Its scores are those on its card."""
    rows, root = load_labelled_encodings(model), resources.models()
    measured = cards.read(package.find(model, root)).disentanglement
    assert rows is not None
    assert measured is not None
    dci, published = measured.dci.disentanglement, measured.dci_exchanged.disentanglement
    return Representation(
        title=title,
        scores=f"MIG {measured.mig:.2f}, DCI {dci:.2f}, DCI as published {published:.2f}",
        information=mutual_information(rows.codes, rows.factors).matrix,
        codes=rows.code_names,
        factors=rows.factor_names,
    )


def figure() -> Figure:
    return draw(
        [
            (name, [representation(f"{data}/{kind}", title) for kind, title in KINDS.items()])
            for data, name in DATA_SETS.items()
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FILE, help="the picture to write")
    asked = parser.parse_args()
    whole = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure().savefig(whole, format="png")
    # With a palette: a third of the size, and nowhere visibly another colour.
    with Image.open(whole) as picture:
        few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(asked.out, format="png", optimize=True)
    print(f"{asked.out}: {few.width} x {few.height}, {asked.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
