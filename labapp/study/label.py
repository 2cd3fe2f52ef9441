"""What participants and sessions may be called."""

from __future__ import annotations

import re

LABEL = re.compile(r"[A-Za-z0-9]{1,40}")
"""BIDS labels (participants, sessions) are letters and digits only. They stand in names of files,
which have 255 bytes at most."""
