"""A lab's description of its own concept model, and its table of pictures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from labapp.base.errors import DatasetError
from labapp.models.concepts import card, imported
from tests.models.concepts.conftest import PICTURES


def test_the_description_of_the_guide_is_one(tmp_path: Path) -> None:
    """Whoever copies it has `off:` and `on:` as keys, which YAML takes for false and true."""
    guide = Path(__file__).resolve().parents[3] / "docs/guide/models.md"
    (block,) = re.findall(r"```yaml\n(id: own/shapes\n.*?)```", guide.read_text("utf-8"), re.DOTALL)
    assert "off: large, on: small" in block
    path = tmp_path / "description.yaml"
    path.write_text(block, encoding="utf-8")
    assert card.read_description(path).concepts[0].off == "large"


def test_a_concept_that_hardly_varies_is_refused(
    described: Callable[..., Path], tmp_path: Path
) -> None:
    path = described()
    table = path.parent / "pictures.csv"
    head, *lines = table.read_bytes().decode().splitlines()
    changed = [",".join([*line.split(",")[:2], "1", *line.split(",")[3:]]) for line in lines]
    table.write_text("\n".join([head, *changed]), encoding="utf-8")
    with pytest.raises(DatasetError, match="60 pictures with 'size' and 0 without it"):
        imported.import_model(path, out=tmp_path / "models")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("pictures/0.png,", "pictures/none.png,", "cannot be read"),
        (",0\r\n", ",2\r\n", "1 or 0"),
        (",0\r\n", "\r\n", "line [0-9]+ has [57] cells, and line 1 has 6"),
        (",0\r\n", ",0,0\r\n", "line [0-9]+ has [57] cells, and line 1 has 6"),
        ("class,size,", "class,size,size,", "two columns called size"),
        ("pictures/0.png,", ",", "line 2: '' is no picture"),
        ("pictures/0.png,", "pictures,", "line 2: 'pictures' is no picture"),
        ("pictures/0.png,", "description.yaml,", "line 2: .* is not a readable PNG"),
        ("class,size,", "class,größe,", "no column size"),
        # As other programs save it: in their own encoding, and with a line given again.
        (b"class", "größe".encode("latin-1"), "no column class .*größe"),
        ("pictures/5.png,", "pictures/0.png,", "line 3: .* is the picture of line 2"),
    ],
)
def test_a_wrong_table_of_pictures_is_refused(
    described: Callable[..., Path], tmp_path: Path, old: str | bytes, new: str | bytes, said: str
) -> None:
    path = described()
    table = path.parent / "pictures.csv"
    before, after = (text.encode() if isinstance(text, str) else text for text in (old, new))
    content = table.read_bytes()
    assert before in content
    table.write_bytes(content.replace(before, after, 1))
    with pytest.raises(DatasetError, match=said):
        imported.import_model(path, out=tmp_path / "models")


def test_accents_of_file_names_may_be_written_as_macos_writes_them(
    described: Callable[..., Path],
) -> None:
    path = described()
    table = path.parent / "pictures.csv"
    composed, apart = (unicodedata.normalize(form, "größe 0.png") for form in ("NFC", "NFD"))
    (path.parent / "pictures/0.png").rename(path.parent / f"pictures/{apart}")
    text = table.read_bytes().decode().replace("pictures/0.png", f"pictures/{composed}")
    table.write_bytes(text.encode())
    own = card.pictures(card.read_description(path), path)
    assert len(own.data.split.test) == PICTURES


@pytest.mark.parametrize(("side", "shown"), [(31, None), (32, 32), (500, 480), (600, 512)])
def test_pictures_are_shown_as_large_as_their_file_allows(
    described: Callable[..., Path], side: int, shown: int | None
) -> None:
    path = described()
    picture = path.parent / "large.png"
    Image.new("L", (side, side + 3), 128).save(picture)
    description = card.read_description(path)
    if shown is None:
        with pytest.raises(DatasetError, match=r"line 2: .* 31 × 34 pixels, less than the 32"):
            card._large(picture, description, "line 2")
        return
    _, large = card._large(picture, description, "line 2")
    assert large.shape == (1, shown, shown)
