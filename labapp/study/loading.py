"""Reading a study file and everything it names, with errors a lab member can act on."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml
from pydantic import ValidationError

from labapp import discovery, resources
from labapp.documents import LARGEST, Located, dotted, parse_yaml, refusal
from labapp.errors import StudyError
from labapp.plugins import registry
from labapp.plugins.item import Item
from labapp.plugins.texts import pages
from labapp.reading import files as reading
from labapp.study import allocation, conditions
from labapp.study.conditions import Scope
from labapp.study.design import Place, contradictions
from labapp.study.design_checks import design_faults, values_at
from labapp.study.flow import items_of, items_of_tasks, placed_items, unroll
from labapp.study.instruments import Instrument
from labapp.study.instruments.files import QUESTIONNAIRES
from labapp.study.schema import Study

WORDS = "texts/{language}/participant.yaml"
"""The words of the participant's window; a language is known where they are."""


@dataclass(frozen=True)
class LoadedStudy:
    """A checked study with the files it names.

    files: relative name -> content, the study file itself among them; sha256: hash over all of
    them, so that a changed consent text is another study.
    """

    study: Study
    path: Path
    files: Mapping[str, bytes]
    instruments: Mapping[str, Instrument]
    sha256: str

    def text(self, name: str) -> str:
        """A text by its name in the study file; `{language}` is filled in.

        Raises StudyError for a text that no part of the study shows.
        """
        name = in_language(name, self.study.language)
        if name not in self.files:
            raise StudyError(
                f"{self.path}: the text {name} is shown, and nothing in the study names it.",
                todo="Let the task whose part shows it give its name in `texts` of its items or "
                "stages.",
            )
        return decoded(self.files[name])

    @cached_property
    def words(self) -> dict[str, str]:
        """The words of the participant's window by key, as they are in their files."""
        words: dict[str, str] = {}
        for template in word_files(self.study):
            name = in_language(template, self.study.language)
            value = parse_yaml(self.path.parent / name, self.files[name]).value
            words |= value if isinstance(value, dict) else {}
        return words


def word_files(study: Study) -> tuple[str, ...]:
    """The files of words for the screens of a study, with `{language}` in their names: the one of
    all screens, and those of its tasks that bring one."""
    brought = (registry.task_type_of_item(item).words for item in items_of_tasks(study.flow))
    return (WORDS, *dict.fromkeys(filter(None, brought)))


def decoded(content: bytes) -> str:
    """A text file as text; some editors put a byte order mark in front, which is no part of it."""
    return content.decode("utf-8-sig")


def in_language(name: str, language: str) -> str:
    """The name of a text with `{language}` filled in; other braces stay as they are."""
    return name.replace("{language}", language)


def asset(name: str) -> Path:
    """A study, instrument or text by its name in `assets`: the shipped one or, where there is none,
    that of a package which adds to labapp. The file need not be there."""
    shipped = resources.assets() / name
    if reading.exists(shipped):
        return shipped
    folder, _, file = name.partition("/")
    if folder == "instruments" and (known := QUESTIONNAIRES.get(file.removesuffix(".yaml"))):
        return known.file
    brought = (root / name for root in discovery.asset_folders())
    return next((path for path in brought if reading.exists(path)), shipped)


def asset_roots() -> tuple[Path, ...]:
    """The folders in which `asset` looks."""
    return (resources.assets(), *discovery.asset_folders())


def shipped() -> list[Path]:
    """The study files that come with the program."""
    return sorted((resources.assets() / "studies").glob("*.yaml"))


def installed() -> list[Path]:
    """The studies that are known by their id: the shipped ones, and those of other packages."""
    paths = (path for root in asset_roots() for path in (root / "studies").glob("*.yaml"))
    by_id: dict[str, Path] = {}
    for path in paths:
        by_id.setdefault(path.stem, path)
    return [by_id[stem] for stem in sorted(by_id)]


def find(study: str | Path) -> Path:
    """The file of a study given by id or path. Raises StudyError with the known ids."""
    path = Path(study)
    if path.suffix in (".yaml", ".yml"):
        if not reading.is_file(path):
            raise StudyError(f"There is no study file {path}.", todo="Check the path.")
        return path
    named = asset(f"studies/{study}.yaml")
    if path.name != str(study) or not reading.is_file(named):
        names = ", ".join(p.stem for p in installed())
        if reading.exists(path):
            what = f"{path} is no study file: its name does not end in .yaml."
        else:
            what = f"There is no study {str(study)!r}."
        raise StudyError(
            what,
            todo=f"Give the path of a study file (.yaml), or one of: {names}.",
        )
    return named


