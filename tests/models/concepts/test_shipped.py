"""Concept models that are shipped, and a lab's own description and pictures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from labapp.base import resources
from labapp.base.errors import DatasetError
from labapp.models.concepts import card, imported, package, recipe
from labapp.models.concepts import card as cards
from labapp.models.concepts.recipe import Data, Size
from labapp.models.concepts.training import interventions
from labapp.models.datasets.concepts.rows import ConceptRows, part
from labapp.models.stimuli import importing, library, score_files
from labapp.models.stimuli.manifest import Manifest
from tests.helpers.sample import EVERYTHING
from tests.models.concepts.conftest import PICTURES

SHIPPED = package.list_packages(resources.models())

SETS = [
    row["id"]
    for row in library.list_sets()
    if (library.shipped_folder() / row["id"] / "answers.npy").is_file()
]


@lru_cache(maxsize=4)
def rows_of(data: Data, size: Size) -> ConceptRows:
    """The test rows of a task: several models have the same."""
    return data.load(size).split.test


def manifest_of(name: str) -> Manifest:
    return library.load(name).manifest


@pytest.mark.parametrize("name", SHIPPED)
def test_a_model_is_that_of_its_recipe_and_as_good_as_its_card_says(name: str) -> None:
    folder = package.find(name, resources.models())
    card = cards.read(folder)
    assert isinstance(card, cards.ConceptCard)
    assert card.recipe.digest == recipe.read_shipped()[name].digest
    model = package.load(name, root=resources.models())
    test = rows_of(card.recipe.data, card.recipe.measures)
    looked_at = 100 if EVERYTHING else 30
    every = np.sort(np.random.default_rng(0).permutation(len(test))[:looked_at])
    stored = package.codes(folder, card)
    np.testing.assert_allclose(model.codes(part(test, every)), stored["codes"][every], atol=1e-3)
    if card.learner in ("cbm", "cbm-logits"):  # their codes are all that the predictor reads
        logits = model.predict_from(stored["codes"].astype(np.float64))
        believed = stored["codes"] >= (0.5 if card.learner == "cbm" else 0)
        right = (believed == stored["concepts"]).mean()
        assert right == pytest.approx(card.test.concepts, abs=1e-3)
    else:
        assert card.test.concepts is None
        logits = None if card.test.task is None else model.task_logits(test)
    if logits is not None:
        task = (logits.argmax(axis=1) == stored["labels"]).mean()
        assert task == pytest.approx(card.test.task, abs=1e-3)
    assert (logits is None) == (card.test.task is None)


def test_of_every_kind_of_learner_that_fits_there_is_a_model() -> None:
    """beta-VAE, which is a VAE but for one number, would not fit the budget of `models`."""
    learners = {cards.read(package.find(name, resources.models())).learner for name in SHIPPED}
    kinds = {each.learner.name for each in recipe.read_shipped().values()}
    assert learners == kinds - {"beta-vae"}
    assert len(kinds) == 9


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_the_answers_of_its_shipped_model(name: str) -> None:
    manifest = manifest_of(name)
    assert manifest.concept_model is not None
    assert manifest.concept_model.model in SHIPPED
    model = package.load(manifest.concept_model.model, root=resources.models())
    assert manifest.concept_model.sha256 == model.card.weights_sha256
    assert isinstance(model.card, cards.ConceptCard)
    test = rows_of(model.card.recipe.data, model.card.recipe.measures)
    # Those that show what words mean are no test pictures.
    places = [at for at, photo in enumerate(manifest.photos) if photo.id.startswith("p")][::10]
    rows = part(test, np.array([int(manifest.photos[place].id[1:]) for place in places]))
    stored = score_files.read_answers(library.shipped_folder() / name, str(manifest.answers))
    stored = stored[places]
    table = interventions(model, rows).answers(single=stored.shape[1] < 3 ** len(manifest.concepts))
    np.testing.assert_allclose(stored.astype(float), table.astype(float), atol=5e-3)


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_in_order(name: str) -> None:
    """Sets of drawn changes are as coarse as the models saw their pictures, and what shows words
    and is practised with is less than what is drawn."""
    result = importing.read_checked(library.shipped_folder() / name)
    drawn = name.startswith("shapes-forecast-")
    meant = ("the sets differ in size", "less than 200 pixels") if drawn else ()
    assert [told for told in result.warnings if not told.startswith(meant or "-")] == []
    assert len(result.warnings) == len(meant)


def test_sets_of_one_task_share_their_natural_pictures() -> None:
    natural: dict[str, list[set[str]]] = {}
    for name in SETS:
        manifest = manifest_of(name)
        ids = {photo.id for photo in manifest.photos if photo.natural}
        natural.setdefault(manifest.source, []).append(ids)
    assert max(map(len, natural.values())) > 1
    for sets in natural.values():
        assert all(ids == sets[0] for ids in sets)


def test_the_graded_models_are_matched_in_accuracy() -> None:
    """Twelve of one family, within 2 points of the task and 1.5 of the concepts."""
    graded = [
        cards.read(package.find(name, resources.models()))
        for name in SHIPPED
        if name.startswith("concepts/shapes-graded-")
    ]
    assert len(graded) == 12
    for key, apart in (("task", 0.02), ("concepts", 0.015)):
        shares = [getattr(card.test, key) for card in graded]
        assert max(shares) - min(shares) <= apart


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
        ("pictures/0.png,", ",", "line 2: '' is not a picture"),
        ("pictures/0.png,", "pictures,", "line 2: 'pictures' is not a picture"),
        ("pictures/0.png,", "description.yaml,", "line 2: .* is not a readable PNG"),
        ("class,size,", "class,größe,", "no column size"),
        # As other programs save it: in their own encoding, and with a line given again.
        (b"class", "größe".encode("latin-1"), "no column class .*größe"),
        ("pictures/5.png,", "pictures/0.png,", "line 3: .* is the same picture as in line 2"),
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
        with pytest.raises(
            DatasetError, match=r"line 2: .* 31 × 34 pixels, which is less than the 32"
        ):
            card._large(picture, description, "line 2")
        return
    _, large = card._large(picture, description, "line 2")
    assert large.shape == (1, shown, shown)
