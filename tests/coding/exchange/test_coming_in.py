"""Files that come in: what is changed, what stays, and what is told."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest

from labapp.base.errors import ExchangeError, LabappError, UsageError
from labapp.coding.annotations.codebook import codebooks_of
from labapp.coding.annotations.codebook import read as read_codebook
from labapp.coding.annotations.model import Text
from labapp.coding.annotations.redacting import redact
from labapp.coding.annotations.store import (
    annotations_of,
    history_of,
    open_marks,
    open_texts,
    open_units,
)
from labapp.coding.exchange.coming_in import bring_in
from labapp.coding.exchange.incoming import FORMATS, read_translation
from labapp.coding.exchange.plan import ImportPlan
from labapp.record.journal.opening import open_record
from tests.helpers.exchanged import MS, SECOND, exchanged_session, export, marks_in, plan
from tests.helpers.refi import parts

TWO_WAY = [name for name, form in FORMATS.items() if form.read is not None]


def apply(session: Path, file: Path, rater: str = "anna", **how: object) -> ImportPlan:
    made = plan(session, file, rater, **how)
    bring_in(made, session, open_record(session))
    return made


def edited(path: Path, *changes: tuple[str, str]) -> Path:
    """A copy of a text file in which something else stands."""
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    copy = path.with_name(f"edited-{path.name}")
    copy.write_text(text, encoding="utf-8")
    return copy


def table(path: Path, *rows: tuple[object, ...]) -> Path:
    """A CSV of codes."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["tier", "code", "onset_s", "offset_s", "text", "memo"])
        writer.writerows(rows)
    return path


# --- nothing was changed --------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"base": "session"}, {"base": "joined"}], ids=str)
@pytest.mark.parametrize("name", TWO_WAY)
def test_what_went_out_changes_nothing(
    name: str, how: dict[str, str], session: Path, tmp_path: Path
) -> None:
    several = not how and name != "csv" and not FORMATS[name].many
    out = tmp_path / ("out" if several else f"out{FORMATS[name].suffix}")
    for file in export(session, name, out, **how).files:
        if file.suffix == ".wav":
            continue
        # SubRip says nothing about itself; the name of the file said it above.
        time = "session" if how and name == "srt" else ""
        made = plan(session, file, time=time)
        assert made.empty, made.lines()
        assert not made.steps
        assert not made.lost


@pytest.mark.parametrize("name", TWO_WAY)
def test_another_rater_takes_over_every_code(name: str, session: Path, tmp_path: Path) -> None:
    if name in ("vtt", "srt"):
        return
    out = tmp_path / ("out" if name not in ("csv", "qdpx") else f"out.{name}")
    for file in export(session, name, out).files:
        apply(session, file, "ben")
    own, other = marks_in(session), marks_in(session, "ben")

    def known(marks: dict[str, object]) -> list[tuple[object, ...]]:
        return sorted((m.tier, m.code, m.unit or "", m.value or 0) for m in marks.values())  # type: ignore[attr-defined]

    assert known(own) == known(other)  # type: ignore[arg-type]
    for mark, copy in zip(
        sorted(own.values(), key=_place), sorted(other.values(), key=_place), strict=True
    ):
        assert abs(mark.t0_ns - copy.t0_ns) <= MS // 2 + 1
        assert abs(mark.t1_ns - copy.t1_ns) <= MS // 2 + 1


def _place(mark: object) -> tuple[object, ...]:
    return mark.tier, mark.code, mark.t0_ns // SECOND  # type: ignore[attr-defined]


# --- what was changed there and here --------------------------------------------------------------


def test_a_change_is_one_step_that_can_be_undone(session: Path, tmp_path: Path) -> None:
    (file,) = export(session, "csv", tmp_path / "a.csv").files
    before = marks_in(session)
    changed = edited(file, ("strategy,goal,8.", "strategy,random,8."), ("insight", "insight"))
    made = plan(session, changed)
    assert [step.what for step in made.steps] == ["mark recoded"]
    book = read_codebook(session.parent / "codebook.yaml")
    with open_marks(session, "anna", book) as marks:
        marks.bring_in(made.put, made.removed, made.source)
        assert {m.id: m.code for m in marks.marks} != {i: m.code for i, m in before.items()}
        assert marks.undo()
        assert {m.id: m.code for m in marks.marks} == {i: m.code for i, m in before.items()}
        assert marks.redo()
    kinds = [step.line.kind for step in history_of(open_record(session), "anna")]
    assert kinds.count("imported") == 2


