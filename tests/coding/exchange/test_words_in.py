"""Words of other programs: whose they are, which units they go to, and what holds none."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import ExchangeError
from labapp.coding.annotations.codebook import codebooks_of
from labapp.coding.annotations.store import annotations_of
from labapp.coding.exchange.coming_in import bring_in, plan_import
from labapp.coding.exchange.incoming import read, read_codebook, read_translation
from labapp.coding.exchange.plan import ImportPlan
from labapp.record.journal.opening import open_record
from tests.helpers.exchanged import SECOND

CASES = Path(__file__).resolve().parents[2] / "cases"
MAP = "tier,code,to_tier,to_code\n"
HEAD = "tier,code,onset_s,offset_s,text,memo\n"


@pytest.fixture
def bare(session: Path) -> Path:
    """One without units, in a study without a codebook."""
    for name in ("units.jsonl", "transcript.jsonl", "raters/anna.jsonl"):
        (session.parent / "annotations" / session.name / name).unlink()
    (session.parent / "codebook.yaml").unlink()
    return session


def brought(session: Path, file: Path, map_: str = "", *, words_only: bool = False) -> ImportPlan:
    """Bring in a file. map_: rows of a map."""
    names = file.with_name("map.csv") if map_ else None
    if names is not None:
        names = session.parent / "map.csv"
        names.write_text(MAP + map_, "utf-8")
    plan = plan_import(
        open_record(session),
        "anna",
        read(file),
        translation=read_translation(names) if names is not None else None,
        time="session",
        words_only=words_only,
    )
    bring_in(plan, session, open_record(session))
    return plan


def said(session: Path) -> list[tuple[float, float, str, str]]:
    """The units, with who speaks and what is said."""
    annotations = annotations_of(open_record(session))
    texts = annotations.texts
    return [
        (u.t0_ns / SECOND, u.t1_ns / SECOND, u.speaker, texts[u.id].text if u.id in texts else "")
        for u in annotations.segmentation.units
    ]


def new(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


# --- who speaks -----------------------------------------------------------------------------------

TEAMS = CASES / "caption-speakers/v1_teams.vtt"


def test_speakers_whom_nobody_knows_are_listed_with_what_to_say(bare: Path) -> None:
    told = brought(bare, TEAMS).lost
    assert [row[2] for row in said(bare)] == ["other", "other"]
    assert "'Mara Beispiel'" in told[0]
    assert told[0].endswith("to the table for --map: Mara Beispiel,,speech: moderator,")
    assert "'P07'" in told[1]


def test_a_map_says_who_they_are(bare: Path) -> None:
    plan = brought(bare, TEAMS, "Mara Beispiel,,speech: moderator,\nP07,,Participant,\n")
    assert [row[2] for row in said(bare)] == ["moderator", "participant"]
    assert not plan.lost


def test_a_map_of_the_same_file_later_changes_the_speakers_alone(bare: Path) -> None:
    brought(bare, TEAMS)
    plan = brought(bare, TEAMS, (CASES / "caption-speakers/map_v.csv").read_text()[len(MAP) :])
    assert [row[2:] for row in said(bare)] == [
        ("moderator", "What do you think now?"),
        ("other", "I think it gets taller."),
    ]
    assert [step.what for step in plan.steps] == ["unit changed"]


def test_the_participants_code_is_the_participant(bare: Path, tmp_path: Path) -> None:
    assert open_record(bare).participant == "P01"
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v p01>taller\n"
    assert not brought(bare, new(tmp_path, "a.vtt", text)).lost
    assert said(bare) == [(1.0, 2.0, "participant", "taller")]


def test_where_nobody_is_named_the_list_says_so(bare: Path) -> None:
    (told,) = brought(bare, CASES / "whisper-outputs/w1.tsv").lost
    assert told.startswith("who speaks (units: 1). The file does not say")
    assert not brought(bare, CASES / "whisper-outputs/w1.tsv").steps
    assert said(bare) == [(1.0, 3.0, "participant", "It gets taller")]


@pytest.mark.parametrize(
    ("row", "speakers", "told"),
    [
        (",,speech: moderator,", ["moderator"], ""),
        (",,affect,", [], "the map turns it into a code ('affect')"),
        (
            ",,speech: moderator,\nMarra,,speech: participant,",
            ["moderator"],
            "'Marra', which is in the map",
        ),
    ],
)
def test_a_map_is_heard_or_told(
    row: str, speakers: list[str], told: str, bare: Path, tmp_path: Path
) -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nwhy?\n"
    lost = brought(bare, new(tmp_path, "a.srt", text), row + "\n").lost
    assert [row[2] for row in said(bare)] == speakers
    assert (told in lost[0]) if told else not lost


def test_a_map_leaves_a_speaker_out(bare: Path) -> None:
    told = brought(bare, TEAMS, "Mara Beispiel,,,\nP07,,speech: participant,\n").lost
    assert told == ("1 of Mara Beispiel, which the map leaves out",)
    assert said(bare) == [(5.0, 9.0, "participant", "I think it gets taller.")]


def test_a_map_to_nobodys_speech_is_refused(tmp_path: Path) -> None:
    path = new(tmp_path, "map.csv", f"{MAP}a,,speech: participant,\nb,,speech: Mara,\n")
    with pytest.raises(ExchangeError, match="line 3: speech: Mara is not a speaker") as refused:
        read_translation(path)
    assert refused.value.todo == (
        "Write one of: speech: participant, speech: moderator, speech: other."
    )


def test_a_tier_of_speech_of_somebody_else_is_no_code(bare: Path, tmp_path: Path) -> None:
    table = new(tmp_path, "a.csv", f"{HEAD}Speech: Mara,,1,2,why?,\nMODERATOR,,3,4,so,\n")
    (told,) = brought(bare, table).lost
    assert told.endswith(": Mara,,speech: moderator,")
    assert [row[2:] for row in said(bare)] == [("other", "why?"), ("moderator", "so")]


# --- words that overlap ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("second", "units"),
    [
        ("00:02,500 --> 00:06,000", [(1.0, 3.0, "first"), (3.0, 6.0, "second")]),
        ("00:01,500 --> 00:02,000", [(1.0, 3.0, "first\nsecond")]),
    ],
)
def test_captions_that_roll_keep_their_words(
    second: str, units: list[tuple[float, float, str]], bare: Path, tmp_path: Path
) -> None:
    text = f"1\n00:01,000 --> 00:03,000\nfirst\n\n2\n{second}\nsecond\n"
    told = brought(bare, new(tmp_path, "a.srt", text)).lost
    assert [(begin, end, words) for begin, end, _, words in said(bare)] == units
    assert told[0].startswith("line 6: it ")


def test_of_the_case_no_word_is_lost(bare: Path) -> None:
    brought(bare, CASES / "srt-overlap/s3_order.srt")
    assert [(begin, end, words) for begin, end, _, words in said(bare)] == [
        (1.0, 3.0, "first"),
        (3.0, 6.0, "second overlaps"),
        (10.0, 12.0, "third"),
    ]


# --- into units that are there --------------------------------------------------------------------


def silent(session: Path) -> list[tuple[float, float]]:
    """Makes two units without words, those of the session: 1–4 s and 5–9 s."""
    for name in ("units.jsonl", "transcript.jsonl"):
        (session.parent / "annotations" / session.name / name).unlink(missing_ok=True)
    rows = "speech: participant,,1,4,,\nspeech: participant,,5,9,,\n"
    brought(session, new(session.parent, "units.csv", HEAD + rows))
    return [row[:2] for row in said(session)]


WORDS = (
    "1\n00:00:01,000 --> 00:00:02,000\nit\n\n2\n00:00:02,500 --> 00:00:05,500\ngets\n\n"
    "3\n00:00:05,500 --> 00:00:11,000\ntaller\n\n4\n00:00:20,000 --> 00:00:21,000\nyes\n"
)


def test_words_go_into_the_units_that_they_overlap_most(bare: Path, tmp_path: Path) -> None:
    assert silent(bare) == [(1.0, 4.0), (5.0, 9.0)]
    file = new(tmp_path, "a.srt", WORDS)
    told = brought(bare, file, words_only=True).lost
    assert said(bare) == [
        (1.0, 4.0, "participant", "it\ngets"),
        (5.0, 9.0, "participant", "taller"),
        (20.0, 21.0, "participant", "yes"),  # of a unit of its own: nothing is lost
    ]
    assert not any("no unit" in why for why in told)
    assert not brought(bare, file, words_only=True).steps


def test_words_that_are_there_stay_and_words_of_another_speaker_go_nowhere(
    bare: Path, tmp_path: Path
) -> None:
    silent(bare)
    file = new(tmp_path, "a.srt", WORDS)
    brought(bare, file, words_only=True)
    told = brought(bare, new(tmp_path, "b.srt", WORDS.replace("taller", "lower")), words_only=True)
    assert "the words for the unit at 0:05.000: the unit there has different words" in told.lost[0]
    assert [row[3] for row in said(bare)] == ["it\ngets", "taller", "yes"]
    other = new(tmp_path, "c.srt", "1\n00:00:01,000 --> 00:00:02,000\n[moderator] why?\n")
    (why,) = brought(bare, other, words_only=True).lost
    assert "there is no unit" in why


def test_a_transcript_that_comes_after_the_codes_changes_neither_units_nor_marks(
    session: Path, tmp_path: Path
) -> None:
    before = annotations_of(open_record(session))
    marks = before.raters["anna"].marks
    assert before.segmentation.frozen
    assert marks
    last = max(unit.t1_ns for unit in before.segmentation.units) // SECOND + 1
    outside = f"{HEAD}speech: participant,,{last},{last}.9,afterwards,\n"
    brought(session, new(tmp_path, "late.csv", outside), words_only=True)
    after = annotations_of(open_record(session))
    assert after.segmentation.units == before.segmentation.units
    assert after.raters["anna"].marks == marks
    (waiting,) = after.segmentation.proposals  # it waits for the person who froze the units
    assert waiting.by == "anna"
    assert all(after.texts[unit] == text for unit, text in before.texts.items())


def test_without_it_the_list_says_how_many_were_left_and_how_to(
    session: Path, tmp_path: Path
) -> None:
    rows = "".join(
        f"{n}\n00:00:{n:02},100 --> 00:00:{n:02},300\nword {n}\n\n" for n in range(8, 12)
    )
    (*_, told) = brought(session, new(tmp_path, "a.srt", rows)).lost
    assert told.startswith("units from the file that overlap units here: 4. To put their words")
    assert "--words-into-units" in told


def test_words_beside_a_code_are_those_of_its_unit_or_listed(bare: Path, tmp_path: Path) -> None:
    silent(bare)
    rows = (
        "affect,uncertain,1,4,it gets taller,\naffect,unsure,1,4,it gets taller,\n"
        "affect,unsure,1,4,no,\naffect,uncertain,6,7,somewhere,\n"
    )
    told = brought(bare, new(tmp_path, "a.csv", HEAD + rows)).lost
    assert [row[3] for row in said(bare)] == ["it gets taller", ""]
    assert told == (
        "line 4 (0:01.000–0:04.000): “no”: the unit there has different words, which are kept",
        "line 5 (0:06.000–0:07.000): “somewhere”: there is no unit for these words",
    )


def test_words_beside_the_code_of_a_new_unit_are_kept_too(bare: Path, tmp_path: Path) -> None:
    rows = "speech: participant,,1,4,,\naffect,uncertain,1,4,it gets taller,\n"
    assert not brought(bare, new(tmp_path, "a.csv", HEAD + rows)).lost
    assert said(bare) == [(1.0, 4.0, "participant", "it gets taller")]


# --- tiers of words, and codebooks ----------------------------------------------------------------

GRID = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0 60 <exists> 1 "IntervalTier" '


@pytest.mark.parametrize(
    ("file", "rows"),
    [
        ("e7_part.eaf", "default,,speech: participant,"),
        ("n1_caps.eaf", "P07,,speech: participant,\nTranscription,,,"),
        ("g8_mfa.TextGrid", "P07 - phones,,,\nP07 - words,,speech: participant,"),
        (f'{GRID}"ORT-MAU" 0 60 1 0 1 "it"', "ORT-MAU,,speech: participant,"),
        (f'{GRID}"Mara, 1" 0 60 1 0 1 "I see it."', '"Mara, 1",,speech: participant,'),
        (
            f'{GRID}"x" 0 60 50 ' + " ".join(f'{n} {n + 1} "w{n}"' for n in range(50)),
            "x,,speech: participant,",
        ),
    ],
)
def test_words_make_no_codebook(file: str, rows: str, bare: Path, tmp_path: Path) -> None:
    case = CASES / "eaf-words-as-codes" / file
    path = new(tmp_path, "a.TextGrid", file) if file.startswith("File") else case
    with pytest.raises(ExchangeError, match="seem to contain words rather than codes") as refused:
        brought(bare, path)
    assert f"\n{rows}\n" in str(refused.value.todo)
    assert not codebooks_of(bare.parent)
    plan = brought(bare, path, rows.replace("speech: participant", "speech: other") + "\n")
    assert plan.texts
    assert not plan.put
    assert not codebooks_of(bare.parent)


def test_a_map_says_that_they_are_codes(bare: Path, tmp_path: Path) -> None:
    path = new(tmp_path, "a.TextGrid", f'{GRID}"P07" 0 60 1 0 1 "unsure"')
    assert brought(bare, path, "P07,,P07,\n").put
    (book,) = codebooks_of(bare.parent)
    assert [(code.tier, code.id) for code in book.codes] == [("p07", "unsure")]


def test_codes_below_units_make_one(bare: Path) -> None:
    plan = brought(bare, CASES / "eaf-child-tiers/e1_assoc.eaf")
    assert [(mark.tier, mark.code) for mark in plan.put] == [
        ("affect", "uncertain"),
        ("affect", "frustrated"),
    ]
    assert not plan.lost


def test_a_codebook_that_lacks_such_tiers_lists_each_once(session: Path) -> None:
    told = brought(session, CASES / "eaf-words-as-codes/g8_mfa.TextGrid").lost
    assert [why.split(" of the tier ")[0] for why in told[:2]] == ["3 codes", "3 codes"]
    assert told[1].endswith(": P07 - words,,speech: participant,")


@pytest.mark.parametrize(
    ("case", "codes"),
    [
        ("x1.csv", ["u4e0du78baka", "u4e0du6e80", "froehlich", "frohlich"]),
        ("q9_accents.qdpx", ["gefuehle_aerger", "fuehlt_sich_unsicher_3"]),
    ],
)
def test_names_in_other_scripts_make_ids_that_say_something(
    case: str, codes: list[str], bare: Path
) -> None:
    brought(bare, CASES / "ids-of-other-scripts" / case)
    (book,) = codebooks_of(bare.parent)
    assert [code.id for code in book.codes] == codes


def test_nvivos_codebook_and_backslashes_in_zips_are_read(bare: Path) -> None:
    book = read_codebook(CASES / "qdc-namespace-colon/q16_nvivo.qdc", bare.parent)
    assert [(code.tier, code.name) for code in book.codes][-1] == ("affect", "uncertain")
    plan = brought(bare, CASES / "qdpx-backslash/q10_backslash.qdpx")
    assert [(mark.tier, mark.code) for mark in plan.put] == [("affect", "uncertain")]


def test_a_tier_that_says_the_same_once_more_is_proposed_to_be_left_out(
    bare: Path, tmp_path: Path
) -> None:
    def tier(name: str, *stretches: tuple[int, int, str]) -> str:
        rows = " ".join(f'{begin} {end} "{text}"' for begin, end, text in stretches)
        return f'"IntervalTier" "{name}" 0 60 {len(stretches)} {rows}\n'

    grid = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0 60 <exists> 4\n'
    grid += tier("Anna - words", (1, 4, "so it gets taller"), (20, 24, "and wider now"))
    grid += tier("Anna - phones", (1, 2, "s"), (2, 3, "o"), (3, 4, "s"))
    grid += tier("Translation", (1, 4, "es wird also größer"), (20, 24, "und breiter jetzt"))
    grid += tier("Ben - words", (3, 6, "what do you see"), (30, 32, "and what else"))
    file = new(tmp_path, "a.TextGrid", grid)
    with pytest.raises(ExchangeError) as refused:
        brought(bare, file)
    rows = [row for row in str(refused.value.todo).split("\n") if ",," in row]
    assert rows == [
        "Anna - phones,,,",
        "Anna - words,,speech: participant,",
        "Translation,,,",
        "Ben - words,,speech: participant,",
    ]
    told = brought(bare, file, "\n".join([*rows[:3], "Ben - words,,speech: moderator,", ""])).lost
    assert [row[3] for row in said(bare)] == [
        "so it gets taller", "what do you see", "and wider now", "and what else",
    ]  # fmt: skip
    assert sum(int(row.split()[0]) for row in told) == 5
