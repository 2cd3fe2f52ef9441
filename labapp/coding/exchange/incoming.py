"""A file of another tool, before it meets a session: read, translated, and given a clock.

The formats that codings go out in and come back from, by their names.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from labapp.base.errors import AnnotationError, ExchangeError, UsageError
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import PATTERNS, Code, Codebook
from labapp.coding.annotations.model import SPEAKERS, time_text
from labapp.coding.exchange import captions, eaf, model, qdpx, qdpx_in, refi, tables, textgrid
from labapp.coding.exchange.files import LARGEST, table_rows, unreadable, write_new
from labapp.coding.exchange.gathering import FileClock
from labapp.coding.exchange.model import Annotation, Arrival, Format, Utterance, sort_by_time
from labapp.coding.exchange.refi import id_of

MAP_COLUMNS = ("tier", "code", "to_tier", "to_code")
SESSION_TIME = "session"
"""In the place of a sound file's name."""
_SAME_NS = 2_000_000
"""Lengths that differ by less are those of the same sound."""
MADE = "imported"
"""The id of a codebook that is made of a file."""
MAP_LARGEST = 4 * files.MIB

Translation = Mapping[tuple[str, str], tuple[str, str]]
"""From tier and code of the file to those of the codebook; a code that is empty is any."""


@dataclass(frozen=True)
class Incoming:
    """A file that was read."""

    name: str
    sha256: str
    form: Format
    arrivals: tuple[Arrival, ...]


def read(path: Path) -> Incoming:
    """Read a file of another tool. Raises ExchangeError, UsageError."""
    form = format_of(path)
    if form.read_file is not None:
        try:
            with files.open_file(path) as stream:
                sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            return Incoming(path.name, sha256, form, form.read_file(path))
        except OSError as error:
            raise _make_open_error(path, error) from error
    content = _content(path, LARGEST)
    assert form.read is not None
    return Incoming(
        path.name, hashlib.sha256(content).hexdigest(), form, form.read(content, path.name)
    )


def _content(path: Path, largest: int) -> bytes:
    try:
        return files.content(path, largest)
    except OSError as error:
        raise _make_open_error(path, error) from error


def _make_open_error(path: Path, error: OSError) -> ExchangeError:
    return unreadable(
        str(path),
        str(error.strerror or error),
        "Check that it exists, that you may read it, and that it is the right file.",
    )


def read_translation(path: Path) -> Translation:
    """What tiers and codes of a file are called in the codebook. Raises ExchangeError: it cannot be
    read, or lacks a column.

    Parameters
    ----------
    path : a CSV with the columns tier, code, to_tier and to_code; without a code the row holds for
        every code of the tier, without a to_tier what it is about is left out.
    """
    content = _content(path, MAP_LARGEST)
    rows, _ = table_rows(content, path.name, ("tier", "to_tier"), MAP_COLUMNS)
    translation: dict[tuple[str, str], tuple[str, str]] = {}
    for line, row in rows:
        tier, code, to_tier, to_code = (row.get(column, "").strip() for column in MAP_COLUMNS)
        speaks = model.speech_of(model.read_tier(to_tier)[0])
        if speaks is not None and speaks[1] is not None:
            known = ", ".join(model.SPEECH + speaker for speaker in SPEAKERS)
            what = f"line {line}: {to_tier} is not a speaker"
            raise unreadable(path.name, what, f"Write one of: {known}.")
        translation[tier, code] = (to_tier, to_code)
    return translation


