"""One of many options, which are searched by typing. What is stored is that of a choice."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from labapp.study.instruments.items import Option
from labapp.study.instruments.kinds.choice import OneChoice


class Dropdown(OneChoice):
    """One of many options, such as a country: typing part of one shows the options that contain
    it."""

    pictured: ClassVar[bool] = False
    kind: Literal["dropdown"]
    options: tuple[Option, ...] = Field(min_length=2, max_length=2000)
