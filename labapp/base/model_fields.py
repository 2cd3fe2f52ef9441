"""The models that stand in types, and the names of their fields: what a document may say at a
place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


def models_in(annotation: Any, metadata: Sequence[Any] = ()) -> list[type[BaseModel]]:
    """The models that stand in a type. metadata: what is annotated to it; where that knows the
    models itself (`labapp.base.open_union`), it is asked."""
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


def fields_at(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """Field names allowed at a location; tags and indexes in it are passed over."""
    here = [model]
    for step in loc:
        inner = [
            inner_model
            for schema in here
            if isinstance(step, str) and (field := schema.model_fields.get(step))
            for inner_model in models_in(field.annotation, field.metadata)
        ]
        tagged = [
            schema
            for schema in here
            if isinstance(step, str)
            and any(step in _literals(f) for f in schema.model_fields.values())
        ]
        here = inner or tagged or [schema for schema in here if step in schema.model_fields] or here
    names = (f.alias or name for schema in here for name, f in schema.model_fields.items())
    return list(dict.fromkeys(names))