def translate_arrival(arrival: Arrival, translation: Translation, participant: str = "") -> Arrival:
    """What a file holds by the names of the codebook; a tier may become one of speech, and a voice
    one of our speakers. participant: the participant's code, by which a file may call them."""
    utterances: list[Utterance] = []
    annotations: list[Annotation] = []
    left: Counter[str] = Counter()
    lost: list[Message] = []
    for utterance in arrival.utterances:
        voice = _voice(utterance)
        to = translation.get((voice, ""))
        if to is None and utterance.voice and voice.casefold() == participant.casefold():
            to = "participant", ""
        speaks = None if to is None else model.speech_of(model.read_tier(to[0])[0])
        if to is None:
            utterances.append(utterance)
        elif speaks is not None:
            utterances.append(replace(utterance, speaker=speaks[0], voice=None))
        elif not to[0]:
            left[voice] += 1
        else:
            why = Message("map_words", to=repr(to[0]))
            lost.append(Message("left_what", what=utterance.place or voice, why=why))
    for annotation in arrival.annotations:
        tier, code = _plain(annotation.tier), _plain(annotation.code)
        to = translation.get((tier, code), translation.get((tier, "")))
        if to is None:
            annotations.append(annotation)
        elif not to[0]:
            left[f"{tier}: {code}"] += 1
        elif (speaks := model.speech_of(model.read_tier(to[0])[0])) is not None:
            utterances.append(
                Utterance(
                    None,
                    annotation.t0_ns,
                    annotation.t1_ns,
                    speaks[0],
                    model.label_of(annotation),
                    place=annotation.place,
                )
            )
        else:
            annotations.append(replace(annotation, tier=to[0], code=to[1] or annotation.code))
    lost += (Message("left_by_map", n=count, what=what) for what, count in left.items())
    spoken = sort_by_time(utterances)
    if not annotations:
        spoken = sort_by_time(_apart(spoken, lost))
    return replace(
        arrival, utterances=spoken, annotations=tuple(annotations), lost=(*arrival.lost, *lost)
    )


def find_unused_names(arrivals: Iterable[Arrival], translation: Translation) -> Iterator[Message]:
    """What a map names and no arrival has."""
    known: set[tuple[str, str]] = set()
    for arrival in arrivals:
        known |= {(_voice(utterance), "") for utterance in arrival.utterances}
        for a in arrival.annotations:
            known |= {(_plain(a.tier), _plain(a.code)), (_plain(a.tier), "")}
    for tier, code in translation:
        if (tier, code) not in known:
            yield Message("map_unused", what=repr(f"{tier}: {code}" if code else tier))


def map_row(tier: str, to_tier: str | None = None) -> str:
    """The line of a map that says what a tier is; words of the participant, unless it is said, and
    nothing if it holds single sounds."""
    cell = '"{}"'.format(tier.replace('"', '""')) if set(tier) & set(',"') else tier
    if to_tier is None:
        to_tier = "" if model.are_sounds(tier) else f"{model.SPEECH}participant"
    return f"{cell},,{to_tier},"


def _map_rows(arrivals: Sequence[Arrival], words: Sequence[str]) -> list[str]:
    """Lines of a map for tiers of words. A tier that mostly lies over others says the same once
    more, as single words and translations do: it is left out."""
    own: dict[str, list[Annotation]] = {tier: [] for tier in words}
    for annotation in (a for arrival in arrivals for a in arrival.annotations):
        own.get(annotation.tier, []).append(annotation)
    rows = {tier: map_row(tier, "") for tier in words}
    begins: list[int] = []
    ends: list[int] = []
    for tier, stretches in sorted(own.items(), key=lambda item: len(item[1])):
        over = sum(bisect_left(begins, a.t1_ns) > bisect_right(ends, a.t0_ns) for a in stretches)
        if model.are_sounds(tier) or 2 * over > len(stretches):
            continue
        rows[tier] = map_row(tier)
        for annotation in stretches:
            insort(begins, annotation.t0_ns)
            insort(ends, annotation.t1_ns)
    return list(rows.values())


def _plain(name: str) -> str:
    """A name as the cells of a map have it: letters composed, without spaces around it."""
    return normalize("NFC", name).strip()


def _voice(utterance: Utterance) -> str:
    """What a map calls who speaks: empty if the file does not say it."""
    if utterance.voice is None:
        return model.SPEECH + utterance.speaker
    return _plain(utterance.voice)


def _apart(utterances: Iterable[Utterance], lost: list[Message]) -> Iterator[Utterance]:
    """Utterances without those of a speaker that overlap, as captions that roll do: one begins when
    the one before it ends, and the words of one that lies within it go there. lost: where that is
    told."""
    last: dict[str, Utterance] = {}
    for utterance in utterances:
        before = last.get(utterance.speaker)
        if before is None or utterance.id is not None or utterance.t0_ns >= before.t1_ns:
            pass
        elif utterance.t1_ns > before.t1_ns:
            why = Message("cue_cut", at=time_text(before.t1_ns, 3))
            lost.append(Message("left_what", what=utterance.place, why=why))
            utterance = replace(utterance, t0_ns=before.t1_ns)
        elif utterance.t1_ns > utterance.t0_ns:
            why = Message("cue_joined", at=time_text(before.t0_ns, 3))
            lost.append(Message("left_what", what=utterance.place, why=why))
            if utterance.text != before.text:
                before = replace(before, text=f"{before.text}\n{utterance.text}")
            last[utterance.speaker] = before
            continue
        if before is not None:
            yield before
        last[utterance.speaker] = utterance
    yield from last.values()


