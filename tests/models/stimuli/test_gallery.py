"""The pictures of a session are kept by hash and read from there alone."""

from __future__ import annotations

import hashlib
import io
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from labapp.base import resources
from labapp.base.errors import StimuliError
from labapp.models.stimuli import gallery, library, masked_pictures, pictures
from labapp.models.stimuli.gallery import Gallery
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Fill, Sign
from labapp.models.stimuli.masked_pictures import MaskedRef
from labapp.study.plan import pictures_of
from labapp.tasks.judging.plan import JudgingTask
from labapp.tasks.judging.planner import JudgingStages, PhotoAllocation, Showing
from tests.helpers import stimuli

BIRDS = ("bird:7:test:3:2", "bird:7:train:3:2")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LABAPP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_pictures_are_kept_and_read_without_the_set(cache: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    heat = made.manifest.photos[0].heatmaps[0]
    refs = (*BIRDS, heat)
    (kept,) = gallery.keep([made], refs, tmp_path / "session")
    assert (kept.stimuli, kept.manifest_sha256) == ("tiny-heatmaps", made.sha256)
    assert tuple(kept.files) == refs
    for name in kept.files.values():
        content = (tmp_path / "session" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == Path(name).stem
    expected = pictures.read(made.folder, heat)
    shutil.rmtree(made.folder)
    shutil.rmtree(cache)
    shown = Gallery.of(tmp_path / "session", [kept])
    assert np.array_equal(shown.rgb(heat), expected)
    assert shown.rgb(BIRDS[0]).shape == (512, 512, 3)
    assert shown.rgb(BIRDS[1]).shape == (384, 384, 3)
    painted = pictures.paint_bird(BIRDS[0]).astype(int)
    assert np.abs(shown.rgb(BIRDS[0]) - painted).mean() < 6
    assert not shown.rgb(heat).flags.writeable


def test_keeping_again_changes_nothing(cache: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    refs = made.manifest.photos[0].heatmaps
    first = gallery.keep([made], refs, tmp_path / "session")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "session").iterdir()}
    assert gallery.keep([made], refs, tmp_path / "session") == first
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "session").iterdir()}


def test_birds_are_painted_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    gallery.warm((BIRDS[0], "heat.png", BIRDS[1]), lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]
    assert len(list(cache.rglob("*.jpg"))) == 2

    def painted(ref: str) -> None:
        raise AssertionError(f"{ref} is painted again")

    monkeypatch.setattr(pictures, "paint_bird", painted)
    gallery.warm(BIRDS)
    assert resources.cache_root() == cache


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(cache: Path, tmp_path: Path) -> None:
    cache.write_text("a file where the folder would be")
    made = stimuli.write(tmp_path, "heatmaps")
    (kept,) = gallery.keep([made], BIRDS[:1], tmp_path / "session")
    assert len(kept.files) == 1


def test_the_same_name_in_two_sets_must_be_the_same_picture(cache: Path, tmp_path: Path) -> None:
    one = stimuli.write(tmp_path, "path-distinction")
    other = stimuli.write(tmp_path, "path-agreement")
    first, second = gallery.keep([one, other], ["tree.png"], tmp_path / "session")
    assert (list(first.files), list(second.files)) == (["tree.png"], [])
    changed = pictures.png(np.zeros((4, 4), np.uint8))
    (other.folder / "tree.png").write_bytes(changed)
    with pytest.raises(StimuliError, match=r"'tree.png' refers to different pictures in tiny-path"):
        gallery.keep([one, other], ["tree.png"], tmp_path / "session")
    only, none = gallery.keep([other, one], [], tmp_path / "session")
    assert only.files == none.files == {}


def test_missing_and_exchanged_pictures_are_refused(cache: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "heatmaps")
    with pytest.raises(StimuliError, match=r"'none.png' cannot be read"):
        gallery.keep([made], ["none.png"], tmp_path / "session")
    refs = made.manifest.photos[0].heatmaps[:2]
    (kept,) = gallery.keep([made], refs, tmp_path / "session")
    shown = Gallery(tmp_path / "session", kept.files)
    with pytest.raises(StimuliError, match="was not stored with this session"):
        shown.rgb("none.png")
    files = [tmp_path / "session" / name for name in kept.files.values()]
    shutil.copy(files[0], files[1])
    with pytest.raises(StimuliError, match="is not the picture that was stored"):
        shown.rgb(refs[1])


def test_a_shipped_set_and_an_own_one_are_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_STIMULI", str(library.shipped_folder()))
    assert len(set(library.set_folders())) == len(library.set_folders())


def refs_of(made: StimulusSet, fill: Fill = "mean", sign: Sign = "signed") -> list[MaskedRef]:
    return [
        MaskedRef(made.id, photo.id, method.id, fill, sign, percent)
        for photo in made.manifest.photos
        for method in made.manifest.methods
        for percent in masked_pictures.sizes()
    ]


