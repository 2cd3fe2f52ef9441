"""REFI-QDA projects that come in: what was changed in them is changed, and the rest is told."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from labapp.base.errors import ExchangeError, LabappError
from labapp.base.messages import Message, form
from labapp.base.reading import archives
from labapp.coding.annotations.store import annotations_of
from labapp.coding.exchange.coming_in import bring_in
from labapp.coding.exchange.gathering import export_coding, sheets_of
from labapp.coding.exchange.incoming import FORMATS, ON_TRANSCRIPT, read
from labapp.coding.exchange.model import digest
from labapp.coding.exchange.plan import ImportPlan
from labapp.coding.exchange.qdpx_in import read as read_bytes
from labapp.record.journal.opening import open_record
from tests.helpers.exchanged import SECOND, export, marks_in, plan
from tests.helpers.refi import (
    GUID,
    SPACE,
    changed,
    mistakes,
    of_another_tool,
    parts,
    zipped,
)  # fmt: skip


@pytest.fixture
def project(session: Path, tmp_path: Path) -> Path:
    return export(session, "qdpx", tmp_path / "P01.qdpx").files[0]


def steps(made: ImportPlan) -> list[tuple[str, str]]:
    return sorted((step.what, step.about) for step in made.steps)


# --- our own, worked on elsewhere ---------------------------------------------------------------


def selection(root: etree._Element, kind: str, begin: str) -> etree._Element:
    key = "begin" if kind == "AudioSelection" else "startPosition"
    return next(s for s in root.iter(SPACE + kind) if s.get(key) == begin)


def code_named(root: etree._Element, name: str) -> str:
    return next(c.get("guid") for c in root.iter(f"{SPACE}Code") if c.get("name") == name)


def worked_on(root: etree._Element) -> None:
    """Codes moved, recoded, taken away and added on the sound; one added on the words."""
    selection(root, "AudioSelection", "2000").set("end", "9251")
    (insight,) = (s for s in root.iter(f"{SPACE}AudioSelection") if s.get("end") == "4502")
    source = insight.getparent()
    source.remove(insight)
    fresh = etree.SubElement(source, f"{SPACE}AudioSelection")
    for key, value in (("guid", GUID.format(1)), ("begin", "30000"), ("end", "31000")):
        fresh.set(key, value)
    coding = etree.SubElement(fresh, f"{SPACE}Coding", guid=GUID.format(2))
    reference = etree.SubElement(coding, f"{SPACE}CodeRef")
    reference.set("targetGUID", code_named(root, "Uncertain"))
    words = next(root.iter(f"{SPACE}TextSource"))
    quote = etree.SubElement(words, f"{SPACE}PlainTextSelection", guid=GUID.format(3))
    quote.set("startPosition", "110")
    quote.set("endPosition", "115")
    coding = etree.SubElement(quote, f"{SPACE}Coding", guid=GUID.format(4))
    reference = etree.SubElement(coding, f"{SPACE}CodeRef")
    reference.set("targetGUID", code_named(root, "Tries at random"))
    for reference in words.iter(f"{SPACE}CodeRef"):
        if reference.get("targetGUID") == code_named(root, "Has a goal"):
            reference.set("targetGUID", code_named(root, "Names a dial"))


TOLD = [
    ("mark added", "affect uncertain"),
    ("mark added", "strategy random"),
    ("mark moved", "affect uncertain"),
    ("mark recoded", "strategy names"),
    ("mark removed", "affect insight"),
]


def test_what_was_changed_there_is_changed_here_and_nothing_else(
    session: Path, project: Path
) -> None:
    before = marks_in(session)
    file = changed(project, worked_on)
    made = plan(session, file)
    assert steps(made) == TOLD, made.lines()
    (lost,) = made.lost
    assert "which part of a unit's words 1 code is on" in lost
    bring_in(made, session, open_record(session))
    after = marks_in(session)
    assert len(set(before) & set(after)) == len(before) - 1
    third = annotations_of(open_record(session)).segmentation.units[2]
    assert next(m for m in after.values() if m.code == "random").unit == third.id
    again = plan(session, file)
    assert again.empty
    assert not again.steps


def renewed(root: etree._Element) -> None:
    """New ids for everything, no transcript: as QualCoder writes what it read."""
    ids: dict[str, str] = {}
    for transcript in list(root.iter(f"{SPACE}Transcript")):
        transcript.getparent().remove(transcript)
    for element in root.iter():
        if own := element.get("guid"):
            ids[own] = str(uuid.uuid5(uuid.NAMESPACE_URL, own))
            element.set("guid", ids[own])
    for element in root.iter():
        for key in ("targetGUID", "creatingUser"):
            if element.get(key) in ids:
                element.set(key, ids[element.get(key)])


def test_a_tool_that_gives_everything_new_ids_changes_the_same(
    session: Path, project: Path
) -> None:
    unchanged = plan(session, changed(project, renewed))
    assert unchanged.empty
    assert unchanged.unchanged == 8
    assert not unchanged.lost

    def both(root: etree._Element) -> None:
        worked_on(root)
        renewed(root)

    made = plan(session, changed(project, both))
    kinds = {what for what, _ in steps(made)}
    # What was recoded on the words alone is there a second time: no id says that it is the same.
    assert steps(made) == sorted(
        [
            ("mark added", "strategy names"),
            ("mark cut", "strategy goal"),
            *(told for told in TOLD if told != ("mark recoded", "strategy names")),
        ]
    ), kinds


def test_lines_may_end_with_two_characters(session: Path, project: Path) -> None:
    """As Windows has them: both count."""
    files = parts(project)
    root = etree.fromstring(files["project.qde"])
    kinds = ("Transcript", "TextSource")
    texts = {
        element: f"sources/{element.get('plainTextPath').removeprefix('internal://')}"
        for kind in kinds
        for element in root.iter(SPACE + kind)
    }

    def ended(root: etree._Element) -> None:
        worked_on(root)
        for kind in kinds:
            for element in root.iter(SPACE + kind):
                name = f"sources/{element.get('plainTextPath').removeprefix('internal://')}"
                text = files[name].decode()
                for child in element.iter():
                    for key in ("position", "startPosition", "endPosition"):
                        if at := child.get(key):
                            child.set(key, str(int(at) + text[: int(at)].count("\n")))

    def nameless(root: etree._Element) -> None:
        ended(root)
        renewed(root)

    windows = {name: files[name].replace(b"\n", b"\r\n") for name in texts.values()}
    assert steps(plan(session, changed(project, ended, **windows))) == TOLD
    made = plan(session, changed(project, nameless, **windows))
    assert ("mark added", "strategy random") in steps(made)
    assert len(made.lost) == 1


def test_a_sound_without_a_name_is_known_by_its_transcript(session: Path, project: Path) -> None:
    def nameless(root: etree._Element) -> None:
        for source in root.iter(f"{SPACE}AudioSource"):
            source.set("name", "")
            source.set("guid", GUID.format(len(source)))

    made = plan(session, changed(project, nameless))
    assert made.empty
    assert made.unchanged == 8


def test_words_that_were_changed_where_no_times_are_kept_are_told(
    session: Path, project: Path
) -> None:
    root = etree.fromstring(parts(project)["project.qde"])
    words = next(root.iter(f"{SPACE}TextSource"))
    name = f"sources/{words.get('plainTextPath').removeprefix('internal://')}"
    made = plan(session, changed(project, renewed, **{name: b"other words"}))
    assert made.empty
    told = "\n".join(made.lost)
    assert "3 codes without a time" in told
    assert "units and words whose times were not kept by the other tool" in told


def test_words_and_boundaries_of_units_come_back(session: Path, project: Path) -> None:
    files = parts(project)
    root = etree.fromstring(files["project.qde"])
    transcript = next(root.iter(f"{SPACE}Transcript"))
    name = f"sources/{transcript.get('plainTextPath').removeprefix('internal://')}"
    text = files[name].decode()
    assert "taller" in text

    def said(root: etree._Element) -> None:
        points = list(next(root.iter(f"{SPACE}Transcript")).iter(f"{SPACE}SyncPoint"))
        points[1].set("timeStamp", "5750")

    file = changed(project, said, **{name: text.replace("taller", "higher").encode()})
    made = plan(session, file)
    assert {what for what, _ in steps(made)} == {"text written", "unit proposed"}
    assert not made.lost
    words = next(root.iter(f"{SPACE}TextSource"))
    name = f"sources/{words.get('plainTextPath').removeprefix('internal://')}"
    made = plan(session, changed(project, lambda _: None, **{name: b"other words"}))
    assert made.empty
    assert "its words, which differ from the transcript" in made.lost[0]


def test_words_that_were_changed_alike_in_both_texts_still_carry_codes(
    session: Path, project: Path
) -> None:
    files = parts(project)
    root = etree.fromstring(files["project.qde"])
    texts = (next(root.iter(SPACE + kind)) for kind in ("Transcript", "TextSource"))
    names = [f"sources/{t.get('plainTextPath').removeprefix('internal://')}" for t in texts]
    changed_texts = {name: files[name].replace(b"taller", b"higher") for name in names}
    made = plan(session, changed(project, worked_on, **changed_texts))
    assert ("mark added", "strategy random") in steps(made)
    assert "differ from the transcript" not in "\n".join(made.lost)


def test_what_is_taken_away_on_one_side_alone_stays_and_is_told(
    session: Path, project: Path
) -> None:
    def from_sound(root: etree._Element) -> None:
        goal = selection(root, "AudioSelection", "7001")
        goal.getparent().remove(goal)

    made = plan(session, changed(project, from_sound))
    assert made.empty
    assert "removed from the sound, but not from the words" in made.lost[0]

    def from_words(root: etree._Element) -> None:
        goal = selection(root, "PlainTextSelection", "59")
        goal.getparent().remove(goal)

    made = plan(session, changed(project, from_words))
    assert made.empty
    assert "1 code was removed from" in made.lost[0]

    def from_both(root: etree._Element) -> None:
        from_sound(root)
        from_words(root)

    made = plan(session, changed(project, from_both))
    assert [what for what, _ in steps(made)] == ["mark removed"]


def test_codes_on_the_transcript_come_back_as_those_on_words(session: Path, tmp_path: Path) -> None:
    path = tmp_path / "P01.qdpx"
    export_coding(open_record(session), "anna", ON_TRANSCRIPT, path)
    files = parts(path)
    assert not mistakes(files["project.qde"])
    root = etree.fromstring(files["project.qde"])
    assert not list(root.iter(f"{SPACE}TextSource"))
    assert len(list(root.iter(f"{SPACE}TranscriptSelection"))) == 4
    made = plan(session, path)
    assert made.empty
    assert not made.lost

    def recoded(root: etree._Element) -> None:
        for coded in root.iter(f"{SPACE}TranscriptSelection"):
            (reference,) = coded.iter(f"{SPACE}CodeRef")
            if reference.get("targetGUID") == code_named(root, "Exploring"):
                reference.set("targetGUID", code_named(root, "Names a dial"))

    assert steps(plan(session, changed(path, recoded))) == [
        ("mark recoded", 'strategy names “a <b> & "c" 🙂”')
    ]


def test_of_a_project_of_several_sessions_only_this_one_counts(
    session: Path, tmp_path: Path
) -> None:
    own = sheets_of(open_record(session), "anna")
    others = []
    for sheet in own:
        stamp = replace(sheet.stamp, session="sub-P02_ses-1_20260102T030405Z")
        others.append(replace(sheet, session=stamp.session, participant="P02", stamp=stamp))
    path = tmp_path / "both.qdpx"
    FORMATS["qdpx"].write([*own, *others], path)
    made = plan(session, path)
    assert made.empty
    assert made.unchanged == 8
    assert made.lost == ("everything from the session sub-P02_ses-1_20260102T030405Z",)


def test_a_code_may_be_changed_on_the_sound_or_on_the_words(session: Path, project: Path) -> None:
    def recode(root: etree._Element, kind: str, name: str, memo: str = "") -> None:
        for coded in root.iter(SPACE + kind):
            for reference in coded.iter(f"{SPACE}CodeRef"):
                if reference.get("targetGUID") == code_named(root, "Exploring"):
                    reference.set("targetGUID", code_named(root, name))
                    coded.find(f"{SPACE}Description").text = memo or "why"

    remarked = [("mark changed", "strategy explore “why”")]
    names = [("mark recoded", "strategy names “why”")]
    for kind in ("AudioSelection", "PlainTextSelection"):
        made = plan(session, changed(project, lambda r, k=kind: recode(r, k, "Exploring")))
        assert (steps(made), made.lost) == (remarked, ())
        made = plan(session, changed(project, lambda r, k=kind: recode(r, k, "Names a dial")))
        assert (steps(made), made.lost) == (names, ())

    def both(root: etree._Element) -> None:
        recode(root, "AudioSelection", "Names a dial")
        recode(root, "PlainTextSelection", "Tries at random")

    made = plan(session, changed(project, both))
    assert steps(made) == names
    assert "which was also changed on the words" in made.lost[0]


def test_a_sound_that_was_taken_out_takes_no_marks_along(session: Path, project: Path) -> None:
    def without(root: etree._Element) -> None:
        for source in list(root.iter(f"{SPACE}AudioSource"))[1:]:
            source.getparent().remove(source)

    made = plan(session, changed(project, without))
    assert made.empty
    assert any("segment-02.wav, which is no longer in the file" in why for why in made.lost)


def test_a_project_of_another_session_is_refused(
    session: Path, project: Path, tmp_path: Path
) -> None:
    files = parts(project)
    (note,) = (name for name in files if b'"labapp": 1' in files[name])
    files[note] = files[note].replace(session.name.encode(), b"sub-P99_ses-1_20260102T030405Z")
    project = files["project.qde"].replace(b"sub-P01_ses-1", b"sub-P99_ses-1")
    path = tmp_path / "foreign.qdpx"
    path.write_bytes(zipped({**files, "project.qde": project}))
    with pytest.raises(ExchangeError, match="was exported from the session sub-P99"):
        plan(session, path)


# --- of another tool ------------------------------------------------------------------------------


def test_a_project_of_another_tool_adds_what_has_a_time(session: Path, tmp_path: Path) -> None:
    files = of_another_tool()
    assert not mistakes(files["project.qde"])
    path = tmp_path / "nvivo.qdpx"
    path.write_bytes(zipped(files))
    made = plan(session, path, "ben")
    marks = [step for step in made.steps if step.what.startswith("mark")]
    assert [(step.what, step.about) for step in marks] == [
        ("mark added", "affect uncertain"),
        ("mark added", "affect uncertain “why?”"),
        ("mark added", "affect insight"),
    ]
    assert {step.what for step in made.steps} == {"mark added", "unit proposed", "text written"}
    assert [(step.t0_ns, step.t1_ns) for step in marks] == [
        (pytest.approx(3 * SECOND, abs=10**6), pytest.approx(7 * SECOND, abs=10**6)),
        (pytest.approx(11.25 * SECOND, abs=2 * 10**6), pytest.approx(15 * SECOND, abs=2 * 10**6)),
        (pytest.approx(16 * SECOND, abs=2 * 10**6),) * 2,
    ]
    told = "\n".join(made.lost)
    assert "affect: other (the tier 'affect' has no code 'other')" in told
    one = {"a text, notes, with 1 code, which has no time", "1 case", "1 variable", "1 note"}
    assert one <= set(made.lost)
    bring_in(made, session, open_record(session))
    again = plan(session, path, "ben")
    assert not [step for step in again.steps if step.what.startswith("mark")]


def test_what_is_left_out_is_counted_in_words_that_fit_the_number(
    session: Path, tmp_path: Path
) -> None:
    """In English and German; a text without codes is named without a number of them."""
    files = of_another_tool()
    root = etree.fromstring(files["project.qde"])
    (text,) = root.iter(f"{SPACE}TextSource")
    for selection in list(text.iter(f"{SPACE}PlainTextSelection")):
        text.remove(selection)
    (cases,) = root.iter(f"{SPACE}Cases")
    cases.append(etree.fromstring(etree.tostring(cases[0])))
    links = etree.SubElement(root, f"{SPACE}Links")
    etree.SubElement(links, f"{SPACE}Link", guid=str(uuid.uuid4()))
    path = tmp_path / "counted.qdpx"
    path.write_bytes(zipped({**files, "project.qde": etree.tostring(root)}))
    lost = plan(session, path, "ben").lost
    counted = ["a text, notes", "2 cases", "1 variable", "1 link", "1 note"]
    assert [why for why in lost if why in counted] == counted
    assert not any(re.search(r"\b0 ", why) for why in lost)
    said = [why for why in lost if why in counted and isinstance(why, Message)]
    forms = [form(why.code, why.values, "de") for why in said]
    assert forms == [
        "{what}, {name}", "{n} Fälle", "{n} Variable", "{n} Verknüpfung", "{n} Notiz",
    ]  # fmt: skip


def test_a_study_without_a_codebook_gets_that_of_the_project(session: Path, tmp_path: Path) -> None:
    (session.parent / "codebook.yaml").unlink()
    path = tmp_path / "nvivo.qdpx"
    path.write_bytes(zipped(of_another_tool()))
    made = plan(session, path, "ben")
    assert made.new_codebook
    assert not any("no code" in why or "no tier" in why for why in made.lost)
    book = made.codebook
    assert [(c.id, c.tier, c.kind) for c in book.codes] == [
        ("strategy", "strategy", "span"), ("exploring", "strategy", "span"),
        ("random", "strategy", "span"), ("other", "strategy", "span"),
        ("affect", "affect", "span"), ("uncertain", "affect", "span"),
        ("insight", "affect", "point"), ("other_2", "affect", "span"),
        ("insight_of_its_own", "codes", "span"),
    ]  # fmt: skip
    assert book.by_id["uncertain"].when == "Says that it is unclear."
    bring_in(made, session, open_record(session))
    assert [(m.tier, m.code) for m in marks_in(session, "ben").values()] == [
        ("affect", "uncertain"), ("affect", "uncertain"), ("affect", "insight"),
        ("affect", "other_2"),
    ]  # fmt: skip


def test_words_with_times_of_another_tool_become_units(session: Path, tmp_path: Path) -> None:
    (arrival,) = read_bytes(zipped(of_another_tool()), "nvivo.qdpx")
    assert [(u.t0_ns // 10**6, u.t1_ns // 10**6, digest(u.text)) for u in arrival.utterances] == [
        (0, 2000, digest("Interviewer")),
        (2000, 6000, digest("so what is it")),
        (6000, 9500, digest("well 🙂 the first dial")),
    ]


def test_a_sound_that_is_not_of_the_session_is_refused_with_what_to_say(
    session: Path, tmp_path: Path
) -> None:
    path = tmp_path / "nvivo.qdpx"
    path.write_bytes(zipped(of_another_tool("interview 3")))
    with pytest.raises(
        LabappError, match=r"interview 3\.wav, which is not one of the sound files"
    ) as refused:
        plan(session, path, "ben")
    assert "which times it has: session, segment-01.wav" in refused.value.todo
    assert len(plan(session, path, "ben", time="segment-01.wav").put) == 3


def test_the_checksum_is_that_of_the_file(project: Path) -> None:
    assert read(project).sha256 == hashlib.sha256(project.read_bytes()).hexdigest()


# --- what is refused ----------------------------------------------------------------------------


def bomb() -> bytes:
    return zipped({"project.qde": b"<Project>" + b" " * archives.FREE})


XML = b'<?xml version="1.0"?><Project xmlns="urn:QDA-XML:project:1.0" name="a">'
ENTITIES = (
    b'<!DOCTYPE x [<!ENTITY a "aaaa">]><Project xmlns="urn:QDA-XML:project:1.0">&a;</Project>'
)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not a complete zip archive"),
        (b"PK\3\4" + b"\0" * 60, "not a complete zip archive"),
        (zipped({"a.txt": b"x"}), "there is no project.qde in it"),
        (zipped({"a.qde": XML, "b.qde": XML}), "2 files .qde"),
        (zipped({"project.qde": XML, "../evil.txt": b"x"}), "leads out of the archive's folder"),
        (zipped({"project.qde": XML, "/etc/evil": b"x"}), "is not below"),
        (zipped({"project.qde": ENTITIES}), "defines entities"),
        (zipped({"project.qde": b"<html/>"}), "begins with <html>"),
        (zipped({"project.qde": XML}), "not valid XML"),
        (zipped({"project.qde": XML + b"</Project>"}), "no sound or video"),
        (zipped({"project.qde": b"<a>" * 5000}), "nested more than"),
        (zipped({"project.qde": XML + b"<a/>" * 2_000_001}), "more than 1,000,000 elements"),
        (bomb, "would unpack from"),
    ],
)  # fmt: skip
def test_what_is_no_such_file_is_refused_in_words(
    content: bytes | Callable[[], bytes], why: str, session: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.qdpx"
    path.write_bytes(content if isinstance(content, bytes) else content())
    before = marks_in(session)
    with pytest.raises(LabappError) as refused:
        plan(session, path)
    assert why in str(refused.value)
    assert refused.value.todo
    assert marks_in(session) == before
