"""Long work: a signal ends it as Ctrl-C does; the cycle collector is paused and goes on."""

from __future__ import annotations

import gc
import signal
import threading

import pytest

from labapp.base.parallel.processes import gc_paused, stoppable

pytestmark = pytest.mark.usefixtures("signals_of_a_terminal")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_it_is_an_interruption_and_only_there(number: signal.Signals) -> None:
    assert signal.getsignal(number) == signal.SIG_DFL

    def ended() -> None:
        with stoppable():
            signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt):
        ended()
    assert signal.getsignal(number) == signal.SIG_DFL


def test_what_is_ignored_stays_so() -> None:
    """`nohup` starts a command so."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with stoppable():
        signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def test_in_another_thread_nothing_is_changed() -> None:
    seen: list[object] = []

    def work() -> None:
        with stoppable():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]


def test_the_collector_is_paused_and_goes_on_also_after_a_failure() -> None:
    assert gc.isenabled()
    with gc_paused():
        assert not gc.isenabled()
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    with pytest.raises(ValueError, match="failed"), gc_paused():
        raise ValueError("failed")
    assert gc.isenabled()
