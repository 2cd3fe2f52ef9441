"""The other process of a heartbeat: it sees whether the program stands still, and whether it did so
itself. It imports nothing of labapp and nothing large, and ends with its standard input.

In: a byte a beat, `?` where the program wants to know what stood still. Out, for each `?`, a line:
from when and until when this process last stood still, then the same of the program's beats, each
in ns of `time.perf_counter_ns` and 0 for never.
"""

import os
import signal
import threading
import time

TICK_S = 0.25
STILL_NS = 1_000_000_000
"""What takes longer between two beats is a standstill."""
ASK = b"?"


class Bystander:
    """Two threads look at the clock: one that sleeps, and one that waits for beats."""

    def __init__(self) -> None:
        self.ticked = self.beat = time.perf_counter_ns()
        self.own = self.program = (0, 0)

    def look(self) -> int:
        """Note when this process last ran, and whether it had stood still."""
        now = time.perf_counter_ns()
        if now - self.ticked > STILL_NS:
            self.own = (self.ticked, now)
        self.ticked = now
        return now

    def tick(self) -> None:
        while True:
            time.sleep(TICK_S)
            self.look()

    def hear(self, beats: bytes) -> bytes:
        """Take in beats; the answer, empty where nobody asked."""
        now = self.look()
        if now - self.beat > STILL_NS:
            self.program = (self.beat, now)
        self.beat = now
        return b"%d %d %d %d\n" % (*self.own, *self.program) if ASK in beats else b""


def main() -> None:
    """Until the program ends, or is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl+C is for the program
    bystander = Bystander()
    threading.Thread(target=bystander.tick, daemon=True).start()
    while beats := os.read(0, 4096):
        if answer := bystander.hear(beats):
            os.write(1, answer)


if __name__ == "__main__":
    main()
