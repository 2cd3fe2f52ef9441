"""What a recogniser may have invented: signs of it in a text, to be looked at by a person.

Speech models fill what they do not understand with words: the same again and again, words they are
not sure of, words where nobody speaks.
"""

from __future__ import annotations

from collections.abc import Sequence

from labapp.annotations.model import Doubt, Word

UNSURE = 0.5
"""A word of which a recogniser is less sure is in doubt."""
UNSURE_SHARE = 0.5
"""A text of which so many words are in doubt is, too."""
QUIET_SHARE = 0.3
NEAR_NS = 300_000_000
"""A word that lies further from any voice was said where nobody speaks: engines place words about
this well."""
_LONGEST_PHRASE = 12
_REPEATS = 3
_WORD_REPEATS = 4


def doubts_of(words: Sequence[Word], voiced: Sequence[tuple[int, int]]) -> tuple[Doubt, ...]:
    """Why a text may be invented; empty where nothing says so.

    Parameters
    ----------
    words : in their order.
    voiced : session times at which somebody is heard.
    """
    if not words:
        return ()
    doubts: list[Doubt] = []
    if is_repeated([word.text for word in words]):
        doubts.append("repeated")
    unsure = sum(word.probability is not None and word.probability < UNSURE for word in words)
    if unsure >= UNSURE_SHARE * len(words):
        doubts.append("unsure")
    quiet = sum(not _is_near(word, voiced) for word in words)
    if quiet and quiet >= QUIET_SHARE * len(words):
        doubts.append("quiet")
    return tuple(doubts)


def is_repeated(words: Sequence[str]) -> bool:
    """Whether a word comes four times in a row, or several words together come three times."""
    plain = [word.casefold().strip(".,;:!?…\"'-") for word in words]
    for length in range(1, _LONGEST_PHRASE + 1):
        times = _WORD_REPEATS if length == 1 else _REPEATS
        same = 0
        for place in range(length, len(plain)):
            same = same + 1 if plain[place] == plain[place - length] else 0
            if same >= length * (times - 1):
                return True
    return False


def _is_near(word: Word, voiced: Sequence[tuple[int, int]]) -> bool:
    return any(
        begins - NEAR_NS < word.t1_ns and word.t0_ns < ends + NEAR_NS for begins, ends in voiced
    )
