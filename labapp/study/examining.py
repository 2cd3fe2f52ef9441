"""Reading a study file and everything it names, and finding every mistake in them at once."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from labapp.documents import LARGEST, Located, Path_, parse_yaml, read_yaml, refused
from labapp.errors import LabappError, StudyError
from labapp.plugins.texts import pages
from labapp.reading import files as reading
from labapp.reading.values import steering_in
from labapp.study import checks, conditions
from labapp.study.asking_checks import asking_faults
from labapp.study.flow import items_of
from labapp.study.instruments import Instrument
from labapp.study.instruments.files import QUESTIONNAIRES
from labapp.study.loading import (
    WORDS,
    LoadedStudy,
    asset_roots,
    decoded,
    files_digest,
    find,
    in_language,
    resolve,
    word_files,
)
from labapp.study.partial import read_partly
from labapp.study.schema import Study


@dataclass(frozen=True)
class Examined:
    """A study as far as it can be read.

    Attributes
    ----------
    path : its file.
    loaded : None where too little of it can be read.
    errors : what is wrong with it and with the files that it names; empty where all is in order.
    located : its document, as far as that can be read.
    left_out : whether a part of it had to be left out.
    factors_known : whether all that says which factors and variables there are could be read.
    """

    path: Path
    loaded: LoadedStudy | None
    errors: tuple[LabappError, ...]
    located: Located
    left_out: bool
    factors_known: bool = True


def examine(
    study: str | Path, language: str | None = None, fallback: str | None = None
) -> Examined:
    """Read a study by id or path, with its texts and instruments, and find every mistake in them.

    language, fallback: instead of its own `language` and `fallback_language`. Raises StudyError
    where there is no such study, or its file cannot be opened.
    """
    path = find(study)
    try:
        content = reading.content(path, LARGEST)
    except OSError as error:
        raise StudyError(
            f"The study file {path} cannot be read ({error.strerror}).", todo="Check the file."
        ) from error
    located, errors = read_yaml(path, content)
    if located is None:
        return Examined(path, None, tuple(errors), Located(None), True)
    if language is not None and isinstance(located.value, dict):
        located.value["language"] = language
    if fallback is not None and isinstance(located.value, dict):
        located.value["fallback_language"] = fallback
    partial = read_partly(Study, located, STAND_INS)
    if partial.problems:
        errors.append(refused(path, partial.problems, "study"))
    if partial.model is None:
        if not errors:
            errors.append(StudyError(f"{path} cannot be read.", todo="Correct it."))
        return Examined(path, None, tuple(errors), located, True)
    reader = _Reader(
        path, partial.model, located, errors, {path.name: content}, checks.factors_known(partial)
    )
    reader.language()
    errors.extend(checks.mistakes(path, partial, located))
    named = _named_in(located, partial.left_out)
    reader.texts(named.texts)
    reader.instruments(named.instruments)
    if checks.factors_known(partial) and not partial.left_out:
        errors.extend(asking_faults(partial.model, reader.read_instruments()))
    loaded = LoadedStudy(
        partial.model,
        path,
        reader.files,
        reader.parsed,
        files_digest(reader.files),
        reader.fallbacks,
        partial.origin if partial.left_out else {},
    )
    return Examined(
        path, loaded, tuple(errors), located, bool(partial.left_out), checks.factors_known(partial)
    )


UNTRANSLATED = "<!-- to be translated -->"
"""How a text begins that is not translated yet: the fallback stands in for it."""
STAND_INS = {"id": "unnamed", "title": "-", "version": 1}
"""For what a study must say, where it says it wrongly: so that the rest can be looked at."""


class _Named(NamedTuple):
    texts: frozenset[str]
    instruments: frozenset[str]


def _named_in(located: Located, left_out: Collection[Path_]) -> _Named:
    """The texts and questionnaires that are named where the document could not be read."""
    texts: set[str] = set()
    instruments: set[str] = set()

    def look(value: object, key: object) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                look(inner, name)
        elif isinstance(value, list):
            for inner in value:
                look(inner, key)
        elif isinstance(value, str) and key in ("after", "questionnaire"):
            instruments.add(value)
        elif isinstance(value, str) and value.endswith(".md"):
            texts.add(value)

    for place in left_out:
        value = located.value
        for step in place:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                value = None
        look(value, next((step for step in reversed(place) if isinstance(step, str)), ""))
    known = {name for name in texts if not conditions.VARIABLE.search(in_language(name, "en"))}
    return _Named(frozenset(known), frozenset(instruments))


@dataclass
class _Reader:
    """Reads the files that a study names; what is wrong with them is added to `errors`.

    fallbacks: by a text that is not there in the study's language the one in the fallback language
    that stands for it.
    """

    path: Path
    study: Study
    located: Located
    errors: list[LabappError]
    files: dict[str, bytes]
    factors_known: bool
    parsed: dict[str, Instrument] = field(default_factory=dict)
    fallbacks: dict[str, str] = field(default_factory=dict)
    has_words: bool = True

    def language(self) -> None:
        """A language without words: names it, and the languages there are."""
        language = self.study.language
        if self.study.fallback_language is not None or reading.is_file(
            resolve(self.path, in_language(WORDS, language))
        ):
            return
        self.has_words = False
        roots = (self.path.parent, *asset_roots())
        words = in_language(WORDS, "*")
        languages = {file.parent.name for root in roots for file in root.glob(words)}
        self.errors.append(
            StudyError.at(
                self.path,
                self.located.line(("language",)),
                "language",
                f"there are no texts in {language!r}; there are: {', '.join(sorted(languages))}",
                f"Use one of these, or translate the shipped texts: `{_scaffold(self.path)} "
                f"--language {language}` writes what is lacking to "
                f"{self.path.parent / 'texts' / language}.",
            )
        )

    def texts(self, more: Collection[str]) -> None:
        """Every text of the study. more: those that are named where it could not be read."""
        named = {name: name for name in (*word_files(self.study), *more)}
        if self.study.incentive is not None:
            named[self.study.incentive.text] = self.study.incentive.text
        for item, scope in checks.every_item(self.study):
            for name in item.texts():
                try:
                    named[conditions.fill(name, {"language": "{language}", **scope})] = name
                except KeyError as error:
                    if not self.factors_known:
                        continue
                    self.errors.append(
                        checks.unknown_variable(self.path, self.located, name, error, scope)
                    )
        words = in_language(WORDS, self.study.language)
        for template, name in sorted(named.items()):
            if template != WORDS or self.has_words or reading.exists(resolve(self.path, words)):
                self._text(template, name)

    def _text(self, template: str, written: str) -> None:
        """One text. written: how the study names it."""
        name = in_language(template, self.study.language)
        fallback = self.study.fallback_language
        instead = name if fallback is None else in_language(template, fallback)
        lacking = not reading.exists(resolve(self.path, name)) or self._untranslated(name)
        if lacking and instead != name and reading.exists(resolve(self.path, instead)):
            self.fallbacks[name] = instead
            content = self._read(instead, written)
        else:
            content = self._read(name, written)
            if instead != name and template.endswith(".yaml"):
                # For the words that the language lacks.
                self.files[instead] = self._read(instead, written) or b""
            elif content is not None and lacking:
                self.errors.append(
                    StudyError.at(
                        resolve(self.path, name),
                        1,
                        "",
                        "it is not translated yet",
                        f"Translate it and delete the first line, {UNTRANSLATED!r}; or declare "
                        "`fallback_language: en` in the study.",
                    )
                )
        self.files[name] = content or b""
        if content is not None and (steering := steering_in(decoded(content))):
            line, character = steering
            what = f"the character {character} is not allowed"
            self.errors.append(StudyError.at(self._source(name), line, "", what, "Delete it."))
        if content is not None and not pages(decoded(content)):
            self.errors.append(
                StudyError.at(
                    self.path,
                    self.located.line_of_text(written),
                    "",
                    f"the text {name!r} is empty",
                    "Write it, or leave its line out.",
                )
            )

    def _source(self, name: str) -> Path:
        """The file from which a text was read."""
        return resolve(self.path, self.fallbacks.get(name, name))

    def _untranslated(self, name: str) -> bool:
        """Whether a text is one that is still to be translated."""
        try:
            content = reading.content(resolve(self.path, name), LARGEST)
        except OSError:
            return False
        if name.endswith(".yaml"):
            return all(line.startswith(b"#") for line in content.splitlines() if line.strip())
        return content.startswith(UNTRANSLATED.encode())

    def instruments(self, more: Collection[str]) -> None:
        """Every questionnaire of the study. more: those that are named where it could not be
        read."""
        asked = {name for item in items_of(self.study.flow) for name in item.instruments()}
        for instrument in sorted(asked | set(more)):
            name = f"instruments/{instrument}.yaml"
            if (content := self._read(name, instrument)) is None:
                continue
            self.files[name] = content
            fell_back: list[str] = []
            try:
                self.parsed[instrument] = Instrument.parse(
                    resolve(self.path, name),
                    content,
                    self.study.language,
                    self.study.fallback_language,
                    fell_back,
                )
                if (called := self.parsed[instrument].id) != instrument:
                    path = resolve(self.path, name)
                    self.errors.append(
                        StudyError.at(
                            path,
                            parse_yaml(path, content).line(("id",)),
                            "id",
                            f"found {called!r}, and the file is called {instrument!r}",
                            f"Write `id: {instrument}`, or call the file {called}.yaml and name "
                            "it so in the study.",
                        )
                    )
                if fell_back:
                    self.fallbacks[name] = name
            except StudyError as error:
                path = resolve(self.path, name)
                shipped = path.parent.parent in asset_roots()
                self.errors.append(self._no_words(instrument) if shipped else error)

    def read_instruments(self) -> dict[str, tuple[Instrument, Path, bytes]]:
        """The questionnaires that could be read, each with its file and what that holds."""
        return {
            name: (instrument, resolve(self.path, file), self.files[file])
            for name, instrument in self.parsed.items()
            for file in (f"instruments/{name}.yaml",)
        }

    def _no_words(self, instrument: str) -> StudyError:
        """Of a shipped questionnaire that lacks the study's language: the file that is to be
        written is one of the study's own."""
        language = self.study.language
        return StudyError.at(
            self.path,
            self.located.line_of_text(instrument),
            "",
            f"the questionnaire {instrument!r} has no words in {language!r}",
            f"`{_scaffold(self.path)}` writes a copy beside the study, to be translated.",
        )

    def _read(self, name: str, written: str) -> bytes | None:
        """A file beside the study, or a shipped one; None where it cannot be read."""
        line = self.located.line_of_text(written)

        def fault(what: str, todo: str) -> None:
            self.errors.append(StudyError.at(self.path, line, "", what, todo))

        if Path(name).is_absolute() or ".." in Path(name).parts:
            fault(
                f"{name!r} points outside the study's folder",
                "Name texts and instruments relative to the study file, without '..'.",
            )
            return None
        path = resolve(self.path, name)
        try:
            content = reading.content(path, LARGEST)
            decoded(content)
        except UnicodeDecodeError:
            fault(f"the file {name!r} is not UTF-8 text", f"Save {path} as UTF-8.")
            return None
        except FileNotFoundError:
            fault(f"the file {name!r} is not there", _nearest(self.path, name))
            return None
        except OSError as error:
            fault(
                f"the file {name!r} cannot be read ({error.strerror})",
                f"Put a readable file at {path}.",
            )
            return None
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
    if study_path.parent.parent in asset_roots():
        # Nothing is put into the program's own folder.
        return (
            f"Make a study of your own first: `labapp studies new NAME --from {study_path.stem}`."
            f"{known}"
        )
    return f"{hint} it (UTF-8) beside the study file, at {study_path.parent / name}.{known}"


def _scaffold(study_path: Path) -> str:
    """The command that writes what a language lacks."""
    return f"labapp studies texts {study_path} --missing --write"
