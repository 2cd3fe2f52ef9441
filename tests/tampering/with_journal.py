"""Rows of a session's journal: changed, taken out, put in, moved, with and without new hashes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path

from labapp.record.journal.layout import JOURNAL
from labapp.record.journal.read import Row
from tests.helpers.trees import flip
from tests.hostile.rehashed import chained
from tests.tampering.catalogue import INSIDER, manipulation
from tests.tampering.places import (
    Places,
    changed,
    first,
    insider,
    outsider,
    resound,
    sound_of,
    store,
)

BROKEN = "the hash chain is broken"
Edit = Callable[[list[Row]], list[Row]]


def edited(by: Callable[[Path, Edit], None], **told: str) -> Callable[[Edit], Edit]:
    """Put a change of a session's rows into the catalogue. by: who makes it."""

    def add(edit: Edit) -> Edit:
        @wraps(edit)
        def change(places: Places) -> None:
            by(places.session, edit)

        manipulation("session", **told)(change)
        return edit

    return add


def _replaced(rows: list[Row], at: int, **columns: object) -> list[Row]:
    return [*rows[:at], rows[at]._replace(**columns), *rows[at + 1 :]]


@manipulation("session", told="event 111: the hash chain is broken")
def flip_a_bit_of_a_payload(places: Places) -> None:
    """One bit of an event's payload is turned in the file."""
    content = (places.session / JOURNAL).read_bytes()
    outsider_row = _row(places, 110)
    flip(places.session / JOURNAL, content.index(outsider_row.payload.encode()) + 3)


def _row(places: Places, at: int) -> Row:
    from labapp.record.journal.read import read_rows

    return read_rows(places.session)[at]


@edited(outsider, told="event 111: the hash chain is broken")
def change_a_time(rows: list[Row]) -> list[Row]:
    """An event is stamped a millisecond later."""
    return _replaced(rows, 110, t_ns=rows[110].t_ns + 1_000_000)


@edited(outsider, told=BROKEN)
def change_who_did_it(rows: list[Row]) -> list[Row]:
    """What the moderator did is said to be the participant's."""
    return _replaced(rows, first(rows, "note.added"), source="participant")


@edited(outsider, told=BROKEN)
def change_the_date(rows: list[Row]) -> list[Row]:
    """The first event's date is another day's."""
    return _replaced(rows, 0, utc=rows[0].utc.replace("02T", "03T"))


@edited(outsider, told=BROKEN)
def change_the_stage(rows: list[Row]) -> list[Row]:
    """A question's end is given to another stage."""
    return _replaced(rows, first(rows, "trial.ended"), part_id="stage-3")


def seven(rows: list[Row]) -> list[Row]:
    """The rows with another rating."""
    at = first(rows, "questionnaire.submitted")
    return [*rows[:at], changed(rows[at], answers={"seq": 7}), *rows[at + 1 :]]


@manipulation("session", told=BROKEN)
def change_an_answer(places: Places) -> None:
    """A rating of 4 becomes a 7."""
    outsider(places.session, seven)


@edited(outsider, told="event 229: the hash chain is broken")
def change_the_last_hash(rows: list[Row]) -> list[Row]:
    """The hash of the last row is another."""
    return _replaced(rows, len(rows) - 1, hash="0" * 64)


@edited(outsider, told="is missing before it")
def take_a_row_out(rows: list[Row]) -> list[Row]:
    """A note is deleted."""
    at = first(rows, "note.added")
    return rows[:at] + rows[at + 1 :]


@edited(outsider, told="the hash chain is broken: this row")
def take_a_row_out_and_number_anew(rows: list[Row]) -> list[Row]:
    """A note is deleted and those behind it move up, with their hashes."""
    at = first(rows, "note.added")
    left = rows[:at] + rows[at + 1 :]
    return [row._replace(seq=seq) for seq, row in enumerate(left, start=1)]


@edited(outsider, told=BROKEN)
def put_a_row_in_with_its_hash(rows: list[Row]) -> list[Row]:
    """A note is put in between, with a right hash of its own; those behind keep theirs."""
    at = first(rows, "note.added")
    new = changed(rows[at], text="The participant was tired.")
    new = new._replace(hash=new.compute_hash(rows[at - 1].hash))
    both = [*rows[:at], new, *rows[at:]]
    return [row._replace(seq=seq) for seq, row in enumerate(both, start=1)]


@edited(outsider, told=BROKEN)
def append_a_row_without_a_hash(rows: list[Row]) -> list[Row]:
    """An event is added behind the last."""
    return [*rows, rows[-1]._replace(seq=len(rows) + 1)]


@edited(outsider, told=BROKEN)
def exchange_two_payloads(rows: list[Row]) -> list[Row]:
    """Two movements of dials exchange their payloads."""
    one = first(rows, "dial.moved")
    two = first(rows, "dial.moved", one + 1)
    rows[one], rows[two] = (
        rows[one]._replace(payload=rows[two].payload),
        rows[two]._replace(payload=rows[one].payload),
    )
    return rows


@edited(outsider, told=BROKEN)
def exchange_two_rows(rows: list[Row]) -> list[Row]:
    """Two rows exchange their places and numbers, each with its hash."""
    one, two = rows[60], rows[61]
    rows[60], rows[61] = two._replace(seq=one.seq), one._replace(seq=two.seq)
    return rows


