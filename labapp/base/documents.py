"""Documents people write: studies, instruments, recipes, model cards. YAML, checked by pydantic and
refused with line, key, what was found and what is allowed.

Plain values only: no tags, no aliases (a few can swell to gigabytes), no key twice, UTF-8.

The models used in types, and the names of their fields: what a document may say at a place.
What validators of documents raise: faults at their own places, so that each has its line. A field
of a static model whose classes are known at run time only, by the registry.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from labapp.base.errors import Fault, LabappError, StudyError
from labapp.base.reading.values import DEEPEST, PROBLEMS, STEERING

LARGEST = 256 * 1024
"""Bytes. A document of this kind is a few pages of text; anything larger is something else."""

Path_ = tuple[str | int, ...]


class Strict(BaseModel):
    """The base of every model that is read from a file or kept in a plan.

    Unknown keys are refused: a misspelt setting must not be ignored.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, str_strip_whitespace=True, allow_inf_nan=False
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema with what the docstrings say of the keys."""
        from labapp.base.descriptions import describe

        schema = handler(core_schema)
        describe(cls, handler.resolve_ref_schema(schema))
        return schema


TOLD = "told"
"""The type of a validation error whose message says all: what was found and what is allowed."""


class Problem(NamedTuple):
    """What is wrong at a key. line: from 1."""

    line: int
    key: str
    what: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.key}: {self.what}"


@dataclass
class Located:
    """A YAML document's value, and the line of every key and item (counted from 1).

    switches: what is true or false, as it is written (`yes`, `off`); origin: of a document of which
    parts are left out, where what is left stands in the whole one.
    """

    value: Any
    lines: dict[Path_, int] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)
    switches: dict[Path_, str] = field(default_factory=dict)
    origin: dict[Path_, Path_] = field(default_factory=dict)

    def line_of_text(self, text: str) -> int | None:
        """The line of the first scalar that equals the text."""
        return self.texts.get(text)

    def within(self, place: Path_) -> Iterator[tuple[Path_, str]]:
        """The texts below a place of the document, with where each stands."""
        if place not in self.lines:
            return
        value = self.value
        for step in place:
            value = value[step]
        waiting: list[tuple[Path_, Any]] = [(place, value)]
        while waiting:
            path, value = waiting.pop()
            if isinstance(value, str):
                yield path, value
            elif isinstance(value, dict):
                waiting += [((*path, key), inner) for key, inner in value.items()]
            elif isinstance(value, list):
                waiting += [((*path, index), inner) for index, inner in enumerate(value)]

    def resolve(self, loc: Sequence[str | int]) -> Path_:
        """The document's path of a pydantic location: tags of unions are left out. A tag may be
        called like a key: then the longest path is meant."""
        reached: list[tuple[int, Path_]] = [(0, ())]
        for place, step in enumerate(loc, 1):
            reached += [
                (place, (*path, step)) for _, path in reached if (*path, step) in self.lines
            ]
        return max(reached, key=lambda end: (len(end[1]), end[0]))[1]

    def place(self, error: Mapping[str, Any]) -> Path_:
        """The document's path of a validation error; of a key that is missing, where it belongs: a
        tag that is called like a key of plain text does not lead into that."""
        missing = error["type"] == "missing"
        path = self.resolve(error["loc"][:-1] if missing else error["loc"])
        while missing and path and not isinstance(self._at(path), dict):
            path = path[:-1]
        return path

    def _at(self, path: Path_) -> Any:
        value = self.value
        for step in path:
            value = value[step]
        return value

    def line(self, loc: Sequence[str | int]) -> int:
        """The line of a pydantic location."""
        return self.lines.get(self.resolve(loc), 1)

    def key(self, path: Path_) -> str:
        """A path of the document in words, as `flow[2].stages`."""
        return format_path(
            self.origin.get(path) or (*self.origin.get(path[:-1], path[:-1]), *path[-1:])
        )

    def _belongs_beside(
        self, path: Path_, loc: Sequence[str | int], model: type[BaseModel]
    ) -> bool:
        """Whether an unknown key is one of those beside the key that it was put under."""
        if len(path) < 2 or not isinstance(path[-2], str) or path[-2] == path[-1]:
            return False
        ends = (n for n in range(len(loc)) if self.resolve(loc[:n]) == path[:-2])
        depth = max(ends, default=0)
        return any(
            path[-2] in schema.model_fields and path[-1] in schema.model_fields
            for schema in _models_at(model, loc[:depth])
        )

    def problem(self, error: Mapping[str, Any], model: type[BaseModel]) -> Problem:
        """One validation error: its line, its key, and what was found and is allowed."""
        loc = error["loc"]
        path = self.place(error)
        line = self.lines.get(path, 1)
        key = self.key(path)
        kind = error["type"]
        if kind == "missing":
            return Problem(line, self.key((*path, str(loc[-1]))), "missing; it is required")
        if kind == TOLD:
            return Problem(line, key, str(error["msg"]))
        value = error["input"]
        hint = f" (did you mean {near!r}?)" if (near := suggest_name(error, model)) else ""
        if kind == "extra_forbidden":
            if self._belongs_beside(path, loc, model):
                hint = f" (put it beside `{path[-2]}`)"
            fields = sorted(fields_at(model, loc[:-1]))
            kind_of = loc[-2] if len(loc) > 1 else ""  # the tag of a union, or a key
            named = kind_of and (kind_of,) != self.resolve(loc[:-1])[-1:]
            of = f" for {kind_of}" if named and isinstance(kind_of, str) else ""
            allowed = ", ".join(fields)
            return Problem(line, key, f"unknown key {loc[-1]!r}{of}{hint}; allowed: {allowed}")
        if kind in ("union_tag_not_found", "union_tag_invalid"):
            # Told apart by a field's value, or by which key is there.
            context = error.get("ctx", {})
            field = str(context.get("discriminator", ""))
            if field.startswith("'"):
                written = difflib.get_close_matches(field.strip("'"), map(str, value), 1, 0.7)
                at = (*path, *written)
                path = (*path, field.strip("'"))
                line = self.lines.get(path, line)
                if "tag" not in context and written:
                    what = f"unknown key {written[0]!r} (did you mean {path[-1]!r}?)"
                    return Problem(self.lines.get(at, line), self.key(at), what)
                if "tag" not in context:
                    return Problem(line, self.key(path), "missing; it is required")
                tags = context["expected_tags"].replace("', '", "' or '")
                text = f"found {context['tag']!r}{hint}; allowed: {tags}"
                return Problem(line, self.key(path), text)
            first = next(iter(value), value) if isinstance(value, dict) else value
            if isinstance(value, dict) and "tag" in context:
                # The key whose value is no tag, where one says it.
                telling = next((k for k, v in value.items() if v == context["tag"]), None)
                if (*path, telling) in self.lines:
                    path = (*path, telling)  # type: ignore[arg-type]
                    line, key = self.lines[path], self.key(path)
            value = context.get("tag", first) if isinstance(value, dict) else first
            tags = context.get("expected_tags")
            allowed = tags.replace("'", "") if tags else ", ".join(fields_at(model, loc))
            return Problem(line, key, f"found {value!r}{hint}; allowed: one of {allowed}")
        allowed = describe_allowed(error)
        if isinstance(value, bool) and kind == "string_type" and (word := self.switches.get(path)):
            quoted = f'{word} in quotes, "{word}": without them it is {str(value).lower()}'
            return Problem(line, key, f"found {word}; allowed: {quoted}")
        if kind == "value_error" and isinstance(value, dict | list):
            # Of several values together, each of which is long.
            return Problem(line, key, f"allowed: {allowed}")
        return Problem(line, key, f"found {_short(value)}; allowed: {allowed}")


def suggest_name(error: Mapping[str, Any], model: type[BaseModel]) -> str:
    """The key, or the name of a kind, that an unknown one was probably meant to be; empty if none
    is close. model: of the document."""
    if error["type"] == "extra_forbidden":
        name = str(error["loc"][-1])
        known = sorted({*fields_at(model, error["loc"][:-1])} - {name})
        return next(iter(difflib.get_close_matches(name, known, 1)), "")
    if error["type"] != "union_tag_invalid":
        return ""
    known = error["ctx"]["expected_tags"].strip("'").split("', '")
    return next(iter(difflib.get_close_matches(error["ctx"]["tag"], known, 1, 0.75)), "")


def describe_allowed(error: Mapping[str, Any]) -> str:
    """What would be allowed, in words, according to one of pydantic's errors."""
    kind, value = error["type"], error["input"]
    allowed = str(error["msg"]).removeprefix("Value error, ")
    allowed = allowed.removeprefix("Input should be ").removeprefix("allowed: ")
    allowed = _TYPES.get(kind, _SIZE.sub(r"\1", allowed))
    if kind == "string_pattern_mismatch":
        allowed = PATTERNS.get(error["ctx"]["pattern"], allowed)
    if kind == "string_too_short" and error["ctx"]["min_length"] == 1:
        allowed = "a text of at least one character"
    if kind.endswith("_parsing") and isinstance(value, str):
        if ODD_SPACE.search(value):
            allowed += ", without a no-break space in it"
        elif kind == "float_parsing" and _DECIMAL_COMMA.fullmatch(value):
            allowed += f", with a point as in {value.replace(',', '.')}"
        elif re.search(r"\d", value):
            allowed += ", and nothing else"
    return allowed


