"""Files that are written here, read by other tools' own libraries; and one that came back."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import av
import pympi
import pytest
from hypothesis import given, settings
from lxml import etree
from praatio import textgrid

from labapp.base.errors import ExchangeError
from labapp.coding.exchange.coming_in import bring_in, plan_import
from labapp.coding.exchange.files import ms
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import FORMATS, read
from labapp.coding.exchange.model import (
    Sheet,
    Utterance,
    code_tiers,
    digest,
    label_of,
    speech_tiers,
)
from labapp.record.journal.opening import open_record
from tests.helpers.exchanged import (
    MS,
    SECOND,
    STRANGE,
    exchanged_session,
    marks_in,
    sheet_with,
    sheets,
)
from tests.helpers.nightly import examples

EXAMPLES = settings(
    max_examples=examples(40),
)


ELANS_LANGUAGE = {
    "LANG_ID": "und",
    "LANG_DEF": "http://cdb.iso.org/lg/CDB-00130975-001",
    "LANG_LABEL": "undetermined (und)",
}


def written(sheet: Sheet, name: str, folder: Path) -> Path:
    """A sheet as a new file."""
    path = folder / f"sheet{FORMATS[name].suffix}"
    path.unlink(missing_ok=True)
    FORMATS[name].write([sheet], path)
    return path


@EXAMPLES
@given(sheet=sheets())
def test_pympi_reads_the_same_times_and_texts(sheet: Sheet, tmp_path: Path) -> None:
    eaf = pympi.Eaf(str(written(sheet, "eaf", tmp_path)))
    for speech in speech_tiers(sheet, MS):
        own = sorted(
            (a, b, digest(text)) for a, b, text in eaf.get_annotation_data_for_tier(speech.name)
        )
        assert own == sorted((ms(u.t0_ns), ms(u.t1_ns), digest(u.text)) for u in speech.utterances)
    for codes in code_tiers(sheet, MS):
        own = sorted(eaf.get_annotation_data_for_tier(codes.name))
        assert own == sorted(
            (ms(a.t0_ns), max(ms(a.t1_ns), ms(a.t0_ns) + 1), label_of(a)) for a in codes.annotations
        )


@EXAMPLES
@given(sheet=sheets())
def test_elan_files_are_in_order(sheet: Sheet, tmp_path: Path) -> None:
    """As its schema has them: by another parser than the one that wrote them."""
    root = etree.parse(str(written(sheet, "eaf", tmp_path))).getroot()
    order = list(dict.fromkeys(child.tag for child in root))
    known = (
        "HEADER", "TIME_ORDER", "TIER", "LINGUISTIC_TYPE", "LANGUAGE", "CONSTRAINT",
        "CONTROLLED_VOCABULARY",
    )  # fmt: skip
    assert order == [tag for tag in known if tag in order]
    # ELAN opens no file that says other things of the language that its vocabularies are in.
    assert [dict(language.attrib) for language in root.iterfind("LANGUAGE")] == [ELANS_LANGUAGE]
    assert {e.get("LANG_REF") for e in root.iter() if "LANG_REF" in e.attrib} <= {"und"}
    slots = [int(slot.get("TIME_VALUE")) for slot in root.iterfind("TIME_ORDER/TIME_SLOT")]
    assert slots == sorted(slots)
    at = {s.get("TIME_SLOT_ID"): int(s.get("TIME_VALUE")) for s in root.iter("TIME_SLOT")}
    used: list[str] = []
    for tier in root.iterfind("TIER"):
        stretches = []
        for one in tier.iterfind("ANNOTATION/ALIGNABLE_ANNOTATION"):
            ends = one.get("TIME_SLOT_REF1"), one.get("TIME_SLOT_REF2")
            used += ends
            stretches.append((at[ends[0]], at[ends[1]]))
        assert all(begin < end for begin, end in stretches)
        assert all(a[1] <= b[0] for a, b in pairwise(stretches))
    assert len(used) == len(set(used)) == len(at)
    ids = [one.get("ANNOTATION_ID") for one in root.iter() if one.get("ANNOTATION_ID")]
    assert len(ids) == len(set(ids))


@EXAMPLES
@given(sheet=sheets())
def test_praatio_reads_the_same_intervals_and_points(sheet: Sheet, tmp_path: Path) -> None:
    grid = textgrid.openTextgrid(
        str(written(sheet, "textgrid", tmp_path)),
        includeEmptyIntervals=False,
        duplicateNamesMode="error",
    )
    for codes in code_tiers(sheet):
        rows = [tuple(entry) for entry in grid.getTier(codes.name).entries]
        points = any(a.t0_ns == a.t1_ns for a in codes.annotations)
        own = [
            (a.t0_ns / 1e9, label_of(a)) if points else (a.t0_ns / 1e9, a.t1_ns / 1e9, label_of(a))
            for a in codes.annotations
        ]
        assert [row[-1] for row in rows] == [row[-1] for row in own]
        for row, sent in zip(rows, own, strict=True):
            assert row[:-1] == pytest.approx(sent[:-1], abs=1e-6)


CUES = sheet_with(
    tuple(
        Utterance(
            f"{n:016x}", n * SECOND + 1_234_000, n * SECOND + 900_500_000, "participant", text
        )
        for n, text in enumerate(("a < b & c", "two\nlines", "שלום", "🙂 yes", "<b>", "x --> y"))
    )
)


@pytest.mark.parametrize("name", ["vtt", "srt"])
def test_ffmpeg_finds_every_cue_at_its_time(name: str, tmp_path: Path) -> None:
    with av.open(str(written(CUES, name, tmp_path))) as container:
        (stream,) = container.streams
        packets = [p for p in container.demux(stream) if p.size]
    times = [
        (float(p.pts * p.time_base), float((p.pts + p.duration) * p.time_base)) for p in packets
    ]
    assert times == [(ms(u.t0_ns) / 1000, ms(u.t1_ns) / 1000) for u in CUES.utterances]
    words = [bytes(p).decode() for p in packets]
    assert "🙂 yes" in words[3]
    if name == "srt":
        assert words[0] == "a < b & c"
    else:
        assert words[0].endswith("a &lt; b &amp; c")


def test_strange_words_survive_the_demuxer(tmp_path: Path) -> None:
    own = [text for text in STRANGE if digest(text) != digest("")]
    sheet = sheet_with(
        tuple(
            Utterance(f"{n:016x}", n * SECOND, (n + 1) * SECOND, "participant", text)
            for n, text in enumerate(own)
        )
    )
    for name in ("vtt", "srt"):
        with av.open(str(written(sheet, name, tmp_path))) as container:
            assert sum(bool(p.size) for p in container.demux()) == len(own), name


def test_what_pympi_changes_comes_back_and_nothing_else(tmp_path: Path) -> None:
    session = exchanged_session(tmp_path)
    record = open_record(session)
    before = marks_in(session)
    exported = export_coding(record, "anna", FORMATS["eaf"], tmp_path / "out")
    first = exported.files[0]
    eaf = pympi.Eaf(str(first))
    # One moved, one taken away, one added, one with another code, and a word.
    ((begin, end, _),) = eaf.get_annotation_data_at_time("affect / uncertain", 2500)
    assert eaf.remove_annotation("affect / uncertain", 2500) == 1
    eaf.add_annotation("affect / uncertain", begin, end + 750, "uncertain")
    eaf.remove_annotation("affect / insight", 4501)
    eaf.add_annotation("affect / uncertain", 30_000, 31_000, "uncertain")
    codes = eaf.tiers["strategy"][0]
    recoded = next(name for name, row in codes.items() if row[2] == "goal")
    codes[recoded] = (*codes[recoded][:2], "random", codes[recoded][3])
    speech = eaf.tiers["speech: participant"][0]
    unit = next(name for name, row in speech.items() if row[2] == "there, nearly")
    speech[unit] = (*speech[unit][:2], "there, really", speech[unit][3])
    changed = tmp_path / "changed.eaf"
    eaf.to_file(str(changed))

    plan = plan_import(record, "anna", read(changed))
    assert not plan.lost
    told = sorted((step.what, step.about) for step in plan.steps)
    assert told == [
        ("mark added", "affect uncertain"),
        ("mark moved", "affect uncertain"),
        ("mark recoded", "strategy random"),
        ("mark removed", "affect insight"),
        ("text written", "“there, really”"),
    ]
    bring_in(plan, session, record)
    after = marks_in(session)
    gone = set(before) - set(after)
    assert {before[name].code for name in gone} == {"insight"}
    (added,) = (after[name] for name in set(after) - set(before))
    offset = 1_000_000_000  # the sound begins at 1 s, and its clock is 120 ppm fast
    assert added.t0_ns == pytest.approx(offset + 30 * SECOND / 1.00012, abs=MS)
    changes = {
        name: after[name] for name in set(before) & set(after) if before[name] != after[name]
    }
    moved = next(mark for mark in changes.values() if mark.code == "uncertain")
    assert moved.t0_ns == before[moved.id].t0_ns
    assert moved.t1_ns == pytest.approx(before[moved.id].t1_ns + 0.75 * SECOND / 1.00012, abs=MS)
    assert sorted(mark.code for mark in changes.values()) == ["random", "uncertain"]
    again = plan_import(record, "anna", read(changed))
    assert again.empty
    assert not again.steps


def test_another_media_in_elan_moves_nothing(tmp_path: Path) -> None:
    """Where the sound begins later than what was laid beside it, times are still the sound's."""
    session = exchanged_session(tmp_path)
    record = open_record(session)
    first = export_coding(record, "anna", FORMATS["eaf"], tmp_path / "out").files[0]
    tree = etree.parse(str(first))
    (sound,) = tree.iter("MEDIA_DESCRIPTOR")
    video = etree.Element(
        "MEDIA_DESCRIPTOR", MEDIA_URL="file:///v/camera.mp4", MIME_TYPE="video/mp4"
    )
    video.set("TIME_ORIGIN", "700")
    sound.addprevious(video)
    changed = tmp_path / "changed.eaf"
    tree.write(str(changed), encoding="UTF-8")
    assert not plan_import(record, "anna", read(changed)).steps
    # The sound is played from 0.9 s on: everything is 0.9 s earlier in the file than in the sound.
    sound.set("TIME_ORIGIN", "900")
    for slot in tree.iter("TIME_SLOT"):
        slot.set("TIME_VALUE", str(int(slot.get("TIME_VALUE")) - 900))
    tree.write(str(changed), encoding="UTF-8")
    plan = plan_import(record, "anna", read(changed))
    assert [(step.what, step.about) for step in plan.steps] == []
    sound.set("TIME_ORIGIN", "soon")
    tree.write(str(changed), encoding="UTF-8")
    with pytest.raises(ExchangeError, match=r"segment-01\.wav in it is 'soon'"):
        read(changed)


def test_elan_finds_the_sound_wherever_it_lies(tmp_path: Path) -> None:
    """ELAN takes what stands behind `file:` for a path as it is."""
    session = exchanged_session(tmp_path / "Größe & Form #2 50%")
    record = open_record(session)
    files = export_coding(record, "anna", FORMATS["eaf"], tmp_path / "mit Ton", with_sound=True)
    linked = export_coding(record, "anna", FORMATS["eaf"], session.parent / "ohne Ton").files
    for file in (*files.files[:2], *linked):
        (media,) = etree.parse(str(file)).iter("MEDIA_DESCRIPTOR")
        scheme, _, path = media.get("MEDIA_URL").partition("://")
        assert scheme == "file"
        assert Path(path).is_file()
        assert (file.parent / media.get("RELATIVE_MEDIA_URL")).samefile(path)
        assert not plan_import(record, "anna", read(file)).steps
