"""REFI-QDA codebooks and projects that go out, as others' libraries read them."""

from __future__ import annotations

import wave
from pathlib import Path

import pytest
from hypothesis import given, settings
from lxml import etree
from pyrefiqda import RefiCodebook, RefiProject

from labapp.base.errors import ExchangeError, LabappError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.redacting import redact
from labapp.coding.annotations.store import open_marks
from labapp.coding.exchange import refi
from labapp.coding.exchange.files import ms, plain
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import FORMATS, read_codebook
from labapp.coding.exchange.model import Sheet, label_of
from labapp.record.journal.opening import open_record
from tests.helpers.exchanged import BOOK, SECOND, exchanged_session, export, plan, sheets
from tests.helpers.nightly import EVERYTHING
from tests.helpers.refi import GUID, SPACE, mistakes, of_another_tool, parts

NESTED = """\
codebook: nested
version: 1
tiers:
  a: {title: Doing, "on": spans, values: [1, 2]}
  b: {title: Others}
codes:
  - {id: x, tier: a, name: Other, when: "two\\nlines", not: 'a < b & "c"', examples: [so, "🙂"]}
  - {id: y, tier: a, name: Other, parent: x, colour: "#123456"}
  - {id: z, tier: b, name: שלום, parent: w}
  - {id: w, tier: b, name: Above}
  - {id: gone, tier: b, name: Gone, retired: no more}
"""


ONLY_GROUPS = (
    '<CodeBook xmlns="urn:QDA-XML:codebook:1.0"><Codes><Code name="a" isCodable="false" '
    f'guid="{GUID.format(1)}"/></Codes></CodeBook>'
)


def as_project(content: bytes) -> bytes:
    """The same codes in a project, whose schema says the same of them."""
    text = content.decode().replace("codebook:1.0", "project:1.0")
    text = text.replace('<CodeBook xmlns="urn:QDA-XML:project:1.0" origin="labapp">', "<CodeBook>")
    head, _, rest = text.partition("<CodeBook>")
    return (
        f'{head}<Project xmlns="urn:QDA-XML:project:1.0" name="a"><CodeBook>{rest}</Project>'
    ).encode()


@pytest.mark.parametrize("text", [BOOK.content.decode(), NESTED], ids=["flat", "nested"])
def test_codebooks_are_as_the_schema_has_them_and_come_back(text: str, tmp_path: Path) -> None:
    book = codebooks.parse(text.encode(), Path("codebook.yaml"))
    path = tmp_path / "codes.qdc"
    lost = refi.write(book, path)
    content = path.read_bytes()
    assert not mistakes(as_project(content))
    root = etree.fromstring(content)
    assert root.tag == "{urn:QDA-XML:codebook:1.0}CodeBook"
    names = [code.get("name") for code in root.iter("{*}Code")]
    assert len(names) == len(set(names))
    assert any("exclude each other" in why for why in lost)
    back = read_codebook(path, tmp_path)
    assert [tier.title for tier in back.tiers] == [tier.title for tier in book.tiers]
    assert [tier.values for tier in back.tiers] == [tier.values for tier in book.tiers]
    given = [code for code in book.codes if not code.retired]
    assert {(c.colour, c.when, c.not_, c.examples) for c in back.codes} == {
        (c.colour, c.when, c.not_, c.examples) for c in given
    }
    assert len(back.codes) == len(given)
    parents = {c.id: c.parent for c in back.codes}
    assert sum(parent is not None for parent in parents.values()) == sum(
        c.parent is not None for c in given
    )


