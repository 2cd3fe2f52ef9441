"""Editors complete and explain the keys of studies, questionnaires and stimulus sets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import jsonschema
import pytest
import yaml
from jsonschema.protocols import Validator
from pydantic import BaseModel

from labapp.base import resources
from labapp.base.descriptions import keys, summary
from labapp.base.documents import models_in
from labapp.study.authoring import DOCUMENTS, as_text, schema_of
from tests.study.test_refusals import GOOD

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
