"""Parts of stimulus sets: pixels of heatmaps, parts of trees, and sheets."""

from __future__ import annotations

import io
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image

from labapp.base.errors import StimuliError
from labapp.models.explanations.building import prototypes, sheet
from labapp.models.explanations.building.heatmaps import upsample
from labapp.models.explanations.building.prototypes import first_wrong
from labapp.models.explanations.prototree import TreeExplanation, complete
from labapp.models.stimuli import masked_pictures, score_files
from labapp.models.stimuli.masked_pictures import MaskedRef, Masking
from tests.helpers import stimuli
from tests.helpers.sample import examples


@pytest.mark.parametrize("size", [96, 384])
@pytest.mark.parametrize("positions", [12, 24, 96])
def test_a_position_is_put_on_its_pixel(size: int, positions: int) -> None:
    maps = np.zeros((1, 1, positions, positions), np.float32)
    i, j = positions // 2, positions // 3
    maps[0, 0, i, j] = 1
    found = upsample(maps, size)[0, 0]
    assert found.shape == (size, size)
    weight = found / found.sum()
    middle = (np.arange(size) + 0.5) * 96 / size - 0.5
    stride = 96 / positions
    assert (weight.sum(1) * middle).sum() == pytest.approx(i * stride, abs=1e-3)
    assert (weight.sum(0) * middle).sum() == pytest.approx(j * stride, abs=1e-3)


def test_networks_may_see_other_sizes() -> None:
    maps = np.zeros((1, 1, 6, 6), np.float32)
    maps[0, 0, 2, 4] = 1
    found = upsample(maps, 48, pixels=48)[0, 0]
    assert np.unravel_index(found.argmax(), found.shape) == (16, 32)


def test_even_maps_stay_even_and_a_map_of_all_pixels_is_itself() -> None:
    assert np.allclose(upsample(np.full((1, 2, 12, 12), 0.3, np.float32), 100), 0.3)
    maps = np.random.default_rng(0).random((1, 1, 96, 96), dtype=np.float32)
    assert np.allclose(upsample(maps, 96), maps, atol=1e-6)


DEPTH = 3

TREE = complete(DEPTH)


def explanation(probabilities: list[float], leaf_species: list[int]) -> TreeExplanation:
    """One picture in a complete tree of three questions a way."""
    p = np.array([probabilities])
    node = 0
    while TREE.children[node, 0] >= 0:
        node = int(TREE.children[node, int(p[0, node] > 0.5)])
    leaf = int(np.searchsorted(TREE.leaves, node))
    return TreeExplanation(
        tree=TREE,
        distributions=np.eye(20, dtype=np.float32)[leaf_species],
        probabilities=p,
        cells=np.zeros((1, 7, 2), np.int64),
        leaf=np.array([leaf]),
        soft=np.zeros((1, 20)),
        share_error=0.0,
        shape=(12, 12),
    )


def lost_at(probabilities: list[float], leaf_species: list[int], truth: int) -> int | None:
    """The same by going through all answers that could still follow."""
    answers = []
    node = 0
    for _ in range(DEPTH):
        answers.append(int(probabilities[node] > 0.5))
        node = int(TREE.children[node, answers[-1]])
    for step in range(1, DEPTH + 1):
        reached = set()
        for rest in product((0, 1), repeat=DEPTH - step):
            leaf = int("".join(map(str, [*answers[:step], *rest])), 2)
            reached.add(leaf_species[leaf])
        if truth not in reached:
            return step
    return None


@examples(80)
@given(
    st.lists(st.floats(0.01, 0.99), min_size=7, max_size=7),
    st.lists(st.integers(0, 5), min_size=8, max_size=8),
    st.integers(0, 5),
)
def test_the_first_wrong_step_is_the_first_without_return(
    probabilities: list[float], leaf_species: list[int], truth: int
) -> None:
    found = first_wrong(explanation(probabilities, leaf_species), 0, truth)
    assert found == lost_at(probabilities, leaf_species, truth)


