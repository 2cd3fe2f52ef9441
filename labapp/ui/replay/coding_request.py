"""Who codes and how, and what coding asks of the player."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from labapp.annotations.model import Blinding, Round

REACTION_MS = 200
MOST_REACTION_MS = 500


@dataclass(frozen=True, slots=True)
class CodingRequest:
    """Who codes, by what, and what they are not shown.

    Attributes
    ----------
    rater : the name of the rater's file.
    codebook : the id of a codebook of the study; empty where there is only one.
    round : see `labapp.annotations.model.Round`.
    blind : see `labapp.annotations.model.Blinding`.
    """

    rater: str
    codebook: str = ""
    round: Round = "independent"
    blind: tuple[Blinding, ...] = ("names", "outcomes", "future")


class Transport(Protocol):
    """What coding asks of the player: see `labapp.ui.replay.controller.ReplayController`."""

    @property
    def playing(self) -> bool:
        """Whether it plays."""

    def now_ns(self) -> int:
        """The session time of what is heard."""

    @property
    def loop(self) -> tuple[int, int] | None:
        """What is played again and again."""

    def pause(self) -> None:
        """Stop where it is."""

    def toggle(self) -> None:
        """Play or pause."""

    def seek(self, t_ns: int) -> None:
        """Go to a session time."""

    def seek_and_play(self, t_ns: int) -> None:
        """Play from a session time on."""


@dataclass
class Settings:
    """How coding goes.

    Attributes
    ----------
    advance : a code of an exclusive tier goes on to the next unit once this one was heard.
    play_units : going to a unit plays it.
    show_old : in recoding, codes of an older definition are shown.
    hold : spans hold while their key is held, instead of being begun and ended by it.
    reaction_ms : taken off the time of a key that begins or ends something while the sound plays,
        from 0 to 500.
    """

    advance: bool = True
    play_units: bool = True
    hold: bool = False
    show_old: bool = True
    reaction_ms: int = REACTION_MS
