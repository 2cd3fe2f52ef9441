"""Pictures of stimulus sets as pixels: files, and birds painted from their seed.

A picture is a reference as the manifest has it: the name of a file in the set's folder,
`set:ID/FILE` for one in the folder of the set beside it, or `bird:SEED:PART:SPECIES:NUMBER`.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import StimuliError
from labapp.base.reading import arrays as reading
from labapp.base.reading import files

if TYPE_CHECKING:
    from PIL.Image import Image

    from labapp.models.datasets.birds import Bird

UInt8 = NDArray[np.uint8]

BIRD, SHARED = "bird:", "set:"
PICTURE = "picture"
"""What a file is called in messages."""
PHOTO_PX, PROTOTYPE_PX = 512, 384
"""Width and height of painted birds: photos that are judged, and training photos of prototypes."""
LARGEST_BYTES = 40 * files.MIB
FORMATS = {"PNG": (".png",), "JPEG": (".jpg", ".jpeg")}


def is_bird(ref: str) -> bool:
    return ref.startswith(BIRD)


def is_shared(ref: str) -> bool:
    """Whether a picture is a file of another set."""
    return ref.startswith(SHARED)


def bird_ref(seed: int, part: str, species: int, number: int) -> str:
    """The reference of a bird: species from 0, number within the part and species."""
    return f"{BIRD}{seed}:{part}:{species}:{number}"


def bird_of(ref: str) -> Bird:
    """What a painted picture is made of. Raises StimuliError if there is no such bird."""
    from labapp.models.datasets.birds import bird
    from labapp.models.datasets.split import PARTS

    try:
        _, seed, part, species, number = ref.split(":")
        (kind,) = (name for name in PARTS if name == part)
        return bird(int(seed), kind, int(species), int(number))
    except ValueError as error:
        raise StimuliError(
            f"{ref!r} names no bird.",
            todo="Write bird:SEED:PART:SPECIES:NUMBER, where PART is train, validation or test "
            "and SPECIES is from 0 to 19.",
        ) from error


def bird_size(ref: str) -> int:
    """Width and height at which a bird is shown: training birds stand beside the one judged."""
    return PROTOTYPE_PX if ref.split(":")[2] == "train" else PHOTO_PX


def paint_bird(ref: str, size: int | None = None) -> UInt8:
    """A bird's picture, by default as large as it is shown: uint8, shape (size, size, 3)."""
    from labapp.models.datasets.birds import picture

    drawn = picture(bird_of(ref), bird_size(ref) if size is None else size)
    return np.ascontiguousarray(
        np.rint(drawn * np.float32(255)).astype(np.uint8).transpose(1, 2, 0)
    )


def path_of(folder: Path, ref: str, what: str = PICTURE) -> Path:
    """The file of a picture, or of `what` else. Raises StimuliError: its name leads out of the
    folder."""
    if is_shared(ref):
        other, *names = PurePosixPath(ref.removeprefix(SHARED)).parts or ("",)
        file = "/".join(names)
        if file and not is_shared(file) and other not in ("", ".", "..", "/") and "\\" not in other:
            return path_of(folder.parent / other, file, what)
    parts = PurePosixPath(ref).parts
    path = folder.joinpath(*parts)
    if not parts or ref.startswith("/") or ".." in parts or "\\" in ref:
        raise StimuliError(
            f"The {what} {ref!r} is not in the set's folder.",
            todo="Give files inside the folder, with / between folders.",
        )
    steps = [folder.joinpath(*parts[: depth + 1]) for depth in range(len(parts))]
    if any(step.is_symlink() for step in steps):
        raise StimuliError(
            f"The {what} {ref!r} is a link.", todo=f"Put the {what} itself into the folder."
        )
    return path


def content_of(folder: Path, ref: str, what: str = PICTURE) -> bytes:
    """The bytes of a picture's file. Raises StimuliError: it is missing or far too large."""
    path = path_of(folder, ref, what)
    try:
        return files.content(path, LARGEST_BYTES, follow=False)
    except OSError as error:
        raise unreadable(ref, what, error) from error


