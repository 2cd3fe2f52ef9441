"""Model cards and recipes as YAML checked by pydantic, refused by file, line, key and value."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from labapp.errors import ModelError

Document = TypeVar("Document", bound=BaseModel)
Location = tuple[str | int, ...]

LARGEST = 256 * 1024
"""Bytes. A card or recipe is a page of text; anything larger is something else."""

_TODO = "Correct the file, or take a fresh copy of it."


class _Loader(yaml.SafeLoader):
    """Plain values only: no tags, no aliases (they can swell without bound), no repeated key."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases are not allowed", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} stands twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def read(path: Path, kind: str, model: type[Document]) -> Document:
    """The document in `path`.

    Parameters
    ----------
    kind : what a person calls such a file, for example "model card".

    Raises
    ------
    ModelError : the file is missing, too large, not YAML, or not what `model` declares; the
        message names line, key, what was found and what is allowed.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise ModelError(
            f"The {kind} {path} cannot be read: {error.strerror}.",
            todo="Check the path and its permissions.",
        ) from error
    if len(content) > LARGEST:
        raise ModelError(f"The {kind} {path} is larger than {LARGEST} bytes.", todo=_TODO)
    try:
        # A YAMLError is a file's fault; a RecursionError is a file nested beyond all reason.
        loader = _Loader(content.decode("utf-8"))
        root = loader.get_single_node()
        value = None if root is None else loader.construct_document(root)
    except (UnicodeDecodeError, ValueError, RecursionError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise ModelError(
            f"The {kind} {path} is not readable text.\n  {where}{problem}", todo=_TODO
        ) from error
    if not isinstance(value, dict) or not isinstance(root, yaml.MappingNode):
        raise ModelError(f"The {kind} {path} holds no 'key: value' lines.", todo=_TODO)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problems = "\n".join(_problem(root, one) for one in error.errors(include_url=False)[:10])
        raise ModelError(f"The {kind} {path} is refused.\n{problems}", todo=_TODO) from error


def dump(document: BaseModel) -> str:
    """The document as YAML, keys in their declared order, fields left at None omitted."""
    values = document.model_dump(mode="json", exclude_none=True)
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)


def _problem(root: yaml.MappingNode, error: ErrorDetails) -> str:
    line, key = _locate(root, error["loc"])
    if error["type"] == "extra_forbidden":
        return f"  line {line}: {key}: no such key is known here."
    if error["type"] == "missing":
        return f"  line {line}: {key}: is missing."
    found = repr(error["input"])
    shown = found if len(found) <= 60 else found[:57] + "..."
    allowed = error["msg"].removeprefix("Value error, ")
    return f"  line {line}: {key}: found {shown}; {allowed[:1].lower()}{allowed[1:]}."


def _locate(root: yaml.Node, location: Location) -> tuple[int, str]:
    """The line of the deepest node that the location names, and its key as written.

    Pydantic puts the tag of a union into a location where the file has no such key: a step that
    is not found is passed over unless it is the last one (then the key itself is missing).
    """
    node, line, key = root, root.start_mark.line + 1, ""
    for depth, step in enumerate(location):
        if isinstance(node, yaml.MappingNode):
            match = [(k, v) for k, v in node.value if k.value == str(step)]
            if match:
                line, node = match[0][0].start_mark.line + 1, match[0][1]
                key = f"{key}.{step}" if key else str(step)
            elif depth == len(location) - 1:
                key = f"{key}.{step}" if key else str(step)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            if step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line + 1
            key = f"{key}[{step}]"
    return line, key or "the file"