# --- whose time it has ----------------------------------------------------------------------------


def clock_of(
    arrival: Arrival, name: str, form: Format, clocks: Sequence[FileClock], time: str = ""
) -> tuple[FileClock, str]:
    """Whose time a file has, and how that is known, in words. Raises UsageError: there is no such
    sound file, or nothing says whose time it is.

    Parameters
    ----------
    arrival : what was read.
    name : of the file.
    form : its format.
    clocks : that of the session, then those of its sound files.
    time : what the user said: `session`, or the name of a sound file.
    """
    session, *sounds = clocks
    by_name = {PurePosixPath(clock.name).name: clock for clock in sounds}
    known = f"{SESSION_TIME}, {', '.join(by_name)}" if by_name else SESSION_TIME
    if time:
        if time == SESSION_TIME:
            return session, Message("times_session")
        if (clock := by_name.get(PurePosixPath(time).name)) is not None:
            return clock, Message("times_file", file=clock.name)
        raise UsageError(
            f"There is no sound file {time!r}.", todo=f"Use --time with one of: {known}."
        )
    if arrival.stamp is not None:
        if not arrival.stamp.sound:
            return session, Message("times_session_said")
        clock = by_name.get(PurePosixPath(arrival.stamp.sound).name)
        if clock is not None:
            return clock, Message("times_file_said", file=clock.name)
    if form.name == "csv":
        return session, Message("times_session_csv")
    stem = PurePosixPath(name).stem
    for media in (arrival.media, f"{stem}.wav"):
        for own, clock in by_name.items():
            if media and (media == own or media.endswith(f"_{own}")):
                return clock, Message("times_file_named", file=clock.name, media=media)
    if arrival.media and sounds:
        raise UsageError(
            Message("time_of_other", name=name, media=arrival.media),
            todo=Message("time_say", known=known),
        )
    if arrival.length_ns is not None and abs(arrival.length_ns - session.t1_ns) < _SAME_NS:
        return session, Message("times_session_long")
    if not sounds:
        return session, Message("times_session_silent")
    if len(sounds) > 1:
        raise UsageError(
            Message("time_of_none", name=name, n=len(sounds)), todo=Message("time_say", known=known)
        )
    only = sounds[0]
    return only, Message("times_file_only", file=only.name)


# --- a codebook, where there is none --------------------------------------------------------------


def choose_codebook(study: Path, wanted: str) -> Codebook | None:
    """The codebook that codes are given by; None if a study has none. Raises AnnotationError: it
    cannot be read, or there are several and none is named."""
    books = {book.id: book for book in codebooks.codebooks_of(study)}
    if not books and not wanted:
        return None
    if wanted in books or (not wanted and len(books) == 1):
        return books[wanted] if wanted else next(iter(books.values()))
    what = f"There is no codebook {wanted!r}." if wanted else "This study has several codebooks."
    raise UsageError(what, todo=f"Use --codebook with one of: {', '.join(books) or 'none'}.")


