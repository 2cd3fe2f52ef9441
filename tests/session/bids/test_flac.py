"""A bundle with its sound as FLAC is the same bundle to everything that reads it."""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from labapp.analysis import load
from labapp.base.errors import BundleError, RecordError, UsageError
from labapp.coding.annotations.redacting import redact
from labapp.coding.annotations.segmenting import find_speech
from labapp.coding.sound import SessionSound
from labapp.record.audio.capture import wav_header
from labapp.record.journal.flac import FlacTree, cannot_be_flac, write_flac
from labapp.record.journal.layout import FolderTree
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from tests.helpers.golden import golden_builder
from tests.helpers.journals import golden_session
from tests.helpers.trees import flip, snapshot
from tests.session.bids.test_export import killed
from tests.tampering.places import reseal

SOURCE = "sourcedata/labapp/sub-P01/ses-1"
FIRST = f"{SOURCE}/audio/segment-01.flac"
RECORDED = "audio/segment-01.wav"
HEAD = 100
"""Bytes before the sound in a FLAC file of ours: less than this."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the session (`data`), and bundles of it with WAV and with FLAC."""
    root = tmp_path_factory.mktemp("flac")
    session = golden_session(root / "data")
    export([session], root / "wav")
    export([session], root / "flac", sound="flac")
    export([session], root / "flac", sound="flac", zip=True)
    return root


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "flac", tmp_path / "copy"))


def recorded(made: Path) -> NDArray[np.int16]:
    (path,) = (made / "data").glob("*/*/audio/segment-01.wav")
    return np.frombuffer(path.read_bytes()[44:], "<i2")


@pytest.mark.parametrize("name", ["flac", "flac.zip"])
def test_it_verifies_with_the_hashes_of_the_recording(made: Path, name: str) -> None:
    report = verify(made / name)
    assert report.problems == []
    assert report.checked["sound files"] == 2


def test_only_its_sound_and_what_is_said_of_it_differ(made: Path) -> None:
    wav, flac = snapshot(made / "wav"), snapshot(made / "flac")
    assert {name for name in wav.keys() - flac.keys() if name.endswith(".wav")} == {
        f"{SOURCE}/audio/segment-0{number}.wav" for number in (1, 2)
    }
    changed = {name for name in wav.keys() & flac.keys() if wav[name] != flac[name]}
    assert changed == {"README", "sourcedata/labapp/manifest.json", f"{SOURCE}/session.json"}
    assert "audio/*.flac" in flac["README"].decode()
    facts = [json.loads(each[f"{SOURCE}/session.json"]) for each in (wav, flac)]
    assert [(each["bundle_version"], each.get("sound_format")) for each in facts] == [
        (1, None),
        (2, "flac"),
    ], "earlier versions of labapp read the one, and say that they cannot read the other"
    assert json.loads(flac["sourcedata/labapp/manifest.json"])["bundle_version"] == 2


def test_other_programs_read_the_same_samples(made: Path) -> None:
    """libsndfile, and the decoder of FFmpeg, which is another one."""
    samples, rate = soundfile.read(made / "flac" / FIRST, dtype="int16")
    assert rate == 1000
    np.testing.assert_array_equal(samples, recorded(made))
    with av.open(str(made / "flac" / FIRST)) as container:
        frames = [frame.to_ndarray().ravel() for frame in container.decode(audio=0)]
    np.testing.assert_array_equal(np.concatenate(frames), recorded(made))


@pytest.mark.parametrize("name", ["flac", "flac.zip"])
def test_it_can_become_a_bundle_with_wav_again(made: Path, tmp_path: Path, name: str) -> None:
    again = export([made / name], tmp_path / "again")
    assert snapshot(again / SOURCE) == snapshot(made / "wav" / SOURCE)
    once_more = export([again], tmp_path / "flac", sound="flac")
    assert snapshot(once_more / SOURCE) == snapshot(made / "flac" / SOURCE)


@pytest.mark.parametrize("name", ["flac", "flac.zip"])
def test_what_reads_sound_reads_the_same(made: Path, name: str) -> None:
    sounds = [SessionSound(open_record(made / each)) for each in ("wav", name)]
    wav, flac = sounds
    assert (flac.spans, flac.gaps, flac.problems) == (wav.spans, wav.gaps, ())
    np.testing.assert_array_equal(flac.read(0, 124_000), wav.read(0, 124_000))
    assert find_speech(flac) == find_speech(wav)
    tables = [load(made / each).participants for each in ("wav", name)]
    assert tables[0].equals(tables[1])
    for sound in sounds:
        sound.close()


def test_any_part_of_it_is_read(made: Path) -> None:
    record = open_record(made / "flac")
    assert isinstance(record.tree, FlacTree)
    (path,) = (made / "data").glob("*/*/audio/segment-01.wav")
    whole = path.read_bytes()[44:]
    assert record.tree.names() == open_record(made / "wav").tree.names()
    size = record.tree.size(RECORDED)
    assert size == 44 + len(whole)
    assert record.tree.below("audio").has("segment-01.wav")
    with record.tree.open(RECORDED) as stream:
        assert stream.read(44) == wav_header(1000, len(whole))
        for at in (0, 1, 20_001, 16_384, 5, len(whole) - 3):
            stream.seek(44 + at)
            assert stream.read(1001) == whole[at : at + 1001]
        assert stream.seek(0, io.SEEK_END) == size
        assert stream.read(1) == b""