_SIZE = re.compile(r"\w+ should have (at (?:least|most) .+?)(?: after validation, not \d+)?$")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_TYPES = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_type": "a text",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
}
"""What pydantic calls by the names of Python's types, in plain words."""


SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
"""Ids of studies, questionnaires and stimulus sets."""
ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
"""Ids of what stimulus sets have."""
WORD = r"^[a-z][a-z0-9_]*$"
"""Ids of items and options, and names of variables."""
LANGUAGE = r"^[a-z]{2,3}(-[A-Z]{2})?$"
Language = Annotated[str, Field(pattern=LANGUAGE)]
CURRENCY = r"^[^.,0-9]+$"
MODEL = r"^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$"
SHA256 = r"^[0-9a-f]{64}$"
MEASURE = r"^[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)?$"
"""An item or a score of a questionnaire, or a number of a task; with the questionnaire before a
point where several have one of that name."""
PATTERNS = {
    SLUG: "lower-case letters a to z and digits, with - between them, like my-study-2",
    ID: "letters A to Z and a to z, digits, _ . and -, a letter or digit first, like size-2",
    WORD: "lower-case letters a to z, digits and _, a letter first, like my_item",
    LANGUAGE: "a language like 'en' or 'de'",
    CURRENCY: "a sign or letters, without digits, points and commas",
    MODEL: "an id like sinelines/vae",
    MEASURE: "a name like trust, or with its questionnaire like my-scale.trust",
    SHA256: "64 hexadecimal digits",
}
"""The patterns of texts in documents, and what they allow, in words."""


