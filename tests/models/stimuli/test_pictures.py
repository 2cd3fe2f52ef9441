"""Pictures of stimulus sets: files as they are, birds painted; links and ways out are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from labapp.base.errors import StimuliError
from labapp.models.datasets.birds import BirdRows
from labapp.models.stimuli import pictures

BIRD = "bird:7:test:3:2"


def test_a_bird_is_the_one_the_model_saw(tmp_path: Path) -> None:
    rows = BirdRows("test", 5, 7)
    seen = rows.instances(np.array([2 * 20 + 3]))[0]
    shown = pictures.read(tmp_path, BIRD, 96)
    assert np.array_equal(
        shown, np.rint(seen * np.float32(255)).astype(np.uint8).transpose(1, 2, 0)
    )
    assert pictures.read(tmp_path, BIRD).shape == (512, 512, 3)
    assert pictures.read(tmp_path, BIRD.replace("test", "train")).shape == (384, 384, 3)
    assert pictures.bird_ref(7, "test", 3, 2) == BIRD


@pytest.mark.parametrize("ref", ["bird:7:test:20:0", "bird:7:exam:1:0", "bird:7:test:1"])
def test_what_names_no_bird_is_refused(ref: str, tmp_path: Path) -> None:
    with pytest.raises(StimuliError, match="names no bird"):
        pictures.read(tmp_path, ref)


def test_files_are_read_as_rgb(tmp_path: Path) -> None:
    grey = np.arange(12, dtype=np.uint8).reshape(3, 4)
    (tmp_path / "grey.png").write_bytes(pictures.png(grey))
    assert np.array_equal(pictures.read(tmp_path, "grey.png"), np.repeat(grey[..., None], 3, 2))
    Image.fromarray(grey.astype(np.uint16) * 257).save(tmp_path / "deep.png")
    assert np.array_equal(pictures.read(tmp_path, "deep.png")[..., 0], grey)
    clear = np.zeros((2, 2, 4), np.uint8)
    Image.fromarray(clear).save(tmp_path / "clear.png")
    assert (pictures.read(tmp_path, "clear.png") == 255).all()
    colour = np.full((16, 16, 3), (200, 60, 30), np.uint8)
    (tmp_path / "photo.jpg").write_bytes(pictures.jpeg(colour))
    assert np.abs(pictures.read(tmp_path, "photo.jpg").astype(int) - colour).max() <= 2


def test_a_photo_is_turned_as_the_camera_was(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (20, 10)).save(tmp_path / "photo.jpg", exif=exif)
    assert pictures.read(tmp_path, "photo.jpg").shape == (20, 10, 3)


def test_what_cannot_be_shown_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"not a picture")
    Image.new("RGB", (2, 2)).save(tmp_path / "b.gif")
    (tmp_path / "b.gif").rename(tmp_path / "b.png")
    Image.new("RGB", (2, 2)).save(tmp_path / "c.png")
    (tmp_path / "c.png").rename(tmp_path / "c.jpg")
    whole = pictures.png(np.random.default_rng(0).integers(0, 255, (40, 40, 3), np.uint8))
    (tmp_path / "d.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "e.png").symlink_to(tmp_path / "a.png")
    (tmp_path / "deep").symlink_to(tmp_path.parent, target_is_directory=True)
    for ref, said in {
        "a.png": "'a.png' is not a readable PNG or JPEG file",
        "b.png": "'b.png' is not a readable PNG or JPEG file",
        "c.jpg": "'c.jpg' is a PNG file by another name",
        "d.png": "'d.png' is not a readable",
        "e.png": "'e.png' is a link",
        "deep/a.png": "'deep/a.png' is a link",
        "../a.png": "does not lie in the set's folder",
        "/etc/a.png": "does not lie in the set's folder",
        "none.png": "'none.png' cannot be read: No such file",
    }.items():
        with pytest.raises(StimuliError) as found:
            pictures.read(tmp_path, ref)
        assert said in found.value.what, ref


def test_giants_are_refused_before_they_are_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("1", (9000, 9000)).save(tmp_path / "wide.png")
    with pytest.raises(StimuliError, match="9000 × 9000 pixels"):
        pictures.read(tmp_path, "wide.png")
    monkeypatch.setattr(pictures, "LARGEST_BYTES", 100)
    (tmp_path / "long.png").write_bytes(bytes(101))
    with pytest.raises(StimuliError, match=r"'long.png' cannot be read: it has 101 bytes"):
        pictures.read(tmp_path, "long.png")