def test_a_way_to_the_true_species_has_no_wrong_step() -> None:
    found = explanation([0.9] * 7, list(range(8)))
    assert first_wrong(found, 0, 7) is None
    assert [first_wrong(found, 0, truth) for truth in (6, 5, 4, 3, 0)] == [3, 2, 2, 1, 1]


def test_a_tree_is_drawn_whole() -> None:
    colours = ["red", "lime", "blue", "cyan", "magenta", "yellow", "black"]
    crops = {
        node: Image.new("RGB", (30, 20), colour)
        for node, colour in zip(TREE.inner.tolist(), colours, strict=True)
    }
    picture = Image.open(io.BytesIO(prototypes.draw_tree(TREE, crops, list(range(8)))))
    assert picture.width == pytest.approx(DEPTH * prototypes.COLUMN + 120, abs=40)
    assert picture.height == pytest.approx(8 * prototypes.ROW + 60, abs=40)
    seen = {colour for _, colour in picture.convert("RGB").getcolors(100_000)}  # type: ignore[union-attr]
    for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 255, 255), (255, 0, 255)):
        assert colour in seen


MASKING = Masking(masked_pictures.sizes(5, 60, 4), "black", "signed")


def drawn(figure: Figure) -> list[np.ndarray]:
    """The pictures of a figure, row by row."""
    return [np.asarray(image.get_array()) for axes in figure.axes for image in axes.get_images()]


def words(figure: Figure) -> set[str]:
    texts = [text.get_text() for axes in figure.axes for text in (*axes.texts, axes.title)]
    return {" ".join(text.split()) for text in texts} - {""}


def test_the_explanations_are_the_scores(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    figure = sheet.explanations(made)
    shown = drawn(figure)
    assert len(shown) == 8 * 3
    photo = made.manifest.photos[2]
    for place, method in enumerate(("middle", "edge"), start=1):
        scores = score_files.read(made.folder, photo.scores[method])
        assert np.array_equal(shown[2 * 3 + place], scores)
    assert {"image", "Middle", "Edge", "p00 disc, predicted right"} <= words(figure)
    assert "p02 disc, predicted as ring" in words(figure)


def test_the_masks_are_what_a_participant_sees(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    figure = sheet.masks(made, MASKING)
    shown = drawn(figure)
    assert len(shown) == 2 * 2 * 5
    chosen = ["p00", "p01"]
    for row, (photo, method) in enumerate((p, m) for p in chosen for m in ("middle", "edge")):
        for column, percent in enumerate(MASKING.percents):
            ref = MaskedRef(made.id, photo, method, "black", "signed", percent)
            assert np.array_equal(shown[5 * row + column], masked_pictures.picture(made, ref))
    assert {"5 %", "11 %", "26 %", "60 %", "image", "Middle", "Edge"} <= words(figure) | {
        one.split()[-1] for one in words(figure)
    }


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "sheets" / "explanations.png"
    kept.parent.mkdir()
    kept.write_bytes(b"a sheet")
    with pytest.raises(StimuliError, match="already exists, and nothing is overwritten"):
        sheet.write(stimuli.write(tmp_path, "scores"), MASKING, kept.parent)
    assert kept.read_bytes() == b"a sheet"


def test_both_are_written(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    out = tmp_path / "a" / "sheets"
    paths = sheet.write(made, MASKING, out)
    assert [path.name for path in paths] == ["explanations.png", "masked.png"]
    for path in paths:
        with Image.open(path) as image:
            assert image.format == "PNG"
            assert np.asarray(image.convert("L")).std() > 10
    (tmp_path / "file").write_text("")
    with pytest.raises(StimuliError, match="could not be written"):
        sheet.write(made, MASKING, tmp_path / "file" / "sheets")


def test_other_sets_have_no_sheets(tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "path-agreement")
    with pytest.raises(StimuliError, match="tiny-path-agreement is of the kind path"):
        sheet.write(made, MASKING, tmp_path / "sheets")