def _short(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def format_path(path: Sequence[str | int]) -> str:
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return out or "the file"


_LARGEST_NUMBER = 2**63
_PLAIN_TAGS = {
    f"tag:yaml.org,2002:{name}"
    for name in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp")
}


class _Refused(Exception):
    """What is wrong with the text, at a line where that is known."""

    def __init__(self, what: str, line: int | None, todo: str) -> None:
        super().__init__(what)
        self.what, self.line, self.todo = what, line, todo


class _Loader(yaml.SafeLoader):
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not allowed", problem_mark=mark)
        if self.depth > DEEPEST:
            problem = f"nested more than {DEEPEST} levels deep"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def parse_yaml(path: Path, content: bytes, error: type[LabappError] = StudyError) -> Located:
    """The mapping in `content`; `path` names it in messages. Raises `error`."""
    located, refused = read_yaml(path, content, error)
    if located is None or refused:
        raise StudyError.together(refused) if error is StudyError else refused[0]
    return located


def read_yaml(
    path: Path, content: bytes, error: type[LabappError] = StudyError
) -> tuple[Located | None, list[LabappError]]:
    """The mapping in `content` as far as it can be read, None for not at all, and everything that
    it is refused for."""
    located, refused = _parse_cached(content)
    errors: list[LabappError] = []
    for refusal_ in refused:
        fault = Fault(str(path), refusal_.line or 0, "", refusal_.what, refusal_.todo)
        errors.append(error(f"{fault}.", todo=refusal_.todo, faults=(fault,)))
        errors[-1].__cause__ = refusal_.__cause__
    if located is None:
        return None, errors
    return replace(located, value=_copy_value(located.value)), errors


@lru_cache(maxsize=128)
def _parse_cached(content: bytes) -> tuple[Located | None, tuple[_Refused, ...]]:
    """The same few cards, instruments and words are asked for again and again: opening the home
    reads some of them dozens of times."""
    located = Located(None)
    values = _Values(located)
    try:
        located.value = values.construct(_compose(content), ())
    except _Refused as refused:
        return None, (refused,)
    return located, tuple(values.refused)


def _copy_value(value: Any) -> Any:
    """A copy of a value, for a caller who may change it."""
    if isinstance(value, dict):
        return {key: _copy_value(inner) for key, inner in value.items()}
    return [_copy_value(item) for item in value] if isinstance(value, list) else value


def _compose(content: bytes) -> yaml.MappingNode:
    if len(content) > LARGEST:
        raise _Refused(
            f"it is larger than {LARGEST} bytes", None, "Check that it is the right file."
        )
    try:
        node = yaml.compose(content.decode(), Loader=_Loader)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise _Refused("this is not UTF-8 text", line, "Save the file as UTF-8.") from error
    except yaml.reader.ReaderError as error:
        line = content.decode()[: error.position].count("\n") + 1
        character = error.character
        code = character if isinstance(character, int) else ord(character)
        what = f"the character U+{code:04X} is not allowed"
        raise _Refused(what, line, "Delete it; a text file is needed.") from error
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        if _BEGUN.match(getattr(error, "context", None) or ""):
            mark = getattr(error, "context_mark", mark)
        at = mark.line + 1 if mark else None
        for number in (at, at - 1) if at else ():
            written = content.decode().split("\n")[number - 1 : number]
            if space := _NO_SPACE.search("".join(written)):
                raise _odd_space(space[1], number) from error
        advice = (words for fragment, words in _YAML_ADVICE.items() if fragment in problem)
        todo = next(advice, _ANY_YAML_ADVICE)
        raise _Refused(f"not readable as YAML ({problem})", at, todo) from error
    if not isinstance(node, yaml.MappingNode):
        raise _Refused("found no keys; expected 'key: value' lines", None, "Correct the file.")
    return node


ODD_SPACE = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]")
"""What looks like a space, or like nothing, and is no space in YAML."""
_NO_SPACE = re.compile(rf"(?:^ *|[-:,[{{] *)({ODD_SPACE.pattern})")
"""Where one of these is used instead of a space."""
_BEGUN = re.compile("while (scanning a (simple key|quoted|double)|parsing a flow)")
"""Contexts of PyYAML's errors that are the mistake themselves: what was begun has no end."""


