"""A lab's own files and models, people's states, and the words that a study can show."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import labapp
from benchmarks.onnx_decoders import write
from labapp.base import resources
from labapp.base.errors import LabappError, StudyError
from labapp.cli.main import app
from labapp.models.representations import card as cards
from labapp.models.representations.recipe import Task
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import loading, words
from labapp.study.authoring import new_study
from labapp.study.loading import WORDS, asset, load
from labapp.study.overview import check, prior_of, space_of
from labapp.study.people import HOLDING, SessionState, Visits, count_states, people
from labapp.study.planner import realise
from labapp.study.plugins import registry
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.single_dimension.plan import SingleDimensionPart
from tests.helpers.beside import put_beside
from tests.helpers.nightly import EVERYTHING

SHIPPED = """\
id: mine
title: My study
version: 1
unnamed_texts: shipped
flow:
  - consent: shipped:consent
  - tutorial: reconstruction
  - stages: {task: reconstruction, models: [sinelines/gt], trials: 1, skip: always,
             after: [shipped:seq]}
  - debrief: shipped:debrief
"""


def write_own_files(folder: Path, text: str = SHIPPED) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, "utf-8")
    return path


def refused(path: Path) -> str:
    with pytest.raises(StudyError) as caught:
        loading.load(path)
    return str(caught.value)


def made(folder: Path) -> tuple[Path, list[Path]]:
    path, written = new_study("own", "quickstart", folder)
    files = [file for file in written if file.suffix in (".md", ".yaml") and file != path]
    assert len(files) >= 7
    return path, files


def test_no_file_of_a_new_study_can_be_missing_in_any_way(tmp_path: Path) -> None:
    """Deleted, renamed, in other capitals, still in the cloud, empty, or full of zero bytes."""
    path, files = made(tmp_path)
    check(path)
    for file in files if EVERYTHING else files[::3]:
        content, name = file.read_bytes(), file.relative_to(tmp_path).as_posix()
        file.unlink()
        said = refused(path)
        assert f"the file {name!r} does not exist" in said
        assert "shipped:" in said, "and how to take the shipped one"
        for other in (file.name.capitalize(), f".{file.name}.icloud", f"{file.name}.txt"):
            stray = file.with_name(other)
            stray.write_bytes(content)
            said = refused(path)
            assert f"the file {name!r} does not exist" in said
            assert other in said
            stray.unlink()
        for nothing in (b"", b"\0" * 400):
            file.write_bytes(nothing)
            refused(path)
        file.write_bytes(content)
    check(path)


def test_a_renamed_folder_is_named_too(tmp_path: Path) -> None:
    path, _ = made(tmp_path)
    (tmp_path / "texts").rename(tmp_path / "Texts")
    assert f"Rename {tmp_path / 'Texts'} to texts." in refused(path)


def test_letters_that_are_composed_otherwise_are_named(tmp_path: Path) -> None:
    composed = unicodedata.normalize("NFC", "einverständnis.md")
    path = write_own_files(tmp_path, SHIPPED.replace("shipped:consent", composed))
    (tmp_path / unicodedata.normalize("NFD", composed)).write_text("# Ja\n", "utf-8")
    assert "Rename" in refused(path)


def test_other_capitals_are_told_where_the_file_system_finds_the_file_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = made(tmp_path)
    consent = tmp_path / "texts" / "en" / "consent.md"
    consent.rename(consent.with_name("Consent.md"))
    consent.symlink_to("Consent.md")  # found by either name, as on such a system
    listed = Path.iterdir

    def without_link(folder: Path) -> object:
        return (child for child in listed(folder) if not child.is_symlink())

    monkeypatch.setattr(Path, "iterdir", without_link)
    assert "to consent.md" in refused(path)


def test_every_command_refuses_what_the_check_refuses(tmp_path: Path) -> None:
    path, files = made(tmp_path / "own")
    next(file for file in files if file.name == "consent.md").unlink()
    out = str(tmp_path / "out")
    for command in (
        ["studies", "check", str(path)],
        ["run", str(path), "--pilot", "--data", out, "--simulate", "understanding"],
        ["simulate", str(path), "--out", out],
        ["plan", str(path), "--out", out],
        ["studies", "preview", str(path), "--out", out],
        ["studies", "consent", str(path), "--out", f"{out}.pdf"],
        ["studies", "show", str(path)],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code != 0, command
        assert "consent.md' does not exist" in str(done.exception), command


def test_shipped_files_are_named_as_such_with_their_hash(tmp_path: Path) -> None:
    path = write_own_files(tmp_path)
    loaded = check(path)
    assert loading.source(loaded, "texts/en/consent.md").is_relative_to(resources.assets())
    said = CliRunner().invoke(app, ["studies", "check", str(path)]).stdout
    for name in ("shipped:consent", "shipped:seq", "shipped:tutorial-reconstruction"):
        assert f"{name} (SHA-256 " in said
    without = write_own_files(tmp_path, SHIPPED.replace("unnamed_texts: shipped\n", ""))
    said = refused(without)
    assert "add `intro: shipped:tutorial-reconstruction` to `tutorial` in line 6" in said
    assert "unnamed_texts: shipped" in said


def test_a_file_beside_a_shipped_one_is_not_passed_over(tmp_path: Path) -> None:
    put_beside(tmp_path)
    said = refused(write_own_files(tmp_path))
    for name in ("texts/en/consent.md", "texts/en/stage-first.md", "instruments/seq.yaml"):
        assert f"{name} in the study's folder is not used" in said
    both = SHIPPED.replace("  - tutorial", "  - text: texts/{language}/consent.md\n  - tutorial")
    assert "line 7 uses the study's own" in refused(write_own_files(tmp_path, both))


def test_what_is_not_shipped_or_no_file_is_told(tmp_path: Path) -> None:
    said = refused(write_own_files(tmp_path, SHIPPED.replace("shipped:consent", "shipped:consnt")))
    assert "Did you mean `shipped:consent`?" in said
    said = refused(write_own_files(tmp_path, SHIPPED.replace("[sinelines/gt]", "['shipped:gt']")))
    assert "shipped" in said


def test_a_text_that_one_language_lacks_is_an_error_with_a_fallback_too(tmp_path: Path) -> None:
    path, _ = new_study("ici", "quickstart", tmp_path, "fr")
    check(path)
    (tmp_path / "texts" / "fr" / "consent.md").unlink()
    assert "the file 'texts/fr/consent.md' does not exist" in refused(path)


def test_words_of_its_own_are_declared(tmp_path: Path) -> None:
    path = write_own_files(tmp_path)
    own = tmp_path / "texts" / "en" / "participant.yaml"
    own.parent.mkdir(parents=True)
    shipped = (resources.assets() / "texts" / "en" / "participant.yaml").read_text("utf-8")
    own.write_text(shipped.replace("back: Back", "back: Backwards"), "utf-8")
    line = 'words: ["texts/{language}/participant.yaml"]'
    assert f"Add the line `{line}`" in refused(path)
    write_own_files(tmp_path, SHIPPED.replace("flow:\n", f"{line}\nflow:\n"))
    assert check(path).words["back"] == "Backwards"
    own.unlink()
    assert "the file 'texts/en/participant.yaml' does not exist" in refused(path)


def test_a_session_reads_its_own_copy_and_nothing_else(tmp_path: Path) -> None:
    study = write_own_files(tmp_path)
    simulate_study(str(study), 1, "knowing", tmp_path / "data")
    (session,) = (tmp_path / "data" / "mine").glob("sub-*")
    kept = session / "study" / "texts" / "en" / "consent.md"
    loaded = loading.load(session / "study" / "mine.yaml", recorded=True)
    assert loading.source(loaded, "texts/en/consent.md") == kept
    assert loaded.sha256 == check(study).sha256
    kept.unlink()
    with pytest.raises(StudyError, match="does not exist"):
        loading.load(session / "study" / "mine.yaml", recorded=True)


def test_a_copy_of_a_study_with_shipped_files_has_them_all(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    path, written = new_study("twin", write_own_files(tmp_path / "a"), tmp_path / "b")
    assert "shipped:consent" not in path.read_text("utf-8").replace("# ", "")
    assert tmp_path / "b" / "texts" / "en" / "consent.md" in written
    shutil.rmtree(tmp_path / "a")
    twin = check(path)
    own = {file for file in twin.files if not file.endswith("participant.yaml")}
    assert not own & twin.shipped


TASK = Task(distance="mae/0.2", target_alignment=0.8, skip_after_s=12, labels_editable=True)

KEYS = "distance: mse/0.1, target_alignment: 0.7, skip_after_s: 9"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a lab's own models."""
    folder = tmp_path / "models"
    monkeypatch.setenv("LABAPP_MODELS", str(folder))
    return folder