def identity_of(folder: Path, ref: str) -> str:
    """A text that is the same for the same picture under another name, or in another set. Raises
    StimuliError if it is missing."""
    return ref if is_bird(ref) else hashlib.sha256(content_of(folder, ref)).hexdigest()


def file_stamp(folder: Path, ref: str, what: str = PICTURE) -> tuple[int, int]:
    """What changes when a file is written again: its ns and its bytes. Raises StimuliError."""
    try:
        status = path_of(folder, ref, what).stat()
    except (OSError, ValueError) as error:
        raise unreadable(ref, what, error) from error
    return status.st_mtime_ns, status.st_size


def unreadable(ref: str, what: str, error: OSError | ValueError) -> StimuliError:
    """What to say of a file of a set that cannot be opened."""
    why = getattr(error, "strerror", None) or "no file can have this name"
    return StimuliError(
        f"The {what} {ref!r} cannot be read: {why}.",
        todo="Put it into the folder, or correct its name.",
    )


def read(folder: Path, ref: str, size: int | None = None) -> UInt8:
    """A picture: uint8, shape (height, width, 3). size: of painted ones. Raises StimuliError: it is
    missing, damaged, or neither PNG nor JPEG."""
    return paint_bird(ref, size) if is_bird(ref) else decode_picture(content_of(folder, ref), ref)


def decode_picture(content: bytes, ref: str) -> UInt8:
    """The pixels of a PNG or JPEG file: uint8, shape (height, width, 3)."""
    image = open_image(content, ref)
    if _transparent(image):
        from PIL import Image as images

        image = image.convert("RGBA")
        image = images.alpha_composite(images.new("RGBA", image.size, "white"), image)
    return np.asarray(image.convert("RGB"), np.uint8)


def native(content: bytes, ref: str) -> UInt8:
    """The pixels of a PNG or JPEG file: uint8, (height, width) if it is grey, else (…, 3)."""
    image = open_image(content, ref)
    grey = image.mode in ("1", "L") and not _transparent(image)
    return np.array(image.convert("L"), np.uint8) if grey else decode_picture(content, ref)


def _transparent(image: Image) -> bool:
    return image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info


def open_image(content: bytes, ref: str) -> Image:
    """A PNG or JPEG file, decoded and turned as its camera says; grey of 16 bits becomes 8. Raises
    StimuliError: it is neither, it is damaged, or it has too many pixels."""
    from PIL import Image as images

    try:
        image = reading.decode_image(content, tuple(FORMATS))
    except reading.TooManyPixels as error:
        raise StimuliError(
            f"The picture {ref!r} has {error.size[0]} × {error.size[1]} pixels.",
            todo="Make it smaller; 512 to 1024 pixels per side are enough.",
        ) from error
    except ValueError as error:
        raise StimuliError(
            f"The picture {ref!r} is not a readable PNG or JPEG file: {error}.",
            todo="Save it again as PNG or JPEG, with one picture per file.",
        ) from error
    kind = str(image.format)
    if PurePosixPath(ref).suffix.lower() not in FORMATS[kind]:
        raise StimuliError(
            f"The picture {ref!r} is really a {kind} file.",
            todo=f"Call it {PurePosixPath(ref).stem}{FORMATS[kind][0]}.",
        )
    if image.mode.startswith("I"):
        image = images.fromarray((np.asarray(image, np.uint32) // 257).astype(np.uint8))
    return image


def jpeg(pixels: UInt8) -> bytes:
    """A picture as the program keeps painted ones: JPEG of quality 95, colours at full size."""
    from PIL import Image as images

    out = io.BytesIO()
    images.fromarray(pixels).save(out, "JPEG", quality=95, subsampling=0)
    return out.getvalue()


def png(pixels: UInt8, *, optimize: bool = True) -> bytes:
    """A grey (h, w) or coloured (h, w, 3) picture as PNG. `optimize`: as small as can be, for files
    that stay; without it four times as fast."""
    from PIL import Image as images

    out = io.BytesIO()
    images.fromarray(pixels).save(out, "PNG", optimize=optimize)
    return out.getvalue()
