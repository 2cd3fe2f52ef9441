"""The consent form in a plan, and what a study file may say of consent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from labapp.study.consent import Asked, ConsentForm, ConsentSetting, Sign, Use
from labapp.study.plugins.item import FlowOf, Item
from labapp.study.plugins.part import PlannedPart


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


class ConsentItem(Item):
    """The consent form, which is read and signed before anything else.

    Attributes
    ----------
    consent : its text, or its text with how it is signed and what is asked in it.
    """

    key: ClassVar[str] = "consent"
    consents: ClassVar[bool] = True
    first_only: ClassVar[bool] = True
    consent: ConsentSetting

    def texts(self) -> tuple[str, ...]:
        return (self.consent.text,)

    def consent_form(self) -> ConsentForm:
        return self.consent

    def problems(self, study: FlowOf) -> Iterator[str]:
        """What it asks about sound must be what the study does with it."""
        recording, items = study.recording, self.consent.items
        if recording is None:
            return
        if recording.audio == "required" and items.get("audio") == "optional":
            yield (
                "consent.items.audio: required, because recording.audio is: nobody can take part "
                "without being recorded"
            )
        heard = [use for use in items if use in ("audio", "transcript", "share_audio")]
        if recording.audio == "off" and heard:
            yield (
                f"no {heard[0]!r} in consent.items, because recording.audio is off: there is no "
                "sound"
            )
