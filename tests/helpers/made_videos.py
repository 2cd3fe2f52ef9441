"""Videos of somebody who speaks, made here: known pictures at known times, with a known clock."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt

SPOKEN_RATE = 8000
PER_SECOND = 10
"""Pictures a second, as a rule."""


def speech_like(seconds: float, seed: int = 0, rate: int = SPOKEN_RATE) -> NDArray[np.float32]:
    """Syllables of changing sound with pauses between them, peak about 1: no two alike."""
    random = np.random.default_rng(seed)
    count = round(seconds * rate)
    sound = np.zeros(count, np.float32)
    noise = random.standard_normal(count).astype(np.float32)
    low = sosfilt(butter(2, (200, 900), "bandpass", fs=rate, output="sos"), noise)
    high = sosfilt(butter(2, (1200, 3400), "bandpass", fs=rate, output="sos"), noise)
    at = 0.3
    while at < seconds - 0.5:
        for _ in range(int(random.integers(3, 14))):
            first, size = round(at * rate), round(random.uniform(0.08, 0.25) * rate)
            part = slice(first, min(first + size, count))
            shape = np.hanning(size)[: part.stop - part.start]
            colour = random.uniform(0, 1)
            mixed = colour * low[part] + (1 - colour) * high[part]
            sound[part] += (random.uniform(0.3, 1.0) * shape * mixed).astype(np.float32)
            at += size / rate + random.uniform(0.0, 0.08)
            if at > seconds - 0.5:
                break
        at += random.exponential(1.5) + 0.2
    return sound / max(1e-6, float(np.abs(sound).max()))


def heard_by(
    world: NDArray[np.float32],
    begin_s: float,
    seconds: float,
    ppm: float = 0.0,
    *,
    rate: int = SPOKEN_RATE,
    noise: float = 0.0,
    seed: int = 1,
    world_rate: int = SPOKEN_RATE,
) -> NDArray[np.int16]:
    """What a device heard of the world from a time of it on; ppm: how much more time passes there
    than by the clock of the device; noise: of the device, of the loudest."""
    times = begin_s + np.arange(round(seconds * rate)) / rate * (1 + ppm * 1e-6)
    heard = np.interp(times * world_rate, np.arange(world.size), world, left=0.0, right=0.0)
    hiss = np.random.default_rng(seed).standard_normal(heard.size) * noise
    return np.clip((heard * 0.5 + hiss) * 32767, -32768, 32767).astype(np.int16)


def write_video(
    path: Path,
    samples: NDArray[np.int16] | None,
    seconds: float,
    *,
    rate: int = SPOKEN_RATE,
    per_second: int = PER_SECOND,
    size: tuple[int, int] = (64, 48),
    every: int = 20,
    codec: str = "mpeg4",
    sound_codec: str = "aac",
    grain: int = 0,
    between: int = 0,
) -> Path:
    """A video whose pictures tell their numbers by their grey, see `number_in`.

    every: so many pictures from one that can be gone to, to the next; grain: how much noise is over
    them, 0 to 255, which makes them as hard to decode as those of a camera; between: pictures in a
    row that are made from those around them.
    """
    random = np.random.default_rng(1)
    noises = [
        random.integers(0, grain, (size[1], size[0], 3), np.uint8) for _ in range(8 if grain else 0)
    ]
    with av.open(str(path), "w") as container:
        video = container.add_stream(codec, rate=per_second)
        video.width, video.height = size
        video.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        video.gop_size = every
        if codec == "libx264":
            video.options = {"preset": "veryfast"}
        if between:
            video.codec_context.max_b_frames = between
        sound = None
        if samples is not None:
            sound = container.add_stream(sound_codec, rate=rate)
            sound.layout = "mono"
        for number in range(round(seconds * per_second)):
            pixels = picture_of(number, size)
            if noises:
                pixels = pixels // 2 + noises[number % len(noises)]
            picture = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            picture.pts, picture.time_base = number, Fraction(1, per_second)
            container.mux(video.encode(picture))
        container.mux(video.encode(None))
        if sound is not None and samples is not None:
            for first in range(0, samples.size, 1024):
                part = samples[None, first : first + 1024]
                frame = av.AudioFrame.from_ndarray(
                    np.ascontiguousarray(part), format="s16", layout="mono"
                )
                frame.sample_rate, frame.pts = rate, first
                frame.time_base = Fraction(1, rate)
                container.mux(sound.encode(frame))
            container.mux(sound.encode(None))
    return path


def picture_of(number: int, size: tuple[int, int] = (64, 48)) -> NDArray[np.uint8]:
    """A picture that tells its number, up to 1023: ten bands, black or white."""
    width, height = size
    bits = [(number >> place) & 1 for place in range(10)]
    row = np.repeat(np.array(bits, np.uint8) * 255, -(-width // 10))[:width]
    return np.ascontiguousarray(np.broadcast_to(row[None, :, None], (height, width, 3)))


def number_in(pixels: NDArray[np.uint8], width: int = 64) -> int:
    """The number that a picture tells."""
    band = -(-width // 10)
    scale = pixels.shape[1] / width
    row = pixels[pixels.shape[0] // 2, :, 1]
    middles = [min(pixels.shape[1] - 1, round((place + 0.5) * band * scale)) for place in range(10)]
    return sum((int(row[middle]) > 127) << place for place, middle in enumerate(middles))
