"""Which keys are down, and from when on they count for whoever has just got the keyboard."""

from __future__ import annotations

from typing import Literal


class KeysHeld:
    """A fold over key events of both windows; keys are named by their scan codes.

    After `hand_over` nothing counts until every key was let go: what is down then is the tail of
    what somebody else typed. The window system can swallow a release, when another program comes in
    between; so a key that goes down anew was up, and `forget` is for when nothing came for long.
    """

    def __init__(self) -> None:
        self._down: set[int] = set()
        self._waiting = False

    @property
    def waiting(self) -> bool:
        """Whether keys still have to be let go."""
        return self._waiting

    def hand_over(self) -> None:
        """The keyboard goes to somebody else now."""
        self._waiting = bool(self._down)

    def forget(self) -> None:
        """Take all keys for let go."""
        self._down.clear()
        self._waiting = False

    def take(self, key: int, kind: Literal["press", "release"], *, repeated: bool) -> bool:
        """Take in an event; True if it counts. repeated: the keyboard's own repetition of a key
        that is held."""
        if repeated:
            if kind == "press":
                self._down.add(key)
            return not self._waiting
        if kind == "release":
            self._down.discard(key)
            counts = not self._waiting
            self._waiting = self._waiting and bool(self._down)
            return counts
        if key in self._down:
            self._down.discard(key)
            self._waiting = self._waiting and bool(self._down)
        self._down.add(key)
        return not self._waiting
