"""What a study file may say of texts and of the debrief."""

from __future__ import annotations

from typing import ClassVar

from labapp.plugins.item import Item


class TextItem(Item):
    """A text of one page or several, which is read; a line of three dashes begins a page.

    Attributes
    ----------
    text : its file, beside the study file or among the shipped texts; `{language}` is the study's.
    """

    key: ClassVar[str] = "text"
    text: str

    def texts(self) -> tuple[str, ...]:
        return (self.text,)


class DebriefItem(Item):
    """The text at the end, once everything is done.

    Attributes
    ----------
    debrief : its file.
    """

    key: ClassVar[str] = "debrief"
    last_only: ClassVar[bool] = True
    debrief: str

    def texts(self) -> tuple[str, ...]:
        return (self.debrief,)