def title_of(path: Path) -> str:
    """The title in a study file, read without the rest of it: many are listed before one is used.

    Returns "" where there is none, or the file cannot be read so far.
    """
    depth, key = 0, ""
    try:
        for event in yaml.parse(reading.content(path, LARGEST), Loader=yaml.SafeLoader):
            if depth == 1 and isinstance(event, yaml.ScalarEvent):
                if key == "title":
                    return str(event.value)
                key = "" if key else event.value
            elif isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
                key = "" if depth == 1 else key
    except (OSError, yaml.YAMLError, ValueError):
        pass
    return ""


def load(study: str | Path, language: str | None = None) -> LoadedStudy:
    """Load and check a study by id or path, with its texts and instruments.

    language: in which it is to be read, instead of its own.
    """
    path = find(study)
    try:
        content = reading.content(path, LARGEST)
    except OSError as error:
        raise StudyError(
            f"The study file {path} cannot be read ({error.strerror}).", todo="Check the file."
        ) from error
    located = parse_yaml(path, content)
    if language is not None and isinstance(located.value, dict):
        located.value["language"] = language
    checked = _check(path, located)
    _check_language(path, located, checked.language)
    files = {path.name: content}
    instruments = {}
    _check_design(path, checked, located)
    _check_variables(path, checked, located)
    for name, text in sorted(_texts(path, checked, located).items()):
        files[name] = _read(path, name, located.line_of_text(text))
        if not pages(decoded(files[name])):
            raise StudyError(
                f"{path}: the text {name!r} is empty.", todo="Write it, or leave its line out."
            )
    for instrument in sorted({i for item in items_of(checked.flow) for i in item.instruments()}):
        name = f"instruments/{instrument}.yaml"
        files[name] = _read(path, name, located.line_of_text(instrument))
        instruments[instrument] = Instrument.parse(
            _resolve(path, name), files[name], checked.language
        )
    return LoadedStudy(checked, path, files, instruments, files_digest(files))


