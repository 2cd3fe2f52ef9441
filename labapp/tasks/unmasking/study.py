"""What a study file may say of unmasking."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from labapp.documents import Strict
from labapp.stimuli import masking
from labapp.stimuli.manifest import Fill, Sign
from labapp.study.stages import StimulusStages
from labapp.tasks.unmasking.plan import KeyboardRule


class MaskSizes(Strict):
    """Percentages of pixels shown, spaced logarithmically; see `labapp.stimuli.masking.sizes`.

    Attributes
    ----------
    smallest : the smallest percentage.
    largest : the largest percentage.
    count : how many there are.
    """

    smallest: float = Field(default=5, gt=0, le=100)
    largest: float = Field(default=60, gt=0, le=100)
    count: int = Field(default=10, ge=1, le=100)

    @model_validator(mode="after")
    def _distinct(self) -> MaskSizes:
        if self.largest <= self.smallest and self.count > 1:
            raise ValueError(f"largest is {self.largest:g}; more than {self.smallest:g} is needed")
        masking.sizes(self.smallest, self.largest, self.count)
        return self


class Breaks(Strict):
    """Breaks inside the stage.

    Attributes
    ----------
    every : sequences between two of them.
    text : what is shown meanwhile.
    at_least_s : seconds before which only the moderator goes on.
    """

    every: int = Field(ge=1, le=1000)
    text: str = "texts/{language}/unmasking-break.md"
    at_least_s: float = Field(default=0.0, ge=0, le=3600)


class UnmaskingStages(StimulusStages):
    """The unmasking task (paper 004): every image of a set with every method, each a sequence of
    masks that show more and more of it.

    Attributes
    ----------
    methods : of the set; without it all.
    masks : percentages of pixels shown, spaced (smallest, largest, count) or listed.
    fill : what masked pixels become: the `mean` of the pictures, `black`, `grey` or `white`.
    sign : whether pixels are ranked by their score (`signed`) or by its size alone (`absolute`).
    order : of the sequences: as listed, or by lot for each participant.
    question : above the buttons; by default the window's own.
    class_names : by class what its button says; by default the set's names.
    buttons : in the set's order, or turned round for every second participant.
    keys : one a button and the last for "I don't know"; by default F, J and Space with two classes,
        else digits.
    size_px : longer side of the picture in logical pixels (96 an inch); it is shown in whole blocks
        of the display's own, so as near below as these allow.
    blank_ms : milliseconds between two stimuli.
    keyboard_away : what becomes of a stimulus during which the participant's keyboard was away: it
        is marked (`mark`), or shown again as a new attempt (`repeat`).
    breaks : breaks inside the stage; without it none.
    example : the text before the example sequence, which is that of the set's correct_example;
        without it there is no example.
    example_method : the method of the example; by default the first.
    """

    task: Literal["unmasking"]
    methods: tuple[str, ...] = Field(default=(), max_length=50)
    masks: MaskSizes | tuple[float, ...] = MaskSizes()
    fill: Fill = "mean"
    sign: Sign = "signed"
    order: Literal["as_listed", "random"] = "random"
    question: str | None = None
    class_names: dict[str, str] = Field(default_factory=dict)
    buttons: Literal["as_listed", "counterbalanced"] = "as_listed"
    keys: tuple[str, ...] = ()
    size_px: int = Field(default=384, ge=48, le=2000)
    blank_ms: int = Field(default=0, ge=0, le=10_000)
    keyboard_away: KeyboardRule = "mark"
    breaks: Breaks | None = None
    example: str | None = None
    example_method: str | None = None
    think_aloud: bool = False

    @property
    def percents(self) -> tuple[float, ...]:
        """Percentages of pixels shown, ascending."""
        if isinstance(self.masks, MaskSizes):
            return masking.sizes(self.masks.smallest, self.masks.largest, self.masks.count)
        return self.masks

    def texts(self) -> tuple[str, ...]:
        breaks = () if self.breaks is None else (self.breaks.text,)
        return (*(() if self.example is None else (self.example,)), self.intro, *breaks)

    @model_validator(mode="after")
    def _of_an_example(self) -> UnmaskingStages:
        if self.example_method is not None and self.example is None:
            raise ValueError("example_method only with an example; name its text too")
        return self

    @field_validator("masks")
    @classmethod
    def _ascending(cls, masks: MaskSizes | tuple[float, ...]) -> MaskSizes | tuple[float, ...]:
        return masking.ascending(masks) if isinstance(masks, tuple) else masks
