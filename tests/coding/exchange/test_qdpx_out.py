"""REFI-QDA projects that go out: in order, always the same, and silent where they must be."""

from __future__ import annotations

import wave
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from lxml import etree

from labapp.coding.annotations.redacting import redact
from labapp.coding.annotations.store import open_marks
from labapp.coding.exchange.files import plain
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import FORMATS
from labapp.coding.exchange.model import Sheet
from labapp.record.journal.opening import open_record
from tests.helpers.exchanged import SECOND, exchanged_session, export, plan, sheets
from tests.helpers.nightly import EVERYTHING
from tests.helpers.refi import (
    SPACE,
    mistakes,
    parts,
)  # fmt: skip

EXAMPLES = settings(
    max_examples=40 if EVERYTHING else 6,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def project(session: Path, tmp_path: Path) -> Path:
    return export(session, "qdpx", tmp_path / "P01.qdpx").files[0]


@EXAMPLES
@given(sheet=sheets())
def test_projects_are_as_the_schema_has_them(sheet: Sheet, tmp_path: Path) -> None:
    path = tmp_path / "sheet.qdpx"
    path.unlink(missing_ok=True)
    FORMATS["qdpx"].write([sheet], path)
    files = parts(path)
    assert not mistakes(files["project.qde"])
    root = etree.fromstring(files["project.qde"])
    names = [source.get("name") for source in root.find(f"{SPACE}Sources")]
    assert len(names) == len(set(names))
    assert [name for name in names if name.endswith(".wav")]
    codes = [code.get("name").casefold() for code in root.iter(f"{SPACE}Code")]
    assert len(codes) == len(set(codes))
    for tag in ("AudioSource", "TextSource", "Transcript", "AudioSelection", "Note"):
        for element in root.iter(SPACE + tag):
            assert element.get("creatingUser"), tag
            assert element.get("creationDateTime") == "2026-01-02T03:04:05Z"
    texts = [f for f in files if f.endswith(".txt")]
    assert all(b"\r" not in files[f] and files[f][:3] != b"\xef\xbb\xbf" for f in texts)
    said = {unit.id: plain(unit.text) for unit in sheet.utterances}
    quotes = [said[a.unit] for a in sheet.annotations if a.unit and said[a.unit]]
    own = []
    for source in root.iter(f"{SPACE}TextSource"):
        text = files[f"sources/{source.get('plainTextPath').removeprefix('internal://')}"].decode()
        for selection in source.iter(f"{SPACE}PlainTextSelection"):
            begin, end = (int(selection.get(f"{name}Position")) for name in ("start", "end"))
            own.append(text[begin:end])
    assert sorted(own) == sorted(quotes)


@EXAMPLES
@given(sheet=sheets())
def test_a_project_is_the_same_whenever_it_is_written(sheet: Sheet, tmp_path: Path) -> None:
    contents = []
    for name in ("a.qdpx", "b.qdpx"):
        (tmp_path / name).unlink(missing_ok=True)
        FORMATS["qdpx"].write([sheet], tmp_path / name)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


def test_the_sound_lies_in_it_as_it_was_recorded(session: Path, project: Path) -> None:
    files = parts(project)
    sounds = [content for name, content in files.items() if name.endswith(".wav")]
    own = [path.read_bytes() for path in sorted((session / "audio").glob("*.wav"))]
    assert sorted(sounds) == sorted(own)
    assert not list(project.parent.glob(".*"))


def test_redacted_sound_is_silent_in_it_and_nothing_lies_beside(
    session: Path, tmp_path: Path
) -> None:
    redact(session, 8 * SECOND, 13 * SECOND, "owner")
    exported = export(session, "qdpx", tmp_path / "out" / "P01.qdpx")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["P01.qdpx"]
    sounds = {len(c): c for n, c in parts(exported.files[0]).items() if n.endswith(".wav")}
    first = sounds[max(sounds)]
    begin, end = (44 + 2 * round((t - 1) * 8000 * 1.00012) for t in (8, 13))
    assert not any(first[begin:end])
    assert any(first[begin - 200 : begin - 100])
    texts = b"".join(c for n, c in parts(exported.files[0]).items() if not n.endswith(".wav"))
    assert "[…]".encode() in texts


def test_without_consent_a_silent_sound_stands_for_the_voice(tmp_path: Path) -> None:
    session = exchanged_session(tmp_path / "a", uses={"transcript": False, "share_audio": False})
    exported = export(session, "qdpx", tmp_path / "P01.qdpx")
    files = parts(exported.files[0])
    assert not mistakes(files["project.qde"])
    (sound,) = (name for name in files if name.endswith(".wav"))
    (tmp_path / "sound.wav").write_bytes(files[sound])
    with wave.open(str(tmp_path / "sound.wav")) as wav:
        assert wav.getnframes() / wav.getframerate() == pytest.approx(125, abs=2)
        assert set(wav.readframes(wav.getnframes())) == {0x80}
    assert not any(b"taller" in content for content in files.values())
    assert "the sound: a silent one stands for it, so that codes have times" in exported.lost
    made = plan(session, exported.files[0])
    assert made.empty
    assert not made.lost


def test_conditions_are_those_of_the_case_unless_the_rater_is_blind(
    session: Path, project: Path, tmp_path: Path
) -> None:
    root = etree.fromstring(parts(project)["project.qde"])
    assert root.find(f"{SPACE}Variables") is None
    (case,) = root.iter(f"{SPACE}Case")
    assert case.get("name") == "P01"
    assert len(case.findall(f"{SPACE}SourceRef")) == 4
    from labapp.coding.annotations.codebook import read as read_codebook

    book = read_codebook(session.parent / "codebook.yaml")
    with open_marks(session, "ben", book, blind=("outcomes",)) as marks:
        marks.give("insight", t0_ns=5 * SECOND)
    record = open_record(session)
    path = tmp_path / "ben.qdpx"
    export_coding(record, "ben", FORMATS["qdpx"], path)
    root = etree.fromstring(parts(path)["project.qde"])
    names = {v.get("guid"): v.get("name") for v in root.iter(f"{SPACE}Variable")}
    values = {
        names[value.find(f"{SPACE}VariableRef").get("targetGUID")]: value.findtext(
            f"{SPACE}TextValue"
        )
        for value in root.iter(f"{SPACE}VariableValue")
    }
    assert values == {name: str(value) for name, value in record.planned.assignment.items()}
    assert values
