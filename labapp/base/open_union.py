"""A field of a static model whose classes are known at run time only, by the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Union

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema


def one_of(key: str, classes: Sequence[type[BaseModel]]) -> Any:
    """A type for any of these models, told apart by a field that each has as a Literal."""
    if len(classes) == 1:
        return classes[0]
    return Annotated[Union[tuple(classes)], Field(discriminator=key)]  # noqa: UP007


class OpenUnion:
    """For `Annotated`: values are those of the union that `adapter` makes when it is first asked.

    models: the classes that a value can be of; `labapp.base.documents` names their keys to whoever
    wrote others. A plain annotation with the base class would drop the fields of its subclasses,
    and a union cannot be written down before all packages are known.
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
