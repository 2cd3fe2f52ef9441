"""Questionnaires as files: one instrument a YAML, checked, versioned, in any language."""

from labapp.study.instruments.instrument import Instrument
from labapp.study.instruments.items import Item, Option
from labapp.study.instruments.kinds.choice import Choice, Choices
from labapp.study.instruments.kinds.rating import Rating, Scale, Statement
from labapp.study.instruments.kinds.slider import Slider
from labapp.study.instruments.kinds.written import Written

__all__ = [
    "Choice",
    "Choices",
    "Instrument",
    "Item",
    "Option",
    "Rating",
    "Scale",
    "Slider",
    "Statement",
    "Written",
]