def make_codebook(study: Path, arrivals: Sequence[Arrival], words: Sequence[str] = ()) -> Codebook:
    """A codebook of what a file has, for a study without one: of its own codebook, if all that was
    given is in there, else of the tiers and codes that were given.

    A code that is given both to moments and to stretches becomes two. Raises ExchangeError: there
    are tiers of words.

    Parameters
    ----------
    study : its folder.
    arrivals : what the file holds.
    words : see `tiers_of_words`.
    """
    if words:
        raise ExchangeError(
            Message("tiers_of_words", tiers=", ".join(map(repr, words))),
            safe=Message("nothing_brought_in"),
            todo=Message("tiers_say", rows="\n".join(_map_rows(arrivals, words))),
        )
    annotations = [a for arrival in arrivals for a in arrival.annotations]
    if tree := [code for arrival in arrivals for code in arrival.codes]:
        refi.refuse_many(len(tree), PATTERNS[0])
        book = refi.build_codebook(refi.document(tree, MADE, annotations), study / PATTERNS[0])
        if not any(
            isinstance(resolve(book, tier, code, point=point), str)
            for tier, code, point in {(a.tier, a.code, a.t0_ns == a.t1_ns) for a in annotations}
        ):
            return book
    named: dict[tuple[str, str, bool], None] = {}
    values: dict[str, set[int]] = {}
    for annotation in annotations:
        point = annotation.t0_ns == annotation.t1_ns
        named.setdefault((annotation.tier, annotation.code, point))
        if annotation.value is not None and 0 <= annotation.value <= 9:
            values.setdefault(annotation.tier, set()).add(annotation.value)
    refi.refuse_many(len(named), PATTERNS[0])
    own_tiers: dict[str, str] = {}
    taken: set[str] = set()
    for tier in dict.fromkeys(tier for tier, _, _ in named):
        own_tiers[tier] = id_of(tier, "tier", taken)
        taken.add(own_tiers[tier])
    codes: dict[str, dict[str, str]] = {}
    for tier, code, point in named:
        both = point and (tier, code, False) in named
        own = id_of(f"{code} at a moment" if both else code, "code", codes)
        codes[own] = {"id": own, "tier": own_tiers[tier], "name": code.strip() or own}
        codes[own] |= {"kind": "point"} if point else {}
    document = {
        "codebook": MADE,
        "version": 1,
        "tiers": {
            own: {"title": tier, "on": "spans", "values": sorted(values.get(tier, ()))}
            for tier, own in own_tiers.items()
        },
        "codes": list(codes.values()),
    }
    return refi.build_codebook(document, study / PATTERNS[0])


def tiers_of_words(arrivals: Iterable[Arrival], translation: Translation) -> list[str]:
    """Tiers that seem to hold words and not codes, where neither the file nor the map says so."""
    said = {tier for tier, _ in translation.values()}
    labels: dict[str, list[str]] = {}
    for arrival in arrivals:
        for a in () if arrival.stamp or arrival.codes else arrival.annotations:
            if a.tier not in arrival.coded and a.tier not in said:
                labels.setdefault(a.tier, []).append(model.label_of(a))
    return [tier for tier, own in labels.items() if model.are_words(tier, own)]


def read_codebook(file: Path, study: Path) -> Codebook:
    """A codebook of another tool (.qdc), for a study without one. Raises AnnotationError."""
    content = _content(file, refi.LARGEST)
    try:
        return refi.read(content, file)
    except ExchangeError:
        raise
    except AnnotationError as error:
        raise unreadable(file.name, str(error)) from error


def write_codebook(study: Path, codebook: Codebook) -> Path:
    """Write a codebook into a study that has none. Raises ExchangeError."""
    path = study / PATTERNS[0]
    write_new(path, codebook.content)
    return path


def resolve(codebook: Codebook, tier: str, code: str, *, point: bool) -> tuple[str, str] | Message:
    """The ids of a tier and a code by what a file calls them, or why there are none, in words. A
    tier that is empty is the one that has such a code."""
    if not tier.strip():
        names = {c.tier for c in codebook.by_label.get(("", code.strip().casefold()), ())}
        if len(names) != 1:
            which = "tiers_have_code" if names else "no_tier_has_code"
            return Message(which, codebook=codebook.id, code=repr(code))
        (tier,) = names
    known = codebook.tier(tier) or next(
        (t for t in codebook.tiers if t.title.casefold() == tier.strip().casefold()), None
    )
    if known is None:
        return Message("codebook_no_tier", codebook=codebook.id, tier=repr(tier))
    exact = codebook.by_id.get(code)
    same: Sequence[Code] = [exact] if exact is not None and exact.tier == known.name else ()
    same = same or codebook.by_label.get((known.name, code.strip().casefold()), ())
    fitting = [c for c in same if (c.kind == "point") == point] or same
    if not fitting:
        return Message("tier_no_code", tier=repr(known.name), code=repr(code))
    if fitting[0].retired:
        own_id, later = repr(fitting[0].id), ", ".join(codebook.following(fitting[0].id))
        if later:
            return Message("code_instead", code=own_id, later=later)
        return Message("code_not_given", code=own_id)
    return known.name, fitting[0].id


