"""What a second of sound costs the writer's thread: hash, header and sync.

`python benchmarks/sound_writer.py [--seconds 120] [--rate 48000] [--folder DIR]` writes that much
sound through `WavWriter`, as the recorder does, in pieces of 50 ms, and times the parts of a
second.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np

from labapp.record.audio.capture import WavWriter

PIECES = 20
"""The microphone's callback comes every 50 ms."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--rate", type=int, default=48000)
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    sound = np.random.default_rng(1).integers(-3000, 3000, options.rate).astype("<i2").tobytes()
    times: dict[str, list[float]] = {"SHA-256": [], "CRC-32 (before)": [], "append and write": []}
    times["header, fsync and the digest"] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        wav = WavWriter(Path(folder) / "a.wav", options.rate)
        step = len(sound) // PIECES
        pieces = [sound[at : at + step] for at in range(0, len(sound), step)]
        for _ in range(options.seconds):
            began = time.perf_counter()
            digest = hashlib.sha256()
            for piece in pieces:
                digest.update(piece)
            digest.hexdigest()
            times["SHA-256"].append(time.perf_counter() - began)
            began = time.perf_counter()
            crc = 0
            for piece in pieces:
                crc = zlib.crc32(piece, crc)
            times["CRC-32 (before)"].append(time.perf_counter() - began)
            began = time.perf_counter()
            for piece in pieces:
                wav.append(piece)
                wav.flush()
            times["append and write"].append(time.perf_counter() - began)
            began = time.perf_counter()
            wav.sync()
            times["header, fsync and the digest"].append(time.perf_counter() - began)
        wav.close()
    print(f"A second of sound at {options.rate} Hz ({len(sound)} bytes), of {options.seconds}:")
    for what, measured in times.items():
        median, worst = statistics.median(measured) * 1e3, max(measured) * 1e3
        print(f"  {what:30} median {median:7.3f} ms   longest {worst:7.3f} ms")


if __name__ == "__main__":
    main()