def _odd_space(space: str, line: int) -> _Refused:
    what = f"there is a no-break space (U+{ord(space):04X}), which YAML does not treat as a space"
    return _Refused(what, line, "Replace it with an ordinary space, or delete it.")


_QUOTE = 'A text that contains a colon, a question mark, # or brackets needs quotes: "…".'
_ANY_YAML_ADVICE = f"Correct this line, or the one above it. {_QUOTE}"
_NO_BACKSLASH = "Write / instead of \\ in paths, or put the text in single quotes."
_YAML_ADVICE = {
    "could not find expected ':'": "Put a colon and a space after the key, as in `key: value`.",
    "escape character": _NO_BACKSLASH,
    "unexpected end of stream": "Add the closing quotation mark in this line.",
    "expected ',' or": "Add the closing bracket or the comma that is missing in this line. "
    f"{_QUOTE}",
    "\\t": "Indent this line with spaces instead of tabs.",
    "found '<scalar>'": "Add the closing quotation mark before this text, in this line or "
    "above it.",
    "block end": "Indent this line exactly like the lines around it.",
    "block mapping start": "Indent this line exactly like the lines around it.",
    "mapping values are not allowed": f"Correct this line or its indentation. {_QUOTE}",
}
"""What to do, by what PyYAML calls the problem."""


