"""The rules that every set built from the birds keeps, read from its manifest alone."""

from __future__ import annotations

from collections import Counter

from labapp.models.datasets.birds import SISTERS, deciding_visibility
from labapp.models.explanations.building.sets import Spec
from labapp.models.stimuli.manifest import Manifest, Photo
from labapp.models.stimuli.pictures import bird_of


def holds(manifest: Manifest, spec: Spec) -> None:
    """Asserts every rule by which photos are chosen and explained."""
    places = {one.id: place for place, one in enumerate(manifest.classes)}
    assert (manifest.id, manifest.kind, manifest.scale) == (spec.id, spec.kind, spec.scale)
    assert manifest.method.classifier == spec.model
    assert manifest.invented
    assert all(one.marks for one in manifest.classes)
    assert manifest.sets == tuple(range(1, spec.wanted.sets + 1))
    examples = [manifest.correct_example, manifest.incorrect_example]
    photos = [*manifest.photos, *(one for one in examples if one is not None)]
    assert len(photos) == len(manifest.photos) + 2
    assert len({photo.photo for photo in photos}) == len(photos)
    for number in manifest.sets:
        of_set = manifest.of_set(number)
        assert sum(photo.correct for photo in of_set) == spec.wanted.right
        assert sum(not photo.correct for photo in of_set) == spec.wanted.wrong
        assert max(Counter(photo.truth for photo in of_set).values()) <= 2
    for photo in photos:
        bird = bird_of(photo.photo)
        assert bird.species == places[photo.truth]
        assert deciding_visibility(bird) >= 0.6
    wrong = [photo for photo in manifest.photos if not photo.correct]
    across = [p for p in wrong if places[p.truth] // SISTERS != places[p.prediction] // SISTERS]
    assert across == []
    if wrong:
        genera = Counter(places[photo.truth] // SISTERS for photo in wrong)
        missed = Counter(photo.facts["missed"] for photo in wrong)
        assert len(genera) == 5
        assert max(genera.values()) <= 0.4 * len(wrong)
        assert {1.0, 2.0} <= missed.keys()
    for photo in photos:
        KINDS[spec.kind](photo, manifest, spec)


def _heatmaps(photo: Photo, manifest: Manifest, spec: Spec) -> None:
    assert len(photo.options) == len(photo.heatmaps) == len(photo.logits) == 4
    assert {photo.truth, photo.prediction} <= set(photo.options)
    assert photo.options[photo.logits.index(max(photo.logits))] == photo.prediction


def _prototypes(photo: Photo, manifest: Manifest, spec: Spec) -> None:
    of = {one.id: one.of for one in manifest.prototypes}
    shown = photo.options if spec.distinction else (photo.prediction,)
    if spec.distinction:
        assert len(photo.options) == 4
        assert photo.options[photo.logits.index(max(photo.logits))] == photo.prediction
    assert {of[row.prototype] for row in photo.rows} == set(shown)
    for one in shown:
        rows = [row for row in photo.rows if of[row.prototype] == one]
        assert {row.prototype for row in rows} == {p for p, owner in of.items() if owner == one}
        similar = [row.similarity or 0.0 for row in rows]
        assert similar == sorted(similar, reverse=True)
        assert [row.rank for row in rows] == list(range(1, len(rows) + 1))
        assert len(rows) <= 10


def _path(photo: Photo, manifest: Manifest, spec: Spec) -> None:
    assert all((row.similarity or 0.0) > 0.5 for row in photo.rows if row.present)
    assert all((row.similarity or 0.0) <= 0.5 for row in photo.rows if not row.present)
    if not spec.distinction:
        assert photo.correct == (photo.first_wrong is None)
        assert (photo.first_wrong or 1) <= len(photo.rows)
    if photo.final is not None:
        final = photo.final
        second = final.present if final.first.present else final.absent
        place = 2 * bool(final.first.present) + bool(second.present)
        assert final.classes[place] == photo.truth == photo.prediction
        assert len(set(final.classes)) == 4
        asked = {row.prototype for row in (final.first, final.absent, final.present)}
        if photo.set is not None:
            assert not asked & {row.prototype for row in photo.rows}
        else:
            assert [row.prototype for row in photo.rows[-2:]] == [
                final.first.prototype, second.prototype,
            ]  # fmt: skip
    elif spec.distinction:
        assert photo.set is None
        assert not photo.correct


KINDS = {"heatmaps": _heatmaps, "prototypes": _prototypes, "path": _path}
