"""What participants and sessions may be called."""

from __future__ import annotations

import re

LABEL = re.compile(r"[A-Za-z0-9]+")
"""BIDS labels (participants, sessions) are letters and digits only."""