def test_masked_pictures_are_made_of_picture_and_scores(cache: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    wanted = [*refs_of(made), *refs_of(made, "black", "absolute")]
    refs = [*map(str, wanted), "p00.png"]
    (kept,) = gallery.keep([made], refs, tmp_path / "session")
    assert tuple(kept.files) == tuple(refs)
    assert gallery.keep([made], refs, tmp_path / "again")[0] == kept, "the same bytes each time"
    photos = {one.id: one for one in made.manifest.photos}
    shown = Gallery.of(tmp_path / "session", [kept])
    for ref in wanted[::7]:
        photo = photos[ref.photo]
        whole = pictures.read(made.folder, photo.photo)
        scores = np.load(made.folder / photo.scores[ref.method])
        values = np.abs(scores) if ref.sign == "absolute" else scores
        least = np.sort(values, axis=None)[-masked_pictures.pixels(ref.percent, values.size)]
        blocks = np.kron(values >= least, np.ones((2, 2))).astype(bool)
        fill = 128 if ref.fill == "mean" else 0
        expected = np.where(blocks[..., None], whole, fill)
        assert np.array_equal(shown.rgb(str(ref)), expected)
        file = (tmp_path / "session" / kept.files[str(ref)]).read_bytes()
        with Image.open(io.BytesIO(file)) as image:
            assert (image.format, image.mode, image.size) == ("PNG", "L", (48, 48))


def test_masked_pictures_outlive_their_set(cache: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    ref = str(refs_of(made)[3])
    (kept,) = gallery.keep([made], [ref], tmp_path / "session")
    before = Gallery.of(tmp_path / "session", [kept]).rgb(ref)
    shutil.rmtree(made.folder)
    assert np.array_equal(Gallery.of(tmp_path / "session", [kept]).rgb(ref), before)


def test_coloured_photos_are_masked_in_colour(cache: Path, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, "scores")
    whole = np.random.default_rng(1).integers(0, 256, (48, 48, 3), np.uint8)
    (made.folder / "p00.png").write_bytes(pictures.png(whole))
    made = stimuli.edited(made, lambda m: m.update(mean_level=[0, 0.5, 1]))
    ref = MaskedRef(made.id, "p00", "edge", "mean", "signed", 50)
    (kept,) = gallery.keep([made], [str(ref)], tmp_path / "session")
    found = Gallery.of(tmp_path / "session", [kept]).rgb(str(ref))
    filled = (found == [0, 128, 255]).all(2)
    assert filled.mean() == pytest.approx(0.5, abs=0.01)
    assert np.array_equal(found[~filled], whole[~filled])


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("masked:tiny-scores:p00:middle:mean:signed", "is not the name of a masked picture"),
        ("masked:tiny-scores:p00:middle:mean:signed:500", "does not show a percentage"),
        (
            "masked:other:p00:middle:mean:signed:5",
            "the stimulus set 'other', which is not available",
        ),
        ("masked:tiny-scores:p77:middle:mean:signed:5", "tiny-scores has no photo 'p77'"),
        ("masked:tiny-scores:p00:lrp:mean:signed:5", "'p00' of tiny-scores has no scores of the"),
        ("masked:tiny-scores:p01:edge:mean:signed:5", "The score file 'p01-edge.npy' cannot be"),
        ("masked:tiny-scores:p02:edge:mean:signed:5", "The picture 'p02.png' cannot be read"),
        ("masked:tiny-scores:p03:edge:mean:signed:5", "cannot be masked: a picture of 50 x 48"),
    ],
)
def test_a_masked_picture_that_cannot_be_had_is_told(
    ref: str, said: str, cache: Path, tmp_path: Path
) -> None:
    made = stimuli.write(tmp_path, "scores")
    (made.folder / "p01-edge.npy").unlink()
    (made.folder / "p02.png").unlink()
    (made.folder / "p03.png").write_bytes(pictures.png(np.zeros((48, 50), np.uint8)))
    with pytest.raises(StimuliError) as refused:
        gallery.keep([made], [ref], tmp_path / "session")
    assert said in refused.value.what
    assert refused.value.todo


def test_a_set_without_a_mean_cannot_be_filled_with_it(cache: Path, tmp_path: Path) -> None:
    made = stimuli.edited(stimuli.write(tmp_path, "scores"), lambda m: m.pop("mean_level"))
    refs = [str(MaskedRef(made.id, "p00", "edge", "grey", "signed", 5))]
    assert len(gallery.keep([made], refs, tmp_path / "session")[0].files) == 1
    refs.append(str(MaskedRef(made.id, "p00", "edge", "mean", "signed", 5)))
    with pytest.raises(StimuliError, match="does not state its mean level"):
        gallery.keep([made], refs, tmp_path / "session")


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("heatmaps", "heatmap-distinction"),
        ("prototype-distinction", "prototype-distinction"),
        ("prototype-agreement", "prototype-agreement"),
        ("path-distinction", "path-distinction"),
        ("path-agreement", "path-agreement"),
        ("path-agreement", "path-first-step"),
    ],
)
def test_all_that_a_plan_shows_is_kept(name: str, task: JudgingTask, tmp_path: Path) -> None:
    made = stimuli.write(tmp_path, name)
    stages = JudgingStages(
        task=task, stimuli=made.id, set=2, description="d.md", intro="i.md", order="as_listed"
    )
    showing = Showing(stages, made, defaultdict(str))
    judged = PhotoAllocation.of(showing, 2, lambda rows, _: tuple(rows), lambda photos: photos)
    parts = [judged.method("method", "m.md"), judged.stage(1, 1, "d.md")]
    refs = pictures_of(parts)
    assert len(set(refs)) == len(refs)
    said = " ".join(part.model_dump_json() for part in parts)
    assert all(f'"{ref}"' in said for ref in refs)
    photos = [*made.manifest.of_set(2), made.manifest.correct_example]
    shown = {ref for one in photos if one is not None for ref in (one.photo, *one.heatmaps)}
    prototypes = {one.id: one.photo for one in made.manifest.prototypes}
    rows = [row for one in photos if one is not None for row in one.rows]
    rows += [one.final.first for one in photos if one is not None and one.final is not None]
    shown |= {prototypes[row.prototype] for row in rows}
    assert shown <= set(refs)
    assert ("tree.png" in refs) == name.startswith("path")
    assert pictures_of([]) == ()
