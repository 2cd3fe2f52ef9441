"""Folders of models, and what codes agree on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models import catalog as models_catalog
from labapp.models.datasets.split import Float32, Split
from labapp.models.representations import decoding, measuring, package
from labapp.models.representations.decoding import Array, Foresight, compare
from labapp.models.representations.space import Continuous, Discrete, LatentSpace
from tests.helpers import digits
from tests.helpers.packages import copied


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of models; it does not exist yet."""
    folder = tmp_path / "own models"
    monkeypatch.setenv("LABAPP_MODELS", str(folder))
    return folder


def test_the_users_folder_is_no_part_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABAPP_MODELS")
    monkeypatch.delenv("LABAPP_PRIVATE", raising=False)
    folder = resources.user_models()
    assert folder.is_absolute()
    assert not folder.is_relative_to(Path(resources.__file__).parents[1])
    assert folder.parent == resources.private_root().parent


def test_a_folder_named_twice_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(resources.models() / ".." / "models"))
    assert resources.model_roots() == (resources.models(),)
    assert package.find("sinelines/gt") == resources.models() / "sinelines/gt"


def test_a_model_of_the_users_is_found_beside_the_shipped_ones(own: Path) -> None:
    shipped = package.list_packages()
    folder = copied(own, "sinelines/lab")
    assert package.find("sinelines/lab") == folder
    assert package.load_package("sinelines/lab").id == "sinelines/lab"
    assert package.find("sinelines/gt") == resources.models() / "sinelines/gt"
    assert package.list_packages() == sorted([*shipped, "sinelines/lab"])


def test_the_list_says_where_each_comes_from(own: Path) -> None:
    folder = copied(own, "sinelines/lab")
    (own / "sinelines/broken").mkdir()
    (own / "sinelines/broken/model.yaml").write_text("card: 1\n")
    rows = {row["id"]: row for row in models_catalog.models()}
    assert (rows["sinelines/lab"]["source"], rows["sinelines/lab"]["folder"]) == (
        "own",
        str(folder),
    )
    assert rows["sinelines/broken"]["source"] == "own"
    assert "problem" in rows["sinelines/broken"]
    assert rows["sinelines/gt"]["source"] == "shipped"
    (row,) = [row for row in models_catalog.models(own) if "problem" not in row]
    assert row["source"] == "own"


def test_an_id_that_names_two_models_is_refused_and_never_shadowed(own: Path) -> None:
    folder = copied(own, "sinelines/gt")
    with pytest.raises(ModelError) as caught:
        package.load_package("sinelines/gt")
    assert str(folder) in caught.value.what
    assert str(resources.models() / "sinelines/gt") in caught.value.what
    assert caught.value.todo
    assert package.load_package(folder).id == "sinelines/gt", "by its folder it can be had"
    (row,) = [row for row in models_catalog.models() if row["id"] == "sinelines/gt"]
    assert row["problem"] == caught.value.what
    assert package.list_packages().count("sinelines/gt") == 1


def test_a_model_that_is_missing_is_looked_up_where_the_message_says(own: Path) -> None:
    copied(own, "sinelines/lab")
    with pytest.raises(ModelError) as caught:
        package.find("mnist/ae5")
    todo = caught.value.todo
    for part in (str(own), str(resources.models()), "import-tfjs", "train", "sinelines/lab"):
        assert part in todo


def test_an_id_of_the_users_cannot_lead_out_by_a_link(own: Path, tmp_path: Path) -> None:
    outside = copied(tmp_path / "elsewhere", "sinelines/lab")
    (own / "sinelines").mkdir(parents=True)
    (own / "sinelines/lab").symlink_to(outside)
    with pytest.raises(ModelError, match="link to a place outside the models folder"):
        package.find("sinelines/lab")


