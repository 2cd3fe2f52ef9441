"""Receives the streams of a session until its run ends, and prints what came: another lab program.

    python receiver.py STREAMS_WANTED

A line of JSON for each sample: the stream, its source, the time stamp, when it came (both on the
clock of LSL, in seconds), for how long it was looked for by then without a pause of 5 ms, as on a
busy machine, and the sample itself. The first line says that all streams were found.
"""

from __future__ import annotations

import json
import sys
import time

import pylsl

LONGEST_S = 100.0
PAUSE_S, QUIET_S = 0.005, 0.2


def main() -> int:
    wanted = int(sys.argv[1])
    began = time.monotonic()
    infos = pylsl.resolve_bypred("starts-with(name,'labapp-')", wanted, LONGEST_S)
    if len(infos) < wanted:
        return 1
    inlets = []
    for info in infos:
        inlet = pylsl.StreamInlet(info, max_buflen=360, recover=False)
        inlet.open_stream(10)
        inlets.append((info, inlet))
    print(json.dumps({"found": sorted(info.name() for info in infos)}), flush=True)
    lost = ended = False
    heard = since = looked = pylsl.local_clock()
    while not lost and time.monotonic() - began < LONGEST_S:
        # What the other streams sent before the end may come after it.
        if ended and looked - max(heard, since) > QUIET_S:
            break
        quiet, before, looked = True, looked, pylsl.local_clock()
        if looked - before > PAUSE_S:
            since = looked
        for info, inlet in inlets:
            try:
                sample, stamp = inlet.pull_sample(timeout=0)
            except pylsl.util.LostError:
                lost = True
                continue
            if sample is None:
                continue
            quiet = False
            heard = came = pylsl.local_clock()
            row = {"stream": info.name(), "source": info.source_id(), "type": info.type()}
            row |= {"stamp": stamp, "came": came, "steady": came - since, "sample": sample}
            print(json.dumps(row), flush=True)
            ended |= sample == [sample[0]] and "segment.ended" in str(sample[0])
        if quiet:
            time.sleep(0.001)
    return 0


if __name__ == "__main__":
    sys.exit(main())
