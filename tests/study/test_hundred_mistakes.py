"""A hundred mistakes of an author, in all files that an author writes: each is the only complaint,
at its file and line, with the cause and what would be allowed; several are reported at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from labapp.analysis import checking
from labapp.base import resources
from labapp.base.errors import AnnotationError, StimuliError, faults_of
from labapp.base.reading import tables
from labapp.coding.annotations.codebook import codebook_from
from labapp.models.stimuli.library import parse
from labapp.session.gate import look_at
from tests.helpers.beside import put_beside
from tests.helpers.mistakes import EASE, FILES
from tests.study.test_refusals import DESIGNED

STUDY = (
    DESIGNED.replace(
        "flow:\n",
        "exclude:\n  slow: {completion_rate_below: 0.2}\n  odd: {item: clear, below: 3}\n"
        "  low: {score: ease, below: 3}\n  fails: {failed_checks_above: 0}\nflow:\n",
        1,
    )
    .replace("analysis:\n", "analysis:\n  outcomes: {primary: [completion_rate, ease]}\n")
    .replace("within: [model]", "within: [model]\n  measured: [before, clear]")
)
"""With rules, covariates and outcomes that depend on the stages and on both questionnaires."""
CHECKED = EASE.replace("high: very}\n", "high: very, check: 3}\n", 1).replace(
    "easy, clear]", "clear]"
)
CODEBOOK = """\
codebook: talk
version: 1
tiers:
  kind: {title: Kind}
  moments: {on: spans}
codes:
  - {id: guess, tier: kind, name: Guess, key: g}
  - {id: doubt, tier: kind, name: Doubt, key: d}
  - {id: click, tier: moments, name: Click, kind: point}