class _Values:
    """Makes the values of a document's nodes, and notes their lines."""

    def __init__(self, located: Located) -> None:
        self._located = located
        self.refused: list[_Refused] = []
        self._scalars = yaml.constructor.SafeConstructor()

    def construct(self, node: yaml.Node, at: Path_) -> Any:
        located = self._located
        line = node.start_mark.line + 1
        located.lines.setdefault(at, line)
        if node.tag not in _PLAIN_TAGS:
            self.refused.append(
                _Refused(f"the tag {node.tag!r} is not allowed", line, "Use plain values.")
            )
            return None
        if isinstance(node, yaml.MappingNode):
            out: dict[Any, Any] = {}
            behind: int | None = None
            for key_node, value_node in node.value:
                line = key_node.start_mark.line + 1
                if key_node.tag not in _PLAIN_TAGS:
                    merges = key_node.tag == "tag:yaml.org,2002:merge"
                    named = f"merge key {key_node.value!r}" if merges else f"tag {key_node.tag!r}"
                    todo = "Write each key as a plain name."
                    self.refused.append(_Refused(f"the {named} is not allowed", line, todo))
                    continue
                key = self._plain(key_node)
                plain = isinstance(key, str) and key_node.style is None
                if plain and (space := ODD_SPACE.search(key)):
                    self.refused.append(_odd_space(space[0], line))
                    key = ODD_SPACE.sub(" ", key).strip()
                if isinstance(key, int) and behind == key_node.start_mark.index - 1:
                    # Between braces: what stands behind the comma is no key without a colon.
                    last = next(reversed(out))
                    what = f"{last}: found {out[last]},{key}; allowed: a number with a point"
                    self.refused.append(
                        _Refused(what, line, "Write a decimal point instead of the comma.")
                    )
                    out[last] = float(f"{out[last]}.{key}")
                    continue
                whole = node.flow_style and value_node.tag == "tag:yaml.org,2002:int"
                behind = value_node.end_mark.index if whole else None
                if isinstance(key, bool):
                    # No key is true or false: it is the word that stands there, on, off or yes.
                    key = key_node.value
                if not isinstance(key, str | int):
                    what = f"{key_node.value!r} is not a key"
                    self.refused.append(_Refused(what, line, "Correct it."))
                    continue
                if key in out:
                    self.refused.append(
                        _Refused(f"the key {key!r} is given twice", line, "Keep one of them.")
                    )
                    continue
                located.lines[(*at, key)] = line
                out[key] = self.construct(value_node, (*at, key))
            return out
        if isinstance(node, yaml.SequenceNode):
            return [self.construct(item, (*at, index)) for index, item in enumerate(node.value)]
        value = self._plain(node)
        if isinstance(value, bool):
            located.switches[at] = node.value
        if isinstance(value, str):
            located.texts.setdefault(value, line)
        return value

    def _plain(self, node: yaml.Node) -> Any:
        """The value of a scalar; tags that name anything but a plain value are refused."""
        line = node.start_mark.line + 1

        def refuse(what: str, todo: str) -> None:
            self.refused.append(_Refused(what, line, todo))

        try:
            value = self._scalars.construct_object(node)
        except (yaml.YAMLError, ValueError, ArithmeticError) as error:
            refuse(str(getattr(error, "problem", error)), "Use plain values.")
            return None
        if isinstance(value, str) and (steering := STEERING.search(value)):
            # Written as an escape, for YAML refuses most of them as they are.
            what, todo = f"the character U+{ord(steering[0]):04X} is not allowed", "Delete it."
            if getattr(node, "style", None) == '"':
                what += "; in double quotes, a backslash can produce such a character"
                todo = _NO_BACKSLASH
            refuse(what, todo)
        if isinstance(value, int) and not -_LARGEST_NUMBER < value < _LARGEST_NUMBER:
            # What is no number at all (.inf, .nan) is refused with its key, by `Strict`.
            refuse(f"{node.value:.40} is larger than any number that labapp reads", "Correct it.")
        return value