def test_the_ledger_says_what_came_in_and_no_name(session: Path, tmp_path: Path) -> None:
    (file,) = export(session, "csv", tmp_path / "Anna Smith.csv").files
    made = apply(session, edited(file, ("strategy,goal,8.", "strategy,random,8.")))
    (step,) = [s for s in history_of(open_record(session), "anna") if s.line.kind == "imported"]
    assert step.line.body == {"sha256": made.sha256, "format": "csv"}
    assert len(made.sha256) == 64


def test_what_was_changed_here_since_stays(session: Path, tmp_path: Path) -> None:
    first = export(session, "eaf", tmp_path / "out").files[0]
    span = next(m for m in marks_in(session).values() if m.t1_ns == 9_500_000_123)
    book = read_codebook(session.parent / "codebook.yaml")
    with open_marks(session, "anna", book) as marks:
        marks.put(replace(span, t1_ns=10 * SECOND))
    # The file has it as it went out: nothing was changed there.
    assert plan(session, first).empty
    # The file has it otherwise, too.
    slot = re.search(f'ANNOTATION_ID="m{span.id}" TIME_SLOT_REF1="(ts\\d+)"', first.read_text())
    assert slot is not None
    changed = edited(
        first,
        (
            f'TIME_SLOT_ID="{slot[1]}" TIME_VALUE="2000"',
            f'TIME_SLOT_ID="{slot[1]}" TIME_VALUE="2300"',
        ),
    )
    made = plan(session, changed)
    assert made.empty
    assert "also changed here" in made.lost[0]


def test_a_file_that_is_edited_again_holds(session: Path, tmp_path: Path) -> None:
    """What a file put before is the file's to change."""
    first = export(session, "eaf", tmp_path / "out").files[0]
    once = edited(first, (">goal<", ">random<"))
    assert [s.what for s in apply(session, once).steps] == ["mark recoded"]
    twice = edited(first, (">goal<", ">names<"))
    assert [s.what for s in apply(session, twice).steps] == ["mark recoded"]
    assert "names" in {m.code for m in marks_in(session).values()}


def test_only_what_went_out_can_be_taken_away(session: Path, tmp_path: Path) -> None:
    first = export(session, "eaf", tmp_path / "out").files[0]
    book = read_codebook(session.parent / "codebook.yaml")
    with open_marks(session, "anna", book) as marks:
        later = marks.give("insight", t0_ns=20 * SECOND)
    text = first.read_text()
    row = re.compile(
        r"<ANNOTATION>\s*<ALIGNABLE_ANNOTATION [^>]*>\s*<ANNOTATION_VALUE>insight.*?</ANNOTATION>",
        re.S,
    )
    assert row.search(text)
    gone = first.with_name("gone.eaf")
    gone.write_text(row.sub("", text))
    made = apply(session, gone)
    assert [step.what for step in made.steps] == ["mark removed"]
    left = [m.id for m in marks_in(session).values() if m.code == "insight"]
    assert left == [later.id]
    # Another rater has none of these: nothing of theirs is taken away.
    assert not plan(session, gone, "ben").removed


def test_without_a_stamp_nothing_is_taken_away(session: Path, tmp_path: Path) -> None:
    file = table(tmp_path / "a.csv", ("affect", "uncertain", "40.5", "41.25", "", "new"))
    made = apply(session, file)
    assert [step.what for step in made.steps] == ["mark added"]
    assert "8 marks here are not in the file" in made.lost[0]
    (mark,) = [m for m in marks_in(session).values() if m.t0_ns == 40_500_000_000]
    assert (mark.t1_ns, mark.memo) == (41_250_000_000, "new")


