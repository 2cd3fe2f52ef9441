"""Scores of pixels, masks by them, and masked pictures that are exported."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from labapp.base.errors import StimuliError
from labapp.models.stimuli import importing, library, masked_pictures, pictures, score_files
from labapp.models.stimuli.manifest import Fill, Sign
from labapp.models.stimuli.masked_pictures import MaskedRef, Masking, find_recorded_outputs
from tests.helpers import stimuli
from tests.models.stimuli.test_sources import as_tables


def saved(values: Any, *, allow_pickle: bool = True) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(values), allow_pickle=allow_pickle)
    return out.getvalue()


def test_scores_come_back_as_they_were_written() -> None:
    values = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
    content = score_files.encode_scores(values)
    found = score_files.decode_scores(content, "a.npy")
    assert (found == values).all()
    assert found.dtype == np.float64
    assert not found.flags.writeable
    assert score_files.encode_scores(np.asfortranarray(values)) == content
    assert score_files.decode_scores(saved([[1, 2], [3, 4]]), "a.npy").tolist() == [[1, 2], [3, 4]]


ODD = {
    "no npy": (b"<html>", "not readable as .npy"),
    "empty": (b"", "not readable as .npy"),
    "cut off": (score_files.encode_scores(np.zeros((9, 9)))[:-5], "not readable as .npy"),
    "pickled": (pickle.dumps([1.0]), "not readable as .npy"),
    "objects": (saved(np.array([[{}]], object)), "not readable as .npy"),
    "text": (saved([["a", "b"]]), "contains <U1"),
    "complex": (saved([[1j]]), "contains complex128"),
    "true and false": (saved([[True]]), "contains bool"),
    "three axes": (saved(np.zeros((3, 4, 4))), r"has the shape \(3, 4, 4\)"),
    "nothing in it": (saved(np.zeros((0, 4))), r"has the shape \(0, 4\)"),
    "far too wide": (saved(np.zeros((1, 5000), np.int8)), r"has the shape \(1, 5000\)"),
    "not finite": (saved([[0.0, np.nan], [np.inf, 1.0]]), "2 values that are not finite numbers"),
}


@pytest.mark.parametrize("odd", ODD)
def test_anything_else_is_refused_and_said(odd: str) -> None:
    content, said = ODD[odd]
    with pytest.raises(StimuliError, match=said) as refused:
        score_files.decode_scores(content, "a.npy")
    assert "'a.npy'" in refused.value.what
    assert refused.value.todo


def test_several_arrays_in_one_file_are_refused() -> None:
    out = io.BytesIO()
    np.savez(out, a=np.zeros((2, 2)))
    with pytest.raises(StimuliError, match=r"'a\.npy' is not readable as \.npy"):
        score_files.decode_scores(out.getvalue(), "a.npy")


@given(st.binary(max_size=200))
def test_any_bytes_are_told(content: bytes) -> None:
    with pytest.raises(StimuliError):
        score_files.decode_scores(content, "a.npy")


@given(place=st.integers(0, 127), put=st.binary(min_size=1, max_size=4))
def test_a_damaged_header_is_told_or_read(place: int, put: bytes) -> None:
    content = score_files.encode_scores(np.ones((3, 3)))
    damaged = content[:place] + put + content[place + len(put) :]
    try:
        found = score_files.decode_scores(damaged, "a.npy")
    except StimuliError:
        return
    assert found.ndim == 2
    assert np.isfinite(found).all()


def test_a_file_is_read_again_when_it_was_written_again(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(score_files.encode_scores(np.zeros((2, 2))))
    assert score_files.read(tmp_path, "a.npy").sum() == 0
    path.write_bytes(score_files.encode_scores(np.ones((2, 2))))
    os.utime(path, ns=(1, 1))
    assert score_files.read(tmp_path, "a.npy").sum() == 4
    path.unlink()
    with pytest.raises(StimuliError, match=r"The score file 'a\.npy' cannot be read: No such file"):
        score_files.read(tmp_path, "a.npy")


def test_no_file_outside_the_folder_is_read() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "set"
        folder.mkdir()
        (folder.parent / "a.npy").write_bytes(score_files.encode_scores(np.zeros((2, 2))))
        with pytest.raises(StimuliError, match="is not in the set's folder"):
            score_files.read(folder, "../a.npy")
        (folder / "b.npy").symlink_to(folder.parent / "a.npy")
        with pytest.raises(StimuliError, match=r"The score file 'b\.npy' is a link"):
            score_files.read(folder, "b.npy")


SCORES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    elements=st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]),
)

SIGNS = st.sampled_from(sorted(masked_pictures.SIGNS.values()))


def shown(scores: NDArray[np.floating], percent: float, sign: Sign = "signed") -> NDArray[np.bool_]:
    return masked_pictures.first(masked_pictures.ranking(scores, sign), percent, scores.shape)


def test_the_published_sizes() -> None:
    assert masked_pictures.sizes() == (5, 6, 8, 11, 15, 19, 26, 34, 45, 60)
    assert masked_pictures.sizes(10, 100, 2) == (10, 100)
    assert masked_pictures.sizes(20, 20, 1) == (20,)
    for odd in ((1, 3, 4), (0.5, 60, 10)):
        with pytest.raises(ValueError, match="not distinct whole percents"):
            masked_pictures.sizes(*odd)


def test_listed_percentages() -> None:
    assert masked_pictures.ascending([4, 12.5, 100]) == (4, 12.5, 100)
    for odd in ((), (0, 5), (5, 101), (5, 5), (20, 10), (5, 12.34567)):
        with pytest.raises(
            ValueError, match=r"must be above 0|ascending order|more than six digits"
        ):
            masked_pictures.ascending(odd)


def test_pixels_are_shown_from_the_greatest_score_on() -> None:
    scores = np.array([[0.1, -0.9], [0.5, 0.2]])
    assert masked_pictures.ranking(scores).tolist() == [2, 3, 0, 1]
    assert masked_pictures.ranking(scores, "absolute").tolist() == [1, 2, 3, 0]
    assert shown(scores, 50).tolist() == [[False, False], [True, True]]
    assert shown(scores, 25, "absolute").tolist() == [[False, True], [False, False]]


@given(SCORES, SIGNS)
def test_a_ranking_is_an_order_of_all_pixels(scores: np.ndarray, sign: Sign) -> None:
    ranked = masked_pictures.ranking(scores, sign)
    assert sorted(ranked.tolist()) == list(range(scores.size))
    values = scores.reshape(-1)[ranked]
    falling = np.abs(values) if sign == "absolute" else values
    assert (np.diff(falling) <= 0).all()
    assert masked_pictures.ranking(scores.copy(), sign).tolist() == ranked.tolist()


@given(SCORES, SIGNS, st.floats(0.1, 100), st.floats(0.1, 100))
def test_more_shows_what_less_shows(
    scores: np.ndarray, sign: Sign, one: float, other: float
) -> None:
    less, more = sorted((one, other))
    small, large = (shown(scores, percent, sign) for percent in (less, more))
    assert (large | ~small).all()
    assert int(small.sum()) == masked_pictures.pixels(less, scores.size) >= 1
    assert shown(scores, 100, sign).all()


def test_ties_are_broken_alike_and_not_by_place() -> None:
    """Else a flat map would show a picture from its upper left corner on."""
    flat = np.zeros((20, 20))
    pixels = shown(flat, 25)
    assert (pixels == shown(flat + 3, 25)).all()
    assert 10 < pixels[:10].sum() < 90


@given(
    grid=st.integers(1, 6),
    times=st.integers(1, 4),
    colour=st.booleans(),
    seed=st.integers(0, 1000),
    fill=st.sampled_from(sorted(masked_pictures.FILLS.values())),
)
def test_what_is_masked_is_filled_and_the_rest_is_as_it_was(
    grid: int, times: int, colour: bool, seed: int, fill: Fill
) -> None:
    random = np.random.default_rng(seed)
    side = grid * times
    picture = random.integers(0, 256, (side, side, 3) if colour else (side, side), np.uint8)
    before = picture.copy()
    mask = random.random((grid, grid)) < 0.5
    level = masked_pictures.level(fill, (0.25, 0.5, 0.75) if colour else (0.25,))
    made = masked_pictures.apply_mask(picture, mask, level)
    assert (picture == before).all()
    assert (made.shape, made.dtype) == (picture.shape, np.uint8)
    for y, x in np.ndindex(side, side):
        expected = picture[y, x] if mask[y // times, x // times] else level
        assert (made[y, x] == expected).all()


def test_the_levels_of_masked_pixels() -> None:
    said = {
        fill: masked_pictures.level(fill, (0.2,)).tolist()
        for fill in masked_pictures.FILLS.values()
    }
    assert said == {"mean": [51], "black": [0], "grey": [128], "white": [255]}
    assert masked_pictures.level("mean", (0, 0.5, 1)).tolist() == [0, 128, 255]
    with pytest.raises(ValueError, match="does not state its mean level"):
        masked_pictures.level("mean", None)


def test_what_does_not_fit_is_refused() -> None:
    picture = np.zeros((9, 8), np.uint8)
    with pytest.raises(ValueError, match="8 x 9 pixels has no whole blocks for 4 x 4 scores"):
        masked_pictures.apply_mask(picture, np.ones((4, 4), bool), np.zeros(1, np.uint8))
    with pytest.raises(ValueError, match="a grey picture has one level"):
        masked_pictures.apply_mask(picture, np.ones((9, 8), bool), np.zeros(3, np.uint8))


def test_a_masked_picture_has_a_name_that_says_it_all() -> None:
    ref = MaskedRef("faces", "anger-001", "lrp", "mean", "signed", 5.0)
    assert str(ref) == "masked:faces:anger-001:lrp:mean:signed:5"
    assert MaskedRef.of(str(ref)) == ref
    assert MaskedRef.of(str(MaskedRef("f", "a", "l", "white", "absolute", 12.5))).percent == 12.5
    assert masked_pictures.is_masked(str(ref))
    assert not masked_pictures.is_masked("anger-001.png")


@pytest.mark.parametrize(
    "odd",
    [
        "anger-001.png",
        "masked:faces:anger-001:lrp:mean:signed",
        "masked:faces:anger-001:lrp:mean:signed:5:6",
        "masked:faces:anger-001:lrp:pink:signed:5",
        "masked:faces:anger-001:lrp:mean:both:5",
        "masked:faces:anger-001:lrp:mean:signed:five",
        "masked:faces:anger-001:lrp:mean:signed:0",
        "masked:faces:anger-001:lrp:mean:signed:nan",
        "masked:faces:anger-001:lrp:mean:signed:inf",
    ],
)
def test_what_names_no_masked_picture_is_refused(odd: str) -> None:
    with pytest.raises(ValueError):
        MaskedRef.of(odd)


MASKING = Masking((5.0, 20.5, 60.0), "grey", "absolute")


def test_every_masked_picture_is_written_with_a_line(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    out = tmp_path / "out" / "masked"
    assert masked_pictures.write(made, MASKING, out) == 10 * 2 * 3
    with (out / "masked.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert len(lines) == 60
    assert lines[1] == {
        "photo": "p00", "method": "middle", "percent": "20.5", "fill": "grey",
        "sign": "absolute", "logits": "", "file": "middle/p00-20.5.png",
    }  # fmt: skip
    files = {path.relative_to(out).as_posix() for path in out.rglob("*.png")}
    assert files == {line["file"] for line in lines}
    ref = MaskedRef(made.id, "p00", "middle", "grey", "absolute", 20.5)
    shown = pictures.native((out / "middle" / "p00-20.5.png").read_bytes(), "p00.png")
    assert np.array_equal(shown, masked_pictures.picture(made, ref))


def test_what_another_model_says_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From tables whose set says nothing of masked photos to a set that does."""
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    plain = stimuli.edited(
        stimuli.write(tmp_path, "scores"),
        lambda m: [
            one.pop("masked")
            for one in (*m["photos"], m["correct_example"], m["incorrect_example"])
        ],
    )
    assert find_recorded_outputs(plain, MASKING, plain.manifest.photos[0], "middle") == ()
    assert importing.load_any(str(plain.folder)) == plain
    folder = as_tables(plain)
    masked_pictures.write(importing.load_any(str(folder)), MASKING, tmp_path / "masked")
    with (tmp_path / "masked" / "masked.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    for line in lines:
        grey = pictures.native((tmp_path / "masked" / line["file"]).read_bytes(), line["file"])
        line["logits"] = f"{grey.mean():.3f}|{-grey.mean():.3f}"
    with (folder / "masked.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    target, found = importing.import_set(folder)
    assert found.warnings == []
    taken = library.load(target)
    for photo in taken.manifest.photos:
        for method in ("middle", "edge"):
            said = find_recorded_outputs(taken, MASKING, photo, method)
            refs = [
                MaskedRef(taken.id, photo.id, method, "grey", "absolute", percent)
                for percent in MASKING.percents
            ]
            expected = [round(float(masked_pictures.picture(taken, ref).mean()), 3) for ref in refs]
            assert [one[0] for one in said] == expected
            assert (
                find_recorded_outputs(taken, Masking(masked_pictures.sizes()), photo, method) == ()
            )


def test_names_with_dashes_are_pictures_of_their_own(tmp_path: Path) -> None:
    def dashed(manifest: stimuli.Json) -> None:
        manifest["methods"][0]["id"], manifest["methods"][1]["id"] = "b-c", "c"
        manifest["photos"] = manifest["photos"][:2]
        named = (*manifest["photos"], manifest["correct_example"], manifest["incorrect_example"])
        for photo, id_ in zip(named, ("a", "a-b", "right", "wrong"), strict=True):
            photo |= {"id": id_, "masked": []}
            photo["scores"] = dict(zip(("b-c", "c"), photo["scores"].values(), strict=True))

    made = stimuli.edited(stimuli.write(tmp_path, "scores"), dashed)
    assert masked_pictures.write(made, MASKING, tmp_path / "out") == 4 * 2 * 3
    assert len(list((tmp_path / "out").rglob("*.png"))) == 4 * 2 * 3


def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    out = tmp_path / "masked"
    out.mkdir()
    with pytest.raises(StimuliError, match="already exists, and nothing is overwritten"):
        masked_pictures.write(made, MASKING, out)
    out.rmdir()
    (made.folder / "p05-edge.npy").unlink()
    with pytest.raises(StimuliError, match=r"The score file 'p05-edge\.npy' cannot be read"):
        masked_pictures.write(made, MASKING, out)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny-scores"]


def test_other_sets_have_no_masks(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    with pytest.raises(StimuliError, match="tiny-heatmaps is of the kind heatmaps"):
        masked_pictures.write(made, MASKING, tmp_path / "out")
    assert json.loads((made.folder / "manifest.json").read_text("utf-8"))["kind"] == "heatmaps"
