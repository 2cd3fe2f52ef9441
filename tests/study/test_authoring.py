"""Studies of one's own: made of others, completed by editors, and noticed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import jsonschema
import pytest
import yaml
from jsonschema.protocols import Validator
from pydantic import BaseModel
from typer.testing import CliRunner

from labapp.analysis import load
from labapp.analysis.analyze import report
from labapp.base import resources
from labapp.base.descriptions import keys, summary
from labapp.base.documents import models_in
from labapp.base.errors import LabappError, StudyError, TargetExists, UsageError
from labapp.cli.main import app
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import loading
from labapp.study.authoring import DOCUMENTS, as_text, new_study, schema_of, texts_to_read
from labapp.study.examining import UNTRANSLATED
from labapp.study.overview import check, check_all, notices
from labapp.study.plan import Plan
from labapp.study.plugins.texts import pages as pages_of
from labapp.study.words import lacking
from labapp.ui.strings import strings_of
from tests.study.test_refusals import GOOD, refused
from tests.study.test_refusals import write_refusals as write

HINTS = Path(__file__).parents[2] / "examples/hint-study/hint-study.yaml"
SHIPPED = [path.stem for path in loading.list_shipped()]


@pytest.mark.parametrize("source", SHIPPED)
def test_of_every_shipped_study_one_of_ones_own_is_made(tmp_path: Path, source: str) -> None:
    folder = tmp_path / "own"
    path, written = new_study("my-own", source, folder)
    assert path == folder / "my-own.yaml"
    loaded = check(path)
    assert loaded.study.id == "my-own"
    assert notices(loaded) == []
    own = loading.load(source).study
    assert loaded.study.replicates is None
    assert loaded.study.summary is None or loaded.study.summary != own.summary
    assert loaded.study.flow == own.flow
    assert loaded.study.assignment == own.assignment
    assert {file for file in written if file.suffix == ".md"} == {
        folder / name for name in loaded.files if name.endswith(".md")
    }
    for name in texts_to_read(loading.load(source)):
        own_text = (folder / name).read_text("utf-8")
        assert own_text.startswith(f"<!-- Written for {source}: change")
        assert pages_of(own_text) == pages_of(own_text.split("\n", 1)[1])
    text = path.read_text("utf-8")
    of_the_original = [
        line.split("#", 1)[1].strip()
        for line in loading.load(source).path.read_text("utf-8").splitlines()
        if re.search(r"(^|\s)#\s", line)
    ]
    assert [line for line in of_the_original if len(line) > 8 and line in text] == []
    head = " ".join(line.lstrip("# ") for line in text.split("\n\n")[0].splitlines())
    assert [name for name in loaded.files if name.endswith(".md") and name not in head] == []
    schema = json.loads((folder / re.findall(r"\$schema=(\S+)", text)[0]).read_text("utf-8"))
    jsonschema.validate(json.loads(json.dumps(yaml.safe_load(text))), schema)
    for instrument in loaded.instruments:
        file = folder / "instruments" / f"{instrument}.yaml"
        assert (file.parent / file.read_text("utf-8").split("$schema=")[1].split()[0]).is_file()


@pytest.mark.parametrize("language", [None, "de"])
@pytest.mark.parametrize("own_words", [False, True])
def test_a_study_of_ones_own_in_several_languages_is_copied_with_all_of_them(
    tmp_path: Path, language: str | None, own_words: bool
) -> None:
    shutil.copytree(HINTS.parent, tmp_path / "hints")
    source, texts = tmp_path / "hints" / HINTS.name, tmp_path / "hints/texts"
    if own_words:
        words = 'words: ["texts/{language}/participant.yaml"]\n'
        source.write_text(words + source.read_text("utf-8"), "utf-8")
        for each in ("en", "de"):
            shutil.copy(resources.assets() / f"texts/{each}/participant.yaml", texts / each)
    path, _ = new_study("my-own", source, tmp_path / "own", language)
    loaded = check(path)
    assert loaded.study.languages == ("en", "de")
    assert loaded.study.flow == check(source).study.flow
    copied = [*path.parent.glob("texts/*/participant.yaml")]
    assert len(copied) == (2 if own_words else 0)
    with pytest.raises(UsageError, match="en and de, so its copy cannot be in fr"):
        new_study("my-own", source, tmp_path / "fr", "fr")


def test_of_a_study_in_the_old_form_models_stay_on_one_line(tmp_path: Path) -> None:
    path, _ = new_study("my-own", "quickstart", tmp_path)
    assert "      models: [sinelines/gt, sinelines/vae, sinelines/ae]\n" in path.read_text("utf-8")


def test_what_a_key_says_stands_above_it_once(tmp_path: Path) -> None:
    path, _ = new_study("my-own", "quickstart", tmp_path)
    lines = path.read_text("utf-8").splitlines()
    for key in ("id", "language", "flow", "      trials", "      skip", "  - consent"):
        (at,) = [n for n, line in enumerate(lines) if line.startswith(f"{key}:")]
        assert lines[at - 1].lstrip().startswith("# ")
    said = path.read_text("utf-8")
    for key in ("design", "exclude", "analysis", "hypotheses", "incentive", "inclusion"):
        assert f"\n# {key}: " in said, "what it does not say yet"


def test_a_copied_questionnaire_says_what_it_could_say_besides(tmp_path: Path) -> None:
    new_study("my-own", "quickstart", tmp_path)
    said = (tmp_path / "instruments" / "seq.yaml").read_text("utf-8")
    for key in ("only_if: {", "check: 2", "scale: {points: 7", "per_page: 6"):
        assert f"\n# {key}" in said
    assert "# text:" not in said, "it says that"


def test_what_stands_behind_a_hash_can_be_said(tmp_path: Path) -> None:
    path, _ = new_study("my-own", "quickstart", tmp_path)
    text = path.read_text("utf-8")
    rest = dict(re.findall(r"(?m)^# (\w+): (.*)$", text))
    for key in ("recording", "inclusion", "missing", "exclude", "when_interrupted", "design"):
        if key not in rest:
            continue
        changed = text.replace("order: counterbalanced", "think_aloud: true")
        path.write_text(changed.replace(f"# {key}: ", f"{key}: "), "utf-8")
        errors = [str(error) for error in check_all(path).errors]
        assert not errors or (key == "design" and "hint" in errors[0]), errors


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    _, written = new_study("my-own", "quickstart", tmp_path)
    before = {file: file.read_bytes() for file in written}
    with pytest.raises(TargetExists, match="nothing is overwritten"):
        new_study("my-own", "likert" if "likert" in SHIPPED else "mnist-crowd", tmp_path)
    assert {file: file.read_bytes() for file in written} == before


@pytest.mark.parametrize("name", ["My Study", "a/b", "..", "", "con"])
def test_a_name_that_no_study_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LabappError):
        new_study(name, "quickstart", tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_a_study_with_mistakes_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("id: bad\ntitle: Bad\nversion: 1\nflow: []\n", "utf-8")
    with pytest.raises(StudyError, match="at least 1 item"):
        new_study("my-own", tmp_path / "bad.yaml", tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_a_study_in_a_language_that_the_program_lacks(tmp_path: Path) -> None:
    path, written = new_study("ici", "quickstart", tmp_path, "fr")
    assert tmp_path / "texts" / "fr" / "participant.yaml" in written
    loaded = check(path)
    assert (loaded.study.language, loaded.study.fallback_language) == ("fr", "en")
    (notice,) = notices(loaded)
    assert "texts/fr/consent.md" in notice
    assert strings_of(loaded)("back"), "English stands in"
    _, rows = lacking(path)
    assert {row.name for row in rows} >= {"instruments/seq.yaml", "texts/fr/participant.yaml"}
    # Translated bit by bit, it lacks less and less.
    consent = tmp_path / "texts" / "fr" / "consent.md"
    assert consent.read_text("utf-8").startswith(UNTRANSLATED)
    consent.write_text("# Accord\n\nVous pouvez arrêter.\n", "utf-8")
    words = tmp_path / "texts" / "fr" / "participant.yaml"
    words.write_text(words.read_text("utf-8").replace('# back: "Back"', 'back: "Retour"'), "utf-8")
    seq = tmp_path / "instruments" / "seq.yaml"
    seq.write_text(re.sub(r"\ben:", "fr:", seq.read_text("utf-8")), "utf-8")
    _, after = lacking(path)
    assert {row.name for row in rows} - {row.name for row in after} == {
        "instruments/seq.yaml",
        "texts/fr/consent.md",
    }
    strings = strings_of(check(path))
    assert strings("back") == "Retour"
    assert strings("stage_of", number=1, of=2) == "Stage 1 of 2"


def test_what_the_moderator_says_and_marks_is_translated_too(tmp_path: Path) -> None:
    path, _ = new_study("ici", "quickstart", tmp_path / "fr", "fr")
    (row,) = (row for row in lacking(path)[1] if row.path == path)
    assert "recording.prompts: Please keep talking; flags: insight, prompt" in row.what
    text = path.read_text("utf-8").replace("Please keep talking", "Continuez à parler")
    path.write_text(re.sub(r"(?m)^flags: .*", "flags: {1: idée}", text), "utf-8")
    assert [row for row in lacking(path)[1] if row.path == path] == []
    # Nobody translates what labapp has words for.
    german, _ = new_study("hier", "quickstart", tmp_path / "de", "de")
    assert lacking(german)[1] == []
    study = loading.load(german).study
    assert study.recording.prompts == ("Bitte sprechen Sie weiter",)
    assert study.flags[1] == "Einsicht"


def test_without_a_fallback_what_is_not_translated_is_refused(tmp_path: Path) -> None:
    path, _ = new_study("ici", "quickstart", tmp_path, "fr")
    path.write_text(path.read_text("utf-8").replace("fallback_language: en\n", "", 1), "utf-8")
    said = [str(error) for error in check_all(path).errors]
    assert any("consent.md, line 1: it is not translated yet" in text for text in said)
    assert not any(str(loading.asset_roots()[0]) in text for text in said), "not the program's own"


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(app, ["studies", "new", "mine"])
    assert made.exit_code == 0
    assert "labapp studies check mine/mine.yaml" in made.stdout
    assert CliRunner().invoke(app, ["studies", "check", "mine/mine.yaml"]).exit_code == 0
    told = CliRunner().invoke(
        app, ["studies", "texts", "mine/mine.yaml", "--missing", "--language", "fr", "--write"]
    )
    assert told.exit_code == 0, told.exception
    assert "texts/fr/consent.md lacks the text" in told.stdout
    assert (tmp_path / "mine/texts/fr/participant.yaml").is_file()
    rows = CliRunner().invoke(app, ["studies", "texts", "mine/mine.yaml", "--json"])
    assert json.loads(rows.stdout) == []
    refused = CliRunner().invoke(
        app, ["studies", "texts", "quickstart", "--language", "fr", "--write"]
    )
    assert isinstance(refused.exception, UsageError), "the program's own folder is left alone"


def test_a_new_study_can_be_simulated(tmp_path: Path) -> None:
    path, _ = new_study("mine", "gradcam-distinction", tmp_path / "own", "fr")
    done = CliRunner().invoke(
        app, ["simulate", str(path), "--participants", "1", "--out", str(tmp_path / "data")]
    )
    assert done.exit_code == 0, done.exception


@pytest.mark.parametrize("translated", [0, 1, 1000])
def test_sessions_in_a_language_that_is_half_translated_are_recorded_read_and_exported(
    tmp_path: Path, translated: int
) -> None:
    """A session goes by its own copy of the study, which says less than the program's files."""
    path, _ = new_study("ici", "quickstart", tmp_path / "ici", "fr")
    words = tmp_path / "ici" / "texts" / "fr" / "participant.yaml"
    text = words.read_text("utf-8")
    if translated:
        words.write_text(re.sub(r"(?m)^# (?=\w+: )", "", text, count=translated), "utf-8")
    told = " ".join(notices(check(path)))
    assert ("participant.yaml" in told) is (translated < 1000)
    simulate_study(str(path), 1, "understanding", tmp_path / "data")
    (session,) = (tmp_path / "data" / "ici").glob("sub-*")
    strings = strings_of(loading.load(session / "study" / "ici.yaml"), begun=True)
    assert strings("stage_of", number=1, of=2) == "Stage 1 of 2"
    made = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
    page = report(load([tmp_path / "data"]), made)
    assert "Completion rate" in page
    export([session], tmp_path / "bundle")
    assert verify(tmp_path / "bundle").ok
    assert report(load([tmp_path / "bundle"]), made) == page