def _merge_problems(problems: Sequence[Problem]) -> list[Problem]:
    """Merge what is said of one value: each kind of a union allows something else."""
    allowed: dict[Problem, list[str]] = {}
    for problem in problems:
        start, separator, rest = problem.what.partition("; allowed: ")
        allowed.setdefault(problem._replace(what=start + separator), []).append(rest)
    return [
        problem._replace(what=problem.what + " or ".join(dict.fromkeys(rest)))
        for problem, rest in allowed.items()
    ]


def innermost(
    every: Sequence[Mapping[str, Any]],
    place: Callable[[Sequence[str | int]], Sequence[str | int]] = tuple,
) -> list[Mapping[str, Any]]:
    """The errors without those about the size or the kind of a whole of which a part is refused:
    pydantic does not count refused items, and names what else a value could have been. place: of
    an error in the document, by its location."""
    places = [tuple(place(error["loc"])) for error in every]
    around = {at[:depth] for at in places for depth in range(len(at))}
    of_wholes = ("_type", "too_short", "literal_error")
    placed = zip(places, every, strict=True)
    return [e for at, e in placed if at not in around or not e["type"].endswith(of_wholes)]


_MOST = 4 * PROBLEMS
"""Errors that are put into words: a value of a union has one for each kind."""


def problems(
    located: Located, every: Sequence[Mapping[str, Any]], model: type[BaseModel]
) -> list[Problem]:
    """What pydantic's errors say, by line."""
    errors = sorted(innermost(every, located.resolve), key=lambda fault: located.line(fault["loc"]))
    # A key that is missing because it is misspelt is told once.
    misspelt = {(*fault["loc"][:-1], suggest_name(fault, model)) for fault in errors[:_MOST]}
    errors = [f for f in errors if f["type"] != "missing" or f["loc"] not in misspelt]
    named = _merge_problems([located.problem(fault, model) for fault in errors[:_MOST]])
    if left := errors[_MOST:]:
        place = located.resolve(left[0]["loc"])
        what = f"{len(left):,} more problems from here on are not listed"
        named.append(Problem(located.line(place), located.key(place), what))
    return named


def refusal(
    path: Path,
    located: Located,
    invalid: ValidationError,
    what: str,
    model: type[BaseModel],
    error: type[LabappError] = StudyError,
) -> LabappError:
    """A pydantic error as an `error` with lines of: line, key, found, allowed."""
    return make_document_error(
        path, problems(located, invalid.errors(include_url=False), model), what, error
    )


def make_document_error(
    path: Path, problems: Sequence[Problem], what: str, error: type[LabappError] = StudyError
) -> LabappError:
    """All problems of a document as one `error`. what: the kind of the document."""
    todo = "Correct these lines and try again."
    named = problems[:_MOST]
    lines = [f"  {problem}" for problem in named]
    if more := len(problems) - len(named):
        lines.append(f"  and {more:,} more")
    return error(
        f"{path} is not a valid {what}:\n" + "\n".join(lines),
        todo=todo,
        faults=[Fault(str(path), *problem, todo=todo) for problem in named],
    )


def models_in(annotation: Any, metadata: Sequence[Any] = ()) -> list[type[BaseModel]]:
    """The models used in a type. metadata: what is annotated to it; if that knows the
    models itself (`labapp.base.documents`), it is asked."""
    if get_origin(annotation) is Annotated:
        annotation, *metadata = get_args(annotation)
    for item in metadata:
        if callable(models := getattr(item, "models", None)):
            return list(models())
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for arg in get_args(annotation) for model in models_in(arg)]


