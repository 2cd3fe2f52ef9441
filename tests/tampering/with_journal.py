"""Rows of a session's journal: changed, taken out, put in, moved, with and without new hashes."""

from __future__ import annotations

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


@manipulation("session", told="event 111: the hash chain is broken")
def change_a_time(places: Places) -> None:
    """An event is stamped a millisecond later."""
    outsider(places.session, lambda rows: _replaced(rows, 110, t_ns=rows[110].t_ns + 1_000_000))


@manipulation("session", told=BROKEN)
def change_who_did_it(places: Places) -> None:
    """What the moderator did is said to be the participant's."""
    outsider(
        places.session,
        lambda rows: _replaced(rows, first(rows, "note.added"), source="participant"),
    )


@manipulation("session", told=BROKEN)
def change_the_date(places: Places) -> None:
    """The first event's date is another day's."""
    outsider(places.session, lambda rows: _replaced(rows, 0, utc=rows[0].utc.replace("02T", "03T")))


@manipulation("session", told=BROKEN)
def change_the_stage(places: Places) -> None:
    """A question's end is given to another stage."""
    outsider(
        places.session, lambda rows: _replaced(rows, first(rows, "trial.ended"), part_id="stage-3")
    )


def seven(rows: list[Row]) -> list[Row]:
    """The rows with another rating."""
    at = first(rows, "questionnaire.submitted")
    return [*rows[:at], changed(rows[at], answers={"seq": 7}), *rows[at + 1 :]]


@manipulation("session", told=BROKEN)
def change_an_answer(places: Places) -> None:
    """A rating of 4 becomes a 7."""
    outsider(places.session, seven)


@manipulation("session", told="event 229: the hash chain is broken")
def change_the_last_hash(places: Places) -> None:
    """The hash of the last row is another."""
    outsider(places.session, lambda rows: _replaced(rows, len(rows) - 1, hash="0" * 64))


@manipulation("session", told="is missing before it")
def take_a_row_out(places: Places) -> None:
    """A note is deleted."""

    def edit(rows: list[Row]) -> list[Row]:
        at = first(rows, "note.added")
        return rows[:at] + rows[at + 1 :]

    outsider(places.session, edit)


@manipulation("session", told="the hash chain is broken: this row")
def take_a_row_out_and_number_anew(places: Places) -> None:
    """A note is deleted and those behind it move up, with their hashes."""

    def edit(rows: list[Row]) -> list[Row]:
        at = first(rows, "note.added")
        left = rows[:at] + rows[at + 1 :]
        return [row._replace(seq=seq) for seq, row in enumerate(left, start=1)]

    outsider(places.session, edit)


@manipulation("session", told=BROKEN)
def put_a_row_in_with_its_hash(places: Places) -> None:
    """A note is put in between, with a right hash of its own; those behind keep theirs."""

    def edit(rows: list[Row]) -> list[Row]:
        at = first(rows, "note.added")
        new = changed(rows[at], text="The participant was tired.")
        new = new._replace(hash=new.chained(rows[at - 1].hash))
        both = [*rows[:at], new, *rows[at:]]
        return [row._replace(seq=seq) for seq, row in enumerate(both, start=1)]

    outsider(places.session, edit)


@manipulation("session", told=BROKEN)
def append_a_row_without_a_hash(places: Places) -> None:
    """An event is added behind the last."""
    outsider(places.session, lambda rows: [*rows, rows[-1]._replace(seq=len(rows) + 1)])


@manipulation("session", told=BROKEN)
def exchange_two_payloads(places: Places) -> None:
    """Two movements of dials exchange their payloads."""

    def edit(rows: list[Row]) -> list[Row]:
        one = first(rows, "dial.moved")
        two = first(rows, "dial.moved", one + 1)
        rows[one], rows[two] = (
            rows[one]._replace(payload=rows[two].payload),
            rows[two]._replace(payload=rows[one].payload),
        )
        return rows

    outsider(places.session, edit)


@manipulation("session", told=BROKEN)
def exchange_two_rows(places: Places) -> None:
    """Two rows exchange their places and numbers, each with its hash."""

    def edit(rows: list[Row]) -> list[Row]:
        one, two = rows[60], rows[61]
        rows[60], rows[61] = two._replace(seq=one.seq), one._replace(seq=two.seq)
        return rows

    outsider(places.session, edit)


@manipulation("session", told="is of participant P02")
def put_in_the_journal_of_another_session(places: Places) -> None:
    """The journal of P02 lies in the folder of P01."""
    content = (places.other / JOURNAL).read_bytes()
    (places.session / JOURNAL).write_bytes(content)


@manipulation("session", noted="its last run came to no orderly end")
def cut_the_last_row_off(places: Places) -> None:
    """The orderly end of the last run is cut off."""
    outsider(places.session, lambda rows: rows[:-1])


@manipulation("session", noted="the session was interrupted")
def cut_the_end_off(places: Places) -> None:
    """The last three rows are cut off: the session seems to have been interrupted."""
    outsider(places.session, lambda rows: rows[:-3])