def test_a_moved_boundary_of_a_unit_is_proposed(session: Path, tmp_path: Path) -> None:
    first = export(session, "eaf", tmp_path / "out").files[0]
    units = annotations_of(open_record(session)).segmentation.units
    slot = re.search(
        f'ANNOTATION_ID="u{units[3].id}" TIME_SLOT_REF1="ts\\d+" TIME_SLOT_REF2="(ts\\d+)"',
        first.read_text(),
    )
    assert slot is not None
    changed = edited(
        first,
        (
            f'TIME_SLOT_ID="{slot[1]}" TIME_VALUE="23503"',
            f'TIME_SLOT_ID="{slot[1]}" TIME_VALUE="24003"',
        ),
    )
    assert [step.what for step in apply(session, changed).steps] == ["unit proposed"]
    (proposal,) = annotations_of(open_record(session)).segmentation.proposals
    assert (proposal.what, proposal.by, proposal.put[0].id) == ("move", "anna", units[3].id)
    assert proposal.put[0].t0_ns == units[3].t0_ns
    assert proposal.put[0].t1_ns == pytest.approx(units[3].t1_ns + 0.5 * SECOND, abs=MS)


# --- what has no place ----------------------------------------------------------------------------


def test_every_row_that_cannot_be_is_told(session: Path, tmp_path: Path) -> None:
    file = table(
        tmp_path / "a.csv",
        ("affect", "uncertain", "40", "41", "", ""),
        ("affect", "uncertain", "400", "401", "", ""),  # outside
        ("affect", "delighted", "42", "43", "", ""),  # no such code
        ("mood", "happy", "42", "43", "", ""),  # no such tier
        ("strategy", "goal", "3.3", "4.4", "", ""),  # on no unit
        ("affect", "insight", "50", "50.4", "", ""),  # a moment with a length
        ("affect", "uncertain", "51", "", "", ""),  # a stretch without one
        ("affect", "uncertain", "x", "52", "", ""),
        ("surety", "sure = 9", "8", "12.5", "", ""),
    )
    made = plan(session, file)
    assert [(s.what, s.about) for s in made.steps] == [
        ("mark added", "affect uncertain"),
        ("mark added", "affect insight"),
    ]
    told = "\n".join(made.lost)
    for part in (
        "line 3 (6:40.000–6:41.000): affect uncertain: it lies outside the session",
        "affect: delighted (the tier 'affect' has no code 'delighted')",
        "mood: happy (the codebook think-aloud has no tier 'mood')",
        "line 6 (0:03.300–0:04.400): strategy goal: there is no unit",
        "line 7 (0:50.000–0:50.400): affect insight applies to a moment, so its beginning was used",
        "line 8 (0:51.000): affect uncertain: uncertain applies to stretches",
        "line 9: 'x' is not a time in seconds",
        "has no value 9",
    ):
        assert part in told, part


def test_a_map_says_what_things_are_called_here(session: Path, tmp_path: Path) -> None:
    file = table(
        tmp_path / "a.csv",
        ("Gefühl", "unsicher", "40", "41", "", ""),
        ("Gefühl", "froh", "42", "43", "", ""),
        ("Notiz", "egal", "42", "43", "", ""),
    )
    words = tmp_path / "map.csv"
    words.write_text(
        "tier,code,to_tier,to_code\nGefühl,unsicher,affect,uncertain\nNotiz,,,\n", encoding="utf-8"
    )
    made = plan(session, file, translation=read_translation(words))
    assert [s.about for s in made.steps] == ["affect uncertain"]
    assert "1 of Notiz: egal, which the map leaves out" in made.lost
    assert any("Gefühl: froh" in why for why in made.lost)
    words.write_text("a,b\n")
    with pytest.raises(ExchangeError, match="no column tier, to_tier"):
        read_translation(words)


def test_a_study_without_a_codebook_gets_one(session: Path, tmp_path: Path) -> None:
    (session.parent / "codebook.yaml").unlink()
    with open_units(session, "owner") as units:
        assert units.frozen
    file = table(
        tmp_path / "a.csv",
        ("Mood & feeling", "Feels lost", "40", "41", "", ""),
        ("Mood & feeling", "Feels lost", "43", "", "", ""),
        ("Mood & feeling", "2nd = 3", "44", "45", "", ""),
    )
    made = apply(session, file, "ben")
    assert made.new_codebook
    (book,) = codebooks_of(session.parent)
    assert [(tier.name, tier.title, tier.on, tier.values) for tier in book.tiers] == [
        ("mood_feeling", "Mood & feeling", "spans", (3,))
    ]
    assert [(code.id, code.name, code.kind) for code in book.codes] == [
        ("feels_lost", "Feels lost", "span"),
        ("feels_lost_at_a_moment", "Feels lost", "point"),
        ("code_2nd", "2nd", "span"),
    ]
    assert len(marks_in(session, "ben")) == 3
    again = plan(session, file, "ben")
    assert again.empty
    assert not again.new_codebook
    assert again.unchanged == 3


