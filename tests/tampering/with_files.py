"""Files of a session folder beside the journal and the sound."""

from __future__ import annotations

import json
import os
from pathlib import Path

from labapp.record.journal.layout import JOURNAL
from tests.helpers.trees import flip
from tests.tampering.catalogue import manipulation
from tests.tampering.places import Places, link_outside

STUDY_CHANGED = "study: its files are not those with which the session was planned"


@manipulation("session", told="notes.txt: not part of the session")
def add_a_file(places: Places) -> None:
    """A file lies in the session folder."""
    (places.session / "notes.txt").write_text("later")


@manipulation("session", told=".hidden: not part of the session")
def add_a_hidden_file(places: Places) -> None:
    """A hidden file lies in the session folder."""
    (places.session / ".hidden").write_text("later")


@manipulation("session", told="audio/.more/take-2.wav: not part of the session")
def add_a_file_in_a_hidden_folder(places: Places) -> None:
    """A hidden folder with a file lies beside the sound."""
    (places.session / "audio/.more").mkdir()
    (places.session / "audio/.more/take-2.wav").write_bytes(b"RIFF")


@manipulation("session", told="more: a link")
def add_a_link(places: Places) -> None:
    """A link leads out of the session folder."""
    (places.session / "more").symlink_to("/etc/hostname")


@manipulation("session", told="talk: a pipe")
def add_a_pipe(places: Places) -> None:
    """A pipe lies in the session folder."""
    os.mkfifo(places.session / "talk")


@manipulation("session", told="journal.sqlite: a link")
def put_a_link_in_the_journal_s_place(places: Places) -> None:
    """The journal lies elsewhere, and a link leads there."""
    link_outside(places.session / JOURNAL)


@manipulation("session", told="audio: a link")
def put_a_link_in_the_sound_folder_s_place(places: Places) -> None:
    """The folder of sound lies elsewhere, and a link leads there."""
    link_outside(places.session / "audio")


@manipulation("session", told="a link")
def put_a_link_in_a_text_s_place(places: Places) -> None:
    """A text of the study is a link to the same text elsewhere."""
    link_outside(places.session / "study/texts/en/consent.md")


@manipulation("session", told=STUDY_CHANGED)
def change_the_consent_text(places: Places) -> None:
    """A letter of the consent text is another."""
    flip(places.session / "study/texts/en/consent.md", 5)


@manipulation("session", told=STUDY_CHANGED)
def change_an_instrument(places: Places) -> None:
    """A letter of a questionnaire is another."""
    flip(places.session / "study/instruments/seq.yaml", 30)


@manipulation("session", told=STUDY_CHANGED)
def change_the_study_file(places: Places) -> None:
    """A line is added to the study."""
    path = places.session / "study/golden.yaml"
    path.write_text(path.read_text() + "# approved\n")


@manipulation("session", told=STUDY_CHANGED)
def add_a_study_file(places: Places) -> None:
    """A text lies beside those of the study."""
    (places.session / "study/texts/en/more.md").write_text("?")


@manipulation("session", told=STUDY_CHANGED)
def take_a_study_file_away(places: Places) -> None:
    """A questionnaire of the study is deleted."""
    (places.session / "study/instruments/seq.yaml").unlink()


@manipulation("session", told=STUDY_CHANGED)
def rename_a_study_file(places: Places) -> None:
    """A text of the study has another name."""
    path = places.session / "study/texts/en/consent.md"
    path.rename(path.with_name("agreement.md"))


def _environment(places: Places) -> list[dict[str, object]]:
    return list(json.loads((places.session / "environment.json").read_text()))


def _put(places: Places, entries: list[dict[str, object]]) -> Path:
    (places.session / "environment.json").write_text(json.dumps(entries, indent=2) + "\n")
    return places.session


@manipulation("session", told="the entry of segment 2 was changed or lost")
def change_the_environment(places: Places) -> Path:
    """The second run's system is another."""
    entries = _environment(places)
    return _put(places, [entries[0], entries[1] | {"system": "Windows"}])


@manipulation("session", told="the entry of segment 1 was changed or lost")
def take_an_entry_of_the_environment_away(places: Places) -> Path:
    """The first run's entry is deleted."""
    return _put(places, _environment(places)[1:])


@manipulation("session", told="it has an entry that is not in the journal")
def add_an_entry_to_the_environment(places: Places) -> Path:
    """A run that never was has an entry."""
    entries = _environment(places)
    return _put(places, [*entries, entries[0] | {"segment": 9}])


@manipulation("session", noted="it has an entry for segment 3 that is not in the journal")
def add_an_entry_of_the_next_run_to_the_environment(places: Places) -> Path:
    """An entry as a run leaves it that ends while it opens the session."""
    entries = _environment(places)
    return _put(places, [*entries, entries[0] | {"segment": 3}])


@manipulation("session", told="the entry of segment 1 was changed or lost")
def take_the_environment_away(places: Places) -> None:
    """environment.json is deleted."""
    (places.session / "environment.json").unlink()


@manipulation("session", told="environment.json")
def break_the_environment(places: Places) -> None:
    """environment.json cannot be read."""
    (places.session / "environment.json").write_text("[{")


def _pictures(places: Places) -> list[Path]:
    return sorted((places.session / "stimuli").iterdir())


@manipulation("session", told="not the picture that was shown")
def change_a_picture(places: Places) -> None:
    """A bit of a picture that was shown is turned."""
    flip(_pictures(places)[0], 2)


@manipulation("session", told="not the picture that was shown")
def exchange_two_pictures(places: Places) -> None:
    """Two pictures exchange their names."""
    one, two = _pictures(places)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


@manipulation("session", told=": missing")
def take_a_picture_away(places: Places) -> None:
    """A picture that was shown is deleted."""
    _pictures(places)[0].unlink()


@manipulation("session", told="not mentioned in the journal")
def add_a_picture(places: Places) -> None:
    """A picture lies beside those that were shown."""
    (places.session / "stimuli/face.png").write_bytes(b"\x89PNG")


@manipulation("session", told="stimuli/.face.png: not mentioned in the journal")
def add_a_hidden_picture(places: Places) -> None:
    """A hidden picture lies beside those that were shown."""
    (places.session / "stimuli/.face.png").write_bytes(b"\x89PNG")


@manipulation("session", told="renamed; its journal belongs to participant P01")
def rename_the_folder(places: Places) -> Path:
    """The session folder says another participant."""
    target = places.session.with_name(places.session.name.replace("P01", "P05"))
    places.session.rename(target)
    return target


@manipulation("session", "other", told="renamed; its journal belongs to participant P02")
def exchange_two_sessions(places: Places) -> None:
    """The folders of two sessions exchange their names."""
    beside = places.session.with_name("beside")
    places.session.rename(beside)
    places.other.rename(places.session)
    beside.rename(places.other)


@manipulation("session", told="withdrawn.jsonl: it no longer exists")
def take_a_withdrawal_back(places: Places) -> None:
    """The line that says that the participant withdrew is taken out of withdrawn.jsonl."""
    from labapp.session.withdrawal import withdraw

    withdraw(places.session, places.session.parents[2] / "private", delete=False)
    (places.session.parent / "withdrawn.jsonl").unlink()
