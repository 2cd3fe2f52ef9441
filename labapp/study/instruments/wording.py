"""Words in several languages: a text, or a mapping language -> text of which one is taken."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?")
USUAL = "en"
"""The language where none is asked for."""


def _in_language(value: Any, info: ValidationInfo) -> Any:
    """The text in the language of the validation's context (key `language`)."""
    if not isinstance(value, dict):
        return value
    if wrong := [key for key in value if not LANGUAGE.fullmatch(str(key))]:
        raise ValueError(f"a text, or texts by language like 'en'; {wrong[0]!r} is no language")
    context = info.context or {}
    language, fallback = context.get("language", USUAL), context.get("fallback")
    if language not in value and fallback in value:
        language = fallback
        if (fell_back := context.get("fell_back")) is not None:
            fell_back.append(value[fallback])
    if language not in value:
        there = ", ".join(sorted(value)) or "none"
        raise ValueError(f"a text in the study's language {language!r}; there is: {there}")
    return value[language]


_SCHEMA = {
    "anyOf": [
        {"type": "string"},
        {"type": "object", "additionalProperties": {"type": "string"}},
    ]
}

Words = Annotated[str, BeforeValidator(_in_language), WithJsonSchema(_SCHEMA)]
"""A text as the participant sees it; may be empty."""

SomeWords = Annotated[
    str, Field(min_length=1), BeforeValidator(_in_language), WithJsonSchema(_SCHEMA)
]
"""A text that must say something."""