def test_redacted_sound_is_silent_in_it(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    redact(session, 20_000_000_000, 25_000_000_000, "ana")
    wav = export([session], tmp_path / "wav")
    flac = export([session], tmp_path / "flac", sound="flac")
    # From a bundle in which nothing was redacted yet, the journal's names lead to the same frames.
    samples, _ = soundfile.read(flac / FIRST, dtype="int16")
    silent, _ = soundfile.read(wav / SOURCE / RECORDED, dtype="int16")
    np.testing.assert_array_equal(samples, silent)
    assert np.count_nonzero(samples == 0) > 4_900
    assert verify(flac).problems == []


def test_a_deidentified_copy_has_it_where_the_voice_is_asked_for(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    private = tmp_path / "private"
    bundle = export(
        [session], tmp_path / "b", deidentify=True, audio=True, sound="flac", private=private
    )
    assert verify(bundle).problems == []
    assert [path.suffix for path in sorted((bundle / SOURCE / "audio").iterdir())] == [
        ".json",
        ".flac",
        ".flac",
    ]


def test_a_killed_run_and_a_file_without_sound_are_exported(tmp_path: Path) -> None:
    session = killed(tmp_path / "data")
    path = session / RECORDED
    sound = path.read_bytes()[44:]
    path.write_bytes(bytes(44) + sound + b"\1")  # the header was never written, half a sample was
    bundle = export([session], tmp_path / "bundle", sound="flac")
    samples, rate = soundfile.read(bundle / FIRST, dtype="int16")
    assert (rate, samples.tobytes()) == (1000, sound)
    assert verify(bundle).problems == []
    path.write_bytes(wav_header(1000, 0))
    empty = export([session], tmp_path / "empty", sound="flac")
    assert (empty / SOURCE / RECORDED).stat().st_size == 44
    assert SessionSound(open_record(empty)).spans == ()


def test_damage_is_told_with_the_file_and_the_second(made: Path, copy: Path) -> None:
    path = copy / FIRST
    flip(path, path.stat().st_size // 2)
    problems = verify(copy).problems
    assert f"{FIRST}: changed since the export (SHA-256)" in problems
    told = f"{SOURCE}/{RECORDED}: audio/segment-01.flac is damaged at "
    (second,) = [
        float(each.removeprefix(told).split(" ")[0]) for each in problems if each.startswith(told)
    ]
    samples = recorded(made)
    with pytest.raises(soundfile.LibsndfileError):
        soundfile.read(path, stop=int(1000 * second) + 300)
    whole = soundfile.read(path, stop=int(1000 * second) - 50, dtype="int16")[0]
    np.testing.assert_array_equal(whole, samples[: len(whole)])
    sound = SessionSound(open_record(copy))
    assert [span.file for span in sound.spans] == ["audio/segment-02.wav"]
    assert "is damaged at" in str(sound.problems[0])


def test_sound_that_is_cut_off_or_something_else_is_told(copy: Path) -> None:
    path = copy / FIRST
    whole = path.read_bytes()
    tree = open_record(copy).tree
    path.write_bytes(whole[:-20_000])
    with pytest.raises(RecordError, match=r"segment-01.flac is damaged at \d+\.\d s"):
        tree.read(RECORDED)
    path.write_bytes(b"OggS" + bytes(5000))
    with pytest.raises(RecordError, match=r"segment-01.flac is not a FLAC file that can be read"):
        tree.size(RECORDED)
    soundfile.write(path, np.zeros((100, 2), np.int16), 1000, format="FLAC")
    with pytest.raises(RecordError, match=r"2 channels in the form PCM_16"):
        tree.size(RECORDED)
    soundfile.write(path, np.zeros(100, np.int16), 1000, subtype="PCM_24", format="FLAC")
    with pytest.raises(RecordError, match=r"in the form PCM_24"):
        tree.size(RECORDED)


@pytest.mark.parametrize("seed", range(8))
def test_any_damage_is_told_or_harmless(made: Path, tmp_path: Path, seed: int) -> None:
    """Beyond the head, whose fields the journal knows, nothing is ever decoded to other sound."""
    rng = random.Random(seed)
    whole = (made / "flac" / FIRST).read_bytes()
    path = tmp_path / "a.flac"
    tree = FlacTree(FolderTree(tmp_path), "")
    for _ in range(20):
        damaged = bytearray(whole)
        at = rng.randrange(len(whole))
        damaged[at : at + rng.randrange(9)] = rng.randbytes(rng.randrange(9))
        path.write_bytes(damaged)
        try:
            with tree.open("a.wav") as stream:
                sound = stream.read()[44:]
        except RecordError:
            continue
        assert at < HEAD or sound == recorded(made).tobytes()


def test_other_samples_in_a_whole_file_are_found_by_the_journal(copy: Path) -> None:
    samples, rate = soundfile.read(copy / FIRST, dtype="int16")
    samples[10_500] += 1
    soundfile.write(copy / FIRST, samples, rate, subtype="PCM_16", format="FLAC")
    reseal(copy, bundle_version=2)
    (problem,) = [each for each in verify(copy).problems if "segment-01" in each]
    assert "the sound from 10.0 to 11.0 s was changed (SHA-256)" in problem
    soundfile.write(copy / FIRST, samples, 2 * rate, subtype="PCM_16", format="FLAC")
    reseal(copy, bundle_version=2)
    assert any("its header does not match" in each for each in verify(copy).problems)


def test_frames_are_counted(copy: Path) -> None:
    path = copy / f"{SOURCE}/audio/segment-02.flac"
    samples, rate = soundfile.read(path, dtype="int16")
    soundfile.write(path, np.append(samples, samples[-1:]), rate, subtype="PCM_16", format="FLAC")
    reseal(copy, bundle_version=2)
    assert any(
        "it has 20001 frames, but had 20000 when it was closed" in each
        for each in verify(copy).problems
    )


def test_what_session_json_says_of_it_cannot_be_changed(copy: Path) -> None:
    path = copy / SOURCE / "session.json"
    facts = json.loads(path.read_text())
    for changed, told in (
        ({"sound_format": "wav"}, "has version 2, but its sound_format is 'wav'"),
        ({"bundle_version": 1}, "has version 1, but its sound_format is 'flac'"),
        ({"bundle_version": 3}, "has version 3, but this version of labapp reads 1, 2"),
    ):
        path.write_text(json.dumps(facts | changed))
        with pytest.raises(RecordError, match=told):
            open_record(copy)
    path.write_text(json.dumps(facts))
    reseal(copy, bundle_version=1)
    assert any("it says bundle_version 1" in each for each in verify(copy).problems)


def test_a_second_sound_beside_it_is_told(copy: Path, made: Path) -> None:
    shutil.copy(made / "wav" / SOURCE / RECORDED, copy / SOURCE / RECORDED)
    reseal(copy, bundle_version=2)
    told = f"{SOURCE}/{RECORDED}: there are two copies, as WAV and as FLAC"
    assert told in verify(copy).problems


@pytest.mark.parametrize(
    ("rate", "why"),
    [
        (8_000, ""),
        (65_535, ""),
        (65_537, "multiples of ten"),
        (192_000, ""),
        (655_350, ""),
        (655_360, "at most 655350"),
        (768_000, "at most 655350"),
        (0, "0 frames a second"),
    ],
)
def test_rates_that_flac_has(rate: int, why: str, tmp_path: Path) -> None:
    told = cannot_be_flac(rate)
    assert why in told
    assert bool(told) == bool(why)
    if not told:
        samples = np.arange(-500, 500, dtype=np.int16)
        with (tmp_path / "a.flac").open("xb") as target:
            write_flac(iter([samples[:300], samples[300:]]), rate, target)
        with FlacTree(FolderTree(tmp_path), "").open("a.wav") as stream:
            assert stream.read() == wav_header(rate, 2000) + samples.tobytes()


def test_sound_that_cannot_be_flac_is_refused(tmp_path: Path) -> None:
    builder = golden_builder()
    session = builder.write(tmp_path / "data")
    path = session / RECORDED
    whole = path.read_bytes()
    out = tmp_path / "bundle"

    def refused() -> str:
        with pytest.raises(BundleError, match="cannot be converted to FLAC") as told:
            export([session], out, sound="flac")
        assert not out.exists()
        assert "--sound wav" in told.value.todo
        return told.value.what

    soundfile.write(path, np.zeros(100), 1000, subtype="PCM_24", format="WAV")
    assert "1 channels of 24 bits, instead of one channel of 16 bits" in refused()
    path.write_bytes(wav_header(2000, len(whole) - 44) + whole[44:])
    assert "its header says 2000 frames a second, but the journal says 1000" in refused()
    path.write_bytes(wav_header(768_000, len(whole) - 44) + whole[44:])
    assert "FLAC allows at most 655350" in refused()
    path.write_bytes(whole)
    export([session], out, sound="flac")


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    def sound() -> Iterator[NDArray[np.int16]]:
        for _ in range(20):
            yield np.arange(-30_000, 30_000, dtype=np.int16)

    with pytest.raises(OSError, match="No space left"):
        write_flac(sound(), 48_000, Full())


def test_a_format_without_it_and_an_export_without_sound_are_refused(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    for options, told in (
        ({"sound": "ogg"}, "cannot have sound as 'ogg'"),
        ({"sound": "flac", "audio": False}, "this export has no sound"),
        ({"sound": "flac", "deidentify": True}, "this export has no sound"),
    ):
        with pytest.raises(UsageError, match=told):
            export([session], tmp_path / "bundle", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "bundle").exists()
