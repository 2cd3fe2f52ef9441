"""Questionnaires as files: one instrument a YAML, checked, versioned, in any language."""

from labapp.study.instruments.asking import Choice, Choices, Option
from labapp.study.instruments.instrument import Instrument
from labapp.study.instruments.items import Item, Rating, Scale, Slider, Statement, Written

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
