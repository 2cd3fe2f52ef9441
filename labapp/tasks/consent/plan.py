"""The consent form in a plan."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from labapp.plugins.part import PlannedPart
from labapp.study.consent import Asked, Sign, Use


class ConsentPart(PlannedPart):
    """The consent form. document_sha256: hash of its text; sign: how it is signed; items: uses of
    the data that are asked one by one."""

    consents: ClassVar[bool] = True
    part: Literal["consent"] = "consent"
    document: str
    document_sha256: str
    sign: Sign = "name"
    items: dict[Use, Asked] = Field(default_factory=dict)

    def signed_document(self) -> str | None:
        return None if self.sign == "click" else self.document_sha256
