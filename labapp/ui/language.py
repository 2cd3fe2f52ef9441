"""The words of the moderator's windows, in the language of the person who sits there.

`tr("home.start")` gives the sentence of that id from the catalogue of the language
(`assets/words/<language>.po`; English is one, too). The language is chosen once, when the
application is made; words are looked up when they are shown, never when a module is loaded.
Journals keep English whatever is spoken, with the code and values of a sentence, from which
`translate_message` says it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

from labapp.base import messages
from labapp.base.errors import LabappError, SetupError
from labapp.base.messages import ENGLISH, Message, available, form
from labapp.base.translations import fields

VARIABLE = "LABAPP_LANGUAGE"


class _Spoken:
    """The language that is spoken now."""

    language = ENGLISH
    veil: Callable[[str], str] | None = None


def choose_language(system: Sequence[str]) -> str:
    """The language to speak: $LABAPP_LANGUAGE, else the first of the system's that there is, else
    English.

    system: the languages the person chose for the computer, best first: `de-DE`, `de`.
    """
    named = os.environ.get(VARIABLE)
    known = available()
    wishes = [named] if named else system
    short = (re.split("[-_.]", wish.strip().lower())[0] for wish in wishes)
    return next((wish for wish in short if wish in known), ENGLISH)


def speak(language: str) -> None:
    """Speak a language from now on. Raises SetupError for one without words."""
    if language not in available():
        raise SetupError(
            f"There are no words in the language {language}.",
            todo=f"Use one of these as {VARIABLE}: {', '.join(available())}.",
        )
    messages.catalogue(language)
    _Spoken.language = language


def current_language() -> str:
    """The language that is spoken."""
    return _Spoken.language


def tr(key: str, /, **values: object) -> str:
    """The sentence of an id in the language that is spoken, with its {values} filled in. A sentence
    in place of an id, as packages gave until 0.1, is shown as it is. Raises KeyError for an id that
    there is not."""
    words = key if " " in key else messages.sentence(key, language=_Spoken.language)
    return _fill_in(words, values)


def counted(n: int, key: str, many: str = "", /, **values: object) -> str:
    """The form of a plural for a number, with {n} and the other {values} filled in. With `many`,
    both forms are sentences, as packages gave them until 0.1. Raises KeyError as `tr`."""
    if many:
        words = key if n == 1 else many
    else:
        words = messages.sentence(key, n, language=_Spoken.language)
    return _fill_in(words, {"n": number(f"{n:,}"), **values})


def tr_known(text: str, ids: Mapping[str, str], /) -> str:
    """Translate a recorded text that has an id; return any other unchanged."""
    return tr(ids[text]) if text in ids else text


def _fill_in(words: str, values: Mapping[str, object]) -> str:
    if _Spoken.veil is not None:
        values = {k: hide_names_in(v) if isinstance(v, str) else v for k, v in values.items()}
    return words.format(**values) if values else words


def hide_names(names: Iterable[str]) -> None:
    """Say no sentence with these names from now on: those of models and conditions,
    in the window of a rater who is blind. Only what is filled into a sentence can be a name; the
    sentence itself stays. No names: nothing is hidden any more."""
    hidden = tuple(names)
    _Spoken.veil = without_names(hidden, tr("word.hidden")) if hidden else None


def hide_names_in(text: str) -> str:
    """A text that is no sentence of this program, as a path or a message of the system, without the
    names that are hidden."""
    return text if _Spoken.veil is None else _Spoken.veil(text)


def without_names(names: Iterable[str], instead: str) -> Callable[[str], str]:
    """Takes names, ids of models and such, out of texts, also where they are folders of a path. A
    single character is none that a text could be searched for."""
    known = sorted({name for name in names if len(name) > 1}, key=len, reverse=True)
    if not known:
        return str
    forms = "|".join(r"[/\\]".join(map(re.escape, name.split("/"))) for name in known)
    named = re.compile(rf"(?<!\w)({forms})(?!\w)", re.IGNORECASE)
    return lambda text: named.sub(lambda _: instead, text)


def N_(key: str) -> str:
    """Marks a constant as the id of a sentence that `tr` looks up where it is shown."""
    return key


def N_all(group: str, *names: str) -> dict[str, str]:
    """The ids of sentences of a group, by the names that they end with."""
    return {name: f"{group}.{name.replace(' ', '_')}" for name in names}


def number(written: str) -> str:
    """A number that is written as in English (1,234.5), as the language writes it."""
    return written.translate({ord("."): tr("number.decimal"), ord(","): tr("number.thousands")})


ENDED, WITHDREW = "ended by the moderator", "the participant withdrew"
"""Reasons of an end for which none was typed."""
PLAIN = {
    ENDED: N_("reason.by_moderator"),
    WITHDREW: N_("reason.withdrew"),
    "consent declined": N_("reason.declined"),
    "consent not stored": N_("reason.consent_unstored"),
    "the end was taken back": N_("reason.end_taken_back"),
    "the microphone could not be opened": N_("reason.microphone_unopened"),
    "the study records no sound": N_("reason.no_sound_in_study"),
    "the session began without sound": N_("reason.began_silent"),
    "the session clock does not run at the speed of sound (--speed)": N_("reason.speed"),
    "switched off (--audio off)": N_("reason.audio_off"),
    "the participant did not agree to a sound recording": N_("reason.no_consent_to_sound"),
    "the disk does not respond": N_("reason.disk"),
    "the device ended the recording": N_("reason.device_ended"),
    "the sound recorder froze and is being restarted": N_("reason.recorder_restarts"),
    "the sound server no longer knows our recording": N_("reason.sound_server"),
    "its participant withdrew": N_("reason.coded_withdrew"),
    "it is being recorded": N_("reason.coded_running"),
    "its units are not frozen": N_("reason.coded_unfrozen"),
    "The signed consent was deleted.": N_("reason.consent_deleted"),
    "Recorded sessions are untouched.": N_("mistake.safe"),
    "It was not changed.": N_("message.not_changed"),
    "Everything before this is stored.": N_("message.annotations_safe"),
    "Choose another name.": N_("message.name_other"),
    "Free some space on this disk.": N_("message.disk_make_room"),
    "Free some space, or choose another place.": N_("message.make_room_or_other"),
    "Free some space, or make sure that you may write there.": N_("message.make_room_or_rights"),
    "Make sure that you may read it.": N_("message.speech_see"),
}
"""English texts without values from lower layers, with their ids: why a session paused, ended or
has no sound, and parts of errors. Journals always store English, so that the data of a study look
alike. Sentences with values are messages (`labapp.base.messages`). Any other text is shown
unchanged."""


def translate_message(text: str) -> str:
    """What another layer said in English: a message with its values, a sentence without any, or a
    text that is shown as it came. A value is translated where it is a message itself: any other one
    may be a name that somebody chose."""
    if isinstance(text, Message):
        words = form(text.code, text.values, _Spoken.language, window=True)
        return _fill_in(words, {name: _translate_value(each) for name, each in text.values.items()})
    return tr(PLAIN[text]) if text in PLAIN else hide_names_in(text)


def in_words(error: LabappError) -> str:
    """What happened, what is safe, and what to do."""
    parts = (error.what, error.safe, error.todo)
    apart = "\n" if "\n" in error.what else " "  # a list of mistakes ends without a full stop
    return apart.join(translate_message(part) for part in parts if part)


def _translate_value(value: object) -> str:
    if isinstance(value, float | int):
        return number(f"{value:g}" if isinstance(value, float) else str(value))
    return translate_message(value) if isinstance(value, Message) else hide_names_in(str(value))


Phrases = Mapping[str, tuple[str, Mapping[str, tuple[str, str]]]]
"""By English phrase the id of its form, and the words in it with their ids, where they have any."""


def phrases(forms: Mapping[str, str], **words: Mapping[str, str] | Iterable[object]) -> Phrases:
    """Every phrase that can be made of forms with {names} and the words that may stand there.

    forms: by English form its id; words: by English word its id, or words that have none.
    """
    gaps = {
        name: list(some.items())
        if isinstance(some, Mapping)
        else [(str(word), "") for word in some]
        for name, some in words.items()
    }
    made: dict[str, tuple[str, Mapping[str, tuple[str, str]]]] = {}
    for text, key in forms.items():
        names = sorted(fields(text))
        for chosen in product(*(gaps[name] for name in names)):
            filled = dict(zip(names, chosen, strict=True))
            made[text.format(**{name: word for name, (word, _) in filled.items()})] = (key, filled)
    return made


def translate_phrase(text: str, known: Phrases) -> str:
    """A phrase in the language that is spoken; any other text as it is."""
    if text not in known:
        return hide_names_in(text)
    key, words = known[text]
    return tr(key, **{name: tr(own) if own else word for name, (word, own) in words.items()})
