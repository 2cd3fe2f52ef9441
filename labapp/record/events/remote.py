"""Kinds of events of other computers that take part in a session: who joined it, from where it is
moderated, and what was asked for there.

Their addresses are not stored. Names are those that people gave as they joined.
"""

from __future__ import annotations

from labapp.record.events.registry import (
    Event,
    Nanoseconds,
    Number,
    Payload,
    Whole,
    Word,
    Written,
    kind,
)

OBSERVER = "observer"
"""The source of what an observer noted, in tables."""


@kind("remote.opened", durable=True)
class RemoteOpened(Payload):
    """Other computers can join the session from here on.

    Attributes
    ----------
    port : the port on which the program listens.
    certificate_sha256 : SHA-256 of the certificate that was made for this session, in hexadecimal.
    """

    port: Number
    certificate_sha256: Word


@kind("remote.closed", durable=True)
class RemoteClosed(Payload):
    """No other computer can join or follow the session any more."""


@kind("remote.joined", durable=True)
class RemoteJoined(Payload):
    """Somebody joined from another computer, or rejoined after a broken link.

    Attributes
    ----------
    member : the number of this person in this run of the program, from 1; people who rejoin keep
        theirs.
    name : the name that the person gave.
    role : what the person may do: moderator or observer.
    again : whether the person rejoins after a broken link.
    """

    member: Number
    name: Written
    role: Word
    again: bool


@kind("remote.left", durable=True)
class RemoteLeft(Payload):
    """Somebody at another computer left the session.

    Attributes
    ----------
    member : the number of the person.
    why : left, removed (by the moderator), link_lost (the person may rejoin), or closed.
    """

    member: Number
    why: Word


@kind("remote.refused", durable=True)
class RemoteRefused(Payload):
    """Somebody tried to join with a wrong code.

    Attributes
    ----------
    role : the role for which the code is valid: moderator or observer.
    attempts : the number of wrong attempts at this code, including this one.
    """

    role: Word
    attempts: Number


@kind("remote.clock")
class RemoteClock(Payload):
    """How well the clock of another computer agrees with the session's; stored again when this
    changes by half or more.

    Attributes
    ----------
    member : the number of the person at that computer.
    error_ns : the largest error of session times read there: half of the shortest round trip, and
        the possible drift between the clocks since then.
    """

    member: Number
    error_ns: Nanoseconds


@kind("moderator.changed", durable=True, lane="notes")
class ModeratorChanged(Payload):
    """Somebody else moderates the session from here on.

    Attributes
    ----------
    member : the number of the person at another computer; None for the session's own computer.
    why : joined, handed_over, taken_back, or left.
    """

    member: Number | None
    why: Word


@kind("remote.asked", durable=True)
class RemoteAsked(Payload):
    """The events directly after this one were requested at another computer.

    Attributes
    ----------
    member : the number of the person who made the request.
    number : the number of the request among those of this person, from 1.
    asked_ns : session time of the request, read at the other computer.
    events : the number of events that follow from it.
    """

    member: Number
    number: Number
    asked_ns: Whole
    events: Number = 1

    def followed_by(self, events: int) -> RemoteAsked:
        """The same with so many events that follow from it."""
        return RemoteAsked(self.member, self.number, self.asked_ns, events)


class Afar:
    """A fold over events: when and by whom that was asked for which came from another computer.

    Kinds of other events may be left out.
    """

    def __init__(self) -> None:
        self._roles: dict[int, str] = {}
        self._asked: RemoteAsked | None = None
        self._from = self._to = 0

    def apply(self, event: Event, payload: Payload | None) -> None:
        """Take in the next event. payload: None if it is of none of the kinds here."""
        match payload:
            case RemoteJoined():
                self._roles[payload.member] = payload.role
            case RemoteAsked():
                self._asked = payload
                self._from, self._to = event.seq, event.seq + payload.events

    def asked(self, event: Event) -> RemoteAsked | None:
        """The request that an event follows from; None if that was made at the session's own
        computer, or by nobody."""
        return self._asked if self._from < event.seq <= self._to else None

    def time_ns(self, event: Event) -> int:
        """Session time of the key: of what came over a link, when it was pressed there."""
        asked = self.asked(event)
        return event.t_ns if asked is None else min(event.t_ns, asked.asked_ns)

    def source(self, event: Event) -> str:
        """Who caused an event: as it says, or an observer at another computer."""
        asked = self.asked(event)
        observed = asked is not None and self._roles.get(asked.member) == OBSERVER
        return OBSERVER if observed else str(event.source)
