"""What a study file may say of breaks."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from labapp.study.plugins.item import Item


class BreakItem(Item):
    """A break: no duration counts it.

    Attributes
    ----------
    break_ : the file of its text.
    at_least_s : seconds before which only the moderator goes on.
    """

    key: ClassVar[str] = "break"
    break_: str = Field(alias="break")
    at_least_s: float = Field(default=0.0, ge=0, le=3600)

    def texts(self) -> tuple[str, ...]:
        return (self.break_,)
