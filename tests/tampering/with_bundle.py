"""A bundle: files, tables, manifest, journal, with and without new hashes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from labapp.record.journal.layout import MANIFEST, SOURCEDATA
from tests.helpers.trees import flip
from tests.hostile.rehashed import chained
from tests.tampering.catalogue import INSIDER, manipulation
from tests.tampering.places import (
    BEH,
    MODEL,
    SOURCE,
    WAV_1,
    Places,
    bundle_rows,
    changed,
    first,
    link_outside,
    put_facts,
    put_rows,
    reseal,
    resound,
    sound_of,
)

HASH = "changed since the export"


def _swap(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@manipulation("bundle", told="README")
def change_the_readme(places: Places) -> None:
    """The README says something else."""
    _swap(places.bundle / "README", "session", "sitting")


@manipulation("bundle", told=HASH)
def change_a_cell(places: Places) -> None:
    """An outcome in a table is another."""
    _swap(places.bundle / f"{BEH}_beh.tsv", "skipped", "skopped")


@manipulation("bundle", reseal=True, told="outcome: it has 'solved', the journal gives 'skipped'")
def change_a_cell_and_the_manifest(places: Places) -> None:
    """An outcome in a table is another, and the manifest fits."""
    _swap(places.bundle / f"{BEH}_beh.tsv", "skipped", "solved")


@manipulation("bundle", reseal=True, told="8 rows, but the journal gives 9")
def take_a_row_of_a_table_out_and_reseal(places: Places) -> None:
    """A question is taken out of a table, and the manifest fits."""
    path = places.bundle / f"{BEH}_beh.tsv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")


@manipulation("bundle", reseal=True, told="_events.tsv: 63 rows, but the journal gives 64")
def take_an_event_out_of_a_table_and_reseal(places: Places) -> None:
    """A solution is taken out of the table of events, and the manifest fits."""
    path = places.bundle / f"{BEH}_events.tsv"
    lines = path.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if line.split("\t")[2] == "solved")
    path.write_text("\n".join(lines[:at] + lines[at + 1 :]) + "\n")


@manipulation("bundle", reseal=True, told="participants.tsv: 2 rows, but the journal gives 1")
def invent_a_participant_and_reseal(places: Places) -> None:
    """A participant is added to participants.tsv, and the manifest fits."""
    path = places.bundle / "participants.tsv"
    row = path.read_text().splitlines()[1].replace("sub-P01", "sub-P02")
    path.write_text(path.read_text() + row + "\n")


@manipulation("bundle", reseal=True, told="meaning: it says 'Sound was kept")
def change_the_codebook_and_reseal(places: Places) -> None:
    """The codebook describes something else, and the manifest fits."""
    _swap(places.bundle / SOURCEDATA / "codebook.json", "Sound was lost", "Sound was kept")


@manipulation("bundle", reseal=True, told="audio/clock.json: 1 / offset_s: it says")
def change_where_the_sound_lies_and_reseal(places: Places) -> None:
    """The clock of the sound is off by a second, and the manifest fits."""
    path = places.bundle / SOURCE / "audio/clock.json"
    fits = json.loads(path.read_text())
    fits[0]["offset_s"] += 1.0
    path.write_text(json.dumps(fits, indent=2) + "\n")


@manipulation("bundle", reseal=True, told="README: it does not say")
def change_the_readme_and_reseal(places: Places) -> None:
    """The README says that nobody was asked, and the manifest fits."""
    _swap(places.bundle / "README", "who took part", "who was there")


@manipulation("bundle", reseal=True, told="Description: it says")
def change_the_description_of_a_column_and_reseal(places: Places) -> None:
    """A column means something else, and the manifest fits."""
    path = places.bundle / f"{BEH}_beh.json"
    description = json.loads(path.read_text())
    description["outcome"]["Description"] = "Nothing."
    path.write_text(json.dumps(description, indent=2) + "\n")


@manipulation("bundle", reseal=True, told="the journals of the bundle give it")
def take_a_table_away_and_reseal(places: Places) -> None:
    """A questionnaire's table is deleted, and the manifest fits."""
    next((places.bundle / "phenotype").glob("*.tsv")).unlink()


@manipulation("bundle", noted="not compared with its journals, because they have the format 0")
def change_a_cell_and_call_the_tables_old(places: Places) -> None:
    """An outcome is another, and the manifest says that an earlier version made the tables."""
    _swap(places.bundle / f"{BEH}_beh.tsv", "skipped", "solved")
    reseal(places.bundle, table_format=0)


@manipulation("bundle", told="participants.json: missing")
def take_a_file_away(places: Places) -> None:
    """A file is deleted."""
    (places.bundle / "participants.json").unlink()


@manipulation("bundle", told="notes.txt: not part of the export")
def add_a_file_to_a_bundle(places: Places) -> None:
    """A file is added."""
    (places.bundle / "notes.txt").write_text("later")


