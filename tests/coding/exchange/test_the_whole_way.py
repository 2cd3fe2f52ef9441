"""From the sound to a coding that was changed in another tool, and back: exactly those changes."""

from __future__ import annotations

from pathlib import Path

import pympi

from labapp.base.clock import NS
from labapp.coding.annotations.codebook import read as read_codebook
from labapp.coding.annotations.segmenting import segment_session
from labapp.coding.annotations.store import annotations_of, open_marks, open_texts
from labapp.coding.annotations.texts import corrected
from labapp.coding.exchange.coming_in import bring_in, plan_import
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import FORMATS, read
from labapp.coding.exchange.plan import Plan
from labapp.coding.transcription.session import transcribe_session
from labapp.record.journal.opening import open_record
from tests.helpers.coded_session import add_codebook
from tests.helpers.recorded_sounds import RATE, Take, sounding_session
from tests.helpers.tone_words import ToneRecogniser, speech

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
        texts.put(corrected(before, units[1].id, "it is wider", "anna"))
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

    def plan() -> Plan:
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