def _literals(field: FieldInfo) -> tuple[Any, ...]:
    """The values of a field that tells the models of a union apart; else nothing."""
    return get_args(field.annotation) if get_origin(field.annotation) is Literal else ()


def _field_of(model: type[BaseModel], key: str) -> FieldInfo | None:
    """The field of a key, by its name or its alias."""
    fields = model.model_fields
    return fields.get(key) or next((f for f in fields.values() if f.alias == key), None)


def fields_at(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """Field names allowed at a location; tags and indexes in it are passed over."""
    here = _models_at(model, loc)
    names = (f.alias or name for schema in here for name, f in schema.model_fields.items())
    return list(dict.fromkeys(names))


def _models_at(model: type[BaseModel], loc: Sequence[str | int]) -> list[type[BaseModel]]:
    here = [model]
    for step in loc:
        inner = [
            inner_model
            for schema in here
            if isinstance(step, str) and (field := _field_of(schema, step))
            for inner_model in models_in(field.annotation, field.metadata)
        ]
        tagged = [
            schema
            for schema in here
            if isinstance(step, str)
            and any(step in _literals(f) for f in schema.model_fields.values())
        ]
        here = inner or tagged or [schema for schema in here if step in schema.model_fields] or here
    return here


def faults_at(faults: Mapping[Path_, str], empty: Collection[Path_] = ()) -> ValidationError:
    """What a validator raises to tell faults at their own places, below the value that it looks at.
    faults: by place what is wrong there; empty: those of them where nothing is, which may be so
    because something else was wrong."""
    return ValidationError.from_exception_data(
        "document",
        [
            {
                "type": PydanticCustomError(TOLD, "{what}", {"what": what}),
                "loc": place,
                "input": {} if place in empty else what,
            }
            for place, what in faults.items()
        ],
    )


def refuse_again(values: Sequence[object], within: Path_ = (), key: Path_ = ()) -> None:
    """Refuse each value of a list that stood in it before, at its place. within: the place of the
    list; key: where in an item of the list the value stands."""
    first: dict[object, int] = {}
    faults = {
        (*within, index, *key): f"found {value!r} again, as number {first[value] + 1} in the "
        "list; allowed: each value once"
        for index, value in enumerate(values)
        if first.setdefault(value, index) != index
    }
    if faults:
        raise faults_at(faults)


def one_of(key: str, classes: Sequence[type[BaseModel]]) -> Any:
    """A type for any of these models, told apart by a field that each has as a Literal."""
    if len(classes) == 1:
        return classes[0]
    return Annotated[Union[tuple(classes)], Field(discriminator=key)]  # noqa: UP007


class OpenUnion:
    """For `Annotated`: values are those of the union that `adapter` makes when it is first asked.

    models: the classes that a value can be of; `labapp.base.documents` names their keys to a
    person who wrote others. A plain annotation with the base class would drop the fields of its
    subclasses, and a union cannot be written down before all packages are known.
    """

    def __init__(
        self,
        models: Callable[[], Sequence[type[BaseModel]]],
        adapter: Callable[[], TypeAdapter[Any]],
    ) -> None:
        self.models = models
        self.adapter = adapter
        self._being_described = False  # items may hold items: what describes itself has no end

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(
            lambda value, info: self.adapter().validate_python(value, context=info.context),
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value, info: value.model_dump(
                    mode=info.mode,
                    by_alias=info.by_alias,
                    exclude_defaults=info.exclude_defaults,
                    exclude_unset=info.exclude_unset,
                    exclude_none=info.exclude_none,
                ),
                info_arg=True,
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        if self._being_described:
            return {"type": "object", "description": "As the items around it."}
        self._being_described = True
        try:
            return handler(self.adapter().core_schema)
        finally:
            self._being_described = False
