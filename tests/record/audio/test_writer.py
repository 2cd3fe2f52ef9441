from __future__ import annotations

import errno
import hashlib
import wave
from pathlib import Path

import pytest

from labapp.record.audio.capture import WavWriter
from tests.record.audio.disk import Disk

RATE = 8000
SOUND = bytes(range(256)) * 10


def read(path: Path) -> tuple[int, bytes]:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        return file.getframerate(), file.readframes(file.getnframes())


def test_sound_and_silence_are_written_in_order(tmp_path: Path) -> None:
    wav = WavWriter(tmp_path / "a.wav", RATE)
    wav.append(SOUND)
    wav.silence(70_000)
    wav.silence(3)
    wav.append(SOUND)
    wav.flush()
    assert wav.sync() is not None
    wav.close()
    assert read(tmp_path / "a.wav") == (RATE, SOUND + bytes(140_006) + SOUND)


def test_blocks_tile_the_file_and_carry_the_hash_of_what_was_written(tmp_path: Path) -> None:
    wav = WavWriter(tmp_path / "a.wav", RATE)
    assert wav.sync() is None
    blocks = []
    for part in (SOUND, SOUND[:100], b"\7\0" * 999):
        wav.append(part)
        wav.flush()
        block = wav.sync()
        assert block is not None
        blocks.append((block, part))
    wav.close()
    end = 0
    for block, part in blocks:
        assert block.first_frame == end
        end = block.frames
        assert end - block.first_frame == len(part) // 2
        assert block.sha256 == hashlib.sha256(part).hexdigest()


def test_the_header_is_right_after_every_sync_without_closing(tmp_path: Path) -> None:
    wav = WavWriter(tmp_path / "a.wav", RATE)
    assert read(tmp_path / "a.wav") == (RATE, b"")
    wav.append(SOUND)
    wav.flush()
    wav.sync()
    assert read(tmp_path / "a.wav") == (RATE, SOUND)
    wav.close()


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        WavWriter(path, RATE)
    assert path.read_bytes() == b"precious"


def test_a_full_disk_loses_nothing_that_memory_can_hold(tmp_path: Path, disk: Disk) -> None:
    wav = WavWriter(tmp_path / "a.wav", RATE)
    disk.room = 1001
    wav.append(SOUND)
    wav.append(SOUND)
    with pytest.raises(OSError, match="space"):
        wav.flush()
    # What fitted is there to the last whole frame, and can be made safe.
    assert wav.on_disk == 500
    first = wav.sync()
    assert first is not None
    assert (first.frames, first.sha256) == (500, hashlib.sha256(SOUND[:1000]).hexdigest())
    wav.append(SOUND)
    disk.room = None
    wav.flush()
    wav.sync()
    wav.close()
    assert read(tmp_path / "a.wav") == (RATE, SOUND * 3)


def test_time_is_kept_when_memory_is_full_too(tmp_path: Path, disk: Disk) -> None:
    frames = len(SOUND) // 2
    wav = WavWriter(tmp_path / "a.wav", RATE, max_waiting_s=1.5 * frames / RATE)
    disk.room = 0
    assert wav.append(SOUND) == 0
    assert wav.append(SOUND) == frames
    assert wav.append(SOUND) == frames
    with pytest.raises(OSError):
        wav.flush()
    disk.room = None
    wav.flush()
    assert wav.append(SOUND) == 0
    wav.flush()
    wav.sync()
    wav.close()
    assert read(tmp_path / "a.wav")[1] == SOUND + bytes(2 * len(SOUND)) + SOUND


def test_a_disk_without_room_for_a_header_leaves_no_file(tmp_path: Path, disk: Disk) -> None:
    disk.room = 0
    with pytest.raises(OSError) as caught:
        WavWriter(tmp_path / "a.wav", RATE)
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []
