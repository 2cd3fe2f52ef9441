"""Writing down what was said in a session: a stretch of voice after the other.

The text of a unit is stored as soon as it is there, so that whatever ends the work, the next time
it goes on. The file is open only while a text is written: people correct others meanwhile. What a
person wrote, corrected, read or redacted is never written over.

What a recogniser may have invented has signs in its text, to be looked at by a person. Speech
models fill what they do not understand with words: the same again and again, words they are not
sure of, words where nobody speaks.

A speech model at work in a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from scipy.signal import resample_poly

from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, AnnotationsBusy, NoConsent, TranscriptionError
from labapp.base.installation import child_environment, module_command
from labapp.base.parallel.processes import cores
from labapp.base.reading import files
from labapp.coding.annotations import store
from labapp.coding.annotations.model import (
    DETECTOR,
    RECOGNISER,
    Doubt,
    Redaction,
    Text,
    Unit,
    Word,
    annotations_folder,
)
from labapp.coding.annotations.segmenting import find_speech, segment, segment_session, sound_of
from labapp.coding.annotations.texts import TextsFile, is_redacted, join_ranges
from labapp.coding.transcription.child import RATE, RawWord, request
from labapp.coding.transcription.models import WHICH, SpeechModel
from labapp.record.audio.recorded_sound import RecordedSound
from labapp.record.audio.speech import PAUSE_S, join_stretches
from labapp.record.journal.opening import open_record
from labapp.record.journal.record import Record

PAD_NS = 200_000_000
"""So much sound around a stretch of voice is heard with it: soft beginnings of words."""
LONGEST_NS = 28 * NS
"""Longer stretches are parted where they are softest: Whisper hears 30 s at once."""
SHORTEST_NS = 200_000_000
"""Shorter stretches are noises: a dial that clicks, a cough. No word is that short, and models make
whole sentences of them."""
_FRAME_NS = 20_000_000
PATIENCE_S = 60.0
"""A window writes words in an instant; who holds the text for longer does something else."""

Stretch = tuple[int, int]
Tell = Callable[[float, str], None]
"""Told the share that is done, 0 to 1, and what is being done."""


@dataclass(slots=True)
class Transcription:
    """What was done with a session.

    Attributes
    ----------
    units_made : whether they were made from its sound just now.
    written : units that got a text, one without words too.
    wordless : those of them in which no word was recognised.
    words : that were written.
    doubtful : texts that may be invented.
    kept : units that had a text before, which stayed.
    overtaken : units that a person wrote while they were listened to; what was recognised is left.
    silent : units in which no voice is heard; they have no text.
    outside_s : voice outside of all units, in s, which nobody wrote down.
    voice_s : voice that was listened to, in s.
    seconds : how long that took.
    language : that was taken as spoken.
    """

    session: str
    units: int = 0
    units_made: bool = False
    written: int = 0
    wordless: int = 0
    words: int = 0
    doubtful: int = 0
    kept: int = 0
    overtaken: int = 0
    silent: int = 0
    outside_s: float = 0.0
    voice_s: float = 0.0
    seconds: float = 0.0
    language: str = ""

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        rounded = {
            name: round(value, 3) for name, value in asdict(self).items() if name[-2:] == "_s"
        }
        return {**asdict(self), **rounded, "seconds": round(self.seconds, 3)}

    def line(self) -> str:
        """For people."""
        parts = [f"{self.written} of {self.units} units transcribed ({self.words} words)"]
        if self.units_made:
            parts.append("units made from the sound, not frozen")
        for count, what in (
            (self.doubtful, "perhaps invented"),
            (self.wordless, "without a word"),
            (self.kept, "had text before"),
            (self.overtaken, "written by hand meanwhile"),
            (self.silent, "without a voice"),
        ):
            if count:
                parts.append(f"{count} {what}")
        if self.outside_s >= 1:
            parts.append(f"{self.outside_s:.0f} s of speech are outside units")
        if self.voice_s:
            parts.append(f"{self.voice_s:.1f} s of speech in {self.seconds:.1f} s")
        return f"{self.session}: " + "; ".join(parts)


def transcribe_session(
    session: Path,
    open_recogniser: Callable[[], Recogniser],
    *,
    language: str = "",
    again: bool = False,
    tell: Tell = lambda share, what: None,
    patience_s: float = PATIENCE_S,
) -> Transcription:
    """Write down what was said in a session, by a recogniser.

    Parameters
    ----------
    open_recogniser : gives the recogniser; called only where something is to be heard.
    language : what is spoken; that of the session's texts if it is empty.
    again : whether to replace texts that a recogniser wrote and nobody has read.
    patience_s : how long to wait, in s, for another program that has the text open.

    Raises
    ------
    NoConsent : the participant did not agree to a transcript.
    TranscriptionError : the model does not know the language, or the engine failed.
    AnnotationError : the session is recorded just now, its participant withdrew, it has no sound,
        it is being written down already, another window has its text open, or something was
        redacted meanwhile.
    """
    record = open_record(session)
    check_consent(record)
    language = language or record.planned.language.partition("-")[0].casefold()
    done = Transcription(str(record.name), language=language)
    missing = not store.segmentation_of(record).units
    if missing:
        # Whatever may refuse the work does so before anything is written.
        made = segment(record)
        if made:
            open_recogniser().check_language(language)
    texts = _SharedTexts(session, record, patience_s)
    texts.read()
    with _alone(session):
        if missing:
            segment_session(session, DETECTOR)
            done.units_made = True
        units = store.segmentation_of(record).units
        done.units = len(units)
        sound = sound_of(record, ((r.t0_ns, r.t1_ns) for r in texts.redactions))
        try:
            _Work(sound, texts, units, done, tell).run(open_recogniser, language, again)
        finally:
            sound.close()
    return done


@contextmanager
def _alone(session: Path) -> Iterator[None]:
    """Nobody else writes this session down meanwhile. Raises AnnotationsBusy."""
    lock = FileLock(annotations_folder(session) / ".recogniser.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise AnnotationsBusy(
            f"{session.name} is already being transcribed.",
            todo="Wait until that has ended, or stop it.",
        ) from error
    try:
        yield
    finally:
        lock.release()


class _SharedTexts:
    """The text of a session, open only while something is written.

    Attributes
    ----------
    texts : mapping of str to Text
        As they were when they were last read.
    redactions : those at the beginning, which the sound is silent for.
    """

    def __init__(self, session: Path, record: Record, patience_s: float) -> None:
        self._session, self._record, self._patience_s = session, record, patience_s
        self.texts: dict[str, Text] = {}
        self.redactions: tuple[Redaction, ...] = ()

    def read(self) -> None:
        """See what there is. Raises AnnotationError."""
        with self._open_texts() as file:
            self.texts, self.redactions = file.texts, file.redactions

    def put(self, text: Text, waiting: Callable[[Text | None], bool]) -> bool:
        """Write a text if it is still waited for; says whether it was. Raises
        AnnotationError."""
        with self._open_texts() as file:
            self.texts = file.texts
            if file.redactions != self.redactions:
                raise AnnotationError(
                    f"Something in {self._session.name} was redacted in the meantime.",
                    safe="The text before this is stored, but nothing of the unit in progress.",
                    todo="Run the same command again: it continues from there.",
                )
            if not waiting(self.texts.get(text.unit)):
                return False
            file.put(text)
            return True

    def note_recogniser(self, facts: dict[str, Any]) -> None:
        """See `TextsFile.note_recogniser`. Raises AnnotationError."""
        with self._open_texts() as file:
            file.note_recogniser(facts)

    def _open_texts(self) -> TextsFile:
        session, record = self._session, self._record
        return store.open_texts(session, RECOGNISER, record=record, patience_s=self._patience_s)


def check_consent(record: Record) -> None:
    """Raises NoConsent if the participant did not agree to a transcript."""
    if not record.may("transcript"):
        raise NoConsent(
            f"The participant of {record.name} did not agree to a transcript.",
            safe="The sound was not used, and nothing was written.",
            todo="Code its units by ear.",
        )


class _Work:
    def __init__(
        self,
        sound: RecordedSound,
        texts: _SharedTexts,
        units: Sequence[Unit],
        done: Transcription,
        tell: Tell,
    ) -> None:
        self._sound, self._texts, self._done, self._tell = sound, texts, done, tell
        self._units = units
        self._voiced = find_speech(sound)
        self._begins = [begins for begins, _ in self._voiced]
        self._ends = [ends for _, ends in self._voiced]

    def run(self, open_recogniser: Callable[[], Recogniser], language: str, again: bool) -> None:
        done = self._done
        waiting: list[tuple[Unit, list[Stretch]]] = []
        for unit in self._units:
            if not self._is_written_over(unit, self._texts.texts.get(unit.id), again):
                done.kept += 1
            elif stretches := self._stretches(unit):
                waiting.append((unit, stretches))
            else:
                done.silent += 1
        units = join_ranges((unit.t0_ns, unit.t1_ns) for unit in self._units)
        covered = sum(_length(self._within(begins, ends)) for begins, ends in units)
        every = _length(self._within(0, max(self._ends, default=0)))
        done.outside_s = (every - covered) / NS
        if not waiting:
            return
        self._tell(0.0, "opening the model")
        recogniser = open_recogniser()
        recogniser.check_language(language)
        self._note(recogniser, language)
        begun = perf_counter()
        total = sum(_length(stretches) for _, stretches in waiting)
        heard = 0
        for unit, stretches in waiting:
            words: list[Word] = []
            for stretch in stretches:
                self._tell(heard / total, f"{done.session}, {stretch[0] / NS:.0f} s")
                words += self._hear(recogniser, unit, stretch, language)
                heard += stretch[1] - stretch[0]
            self._put(unit, words, again)
            done.voice_s, done.seconds = heard / NS, perf_counter() - begun
        self._tell(1.0, done.session)

    def _is_written_over(self, unit: Unit, text: Text | None, again: bool) -> bool:
        if text is None:
            return True
        machine = text.by == text.origin == RECOGNISER and not text.reviewed
        redacted = is_redacted(unit.t0_ns, unit.t1_ns, self._texts.redactions)
        return again and machine and not redacted

    def _within(self, t0_ns: int, t1_ns: int) -> Iterator[Stretch]:
        """Voice in a stretch of session time, without what is redacted."""
        first = bisect_right(self._ends, t0_ns)
        for begins, ends in self._voiced[first : bisect_left(self._begins, t1_ns)]:
            yield from _without((max(begins, t0_ns), min(ends, t1_ns)), self._texts.redactions)

    def _stretches(self, unit: Unit) -> list[Stretch]:
        """What is heard of a unit at a time."""
        spoken = [(b / NS, e / NS) for b, e in self._within(unit.t0_ns, unit.t1_ns)]
        together = [(round(b * NS), round(e * NS)) for b, e in join_stretches(spoken, PAUSE_S)]
        return [
            piece
            for stretch in together
            if stretch[1] - stretch[0] >= SHORTEST_NS
            for piece in self._pieces(stretch)
        ]

    def _pieces(self, stretch: Stretch) -> list[Stretch]:
        """A stretch, parted where it is softest in its second half while it is too long."""
        begins, ends = stretch
        pieces = []
        while ends - begins > LONGEST_NS:
            middle = begins + LONGEST_NS // 2
            samples = self._sound.read(middle, LONGEST_NS // 2 * self._sound.rate // NS)
            frame = _FRAME_NS * self._sound.rate // NS
            power = samples[: samples.size // frame * frame].astype(np.float32).reshape(-1, frame)
            at = middle + (int(np.argmin((power**2).mean(axis=1))) * _FRAME_NS + _FRAME_NS // 2)
            pieces.append((begins, at))
            begins = at
        return [*pieces, (begins, ends)]

    def _hear(
        self, recogniser: Recogniser, unit: Unit, stretch: Stretch, language: str
    ) -> list[Word]:
        last = bisect_right(self._ends, stretch[0])
        before = self._ends[last - 1] if last else 0
        after = next((b for b in self._begins if b >= stretch[1]), stretch[1] + 2 * PAD_NS)
        begins = max(0, stretch[0] - min(PAD_NS, (stretch[0] - before) // 2))
        ends = stretch[1] + min(PAD_NS, (after - stretch[1]) // 2)
        rate = self._sound.rate
        samples = self._sound.read(begins, (ends - begins) * rate // NS)
        if not samples.any():
            return []
        return [
            _place_word(word, begins, unit, self._texts.redactions)
            for word in recogniser.hear(samples, rate, language)
        ]

    def _put(self, unit: Unit, words: list[Word], again: bool) -> None:
        redactions = [
            r for r in self._texts.redactions if is_redacted(unit.t0_ns, unit.t1_ns, (r,))
        ]
        voice = list(self._within(unit.t0_ns, unit.t1_ns))
        doubts = doubts_of(words, voice)
        text = Text(unit.id, _sentence(words, redactions), tuple(words), RECOGNISER, doubts=doubts)
        if not self._texts.put(text, lambda now: self._is_written_over(unit, now, again)):
            self._done.overtaken += 1
            return
        self._done.written += 1
        self._done.words += len(words)
        self._done.wordless += not words
        self._done.doubtful += bool(doubts)

    def _note(self, recogniser: Recogniser, language: str) -> None:
        model = recogniser.model
        facts: dict[str, Any] = {
            "engine": recogniser.versions,
            "model": model.name,
            "sha256": model.sha256(),
            "language": language,
            "words": recogniser.words,
        }
        name = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
        self._texts.note_recogniser({"id": name, **facts})


def _place_word(word: HeardWord, t0_ns: int, unit: Unit, redactions: Sequence[Redaction]) -> Word:
    """A word in session time, within its unit, and beside what is redacted: it was heard where that
    is silent, and engines place words roughly."""
    begins = min(max(t0_ns + round(word.t0_s * NS), unit.t0_ns), unit.t1_ns)
    ends = min(max(t0_ns + round(word.t1_s * NS), begins), unit.t1_ns)
    for redaction in redactions:
        if not is_redacted(begins, ends, (redaction,)):
            continue
        if begins + ends < redaction.t0_ns + redaction.t1_ns and redaction.t0_ns > unit.t0_ns:
            begins, ends = min(begins, redaction.t0_ns - 1), redaction.t0_ns
        else:
            begins, ends = redaction.t1_ns, max(ends, redaction.t1_ns)
    return Word(begins, ends, word.text, round(word.probability, 3))


def _sentence(words: Sequence[Word], redactions: Sequence[Redaction]) -> str:
    parts = [(word.t0_ns, 1, word.text) for word in words]
    parts += [(redaction.t0_ns, 0, redaction.replacement) for redaction in redactions]
    return " ".join(text for *_, text in sorted(parts, key=lambda part: part[:2]))


def _without(stretch: Stretch, redactions: Sequence[Redaction]) -> Iterator[Stretch]:
    """What is left of a stretch."""
    begins, ends = stretch
    for redaction in redactions:
        if redaction.t0_ns < ends and begins < redaction.t1_ns:
            if begins < redaction.t0_ns:
                yield begins, redaction.t0_ns
            begins = redaction.t1_ns
    if begins < ends:
        yield begins, ends


def _length(stretches: Sequence[Stretch] | Iterator[Stretch]) -> int:
    return sum(ends - begins for begins, ends in stretches)


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
    """Why a text may be invented; empty if nothing says so. words: in their order; voiced:
    session times at which somebody is heard."""
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


LONGEST_WORDS = 600
"""Characters of expected words: Whisper takes about 200 tokens."""
MOST_THREADS = 8
_CLOSE_S = 2.0


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A word, with its time in s from the first sample, and how sure the engine is, 0 to 1."""

    t0_s: float
    t1_s: float
    text: str
    probability: float


