"""Formats of other programs: cases once misread, ids, speakers and round trips."""

from __future__ import annotations

import re
import tempfile
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base.clock import NS
from labapp.base.documents import WORD
from labapp.base.errors import ExchangeError
from labapp.coding.annotations.model import Mark, RaterMarks, Segmentation, SessionAnnotations, Unit
from labapp.coding.exchange import textgrid
from labapp.coding.exchange.incoming import FORMATS, read, read_translation
from labapp.coding.exchange.model import Annotation, Arrival, Format, Sheet, Utterance, digest
from labapp.coding.exchange.refi import id_of
from labapp.coding.exchange.speakers import suggest_speakers
from tests.helpers.exchanged import sheets
from tests.helpers.nightly import EVERYTHING

CASES = Path(__file__).resolve().parents[2] / "cases"

CASES_NS = 1_000_000_000


def units(path: Path) -> list[tuple[float, float, str]]:
    (arrival,) = read(path).arrivals
    return [(u.t0_ns / CASES_NS, u.t1_ns / CASES_NS, u.text) for u in arrival.utterances]


@pytest.mark.parametrize(
    ("case", "line"),
    [
        ("csv-row-too-long/c14_7cells.csv", "line 2 has 7 cells"),
        ("csv-row-too-long/c3_extra_cells.csv", "line 2 has 7 cells"),
        ("csv-open-quote/c4_openquote.csv", "line 2 begins a quoted cell that is never closed"),
    ],
)
def test_a_row_whose_cells_shifted_is_refused_with_its_line(case: str, line: str) -> None:
    with pytest.raises(ExchangeError, match=line):
        read(CASES / case)


@pytest.mark.parametrize("case", ["c11_caps", "c6_tab", "c7_cp1252"])
def test_a_table_is_read_as_spreadsheet_programs_save_it(case: str) -> None:
    ((begin, end, text),) = units(CASES / "table-encodings" / f"{case}.csv")
    assert (begin, end) == (1.5, 3.25)
    assert text in ("taller", "größer")


@pytest.mark.parametrize("case", ["map_caps", "map_tab"])
def test_so_is_a_map(case: str) -> None:
    translation = read_translation(CASES / "table-encodings" / f"{case}.csv")
    assert translation == {("P07 - words", ""): ("speech: participant", "")}


def test_times_with_decimal_commas_are_read_where_commas_separate_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        "sep=;\r\nTIER;CODE;ONSET_S;OFFSET_S\r\nspeech: participant;;1,5;3,25\r\n".encode("utf-16")
    )
    assert [row[:2] for row in units(path)] == [(1.5, 3.25)]


def test_a_cell_that_a_spreadsheet_would_carry_out_comes_back_as_it_was() -> None:
    texts = [text for _, _, text in units(CASES / "csv-formula/c13_formula.csv")]
    assert texts == ["-5 is too low", "=SUM(A1)"]
    (arrival,) = read(CASES / "csv-formula/c15_formula_mark.csv").arrivals
    assert [u.text for u in arrival.utterances] == ['=HYPERLINK("http://x.example","click")']
    assert [a.memo for a in arrival.annotations] == ["=1+2", "-5 stays"]


def test_names_in_other_scripts_keep_their_letters_composed() -> None:
    (arrival,) = read(CASES / "agree-nfc-nfd/x2_nfd.csv").arrivals
    assert [(a.tier, a.code) for a in arrival.annotations] == [("Gefühl", "fröhlich")]
    assert all(isinstance(u, Utterance) for u in arrival.utterances)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("Gefühle & Ärger", "gefuehle_aerger"),
        ("Émotion", "emotion"),
        ("frohlich", "frohlich"),
        ("fröhlich", "froehlich"),
        ("Łódź, Straße, Ørsted", "lodz_strasse_orsted"),
        ("Неуверенность", "neuverennost"),
        ("Ελπίδα", "elpida"),
        ("감정", "gamjeong"),
        ("かなしい", "kanasii"),
        ("感情", "u611fu60c5"),
        ("2nd try", "code_2nd_try"),
        ("😀", "code"),
    ],
)
def test_letters_are_written_in_latin(name: str, own: str) -> None:
    assert id_of(name, "code", ()) == own
    assert id_of(unicodedata.normalize("NFD", name), "code", ()) == own


@given(st.text(max_size=90), st.sets(st.sampled_from(["code", "a", "code_2"])))
def test_every_id_is_one_that_a_codebook_takes_and_nobody_has(name: str, taken: set[str]) -> None:
    own = id_of(name, "code", taken)
    assert re.fullmatch(WORD, own)
    assert own not in taken


def test_a_prompt_that_was_noted_suggests_the_moderator() -> None:
    """Next to it, and no further away; never where somebody was named already."""
    noted = [Mark("p", "moderator", "prompt", "prompt", 20 * NS, 20 * NS)]
    units = (
        Unit("far", 0, 10 * NS, origin="detector"),
        Unit("near", 21 * NS, 23 * NS, origin="detector"),
        Unit("later", 24 * NS, 26 * NS, origin="detector"),
    )
    known = SessionAnnotations(
        "s", Segmentation(units), raters={"moderator": RaterMarks("moderator", tuple(noted))}
    )
    assert suggest_speakers(known) == {"near": "moderator"}
    assert not known.segmentation.speakers_said
    said = replace(units[1], speaker="moderator")
    known = replace(known, segmentation=Segmentation((units[0], said)))
    assert suggest_speakers(known) == {}
    assert known.segmentation.speakers_said


