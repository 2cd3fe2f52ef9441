"""How a session is followed from other computers over a network that delays and loses packets.

    python -m benchmarks.remote_link [--seconds 90] [--delay-ms 50] [--loss 0.02] [--slider 600]
        [--turns 3] [--recording 20] [--display 41] [--congestion cubic] [--json FILE]

Two network namespaces stand for two computers. Two TUN devices join them; a relay reads packets
from each, holds them for the delay and leaves some out, in both directions. It needs root and
/dev/net/tun: without them the result says why nothing was measured.

In the one namespace a session of the quick start is taken by a simulated participant, with the real
recorder on a private PulseAudio; a moderator and two observers follow it from the other. Both have
one clock, so that every time is compared with the truth.

* screen: from an event's time to its being folded at the other computer;
* voice: from the last frame of a packet to its sound in the hands of the other computer's program.
  From mouth to ear: both loudspeakers are recorded, and each 40 ms of speech is looked for in what
  the moderator heard. How much sound `voice.VoicePlayer` left out, after the first seconds: what
  came too late, pauses, what speech was shortened by; and silence in place of late sound;
* clock: the error that the other computer states, and the true one;
* recording: clicks in the recording, what was lost and its clock, alone and followed, in turns;
* slider, stimulus: benchmarks/slider_path.py and benchmarks/stimulus_timing.py in the session's
  program, alone and while a moderator and two observers follow it, in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import select
import struct
import subprocess
import sys
import tempfile
import threading
import time
import wave
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from labapp.session.opening import OpenSession
    from labapp.session.remote.host import RemoteHost
    from labapp.ui.participant.window import ParticipantWindow

SESSION, OTHERS = "labapp-session", "labapp-others"
ADDRESSES = {SESSION: "10.77.0.1", OTHERS: "10.77.0.2"}
PACKET_S = 0.02
RATE, SENT_RATE = 48_000, 16_000
"""Of a microphone, and of the sound that is sent."""
LEFT_OUT = ("left_out", "pauses", "shortened")
"""What a player counts: sound that came too late, pauses, and periods of a voice."""
MOUTH, EARS, ELSEWHERE = "speaker", "ears", "elsewhere"
"""Loudspeakers: the participant's mouth, the moderator's ears, and the observers'."""
PEOPLE = (("Anna", "moderator"), ("Ben", "observer"), ("Cleo", "observer"))
WARM_UP_S = 8.0
"""What comes before is not counted: files are sent, a loudspeaker opened."""
Percentiles = dict[str, float]


# --- the network ----------------------------------------------------------------------------------


def why_not() -> str:
    """Why namespaces cannot be made here, or empty."""
    if sys.platform != "linux":
        return "there are no network namespaces on this system"
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    try:
        ip("netns", "add", f"{SESSION}-try")
        ip("netns", "del", f"{SESSION}-try")
    except (OSError, subprocess.CalledProcessError) as error:
        return f"network namespaces cannot be made ({error})"
    return ""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=20)


def open_tun(name: str) -> int:
    """A TUN device; its packets are read from and written to the file."""
    import fcntl

    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    tun_without_header = 0x0001 | 0x1000
    fcntl.ioctl(descriptor, 0x400454CA, struct.pack("16sH", name.encode(), tun_without_header))
    return descriptor


def relay(descriptors: list[int], delay_s: float, loss: float) -> None:
    """Carry packets between two TUN devices until the process is ended."""
    rng, held = random.Random(1), [[], []]  # type: ignore[var-annotated]
    while True:
        due = min((packets[0][0] for packets in held if packets), default=None)
        wait_s = None if due is None else max(0.0, due - time.monotonic())
        ready, _, _ = select.select(descriptors, [], [], wait_s)
        now = time.monotonic()
        for side, descriptor in enumerate(descriptors):
            if descriptor in ready:
                with suppress(BlockingIOError):
                    while packet := os.read(descriptor, 65536):
                        if rng.random() >= loss:
                            held[1 - side].append((now + delay_s, packet))
        for side, packets in enumerate(held):
            while packets and packets[0][0] <= now:
                with suppress(OSError):
                    os.write(descriptors[side], packets.pop(0)[1])


