"""JSON Schemas of what a lab writes: studies, questionnaires, stimulus sets, codebooks. Editors
complete and explain keys by them; `assets/schemas` has them as files."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from labapp.coding.annotations.codebook_document import CodebookDocument
from labapp.models.stimuli.manifest import Manifest
from labapp.study.instruments import Instrument
from labapp.study.schema import Study

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