def test_a_text_that_is_nowhere_is_asked_for_in_the_studys_language(tmp_path: Path) -> None:
    path, _ = new_study("ici", "quickstart", tmp_path, "fr")
    last = "  - debrief:"
    added = f"  - text: texts/{{language}}/new.md\n{last}"
    path.write_text(path.read_text("utf-8").replace(last, added), "utf-8")
    told = [str(error) for error in check_all(path).errors]
    assert ["texts/fr/new.md" in text and "texts/en" not in text for text in told] == [True], told


FILES = {
    "study": "studies/*.yaml",
    "instrument": "instruments/*.yaml",
    "stimuli": "stimuli/*/manifest.json",
    "codebook": "codebooks/*.yaml",
}

CASES = [
    pytest.param(document, path, id=f"{document}-{path.parent.name}-{path.stem}")
    for document, pattern in FILES.items()
    for path in sorted(resources.assets().glob(pattern))
]


def value_of(text: str) -> object:
    """As an editor's language server has it: all keys are texts, and `on` is a word."""
    text = re.sub(r"\bon: ", '"on": ', text)
    return json.loads(json.dumps(yaml.load(text, yaml.CSafeLoader)))


def every_model() -> Iterator[type[BaseModel]]:
    """Every model of what a lab writes, each once."""
    waiting, seen = list(DOCUMENTS.values()), set()
    while waiting:
        model = waiting.pop()
        if model not in seen:
            seen.add(model)
            yield model
            for field in model.model_fields.values():
                waiting += models_in(field.annotation, field.metadata)