def of_session(arrivals: Sequence[Arrival], session: str, name: str) -> list[Arrival]:
    """The parts of a file that belong, or may belong, to a session, since a project can hold
    several. Raises ExchangeError: all of it went out of another session."""
    other = {a.stamp.session for a in arrivals if a.stamp and a.stamp.session != session}
    own = [a for a in arrivals if a.stamp is None or a.stamp.session == session]
    if other and not any(a.stamp is not None for a in own):
        raise ExchangeError(
            Message("file_of_other", name=name, other=", ".join(sorted(other)), session=session),
            todo=Message("name_its_session"),
        )
    if other:
        lost = tuple(Message("left_session", session=left) for left in sorted(other))
        own[0] = replace(own[0], lost=(*own[0].lost, *lost))
    return own


def with_clocks(
    arrivals: Sequence[Arrival], incoming: Incoming, clocks: Sequence[FileClock], time: str
) -> tuple[list[tuple[Arrival, FileClock, str]], list[Message]]:
    """What a file holds, each with whose time it has and how that is known; and what has no place,
    in words. See `clock_of`; of a project with several sounds, those of others are left out. Raises
    UsageError: None of it has a place."""
    placed, lost, refused = [], [], []
    for arrival in arrivals:
        try:
            placed.append((arrival, *clock_of(arrival, incoming.name, incoming.form, clocks, time)))
        except UsageError as error:
            refused.append(error)
            lost.append(Message("left_media", media=arrival.media))
    if refused and not placed:
        raise refused[0]
    return placed, lost


MS, US = 1_000_000, 1_000
_EVERY = (
    Format("eaf", ".eaf", "ELAN", eaf.write, eaf.read, False, MS),
    Format("textgrid", ".TextGrid", "Praat", textgrid.write, textgrid.read, False, 1, False),
    Format(
        "vtt",
        ".vtt",
        "WebVTT captions",
        partial(captions.write, captions.vtt),
        captions.read,
        False,
        MS,
        False,
    ),
    Format(
        "srt",
        ".srt",
        "SubRip captions",
        partial(captions.write, captions.srt),
        captions.read,
        False,
        MS,
        False,
    ),
    Format("audacity", ".txt", "Audacity's labels", tables.write_audacity, None, False, US, False),
    Format(
        "qdpx",
        ".qdpx",
        "REFI-QDA (NVivo, MAXQDA)",
        qdpx.write,
        qdpx_in.read,
        True,
        MS,
        False,
        True,
        qdpx_in.read_file,
    ),
    Format("boris", ".boris", "BORIS", tables.write, None, True, MS),
    Format("csv", ".csv", "a table", tables.write_csv, tables.read_csv, False, US, False),
)
FORMATS: Mapping[str, Format] = {form.name: form for form in _EVERY}
ON_TRANSCRIPT = replace(FORMATS["qdpx"], write=partial(qdpx.write, on_transcript=True))
"""A project with the codes of units on the transcript."""


_WHISPER = [
    replace(FORMATS["vtt"], name="whisper", suffix=".tsv", read=captions.read_table),
    replace(FORMATS["vtt"], name="whisper", suffix=".json", read=captions.read_json),
]
"""What comes in only, as captions do."""

CODEBOOK_FORMATS: Mapping[str, Callable[[Codebook, Path], tuple[str, ...]]] = {
    "csv": tables.codebook_csv,
    "qdc": refi.write,
}
"""What writes a codebook to a new file, by the names that `--to` takes; each returns what has no
place in it, in words."""


def format_named(name: str) -> Format:
    """The format of that name. Raises UsageError."""
    if name not in FORMATS:
        raise UsageError(f"There is no format {name!r}.", todo=f"Use one of: {', '.join(FORMATS)}.")
    return FORMATS[name]


def format_of(path: Path) -> Format:
    """The format of a file that comes in, by the end of its name. Raises UsageError."""
    readable = (form for form in (*FORMATS.values(), *_WHISPER) if form.read is not None)
    ends = {form.suffix.casefold(): form for form in readable}
    form = ends.get(path.suffix.casefold())
    if form is None:
        raise UsageError(
            Message("file_of_no_kind", path=str(path)),
            todo=Message("give_ending", ends=", ".join(ends)),
        )
    return form