def test_a_codebook_of_another_tool_becomes_one_of_ours(tmp_path: Path) -> None:
    project = of_another_tool()["project.qde"].decode()
    codes = project[project.index("<Codes>") : project.index("</CodeBook>")]
    path = tmp_path / "nvivo.qdc"
    path.write_text(f'<CodeBook xmlns="urn:QDA-XML:codebook:1.0">{codes}</CodeBook>')
    book = read_codebook(path, tmp_path)
    assert [(tier.title, tier.on) for tier in book.tiers] == [
        ("strategy", "spans"), ("affect", "spans"), ("Codes", "spans"),
    ]  # fmt: skip
    assert [(c.id, c.tier, c.parent) for c in book.codes] == [
        ("strategy", "strategy", None), ("exploring", "strategy", "strategy"),
        ("random", "strategy", "exploring"), ("other", "strategy", "strategy"),
        ("affect", "affect", None), ("uncertain", "affect", "affect"),
        ("insight", "affect", "affect"), ("other_2", "affect", "affect"),
        ("insight_of_its_own", "codes", None),
    ]  # fmt: skip
    assert book.by_id["random"].colour == "#AABBCC"
    assert book.by_id["uncertain"].when == "Says that it is unclear."


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "not valid XML"),
        ("<CodeBook/>", "begins with <CodeBook>"),
        ('<CodeBook xmlns="urn:QDA-XML:codebook:1.0"/>', "it has no codes"),
        (ONLY_GROUPS, "it has no codes"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><CodeBook>&a;</CodeBook>', "defines entities"),
    ],
)
def test_what_is_no_codebook_is_refused_in_words(content: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "a.qdc"
    path.write_text(content)
    with pytest.raises(ExchangeError) as refused:
        read_codebook(path, tmp_path)
    assert why in str(refused.value)
    with pytest.raises(LabappError):
        read_codebook(tmp_path / "not there.qdc", tmp_path)


def codes_of(codes: list, above: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:  # type: ignore[type-arg]
    """The way to each code, by its id."""
    found = {}
    for code in codes:
        way = (*above, code.name)
        found |= {code.guid: way, **codes_of(code.code, way)}
    return found


@settings(
    max_examples=30 if EVERYTHING else 4,
)
@given(sheet=sheets())
def test_pyrefiqda_reads_the_same_codes_times_and_quotes(sheet: Sheet, tmp_path: Path) -> None:
    path, folder = tmp_path / "sheet.qdpx", tmp_path / "sheet"
    path.unlink(missing_ok=True)
    FORMATS["qdpx"].write([sheet], path)
    project = RefiProject.load(path, str(folder))
    assert [user.name for user in project.users.user] == ["anna"]
    assert [case.name for case in project.cases.case] == ["P01"]
    values = [value.text_value for value in project.cases.case[0].variable_value]
    assert values == ["vae"]
    codes = codes_of(project.code_book.codes.code)
    ways = {code.id: (code.tier, code.name) for code in BOOK.codes}
    (sound,) = project.sources.audio_source
    assert RefiProject.resolve_source_path(sound.path, folder).is_file()
    own = sorted(
        (s.begin, s.end, codes[s.coding[0].code_ref.target_guid], (s.description or "").split())
        for s in sound.audio_selection
    )
    sent = []
    for a in sheet.annotations:
        way = ways[a.code] if a.value is None else (*ways[a.code], f"Sure = {a.value}")
        end = max(ms(a.t1_ns), ms(a.t0_ns) + 1)
        sent.append((ms(a.t0_ns), end, way, plain(a.memo).split()))
    assert own == sorted(sent)
    said = {unit.id: plain(unit.text) for unit in sheet.utterances}
    quotes = []
    for source in project.sources.text_source:
        place = RefiProject.resolve_source_path(source.plain_text_path, folder)
        text = place.read_bytes().decode()
        for s in source.plain_text_selection:
            way = codes[s.coding[0].code_ref.target_guid]
            quotes.append((text[s.start_position : s.end_position], way[-1]))
    names = {code.id: code.name for code in BOOK.codes}
    assert sorted(quotes) == sorted(
        (said[a.unit], label_of(a).replace(a.code, names[a.code]))
        for a in sheet.annotations
        if a.unit and said[a.unit]
    )


def test_pyrefiqda_reads_the_codebook(tmp_path: Path) -> None:
    refi.write(BOOK, tmp_path / "codes.qdc")
    codes = RefiCodebook.load(tmp_path / "codes.qdc").codes.code
    assert [code.name for code in codes] == ["strategy", "affect", "surety"]
    assert not any(code.is_codable for code in codes)
    assert codes[0].code[0].description.startswith("Turns a dial to see what it does.")
    assert len(codes_of(codes)) == 3 + len(BOOK.codes) + 5


EXAMPLES = settings(
    max_examples=40 if EVERYTHING else 6,
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
    assert "the sound, which is replaced with silence so that codes have times" in exported.lost
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