@cache
def validator_of(document: str) -> Validator:
    schema = schema_of(document)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize(("document", "path"), CASES)
def test_what_is_shipped_fits_its_schema(document: str, path: Path) -> None:
    validator_of(document).validate(value_of(path.read_text("utf-8")))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_shipped_file_is_what_the_models_say(document: str) -> None:
    file = resources.assets() / "schemas" / f"{document}.json"
    command = {
        "study": "studies schema",
        "instrument": "studies schema --instrument",
        "stimuli": "stimuli schema",
        "codebook": "code schema",
    }[document]
    written = file.relative_to(resources.assets().parent)
    assert file.read_text("utf-8") == as_text(document), f"labapp {command} > {written}"


def test_every_key_is_described() -> None:
    models = list(every_model())
    assert len(models) > 40
    lacking = [
        f"{model.__name__}.{key}"
        for model in models
        for key, description in keys(model).items()
        if not description.strip()
    ]
    assert not lacking
    assert not [model.__name__ for model in models if not summary(model)]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_an_editor_sees_the_description_of_every_key(document: str) -> None:
    schema = schema_of(document)
    objects = [schema, *schema["$defs"].values()]
    lacking = [
        f"{value.get('title')}.{key}"
        for value in objects
        for key, told in value.get("properties", {}).items()
        if not told.get("description")
    ]
    assert not lacking