class Recogniser:
    """A speech model that is loaded and waits for sound.

    Parameters
    ----------
    model : it is read from the disk here, which can take a while.
    words : words that may come up, with commas between them; Whisper expects them then.

    Attributes
    ----------
    versions : str
        Of the engine's libraries.
    languages : those that the model knows, as codes such as `de`; None if it does not say so.

    Raises
    ------
    TranscriptionError : the model cannot be opened, or its engine takes no words.
    """

    def __init__(self, model: SpeechModel, words: str = "") -> None:
        if words and model.engine.name == "vosk":
            raise TranscriptionError(
                "A Vosk model has its own words and cannot be given others.",
                todo="Leave --words out, or use a Whisper model.",
            )
        self.model, self.words = model, words
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (until it is closed)
        threads = min(cores(), MOST_THREADS)
        self._child = subprocess.Popen(
            module_command("labapp.coding.transcription.child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=child_environment(
                HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", OMP_NUM_THREADS=str(threads)
            ),
        )
        try:
            opened = self._ask(
                {"engine": model.engine.name, "path": str(model.path), "threads": threads}
            )
        except BaseException:
            self.close()
            raise
        self.versions = str(opened["versions"])
        self.languages: list[str] | None = opened["languages"]

    def check_language(self, language: str) -> None:
        """Raises TranscriptionError if the model does not know a language."""
        if self.languages is None or language in self.languages:
            return
        if len(self.languages) > 1:
            known = ", ".join(sorted(self.languages))
            raise TranscriptionError(
                f"The model {self.model.name} does not know the language {language!r}.",
                todo=f"Choose the spoken language with --language, one of: {known}.",
            )
        known = ", ".join(self.languages)
        raise TranscriptionError(
            f"The model {self.model.name} knows only {known}, but {language} was spoken.",
            safe="Nothing was written, because it would have made up words that nobody said.",
            todo=f"Get a model that knows {language}. {WHICH} If another language was spoken, "
            "set it with --language.",
        )

    def hear(self, samples: NDArray[np.int16], rate: int, language: str) -> list[HeardWord]:
        """The words in sound. Raises TranscriptionError: the engine failed, or its process ended.

        Parameters
        ----------
        samples : ndarray of int16, shape (n,)
            Mono; not all zeros, in which some models hear words.
        rate : frames a second.
        language : what is spoken, as a code such as `de`.
        """
        sound = resample_sound(samples, rate)
        answer = self._ask({"language": language, "words": self.words}, sound)
        return whole_words([tuple(word) for word in answer["words"]])

    def close(self) -> None:
        """End the process. Harmless when it ended before."""
        child = self._child
        if child.stdin is not None:
            try:
                child.stdin.close()
            except OSError:
                """It is gone already."""
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(_CLOSE_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        if child.stdout is not None:
            child.stdout.close()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _ask(self, facts: dict[str, Any], sound: NDArray[np.int16] | None = None) -> dict[str, Any]:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            self._child.stdin.write(request(facts, sound))
            self._child.stdin.flush()
            line = self._child.stdout.readline()
        except OSError:
            line = b""
        answer: dict[str, Any] = (
            json.loads(line) if line.strip() else {"error": self._describe_exit()}
        )
        if "error" in answer:
            engine = self.model.engine
            at_work = sound is not None
            raise TranscriptionError(
                f"{engine.package} could not "
                + (f"go on with {self.model.name}" if at_work else f"open {self.model.path}")
                + f" ({answer['error']}).",
                safe="What was transcribed before is stored." if at_work else None,
                todo="Run the same command again: it continues from there. If memory ran out, "
                "use a smaller model."
                if at_work
                else f"Make sure that it is complete: {engine.model}. If the engine itself is "
                f"damaged: {engine.install} --upgrade",
            )
        return answer

    def _describe_exit(self) -> str:
        """How the process ended, with the last line that it wrote."""
        try:
            status: int | None = self._child.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            status = None
        self._errors.seek(0)
        lines = files.within(self._errors, 1 << 24).decode("utf-8", "replace").strip().splitlines()
        last = f": {lines[-1].strip()}" if lines else ""
        if status is not None and status < 0:
            return f"its process was ended by signal {-status}{last}"
        return f"its process ended with {status}{last}"


def resample_sound(samples: NDArray[np.int16], rate: int) -> NDArray[np.int16]:
    """Sound at the rate that engines take, (m,) int16."""
    if rate == RATE or samples.size == 0:
        return samples
    common = int(np.gcd(rate, RATE))
    sound = resample_poly(samples.astype(np.float32), RATE // common, rate // common)
    return np.clip(np.rint(sound), -32768, 32767).astype(np.int16)


def whole_words(raw: list[Any]) -> list[HeardWord]:
    """Words that stand between spaces: what an engine parted within one is put together, as sure as
    its least sure part. Marks without a letter or a digit are no words."""
    words: list[HeardWord] = []
    parts: RawWord
    for parts in raw:
        t0_s, t1_s, text, probability = parts
        if words and not text[:1].isspace():
            before = words[-1]
            words[-1] = HeardWord(
                before.t0_s,
                max(before.t1_s, t1_s),
                before.text + text.strip(),
                min(before.probability, probability),
            )
        elif text.strip():
            words.append(HeardWord(t0_s, max(t0_s, t1_s), text.strip(), probability))
    return [word for word in words if any(letter.isalnum() for letter in word.text)]