def study(folder: Path, flow: str) -> Path:
    path = folder / "own.yaml"
    path.write_text(f"id: own\ntitle: Own\nversion: 1\nunnamed_texts: shipped\nflow: [{flow}]\n")
    return path


def parts(folder: Path, flow: str) -> list[PlannedPart]:
    made = realise(load(study(folder, flow)), "P01", space_of=space_of, prior_of=prior_of)
    return [part for part in made.parts if part.has_trials]


def stages(folder: Path, model: str, more: str = "") -> ReconstructionPart:
    keys = f"task: reconstruction, models: [{model}], trials: 1{more and ', '}{more}"
    (part,) = parts(folder, f"{{stages: {{{keys}}}}}")
    assert isinstance(part, ReconstructionPart)
    return part


# Ids that begin as those of published studies do, and one that begins as nothing that is known.
@pytest.mark.parametrize("model", ["sinelines/mine", "mnist8k/mine", "circles/gt2", "digits8/pca5"])
def test_the_card_says_how_a_stage_goes_whatever_the_model_is_called(
    model: str, own: Path, tmp_path: Path
) -> None:
    write(own, model, (8, 8, 3), task=TASK)
    part = stages(tmp_path, model)
    assert (part.display, part.distance, part.sampling) == ("colour", "mae/0.2", "held_out")
    assert (part.target_alignment, part.skip_after_s) == (0.8, 12)
    assert part.labels_editable
    assert not part.overlay_at_start
    other = stages(tmp_path, model, f"{KEYS}, overlay_at_start: true, labels: fixed")
    assert (other.distance, other.target_alignment, other.skip_after_s) == ("mse/0.1", 0.7, 9)
    assert other.overlay_at_start
    assert not other.labels_editable