TEXTGRID_NS = 1_000_000_000

SHORT = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n'

TIER = '"IntervalTier" "speech: participant"'


def units_textgrid(arrived: Arrival) -> list[tuple[float, float, str]]:
    return [(u.t0_ns / TEXTGRID_NS, u.t1_ns / TEXTGRID_NS, u.text) for u in arrived.utterances]


@pytest.mark.parametrize("case", ["g7_comment", "g15_plus"])
def test_signs_and_comments_are_read(case: str) -> None:
    (arrived,) = read(CASES / f"textgrid-forms/{case}.TextGrid").arrivals
    assert units_textgrid(arrived) == [(1.0, 4.0, 'größer "jetzt"')]


@pytest.mark.parametrize(
    "grid",
    [
        SHORT + f'0 60 <exists> 1 {TIER} 0 60 3  0 150% "" 150% +4e0 "so" 4 60 ""',
        SHORT + f'-2 60 <exists> 1 {TIER} -2 60 3\n-2 1.5 ""\n1.5 4 "so"\n4 60 ""\n',
        SHORT + f'0 ! "3" tiers\n60 <exists> 1 {TIER} 0 60 1 !two\n1.5 4 "so"',
        (
            '"Praat chronological TextGrid text file"\n0 60   ! Time domain.\n'
            f'2   ! Number of tiers.\n{TIER} 0 60\n"TextTier" "affect / insight" 0 60\n\n'
            '1 0 1.5\n""\n\n1 1.5 4\n"so"\n\n2 2.5\n"!"\n\n1 4 60\n""\n'
        ),
    ],
    ids=["percent", "negative", "comment", "chronological"],
)
def test_other_forms_say_the_same(grid: str) -> None:
    (arrived,) = textgrid.read(grid.encode(), "a.TextGrid")
    assert units_textgrid(arrived) == [(1.5, 4.0, "so")]
    points = [(a.tier, a.t0_ns / TEXTGRID_NS) for a in arrived.annotations]
    assert points == ([("affect", 2.5)] if "chronological" in grid else [])


@pytest.mark.parametrize("entry", ['3 0 1 ""', "1 0", "0 0 1"])
def test_a_chronological_file_that_is_damaged_is_refused(entry: str) -> None:
    grid = f'"Praat chronological TextGrid text file"\n0 60\n1\n{TIER} 0 60\n{entry}\n'
    with pytest.raises(ExchangeError):
        textgrid.read(grid.encode(), "a.TextGrid")


@pytest.mark.parametrize("number", ["1/2", "0x0.8", "0X1p-1", "5.0/+2.0"])
def test_a_number_that_would_be_read_as_another_one_is_refused(number: str) -> None:
    grid = SHORT + f'0 60 <exists> 1 {TIER} 0 60 1  {number} 4 "so"'
    with pytest.raises(ExchangeError, match=f"it has '{number[:3]}"):
        textgrid.read(grid.encode(), "a.TextGrid")


TWO_WAY = [name for name, form in FORMATS.items() if form.read is not None]


def there_and_back(form: Format, sheet: Sheet) -> Arrival:
    """A sheet as it comes back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"sheet{form.suffix}"
        form.write([sheet], path)
        assert form.read is not None
        (arrival,) = form.read(path.read_bytes(), path.name)
    assert not arrival.lost
    return arrival


def same_times(form: Format, sent: Utterance | Annotation, back: Utterance | Annotation) -> bool:
    """Rounded once, and nothing more; a stretch of a format without moments is one again."""
    most = form.precision_ns // 2 + 1
    return abs(sent.t0_ns - back.t0_ns) <= most and abs(sent.t1_ns - back.t1_ns) <= most


@pytest.mark.parametrize("name", TWO_WAY)
@settings(max_examples=60 if EVERYTHING else 7)
@given(sheet=sheets())
def test_sheets_come_back_equal(name: str, sheet: Sheet) -> None:
    form = FORMATS[name]
    if name == "srt" and not any(digest(u.text) != digest("") for u in sheet.utterances):
        with pytest.raises(ExchangeError, match="no captions"):  # the file is empty
            there_and_back(form, sheet)
        return
    arrival = there_and_back(form, sheet)
    sent = list(sheet.utterances)
    if name in ("vtt", "srt"):  # a cue has words
        sent = [u for u in sent if digest(u.text) != digest("")]
    elif name == "textgrid":  # an empty interval is none
        sent = [u for u in sent if u.text.strip()]
    back = arrival.utterances
    assert [(u.speaker, digest(u.text)) for u in back] == [
        (u.speaker, digest(u.text)) for u in sent
    ]
    assert all(same_times(form, a, b) for a, b in zip(sent, back, strict=True))
    codes = [] if name in ("vtt", "srt") else sheet.annotations
    left = list(arrival.annotations)
    for annotation in codes:
        same = [
            other
            for other in left
            if (other.tier, other.code, other.value)
            == (annotation.tier, annotation.code, annotation.value)
            and same_times(form, annotation, other)
            and (not arrival.memos or digest(other.memo) == digest(annotation.memo))
            and other.id in (None, annotation.id)
        ]
        assert same, annotation
        left.remove(same[0])
    assert not left