"""
STUDY_, EASE_, PEOPLE_ = "mine.yaml", "instruments/ease.yaml", "instruments/people.yaml"
NO_BREAK = "there is a no-break space (U+00A0), which YAML does not treat as a space"


@dataclass(frozen=True)
class Mistake:
    """What is replaced by what in a file, and what is then said of which line."""

    file: str
    old: str
    new: str
    line: int
    said: str

    def __str__(self) -> str:
        return f"{self.file}: {self.new.strip()[:30]}"


def of_study(old: str, new: str, line: int, said: str) -> Mistake:
    return Mistake(STUDY_, old, new, line, said)


OF_STUDIES = [
    # what could not be read is no reason for a second complaint
    of_study("trials: 3", "trials: -2", 32, "flow[4].stages.trials: found -2; allowed: greater"),
    of_study("trials: 3", "trials: three", 32, "trials: found 'three'; allowed: a whole number"),
    of_study("trials: 3", "trials:", 32, "trials: found nothing; allowed: a whole number"),
    of_study("trials: 3", "trials: 2.5", 32, "trials: found 2.5; allowed: a whole number"),
    of_study("trials: 3", "trials: 3%", 32, "found '3%'; allowed: a whole number, and nothing"),
    of_study("task: recons", "task: recns", 30, "'recnstruction' (did you mean 'reconstruction'?)"),
    of_study("task: recons", "tsk: recons", 30, "tsk: unknown key 'tsk' (did you mean 'task'?)"),
    of_study("task: recons", "what: recons", 29, "stages.task: missing; it is required"),
    of_study(
        "[sinelines/gt, sinelines/ae]", "[]", 31, "models: found []; allowed: at least 1 item"
    ),
    of_study(
        "models: [", "modls: [", 31, "unknown key 'modls' for reconstruction (did you mean 'mo"
    ),
    of_study(
        "  - stages:", "  - stagse:", 29, "found 'stagse' (did you mean 'stages'?); allowed: one"
    ),
    of_study("- questionnaire:", "- questionaire:", 36, "did you mean 'questionnaire'?"),
    of_study("after: [ease]", "aftr: [ease]", 35, "unknown key 'aftr'"),
    of_study("after: [ease]", "after: ease", 35, "after: found 'ease'; allowed: a list"),
    of_study("flow:\n", "flw:\n", 23, "flw: unknown key 'flw' (did you mean 'flow'?)"),
    of_study("design:", "desgn:", 7, "desgn: unknown key 'desgn' (did you mean 'design'?)"),
    of_study(
        "within: [m", "wthin: [m", 9, "design.wthin: unknown key 'wthin' (did you mean 'within'?)"
    ),
    of_study(
        '["with", "without"]}',
        '["with", "without"], colour: [red, blue]}',
        8,
        "between.colour: nothing in the session depends on colour: no `only_if` names it",
    ),
    of_study(
        "version: 1",
        "version: 1\nrelated: [quickstrat]",
        4,
        "related[0]: there is no study 'quickstrat' here (did you mean 'quickstart'?)",
    ),
    of_study("between:", "betwen:", 8, "unknown key 'betwen' (did you mean 'between'?)"),
    of_study("analysis:", "anlysis:", 11, "unknown key 'anlysis' (did you mean 'analysis'?)"),
    of_study(
        "hypotheses:", "hypothses:", 15, "unknown key 'hypothses' (did you mean 'hypotheses'?)"
    ),
    of_study("title: My", "titel: My", 2, "titel: unknown key 'titel' (did you mean 'title'?)"),
    of_study("outcome: c", "outcom: c", 16, "hypotheses[0].outcom: unknown key 'outcom'"),
    of_study("only_if: {", "onlyif: {", 26, "unknown key 'onlyif'"),
    # values
    of_study(
        '["with", "without"]', '["with"]', 8, "between.hint: found ['with']; allowed: at least 2"
    ),
    of_study(
        '["with", "without"]', '"with"', 8, "design.between.hint: found 'with'; allowed: a list"
    ),
    of_study('["with", "without"]', '["with", no]', 8, "a text in quotes"),
    of_study(
        "at_least_s: 5", "at_least_s: 1,5", 38, "found '1,5'; allowed: a number, with a point as in"
    ),
    of_study(
        "at_least_s: 5", "at_least_s: 5 s", 38, "found '5 s'; allowed: a number, and nothing else"
    ),
    of_study("raw: 0.1", "raw: 0,1", 14, "raw: found 0,1; allowed: a number with a point"),
    of_study("raw: 0.1", "raw: -1", 14, "completion_rate.raw: found -1; allowed: greater than 0"),
    of_study("raw: 0.1", "raw: 15", 14, "completion_rate ranges from 0 to 1"),
    of_study(
        "direction: greater", "direction: more", 16, "found 'more'; allowed: 'greater', 'less'"
    ),
    of_study(
        "skip: always",
        "skip: allways",
        33,
        "found 'allways'; allowed: 'after', 'always' or 'never'",
    ),
    of_study(
        "version: 1",
        "version: 1\nminutes: 0",
        4,
        "minutes: found 0; allowed: greater than or equal",
    ),
    of_study("version: 1", "version: 1\nseed: x", 4, "seed: found 'x'; allowed: a whole number"),
    of_study(
        "version: 1", "version: 1\nrelated: mine", 4, "related: found 'mine'; allowed: a list"
    ),
    of_study(
        "audio: optional",
        "audio: optional, prompts: []",
        6,
        "prompts: found []; allowed: at least 1",
    ),
    of_study("{audio: optional", "{audoi: optional", 6, "recording.audoi: unknown key 'audoi'"),
    # labels
    of_study("analysis:\n", "labels: {hnt: Hint}\nanalysis:\n", 11, "(did you mean 'hint'?)"),
    of_study(
        "analysis:\n",
        "labels: {completion_rat: Solved}\nanalysis:\n",
        11,
        "labels.completion_rat: 'completion_rat' is not a factor, level, model, outcome",
    ),
    of_study(
        "analysis:\n",
        'labels: {"with": Hint, hint: Hint}\nanalysis:\n',
        11,
        "labels.hint: 'Hint' is already the label of with",
    ),
    of_study(
        "analysis:\n",
        "labels: {hint: ''}\nanalysis:\n",
        11,
        "allowed: a text of at least one character",
    ),
    of_study("analysis:\n", "labels: [hint]\nanalysis:\n", 11, "labels: found ['hint']; allowed"),
    of_study("analysis:\n", "label: {hint: H}\nanalysis:\n", 11, "did you mean 'labels'?"),
    # languages
    of_study("language: en", "languages: [en]", 4, "at least two languages"),
    of_study("language: en", "languages: [en, de, de]", 4, "found 'de' again"),
    of_study("language: en", "languages: en", 4, "found 'en'; allowed: a list"),
    of_study("language: en", "languages: [en, deutsch]", 4, "a language like 'en'"),
    of_study("version: 1", "version: 1\nlangauges: [en, de]", 4, "did you mean 'languages'?"),
    # several smallest effects of an outcome
    of_study(
        "{contrast: first, raw: 0.1}",
        "[{contrast: first, raw: 0.1}, {contrast: first, raw: 0.2}]",
        14,
        "smallest_effect.completion_rate[1].contrast: found 'first' again",
    ),
    of_study(
        "{contrast: first, raw: 0.1}",
        "[{contrast: first, raw: 0.1}, {contrast: last, raw: 0.2}]",
        14,
        "smallest_effect.completion_rate[1].contrast: there is no contrast 'last'",
    ),
    of_study(
        "{contrast: first, raw: 0.1}",
        "[{contrast: first, raw: 15}]",
        14,
        "smallest_effect.completion_rate[0].raw: completion_rate ranges from 0 to 1",
    ),
    of_study(
        "{contrast: first, raw: 0.1}",
        "[{contrast: first, rw: 0.1}]",
        14,
        "smallest_effect.completion_rate[0].rw: unknown key 'rw' (did you mean 'raw'?)",
    ),
    of_study("{contrast: first, raw: 0.1}", "[]", 14, "allowed: at least 1 item"),
    # names
    of_study(
        "contrast: first, raw",
        "contrast: frist, raw",
        14,
        "there is no contrast 'frist'; there are: ",
    ),
    of_study("outcome: c", "outcome: xc", 16, "'xcompletion_rate' is not a number in a table,"),
    of_study(
        "outcome: completion_rate",
        "outcome: response_time_s",
        16,
        "'response_time_s' is not among the outcomes that are analysed: completion_rate, ease",
    ),
    of_study(
        "analysis:\n",
        "analysis:\n  transform: {completion_rate: log}\n",
        12,
        "completion_rate ranges from 0 to 1, but only values above 0 have a log",
    ),
    of_study(
        "analysis:\n",
        "analysis:\n  transform: {ease: logit}\n",
        12,
        "ease ranges from 1 to 7, but only values from 0 to 1 have a logit",
    ),
    of_study(
        "[before, clear]", "[before, celar]", 10, "has an item or a score 'celar'; there are: "
    ),
    of_study(
        "{item: clear", "{item: nope", 20, "exclude.odd.item: no questionnaire in the flow has an"
    ),
    of_study(
        "{score: ease", "{score: eas", 21, "exclude.low.score: no questionnaire in the flow has a"
    ),
    of_study(
        "below: 3}\n  low", "below: 9}\n  low", 20, "everybody would fail: clear ranges from 1 to 7"
    ),
    of_study("sinelines/ae: -1", "sinelines/ea: -1", 13, "'sinelines/ea' is not a level of model"),
    of_study("sinelines/ae: -1", "sinelines/ae: -2", 13, "weights that add up to 0"),
    of_study(
        '{hint: "with"}', '{hnt: "with"}', 26, "there is no variable 'hnt' here; there are: hint"
    ),
    # where something stands
    of_study(
        "  - consent: own/consent.md\n",
        "  - text: own/rest.md\n  - consent: own/consent.md\n",
        25,
        "flow[1]: not possible here; allowed: consent once, as the first item",
    ),
    of_study(
        "  - debrief: own/debrief.md\n",
        "  - debrief: own/debrief.md\n  - text: own/rest.md\n",
        39,
        "flow[7]: not possible here; allowed: debrief once, as the last item",
    ),
    # YAML
    of_study("trials: 3", "trials:\u00a03", 32, NO_BREAK),
    of_study("title: My", "title:\u00a0My", 2, NO_BREAK),
    of_study("version: 1", "\u00a0version: 1", 3, NO_BREAK),
    of_study("trials: 3", "\u00a0trials: 3", 32, NO_BREAK),
    of_study("version: 1", "version:1", 3, "not readable as YAML (could not find expected ':')"),
    of_study("[before, clear]", "[before, clear", 10, "not readable as YAML (expected ',' or ']'"),
    of_study(
        "title: My study", "title: 'My study", 2, "not readable as YAML (found unexpected end"
    ),
    of_study("title: My study", "title: My: study", 2, "mapping values are not allowed here"),
    of_study("trials: 3", "trials: 3\n      trials: 4", 33, "the key 'trials' is given twice"),
    # files
    of_study("own/rest.md", r"own\rest.md", 37, r"'own\\rest.md' is a path with a backslash"),
    of_study("own/before.md", r'"own\before.md"', 34, "U+0008 is not allowed; in double quotes, a"),
    of_study("own/before.md", r'"own\now.md"', 34, r"'own\now.md' is a path with a backslash"),
    of_study("own/before.md", r'"own\consent.md"', 34, "found unknown escape character 'c'"),
    of_study("own/rest.md", r"C:\own\rest.md", 37, "points outside the study's folder"),
    of_study("own/rest.md", "own/{hint.md", 37, "a brace is missing in 'own/{hint.md'"),
    of_study("own/rest.md", "own/Rest.md", 37, "the file 'own/Rest.md' does not exist"),
]
OF_TEXTS = [
    Mistake(
        "own/rest.md", "a little", "a {hint little", 3, "{hint: the matching brace is missing: part"
    ),
    Mistake(
        "own/rest.md", "a little", "a hint} little", 3, "hint}: the matching brace is missing: part"
    ),
    Mistake(
        "own/before.md", "{stage}", "{stage", 1, "{stage: the matching brace is missing: participa"
    ),
    Mistake(
        "own/before.md", "{stage}", "{sateg}", 1, "{sateg}: nothing is filled in for it in the"
    ),
]
OF_QUESTIONNAIRES = [
    Mistake(
        EASE_,
        "points: 7, low",
        "points: seven, low",
        8,
        "items[0].points: found 'seven'; allowed: a",
    ),
    Mistake(
        EASE_,
        "points: 7, low",
        "pionts: 7, low",
        8,
        "unknown key 'pionts' for scale (did you mean 'p",
    ),
    Mistake(
        EASE_,
        "{id: easy, text",
        "{id: easy, kind: sclae, text",
        8,
        "'sclae' (did you mean 'scale'?)",
    ),
    Mistake(EASE_, "mean: [", "maen: [", 6, "unknown key 'maen' (did you mean 'mean'?)"),
    Mistake(
        EASE_,
        "mean: [clear]",
        "mean: []",
        6,
        "scores.ease: allowed: one of mean, sum, chosen, weigh",
    ),
    Mistake(EASE_, "mean: [clear]", "mean: [claer]", 6, "scores.ease: ease needs a rating 'claer'"),
    Mistake(
        EASE_, "check: 3}", "check: 9}", 8, "check: 9 is not an answer to it; it is one of: 1, 2, 3"
    ),
    Mistake(
        EASE_,
        "check: 3}",
        "check: 3, labels: [a, b]}",
        8,
        "allowed: 7 labels, one per point; there are",
    ),
    Mistake(
        EASE_,
        "check: 3}",
        "check: 3, only_if: {usd: often}}",
        8,
        "there is no item and no variable 'us",
    ),
    Mistake(EASE_, "scores:", "scorse:", 5, "unknown key 'scorse' (did you mean 'scores'?)"),
    Mistake(
        PEOPLE_,
        "kind: choice",
        "knd: choice",
        7,
        "unknown key 'knd' for scale (did you mean 'kind'?)",
    ),
    Mistake(
        PEOPLE_, "text: Somewhat", "txt: Somewhat", 11, "'txt' (did you mean 'text'?); allowed: "
    ),
    Mistake(PEOPLE_, "{id: some, text: Somewhat}", "{id: some}", 11, "options[0].text: missing"),
    Mistake(PEOPLE_, "kind: written", "kind: spoken", 13, "found 'spoken'; allowed: one of scale"),
    Mistake(
        PEOPLE_,
        "kind: written",
        "kind: slider, low: 9, high: 0",
        13,
        "items[1]: allowed: a low end below the high end",
    ),
]


def faults(folder: Path, *mistakes: Mistake) -> list[tuple[str, int, str]]:
    """File, line and words of every complaint about the study with these mistakes in it."""
    files = {**FILES, STUDY_: STUDY, EASE_: CHECKED}
    for mistake in mistakes:
        assert mistake.old in files[mistake.file], mistake
        files[mistake.file] = files[mistake.file].replace(mistake.old, mistake.new, 1)
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text, "utf-8")
    if not (folder / "texts").is_dir():
        put_beside(folder)
    told = look_at(folder / STUDY_).errors
    return [
        (f.file.removeprefix(f"{folder}/"), f.line, f"{f.key}: {f.what}")
        for error in told
        for f in faults_of(error)
    ]


def test_without_a_mistake_nothing_is_said(tmp_path: Path) -> None:
    assert faults(tmp_path) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mine")


@pytest.mark.parametrize("mistake", [*OF_STUDIES, *OF_TEXTS, *OF_QUESTIONNAIRES], ids=str)
def test_a_mistake_is_the_only_complaint(folder: Path, mistake: Mistake) -> None:
    told = faults(folder, mistake)
    assert [(file, line) for file, line, _ in told] == [(mistake.file, mistake.line)], told
    assert mistake.said in told[0][2]
    assert not {"Tuple", "Dictionary", "it here", "None"} & set(told[0][2].split())


TOGETHER = [
    "trials: -2",
    "wthin: [m",
    "  - stagse:",
    "at_least_s: 1,5",
    "titel: My",
    "a {hint",
    "pionts: 7",
]


@pytest.mark.parametrize("without", range(3))
def test_several_are_reported_at_once(folder: Path, without: int) -> None:
    every = [*OF_STUDIES, *OF_TEXTS, *OF_QUESTIONNAIRES]
    chosen = [m for m in every for start in TOGETHER if m.new.startswith(start)]
    chosen = [mistake for at, mistake in enumerate(chosen) if at % 3 != without]
    told = faults(folder, *chosen)
    assert sorted(place[:2] for place in told) == sorted((m.file, m.line) for m in chosen), told


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("version: 1", "version: one", 2, "version: found 'one'; allowed: a whole number"),
        ("id: guess", "id: Guess", 7, "codes[0].id: found 'Guess'; allowed: lower-case letters"),
        (
            "tier: kind, name: G",
            "tier: kinds, name: G",
            7,
            "no tier 'kinds'; allowed: kind, moments",
        ),
        (
            "key: d",
            "key: g",
            8,
            "codes[1].key: 'g' is already the key of 'guess' on this tier; allowed: a",
        ),
        ("key: g", "key: gg", 7, "codes[0].key: found 'gg'; allowed: a letter or a digit"),
        ("key: d", "parent: gess", 8, "codes[1].parent: there is no code 'gess'"),
        (
            "id: doubt",
            "id: guess",
            8,
            "there is a code 'guess' above, in line 7; allowed: a different id",
        ),
        ("name: Doubt", "nmae: Doubt", 8, "unknown key 'nmae' (did you mean 'name'?)"),
        ("on: spans", "on: span", 5, "tiers.moments.on: found 'span'; allowed: 'units' or 'spans'"),
        ("{title: Kind}", "{title: Kind, values: [0, 12]}", 4, "tiers.kind.values: found [0, 12]"),
        ("codes:", "codse:", 6, "unknown key 'codse' (did you mean 'codes'?)"),
        ("name: Guess", "name: Guess, colour: red", 7, "found 'red'; allowed: a colour in quotes"),
    ],
)
def test_a_mistake_in_a_codebook(old: str, new: str, line: int, said: str) -> None:
    with pytest.raises(AnnotationError) as caught:
        codebook_from(CODEBOOK.replace(old, new, 1).encode(), Path("talk.yaml"), "")
    (fault,) = caught.value.faults
    assert (fault.file, fault.line) == ("talk.yaml", line)
    assert said in f"{fault.key}: {fault.what}"


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("title",), "", "title: found ''; allowed: a text of at least one character"),
        (("titel",), "x", "titel: unknown key (did you mean 'title'?)"),
        (
            ("kind",),
            "face",
            "kind: found 'face'; allowed: 'heatmaps', 'prototypes', 'path', 'scores' or",
        ),
        (("classes", 0, "name"), 3, "classes[anger].name: found 3; allowed: a text"),
        (
            ("photos", 0, "set"),
            "one",
            "photos[anger-099].set: found 'one'; allowed: a whole number",
        ),
        (("photos",), [], "photos: found 0; at least 1 needed"),
    ],
)
def test_a_mistake_in_a_stimulus_set(place: Sequence[str | int], value: object, said: str) -> None:
    file = resources.assets() / "stimuli" / "faces-unmasking" / "manifest.json"
    manifest = json.loads(file.read_text("utf-8"))
    inner = manifest
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(StimuliError) as caught:
        parse(json.dumps(manifest).encode(), Path("manifest.json"))
    first, *others = caught.value.what.splitlines()
    assert first == "manifest.json is not a valid manifest (1 fault):"
    assert len(others) == 1
    assert said in others[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,2,3\n", "line 2"),
        ('a,b\n1,"2\n', "line 2"),
        ("", "it is empty"),
    ],
)
def test_a_mistake_in_a_table(content: str, said: str) -> None:
    with pytest.raises(tables.TableError) as caught:
        list(tables.read(content.encode()).rows)
    assert said in str(caught.value)


def test_a_factor_by_which_the_moderator_acts_is_in_order(tmp_path: Path) -> None:
    new = '["with", "without"], colour: [red, blue]}\n  by_moderator: [colour]'
    assert faults(tmp_path, of_study('["with", "without"]}', new, 0, "")) == []
    (told,) = faults(tmp_path, of_study('["with", "without"]}', new.replace("[colo", "[co"), 0, ""))
    assert "`by_moderator`; 'cour' is not one of them" in told[2]


@pytest.mark.parametrize(
    ("transform", "said"),
    [
        ("logit", ["completion_rate can be 0 or 1, which has no logit"]),
        ("sqrt", []),
    ],
)
def test_values_without_a_logit_are_told_before_there_are_any(
    tmp_path: Path, transform: str, said: list[str]
) -> None:
    new = f"analysis:\n  transform: {{completion_rate: {transform}}}\n"
    assert faults(tmp_path, of_study("analysis:\n", new, 0, "")) == []
    loaded = look_at(tmp_path / STUDY_).loaded
    assert loaded is not None
    told = checking.notices(loaded)
    assert [line.split(": ", 1)[1].split(". ")[0] for line in told] == said


def test_there_are_a_hundred() -> None:
    assert len({*OF_STUDIES, *OF_TEXTS, *OF_QUESTIONNAIRES}) + 12 + 6 + 3 + 2 >= 100