@manipulation("bundle", told=".hidden: not part of the export")
def add_a_hidden_file_to_a_bundle(places: Places) -> None:
    """A hidden file is added."""
    (places.bundle / "sub-P01/.hidden").write_text("later")


@manipulation("bundle", told="talk: not part of the export")
def add_a_pipe_to_a_bundle(places: Places) -> None:
    """A pipe is added."""
    os.mkfifo(places.bundle / "talk")


@manipulation("bundle", told="README")
def put_a_link_in_a_file_s_place(places: Places) -> None:
    """A file lies elsewhere, and a link leads there."""
    beside = places.bundle.with_name("elsewhere")
    (places.bundle / "README").rename(beside)
    (places.bundle / "README").symlink_to(beside)


@manipulation("bundle", reseal=True, told="audio/more.wav: not mentioned in the journal")
def add_sound_and_reseal(places: Places) -> None:
    """A sound file is added, and the manifest fits."""
    resound(places.bundle / SOURCE / "audio/more.wav", bytes(100))


@manipulation("bundle", reseal=True, told="extra.csv: not part of a session")
def add_a_file_to_a_session_and_reseal(places: Places) -> None:
    """A file is added to a session's folder, and the manifest fits."""
    (places.bundle / SOURCE / "extra.csv").write_text("a,b\n")


@manipulation("bundle", reseal=True, told="CHANGES: a file that does not follow from any session")
def add_a_file_to_the_top_and_reseal(places: Places) -> None:
    """A file is added to the bundle's top, and the manifest fits."""
    (places.bundle / "CHANGES").write_text("none\n")


def _manifest(places: Places) -> Path:
    return places.bundle / SOURCEDATA / MANIFEST


@manipulation("bundle", told="manifest.json: missing")
def take_the_manifest_away(places: Places) -> None:
    """The manifest is deleted."""
    _manifest(places).unlink()


@manipulation("bundle", told="The manifest was changed or damaged after it was written")
def take_an_entry_out_of_the_manifest(places: Places) -> None:
    """A file that was changed is taken out of the manifest."""
    content = json.loads(_manifest(places).read_text())
    content["files"].pop("README")
    _manifest(places).write_text(json.dumps(content, indent=2) + "\n")


@manipulation("bundle", told="The manifest was changed or damaged after it was written")
def change_the_date_of_the_export(places: Places) -> None:
    """The manifest says another date."""
    _swap(_manifest(places), '"created": "2', '"created": "1')


@manipulation("bundle", told="it says study 'famous'")
def change_the_study_of_the_manifest_and_reseal(places: Places) -> None:
    """The manifest says another study, and its own hash fits."""
    reseal(places.bundle, study="famous")


@manipulation("bundle", told="it says deidentified True")
def call_it_de_identified_and_reseal(places: Places) -> None:
    """The manifest says that the bundle is de-identified, and its own hash fits."""
    reseal(places.bundle, deidentified=True)


@manipulation("bundle", reseal=True, told="it says state 'ended_early'")
def change_the_state_and_reseal(places: Places) -> None:
    """session.json says that the session ended early, and the manifest fits."""
    put_facts(places.bundle, state="ended_early")


@manipulation("bundle", reseal=True, told="renamed")
def change_the_label_and_reseal(places: Places) -> None:
    """session.json names another participant, and the manifest fits."""
    put_facts(places.bundle, folder="sub-P09_ses-1_20260102T030405Z")


@manipulation("bundle", told="is in the folder of another session")
def give_the_session_to_another_participant(places: Places) -> Path:
    """All folders and tables of the session are another participant's, and the manifest fits."""
    bundle = places.bundle
    (bundle / SOURCEDATA / "sub-P01").rename(bundle / SOURCEDATA / "sub-P07")
    for path in sorted((bundle / "sub-P01").rglob("*P01*")):
        path.rename(path.with_name(path.name.replace("P01", "P07")))
    (bundle / "sub-P01").rename(bundle / "sub-P07")
    for path in bundle.rglob("*.tsv"):
        path.write_text(path.read_text().replace("P01", "P07"))
    reseal(bundle)
    return bundle


@manipulation("bundle", told="the hash chain is broken")
def change_an_event_of_a_bundle_and_reseal(places: Places) -> None:
    """An event of the bundled journal is another, and the manifest fits."""
    rows = bundle_rows(places.bundle)
    at = first(rows, "note.added")
    rows[at] = rows[at]._replace(payload=rows[at].payload.replace("third", "first"))
    put_rows(places.bundle, rows, head=False)


@manipulation("bundle", told="are missing before it")
def take_events_out_of_a_bundle_and_reseal(places: Places) -> None:
    """Ten events are taken out of the bundled journal, and the manifest fits."""
    rows = bundle_rows(places.bundle)
    put_rows(places.bundle, rows[:60] + rows[70:], head=False)


