"""A study of one's own, made of another one: the study file with comments that teach, and all the
files that it names.

JSON Schemas of what a lab writes: studies, questionnaires, stimulus sets, codebooks. Editors
complete and explain keys by them; `assets/schemas` has them as files.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from labapp.base import descriptions, durable
from labapp.base.documents import SLUG, Located, Path_, parse_yaml
from labapp.base.errors import StudyError, TargetExists, UsageError
from labapp.base.naming import find_name_problem
from labapp.base.reading import files as reading
from labapp.coding.annotations.codebook import CodebookDocument
from labapp.models.stimuli.manifest import Manifest
from labapp.study.examining import examine
from labapp.study.instruments import Instrument, Item
from labapp.study.instruments.items import USUAL
from labapp.study.loading import (
    SHIPPED,
    LoadedStudy,
    decode_text,
    in_language,
    key_at,
    package_root,
    plain_name,
    word_files,
)
from labapp.study.schema import GERMAN_FLAGS, GERMAN_PROMPTS, Recording, Study
from labapp.study.words import lacking, to_be_translated, write

WIDTH = 92
"""Characters of a line of comments."""


def new_study(
    name: str, source: str | Path, folder: Path, language: str | None = None
) -> tuple[Path, list[Path]]:
    """Write a study of one's own, and everything that it needs. Raises UsageError if something
    is there already, or the name cannot be one; StudyError: where the source has mistakes.

    Parameters
    ----------
    name : its id, and what its file is called.
    source : the study that it is made of, by id or path.
    folder : where it is written; made where it is not there.
    language : of its texts; by default that of the source. What that lacks is written in English,
        to be translated. A copy of a study in several languages has all of them.

    Returns
    -------
    path, files : the study file, and every file that was written.
    """
    why = find_name_problem(name)
    if not re.fullmatch(SLUG, name) or len(name) > 80 or why:
        raise UsageError(
            f"{name!r} cannot be the name of a study" + (f": {why}." if why else "."),
            todo="Use lower-case letters a to z, digits and hyphens, such as my-study-2.",
        )
    own = examine(source)
    several = () if own.loaded is None else own.loaded.study.languages
    if several and language not in (None, *several):
        raise UsageError(
            f"The study {source} is in {' and '.join(several)}, so its copy cannot be in "
            f"{language}.",
            todo="Leave out --language, and add the language to `languages` of the copy.",
        )
    fallback = None if own.loaded is None else own.loaded.study.fallback_language
    examined = examine(source, language, fallback or USUAL)
    loaded = examined.loaded
    if own.errors or examined.errors or loaded is None:
        raise StudyError.together((*own.errors, *examined.errors))
    translated = not loaded.fallbacks
    target = folder / f"{name}.yaml"
    contents: dict[Path, bytes] = {
        target: _study_file(name, loaded, translated=translated).encode()
    }
    for document in ("study", "instrument"):
        contents[folder / "schemas" / f"{document}.json"] = as_text(document).encode()
    words = {
        in_language(template, each)
        for template in {*word_files(loaded.study)} - {*loaded.study.words}
        for each in (*loaded.study.languages, loaded.study.language, fallback or USUAL)
    }
    of_the_original = texts_to_read(loaded)
    for file, content in loaded.files.items():
        if file == loaded.path.name or file in words or file in loaded.fallbacks:
            continue  # words are the program's
        if file.startswith("instruments/") and file.endswith(".yaml"):
            content = _instrument_file(file, content, loaded).encode()
        elif file in of_the_original:
            note = (
                f"<!-- Written for {loaded.study.id}: change what does not apply to your study. -->"
            )
            content = f"{note}\n{decode_text(content)}".encode()
        contents[folder / file] = content
    for file, instead in loaded.fallbacks.items():
        if file in words:
            continue
        # Participants read the one in the fallback language until it is translated.
        english = decode_text(loaded.files[file])
        if file != instead:
            contents[folder / instead] = loaded.files[file]
        contents[folder / file] = to_be_translated(file, english, loaded.study.language).encode()
    if there := next((path for path in contents if reading.exists(path)), None):
        raise TargetExists(
            f"{there} already exists, and nothing is overwritten.",
            todo="Give the study another name, or another folder with --out.",
        )
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        durable.write(path, content)
    written = list(contents)
    if not translated:
        made, rows = lacking(target)
        written += write(made, rows)
    return target, written


def texts_to_read(loaded: LoadedStudy) -> list[str]:
    """The texts of a study that participants read and that may speak of its own material."""
    words = {in_language(name, loaded.study.language) for name in word_files(loaded.study)}
    return sorted(name for name in loaded.files if name.endswith(".md") and name not in words)


def _instrument_file(name: str, content: bytes, loaded: LoadedStudy) -> str:
    """A copy of a questionnaire with what its keys say."""
    text = content.decode("utf-8-sig")
    instrument = loaded.instruments[Path(name).stem]
    located = parse_yaml(Path(name), content)
    taught = _annotate_keys(text, located, instrument).rstrip()
    items = located.value["items"]
    of_items = {key for item in items if isinstance(item, dict) for key in item}
    there = {*located.value, "scoring"}  # which older files alone have
    questionnaire = _more(Instrument, there, "a questionnaire", _EXAMPLES_OF_QUESTIONNAIRES)
    item = _more(Item, of_items, "an item", _EXAMPLES_OF_ITEMS)
    return f"{modeline('../schemas/instrument.json')}{taught}\n\n{questionnaire}\n{item}"


def _study_file(name: str, loaded: LoadedStudy, *, translated: bool) -> str:
    """The study file of the source with another name, and with what its keys say."""
    study = loaded.study
    text = loaded.files[loaded.path.name].decode("utf-8-sig")
    title = name.replace("-", " ").capitalize()
    text = _with_value(text, "id", name)
    text = _with_value(text, "title", f'"{title}"')
    text = _without_origin(text, comments=package_root(loaded.path) is None)
    text = _with_value(text, "version", "1")
    if not study.languages:
        text = _with_value(text, "language", study.language, after="version")
    if not translated and not re.search(r"(?m)^fallback_language:", text):
        text = _with_value(text, "fallback_language", USUAL, after="language")
    text = re.sub(r"(?m)^unnamed_texts:.*\n", "", _with_own_files(loaded.path, text))
    if study.language.startswith("de"):
        text = _with_german_words(text)
    located = parse_yaml(loaded.path, text.encode())
    taught = _annotate_keys(text, located, study)
    head = (
        f"{title}: made from the study {study.id}. Each key is explained above it. `labapp "
        "studies check` lists every mistake with its line, and `labapp studies preview` shows "
        "every screen."
    )
    if texts := texts_to_read(loaded):
        head += (
            f" These texts were written for {study.id} and may mention its pictures, models or "
            f"paper. Change what does not apply to your study: {', '.join(texts)}."
        )
    head = "\n".join(_comment(head, "# "))
    there = set(re.findall(r"(?m)^(\w+):", text))
    more = _more(Study, there, "a study", _EXAMPLES)
    return f"{modeline('schemas/study.json')}{head}\n{taught.rstrip()}\n\n{more}"


_COMMENT = re.compile(r"""((?:[^"'#]|"[^"]*"|'[^']*')*?)\s+#\s.*""")
"""A line with a comment: a # behind a space, and not within quotes."""


def _without_origin(text: str, *, comments: bool) -> str:
    """The text without what is true of the original alone. comments: whether they are kept; those
    of a shipped study tell of the published one."""
    kept, leave = [], False
    for line in text.split("\n"):
        if re.match(r"\w", line):
            leave = line.partition(":")[0] in ("summary", "replicates")
        if leave or (not comments and line.lstrip().startswith("#")):
            continue
        comment = None if comments else _COMMENT.fullmatch(line)
        kept.append(comment[1] if comment else line)
    return "\n".join(kept)


def _with_own_files(path: Path, text: str) -> str:
    """The text without `shipped:`, for a copy of every file is written beside the study."""
    located, lines = parse_yaml(path, text.encode()), text.split("\n")
    for place, value in located.within(()):
        name = value.removeprefix(SHIPPED)
        if name == value or place[0] not in ("flow", "incentive"):
            continue
        plain = plain_name(key_at(place), name)
        written = f'"{plain}"' if "{" in plain else plain
        index = located.line(place) - 1
        named = rf"""(["']?){re.escape(value)}\1(?![\w.{{}}-])"""
        begin, *rest = re.split(named, lines[index], maxsplit=1)
        lines[index] = begin + (written + rest[-1] if rest else "")
    return "\n".join(lines)


def _with_german_words(text: str) -> str:
    """The text with the moderator's usual words in German, where it names them in English."""
    for english, german in zip(Recording().prompts, GERMAN_PROMPTS, strict=True):
        text = text.replace(f"prompts: [{english}", f"prompts: [{german}")
    for number, english in Study.model_fields["flags"].default.items():
        text = re.sub(
            rf"(?m)^(flags: \{{.*?\b{number}: ){english}\b", rf"\g<1>{GERMAN_FLAGS[number]}", text
        )
    return text


def _with_value(text: str, key: str, value: str, after: str | None = None) -> str:
    """The text with another value of a key at its top; the key is put behind another one where it
    is not there."""
    line = f"{key}: {value}"
    changed, count = re.subn(rf"(?m)^{key}:.*$", lambda _: line, text, count=1)
    if count or after is None:
        return changed
    return re.sub(rf"(?m)^{after}:.*$", lambda match: f"{match[0]}\n{line}", text, count=1)


def _more(
    model: type[BaseModel], there: Collection[str], what: str, examples: Mapping[str, str]
) -> str:
    """The keys that a document, or a part of it, does not have, each behind #."""
    lines = [f"# More settings of {what}; remove the # to use one.", "#"]
    keys = zip(descriptions.keys(model).items(), model.model_fields.values(), strict=True)
    for (key, description), field in keys:
        if key in there:
            continue
        default = field.get_default(call_default_factory=True)
        value = default.model_dump(mode="json") if isinstance(default, BaseModel) else default
        example = examples.get(key) or json.dumps(value, ensure_ascii=False)
        lines += [*_comment(description, "# "), f"# {key}: {example}", "#"]
    return "\n".join(lines) + "\n"


def _field_name(model: type[BaseModel], key: object) -> str | None:
    return next((n for n, field in model.model_fields.items() if key in (field.alias, n)), None)


_EXAMPLES_OF_QUESTIONNAIRES = {
    "scores": "{trust: {mean: [rely, wary], reverse: [wary], meaning: 7 most}}",
    "per_page": "6",
    "scale": "{points: 7, low: not at all, high: completely, numbers: true}",
    "options": "[{id: often, text: Often}, {id: never, text: Never}]",
    "instruction": "How much do you agree?",
}
_EXAMPLES_OF_ITEMS = {
    "kind": "statement",
    "name": "Effort",
    "repeat": "stages",
    "identifying": "no",
    "only_if": "{rely: [1, 2, 3]}",
    "check": "2",
}
_EXAMPLES = {
    "assignment": '{hint: {odd: "with", even: "without"}}',
    "summary": '"One line about the study."',
    "minutes": "45",
    "replicates": '{paper: "000", study: mnist-crowd, run: lab}',
    "related": "[another-study]",
    "incentive": '{text: texts/{language}/incentive.md, currency: "$", base: 10}',
    "fallback_language": "en",
    "design": '{between: {hint: ["with", "without"]}, within: [model], order: williams}',
    "exclude": "{too_fast: {median_response_s_below: 2}}",
    "analysis": "{outcomes: {primary: [completion_rate]}, correction: holm}",
    "hypotheses": '[{text: "…", outcome: completion_rate}]',
    "flags": "{1: insight, 2: prompt, 3: confusion, 4: technical}",
}


def _annotate_keys(text: str, located: Located, document: BaseModel) -> str:
    """A study file with comments that explain its keys, each above the first line that has the
    key."""
    above: dict[int, list[str]] = {}
    told: set[tuple[type, str]] = set()
    lines = text.splitlines()
    for path, line in sorted(located.lines.items(), key=lambda entry: (entry[1], len(entry[0]))):
        owner = _at(document, path[:-1]) if path else None
        if not isinstance(owner, BaseModel) or not isinstance(path[-1], str):
            continue
        key = path[-1]
        # The class that brings it: what several kinds share is told once.
        bases = reversed(type(owner).__mro__)
        annotated = (base for base in bases if key in getattr(base, "__annotations__", {}))
        model = next(annotated, type(owner))
        written = lines[line - 1]
        begins = re.match(r"(\s*(?:- )?)" + re.escape(key) + r"\s*:", written)
        if begins is None or (model, key) in told:
            continue
        told.add((model, key))
        description = descriptions.keys(type(owner)).get(key, "")
        if key == getattr(owner, "key", None):
            description = f"{descriptions.summary(type(owner))} {description}"
        name = _field_name(type(owner), key)
        field = None if name is None else type(owner).model_fields[name].annotation
        choices = list(_literals(field))
        if len(choices) > 1 and not all(f"`{choice}`" in description for choice in choices):
            description = f"{description} One of: {', '.join(choices)}."
        indent = " " * len(begins[1].replace("- ", ""))
        above.setdefault(line, []).extend(
            [*([] if indent else [""]), *_comment(description, f"{indent}# ")]
        )
    out: list[str] = []
    for number, written in enumerate(lines, 1):
        out += [*above.get(number, ()), written]
    return "\n".join(out) + "\n"


def _literals(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from (str(value) for value in get_args(annotation))
        return
    if get_origin(annotation) in (tuple, dict):
        return
    for inner in get_args(annotation):
        yield from _literals(inner)


def _at(document: Any, path: Path_) -> Any:
    """What stands at a path of a document; None for what is written in another form there."""
    for step in path:
        if isinstance(document, BaseModel):
            name = _field_name(type(document), step)
            document = None if name is None else getattr(document, name)
        elif isinstance(document, Mapping):
            document = document.get(step)
        elif isinstance(document, tuple) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return None
    return document


def _comment(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


DOCUMENTS: dict[str, type[BaseModel]] = {
    "study": Study,
    "instrument": Instrument,
    "stimuli": Manifest,
    "codebook": CodebookDocument,
}
"""What there is a schema of, by the name of its file."""


def schema_of(document: str) -> dict[str, Any]:
    """The JSON Schema of a kind of document, with what installed packages add."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **DOCUMENTS[document].model_json_schema(),
    }


def as_text(document: str) -> str:
    """The schema as its file has it."""
    return json.dumps(schema_of(document), indent=2, ensure_ascii=False) + "\n"


def modeline(path: str) -> str:
    """The line by which editors find the schema of a YAML file. path: seen from that file."""
    return f"# yaml-language-server: $schema={path}\n"
