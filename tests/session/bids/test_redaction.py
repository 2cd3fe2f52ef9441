"""A de-identified bundle holds none of the words a person wrote, nor the names of their things."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labapp.analysis.rows import SessionRecords
from labapp.base import resources
from labapp.record.events import registered
from labapp.record.events.lifecycle import NoteAdded, PointerMoved
from labapp.record.events.registry import written
from labapp.record.events.trials import QuestionnaireSubmitted, ResponseChanged
from labapp.record.events.voice import AudioBlock
from labapp.record.journal.opening import open_record
from labapp.record.journal.read import check_rows, payloads
from labapp.session.bids.contents import WITHHELD, clock_fits, redact, redact_payload
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.study.instruments import Instrument, Written
from labapp.study.plugins import registry
from labapp.tasks.reconstruction.events import DialMoved
from tests.helpers.golden import golden_builder
from tests.helpers.journals import golden_session
from tests.helpers.trees import snapshot

SAID = (
    "third dial",
    "slant",
    "asked for water",
    "Table microphone",
    "boot-1",
    "U2720Q",
    "No speech for 15 s",
    "35-50",
    "liked the waves",
)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    builder = golden_builder()
    builder.at(122, ResponseChanged("demographics", "age", "35-50"), "debrief")
    builder.at(122.5, QuestionnaireSubmitted("demographics", 1, {"age": 3}), "debrief")
    builder.at(122.6, ResponseChanged("comments", "free", "I liked the waves"), "debrief")
    answers = {"free": "I liked the waves", "again": 4}
    builder.at(122.7, QuestionnaireSubmitted("comments", 1, answers), "debrief")
    return export([builder.write(tmp_path / "data")], tmp_path / "bundle", deidentify=True)


def test_no_word_of_a_person_is_in_any_file(bundle: Path) -> None:
    texts = snapshot(bundle)
    record = open_record(bundle)
    texts["rows"] = "\n".join(row.payload for row in record.rows).encode()
    for word in SAID:
        found = [name for name, content in texts.items() if word.encode() in content]
        assert found == [], f"{word!r} is in {found}"
    assert not (bundle / "phenotype/demographics.tsv").exists()
    assert (bundle / "phenotype/comments.tsv").read_text().split("\t")[-1].strip() == WITHHELD


def test_the_same_words_are_in_a_plain_bundle(tmp_path: Path) -> None:
    """So that the test above can fail."""
    record = open_record(export([golden_session(tmp_path / "data")], tmp_path / "plain"))
    text = "\n".join(row.payload for row in record.rows)
    assert all(word in text for word in SAID[:-2])


def test_rows_are_marked_and_chained_anew(bundle: Path) -> None:
    record = open_record(bundle)
    assert record.redacted
    assert check_rows(record.rows, "journal") == []
    kinds = {row.kind for row in record.rows if row.redacted}
    assert {"note.added", "label.edited", "flag.added", "prompt.given", "audio.started"} <= kinds
    assert "audio.block" in kinds, "the sound card's clock may count from 1970"
    assert not kinds & {"dial.moved", "picture.decoded", "trial.solved"}
    seq = [row for row in record.rows if row.kind == "response.changed" and "seq" in row.payload]
    assert not any(row.redacted for row in seq), "numbers are kept"


def test_no_hash_of_the_recording_is_given_away(bundle: Path, tmp_path: Path) -> None:
    """With the original hashes, a withheld answer could be found by trying the few there are."""
    (original,) = (tmp_path / "data" / "golden").glob("sub-*")
    before = {row.hash for row in open_record(original).rows}
    assert not before & {row.hash for row in open_record(bundle).rows}


def test_the_bundle_verifies_and_says_what_it_is(bundle: Path) -> None:
    report = verify(bundle)
    assert report.ok, report.problems
    assert any("de-identified" in note for note in report.notes)
    readme = (bundle / "README").read_text()
    assert "was de-identified by an agreed list" in readme
    assert "The sound was left out" in readme
    assert not list(bundle.rglob("*.wav"))


def test_redacting_a_bundle_gives_what_redacting_the_session_gives(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    direct = open_record(export([folder], tmp_path / "direct", deidentify=True))
    plain = export([folder], tmp_path / "plain", zip=True)
    later = open_record(export([plain], tmp_path / "later", deidentify=True))
    assert list(later.rows) == list(direct.rows)
    again = open_record(export([tmp_path / "later"], tmp_path / "again"))
    assert again.redacted
    assert "was de-identified" in (tmp_path / "again" / "README").read_text()


def test_redacted_events_can_still_be_read(bundle: Path) -> None:
    record = open_record(bundle)
    notes = [payload for _, payload in payloads(record.rows) if isinstance(payload, NoteAdded)]
    assert notes == [NoteAdded(WITHHELD, 47_500_000_000)]


def test_text_is_withheld_unless_it_is_listed() -> None:
    known = registry.kept_text()
    for kind, cls in registered().items():
        fields = list(cls.__struct_fields__)
        payload = dict.fromkeys(fields, "something said")
        if "instrument" in payload:
            payload["instrument"] = "seq"
        reduced = redact_payload(kind, payload, {})
        open_fields = {name for name in fields if reduced[name] == "something said"}
        assert open_fields <= known.get(kind, frozenset()), kind
    assert known["trial.ended"] == {"outcome"}
    assert known["dial.moved"] == {"device"}
    assert known["stimuli.kept"] == {"stimuli", "manifest_sha256", "files"}
    assert {"text"} == written(registered()["label.edited"])
    assert not any(known[kind] & written(cls) for kind, cls in registered().items())


def test_an_unknown_kind_is_withheld_too() -> None:
    said = {"a": ["x", {"b": "y"}], "n": 3, "t": True, "o": None}
    assert redact_payload("of.tomorrow", said, {}) == {
        "a": [WITHHELD, {"b": WITHHELD}],
        "n": 3,
        "t": True,
        "o": None,
    }


OPTIONS = [{"id": "a", "text": "A"}, {"id": "b", "text": "B", "describe": True}]
ASKED = Instrument.model_validate(
    {
        "id": "seq-of-ours",
        "version": 1,
        "title": "Ours",
        "source": "this test",
        "items": [
            {"id": "rating", "text": "?", "points": 5, "low": "low", "high": "high"},
            {"id": "slider", "kind": "slider", "text": "?", "low": 18, "high": 99},
            {"id": "choice", "kind": "choice", "text": "?", "options": OPTIONS},
            {"id": "words", "kind": "written", "text": "?"},
        ],
    }
)
"""An instrument that declares nothing."""
ANSWERS = {
    "rating": 3,
    "slider": {"value": 41, "touched": True},
    "choice": {"chosen": ["a", "b"], "described": "in my words"},
    "words": "something",
}


def declaring(identifying: bool | None) -> dict[str, Instrument]:
    items = [item.model_copy(update={"identifying": identifying}) for item in ASKED.items]
    return {ASKED.id: ASKED.model_copy(update={"items": tuple(items)})}


@pytest.mark.parametrize(
    ("instruments", "kept"),
    [
        (declaring(None), {"rating": 3, "words": WITHHELD}),
        (declaring(True), {"words": WITHHELD}),
        (
            declaring(False),
            ANSWERS | {"choice": {"chosen": ["a", "b"], "described": WITHHELD}},
        ),
        ({}, {"words": WITHHELD}),
    ],
    ids=["nothing declared", "declared identifying", "declared not identifying", "unknown"],
)
def test_answers_go_by_what_their_items_declare(
    instruments: dict[str, Instrument], kept: dict[str, object]
) -> None:
    answers = ANSWERS | {"of_no_item": 7}
    submitted = {"instrument": ASKED.id, "instrument_version": 1, "answers": answers}
    reduced = redact_payload("questionnaire.submitted", submitted, instruments)
    assert reduced == submitted | {"answers": kept}
    for item, value in answers.items():
        changed = {"instrument": ASKED.id, "item": item, "value": value}
        one = redact_payload("response.changed", changed, instruments)
        assert one == changed | {"value": kept.get(item)}


def test_every_shipped_item_declares_whether_it_identifies() -> None:
    folder = resources.assets() / "instruments"
    for path in folder.glob("*.yaml"):
        instrument = Instrument.parse(path, path.read_bytes())
        for item in instrument.items:
            assert item.identifying is not None, f"{instrument.id}: {item.id}"
            assert item.withheld or not isinstance(item, Written), f"{instrument.id}: {item.id}"


def test_the_sound_stays_where_it_is_on_the_timeline(tmp_path: Path) -> None:
    folder = golden_session(tmp_path / "data")
    bundle = export([folder], tmp_path / "bundle", deidentify=True)
    marks = [
        payload for _, payload in open_record(bundle).payloads() if isinstance(payload, AudioBlock)
    ]
    first = {block.file: block.anchors[0][1] for block in reversed(marks) if block.anchors}
    assert set(first.values()) == {0.0}
    assert clock_fits(open_record(bundle)) == clock_fits(open_record(folder))


def test_the_path_of_the_pointer_is_kept_in_trials_only(tmp_path: Path) -> None:
    builder = golden_builder()
    path = PointerMoved(0, 1366, 768, (0, 33), (6113, 6114), (7, 8))
    turned = next(
        unstamped for _, _, unstamped in builder.rows if isinstance(unstamped.payload, DialMoved)
    )
    builder.at(122, path, "debrief")
    builder.at(122.5, path, turned.part_id, turned.trial, attempt=turned.attempt)
    record = open_record(export([builder.write(tmp_path)], tmp_path / "bundle", deidentify=True))
    nowhere = PointerMoved(0, 1366, 768, (), (), ())
    moved = [payload for _, payload in record.payloads() if isinstance(payload, PointerMoved)]
    assert moved == [nowhere, path]
    rows = SessionRecords.of(list(record.payloads()), "golden").rows()["pointer"]
    assert [row["x_px"] for row in rows] == [[], [6113, 6114]]


def test_redacting_twice_changes_nothing(tmp_path: Path) -> None:
    once = redact(open_record(golden_session(tmp_path)).rows, {})
    assert redact(once, {}) == once
    assert json.loads(once[0].payload)["participant"] == "P01"


def test_a_correction_is_withheld_and_what_was_taken_back_stays_so() -> None:
    reworded = redact_payload(
        "note.corrected", {"seq": 7, "text": "Anna", "typing_began_ns": 1}, {}
    )
    assert reworded == {"seq": 7, "text": WITHHELD, "typing_began_ns": 1}
    taken_back = {"seq": 7, "text": "", "typing_began_ns": 1}
    assert redact_payload("note.corrected", taken_back, {}) == taken_back
    asked = {"question": 1, "text": "What was hard?"}
    assert redact_payload("interview.question_asked", asked, {}) == asked, "the study's words"