@manipulation("session", told="of sound lie behind the last block")
def cut_the_last_minute_off(places: Places) -> None:
    """Everything behind a question is cut off, the sound is left."""
    outsider(places.session, lambda rows: rows[: first(rows, "label.edited")])


@manipulation("session", told="audio/segment-02.wav: not part of the session")
def cut_a_whole_run_off(places: Places) -> None:
    """The second run is cut off, its files are left."""
    outsider(places.session, lambda rows: [row for row in rows if row.segment == 1])


@manipulation("session", noted="cannot be told")
def cut_the_end_off_with_its_sound(places: Places) -> None:
    """The end is cut off, and the sound behind it too."""
    outsider(places.session, lambda rows: rows[: first(rows, "label.edited")])
    from labapp.record.journal.opening import open_record

    sound = open_record(places.session).audio[-1]
    path = places.session / sound.file
    resound(path, bytes(sound_of(path)[: 2 * sound.frames]))


@manipulation("session", told="it holds no event")
def take_all_rows_out(places: Places) -> None:
    """The journal is emptied."""
    outsider(places.session, lambda rows: [])


@manipulation("session", unnoticed=INSIDER)
def change_an_answer_and_all_hashes(places: Places) -> None:
    """A rating of 4 becomes a 7, and the chain is computed anew."""
    insider(places.session, seven)


@manipulation("session", unnoticed=INSIDER)
def take_a_note_out_and_hash_anew(places: Places) -> None:
    """A note is deleted, and the chain is computed anew."""

    def edit(rows: list[Row]) -> list[Row]:
        return [row for row in rows if row.kind != "note.added"]

    insider(places.session, edit)


@manipulation("session", unnoticed=INSIDER)
def put_a_note_in_and_hash_anew(places: Places) -> None:
    """A note is put in, and the chain is computed anew."""

    def edit(rows: list[Row]) -> list[Row]:
        at = first(rows, "note.added")
        return [*rows[:at], changed(rows[at], text="All was well."), *rows[at:]]

    insider(places.session, edit)


@manipulation("session", told="the journal has no block that begins at 3.0 s")
def take_a_block_of_sound_out_and_hash_anew(places: Places) -> None:
    """One second's block is deleted, and the chain is computed anew."""

    def edit(rows: list[Row]) -> list[Row]:
        blocks = [at for at, row in enumerate(rows) if row.kind == "audio.block"]
        return rows[: blocks[3]] + rows[blocks[3] + 1 :]

    insider(places.session, edit)


@manipulation("session", told="the entry of segment 1 was changed or lost")
def change_the_environment_of_the_journal_and_hash_anew(places: Places) -> None:
    """The journal says another system, with right hashes; environment.json is as it was."""

    def edit(rows: list[Row]) -> list[Row]:
        at = first(rows, "environment.recorded")
        return [*rows[:at], changed(rows[at], environment={"system": "?"}), *rows[at + 1 :]]

    insider(places.session, edit)


@manipulation("session", told="its files are not those the session was planned with")
def change_the_study_s_hash_and_all_others(places: Places) -> None:
    """The plan names another study's hash, and the chain is computed anew."""
    insider(places.session, lambda rows: [changed(rows[0], study_sha256="1" * 64), *rows[1:]])


@manipulation("session", told="is of participant P07")
def change_the_participant_and_hash_anew(places: Places) -> None:
    """The plan names another participant than the folder, and the chain is computed anew."""
    insider(places.session, lambda rows: [changed(rows[0], participant="P07"), *rows[1:]])


@manipulation("session", told="segment 3 follows segment 1")
def change_a_segment_and_hash_anew(places: Places) -> None:
    """The second run's rows say they are of a third, and the chain is computed anew."""
    insider(
        places.session,
        lambda rows: [row._replace(segment=3) if row.segment == 2 else row for row in rows],
    )


@manipulation("session", told="lies before the")
def turn_time_back_and_hash_anew(places: Places) -> None:
    """An event is stamped before the one before it, and the chain is computed anew."""
    insider(places.session, lambda rows: _replaced(rows, 110, t_ns=5))


@manipulation("session", told="unknown kind")
def invent_a_kind_and_hash_anew(places: Places) -> None:
    """An event of a kind that no program writes, with right hashes."""
    insider(places.session, lambda rows: _replaced(rows, 110, kind="wish.granted"))


@manipulation("session", told="is newer than this program's")
def invent_a_version_and_hash_anew(places: Places) -> None:
    """An event of a version that does not exist yet, with right hashes."""
    insider(places.session, lambda rows: _replaced(rows, 110, v=99))


@manipulation("session", told="its payload is not JSON")
def break_a_payload_and_hash_anew(places: Places) -> None:
    """A payload that cannot be read, with right hashes."""
    insider(places.session, lambda rows: _replaced(rows, 110, payload="{"))


@manipulation("session", told="not session.planned")
def take_the_plan_out_and_hash_anew(places: Places) -> None:
    """The first event is deleted, and the chain is computed anew."""
    store(places.session, chained(list(_all(places))[1:]))


def _all(places: Places) -> list[Row]:
    from labapp.record.journal.read import read_rows

    return read_rows(places.session)