def test_a_new_package_takes_no_id_that_is_taken(own: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        package.refuse_existing(own / "sinelines/vae")
    assert str(resources.models() / "sinelines/vae") in caught.value.what
    copied(own, "sinelines/lab")
    with pytest.raises(ModelError, match="never overwritten"):
        package.refuse_existing(own / "sinelines/lab")
    with pytest.raises(ModelError, match="is already used by"):
        package.refuse_existing(resources.models() / "sinelines/lab")
    package.refuse_existing(own / "sinelines/new")
    package.refuse_existing(tmp_path / "a folder of its own" / "sinelines/vae")


TARGET = np.full(4, 0.5, np.float32)


class Counted:
    """A decoder of one dial; remembers how many instances each call was asked for."""

    id = "sinelines/counted"
    space = LatentSpace((Continuous("dial", 0.0, 1000.0, 0.01),))
    latents = None
    percentiles: Mapping[int, Array] = MappingProxyType({})
    from_prior = False

    def __init__(self) -> None:
        self.calls: list[int] = []

    def decode(self, z: Array) -> Array:
        self.calls.append(len(z))
        return z * np.arange(4, dtype=np.float32)


def looked(looks: Foresight, value: float) -> None:
    """A look gives the picture of that state, and how far it is from the target."""
    picture, measured = looks.look((value,))
    np.testing.assert_array_equal(picture, np.float32(value) * np.arange(4, dtype=np.float32))
    assert measured == compare("mse/9", picture, TARGET)


def test_what_is_foreseen_comes_with_what_is_asked_for_and_is_not_asked_for_again() -> None:
    decoder = Counted()
    looks = Foresight(decoder, "mse/9", TARGET)
    looks.foresee(lambda: [(2.0,), (1.0,), (3.0,), (2.0,)])
    for value in (1, 2, 3, 1):
        looked(looks, value)
    assert decoder.calls == [3]


def test_what_is_foreseen_is_left_out_where_it_is_known_and_holds_once() -> None:
    decoder = Counted()
    looks = Foresight(decoder, "mse/9", TARGET)
    looks.foresee(tuple)
    looked(looks, 5)
    looks.foresee(lambda: [(5.0,)])
    looked(looks, 6)
    looked(looks, 7)
    assert decoder.calls == [1, 1, 1]


def test_where_nothing_is_foreseen_nothing_is_remembered() -> None:
    decoder = Counted()
    looks = Foresight(decoder, "mse/9", TARGET)
    looked(looks, 1)
    looked(looks, 1)
    assert decoder.calls == [1, 1]


def test_it_does_not_remember_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "KEPT", 8)
    decoder = Counted()
    looks = Foresight(decoder, "mse/9", TARGET)
    looks.foresee(tuple)
    for value in range(9):
        looked(looks, value)
    looked(looks, 8)
    assert len(decoder.calls) == 9
    looked(looks, 0)
    assert len(decoder.calls) == 10


SPACE = LatentSpace((Discrete("c1", 10), Continuous("z1", -1.0, 1.0)))

ORDER = np.array([3, 1, 4, 0, 5, 9, 2, 6, 8, 7])


@pytest.fixture(scope="module")
def data() -> Split:
    from labapp.models.datasets.mnist import DigitRows

    return Split(
        DigitRows(*digits.draw(600, seed=0)),
        DigitRows(*digits.draw(200, seed=1)),
        ("digit",),
        False,
    )


@pytest.fixture
def latents() -> Float32:
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(10, size=500), rng.uniform(-1, 1, 500)], 1).astype(np.float32)


def a_decoder(wrong: float):  # type: ignore[no-untyped-def]
    """Draws the digit ORDER[code]; where z1 < -1 + 2 * wrong, a one instead."""

    def decode(inputs: Float32) -> Float32:
        named = ORDER[inputs[:, :10].argmax(1)]
        named = np.where(inputs[:, 10] < -1 + 2 * wrong, 1, named)
        pictures = np.zeros((len(inputs), 28, 28), np.float32)
        for row, digit in enumerate(named):
            pictures[row, 4:24, 2 * digit + 4 : 2 * digit + 7] = 1
        return pictures

    return decode


def test_codes_that_each_draw_one_digit_agree_whatever_their_order(
    data: Split, latents: Float32
) -> None:
    found = measuring.code_agreement(SPACE, a_decoder(0.0), latents, data)
    assert found.classifier_accuracy > 0.95
    assert found.agreement == 1.0
    assert found.digits == ORDER.tolist()
    assert found.pictures == 500


def test_what_draws_another_digit_counts_against(data: Split, latents: Float32) -> None:
    found = measuring.code_agreement(SPACE, a_decoder(0.4), latents, data)
    # Four tenths are ones; a tenth of those belong to the code of the one.
    assert found.agreement == pytest.approx(1 - 0.4 * 0.9, abs=0.05)


def test_a_code_without_meaning_agrees_by_chance(data: Split, latents: Float32) -> None:
    shuffled = latents.copy()

    def decode(inputs: Float32) -> Float32:
        rng = np.random.default_rng(1)
        mixed = inputs.copy()
        mixed[:, :10] = np.eye(10, dtype=np.float32)[rng.integers(10, size=len(inputs))]
        return np.asarray(a_decoder(0.0)(mixed), np.float32)

    found = measuring.code_agreement(SPACE, decode, shuffled, data)
    assert found.agreement < 0.25
