"""Evidence maps, GradCAM, patches, boxes and pictures as bytes, by hand and by algebra."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from labapp.base.errors import ModelError
from labapp.models.datasets.birds import BirdRows
from labapp.models.explanations import bagnet as bags
from labapp.models.explanations import patches
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.patches import (
    first_prototypes,
    nearest_patches,
    squared_distances,
    strongest,
)
from labapp.models.explanations.photos import (
    CAST,
    GAIN,
    SHIFT,
    Batches,
    Photos,
    UInt8,
    as_bytes,
    as_input,
    augment,
    load_photos,
)
from labapp.models.explanations.resnet import gradcam, of_network, scale_maps
from tests.helpers.sample import sample
from tests.models.explanations.conftest import untrained


def test_the_mean_of_a_map_is_the_score(bagnet: Classifier, pictures: UInt8) -> None:
    few = pictures[:3]
    maps = bags.evidence(bagnet, few)
    assert maps.shape == (3, 20, 24, 24)
    assert maps.dtype == np.float32
    assert maps.std((2, 3)).min() > 1e-4
    assert np.abs(maps.mean((2, 3), dtype=np.float64) - bagnet.scores(few)).max() < 2e-6


@pytest.mark.parametrize("field", [17, 25, 33, 41])
def test_a_position_sees_its_field_and_no_more(field: int, pictures: UInt8) -> None:
    model = untrained({"name": "bagnet", "field": field})
    before = bags.evidence(model, pictures[:1])[0]
    at, reach = 48, field // 2
    for axis in sample((1, 2), (1,)):
        for offset, changes in (
            (reach, True), (-reach, True), (reach + 1, False), (-reach - 1, False)
        ):  # fmt: skip
            changed = pictures[:1].copy()
            pixel = [slice(None)] * 4
            pixel[axis + 1] = slice(at + offset, at + offset + 1)
            changed[tuple(pixel)] = 255 - changed[tuple(pixel)]
            after = bags.evidence(model, changed)[0]
            moved = bool((after[:, at // 4, at // 4] != before[:, at // 4, at // 4]).any())
            assert moved == changes, (axis, offset)
    assert model.card.checks.field == (field, field)  # type: ignore[union-attr]


def test_one_range_for_all_species_of_a_picture() -> None:
    maps = np.zeros((2, 20, 10, 10), np.float32)
    maps[0, 3] = np.linspace(-50, 0, 100).reshape(10, 10)
    maps[1] = 2
    found = bags.symmetric_range(maps)
    assert found.dtype == np.float32
    assert found[0] == pytest.approx(np.percentile(np.abs(maps[0]), 99))
    assert 0 < found[0] < 50
    assert found[1] == 2


def test_another_kind_of_classifier_is_refused(resnet: Classifier, pictures: UInt8) -> None:
    with pytest.raises(ModelError, match="birds/resnet is a "):
        bags.evidence(resnet, pictures)


def by_hooks(model: Classifier, pictures: UInt8, species: int) -> np.ndarray:
    """Mean gradient of the score for each channel, times the channel, summed, without negatives."""
    held: dict[str, torch.Tensor] = {}
    layer = model.network.get_submodule("backbone")
    handle = layer.register_forward_hook(lambda _m, _i, out: held.update(map=out))
    scores = model.network(as_input(pictures))
    handle.remove()
    (gradient,) = torch.autograd.grad(scores[:, species].sum(), held["map"])
    weight = gradient.mean((2, 3), keepdim=True)
    return (weight * held["map"]).sum(1).clamp(min=0).detach().numpy()


def test_maps_are_those_of_hooks_by_hand(resnet: Classifier, pictures: UInt8) -> None:
    maps, scores = of_network(resnet.network, pictures)  # type: ignore[arg-type]
    assert maps.shape == (10, 20, 12, 12)
    assert maps.dtype == np.float32
    assert np.allclose(scores, resnet.scores(pictures), atol=1e-5)
    speaking = np.flatnonzero(maps.max((0, 2, 3)) > 0)
    assert len(speaking) > 3
    for species in (*speaking[:3], int(maps.max((0, 2, 3)).argmin())):
        assert np.allclose(maps[:, species], by_hooks(resnet, pictures, species), atol=1e-6)


def test_after_mean_pooling_the_weights_are_those_of_the_head(
    resnet: Classifier, pictures: UInt8
) -> None:
    maps, _ = of_network(resnet.network, pictures[:2])  # type: ignore[arg-type]
    features = resnet.network.get_submodule("backbone")(as_input(pictures[:2])).detach()
    head = resnet.network.get_submodule("head").weight.detach()
    expected = torch.einsum("kc,nchw->nkhw", head, features).clamp(min=0) / 144
    assert np.allclose(maps, expected.numpy(), atol=1e-6)


def test_all_species_of_a_picture_share_one_scale(resnet: Classifier, pictures: UInt8) -> None:
    raw, _ = of_network(resnet.network, pictures)  # type: ignore[arg-type]
    maps = gradcam(resnet, pictures)
    assert (maps.min((1, 2, 3)) == 0).all()
    assert (maps.max((1, 2, 3)) == 1).all()
    assert (maps.max((2, 3)) < 0.99).any(), "some species' map must not reach the top by itself"
    for one, before in zip(maps, raw, strict=True):
        assert np.allclose(one * (before.max() - before.min()) + before.min(), before, atol=1e-6)


def test_maps_without_anything_stay_nothing() -> None:
    assert (scale_maps(np.zeros((1, 20, 3, 3), np.float32)) == 0).all()


def test_gradcam_refuses_another_kind_of_classifier(bagnet: Classifier, pictures: UInt8) -> None:
    with pytest.raises(ModelError, match="birds/bagnet is a ") as refused:
        gradcam(bagnet, pictures)
    assert refused.value.todo


def test_an_enlarged_map_is_the_bicubic_one_at_the_positions_of_the_network() -> None:
    """Torch puts position i in the middle of cell i, which is 3.5 pixels further on here."""
    maps = np.random.default_rng(0).random((2, 12, 12), np.float32)
    wide = functional.interpolate(
        torch.from_numpy(maps)[:, None], size=(192, 192), mode="bicubic", align_corners=False
    )
    # Pixel 2k + 8 of 192 in torch's way lies k / 8 + 1/32 positions on; compare off the edges.
    found = patches.enlarge_maps(maps, 192)[:, 32:-32, 32:-32]
    shifted = wide[:, 0, 39:-25, 39:-25].numpy(), wide[:, 0, 40:-24, 40:-24].numpy()
    np.testing.assert_allclose(found, (shifted[0] + shifted[1]) / 2, atol=0.01)


def test_an_enlarged_map_passes_through_the_map_and_keeps_a_constant() -> None:
    maps = np.random.default_rng(1).random((3, 12, 12), np.float32)
    np.testing.assert_allclose(patches.enlarge_maps(maps, 96)[:, ::8, ::8], maps, atol=1e-5)
    np.testing.assert_allclose(patches.enlarge_maps(np.full((1, 6, 6), 0.7), 48), 0.7, atol=1e-5)


def test_a_single_cell_is_boxed_as_on_a_map_of_seven() -> None:
    boxes = patches.around_cells(np.array([[4, 7], [0, 0], [11, 11]]), (12, 12))
    left, top, right, bottom = boxes[0]
    assert (left + right) / 2 == pytest.approx(7 / 12)
    assert (top + bottom) / 2 == pytest.approx(4 / 12)
    assert right - left == pytest.approx(2 / 7) == pytest.approx(bottom - top)
    assert boxes[1].tolist() == pytest.approx([0, 0, 1 / 7, 1 / 7])
    assert boxes[2, 2:].tolist() == [1, 1]


def test_only_what_hangs_together_with_the_peak_is_in_the_box() -> None:
    maps = np.zeros((2, 12, 12), np.float32)
    maps[:, 2, 3] = 2
    maps[1, 9:11, 8:10] = 1.9  # bright too, but elsewhere
    alone, beside = patches.around_peaks(maps, 96) * 96
    for left, top, right, bottom in (alone, beside):
        assert left <= 3 * 8 < right
        assert top <= 2 * 8 < bottom
        assert right < 6 * 8
        assert bottom < 5 * 8


def test_a_box_holds_the_peaks_own_cell_at_least() -> None:
    sharp = np.random.default_rng(3).random((5, 12, 12), np.float32)
    sharp[:, 6, 6] = 50
    for box in patches.around_peaks(sharp, 96):
        assert (box[:2] * 12 <= 5.2).all()
        assert (box[2:] * 12 >= 6.8).all()


def test_distances_are_those_of_the_differences() -> None:
    random = torch.Generator().manual_seed(0)
    latent = torch.rand(3, 5, 4, 6, generator=random, dtype=torch.float64)
    prototypes = torch.rand(7, 5, generator=random, dtype=torch.float64)
    slow = (latent[:, None] - prototypes[None, :, :, None, None]).square().sum(2)
    torch.testing.assert_close(squared_distances(latent, prototypes), slow)


def test_distances_are_never_negative() -> None:
    latent = torch.rand(2, 64, 3, 3) * 100
    prototypes = latent[0, :, 1, 2][None].clone()
    near = squared_distances(latent, prototypes)
    assert near.min() >= 0


@pytest.mark.parametrize("batch", [1, 4, 100])
def test_the_nearest_patch_is_the_one_that_going_through_all_of_them_finds(batch: int) -> None:
    random = np.random.default_rng(1)
    latent = torch.from_numpy(random.random((10, 4, 3, 5)))
    labels = torch.from_numpy(random.integers(0, 3, 10))
    labels[:3] = torch.arange(3)
    prototypes = torch.from_numpy(random.random((6, 4)))
    allowed = torch.tensor([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 1, 1]]) > 0
    found = nearest_patches(latent.split(batch), labels, prototypes, allowed)
    for p in range(6):
        best = min(
            ((latent[n, :, y, x] - prototypes[p]).square().sum().item(), n, y, x)
            for n in range(10)
            if allowed[p, labels[n]]
            for y in range(3)
            for x in range(5)
        )
        assert (found.rows[p], *found.cells[p]) == best[1:]
        assert found.distances[p].item() == pytest.approx(best[0])
        assert torch.equal(found.vectors[p], latent[best[1], :, best[2], best[3]])


def test_a_prototype_without_any_picture_is_refused() -> None:
    latent, labels = torch.rand(2, 4, 3, 3), torch.tensor([0, 0])
    allowed = torch.tensor([[False, True]])
    with pytest.raises(ValueError, match="no training picture"):
        nearest_patches([latent], labels, torch.rand(1, 4), allowed)


def test_positions_with_the_most_evidence_for_the_own_class_are_chosen() -> None:
    features = torch.zeros(2, 3, 4, 5)
    features[0, 1, 2, 3] = 1  # speaks for class 1
    features[0, 2, 0, 0] = 9  # speaks against it
    features[1, 2, 3, 4] = 1
    head = torch.tensor([[0.0, 0, 2], [0, 2, -1]])
    chosen = strongest(features, head, torch.tensor([1, 0]))
    assert chosen.shape == (2, 2)
    assert chosen[:, 0].tolist() == [2 * 5 + 3, 3 * 5 + 4]
    assert chosen[0, 1] != 0


def test_prototypes_begin_in_the_clusters_of_their_class() -> None:
    random = torch.Generator().manual_seed(0)
    latent = torch.zeros(8, 2, 1, 4)
    labels = torch.arange(8) % 2
    # Two clusters a class, at positions 0 and 1; what is elsewhere is not chosen.
    latent[:, 0] = torch.tensor([0.0, 10, 99, 99])
    latent[:, 1] = 20.0 * labels[:, None, None]
    latent += 0.1 * torch.rand(latent.shape, generator=random)
    chosen = torch.tensor([[0, 1]]).expand(8, -1)
    found = first_prototypes(latent, chosen, labels, 2, 2, seed=0)
    expected = [[0, 0], [10, 0], [0, 20], [10, 20]]
    found = torch.cat([part[part[:, 0].argsort()] for part in found.split(2)])
    torch.testing.assert_close(found, torch.tensor(expected).double(), atol=0.1, rtol=0)


def test_a_part_is_painted_once_and_as_its_rows_are() -> None:
    rows = BirdRows("test", 2, seed=3, size=48)
    photos = load_photos(rows)
    assert load_photos(rows) is photos
    chosen = np.array([0, 7, 39])
    assert (photos.pictures[chosen] == as_bytes(rows.instances(chosen))).all()
    assert (photos.species == np.arange(40) % 20).all()
    assert (photos.genus == photos.species // 4).all()
    assert len(load_photos(rows, 10)) == 10
    with pytest.raises(ValueError, match="read-only"):
        photos.pictures[0] = 0


def test_bytes_lose_half_a_step_at_most() -> None:
    values = np.linspace(0, 1, 3 * 16 * 16, dtype=np.float32).reshape(1, 3, 16, 16)
    assert np.abs(as_input(as_bytes(values)).numpy() - values).max() <= 0.5 / 255 + 1e-6


def ramps(n: int, size: int = 32) -> UInt8:
    """Pictures whose red grows to the right and whose green grows downwards; blue is even."""
    across = np.broadcast_to(np.arange(size) * 4, (size, size))
    one = np.stack([across, across.T, np.full((size, size), 100)])
    return np.broadcast_to(one, (n, 3, size, size)).astype(np.uint8)


def test_augmentation_moves_mirrors_and_lights_each_picture_by_itself() -> None:
    random = np.random.default_rng(0)
    made = augment(ramps(400), random).numpy() * 255
    gains = made[:, 2].mean((1, 2)) / 100
    assert np.allclose(made[:, 2], made[:, 2, :1, :1], atol=1e-3), "even colour stays even"
    assert gains.min() >= (1 - GAIN) * (1 - CAST)
    assert gains.max() <= (1 + GAIN) * (1 + CAST)
    assert gains.std() > 0.05

    mirrored = made[:, 0, 16, 0] > made[:, 0, 16, -1]
    assert 150 < mirrored.sum() < 250
    down = made[:, 1, 16, 0] / np.maximum(made[:, 1, 17, 0] - made[:, 1, 16, 0], 1e-6)
    shifts = np.rint(down - 16).astype(int)
    assert set(shifts) == set(range(-SHIFT, SHIFT + 1))
    assert (made[:, 0] == made[:, 0, :1]).all(), "rows stay rows"
    edge = made[shifts == SHIFT][0, 1, :, 0]
    assert (edge[-SHIFT:] == edge[-1]).all(), "what moves in repeats the edge"


def test_augmentation_is_a_function_of_its_chance() -> None:
    pictures = ramps(4)
    first, again, other = (augment(pictures, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_batches_go_through_everything_once_a_round() -> None:
    photos = Photos(BirdRows("train", 1, 0), ramps(10), np.arange(10))
    batches = Batches(photos, 4, seed=1, augmented=False)
    seen = np.concatenate([batches.rows(number) for number in range(5)])
    assert sorted(seen[:10]) == list(range(10)) == sorted(seen[10:])
    assert (seen[:10] != seen[10:]).any()
    assert (Batches(photos, 4, seed=1).rows(3) == batches.rows(3)).all()
    assert (Batches(photos, 4, seed=2).rows(3) != batches.rows(3)).any()
    inputs, species = batches.take(3, np.random.default_rng(0))
    assert species.tolist() == batches.rows(3).tolist()
    assert torch.equal(inputs, as_input(photos.pictures[:4]))