@pytest.mark.parametrize(
    ("of", "model"), [("sinelines/gt", "own/lines"), ("circles/gt", "own/discs")]
)
def test_a_copy_under_another_id_is_asked_about_as_the_model_is(
    of: str, model: str, own: Path, tmp_path: Path
) -> None:
    folder = own / model
    shutil.copytree(resources.models() / of, folder)
    text = yaml.safe_load((folder / cards.CARD).read_text())
    (folder / cards.CARD).write_text(yaml.safe_dump(text | {"id": model}))
    first, second = (stages(tmp_path, name).model_dump() for name in (of, model))
    assert {**first, "model": ""} == {**second, "model": ""}


def older(own: Path, change: dict[str, Any]) -> None:
    """A package whose card says nothing of tasks."""
    folder = write(own, "own/model", (8, 8))
    text = yaml.safe_load((folder / cards.CARD).read_text()) | change
    (folder / cards.CARD).write_text(yaml.safe_dump(text))


def test_an_older_package_goes_as_the_published_study_of_its_data_set(
    own: Path, tmp_path: Path
) -> None:
    older(own, {"dataset": "mnist"})
    part = stages(tmp_path, "own/model")
    assert (part.display, part.distance, part.target_alignment) == ("binary_image", "mnist", 0.75)


def test_what_neither_says_is_asked_for_by_its_keys(own: Path, tmp_path: Path) -> None:
    older(own, {"dataset": "photos"})
    keys = "task: reconstruction, models: [own/model], trials: 1"
    with pytest.raises(LabappError) as error:
        check(study(tmp_path, f"{{stages: {{{keys}}}}}"))
    assert "distance, target_alignment, skip_after_s" in str(error.value)
    part = stages(tmp_path, "own/model", f"{KEYS}, overlay_at_start: false, labels: fixed")
    assert (part.display, part.distance) == ("image", "mse/0.1")


def test_the_practised_model_may_be_named(own: Path, tmp_path: Path) -> None:
    write(own, "own/model", (8, 8), task=TASK, dimensions=3)
    flow = (
        "{practice: circles, model: own/model}, {practice: circles-exemplars, model: own/model}, "
        "{stages: {task: reconstruction, models: [sinelines/gt], trials: 1}}"
    )
    first, second, _ = parts(tmp_path, flow)
    assert isinstance(first, ReconstructionPart)
    assert (first.model, first.trials, first.sampling) == ("own/model", 3, "held_out")
    assert first.target_alignment == TASK.target_alignment
    assert isinstance(second, SingleDimensionPart)
    assert (second.model, second.states, second.sampling) == ("own/model", (), "held_out")
    assert second.answers == ("low", "high", "medium")


@dataclass(frozen=True)
class Had:
    participant: str
    session: str
    state: SessionState


THREE = Visits(("1", "2", "3"), 3)


def state(visits: Visits, *sessions: tuple[str, SessionState]) -> str:
    (person,) = people([Had("P01", label, of) for label, of in sessions], visits)
    return person.state


