"""The voice of a simulated participant that thinks aloud: words in the journal.

It draws from a generator of its own and keeps nothing waiting, so that what is done in a session is
the same with it and without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labapp.clock import NS
from labapp.events import Source
from labapp.events.speech import SpeechSimulated
from labapp.simulation.phrases import THOUGHTS
from labapp.study.assignment import generator

if TYPE_CHECKING:
    from labapp.session.runner import Runner

WORDS_PER_S = 2.5
"""About 150 words a minute, the usual rate of English conversation."""
ONSET_S = 0.25
"""Before and after the words of an utterance, together."""
BREATH_S = 0.8
"""Silence between two utterances; more than the pause by which speech is cut into units."""
BACKLOG_S = 6.0
"""Who would have to wait so long to say something lets it be (ours)."""


class Voice:
    """Says thoughts one after the other.

    Parameters
    ----------
    runner : labapp.session.runner.Runner
        Of the session.
    seed : of its draws; a purpose is added, see `labapp.study.assignment.generator`.
    language : the study's.
    """

    def __init__(self, runner: Runner, seed: tuple[int, *tuple[str, ...]], language: str) -> None:
        self._runner = runner
        self._rng = generator(*seed, "speech")
        self._language = language
        self._free_ns = 0

    def say(self, thought: str, what: str = "") -> bool:
        """Say a thought, at once or when the one before is said; False where too many wait."""
        now_ns = self._runner.clock.now_ns()
        begins_ns = max(now_ns, self._free_ns)
        if begins_ns - now_ns > BACKLOG_S * NS:
            return False
        ways = THOUGHTS[thought].ways(self._language)
        text = ways[int(self._rng.integers(len(ways)))].format(what=what)
        seconds = ONSET_S + len(text.split()) / WORDS_PER_S
        ends_ns = begins_ns + round(seconds * NS)
        codes = dict(THOUGHTS[thought].codes)
        self._runner.emit(SpeechSimulated(begins_ns, ends_ns, text, codes), Source.SIMULATED)
        self._free_ns = ends_ns + round(BREATH_S * NS)
        return True