@manipulation("session", told="belongs to participant P02")
def put_in_the_journal_of_another_session(places: Places) -> None:
    """The journal of P02 lies in the folder of P01."""
    content = (places.other / JOURNAL).read_bytes()
    (places.session / JOURNAL).write_bytes(content)


@edited(outsider, noted="its last run was not properly ended")
def cut_the_last_row_off(rows: list[Row]) -> list[Row]:
    """The orderly end of the last run is cut off."""
    return rows[:-1]


@edited(outsider, noted="the session was interrupted")
def cut_the_end_off(rows: list[Row]) -> list[Row]:
    """The last three rows are cut off: the session seems to have been interrupted."""
    return rows[:-3]


@edited(outsider, told="of sound are after the last block")
def cut_the_last_minute_off(rows: list[Row]) -> list[Row]:
    """Everything behind a question is cut off, the sound is left."""
    return rows[: first(rows, "label.edited")]


@edited(outsider, told="audio/segment-02.wav: not part of the session")
def cut_a_whole_run_off(rows: list[Row]) -> list[Row]:
    """The second run is cut off, its files are left."""
    return [row for row in rows if row.segment == 1]


@manipulation("session", noted="cannot be told")
def cut_the_end_off_with_its_sound(places: Places) -> None:
    """The end is cut off, and the sound behind it too."""
    outsider(places.session, lambda rows: rows[: first(rows, "label.edited")])
    from labapp.record.journal.opening import open_record

    sound = open_record(places.session).audio[-1]
    path = places.session / sound.file
    resound(path, bytes(sound_of(path)[: 2 * sound.frames]))


@edited(outsider, told="it holds no event")
def take_all_rows_out(rows: list[Row]) -> list[Row]:
    """The journal is emptied."""
    return []


@manipulation("session", unnoticed=INSIDER)
def change_an_answer_and_all_hashes(places: Places) -> None:
    """A rating of 4 becomes a 7, and the chain is computed anew."""
    insider(places.session, seven)


@edited(insider, unnoticed=INSIDER)
def take_a_note_out_and_hash_anew(rows: list[Row]) -> list[Row]:
    """A note is deleted, and the chain is computed anew."""
    return [row for row in rows if row.kind != "note.added"]


@edited(insider, unnoticed=INSIDER)
def put_a_note_in_and_hash_anew(rows: list[Row]) -> list[Row]:
    """A note is put in, and the chain is computed anew."""
    at = first(rows, "note.added")
    return [*rows[:at], changed(rows[at], text="All was well."), *rows[at:]]


@edited(insider, told="the journal has no block that begins at 3.0 s")
def take_a_block_of_sound_out_and_hash_anew(rows: list[Row]) -> list[Row]:
    """One second's block is deleted, and the chain is computed anew."""
    blocks = [at for at, row in enumerate(rows) if row.kind == "audio.block"]
    return rows[: blocks[3]] + rows[blocks[3] + 1 :]


@edited(insider, told="the entry of segment 1 was changed or lost")
def change_the_environment_of_the_journal_and_hash_anew(rows: list[Row]) -> list[Row]:
    """The journal says another system, with right hashes; environment.json is as it was."""
    at = first(rows, "environment.recorded")
    return [*rows[:at], changed(rows[at], environment={"system": "?"}), *rows[at + 1 :]]


@edited(insider, told="its files are not those with which the session was planned")
def change_the_study_s_hash_and_all_others(rows: list[Row]) -> list[Row]:
    """The plan names another study's hash, and the chain is computed anew."""
    return [changed(rows[0], study_sha256="1" * 64), *rows[1:]]


@edited(insider, told="belongs to participant P07")
def change_the_participant_and_hash_anew(rows: list[Row]) -> list[Row]:
    """The plan names another participant than the folder, and the chain is computed anew."""
    return [changed(rows[0], participant="P07"), *rows[1:]]


@edited(insider, told="segment 3 follows segment 1")
def change_a_segment_and_hash_anew(rows: list[Row]) -> list[Row]:
    """The second run's rows say they are of a third, and the chain is computed anew."""
    return [row._replace(segment=3) if row.segment == 2 else row for row in rows]


@edited(insider, told="is before the")
def turn_time_back_and_hash_anew(rows: list[Row]) -> list[Row]:
    """An event is stamped before the one before it, and the chain is computed anew."""
    return _replaced(rows, 110, t_ns=5)


@edited(insider, told="unknown kind")
def invent_a_kind_and_hash_anew(rows: list[Row]) -> list[Row]:
    """An event of a kind that no program writes, with right hashes."""
    return _replaced(rows, 110, kind="wish.granted")


@edited(insider, told="is newer than this program's")
def invent_a_version_and_hash_anew(rows: list[Row]) -> list[Row]:
    """An event of a version that does not exist yet, with right hashes."""
    return _replaced(rows, 110, v=99)


@edited(insider, told="its payload is not JSON")
def break_a_payload_and_hash_anew(rows: list[Row]) -> list[Row]:
    """A payload that cannot be read, with right hashes."""
    return _replaced(rows, 110, payload="{")


@manipulation("session", told="not session.planned")
def take_the_plan_out_and_hash_anew(places: Places) -> None:
    """The first event is deleted, and the chain is computed anew."""
    store(places.session, chained(list(_all(places))[1:]))


def _all(places: Places) -> list[Row]:
    from labapp.record.journal.read import read_rows

    return read_rows(places.session)
