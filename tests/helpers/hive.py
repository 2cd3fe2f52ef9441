"""The HIVE studies."""

from __future__ import annotations

STUDIES = {
    "gradcam-distinction": "birds-gradcam",
    "gradcam-distinction-labels": "birds-gradcam",
    "bagnet-distinction": "birds-bagnet",
    "bagnet-distinction-labels": "birds-bagnet",
    "protopnet-distinction": "birds-protopnet-distinction",
    "protopnet-agreement": "birds-protopnet",
    "prototree-distinction": "birds-prototree-distinction",
    "prototree-agreement": "birds-prototree",
    "prototree-agreement-tree": "birds-prototree",
}
"""The nine studies and the set of each."""
