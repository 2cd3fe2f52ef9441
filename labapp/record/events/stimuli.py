"""The kind that tells which pictures of a stimulus set a session keeps."""

from __future__ import annotations

from labapp.record.events.registry import Payload, kind
from labapp.record.events.types import Word


@kind("stimuli.kept", durable=True)
class StimuliStored(Payload):
    """The pictures this session shows were put into its folder.

    Attributes
    ----------
    stimuli : id of the stimulus set.
    manifest_sha256 : hash of the set's manifest.
    files : by picture, as the plan names it, the name of its file in `stimuli/`, which is its
        SHA-256.
    """

    stimuli: Word
    manifest_sha256: Word
    files: dict[str, Word]