@pytest.mark.parametrize(
    ("needed", "sessions", "is_now"),
    [
        (3, "1 included", "awaited"),
        (1, "1 included", "included"),
        (3, "1 included, 2 included, 3 included", "included"),
        (3, "1 included, 3 included", "missed"),
        (2, "1 included, 3 included", "included"),
        (3, "1 included, 2 excluded", "excluded"),
        (2, "1 included, 2 excluded", "awaited"),
        (2, "1 excluded", "excluded"),
        (3, "1 included, 2 ended", "ended"),
        (3, "1 included, 2 withdrawn", "withdrawn"),
        (1, "1 withdrawn, 2 included, 3 included", "withdrawn"),
        (3, "1 included, 2 open", "running"),
        (3, "2 reserved", "missed"),
        (2, "2 reserved", "running"),
        (3, "1 declined", "declined"),
        (3, "1 gone", "gone"),
        (3, "1 gone, 2 included", "missed"),
    ],
)
def test_what_becomes_of_a_person(needed: int, sessions: str, is_now: str) -> None:
    had = [tuple(each.split()) for each in sessions.split(", ")]
    assert state(Visits(THREE.labels, needed), *had) == is_now  # type: ignore[arg-type]


def test_a_study_without_sessions_needs_one_that_counts() -> None:
    assert state(Visits(), ("1", "excluded"), ("2", "included")) == "included"
    assert state(Visits(), ("1", "open")) == "running"
    assert state(Visits(), ("1", "excluded")) == "excluded"


def test_sessions_out_of_order() -> None:
    assert THREE.skipped("3", ["1"]) == ("2",)
    assert THREE.skipped("2", []) == ("1",)
    assert THREE.skipped("2", ["1"]) == ()
    assert Visits(THREE.labels, 3, "any").skipped("3", []) == ()
    (person,) = people([Had("P01", "1", "included"), Had("P01", "3", "included")], THREE)
    assert (person.missed, person.to_come) == (("2",), ())
    assert person.text() == "1 included, 2 missed, 3 included"
    (person,) = people([Had("P01", "2", "included")], Visits(THREE.labels, 3, "any"))
    assert (person.missed, person.to_come, person.state) == ((), ("1", "3"), "awaited")


STATES: tuple[SessionState, ...] = (
    "reserved", "open", "included", "excluded", "declined", "ended", "withdrawn", "gone",
)  # fmt: skip

ORDERS: tuple[Literal["told", "refused", "any"], ...] = ("told", "refused", "any")


@given(
    sessions=st.lists(
        st.tuples(st.integers(1, 12), st.sampled_from("123"), st.sampled_from(STATES)),
        max_size=40,
    ),
    needed=st.integers(1, 3),
    order=st.sampled_from(ORDERS),
)
def test_everybody_is_counted_once(
    sessions: list[tuple[int, str, SessionState]],
    needed: int,
    order: Literal["told", "refused", "any"],
) -> None:
    visits = Visits(THREE.labels, needed, order)
    everybody = people([Had(f"P{who}", label, of) for who, label, of in sessions], visits)
    assert (
        sum(count_states(everybody).values())
        == len(everybody)
        == len({who for who, _, _ in sessions})
    )
    assert [int(person.participant[1:]) for person in everybody] == sorted(
        {who for who, _, _ in sessions}
    ), "P2 before P10"
    for person in everybody:
        states = {each.state for each in person.sessions}
        assert person.holds == (person.state in HOLDING)
        assert (person.state == "withdrawn") == ("withdrawn" in states)
        if person.holds:
            assert states & {"included", "open", "reserved"}


PACKAGE = Path(labapp.__file__).parent

EVERYWHERE = ("ui", "study", "tasks/pages", "tasks/questionnaire")

"""Rooms whose screens any study can show."""


@cache
def keys() -> tuple[str, ...]:
    return tuple(words.read_shipped_words(WORDS, "en"))


@cache
def code(room: str) -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted((PACKAGE / room).rglob("*.py")))


@cache
def asked(room: str) -> str:
    """What code of a room asks for words with: `words("key")`, or one of several."""
    calls = r"(?:words|_words|strings|self)\(\s*([^()]*(?:\([^()]*\)[^()]*)*)\)"
    return "\n".join(re.findall(calls, code(room)))


def asks(room: str, key: str) -> bool:
    return f'"{key}"' in asked(room)


