"""YAML with line numbers, so that a refused key can be found."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from labapp.errors import StudyError

Path_ = tuple[str | int, ...]


@dataclass
class Located:
    """A YAML document's value, and the line of every key and item (counted from 1)."""

    value: Any
    lines: dict[Path_, int] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)

    def line_of_text(self, text: str) -> int | None:
        """The line of the first scalar that equals the text."""
        return self.texts.get(text)

    def resolve(self, loc: Sequence[str | int]) -> Path_:
        """The document's path of a pydantic location: tags of unions are left out."""
        path: Path_ = ()
        for step in loc:
            if (*path, step) in self.lines:
                path = (*path, step)
        return path

    def problem(self, error: Mapping[str, Any], model: type[BaseModel]) -> str:
        """One validation error as: line, key: found; allowed."""
        loc = error["loc"]
        path = self.resolve(loc)
        line = self.lines.get(path, 1)
        key = _dotted(path)
        kind = error["type"]
        if kind == "missing":
            key = _dotted((*path, str(loc[-1])))
            return f"line {line}, {key}: missing; it is required"
        found = error["input"]
        if kind == "extra_forbidden":
            fields = sorted(_fields_at(model, loc[:-1]))
            near = difflib.get_close_matches(str(loc[-1]), fields, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            return (
                f"line {line}, {key}: unknown key {loc[-1]!r}{hint}; allowed: {', '.join(fields)}"
            )
        if kind in ("union_tag_not_found", "union_tag_invalid"):
            found = next(iter(found), found) if isinstance(found, dict) else found
            from labapp.study.schema import FLOW_KEYS

            return f"line {line}, {key}: found {found!r}; allowed: one of {', '.join(FLOW_KEYS)}"
        allowed = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
        return f"line {line}, {key}: found {_short(found)}; allowed: {allowed}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _dotted(path: Sequence[str | int]) -> str:
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return out or "the file"


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for arg in get_args(annotation) for model in _models_in(arg)]


def _fields_at(model: type[BaseModel], loc: Sequence[str | int]) -> set[str]:
    """Field names allowed at a location; tags and indexes in it are passed over."""
    here = [model]
    for step in loc:
        inner = [
            found
            for one in here
            if step in one.model_fields
            for found in _models_in(one.model_fields[str(step)].annotation)
        ]
        here = inner or [one for one in here if step in one.model_fields] or here
    return {name for one in here for name in one.model_fields}


class _Loader(yaml.SafeLoader):
    """Without aliases: a few lines of them can swell to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases are not allowed", problem_mark=mark)
        return super().compose_node(parent, index)


def parse_yaml(path: Path, content: bytes) -> Located:
    """Parse a YAML mapping; duplicate keys, tags and non-UTF-8 are refused with their line."""
    try:
        node = yaml.compose(content.decode(), Loader=_Loader)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise StudyError(
            f"{path}, line {line}: this is not UTF-8 text.", todo="Save the file as UTF-8."
        ) from error
    except yaml.reader.ReaderError as error:
        line = content.decode()[: error.position].count("\n") + 1
        raise StudyError(
            f"{path}, line {line}: the character {error.character!r} is not allowed.",
            todo="Delete it.",
        ) from error
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise StudyError(
            f"{path}{where}: not readable as YAML ({problem}).", todo="Correct this line."
        ) from error
    if not isinstance(node, yaml.MappingNode):
        raise StudyError(
            f"{path}: found no keys; expected 'key: value' lines.", todo="See the docs."
        )
    located = Located(None)
    located.value = _construct(path, node, (), located)
    return located


def _construct(path: Path, node: yaml.Node, at: Path_, located: Located) -> Any:
    located.lines.setdefault(at, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        out: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = _plain(path, key_node)
            line = key_node.start_mark.line + 1
            if isinstance(key, bool) or not isinstance(key, str | int):
                raise StudyError(
                    f"{path}, line {line}: {key_node.value!r} is not a key.", todo="Correct it."
                )
            if key in out:
                raise StudyError(
                    f"{path}, line {line}: the key {key!r} is given twice.",
                    todo="Keep one of them.",
                )
            located.lines[(*at, key)] = line
            out[key] = _construct(path, value_node, (*at, key), located)
        return out
    if isinstance(node, yaml.SequenceNode):
        return [
            _construct(path, item, (*at, index), located) for index, item in enumerate(node.value)
        ]
    value = _plain(path, node)
    if isinstance(value, str):
        located.texts.setdefault(value, node.start_mark.line + 1)
    return value


def _plain(path: Path, node: yaml.Node) -> Any:
    """The value of a scalar; tags that name anything but a plain value are refused."""
    try:
        return yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError) as error:
        raise StudyError(
            f"{path}, line {node.start_mark.line + 1}: {getattr(error, 'problem', error)}.",
            todo="Use plain values.",
        ) from error


def refusal(
    path: Path, located: Located, error: ValidationError, what: str, model: type[BaseModel]
) -> StudyError:
    """A pydantic error as lines of: line, key, found, allowed."""
    problems = [located.problem(problem, model) for problem in error.errors(include_url=False)]
    return StudyError(
        f"{path} is not a valid {what}:\n" + "\n".join(f"  {text}" for text in problems),
        todo="Correct these lines and try again.",
    )