@pytest.mark.parametrize(
    "mistake",
    [
        ("title: My study", "titel: My study"),
        ("trials: 3", "trials: many"),
        ("task: reconstruction", "task: guessing"),
        ("[seq]", "seq"),
        ("version: 1", "version: 1\ndesign: {order: wiliams}"),
    ],
)
def test_an_editor_underlines_what_the_program_refuses(mistake: tuple[str, str]) -> None:
    study = validator_of("study")
    study.validate(value_of(GOOD))
    with pytest.raises(jsonschema.ValidationError):
        study.validate(value_of(GOOD.replace(*mistake)))


def test_a_contrast_names_its_factors_beside_its_name() -> None:
    contrast = '{name: a, model: {sinelines/gt: 1, sinelines/ae: "-1/1"}}'
    study = GOOD.replace("version: 1", f"version: 1\nanalysis: {{contrasts: [{contrast}]}}")
    validator_of("study").validate(value_of(study))


@pytest.mark.parametrize("path", loading.list_installed(), ids=lambda path: path.stem)
def test_every_shipped_study_has_the_title_that_it_has_when_it_is_loaded(path: Path) -> None:
    assert loading.title_of(path) == loading.load(path).study.title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("flow: [{title: inner}]\nsettings: {title: also}\ntitle: 'Mine: 2'\n", "Mine: 2"),
        ("id: title\nversion: 1\n", ""),
        ("title: Mine\nflow: [\n", "Mine"),
        ("title: [1, 2]\n", ""),
        ("- title: Mine\n", ""),
        ("\t: ]", ""),
        ("", ""),
    ],
)
def test_it_is_the_title_of_the_file_itself(tmp_path: Path, text: str, title: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert loading.title_of(path) == title
    assert loading.title_of(tmp_path / "none.yaml") == ""


def told(study: str | Path) -> list[str]:
    return notices(check(study))


def test_a_name_that_nothing_fills_in_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thanks.md").write_text("Thanks.\n\n{nmae}, twice {nmae}!", "utf-8")
    said = refused(tmp_path, GOOD.replace("texts/{language}/debrief.md", "thanks.md"))
    assert "thanks.md, line 3, {nmae}: nothing is filled in for it in the part 'debrief'" in said


@pytest.mark.parametrize(("solved", "nobody"), [(3, False), (6, False), (7, True)])
def test_more_to_be_solved_than_is_asked_is_refused(
    tmp_path: Path, solved: int, nobody: bool
) -> None:
    text = GOOD.replace("version: 1", f"version: 1\ninclusion: {{min_solved: {solved}}}")
    if not nobody:
        assert told(write(tmp_path, text)) == []
        return
    said = refused(tmp_path, text)
    assert f"line 4, inclusion.min_solved: nobody would count: it is {solved}" in said


@pytest.mark.parametrize(("study", "notice"), [("mnist-crowd", False), ("mnist-crwod", True)])
def test_a_published_study_that_is_not_known_is_told(
    tmp_path: Path, study: str, notice: bool
) -> None:
    repeated = f'version: 1\nreplicates: {{paper: "000", study: {study}, run: crowd}}'
    lines = told(write(tmp_path, GOOD.replace("version: 1", repeated)))
    assert [f"labapp does not know {study} (000)" in line for line in lines] == (
        [True] if notice else []
    )


@pytest.mark.parametrize(
    ("stages", "rules"),
    [
        ("models: [sinelines/gt, sinelines/vae]", []),
        ("models: [sinelines/gt, mnist8k/ae5]", ["sinelines: sinelines/gt", ": mnist8k/ae5"]),
        ("models: [sinelines/gt, mnist8k/ae5], distance: mse", []),
    ],
)
def test_models_whose_questions_are_solved_by_different_rules_are_told(
    tmp_path: Path, stages: str, rules: list[str]
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "id: own\ntitle: Own\nversion: 1\nunnamed_texts: shipped\nflow:\n"
        f"- stages: {{task: reconstruction, {stages}, trials: 1, target_alignment: 0.9}}\n"
    )
    plans: list[Plan] = []
    told = [line for line in notices(check(path, plans=plans), plans) if "different rules" in line]
    assert len(told) == bool(rules)
    assert [rule in line for line in told for rule in rules] == [True] * len(rules)
