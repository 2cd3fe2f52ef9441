"""What holds for every test: models, stimulus sets, caches and the private folder of whoever runs
the tests are none of theirs; and no example of a property has a time limit."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.testing
from hypothesis import HealthCheck, settings
from pytestqt.qtbot import QtBot

# Many tests start labapp as a program: without this it would be compiled again at each start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests make very many objects and keep few: each of them is looked at less often than by default.
gc.set_threshold(10_000, 20, 20)

MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4 * 1024**3
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH_BYTES:
    # Some hundred thousand times the tests have something put on the disk for good, and would wait
    # for it. What is killed is on a real disk nevertheless: see tests/crash/conftest.py.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Set before any test module is read, and for the processes that tests start.
_MODELS = tempfile.TemporaryDirectory(prefix="labapp-tests-models-")
os.environ["LABAPP_MODELS"] = _MODELS.name
_STIMULI = tempfile.TemporaryDirectory(prefix="labapp-tests-stimuli-")
os.environ["LABAPP_STIMULI"] = _STIMULI.name
_SPEECH = tempfile.TemporaryDirectory(prefix="labapp-tests-speech-")
os.environ["LABAPP_SPEECH"] = _SPEECH.name
_PRIVATE = tempfile.TemporaryDirectory(prefix="labapp-tests-private-")
os.environ["LABAPP_PRIVATE"] = _PRIVATE.name
# Of the whole run: what one worker has painted, the other one need not paint again.
_CACHE = tempfile.TemporaryDirectory(prefix="labapp-tests-cache-")
if "labapp-tests-cache-" not in os.environ.get("LABAPP_CACHE", ""):
    os.environ["LABAPP_CACHE"] = _CACHE.name
_SETTINGS = tempfile.TemporaryDirectory(prefix="labapp-tests-settings-")
os.environ["LABAPP_SETTINGS"] = _SETTINGS.name
# What the tests send over LSL stays on this computer, and is no other run's.
_LSL = tempfile.TemporaryDirectory(prefix="labapp-tests-lsl-")
_CONFIG = Path(_LSL.name, "lsl_api.cfg")
_CONFIG.write_text(
    f"[lab]\nSessionID = {Path(_LSL.name).name}\n[multicast]\nResolveScope = machine\n"
    "[log]\nlevel = -2\n"
)
os.environ["LSLAPICFG"] = str(_CONFIG)
_LOG = tempfile.TemporaryDirectory(prefix="labapp-tests-log-")
os.environ["LABAPP_LOG"] = _LOG.name

from labapp.base import console  # noqa: E402  (reads the settings above)
from labapp.ui import qtapp  # noqa: E402
from tests.helpers import cpu_time, json_contract, nightly, parts  # noqa: E402

# How long an example takes says more of the machine than of the program: nothing here is timed. A
# fixture may be for all examples of a test.
settings.register_profile(
    "untimed",
    deadline=None,
    max_examples=nightly.examples(100),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("untimed")
# pytest-qt imports PySide before the test modules.
qtapp.read_no_sources()
# Nor do tests of windows wait less than a minute for what is to come.
for wait in (QtBot.waitActive, QtBot.waitExposed, QtBot.waitSignal, QtBot.waitUntil):
    wait.__kwdefaults__["timeout"] = 60_000
# Typer makes all commands again for each that a test runs.
typer.testing._get_command = cache(typer.testing._get_command)
# What commands print as JSON is what docs/guide/json.md says, wherever a test runs one.
console.say_json = json_contract.checking(console.say_json)


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.register(nightly, "labapp-nightly")
    pluginmanager.register(parts, "labapp-parts")
    if cpu_time.FILE:
        pluginmanager.register(cpu_time, "labapp-cpu-time")


@pytest.fixture(autouse=True, scope="module")
def _kept_is_not_collected() -> None:
    """What the tests have imported and keep are very many objects: the collector, which some
    libraries call again and again, looks at each of them once, not at each call."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    gc.unfreeze()  # else the interpreter ends with all of it, which some libraries call a leak
    for folder in (_MODELS, _STIMULI, _PRIVATE, _CACHE, _SETTINGS, _LSL, _LOG):
        folder.cleanup()


@pytest.fixture
def signals_of_a_terminal() -> Iterator[None]:
    """As a program starts in a terminal, whatever started the tests (`nohup` and a script's `&`
    let some be ignored); a process that is started meanwhile begins so."""
    usual = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
