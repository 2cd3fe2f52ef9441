"""Captions as other programs write them: speakers, times and words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labapp.base.errors import ExchangeError
from labapp.coding.exchange.incoming import read
from labapp.coding.exchange.model import Arrival

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
