"""What a sound server plays, recorded."""

from __future__ import annotations

import subprocess
import threading
import time

import numpy as np
from numpy.typing import NDArray

from labapp.base.clock import NS


class Monitor:
    """Records what the sink `speaker` plays, and when it came. rate: in frames a second."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        command = ["parec", "--device=speaker.monitor", "--format=s16le", "--channels=1"]
        self._child = subprocess.Popen(
            [*command, f"--rate={rate}", "--latency-msec=10"], stdout=subprocess.PIPE
        )
        self._packets: list[tuple[int, bytes]] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        assert self._child.stdout is not None
        while content := self._child.stdout.read1(4096):  # type: ignore[attr-defined]
            self._packets.append((time.perf_counter_ns(), content))

    @property
    def hears(self) -> bool:
        """Whether half a second came."""
        return len(self._packets) > 50

    def stop(self) -> tuple[NDArray[np.int16], float]:
        """Samples, and `perf_counter_ns` of the first, by the packet with the least delay."""
        self._child.kill()
        self._child.wait()
        self._thread.join()
        assert self._child.stdout is not None
        self._child.stdout.close()
        ends = np.cumsum([len(content) // 2 for _, content in self._packets])
        began = np.array([at for at, _ in self._packets]) - ends * (NS / self._rate)
        samples = np.frombuffer(b"".join(content for _, content in self._packets), "<i2")
        return samples, float(began[len(began) // 4 :].min())