def files_digest(files: Mapping[str, bytes]) -> str:
    """The hash of a study: SHA-256 over the names, lengths and contents of its files, by name."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return digest.hexdigest()


def _texts(path: Path, study: Study, located: Located) -> dict[str, str]:
    """The texts of a study, by name, and how its file names each."""
    named = {name: name for name in word_files(study)}
    if study.incentive is not None:
        named[study.incentive.text] = study.incentive.text
    for item, scope in _every_item(study):
        for name in item.texts():
            try:
                named[conditions.fill(name, {"language": "{language}", **scope})] = name
            except KeyError as error:
                raise _unknown_variable(
                    path, located.line_of_text(name), name, error, scope
                ) from error
    return {in_language(name, study.language): text for name, text in named.items()}


def _every_item(study: Study) -> Iterator[tuple[Item, Scope]]:
    """Every item of the flow as participants of every condition meet it."""
    for number, drawn in allocation.variants(study):
        place = allocation.place_of(study, number, drawn)
        yield from unroll(study.flow, place.scope, place.turns)


def _check_design(path: Path, study: Study, located: Located) -> None:
    """Refuse a design that says a fact twice, and an analysis that does not fit it."""
    faults: list[tuple[int, str]] = []

    def fault(place: tuple[str | int, ...], what: str) -> None:
        faults.append((located.line(place), f"{dotted(place)}: {what}"))

    if study.design is not None:
        if study.assignment:
            fault(
                ("assignment",),
                f"line {located.line(('design',))} has a design: say in one of them who gets what",
            )
        for place, item in placed_items(study.flow):
            stages = item.task_stages()
            # Stages that list no models may have photos or sequences in an order of theirs.
            if stages is not None and stages.compared() and "order" in stages.model_fields_set:
                fault(
                    (*place, "stages", "order"),
                    f"the design in line {located.line(('design',))} says the order",
                )
    wrong = contradictions(study.design, study.analysis, study.hypotheses, study.factor_levels)
    for place, what in (*wrong, *design_faults(study)):
        fault(place, what)
    if faults:
        raise StudyError(
            f"{path} is not a valid study:\n"
            + "\n".join(f"  line {line}, {what}" for line, what in sorted(faults)),
            todo="Correct these lines and try again.",
        )


def _check_variables(path: Path, study: Study, located: Located) -> None:
    """Refuse an `each`, an `only_if`, a model or a stimulus set with an unknown variable."""
    drawn = conditions.cells_of(study.assignment)
    for item in items_of(study.flow):
        variable = item.goes_through()
        if study.design is not None:
            break  # see `design_faults`
        if variable is not None and (drawn is None or variable != drawn[0]):
            reason = "none is declared" if drawn is None else f"the drawn variable is {drawn[0]!r}"
            raise StudyError(
                f"{_place(path, located.line_of_text(variable))}: each: {variable!r}: {reason}.",
                todo="Name a variable that has cells under `assignment`.",
            )
    for at, item in placed_items(study.flow):
        _check_only_if(_place(path, located.line((*at, "only_if"))), study, item, at)
    for item, scope in _every_item(study):
        stages = item.task_stages()
        for name in () if stages is None else stages.names():
            try:
                conditions.fill(name, scope)
            except KeyError as error:
                line = located.line_of_text(name)
                raise _unknown_variable(path, line, name, error, scope) from error


def _check_only_if(where: str, study: Study, item: Item, at: Place) -> None:
    """Refuse an `only_if` that never holds: its variable is not known where the item stands, or
    never has the value."""
    values = values_at(study, at)
    for name, wanted in item.only_if.items():
        if name not in values:
            raise StudyError(
                f"{where}: only_if: there is no variable {name!r} here; there are: "
                f"{', '.join(values) or 'none'}.",
                todo=_DECLARE,
            )
        for value in wanted if isinstance(wanted, tuple) else (wanted,):
            if value not in values[name]:
                possible = ", ".join(dict.fromkeys(map(repr, values[name])))
                raise StudyError(
                    f"{where}: only_if: {name} is never {value!r}; it is one of: {possible}.",
                    todo="Correct the value, or the levels of the variable.",
                )


def _unknown_variable(
    path: Path, line: int | None, text: str, error: KeyError, scope: Scope
) -> StudyError:
    return StudyError(
        f"{_place(path, line)}: {text!r}: there is no variable {error.args[0]!r} here; there are: "
        f"{', '.join(('language', *scope))}.",
        todo=_DECLARE,
    )


_DECLARE = (
    "Correct it, or declare it under `design` (or `assignment`). What a participant goes through "
    "several of is known inside `each` only."
)


def _place(path: Path, line: int | None) -> str:
    return f"{path}, line {line}" if line else f"{path}"


def _resolve(study_path: Path, name: str) -> Path:
    beside = study_path.parent / name
    return beside if reading.exists(beside) else asset(name)


def sources(loaded: LoadedStudy) -> list[Path]:
    """The files on disk from which a study was read."""
    return [_resolve(loaded.path, name) for name in loaded.files]


def _read(study_path: Path, name: str, line: int | None) -> bytes:
    where = _place(study_path, line)
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise StudyError(
            f"{where}: {name!r} points outside the study's folder.",
            todo="Name texts and instruments relative to the study file, without '..'.",
        )
    path = _resolve(study_path, name)
    try:
        content = reading.content(path, LARGEST)
        decoded(content)
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, UnicodeDecodeError):
            why, todo = "is not UTF-8 text", f"Save {path} as UTF-8."
        elif not isinstance(error, FileNotFoundError):
            why, todo = f"cannot be read ({error.strerror})", f"Put a readable file at {path}."
        else:
            why, todo = "is not there", _nearest(study_path, name)
        raise StudyError(f"{where}: the file {name!r} {why}.", todo=todo) from error
    return content


def _nearest(study_path: Path, name: str) -> str:
    """What to do about a missing file; names files that may have been meant."""
    roots = (study_path.parent, *asset_roots())
    beside = {
        str(Path(name).with_name(file.name))
        for root in roots
        for file in (root / name).parent.glob(f"*{Path(name).suffix}")
    }
    near = difflib.get_close_matches(name, sorted(beside), 1, 0.8)
    hint = f"Did you mean {near[0]!r}? Else put" if near else "Put"
    known = f" Known are: {', '.join(QUESTIONNAIRES)}." if name.startswith("instruments/") else ""
    return f"{hint} it (UTF-8) beside the study file, at {study_path.parent / name}.{known}"


def _check(path: Path, located: Located) -> Study:
    try:
        return Study.model_validate(located.value)
    except ValidationError as error:
        raise refusal(path, located, error, "study", Study) from error


def _check_language(path: Path, located: Located, language: str) -> None:
    """Refuse a language without words, naming it and the languages there are."""
    if reading.is_file(_resolve(path, in_language(WORDS, language))):
        return
    roots = (path.parent, *asset_roots())
    languages = {file.parent.name for root in roots for file in root.glob(in_language(WORDS, "*"))}
    raise StudyError(
        f"{path}, line {located.line(('language',))}, language: there are no texts in "
        f"{language!r}; there are: {', '.join(sorted(languages))}.",
        todo="Use one of these, or put a translation of the shipped texts into "
        f"{path.parent / 'texts' / language}.",
    )