def claims() -> Iterator[tuple[str, str]]:
    for task in registry.task_types():
        for key in keys():
            if any(fnmatchcase(key, pattern) for pattern in task.own_words):
                yield type(task).__module__.split(".")[2], key


def test_no_task_claims_a_word_that_every_study_shows() -> None:
    shown = {key for _, key in claims() if any(asks(room, key) for room in EVERYWHERE)}
    # The console's consent form as a PDF, and what it says of an interview, stand in ui.
    assert {key for key in shown if not key.startswith("consent_")} == set()


def test_a_word_that_tasks_alone_ask_for_is_claimed_by_each_of_them() -> None:
    claimed = set(claims())
    rooms = [
        path.name
        for path in sorted((PACKAGE / "tasks").iterdir())
        if path.is_dir() and f"tasks/{path.name}" not in EVERYWHERE
    ]
    for key in keys():
        if not any(asks(room, key) for room in EVERYWHERE):
            for room in rooms:
                if asks(f"tasks/{room}", key):
                    assert (room, key) in claimed


@pytest.mark.parametrize("name", [path.stem for path in loading.list_shipped()])
def test_a_study_needs_a_part_of_the_words(name: str) -> None:
    shown = words.list_shown_words(load(name), WORDS)
    assert 40 < len(shown) < len(keys()) - 100
    assert ("judging_photo" in shown) == ("distinction" in name or "agreement" in name)
    assert ("mark_far" in shown) == (name == "calibration")
    assert "consent_use_video_required" not in shown


def test_the_quick_start_needs_its_own() -> None:
    shown = words.list_shown_words(load("quickstart"), WORDS)
    assert {"overlay", "consent_name", "paused_title"} <= set(shown)
    tasks = ("unmasking_", "judging_", "single_", "interview", "break", "consent_draw_")
    for other in (*tasks, "item_", "sound_", "slider_"):
        assert not [key for key in shown if key.startswith(other)]
    assert len(shown) < 0.35 * len(keys()), "of the words that all screens have"


def test_words_of_questions_are_those_of_the_kinds_that_are_asked(tmp_path: Path) -> None:
    study = put_beside(tmp_path) / "mine.yaml"
    study.write_text(asset("studies/quickstart.yaml").read_text("utf-8"), "utf-8")
    sheet = "id: seq\nversion: 1\nsource: ours\ntitle: Asked\nitems:\n  - {id: a, %s}\n"
    file = tmp_path / "instruments" / "seq.yaml"
    file.write_text(sheet % "kind: number, text: N", "utf-8")
    shown = set(words.list_shown_words(load(study), WORDS))
    assert {"item_number", "item_unread", "item_from_to"} <= shown
    assert not {"item_date", "item_search", "item_drawing_how", "item_check_right"} & shown
    check = "kind: slider, required: true, text: N, check: {right: 3, attempts: 2}"
    file.write_text(sheet % check, "utf-8")
    shown = set(words.list_shown_words(load(study), WORDS))
    assert {"slider_unanswered", "item_check_again"} <= shown
    assert "item_number" not in shown


def test_every_word_of_the_tasks_is_shown_by_some_shipped_study() -> None:
    """None falls between two kinds of stages. No shipped study has a break or a
    survey, or asks for all uses."""
    studies = [load(path.stem) for path in loading.list_shipped()]
    shown = {key for study in studies for key in words.list_shown_words(study, WORDS)}
    assert [
        key
        for key in keys()
        if key not in shown
        and not key.startswith(("consent_", "break", "survey", "item_", "sound_"))
    ] == []


def test_words_of_other_studies_are_not_missed(tmp_path: Path) -> None:
    study = put_beside(tmp_path) / "mine.yaml"
    text = (
        asset("studies/quickstart.yaml").read_text("utf-8").replace("language: en", "language: fr")
    )
    study.write_text(f"{text}\nfallback_language: en\n", "utf-8")
    shutil.copytree(tmp_path / "texts/en", tmp_path / "texts/fr")
    file = tmp_path / "texts/fr/participant.yaml"
    english = words.read_shipped_words(WORDS, "en")
    shown = words.list_shown_words(load("quickstart"), WORDS)
    values = {key: sorted(words.fields_of(english[key])) for key in shown}
    rows = [f"{key}: '{key} {' '.join(f'{{{v}}}' for v in values[key])}'" for key in shown]
    file.write_text("\n".join(rows), "utf-8")
    loaded = load(study)
    assert list(words.mistakes(loaded)) == []
    assert words.in_fallback(loaded) == {}
    assert words.words_of(loaded).keys() == english.keys()
