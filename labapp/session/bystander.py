"""The other process of a heartbeat: it remembers when it last stood still itself, and so tells
whether the whole computer did. It imports nothing of labapp and nothing large, and ends with its
standard input.

For each byte that it reads it writes a line: from when and until when it last stood still, in ns of
`time.perf_counter_ns`, 0 for never.
"""

import os
import signal
import threading
import time

TICK_S = 0.25
STILL_NS = 1_000_000_000
"""What takes longer between two readings of the clock is a standstill."""


class Bystander:
    """Two threads look at the clock: one that sleeps, and one that waits for questions."""

    def __init__(self) -> None:
        self.ticked = time.perf_counter_ns()
        self.still = (0, 0)

    def look(self) -> None:
        """Note when this process last ran, and whether it had stood still."""
        now = time.perf_counter_ns()
        if now - self.ticked > STILL_NS:
            self.still = (self.ticked, now)
        self.ticked = now

    def tick(self) -> None:
        while True:
            time.sleep(TICK_S)
            self.look()


def main() -> None:
    """Until the program ends, or is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl+C is for the program
    bystander = Bystander()
    threading.Thread(target=bystander.tick, daemon=True).start()
    while asked := os.read(0, 4096):
        bystander.look()
        os.write(1, len(asked) * (b"%d %d\n" % bystander.still))


if __name__ == "__main__":
    main()
