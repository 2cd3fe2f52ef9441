from __future__ import annotations

import hashlib
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labapp.base.errors import RecordError
from labapp.record.audio.capture import HEADER_BYTES, WavWriter, wav_header
from labapp.record.audio.recorded_sound import repair_wav, tail
from labapp.record.events.voice import AudioBlock
from tests.helpers.nightly import examples
from tests.helpers.wavs import read_wav_info

RATE = 16000
NAME = "audio/segment-01.wav"


def recording(path: Path, blocks: int = 3, beyond: bytes = b"") -> list[AudioBlock]:
    """A file of so many blocks of 1000 frames that was cut off with `beyond` after the last."""
    wav = WavWriter(path, RATE)
    made = []
    for number in range(blocks):
        wav.append(bytes([number + 1, 0]) * 1000)
        wav.flush()
        synced = wav.sync()
        assert synced is not None
        made.append(AudioBlock(NAME, synced.first_frame, synced.frames, synced.sha256, ()))
    wav.close()
    with path.open("ab") as file:
        file.write(beyond)
    return made


def test_what_came_after_the_last_sync_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    blocks = recording(path, beyond=b"\5\0" * 300 + b"\5")
    assert not read_wav_info(path).whole
    report = repair_wav(path, RATE, blocks)
    assert report.whole
    assert report.changed
    assert (report.frames, report.acknowledged, report.beyond) == (3300, 3000, 300)
    info = read_wav_info(path)
    assert info.whole
    assert (info.rate, info.channels, info.bits, info.frames) == (RATE, 1, 16, 3300)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(40))
@given(size=st.integers(0, HEADER_BYTES + 6011))
def test_any_cut_is_repaired_once_and_for_all(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.wav"
    path.unlink(missing_ok=True)
    blocks = recording(path)
    whole = path.read_bytes()
    path.write_bytes((whole + bytes(11))[:size])
    report = repair_wav(path, RATE, blocks)
    kept = path.read_bytes()
    assert kept[:HEADER_BYTES] == wav_header(RATE, len(kept) - HEADER_BYTES)
    sound = whole[HEADER_BYTES : HEADER_BYTES + 2 * report.frames]
    assert kept[HEADER_BYTES : HEADER_BYTES + len(sound)] == sound
    assert report.frames == max(0, size - HEADER_BYTES) // 2
    assert report.missing == max(0, 3000 - report.frames)
    assert len(report.damaged) == 3 - min(3, report.frames // 1000)
    again = repair_wav(path, RATE, blocks)
    assert not again.changed
    assert path.read_bytes() == kept


def test_a_flipped_byte_is_found_in_its_block(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    blocks = recording(path)
    data = bytearray(path.read_bytes())
    data[HEADER_BYTES + 2 * 1500] ^= 1
    path.write_bytes(data)
    report = repair_wav(path, RATE, blocks)
    assert report.damaged == (1000,)
    assert not report.changed
    assert not report.whole


@pytest.mark.parametrize("content", [b"", b"RIFF", wav_header(RATE, 0), bytes(44)])
def test_a_file_without_sound(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    report = repair_wav(path, RATE)
    assert (report.frames, report.missing, report.damaged) == (0, 0, ())
    assert path.read_bytes() == wav_header(RATE, 0)


def test_another_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"OggS" + bytes(100))
    with pytest.raises(RecordError, match="not a sound file"):
        repair_wav(path, RATE)
    assert path.read_bytes() == b"OggS" + bytes(100)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be repaired"):
        repair_wav(tmp_path / "a.wav", RATE, [AudioBlock(NAME, 0, 5, "?", ())])


def test_a_block_of_an_earlier_version_is_checked_by_its_crc32(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    new = recording(path)
    data = path.read_bytes()[HEADER_BYTES:]
    blocks = [
        replace(b, sha256="", crc32=zlib.crc32(data[2 * b.first_frame : 2 * b.frames]))
        for b in new[:2]
    ]
    assert repair_wav(path, RATE, [*blocks, new[2]]).whole
    wrong = replace(blocks[1], crc32=5)
    assert repair_wav(path, RATE, [blocks[0], wrong, new[2]]).damaged == (1000,)


def test_a_block_without_any_hash_covers_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    blocks = recording(path, blocks=1)
    assert repair_wav(path, RATE, [replace(blocks[0], sha256="")]).damaged == (0,)


def test_the_sound_behind_the_last_block_gets_a_block_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    blocks = recording(path, beyond=b"\5\0" * 300 + b"\5")
    block = tail(path, NAME, 3000)
    assert block is not None
    assert (block.first_frame, block.frames) == (3000, 3300)
    assert block.sha256 == hashlib.sha256(b"\5\0" * 300).hexdigest()
    report = repair_wav(path, RATE, [*blocks, block])
    assert (report.whole, report.beyond) == (True, 0)
    assert tail(path, NAME, 3300) is None
    assert tail(tmp_path / "none.wav", NAME, 0) is None
