"""Captions, BORIS and ELAN files as other programs write them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from labapp.base.errors import ExchangeError
from labapp.coding.agreement.coefficients import CohenKappa, Span, instants, labels_at
from labapp.coding.agreement.measure import coefficient, ratings_of
from labapp.coding.annotations.codebook import Code as BookCode
from labapp.coding.annotations.codebook import Codebook, Tier
from labapp.coding.exchange import eaf
from labapp.coding.exchange.files import ms
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import FORMATS, read
from labapp.coding.exchange.model import Annotation, Arrival, Sheet
from labapp.coding.exchange.tables import POINT
from labapp.record.journal.opening import open_record
from tests.helpers.exchanged import MS, SECOND, exchanged_session, sheet_with, sheets
from tests.helpers.nightly import examples

CASES = Path(__file__).resolve().parents[2] / "cases"

NS = 1_000_000_000

VTT = "WEBVTT\n\n"

ONE, TWO = "00:01.000 --> 00:04.000\n", "00:05.000 --> 00:09.000\n"


def arrival(path: Path) -> Arrival:
    (only,) = read(path).arrivals
    return only


def written(folder: Path, name: str, content: str) -> Arrival:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return arrival(path)


def cues(arrived: Arrival) -> list[tuple[float, float, str]]:
    return [(u.t0_ns / NS, u.t1_ns / NS, u.text) for u in arrived.utterances]


def voices(arrived: Arrival) -> list[tuple[str, str | None, str]]:
    return [(u.speaker, u.voice, u.text) for u in arrived.utterances]


# --- who speaks -----------------------------------------------------------------------------------


def test_nobody_of_a_meeting_is_the_participant_by_default() -> None:
    assert voices(arrival(CASES / "caption-speakers/v1_teams.vtt")) == [
        ("other", "Mara Beispiel", "What do you think now?"),
        ("other", "P07", "I think it gets taller."),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("zoom.vtt", f"{VTT}1\n{ONE}Mara Beispiel: why?\n\n2\n{TWO}P07: it gets\ntaller\n"),
        ("teams.vtt", f"{VTT}{ONE}<v Mara Beispiel>why?</v>\n\n{TWO}<v P07>it gets\ntaller</v>\n"),
        ("both.vtt", f"{VTT}{ONE}<v Mara  Beispiel>why?</v>\n<v P07>it gets\ntaller</v>\n"),
        ("lines.vtt", f"{VTT}{ONE}Mara Beispiel: why?\nP07: it gets\ntaller\n"),
        (
            "zoom.srt",
            (
                "1\n00:00:01,000 --> 00:00:02,000\n>> Mara Beispiel: why?\n\n"
                "2\n00:00:05,000 --> 00:00:06,000\n- P07: it gets\ntaller\n"
            ),
        ),
    ],
)
def test_names_before_words_are_voices(name: str, content: str, tmp_path: Path) -> None:
    assert voices(written(tmp_path, name, content)) == [
        ("other", "Mara Beispiel", "why?"),
        ("other", "P07", "it gets\ntaller"),
    ]


@pytest.mark.parametrize("mark", ["[SPEAKER_00]: ", "[SPEAKER_00] "])
def test_so_are_the_speakers_of_whisperx(mark: str, tmp_path: Path) -> None:
    text = f"{VTT}{ONE}{mark}why?\n\n{TWO}taller\n"
    assert voices(written(tmp_path, "a.vtt", text)) == [
        ("other", "SPEAKER_00", "why?"),
        ("participant", "", "taller"),
    ]


def test_our_speakers_are_known_in_capitals_too(tmp_path: Path) -> None:
    text = f"{VTT}{ONE}<v Moderator>why?\n\n{TWO}PARTICIPANT: taller\n"
    assert voices(written(tmp_path, "a.vtt", text)) == [
        ("moderator", None, "why?"),
        ("participant", None, "taller"),
    ]


@pytest.mark.parametrize(
    "words", ["So: it gets taller", "[laughs] no idea", "it is 10:30 now", "I see. Well: no"]
)
def test_a_colon_alone_makes_no_name(words: str, tmp_path: Path) -> None:
    text = f"{VTT}{ONE}{words}\n\n{TWO}no\n\n00:10.000 --> 00:12.000\nno\n"
    assert voices(written(tmp_path, "a.vtt", text))[0] == ("participant", "", words)


# --- cues -----------------------------------------------------------------------------------------


def test_cues_without_an_empty_line_between_are_each_read(tmp_path: Path) -> None:
    expected = [(1.0, 3.0, "alpha"), (4.0, 6.0, "beta"), (7.0, 8.0, "gamma")]
    assert cues(arrival(CASES / "srt-glued-cues/s4_noblank.srt")) == expected
    windows = (CASES / "srt-glued-cues/s4_noblank.srt").read_text().replace("\n", "\r\n")
    assert cues(written(tmp_path, "a.srt", windows.replace("beta\r\n\r\n", "beta\r\n"))) == expected
    bare = VTT + "00:01.000 --> 00:03.000\nalpha\n00:04.000 --> 00:06.000\nbeta\n"
    assert cues(written(tmp_path, "a.vtt", bare)) == expected[:2]


@pytest.mark.parametrize("name", ["a.srt", "a.vtt"])
def test_words_behind_an_empty_line_are_kept(name: str, tmp_path: Path) -> None:
    text = (
        "1\n00:00:01,000 --> 00:00:03,000\nalpha\n\nand 2\n\n"
        "2\n00:00:04,000 --> 00:00:06,000\nbeta\n\n\n7\n"
    )
    head = VTT if name.endswith("vtt") else ""
    assert cues(written(tmp_path, name, head + text)) == [
        (1.0, 3.0, "alpha\nand 2"),
        (4.0, 6.0, "beta\n7"),
    ]


def test_notes_and_styles_are_no_words(tmp_path: Path) -> None:
    text = f"{VTT}STYLE\n::cue {{ color: red }}\n\n{ONE}alpha\n\nNOTE from here\nnot said\n\nNOTE\n"
    assert cues(written(tmp_path, "a.vtt", text)) == [(1.0, 4.0, "alpha")]


def test_times_are_read_with_any_number_of_decimals(tmp_path: Path) -> None:
    assert cues(arrival(CASES / "srt-no-milliseconds/s2_noms.srt")) == [
        (1.0, 3.0, "no milliseconds"),
        (4.0, 5.0, "with"),
    ]
    text = "1\n00:00:01,5000 --> 0:00:03.25\nx\n\n2\n00:04 --> 00:05,1\ny\n"
    assert cues(written(tmp_path, "a.srt", text)) == [(1.5, 3.25, "x"), (4.0, 5.1, "y")]


def test_a_cue_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    arrived = arrival(CASES / "srt-no-milliseconds/s8_neg.srt")
    assert cues(arrived) == [(4.0, 6.0, "beta")]
    assert arrived.lost == (
        "line 2: a cue without a length ('backwards')",
        "line 6: a cue whose times cannot be read ('before zero')",
    )
    text = "1\n00:00:01,000 --> soon\nalpha\n\n2\n00:00:04,000 --> 00:00:06,000\nsay -->\n"
    arrived = written(tmp_path, "a.srt", text)
    assert cues(arrived) == [(4.0, 6.0, "say -->")]
    assert arrived.lost == ("line 2: a cue whose times cannot be read ('alpha')",)


def test_formatting_is_not_said(tmp_path: Path) -> None:
    assert cues(arrival(CASES / "srt-ass-tag/s14_rtl.srt")) == [(1.0, 3.0, "שלום")]
    text = "1\n00:00:01,000 --> 00:00:03,000\n{\\an8\\i1}{\\pos(4,5)}so {a} b\n"
    assert cues(written(tmp_path, "a.srt", text)) == [(1.0, 3.0, "so {a} b")]
    text = "1\n00:00:01,000 --> 00:00:03,000\n{\\an8}Mara: so\n"
    assert voices(written(tmp_path, "b.srt", text)) == [("other", "Mara", "so")]


# --- Whisper --------------------------------------------------------------------------------------


def test_whispers_table_is_read_with_the_quotes_it_has(tmp_path: Path) -> None:
    assert cues(arrival(CASES / "whisper-outputs/w1.tsv")) == [(1.0, 3.0, "It gets taller")]
    arrived = written(
        tmp_path, "a.tsv", 'start\tend\ttext\n0\t1500\t"So, he said\n1500\tx\t5" wide\n'
    )
    assert cues(arrived) == [(0.0, 1.5, '"So, he said')]
    assert arrived.lost == ("line 3: a cue whose times cannot be read ('5\" wide')",)


@pytest.mark.parametrize(
    "document",
    [
        {"text": "x", "segments": [{"id": 0, "start": 1.0, "end": 3.0, "text": " It gets taller"}]},
        {
            "segments": [
                {"start": 1, "end": 3.0, "text": "It gets taller", "words": [], "speaker": None}
            ]
        },
        {"transcription": [{"offsets": {"from": 1000, "to": 3000}, "text": " It gets taller"}]},
    ],
)
def test_so_are_its_segments(document: object, tmp_path: Path) -> None:
    arrived = written(tmp_path, "a.json", json.dumps(document))
    assert cues(arrived) == [(1.0, 3.0, "It gets taller")]
    assert voices(arrived) == [("participant", "", "It gets taller")]


def test_segments_of_whisperx_have_voices(tmp_path: Path) -> None:
    segments = [{"start": 1.0, "end": 3.0, "text": "why?", "speaker": "SPEAKER_01"}]
    arrived = written(tmp_path, "a.json", json.dumps({"segments": segments}))
    assert voices(arrived) == [("other", "SPEAKER_01", "why?")]


@pytest.mark.parametrize(
    "content", ["[]", "{}", "1", '{"segments": [1]}', '{"segments": [{"start": 1e999}]}', "{"]
)
def test_what_is_no_output_of_whisper_is_refused(content: str, tmp_path: Path) -> None:
    with pytest.raises(ExchangeError, match="as Whisper writes them"):
        written(tmp_path, "a.json", content)


def written_boris(sheet: Sheet, folder: Path) -> dict[str, Any]:
    path = folder / "sheet.boris"
    path.unlink(missing_ok=True)
    FORMATS["boris"].write([sheet], path)
    project: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return project


def stretches(project: dict[str, Any]) -> Counter[tuple[object, ...]]:
    """What BORIS makes of the events: the second one of a subject, behaviour and modifier ends the
    first."""
    kinds = {row["code"]: row["type"] for row in project["behaviors_conf"].values()}
    known = {row["name"] for row in project["subjects_conf"].values()}
    read: Counter[tuple[object, ...]] = Counter()
    for observation in project["observations"].values():
        times = [event[0] for event in observation["events"]]
        assert times == sorted(times)
        open_: dict[tuple[str, ...], tuple[float, str]] = {}
        for at, subject, code, modifier, comment in observation["events"]:
            assert subject in known
            if kinds[code] == POINT:
                read[code, modifier, at, at, comment] += 1
            elif (subject, code, modifier) in open_:
                begin, words = open_.pop((subject, code, modifier))
                read[code, modifier, begin, at, words + comment] += 1
            else:
                open_[subject, code, modifier] = at, comment
        assert not open_
    return read


@settings(
    max_examples=examples(60),
)
@given(sheet=sheets())
def test_every_code_is_a_pair_of_events_or_a_moment(sheet: Sheet, tmp_path: Path) -> None:
    sent = Counter(
        (
            a.code, "" if a.value is None else str(a.value),
            ms(a.t0_ns) / 1000, ms(a.t1_ns) / 1000, a.memo,
        )
        for a in sheet.annotations
    )  # fmt: skip
    assert stretches(written_boris(sheet, tmp_path)) == sent


def test_a_code_that_overlaps_itself_goes_on_with_a_further_subject(tmp_path: Path) -> None:
    ends = [(0, 4), (2, 6), (4, 8)]
    given = [Annotation(f"a{b}", "affect", "uncertain", b * SECOND, e * SECOND) for b, e in ends]
    project = written_boris(sheet_with((), tuple(given)), tmp_path)
    (observation,) = project["observations"].values()
    assert [(at, subject) for at, subject, *_ in observation["events"]] == [
        (0.0, "P01"), (2.0, "P01 #2"), (4.0, "P01"), (4.0, "P01"), (6.0, "P01 #2"), (8.0, "P01"),
    ]  # fmt: skip


def test_codes_are_behaviours_with_their_category_keys_and_values(tmp_path: Path) -> None:
    book = Codebook(
        "b", 1, "", (Tier("a", "First", exclusive=True, values=(1, 2)), Tier("c")),
        (BookCode("x", "a", "Ex", "x"), BookCode("y", "a", "Why"), BookCode("z", "c", "Z", "x")),
    )  # fmt: skip
    project = written_boris(sheet_with(book=book), tmp_path)
    rows = list(project["behaviors_conf"].values())
    assert [(r["code"], r["key"], r["category"], r["excluded"]) for r in rows] == [
        ("x", "x", "First", "y"), ("y", "", "First", "x"), ("z", "", "c", ""),
    ]  # fmt: skip
    assert rows[0]["modifiers"]["0"]["values"] == ["1", "2"]
    assert rows[2]["modifiers"] == ""
    assert project["behavioral_categories"] == ["First", "c"]


def test_each_sound_file_is_an_observation_with_its_length(tmp_path: Path) -> None:
    session = exchanged_session(tmp_path)
    exported = export_coding(
        open_record(session), "anna", FORMATS["boris"], tmp_path / "P01.boris", with_sound=True
    )
    project = json.loads(exported.files[0].read_text())
    assert project["project_format_version"] == "7.0"
    assert project["independent_variables"] == {}  # anna was blind to names
    first, second = project["observations"].values()
    assert [*project["observations"]] == [
        f"{session.name} segment-0{number} anna" for number in (1, 2)
    ]
    assert first["file"]["1"] == ["P01_segment-01.wav"]
    assert (tmp_path / "P01_segment-01.wav").is_file()
    assert first["media_info"]["length"]["P01_segment-01.wav"] == pytest.approx(70)
    assert second["type"] == "MEDIA"
    assert any("units and their words" in why for why in exported.lost)
    without = export_coding(
        open_record(session), "anna", FORMATS["boris"], tmp_path / "b.boris", base="session"
    )
    (live,) = json.loads(without.files[0].read_text())["observations"].values()
    assert live["type"] == "LIVE"


@pytest.mark.parametrize(("step", "kappa"), [(1000, 0.636), (100, 0.860)])
def test_what_goes_out_has_the_kappa_that_boris_computes_of_it(
    step: int, kappa: float, tmp_path: Path
) -> None:
    """BORIS 8.27.4 gives these two of the same project."""
    rest = [(5000, 7420), (7420, 9000)]
    book = Codebook("b", 1, "", (Tier("t"),), tuple(BookCode(c, "t", c) for c in ("a", "b", "c")))
    coded = []
    for rater, explore in (("anna", (1200, 3850)), ("ben", (1600, 4250))):
        rows = zip(("a", "b", "c"), (explore, *rest), strict=True)
        given = tuple(
            Annotation(f"{rater}{code}", "t", code, begin * MS, end * MS)
            for code, (begin, end) in rows
        )
        coded.append(replace(sheet_with((), given, book=book), rater=rater))
    path = tmp_path / "both.boris"
    FORMATS["boris"].write(coded, path)
    project = json.loads(path.read_text())
    assert len(project["observations"]) == 2
    labels: dict[frozenset[str], int] = {}
    columns = []
    for name in project["observations"]:
        one = {**project, "observations": {name: project["observations"][name]}}
        spans = [
            Span(round(1000 * begin), round(1000 * end), code)  # type: ignore[arg-type, call-overload]
            for code, _, begin, end, _ in stretches(one)
        ]
        columns.append(labels_at(spans, instants(1200, 9000, step), labels))
    ratings = ratings_of(np.stack(columns, axis=1).tolist())
    assert coefficient(CohenKappa(), ratings).value == pytest.approx(kappa, abs=5e-4)


TYPES = "".join(
    f'<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="{name}" CONSTRAINTS="{name}"/>'
    for name in ("Symbolic_Association", "Symbolic_Subdivision", "Time_Subdivision")
)


def document(slots: Sequence[int | None], *tiers: str) -> Arrival:
    """A file with time slots 1, 2, …; None for one without a time."""
    order = "".join(
        f'<TIME_SLOT TIME_SLOT_ID="{number}"'
        + (f' TIME_VALUE="{at}"/>' if at is not None else "/>")
        for number, at in enumerate(slots, start=1)
    )
    text = f"<TIME_ORDER>{order}</TIME_ORDER>{''.join(tiers)}{TYPES}"
    content = f"<ANNOTATION_DOCUMENT>{text}</ANNOTATION_DOCUMENT>".encode()
    (arrived,) = eaf.read(content, "a.eaf")
    return arrived


def tier(name: str, rows: str, kind: str = "", parent: str = "") -> str:
    below = f' PARENT_REF="{parent}"' if parent else ""
    return f'<TIER TIER_ID="{name}" LINGUISTIC_TYPE_REF="{kind}"{below}>{rows}</TIER>'


def timed(own: str, begin: int, end: int, value: str = "") -> str:
    return (
        f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="{own}" TIME_SLOT_REF1="{begin}" '
        f'TIME_SLOT_REF2="{end}"><ANNOTATION_VALUE>{value or own}</ANNOTATION_VALUE>'
        "</ALIGNABLE_ANNOTATION></ANNOTATION>"
    )


def on(own: str, parent: str, previous: str = "") -> str:
    before = f' PREVIOUS_ANNOTATION="{previous}"' if previous else ""
    return (
        f'<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="{own}" ANNOTATION_REF="{parent}"{before}>'
        f"<ANNOTATION_VALUE>{own}</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>"
    )


def codes(arrived: Arrival) -> list[tuple[str, str, float, float]]:
    return [(a.tier, a.code, a.t0_ns / NS, a.t1_ns / NS) for a in arrived.annotations]


SPEECH = tier("speech: participant", timed("a", 1, 2) + timed("b", 3, 4))


def test_an_annotation_on_another_has_its_time() -> None:
    (arrived,) = read(CASES / "eaf-child-tiers/e1_assoc.eaf").arrivals
    assert codes(arrived) == [
        ("affect", "uncertain", 1.0, 4.0),
        ("affect", "frustrated", 5.0, 9.0),
    ]
    assert not arrived.lost


def test_through_levels_and_in_any_order_of_tiers() -> None:
    arrived = document(
        [1000, 4000, 5000, 9000],
        tier("why", on("d", "c"), "Symbolic_Association", "affect"),
        tier("affect", on("c", "a"), "Symbolic_Association", "speech: participant"),
        SPEECH,
    )
    assert codes(arrived) == [("why", "d", 1.0, 4.0), ("affect", "c", 1.0, 4.0)]


def test_what_divides_an_annotation_is_evenly_spaced() -> None:
    rows = on("e", "a", "d") + on("c", "a") + on("d", "a", "c")
    arrived = document(
        [1000, 4000, 5000, 9000],
        SPEECH,
        tier("steps", rows, "Symbolic_Subdivision", "speech: participant"),
    )
    assert codes(arrived) == [
        ("steps", "c", 1.0, 2.0),
        ("steps", "d", 2.0, 3.0),
        ("steps", "e", 3.0, 4.0),
    ]


def test_so_are_slots_without_times() -> None:
    rows = timed("c", 1, 5) + timed("d", 5, 6) + timed("e", 6, 2) + timed("f", 3, 4)
    arrived = document(
        [1000, 4000, 5000, 9000, None, None, None],
        SPEECH,
        tier("steps", rows, "Time_Subdivision", "speech: participant"),
        tier("parts", timed("g", 5, 7) + timed("h", 7, 6), "Time_Subdivision", "steps"),
    )
    assert sorted(codes(arrived), key=lambda row: row[1]) == [
        ("steps", "c", 1.0, 2.0),
        ("steps", "d", 2.0, 3.0),
        ("steps", "e", 3.0, 4.0),
        ("steps", "f", 5.0, 9.0),
        ("parts", "g", 2.0, 2.5),
        ("parts", "h", 2.5, 3.0),
    ]


@pytest.mark.parametrize("rows", [timed("c", 1, 5), on("c", "nobody"), on("c", "c")])
def test_what_has_no_time_is_named(rows: str) -> None:
    arrived = document([1000, 4000, 5000, 9000, None], tier("affect", rows, "", "affect"), SPEECH)
    assert arrived.lost == ("tier 'affect': 'c' has no times",)


def test_an_end_before_its_beginning_is_named_as_that() -> None:
    (arrived,) = read(CASES / "eaf-reversed/e6_reversed.eaf").arrivals
    why = "'backwards' ends at 1.000 s, before it begins at 4.000 s"
    assert arrived.lost == (f"tier 'speech: participant': {why}",)
    arrived = document(
        [4000, 1000], tier("affect", timed("a", 1, 2)), tier("why", on("b", "a"), "", "affect")
    )
    assert arrived.lost == (
        "tier 'affect': 'a' ends at 1.000 s, before it begins at 4.000 s",
        "tier 'why': 'b' ends at 1.000 s, before it begins at 4.000 s",
    )


def test_an_annotation_within_another_one_is_not_passed_over() -> None:
    deeper = timed("c", 3, 4)
    nested = timed("b", 2, 3).replace("</ANNOTATION>", deeper + "</ANNOTATION>")
    outer = timed("a", 1, 2).replace("</ANNOTATION>", nested + "</ANNOTATION>")
    arrived = document([0, 1000, 2000, 3000], tier("goal", outer))
    assert codes(arrived) == [("goal", "a", 0, 1), ("goal", "b", 1, 2), ("goal", "c", 2, 3)]
    assert not arrived.lost