@contextmanager
def network(delay_s: float, loss: float, congestion: str) -> Iterator[None]:
    """The two namespaces, joined."""
    for name in ADDRESSES:
        with suppress(subprocess.CalledProcessError):
            ip("netns", "del", name)
    with ExitStack() as undo:
        descriptors = []
        for number, (name, address) in enumerate(ADDRESSES.items()):
            ip("netns", "add", name)
            undo.callback(ip, "netns", "del", name)
            device = f"labtun{number}"
            descriptors.append(open_tun(device))
            undo.callback(os.close, descriptors[-1])
            ip("link", "set", device, "netns", name)
            ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
            ip("-n", name, "link", "set", device, "mtu", "1400", "up")
            ip("-n", name, "link", "set", "lo", "up")
            # Set on the route: the setting of the whole system may be read-only in a container.
            route = ("10.77.0.0/24", "dev", device, "src", address, "congctl", congestion)
            ip("-n", name, "route", "replace", *route)
        child = os.fork()
        if child == 0:
            try:
                relay(descriptors, delay_s, loss)
            finally:
                os._exit(1)
        undo.callback(os.waitpid, child, 0)
        undo.callback(os.kill, child, 9)
        yield


def within(namespace: str, *command: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, *command]


# --- at the other computer ------------------------------------------------------------------------


class CountedOutput:
    """A loudspeaker that counts the silence that it was left with once it played."""

    def __init__(self, device: str, rate: int) -> None:
        from labapp.record.audio.player import open_output

        self._inner: Any = open_output(device, rate)
        self.rate = self._inner.rate
        self.silent = 0
        self._frame: int | None = None

    def write(self, samples: bytes) -> None:
        self._inner.write(samples)

    def reports(self) -> Iterator[Any]:
        for report in self._inner.reports():
            if self._frame is not None:
                self.silent += report.frame - self._frame
            if self._frame is not None or report.samples:
                self._frame = report.frame + report.samples
            yield report

    def close(self) -> None:
        self._inner.close()


def follow(
    port: int, name: str, role: Any, code: str, origin_ns: int, folder: Path, *, plays: bool
) -> None:
    """Take part until the session is shared no more; print what was measured. plays: the voice is
    played, and the times of this computer count; else it stands back behind the session's, as it
    would not take part of its processor."""
    if not plays:
        os.nice(19)
    from labapp.base.errors import AudioError
    from labapp.session.remote import wire
    from labapp.session.remote.client import Link, LinkState
    from labapp.session.remote.following import FollowedSession
    from labapp.session.remote.voice import VoicePlayer

    came: queue.SimpleQueue[Any] = queue.SimpleQueue()
    voice: list[tuple[int, int]] = []
    outputs: list[CountedOutput] = []
    silent: list[AudioError] = []
    warm: dict[str, float] = {}

    def open_output(device: str, rate: int) -> CountedOutput:
        outputs.append(CountedOutput(device, rate))
        return outputs[-1]

    player = VoicePlayer(silent.append, open_output) if plays else None

    def deliver(message: Any) -> None:
        if isinstance(message, wire.Sound):
            voice.append((message.t_ns, time.perf_counter_ns() - origin_ns - message.t_ns))
            if player is not None:
                player.put(message)
                if not warm and message.t_ns - voice[0][0] > WARM_UP_S * 1e9:
                    warm.update(played_of(player, outputs))
        else:
            came.put(message)

    link = Link(ADDRESSES[SESSION], port, name, role, code, folder, deliver)
    link.start()
    link.hear(True)
    rows: list[wire.Row] = []
    followed: FollowedSession | None = None
    screen: list[tuple[int, int]] = []
    clock: list[tuple[int, int]] = []
    breaks = 0
    posted: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
    while True:
        message = came.get()
        while not posted.empty():
            posted.get()()
        match message:
            case LinkState(state="over", reason=reason):
                break
            case LinkState(state="broken"):
                breaks += 1
            case wire.Rows() if followed is None:
                rows += message.rows
            case wire.Rows():
                followed.take(message)
                now_ns = time.perf_counter_ns() - origin_ns
                screen += [(row[2], now_ns - row[2]) for row in message.rows]
            case wire.Ready() if followed is None:
                followed = FollowedSession(link, folder, rows, posted.put)
                print("linked", flush=True)
            case wire.Now():
                error_ns, perf_ns = link.clock.error_ns, time.perf_counter_ns()
                if error_ns is not None:
                    clock.append((error_ns, link.clock.from_perf_ns(perf_ns) - perf_ns + origin_ns))
    played: dict[str, float] = {}
    if player is not None:
        after = played_of(player, outputs)
        played = {name: value - warm.get(name, 0.0) for name, value in after.items()}
        player.close()
    print(
        json.dumps(
            {
                "name": name, "over": reason, "breaks": breaks, "screen": screen, "clock": clock,
                "voice": voice, "silent": str(silent[0].what) if silent else "",
                "played": played,
            }
        ),
        flush=True,
    )  # fmt: skip


