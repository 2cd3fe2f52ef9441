"""A microphone for tests: a private PulseAudio, spoken into with espeak-ng and paplay.

Use the fixtures through a conftest: `from tests.sound import microphone, sound_server`. Mark tests
that use them with `@pytest.mark.sound`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from labapp.base.errors import AudioError
from labapp.record.audio import devices

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "virtual_microphone.sh"
TOOLS = ("pulseaudio", "pactl", "paplay", "espeak-ng")


class VirtualMicrophone:
    """A sink `speaker` and the source `mic` that hears it, of a daemon of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env: dict[str, str] = {}

    def script(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run the script with `start`, `stop` or `status`."""
        return subprocess.run(
            [str(SCRIPT), command],
            env={**os.environ, "LABAPP_VIRTUAL_MICROPHONE": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    def start(self) -> None:
        """Start the daemon, or find it running."""
        done = self.script("start")
        assert done.returncode == 0, done.stderr
        for line in done.stdout.splitlines():
            name, _, value = line.removeprefix("export ").partition("=")
            self.env[name] = value.strip("'")

    def stop(self) -> None:
        """End the daemon, as a crash of the sound server would."""
        assert self.script("stop").returncode == 0

    def pactl(self, *arguments: str) -> str:
        """Ask or tell the sound server something."""
        return subprocess.run(
            ["pactl", *arguments],
            env={**os.environ, **self.env},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout

    def unload_source(self) -> None:
        """Pull the microphone's plug."""
        for line in self.pactl("list", "short", "modules").splitlines():
            number, name = line.split("\t")[:2]
            if name == "module-remap-source":
                self.pactl("unload-module", number)

    def load_source(self, rate: int = 48000) -> None:
        """Plug it in again, if it is out; at another rate, if one is given."""
        if "\tmic\t" not in self.pactl("list", "short", "sources"):
            self.pactl(
                "load-module",
                "module-remap-source",
                "master=speaker.monitor",
                "source_name=mic",
                f"rate={rate}",
            )
        self.pactl("set-default-source", "mic")

    def play(self, path: Path) -> None:
        """Play a sound file into the microphone; returns when it has been played."""
        subprocess.run(
            ["paplay", "--device=speaker", str(path)],
            env={**os.environ, **self.env},
            timeout=60,
            check=True,
        )


def say(text: str, path: Path) -> Path:
    """Speak into a WAV file."""
    subprocess.run(["espeak-ng", "-w", str(path), text], timeout=30, check=True)
    return path


def missing() -> str:
    """What this machine lacks for tests with sound, or empty."""
    lacking = [tool for tool in TOOLS if shutil.which(tool) is None]
    try:
        devices.load()
    except AudioError as error:
        lacking.append(error.what)
    return ", ".join(lacking)


def require(lacking: str) -> None:
    """Go on where nothing is lacking. In CI, where the set-up installs all of it, a test that
    lacks something fails; elsewhere it is skipped."""
    if lacking and os.environ.get("CI") == "true":
        pytest.fail(f"tests with sound cannot run, the set-up is incomplete: {lacking}")
    if lacking:
        pytest.skip(f"tests with sound need: {lacking}")


@pytest.fixture(scope="session")
def sound_server() -> Iterator[VirtualMicrophone]:
    """The daemon. Without its tools these tests fail in CI, where the set-up installs them."""
    require(missing())
    # Not pytest's own folder: the path of a socket may have no more than about 100 characters.
    with tempfile.TemporaryDirectory(prefix="labapp-mic-") as folder:
        server = VirtualMicrophone(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture
def microphone(
    sound_server: VirtualMicrophone, monkeypatch: pytest.MonkeyPatch
) -> Iterator[VirtualMicrophone]:
    """A working microphone, whatever the test before did to it, and this process using it."""
    sound_server.start()
    sound_server.load_source()
    for name, value in sound_server.env.items():
        monkeypatch.setenv(name, value)
    devices.refresh_devices()
    yield sound_server
    devices.refresh_devices()