def test_units_of_a_file_become_those_of_a_session_without(tmp_path: Path) -> None:
    session = exchanged_session(tmp_path / "one")
    out = export(session, "eaf", tmp_path / "out").files
    other = exchanged_session(tmp_path / "two")
    for name in ("units.jsonl", "transcript.jsonl", "raters/anna.jsonl"):
        (other.parent / "annotations" / other.name / name).unlink()
    for file in out:
        made = apply(other, file)
    assert made.lost
    annotations = annotations_of(open_record(other))
    assert len(annotations.segmentation.units) >= 12
    assert annotations.segmentation.frozen
    assert {unit.origin for unit in annotations.segmentation.units} == {"import"}
    assert "okay so this one makes it taller" in {t.text for t in annotations.texts.values()}


def test_captions_write_units_and_words(tmp_path: Path) -> None:
    session = exchanged_session(tmp_path / "one")
    for name in ("units.jsonl", "transcript.jsonl", "raters/anna.jsonl"):
        (session.parent / "annotations" / session.name / name).unlink()
    file = tmp_path / "words.srt"
    file.write_text(
        "1\n00:00:10,000 --> 00:00:12,500\n<i>so</i> a < b\n\n"
        "2\n00:00:13,000 --> 00:00:14,000\n[moderator] go on\n"
    )
    with pytest.raises(UsageError, match="which of the session's 2 sound files"):
        plan(session, file)
    apply(session, file, time="session")
    annotations = annotations_of(open_record(session))
    assert [(u.t0_ns, u.t1_ns, u.speaker) for u in annotations.segmentation.units] == [
        (10 * SECOND, 12_500_000_000, "participant"),
        (13 * SECOND, 14 * SECOND, "moderator"),
    ]
    assert not annotations.segmentation.frozen
    assert sorted(t.text for t in annotations.texts.values()) == ["go on", "so a < b"]
    assert {(t.origin, t.reviewed) for t in annotations.texts.values()} == {("import", False)}


# --- what is refused ------------------------------------------------------------------------------


