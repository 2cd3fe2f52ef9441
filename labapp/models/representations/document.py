"""Model cards and recipes: documents that are refused with a ModelError."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from labapp.base.documents import LARGEST, parse_yaml, refusal
from labapp.base.errors import LabappError, ModelError
from labapp.base.reading import files

Document = TypeVar("Document", bound=BaseModel)


def read(path: Path, kind: str, model: type[Document]) -> Document:
    """The document in `path`. Raises ModelError: the file is missing, too large, not YAML, or not
    what `model` declares; the message names line, key, what was found and what is allowed. `kind`:
    what a person calls such a file, for example "model card"."""
    try:
        content = files.content(path, LARGEST)
    except OSError as error:
        raise ModelError(
            f"The {kind} {path} cannot be read: {error.strerror}.",
            todo="Check the path and its permissions.",
        ) from error
    located = parse_yaml(path, content, ModelError)
    try:
        return model.model_validate(located.value)
    except ValidationError as error:
        raise refusal(path, located, error, kind, model, ModelError) from error


def keys(path: Path) -> set[str]:
    """The keys of the document in `path`, right or wrong; none where it cannot be read."""
    try:
        value = parse_yaml(path, files.content(path, LARGEST), ModelError).value
    except (OSError, LabappError):
        return set()
    return set(value) if isinstance(value, dict) else set()


def dump(document: BaseModel) -> str:
    """The document as YAML, keys in their declared order, fields left at None omitted."""
    values = document.model_dump(mode="json", exclude_none=True)
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
