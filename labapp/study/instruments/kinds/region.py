"""One of several regions of a picture. What is stored is that of a choice."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from labapp.study.instruments.items import Option, PictureMedia, SomeWords
from labapp.study.instruments.kinds.choice import OneChoice

Share = Annotated[float, Field(ge=0, le=1)]


class Region(Option):
    """A region of a picture.

    Attributes
    ----------
    area : its left, top, width and height, as shares of the picture from 0 to 1.
    """

    area: tuple[Share, Share, Share, Share]

    @field_validator("area")
    @classmethod
    def _within(cls, area: tuple[float, ...]) -> tuple[float, ...]:
        left, top, width, height = area
        if min(width, height) < 0.01 or left + width > 1.001 or top + height > 1.001:
            raise ValueError("left, top, width and height of an area within the picture")
        return area


class RegionChoice(OneChoice):
    """One of several regions of a picture, chosen by a click.

    Attributes
    ----------
    media : the picture.
    options : the regions; screen readers speak their texts.
    """

    pictured: ClassVar[bool] = False
    kind: Literal["region"]
    text: SomeWords
    media: PictureMedia
    options: tuple[Region, ...] = Field(min_length=2, max_length=40)