def test_a_file_of_another_session_is_refused(session: Path, tmp_path: Path) -> None:
    first = export(session, "eaf", tmp_path / "out").files[0]
    foreign = edited(first, (session.name + '"', 'sub-P99_ses-1_20260102T030405Z"'))
    text = foreign.read_text().replace(f'"session":"{session.name}"', '"session":"sub-P99"')
    foreign.write_text(text.replace(f'"session":"{session.name}', '"session":"sub-P99'))
    with pytest.raises(ExchangeError, match="was exported from the session sub-P99"):
        plan(session, foreign)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.eaf", b"<ANNOTATION_DOCUMENT"),
        ("a.eaf", b"<html/>"),
        (
            "a.eaf",
            b'<!DOCTYPE x [<!ENTITY a "aaaa">]><ANNOTATION_DOCUMENT>&a;</ANNOTATION_DOCUMENT>',
        ),
        ("a.eaf", b"<a>" * 5000),
        ("a.eaf", b'<?xml version="1.0" encoding="UTB-8"?><ANNOTATION_DOCUMENT/>'),
        ("a.TextGrid", b"\xff\xfe\x00"),
        (
            "a.TextGrid",
            b'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n1\n<exists>\n99\n',
        ),
        ("a.vtt", b"WEBVTT\n\n1 --> 2\nx\n"),
        ("a.srt", b""),
        ("a.csv", b"a,b\n1,2\n"),
        ("a.csv", b"\xff\xff"),
        ("a.mp3", b""),
    ],
)
def test_what_is_no_such_file_is_refused_in_words(
    name: str, content: bytes, session: Path, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    before = marks_in(session)
    with pytest.raises(LabappError) as refused:
        plan(session, file)
    assert refused.value.todo
    assert marks_in(session) == before


def test_locked_marks_stay(session: Path, tmp_path: Path) -> None:
    (file,) = export(session, "csv", tmp_path / "a.csv").files
    book = read_codebook(session.parent / "codebook.yaml")
    with open_marks(session, "anna", book) as marks:
        marks.set_status("done")
        marks.set_status("locked")
    assert plan(session, file).empty
    with pytest.raises(ExchangeError, match="are locked"):
        plan(session, edited(file, ("strategy,goal,8.", "strategy,random,8.")))


# --- what does not leave the lab ------------------------------------------------------------------


def test_redacted_words_and_sound_are_in_no_file(session: Path, tmp_path: Path) -> None:
    unit = annotations_of(open_record(session)).segmentation.units[1].id
    with open_texts(session, "owner") as texts:
        texts.put(Text(unit, "my name is Quokka", (), "hand", "owner"))
    redact(session, 8 * SECOND, 13 * SECOND, "owner")
    for name, form in FORMATS.items():
        out = tmp_path / name
        exported = export(session, name, out, **({} if name == "csv" else {"with_sound": True}))
        for file in exported.files:
            content = file.read_bytes()
            if form.holds_sound:
                content = b"".join(text for n, text in parts(file).items() if n[-4:] != ".wav")
            if file.suffix != ".wav":
                assert b"Quokka" not in content, file
                said = name != "boris" and "segment-02" not in file.name
                assert (b"[\xe2\x80\xa6]" in content) == said, file
            elif "segment-01" in file.name:
                begin, end = (44 + 2 * round((t - 1) * 8000 * 1.00012) for t in (8, 13))
                assert not any(content[begin:end])
                assert any(content[begin - 200 : begin - 100])
        assert form.name == name
    (file,) = export(session, "csv", tmp_path / "back.csv").files
    made = plan(session, file)
    assert made.empty  # `[…]` is no correction
    said = plan(session, edited(file, ("[…]", "and the next one")))
    assert not said.texts
    assert "is partly redacted" in said.lost[0]


def test_files_link_no_sound_that_is_redacted(session: Path, tmp_path: Path) -> None:
    first = export(session, "eaf", tmp_path / "one").files[0]
    assert f"{session.name}/audio/segment-01.wav" in first.read_text()
    redact(session, 8 * SECOND, 13 * SECOND, "owner")
    files = export(session, "eaf", tmp_path / "two").files
    assert [file.suffix for file in files] == [".eaf", ".eaf", ".wav", ".wav"]
    assert f"{session.name}/audio" not in files[0].read_text()


def test_consent_decides_about_words_and_sound(tmp_path: Path) -> None:
    session = exchanged_session(tmp_path / "a", uses={"transcript": False, "share_audio": False})
    exported = export(session, "eaf", tmp_path / "a.eaf")
    text = exported.files[0].read_text()
    assert "MEDIA_DESCRIPTOR" not in text
    assert "taller" not in text
    assert "the sound, because the participant did not agree to share it" in exported.lost
    with pytest.raises(ExchangeError, match="did not agree"):
        export(session, "eaf", tmp_path / "b.eaf", with_sound=True)
    changed = edited(
        exported.files[0], ("<ANNOTATION_VALUE />", "<ANNOTATION_VALUE>taller</ANNOTATION_VALUE>")
    )
    made = plan(session, changed)
    assert made.empty
    assert "the words of 1 units, because the participant did not agree" in made.lost[0]


def test_what_went_out_is_written_down_and_nothing_overwritten(
    session: Path, tmp_path: Path
) -> None:
    from labapp.coding.annotations.redacting import holders

    export(session, "csv", tmp_path / "a.csv")
    (entry,) = holders(session.parent, session.name)
    assert (entry.kind, entry.file) == ("export", str(tmp_path / "a.csv"))
    content = (tmp_path / "a.csv").read_bytes()
    with pytest.raises(ExchangeError, match="already exists"):
        export(session, "csv", tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes() == content


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_files_of_a_blind_rater_name_no_condition(name: str, session: Path, tmp_path: Path) -> None:
    record = open_record(session)
    assert record.planned.assignment
    for key, value in record.planned.assignment.items():
        for file in export(session, name, tmp_path / f"{key}{FORMATS[name].suffix}").files:
            content = b"".join(parts(file).values()) if name == "qdpx" else file.read_bytes()
            assert f"{key}={value}".encode() not in content
            assert f">{value}<".encode() not in content
