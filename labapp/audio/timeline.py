"""Where sound was lost, and how much: a pure fold over packets.

A host's overflow flag does not say how much was lost, and neither flag nor ADC time can be trusted
on every host. What cannot lie is arrival: frame n can never arrive before it was captured. Let
lateness be the arrival time of a packet's last frame minus that frame's place in the stream. A busy
machine makes lateness jump up and come back when the backlog is delivered; lost sound makes it jump
up and stay. So a suspicious packet and what follows is held back until half a second of sound has
come without any catching up, and only what is left of the jump at its lowest is taken as lost.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from labapp.audio.capture import SAMPLE_BYTES, Packet

HOLD_S = 0.5
WINDOW_S = 2.0
SETTLE_S = WINDOW_S + 1.0
SUSPICIOUS_S = 0.08
LOST_S = 0.02
CATCH_UP_S = 0.005


@dataclass(frozen=True, slots=True)
class PlacedPacket:
    """A packet that is ready to be written, and the silence that belongs before it.

    Attributes
    ----------
    frames : frames of the packet.
    lost : frames to fill with silence before it.
    cause : empty, or overflow, queue or stalled. If the host reports an overflow although no time
        is missing, there is a cause, and `lost` is 0.
    """

    packet: Packet
    frames: int
    lost: int
    cause: str


class PacketTimeline:
    """One stream from its start to its end.

    Parameters
    ----------
    rate : frames per second.
    channels : channels interleaved in the packets.
    """

    def __init__(self, rate: int, channels: int = 1) -> None:
        self._rate = rate
        self._frame_bytes = channels * SAMPLE_BYTES
        self._frames = 0
        self._started_ns: int | None = None
        self._window: deque[tuple[int, float]] = deque()
        self._held: list[Packet] = []
        self._held_lateness: list[float] = []
        self._reference = 0.0
        self._level = 0.0
        self._steady = 0

    def take(self, packet: Packet) -> list[PlacedPacket]:
        """Take in one packet; returns the packets that can be written now, in order."""
        if self._started_ns is None:
            self._started_ns = packet.perf_ns
        self._frames += packet.dropped + self._count(packet)
        lateness = packet.perf_ns / 1e9 - self._frames / self._rate
        if self._held:
            return self._hold(packet, lateness)
        self._forget(packet.perf_ns)
        settled = packet.perf_ns - self._started_ns >= SETTLE_S * 1e9 and bool(self._window)
        if settled:
            self._reference = min(value for _, value in self._window)
            if packet.overflow or lateness - self._reference > SUSPICIOUS_S:
                return self._hold(packet, lateness)
        self._window.append((packet.perf_ns, lateness))
        return [self._place(packet, overflow=packet.overflow)]

    def flush(self) -> list[PlacedPacket]:
        """Release what is held, deciding on what is known; call at the end of the stream."""
        return self._release() if self._held else []

    def expected_ns(self) -> int | None:
        """`perf_counter_ns` at which the frame after the last one taken would have been captured,
        by the earliest arrival seen lately; None before the first packet."""
        values = [value for _, value in self._window] + self._held_lateness
        if not values:
            return None
        return round((min(values) + self._frames / self._rate) * 1e9)

    def _hold(self, packet: Packet, lateness: float) -> list[PlacedPacket]:
        self._held.append(packet)
        self._held_lateness.append(lateness)
        caught_up = lateness - self._reference < LOST_S
        # Counted in sound, not in time: while nothing is delivered nothing can catch up either.
        begins = len(self._held) == 1
        if not begins and self._level - CATCH_UP_S <= lateness <= self._level + SUSPICIOUS_S:
            self._steady += self._count(packet)
        else:
            # Still catching up, or one more stall: the half second begins anew.
            self._level, self._steady = lateness, 0
        if caught_up or self._steady >= HOLD_S * self._rate:
            return self._release()
        return []

    def _release(self) -> list[PlacedPacket]:
        held, lateness = self._held, self._held_lateness
        self._held, self._held_lateness = [], []
        missing_s = min(lateness) - self._reference
        lost = round(missing_s * self._rate) if missing_s >= LOST_S else 0
        first, rest = held[0], held[1:]
        overflow = any(packet.overflow for packet in held)
        placed = self._place(first, overflow=overflow, missing=lost)
        self._frames += lost
        shift = lost / self._rate
        self._window.extend(
            (packet.perf_ns, value - shift) for packet, value in zip(held, lateness, strict=True)
        )
        return [placed, *(self._place(packet, overflow=False) for packet in rest)]

    def _place(self, packet: Packet, *, overflow: bool, missing: int = 0) -> PlacedPacket:
        cause = "overflow" if overflow else "stalled" if missing else ""
        if packet.dropped:
            cause = cause or "queue"
        return PlacedPacket(packet, self._count(packet), packet.dropped + missing, cause)

    def _count(self, packet: Packet) -> int:
        return len(packet.data) // self._frame_bytes

    def _forget(self, now_ns: int) -> None:
        while len(self._window) > 1 and now_ns - self._window[0][0] > WINDOW_S * 1e9:
            self._window.popleft()
