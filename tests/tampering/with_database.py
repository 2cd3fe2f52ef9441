"""What lies around the rows in the journal's file."""

from __future__ import annotations

from labapp.record.journal.layout import JOURNAL
from tests.tampering.catalogue import manipulation
from tests.tampering.places import Places, database, sql

CHANGED = "journal.sqlite"


@manipulation("session", told="a table 'secret' was added")
def add_a_table(places: Places) -> None:
    """A table is added to the journal."""
    sql(places.session, "CREATE TABLE secret (name TEXT)", "INSERT INTO secret VALUES ('Ann')")


@manipulation("session", told="a trigger 'quiet' was added")
def add_a_trigger(places: Places) -> None:
    """A trigger drops every note that will be taken from now on."""
    sql(
        places.session,
        "CREATE TRIGGER quiet BEFORE INSERT ON events WHEN NEW.kind = 'note.added' "
        "BEGIN SELECT RAISE(IGNORE); END",
    )


@manipulation("session", told="a view 'shown' was added")
def add_a_view(places: Places) -> None:
    """A view is added to the journal."""
    sql(places.session, "CREATE VIEW shown AS SELECT seq FROM events")


@manipulation("session", told="an index 'quick' was added")
def add_an_index(places: Places) -> None:
    """An index is added to the journal."""
    sql(places.session, "CREATE INDEX quick ON events (kind)")


@manipulation("session", told="meta has a row 'approved'")
def add_a_meta_row(places: Places) -> None:
    """A row is added to meta."""
    sql(places.session, "INSERT INTO meta VALUES ('approved', 'yes')")


@manipulation("session", told="schema version")
def change_a_meta_row(places: Places) -> None:
    """Meta says another version."""
    sql(places.session, "UPDATE meta SET value = '2'")


@manipulation("session", told=CHANGED)
def add_a_column(places: Places) -> None:
    """The table of events gets a column."""
    sql(places.session, "ALTER TABLE events ADD COLUMN remark TEXT")


@manipulation("session", told=CHANGED)
def change_a_column_s_type(places: Places) -> None:
    """The schema says that numbers of trials are text."""
    sql(
        places.session,
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'trial INTEGER', 'trial TEXT') "
        "WHERE name = 'events'",
        "PRAGMA writable_schema=RESET",
    )


@manipulation("session", told=CHANGED)
def make_the_table_lenient(places: Places) -> None:
    """The table takes any type in any column, and one number is text now."""
    sql(
        places.session,
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET sql = replace(sql, ') STRICT', ')') WHERE name = 'events'",
        "PRAGMA writable_schema=RESET",
        "UPDATE events SET payload = CAST(payload AS BLOB) WHERE seq = 111",
    )


@manipulation("session", told=CHANGED)
def put_a_view_in_place_of_the_table(places: Places) -> None:
    """Events are a view that leaves the notes out."""
    sql(
        places.session,
        "ALTER TABLE events RENAME TO kept",
        "CREATE VIEW events AS SELECT * FROM kept WHERE kind <> 'note.added'",
    )


@manipulation("session", told="user_version")
def change_a_setting(places: Places) -> None:
    """A number of the file's header that SQLite leaves to programs is set."""
    sql(places.session, "PRAGMA user_version = 7")


@manipulation("session", told="5 bytes were added after the end of the database")
def put_bytes_behind_the_database(places: Places) -> None:
    """Bytes are appended to the journal's file."""
    path = places.session / JOURNAL
    path.write_bytes(path.read_bytes() + b"hello")


@manipulation("session", told=CHANGED)
def cut_the_database_off(places: Places) -> None:
    """The journal's file is cut in half."""
    path = places.session / JOURNAL
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


@manipulation("session", told=CHANGED)
def put_another_file_in_its_place(places: Places) -> None:
    """The journal's file is text."""
    (places.session / JOURNAL).write_text("nothing happened\n" * 100)


@manipulation("killed", told=CHANGED)
def take_the_write_ahead_log_away(places: Places) -> None:
    """Of a killed session, the log that its last events are in is deleted."""
    (places.killed / f"{JOURNAL}-wal").unlink()


@manipulation("killed", told=CHANGED)
def flip_a_bit_of_the_write_ahead_log(places: Places) -> None:
    """Of a killed session, one bit of the log is turned: SQLite leaves out all behind it."""
    path = places.killed / f"{JOURNAL}-wal"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)


@manipulation("session", told="the hash chain is broken")
def move_a_row_by_its_number(places: Places) -> None:
    """The numbers of two events are exchanged in the database."""
    with database(places.session) as connection:
        for number, new in ((111, -1), (112, 111), (-1, 112)):
            connection.execute("UPDATE events SET seq = ? WHERE seq = ?", (new, number))
