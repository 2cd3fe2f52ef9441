"""Kinds of the consent form."""

from __future__ import annotations

from dataclasses import field

from labapp.record.events.lifecycle import Agreement, Refusal
from labapp.record.events.registry import Word, kind


@kind("consent.given", durable=True)
class ConsentGiven(Agreement):
    """The participant agreed to take part. Names and signatures are stored separately.

    Attributes
    ----------
    document_sha256 : hash of the text to which they agreed.
    uses : whether they agreed to each use of the data that was asked about separately (audio,
        transcript, quote, share_audio, video).
    """

    document_sha256: Word
    signed: Word = "name"
    uses: dict[str, bool] = field(default_factory=dict)


@kind("consent.declined", durable=True)
class ConsentDeclined(Refusal):
    """The participant did not agree; the session ends.

    Attributes
    ----------
    document_sha256 : hash of the text.
    """

    document_sha256: Word
