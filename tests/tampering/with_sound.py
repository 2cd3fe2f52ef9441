"""Sound: samples, header, length, files."""

from __future__ import annotations

import zlib
from pathlib import Path

from labapp.record.audio.capture import wav_header
from tests.helpers.forging import keep_crc32
from tests.helpers.trees import flip
from tests.tampering.catalogue import manipulation
from tests.tampering.places import (
    WAV_1,
    WAV_2,
    Places,
    changed,
    insider,
    resound,
    sound_of,
)

SECOND = 2000
"""Bytes: the sound has 1,000 frames of two bytes a second."""


@manipulation("session", told="the sound from 10.0 to 11.0 s was changed")
def flip_a_bit_of_sound(places: Places) -> None:
    """One bit of one sample is turned."""
    flip(places.session / WAV_1, 44 + 2 * 10_500)


def _forged(path: Path) -> None:
    sound = sound_of(path)
    second = bytes(sound[3 * SECOND : 4 * SECOND])
    sound[3 * SECOND : 4 * SECOND] = keep_crc32(second, bytes(1000) + second[1000:])
    assert zlib.crc32(second) == zlib.crc32(sound[3 * SECOND : 4 * SECOND])
    resound(path, bytes(sound))


@manipulation("session", told="the sound from 3.0 to 4.0 s was changed (SHA-256)")
def silence_a_word_and_keep_the_crc32(places: Places) -> None:
    """Half a second is silenced, and four bytes are set so that the CRC-32 is the old one."""
    _forged(places.session / WAV_1)


@manipulation("session", noted="were written by an earlier version, with a CRC-32")
def silence_a_word_of_an_old_session(places: Places) -> None:
    """The same in a session that an earlier version wrote, whose blocks have no other hash."""
    path = places.session / WAV_1
    sound = bytes(sound_of(path))

    def old(rows: list) -> list:  # type: ignore[type-arg]
        import json

        out = []
        for row in rows:
            value = json.loads(row.payload)
            if row.kind == "audio.block" and value["file"] == WAV_1:
                part = sound[2 * value["first_frame"] : 2 * value["frames"]]
                text = changed(row, crc32=zlib.crc32(part))
                value = json.loads(text.payload)
                value.pop("sha256", None)
                payload = json.dumps(value, sort_keys=True, separators=(",", ":"))
                row = row._replace(v=1, payload=payload)
            out.append(row)
        return out

    insider(places.session, old)
    _forged(path)


@manipulation("session", told="the sound from 5.0 to 6.0 s was changed")
def exchange_two_seconds(places: Places) -> None:
    """Two seconds of sound exchange their places."""
    path = places.session / WAV_1
    sound = sound_of(path)
    one, two = sound[5 * SECOND : 6 * SECOND], sound[8 * SECOND : 9 * SECOND]
    sound[5 * SECOND : 6 * SECOND], sound[8 * SECOND : 9 * SECOND] = two, one
    resound(path, bytes(sound))


@manipulation("session", told="the sound from 0.0 to 1.0 s was changed")
def silence_all(places: Places) -> None:
    """All sound is silenced."""
    path = places.session / WAV_2
    resound(path, bytes(len(sound_of(path))))


@manipulation("session", told="it is cut off at 19.0 to 20.0 s")
def cut_sound_off(places: Places) -> None:
    """The last half second is cut off, and the header fits."""
    path = places.session / WAV_2
    resound(path, bytes(sound_of(path)[:-1000]))


@manipulation("session", told="had 20000 when it was closed")
def put_a_frame_behind_the_sound(places: Places) -> None:
    """One frame is appended to a file that was closed, and the header fits."""
    path = places.session / WAV_2
    resound(path, bytes(sound_of(path)) + b"\1\0")


@manipulation("session", told="had 20000 when it was closed")
def put_a_byte_behind_the_sound(places: Places) -> None:
    """One byte is appended to a file that was closed."""
    path = places.session / WAV_2
    path.write_bytes(path.read_bytes() + b"!")


@manipulation("session", told="had 20000 when it was closed")
def put_a_tag_behind_the_sound(places: Places) -> None:
    """A chunk with a comment is appended, as sound editors do."""
    path = places.session / WAV_2
    path.write_bytes(path.read_bytes() + b"LIST\x0c\0\0\0INFOICMT\0\0\0\0")


@manipulation("session", told="6.0 s of sound are after the last block")
def put_seconds_behind_a_killed_run(places: Places) -> None:
    """Six seconds are appended to the file of a run that was killed."""
    path = places.session / WAV_1
    resound(path, bytes(sound_of(path)) + bytes(6 * SECOND))


@manipulation("killed", noted="1.0 s of sound are after the last block")
def put_a_second_behind_a_killed_run(places: Places) -> None:
    """One second is appended to the file of a killed session, which a crash can leave too."""
    path = places.killed / WAV_1
    resound(path, bytes(sound_of(path)) + bytes(SECOND))


@manipulation("session", told="its header does not match")
def change_the_rate(places: Places) -> None:
    """The header says twice the rate: the voice sounds higher, and is shorter."""
    path = places.session / WAV_1
    resound(path, bytes(sound_of(path)), rate=2000)


@manipulation("killed", told="its header does not match")
def change_the_channels_of_a_killed_session(places: Places) -> None:
    """The header of a killed session says two channels."""
    path = places.killed / WAV_1
    flip(path, 22)
    flip(path, 22 + 1)


@manipulation("session", told="its header does not match")
def shorten_by_the_header(places: Places) -> None:
    """The header of a closed file says less sound than there is: programs play no more."""
    path = places.session / WAV_2
    sound = bytes(sound_of(path))
    path.write_bytes(wav_header(1000, len(sound) // 2) + sound)


@manipulation("session", told="was changed")
def exchange_two_sound_files(places: Places) -> None:
    """The sounds of the two runs exchange their names."""
    one, two = places.session / WAV_1, places.session / WAV_2
    first, second = bytes(sound_of(one)), bytes(sound_of(two))
    resound(one, second[::-1] + first[len(second) :])
    resound(two, first[: len(second)][::-1])


@manipulation("session", told="audio/segment-01.wav: missing")
def take_a_sound_file_away(places: Places) -> None:
    """A sound file is deleted."""
    (places.session / WAV_1).unlink()


@manipulation("session", told="audio/segment-03.wav: not part of the session")
def add_a_sound_file(places: Places) -> None:
    """A third sound file is put beside the two."""
    (places.session / "audio/segment-03.wav").write_bytes((places.session / WAV_2).read_bytes())


@manipulation("session", told="audio/segment-01.wav")
def put_another_format_in_its_place(places: Places) -> None:
    """A sound file becomes one of another kind."""
    (places.session / WAV_1).write_bytes(b"OggS" + bytes(5000))
