"""The base of every model that is read from a file or kept in a plan."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict

LABEL = re.compile(r"[A-Za-z0-9]+")
"""BIDS labels (participants, sessions) are letters and digits only."""


class Strict(BaseModel):
    """Unknown keys are refused: a misspelt setting must not be ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)
