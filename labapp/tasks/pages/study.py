"""What a study file may say of texts and of the debrief."""

from __future__ import annotations

from typing import ClassVar

from labapp.study.plugins.item import EarlyDebrief, Item


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
    early : whether it is shown where a session is ended early, too. `begun`: once a task has begun;
        `always`: also to somebody who refuses consent; `never`: not.
    """

    key: ClassVar[str] = "debrief"
    last_only: ClassVar[bool] = True
    debrief: str
    early: EarlyDebrief = "begun"

    def texts(self) -> tuple[str, ...]:
        return (self.debrief,)

    def shown_early(self) -> EarlyDebrief:
        return self.early