def played_of(player: Any, outputs: list[CountedOutput]) -> dict[str, float]:
    """Seconds of sound that a player left out so far, and of silence in place of late sound."""
    counts = {name: getattr(player, name) / SENT_RATE for name in LEFT_OUT}
    return counts | {"silence": sum(output.silent / output.rate for output in outputs)}


class Followers:
    """A moderator and two observers, each in a process of its own in the other namespace."""

    def __init__(self, host: RemoteHost, origin_ns: int, folder: Path, *, plays: bool) -> None:
        self._processes = []
        for name, role in PEOPLE:
            mine = folder / f"{name}-{time.monotonic_ns()}"
            mine.mkdir()
            command = within(
                OTHERS, sys.executable, "-m", "benchmarks.remote_link", "--follow",
                str(host.listening.port), name, role, host.listening.codes[role], str(origin_ns),
                str(mine), "plays" if plays else "silent",
            )  # fmt: skip
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PULSE_SINK": EARS if role == "moderator" else ELSEWHERE},
            )
            self._processes.append(process)
        self._linked: set[int] = set()
        self.results: list[dict[str, Any]] = []
        self._threads = [
            threading.Thread(target=self._read, args=(process,), daemon=True)
            for process in self._processes
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "linked":
                self._linked.add(process.pid)
            elif line.startswith("{"):
                self.results.append(json.loads(line))

    @property
    def linked(self) -> bool:
        assert all(process.poll() is None for process in self._processes), "somebody is gone"
        return len(self._linked) == len(self._processes)

    def end(self) -> list[dict[str, Any]]:
        """What they measured; after the host was closed."""
        for process, thread in zip(self._processes, self._threads, strict=True):
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            thread.join(5)
            assert process.stdout is not None
            process.stdout.close()
        return self.results


# --- the session's computer -----------------------------------------------------------------------


class Voice:
    """Somebody who speaks for two seconds and is silent for half a second, in turns, without a
    microphone."""

    def __init__(self, session: OpenSession) -> None:
        self._session = session
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        from labapp.record.audio.capture import Packet

        rng = np.random.default_rng(1)
        frames = round(RATE * PACKET_S)
        due = time.monotonic()
        number = 0
        while not self._over.is_set():
            due += PACKET_S
            time.sleep(max(0.0, due - time.monotonic()))
            number += 1
            loud = 3000 if number * PACKET_S % 2.5 < 2 else 100
            data = rng.integers(-loud, loud, frames).astype("<i2").tobytes()
            if (overhear := self._session._overhear) is not None:
                perf_ns = time.perf_counter_ns()
                overhear(RATE, 1, Packet(perf_ns, 0.0, PACKET_S, False, 0, data))

    def stop(self) -> None:
        self._over.set()
        self._thread.join()


class Tape:
    """Everything that a loudspeaker plays, by the times at which the sound server hands it on.

    Parameters
    ----------
    sink : name of the loudspeaker.
    """

    def __init__(self, sink: str) -> None:
        how = ("--format=s16le", f"--rate={SENT_RATE}", "--channels=1", "--latency-msec=20")
        command = ["parec", f"--device={sink}.monitor", *how]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self._parts: list[bytes] = []
        self._begins: list[float] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        frames = 0
        while part := os.read(self._process.stdout.fileno(), 65536):
            self._parts.append(part)
            frames += len(part) // 2
            self._begins.append(time.perf_counter_ns() - frames / SENT_RATE * 1e9)

    def stop(self) -> tuple[float, np.ndarray]:
        """`perf_counter_ns` of its first sample, and all samples."""
        self._process.terminate()
        self._thread.join()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        # Of times at which it was read, the earliest are right.
        begin_ns = float(np.percentile(self._begins[len(self._begins) // 4 :], 2))
        return begin_ns, np.frombuffer(b"".join(self._parts), "<i2").astype(np.float32)


CLICKS_S = 0.5
"""Between two clicks."""
WINDOW_S, LATEST_S = 0.04, 0.8
ALIKE = 0.75


def delays_between(
    mouth: tuple[float, np.ndarray], ears: tuple[float, np.ndarray], since_ns: float
) -> list[float | None]:
    """For each 40 ms of speech, how much later it was heard in ms, or None where it was not heard.

    Parameters
    ----------
    mouth, ears : tapes; since_ns : what was said before is not counted.
    """
    from labapp.record.audio.player import likeness

    (spoken_ns, spoken), (heard_ns, heard) = mouth, ears
    frames, reach = round(WINDOW_S * SENT_RATE), round(LATEST_S * SENT_RATE)
    shift = round((spoken_ns - heard_ns) / 1e9 * SENT_RATE)
    loud = 0.05 * float(np.abs(spoken).max())
    delays: list[float | None] = []
    for at in range(0, len(spoken) - frames, frames):
        window = spoken[at : at + frames]
        begin = at + shift
        around = heard[max(begin, 0) : begin + reach]
        if spoken_ns + at / SENT_RATE * 1e9 < since_ns or len(around) < reach:
            continue
        if float(np.sqrt(np.mean(np.square(window)))) < loud:
            continue
        alike = likeness(around, window) / float(np.sqrt(np.square(window).sum()))
        best = int(np.argmax(alike))
        place = best / SENT_RATE * 1e3 + max(-begin, 0)
        delays.append(place if alike[best] >= ALIKE else None)
    return delays


def speech(folder: Path, seconds: float) -> Path:
    """Somebody counts for so long, half of it breath: so each moment sounds like no other."""
    from tests.sound import say

    words = " ".join(f"picture {n} looks like {n * 7}." for n in range(round(seconds)))
    with wave.open(str(say(words, folder / "said.wav"))) as words_file:
        rate = words_file.getframerate()
        voice = np.frombuffer(words_file.readframes(words_file.getnframes()), "<i2").astype(
            np.float64
        )
    steps = np.ones(rate // 50) / (rate // 50)
    loudness = np.sqrt(np.convolve(np.square(voice), steps, "same"))
    breath = np.random.default_rng(1).standard_normal(len(voice)) * loudness
    path = folder / "speech.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(((voice + breath) / 2).clip(-32768, 32767).astype("<i2").tobytes())
    return path


@dataclass
class Taken:
    """A session that a simulated person takes, and those who follow it."""

    session: OpenSession
    run: Callable[[Callable[[], bool]], None]
    origin_ns: int
    host: RemoteHost | None
    followers: Followers | None


@contextmanager
def session_taken(folder: Path, *, joined: bool, plays: bool) -> Iterator[Taken]:
    """A session of the quick start with a recorder on the sound server's microphone."""
    from labapp.base.clock import SessionClock
    from labapp.record.audio.devices import choose
    from labapp.record.audio.recorder import Recorder
    from labapp.session.remote.host import RemoteHost
    from labapp.session.simulation.driver import Driver
    from labapp.session.simulation.names import ORACLE
    from labapp.session.simulation.person import Pace
    from tests.helpers.live import LoopScheduler
    from tests.session.sessions import opened

    # Quicker than people read, and as quick as they move.
    pace = Pace(stride_s=0.02, think_s=0.3, read_s=1.0, reaction=0.2)
    clock = SessionClock()
    origin_ns = time.perf_counter_ns() - clock.now_ns()
    made: list[LoopScheduler] = []
    device = choose()

    def make_scheduler(clock: Any) -> LoopScheduler:
        made.append(LoopScheduler(clock))
        return made[0]

    session = opened(
        folder,
        clock=clock,
        make_scheduler=make_scheduler,
        make_recorder=lambda home, segment, emit, clock: Recorder(
            home.path, segment, device, emit=emit, from_perf_ns=clock.from_perf_ns
        ),
    )
    scheduler = made[0]
    session.begin()
    host, followers = None, None
    if joined:
        host = RemoteHost(session, [ADDRESSES[SESSION]], lambda: None)
        scheduler.run(lambda: bool(host.listening.codes) or bool(host.listening.problem))
        assert not host.listening.problem, host.listening.problem
        followers = Followers(host, origin_ns, folder, plays=plays)
        scheduler.run(lambda: followers.linked)
    driver = Driver(session.runner, session.give_consent, ORACLE, 1, "P01", pace, paints=True)
    driver.start()
    scheduler.run(lambda: session.recording)
    try:
        yield Taken(session, scheduler.run, origin_ns, host, followers)
    finally:
        driver.stop()
        if host is not None:
            host.close()
        session.close("benchmark over")


def measure_link(seconds: float, folder: Path) -> dict[str, Any]:
    """Screen, voice and clock, in the namespace of the session."""
    paplay = ["paplay", f"--device={MOUTH}", str(speech(folder, seconds))]
    with session_taken(folder, joined=True, plays=True) as taken, ExitStack() as undo:
        assert taken.host is not None
        assert taken.followers is not None
        mouth, ears = Tape(MOUTH), Tape(EARS)
        speaking = subprocess.Popen(paplay)
        undo.callback(speaking.wait)
        undo.callback(speaking.kill)
        session, server = taken.session, taken.host._process.pid
        began, cpu_before_s = time.monotonic(), cpu_of(server)
        taken.run(lambda: time.monotonic() - began > seconds or session.runner.finished)
        lasted_s, cpu_s = time.monotonic() - began, cpu_of(server) - cpu_before_s
        since_ns = time.perf_counter_ns() - (lasted_s - WARM_UP_S) * 1e9
        tapes = mouth.stop(), ears.stop()
        events = session.runner.journal._seq
        taken.host.close()
        results = taken.followers.end()
    since = since_ns - taken.origin_ns
    screen, hands, errors, stated, outside = [], [], [], [], 0
    for each in results:
        screen += [took / 1e6 for t_ns, took in each["screen"] if t_ns > since]
        hands += [took / 1e6 for t_ns, took in each["voice"] if t_ns > since]
        stated += [error / 1e6 for error, _ in each["clock"]]
        errors += [abs(true) / 1e6 for _, true in each["clock"]]
        outside += sum(abs(true) > error for error, true in each["clock"])
    delays = delays_between(*tapes, since_ns)
    heard = [each for each in delays if each is not None]
    return {
        "seconds": round(lasted_s, 1),
        "events": events,
        "share of a core that serves": round(cpu_s / lasted_s, 3),
        "followers": [
            {
                "name": each["name"],
                "breaks": each["breaks"],
                "silent": each["silent"],
                "seconds of sound": round((each["voice"][-1][0] - since) / 1e9, 1),
                "of these": {name: round(value, 3) for name, value in each["played"].items()},
            }
            for each in results
        ],
        "screen": percentiles(screen),
        "voice in hand": percentiles(hands),
        "voice, mouth to ear": percentiles(heard),
        "speech not found": round(1 - len(heard) / len(delays), 4),
        "clock error stated": percentiles(stated),
        "clock error true": percentiles(errors),
        "clock errors beyond what was stated": outside,
    }


def measure_recording(seconds: float, turns: int, folder: Path) -> dict[str, Any]:
    """The recording itself: clicks in it, what was lost, and its clock, in turns."""
    turns_of: dict[str, list[dict[str, Any]]] = {"alone": [], "followed by three": []}
    for turn in range(turns):
        for name, recorded in turns_of.items():
            where = folder / f"{turn}-{len(name)}"
            where.mkdir()
            recorded.append(record_clicks(seconds, where, joined=name != "alone"))
    result: dict[str, Any] = {"turns": turns, "seconds of a turn": seconds}
    for name, recorded in turns_of.items():
        result[name] = {
            "clicks": sum(each["clicks"] for each in recorded),
            "clicks heard": sum(len(each["distances"]) for each in recorded),
            "gaps": sum(each["gaps"] for each in recorded),
            "seconds lost": round(sum(each["lost_s"] for each in recorded), 3),
            "distance": percentiles([abs(d) for each in recorded for d in each["distances"]]),
            "residual of the clock": percentiles([each["residual_ms"] for each in recorded]),
            "share of a core of the recorder": percentiles([each["cpu"] for each in recorded]),
        }
    ratios = [
        np.median(np.abs(there["distances"])) / np.median(np.abs(here["distances"]))
        for here, there in zip(turns_of["alone"], turns_of["followed by three"], strict=True)
    ]
    return result | {"ratio": round(float(np.median(ratios)), 2)}


def record_clicks(seconds: float, folder: Path, *, joined: bool) -> dict[str, Any]:
    """One recording of clicks in a session, alone or while three people hear it."""
    from benchmarks import sound_clicks
    from labapp.record.events.voice import AudioGap
    from labapp.record.journal.opening import open_record
    from labapp.record.journal.read import payloads

    with session_taken(folder, joined=joined, plays=False) as taken:
        recorder = taken.session.runner.recorder
        assert recorder is not None
        assert recorder._stream is not None
        pid = recorder._stream.pid
        began, before_s = time.monotonic(), cpu_of(pid)
        # In a process of its own, so that its times do not depend on what this one does.
        command = [sys.executable, "-m", "benchmarks.remote_link", "--click", str(seconds)]
        player = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        taken.run(lambda: player.poll() is not None)
        cpu = (cpu_of(pid) - before_s) / (time.monotonic() - began)
        played = np.array(json.loads(player.communicate()[0])) - taken.origin_ns
        path = recorder.path
    if taken.followers is not None:
        results = taken.followers.end()
        assert all(each["voice"] for each in results), "nobody heard it"
    events = [payload for _, payload in payloads(open_record(taken.session.folder.path).rows)]
    fit = sound_clicks.fit_clicks(events, RATE)
    heard = np.array([fit.frame_to_ns(int(at)) for at in sound_clicks.onsets(path, RATE)])
    gaps = [event for event in events if isinstance(event, AudioGap)]
    return {
        "clicks": len(played),
        "distances": list(sound_clicks.match_clicks(played, heard, CLICKS_S)),
        "gaps": len(gaps),
        "lost_s": sum(gap.frames for gap in gaps) / RATE,
        "residual_ms": fit.residual_ms,
        "cpu": cpu,
    }


def click(seconds: float) -> list[int]:
    """Play clicks; `perf_counter_ns` of each."""
    from benchmarks import sound_clicks
    from labapp.record.audio.devices import choose

    player = sound_clicks.Player(choose(), CLICKS_S)
    player.start()
    time.sleep(seconds)
    player.mute()
    time.sleep(1.0)
    times = player.click_ns().tolist()
    player.close()
    return times


def cpu_of(pid: int) -> float:
    """Processor time of a process in s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentiles(values: list[float]) -> Percentiles:
    if not values:
        return {"n": 0}
    median, p95, p99 = (round(float(v), 2) for v in np.percentile(values, (50, 95, 99)))
    return {
        "n": len(values),
        "median": median,
        "p95": p95,
        "p99": p99,
        "max": round(max(values), 2),
    }


def wait(holds: Callable[[], bool]) -> None:
    """Run the windows until something holds."""
    from PySide6.QtWidgets import QApplication

    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        QApplication.processEvents()
        time.sleep(0.002)


def is_real() -> bool:
    """Whether events come from an X server."""
    from PySide6.QtWidgets import QApplication

    return QApplication.platformName() == "xcb"


def compare(alone: list[list[float]], shared: list[list[float]]) -> dict[str, Any]:
    """Times by turn. ratio: of the medians of a turn, the median turn: other programs of the
    machine disturb some turns."""
    ratios = [np.median(there) / np.median(here) for here, there in zip(alone, shared, strict=True)]
    return {
        "turns": len(alone),
        "alone": percentiles([each for turn in alone for each in turn]),
        "followed by three": percentiles([each for turn in shared for each in turn]),
        "ratio": round(float(np.median(ratios)), 2),
    }


@contextmanager
def spoken(session: OpenSession) -> Iterator[None]:
    """While somebody speaks, whom nobody hears: what it takes to make a voice is no cost of a
    link."""
    voice = Voice(session)
    try:
        yield
    finally:
        voice.stop()


@contextmanager
def followed(session: OpenSession, folder: Path) -> Iterator[None]:
    """While three people follow a session with windows, and its voice."""
    from labapp.session.remote.host import RemoteHost

    clock = session.runner.clock
    origin_ns = time.perf_counter_ns() - clock.now_ns()
    host = RemoteHost(session, [ADDRESSES[SESSION]], lambda: None)
    wait(lambda: bool(host.listening.codes))
    followers = Followers(host, origin_ns, folder, plays=False)
    wait(lambda: followers.linked)
    voice = Voice(session)
    try:
        yield
    finally:
        voice.stop()
        host.close()
        results = followers.end()
    assert [each["over"] for each in results] == ["closed"] * len(PEOPLE), results
    assert all(each["screen"] for each in results), "nothing was followed"


def measure_slider(n: int, turns: int, folder: Path) -> dict[str, Any]:
    """The slider path in the session's program, in turns."""
    from benchmarks import slider_path
    from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
    from labapp.ui.qtapp import make_app

    make_app()
    alone: list[list[float]] = []
    shared: list[list[float]] = []
    _, model, dials = slider_path.CASES[1]

    def measure(window: ParticipantWindow) -> list[float]:
        # The disk may take a moment until the question is there.
        wait(lambda: isinstance(window.screen_shown, ReconstructionScreen))
        mouse = slider_path.XtestMouse() if is_real() else slider_path.PostedMouse()
        return list(slider_path.measure(window, n, mouse))

    for _ in range(turns):
        with slider_path.participant(model, dials) as (session, window), spoken(session):
            alone.append(measure(window))
        with (
            slider_path.participant(model, dials) as (session, window),
            followed(session, folder),
        ):
            shared.append(measure(window))
    return compare(alone, shared)


def measure_stimulus(n: int, turns: int, folder: Path) -> dict[str, Any]:
    """The timing of masked pictures in the session's program, in turns."""
    from benchmarks import stimulus_timing
    from labapp.ui.qtapp import make_app

    make_app()
    alone: list[list[float]] = []
    shared: list[list[float]] = []
    for _ in range(turns):
        by_itself = stimulus_timing.session(0, 0.0, n, shared=lambda room: spoken(room.session))
        alone.append(by_itself["due to painted"])
        with_others = stimulus_timing.session(
            0, 0.0, n, shared=lambda room: followed(room.session, folder)
        )
        shared.append(with_others["due to painted"])
    return compare(alone, shared)


# --- all of it ------------------------------------------------------------------------------------


def run_within(what: str, *arguments: str, env: dict[str, str]) -> Any:
    """Measure something in the namespace of the session."""
    command = within(SESSION, sys.executable, "-m", "benchmarks.remote_link", what, *arguments)
    done = subprocess.run(
        command, env={**os.environ, **env}, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--seconds", type=float, default=90.0, help="of the session that is followed"
    )
    parser.add_argument("--delay-ms", type=float, default=50.0, help="one way")
    parser.add_argument("--loss", type=float, default=0.02, help="one way")
    parser.add_argument("--slider", type=int, default=600, help="movements a turn; 0: none")
    parser.add_argument("--stimuli", type=int, default=60, help="a turn; 0: none")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--congestion", default="cubic", help="as most systems have it")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--recording", type=float, default=20.0, help="s of a turn; 0: none")
    parser.add_argument(
        "--display", type=int, help="slider and stimuli by an X server of this number, with XTEST"
    )
    for what in ("--follow", "--link", "--record", "--click", "--slide", "--mask"):
        parser.add_argument(what, nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.follow:
        port, name, role, code, origin_ns, mine, plays = asked.follow
        at = (int(port), name, role, code, int(origin_ns), Path(mine))
        follow(*at, plays=plays == "plays")
        return 0
    if asked.link:
        seconds, folder = asked.link
        print(json.dumps(measure_link(float(seconds), Path(folder))))
        return 0
    if asked.click:
        print(json.dumps(click(float(asked.click[0]))))
        return 0
    if asked.record:
        seconds, turns, folder = asked.record
        print(json.dumps(measure_recording(float(seconds), int(turns), Path(folder))))
        return 0
    if asked.slide:
        n, turns, folder = asked.slide
        print(json.dumps(measure_slider(int(n), int(turns), Path(folder))))
        return 0
    if asked.mask:
        n, turns, folder = asked.mask
        print(json.dumps(measure_stimulus(int(n), int(turns), Path(folder))))
        return 0
    result: dict[str, Any] = {
        "delay_ms": asked.delay_ms, "loss": asked.loss, "congestion": asked.congestion,
        "cores": os.cpu_count(),
    }  # fmt: skip
    if problem := why_not():
        result["not measured"] = problem
    elif asked.display:
        from scripts.two_hands import on_monitors

        def measure(environment: dict[str, str]) -> int:
            os.environ.update(environment)
            measure_all(asked, result)
            return 0

        on_monitors(f":{asked.display}", measure, monitors=1)
    else:
        measure_all(asked, result)
    result["load"] = round(os.getloadavg()[0], 1)
    print(json.dumps(result, indent=2))
    if asked.json is not None:
        asked.json.write_text(json.dumps(result, indent=2), "utf-8")
    return 0


def measure_all(asked: argparse.Namespace, result: dict[str, Any]) -> None:
    from tests.sound import VirtualMicrophone

    screen = {"QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    with tempfile.TemporaryDirectory(prefix="labapp-remote-") as temporary, ExitStack() as undo:
        folder = Path(temporary)
        sound = VirtualMicrophone(folder / "sound")
        try:
            sound.start()
            undo.callback(sound.stop)
            for sink in (EARS, ELSEWHERE):
                sound.pactl("load-module", "module-null-sink", f"sink_name={sink}", "rate=48000")
        except (OSError, AssertionError) as error:
            result["no loudspeaker"] = str(error)
        undo.enter_context(network(asked.delay_ms / 1000, asked.loss, asked.congestion))
        if asked.seconds:
            where = folder / "link"
            where.mkdir()
            result["link"] = run_within(
                "--link",
                str(asked.seconds),
                str(where),
                env=sound.env,
            )
        for what, name, n in (
            ("--record", "recording", asked.recording),
            ("--slide", "slider", asked.slider),
            ("--mask", "stimulus", asked.stimuli),
        ):
            if n:
                where = folder / name
                where.mkdir()
                result[name] = run_within(
                    what, str(n), str(asked.turns), str(where), env=sound.env | screen
                )


if __name__ == "__main__":
    sys.exit(main())
