"""From the sound to another tool and back, and what must not leave the lab."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pympi
import pytest

from labapp.base.clock import NS
from labapp.base.errors import ExchangeError
from labapp.coding.annotations.codebook import read as read_codebook
from labapp.coding.annotations.model import Text, Word
from labapp.coding.annotations.redacting import holders, redact
from labapp.coding.annotations.segmenting import segment_session
from labapp.coding.annotations.store import annotations_of, open_marks, open_texts
from labapp.coding.annotations.texts import correct_text
from labapp.coding.exchange.coming_in import bring_in, plan_import
from labapp.coding.exchange.gathering import Exported, export_coding
from labapp.coding.exchange.incoming import FORMATS, read
from labapp.coding.exchange.plan import ImportPlan
from labapp.coding.transcription.session import transcribe_session
from labapp.record.journal.opening import open_record
from labapp.session.withdrawal import withdraw
from tests.helpers.coded_session import add_codebook
from tests.helpers.every_byte import contents, sounds, spelled
from tests.helpers.exchanged import QUIET, SECOND, exchanged_session
from tests.helpers.recorded_sounds import RATE, Take, sounding_session
from tests.helpers.tone_words import ToneRecogniser, speech

SECRET = "Xanthippe"

OTHER = "taller"

"""A word that was said elsewhere."""

every_format = pytest.mark.parametrize("name", FORMATS)

every_base = pytest.mark.parametrize("base", ["files", "joined", "session"])


def telling_session(root: Path, uses: dict[str, bool] | None = None) -> Path:
    """A session in which a name is said, alone loudly, and stands in a remark."""
    session = exchanged_session(root, uses, louder_s=(8.0, 13.0))
    unit = annotations_of(open_record(session)).segmentation.units[1]
    with open_texts(session, "owner") as texts:
        if texts.allowed:
            words = (Word(unit.t0_ns, unit.t0_ns + SECOND, SECRET),)
            texts.put(Text(unit.id, f"{SECRET} is my name", words, "hand", "owner"))
            texts.put(Text(unit.id, f"my name is {SECRET}", words, "hand", "owner"))
    book = read_codebook(session.parent / "codebook.yaml")
    with open_marks(session, "anna", book) as marks:
        marks.give("uncertain", t0_ns=9 * SECOND, t1_ns=10 * SECOND, memo=f"{SECRET}!")
    return session


def export(session: Path, name: str, out: Path, base: str, **how: bool) -> Exported:
    path = out / f"coding{FORMATS[name].suffix}"
    return export_coding(open_record(session), "anna", FORMATS[name], path, base=base, **how)  # type: ignore[arg-type]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return telling_session(tmp_path / "data")


@every_base
@every_format
def test_nothing_redacted_is_written_or_to_be_heard(
    name: str, base: str, session: Path, tmp_path: Path
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for out in (before, after):
        if out is after:
            redact(session, 8 * SECOND, 13 * SECOND, "owner")
        exported = export(session, name, out, base, with_sound=base == "files")
        written = dict(contents(out))
        assert {str(path) for path in exported.files} <= set(written)
        loudest = [np.abs(samples).max() for _, samples in sounds(out)]
        if out is before:
            # What is looked for can be found in it: else its absence would say nothing.
            assert any(code in text for code in spelled(SECRET) for text in written.values())
            assert not loudest or max(loudest) > 1.9 * QUIET
            continue
        for file, text in written.items():
            assert not any(code in text for code in spelled(SECRET)), file
        assert all(QUIET / 2 < peak <= QUIET for peak in loudest)
        if base == "joined" and name != "csv":
            assert loudest


@pytest.mark.parametrize("rater", ["anna", "ben"])
@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.read is not None])
def test_a_file_from_before_a_redaction_brings_nothing_back(
    name: str, rater: str, session: Path, tmp_path: Path
) -> None:
    (file,) = export(session, name, tmp_path / "out", "session").files
    redact(session, 8 * SECOND, 13 * SECOND, "owner")
    record = open_record(session)
    plan = plan_import(record, rater, read(file), time="session")
    if not plan.empty:
        bring_in(plan, session, record)
    for place, text in contents(session.parent):
        assert not any(code in text for code in spelled(SECRET)), place


@every_format
def test_without_a_transcript_no_word_goes_out(name: str, tmp_path: Path) -> None:
    """Not even of one that was written before this was known."""
    agreed = telling_session(tmp_path / "agreed", {"transcript": True, "share_audio": True})
    export(agreed, name, tmp_path / "with", "session")
    said = [text for _, text in contents(tmp_path / "with")]
    if name != "boris":  # has no words
        assert any(code in text for code in spelled(OTHER) for text in said)

    session = telling_session(tmp_path / "data", {"transcript": False, "share_audio": True})
    written = session.parent / "annotations" / session.name / "transcript.jsonl"
    assert OTHER.encode() in written.read_bytes()
    exported = export(session, name, tmp_path / "without", "session")
    for file, text in contents(tmp_path / "without"):
        assert not any(code in text for code in spelled(OTHER)), file
    assert any("did not agree to a transcript" in why for why in exported.lost)


@every_format
def test_without_leave_no_sound_goes_out_nor_where_it_lies(name: str, tmp_path: Path) -> None:
    session = telling_session(tmp_path / "data", {"transcript": True, "share_audio": False})
    (tmp_path / "out").mkdir()
    exported = export(session, name, tmp_path / "out", "files")
    assert not list(sounds(tmp_path / "out"))
    for file, text in contents(tmp_path / "out"):
        for place in ("segment-01.wav", "segment-02.wav", str(session.parent)):
            assert not any(code in text for code in spelled(place)), file
    assert name == "csv" or any("agree to share" in why for why in exported.lost)
    for base, sound in (("files", True), ("joined", False)):
        if name != "csv" or sound:
            with pytest.raises(ExchangeError, match="did not agree"):
                export(session, name, tmp_path / base, base, with_sound=sound)
            assert not list(contents(tmp_path / base))


@every_format
def test_a_withdrawal_names_what_went_out_and_nothing_more_goes(
    name: str, session: Path, tmp_path: Path
) -> None:
    export(session, name, tmp_path / "out", "session")
    (made,) = holders(session.parent, session.name)
    assert made.file == str(tmp_path / "out" / f"coding{FORMATS[name].suffix}")
    withdraw(session, tmp_path / "private", delete=False)
    with pytest.raises(ExchangeError, match="withdrew"):
        export(session, name, tmp_path / "again", "session")
    assert not list(contents(tmp_path / "again"))
    other = telling_session(tmp_path / "other")
    export(other, name, tmp_path / "of-the-other", "session")
    gone = withdraw(other, tmp_path / "private", delete=True)
    assert str(tmp_path / "of-the-other") in "\n".join(gone.lines())
    for file, text in contents(other.parent):
        assert not any(code in text for code in spelled(SECRET)), file


SAID = {1.0: "turn the dial", 4.0: "wider", 7.0: "turn left", 11.0: "left wider", 15.0: "the dial"}

SPEECH, STRATEGY, UNCERTAIN = "speech: participant", "strategy", "affect / uncertain"


def worked_on(tmp_path: Path) -> Path:
    """A session that was transcribed, corrected and coded."""
    take = Take(speech(SAID, 18.0, RATE), 5.0, ppm=300)
    session = sounding_session(tmp_path, take, end_s=40.0)
    transcribe_session(session, ToneRecogniser)
    segment_session(session, "anna", freeze=True)
    add_codebook(session.parent)
    known = annotations_of(open_record(session))
    units = known.segmentation.units
    with open_texts(session, "anna") as texts:
        before = known.texts[units[1].id]
        texts.put(correct_text(before, units[1].id, "it is wider", "anna"))
    with open_marks(session, "anna", read_codebook(session.parent / "codebook.yaml")) as anna:
        for unit, code in zip(units, ("explore", "goal", "random", "names"), strict=False):
            anna.give(code, unit=unit.id)
        anna.give("uncertain", t0_ns=units[0].t0_ns, t1_ns=units[0].t0_ns + NS)
    return session


def changed(path: Path, out: Path) -> None:
    """The file with other words, a code changed, moved, taken away and given."""
    file = pympi.Elan.Eaf(str(path))

    def place(tier: str, number: int) -> str:
        rows = file.tiers[tier][0]
        return sorted(rows, key=lambda key: file.timeslots[rows[key][0]])[number]

    words = file.tiers[SPEECH][0]
    own = place(SPEECH, 2)
    words[own] = (*words[own][:2], "turn it left", *words[own][3:])
    codes = file.tiers[STRATEGY][0]
    own = place(STRATEGY, 0)
    codes[own] = (*codes[own][:2], "names", *codes[own][3:])
    begins = file.timeslots[codes[place(STRATEGY, 3)][0]]
    file.remove_annotation(STRATEGY, begins + 1)
    spans = file.tiers[UNCERTAIN][0]
    file.timeslots[spans[place(UNCERTAIN, 0)][1]] += 500
    file.add_annotation(UNCERTAIN, 12_000, 12_750, "uncertain")
    file.to_file(str(out))


def test_changes_in_another_tool_come_back_and_nothing_else_changes(tmp_path: Path) -> None:
    session = worked_on(tmp_path / "study")
    before = annotations_of(open_record(session))
    out, edited = tmp_path / "out.eaf", tmp_path / "edited.eaf"
    export_coding(open_record(session), "anna", FORMATS["eaf"], out)
    changed(out, edited)

    def plan() -> ImportPlan:
        return plan_import(open_record(session), "anna", read(edited))

    made = plan()
    assert sorted(step.what for step in made.steps) == [
        "mark added",
        "mark moved",
        "mark recoded",
        "mark removed",
        "text written",
    ]
    bring_in(made, session, open_record(session))
    after = annotations_of(open_record(session))
    units = after.segmentation.units
    assert units == before.segmentation.units
    texts = {unit.id: after.texts[unit.id].text for unit in units}
    assert list(texts.values()) == [
        "turn the dial",
        "it is wider",
        "turn it left",
        "left wider",
        "the dial",
    ]
    same = [unit.id for place, unit in enumerate(units) if place != 2]
    assert [after.texts[unit] for unit in same] == [before.texts[unit] for unit in same]
    assert [word.text for word in after.texts[units[2].id].words] == ["turn", "left"]
    coded = {mark.unit: mark.code for mark in after.raters["anna"].marks if mark.unit}
    assert coded == dict(zip((u.id for u in units[:3]), ("names", "goal", "random"), strict=True))
    lengths = [m.t1_ns - m.t0_ns for m in after.raters["anna"].marks if m.code == "uncertain"]
    assert sorted(round(length / 1e6) for length in lengths) == [750, 1500]
    assert plan().empty