@manipulation("bundle", told="does not end where the session ended")
def cut_the_end_of_a_bundled_journal_off(places: Places) -> None:
    """The end of the bundled journal is cut off, and the manifest fits."""
    put_rows(places.bundle, bundle_rows(places.bundle)[:-1], head=False)


@manipulation("bundle", told="state 'complete', but the journal says 'interrupted'")
def cut_the_end_off_and_note_it_so(places: Places) -> None:
    """The end of the bundled journal is cut off, session.json and the manifest fit."""
    put_rows(places.bundle, bundle_rows(places.bundle)[:200], head=True)


@manipulation("bundle", told="phenotype/seq.tsv: row 1")
def change_an_answer_of_a_bundle_and_all_hashes(places: Places) -> None:
    """A rating is another in the bundled journal, and every hash of the bundle fits."""
    _other_answer(places)


@manipulation("bundle", reseal=True, unnoticed=INSIDER)
def change_an_answer_of_a_bundle_its_table_and_all_hashes(places: Places) -> None:
    """A rating is another in the bundled journal and in its table, and every hash fits."""
    _other_answer(places)
    path = places.bundle / "phenotype/seq.tsv"
    table = [row.split("\t") for row in path.read_text().splitlines()]
    place = next(n for n, name in enumerate(table[0]) if name.endswith("_seq"))
    table[1][place] = "7"
    path.write_text("".join("\t".join(row) + "\n" for row in table))


def _other_answer(places: Places) -> None:
    rows = bundle_rows(places.bundle)
    at = first(rows, "questionnaire.submitted")
    rows[at] = changed(rows[at], answers={"seq": 7})
    put_rows(places.bundle, chained(rows), head=True)


@manipulation("bundle", reseal=True, told="the sound from 3.0 to 4.0 s was changed")
def change_sound_and_reseal(places: Places) -> None:
    """A second of sound is another, and the manifest fits."""
    path = places.bundle / SOURCE / WAV_1
    sound = sound_of(path)
    sound[6000:6100] = bytes(100)
    resound(path, bytes(sound))


@manipulation("bundle", told="README: it does not say")
def take_all_sound_out_and_reseal(places: Places) -> None:
    """The sound is taken out as if it had not been exported, and the manifest fits."""
    shutil.rmtree(places.bundle / SOURCE / "audio")
    put_facts(places.bundle, sound=False)
    reseal(places.bundle, sound=False)


@manipulation("bundle", reseal=True, told="not the card of the model")
def change_a_model_card_and_reseal(places: Places) -> None:
    """A model's card says something else, and the manifest fits."""
    path = places.bundle / SOURCEDATA / f"models/{MODEL}/model.yaml"
    path.write_text(path.read_text() + "# better\n")


@manipulation("bundle", reseal=True, told="model.yaml: missing")
def take_a_model_card_away_and_reseal(places: Places) -> None:
    """A model's card is deleted, and the manifest fits."""
    (places.bundle / SOURCEDATA / f"models/{MODEL}/model.yaml").unlink()


@manipulation("bundle", reseal=True, told="not mentioned in any session's plan")
def add_a_model_card_and_reseal(places: Places) -> None:
    """The card of a model that nobody used is added, and the manifest fits."""
    path = places.bundle / SOURCEDATA / "models/other/better/model.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("card: 1\n")


@manipulation("bundle", reseal=True, told="the entry of segment 1 was changed or lost")
def change_the_environment_of_a_bundle_and_reseal(places: Places) -> None:
    """environment.json says another system, and the manifest fits."""
    _swap(places.bundle / SOURCE / "environment.json", '"Linux"', '"Windows"')


@manipulation("bundle", reseal=True, told="study: its files are not those")
def change_the_study_of_a_bundle_and_reseal(places: Places) -> None:
    """A text of the study is another, and the manifest fits."""
    flip(places.bundle / SOURCE / "study/texts/en/consent.md", 5)


@manipulation("bundle", reseal=True, told="not the picture that was shown")
def change_a_picture_of_a_bundle_and_reseal(places: Places) -> None:
    """A picture is another, and the manifest fits."""
    flip(next((places.bundle / SOURCE / "stimuli").iterdir()), 2)


@manipulation("bundle", reseal=True, told="not mentioned in the journal")
def add_a_hidden_picture_to_a_bundle_and_reseal(places: Places) -> None:
    """A hidden picture is added, and the manifest fits."""
    (places.bundle / SOURCE / "stimuli/.face.png").write_bytes(b"\x89PNG")


@manipulation("bundle", told="it says deidentified False")
def mark_rows_as_reduced(places: Places) -> None:
    """Rows are marked as reduced although they are not, and the manifest fits."""
    rows = [row._replace(redacted=True) for row in bundle_rows(places.bundle)]
    put_rows(places.bundle, rows, head=True)


@manipulation("bundle", told="audio")
def put_a_link_in_the_sound_s_place_of_a_bundle(places: Places) -> None:
    """The folder of sound lies elsewhere, and a link leads there."""
    link_outside(places.bundle / SOURCE / "audio")
