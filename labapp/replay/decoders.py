"""The decoders that recorded pictures are made anew with, each loaded when it is first needed."""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from labapp.errors import LabappError, ModelError
from labapp.messages import Message
from labapp.reading import files
from labapp.representations.decoding import Array, Decoder
from labapp.representations.package import load_package
from labapp.representations.space import LatentSpace
from labapp.session.models import card_path

M_MMAP_THRESHOLD = -3
"""Of glibc's malloc.h."""
MOST_BYTES = 8 << 20
"""Of the pictures that are remembered of a model: going to and fro in a question decodes nothing
twice."""


class RememberingDecoder:
    """A decoder that remembers the last pictures it made."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._bytes = 0
        self._pictures: OrderedDict[bytes, Array] = OrderedDict()

    @property
    def id(self) -> str:
        return self._decoder.id

    @property
    def space(self) -> LatentSpace:
        return self._decoder.space

    @property
    def latents(self) -> Array | None:
        return self._decoder.latents

    @property
    def percentiles(self) -> Mapping[int, Array]:
        return self._decoder.percentiles

    @property
    def from_prior(self) -> bool:
        return self._decoder.from_prior

    def decode(self, z: NDArray[np.float32]) -> Array:
        """As the decoder itself: float32 (n, width) to float32 (n, *shape)."""
        key = z.tobytes()
        if key in self._pictures:
            self._pictures.move_to_end(key)
            return self._pictures[key]
        pictures = self._pictures[key] = self._decoder.decode(z)
        pictures.flags.writeable = False
        self._bytes += pictures.nbytes
        while self._bytes > MOST_BYTES and len(self._pictures) > 1:
            _, oldest = self._pictures.popitem(last=False)
            self._bytes -= oldest.nbytes
        return pictures


class RecordedDecoders(Mapping[str, Decoder]):
    """The decoders of a session by the ids of its models.

    Parameters
    ----------
    cards : SHA-256 of the card that each model had in the session; empty where it is not known.

    Attributes
    ----------
    problems : by model, why its pictures are not there, or may not be those that were seen.
    """

    def __init__(self, cards: Mapping[str, str]) -> None:
        self._cards = cards
        self._decoders: dict[str, Decoder] = {}
        self._errors: dict[str, ModelError] = {}
        self._lock = threading.Lock()
        self._loading: threading.Thread | None = None
        self._begin = threading.Event()
        self._closed = False
        self._first: tuple[str, ...] = ()
        self.problems: dict[str, str] = {}

    def __getitem__(self, model: str) -> Decoder:
        """A decoder. Raises KeyError for a model that the session does not have, and ModelError
        for one that cannot be loaded here."""
        with self._lock:
            if model in self._errors:
                raise self._errors[model]
            if model not in self._decoders:
                if model not in self._cards:
                    raise KeyError(model)
                self._decoders[model] = self._load(model)
            return self._decoders[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cards)

    def __len__(self) -> int:
        return len(self._cards)

    def load_in_background(self) -> None:
        """Load all of them behind a window's back, as soon as that calls `begin`: networks take
        long, and until it is painted a window needs the processor for itself."""
        self._loading = threading.Thread(target=self._load_all, name="models", daemon=True)
        self._loading.start()

    def begin(self) -> None:
        """Begin with what is to be loaded in the background."""
        self._begin.set()

    def _load_all(self) -> None:
        self._begin.wait()
        _give_memory_back()
        while not self._closed and (left := [m for m in self._cards if not self._over(m)]):
            model = next((m for m in self._first if m in left), left[0])
            with suppress(ModelError):  # told where its pictures would be
                self[model]
            _give_memory_back()

    def _over(self, model: str) -> bool:
        return model in self._decoders or model in self._errors

    def awaited(self, models: Iterable[str]) -> bool:
        """Whether any of these is still to be loaded in the background; they come first then."""
        if self._loading is None or not self._loading.is_alive():
            return False
        self._first = tuple(model for model in models if not self._over(model))
        return bool(self._first)

    def close(self) -> None:
        """Wait for what is just being loaded, and load no more in the background."""
        self._closed = True
        self._begin.set()
        if self._loading is not None:
            self._loading.join()

    def _load(self, model: str) -> Decoder:
        try:
            decoder = load_package(model, "cpu", threads=1, native=True)
            card = sha256(files.content(card_path(model))).hexdigest()
        except (LabappError, OSError) as error:
            why = error.what if isinstance(error, LabappError) else str(error)
            self._errors[model] = ModelError(
                Message("pictures_unshown", model=model, why=why),
                safe=Message("pictures_unshown_safe"),
                todo=Message("pictures_unshown_todo", model=model),
            )
            self.problems[model] = self._errors[model].what
            raise self._errors[model] from error
        if self._cards[model] and card != self._cards[model]:
            self.problems[model] = Message("pictures_of_another", model=model)
        return RememberingDecoder(decoder)


def _give_memory_back() -> None:
    """Give back to the system what the making of a network took and left: 50 MB of each, which
    glibc would keep for later. Other systems have their own ways."""
    with suppress(OSError, AttributeError):
        glibc = ctypes.CDLL("libc.so.6")
        # Blocks of 1 MiB and more on their own: by itself glibc puts them among small ones as soon
        # as one was given back, and what lies between those stays.
        glibc.mallopt(M_MMAP_THRESHOLD, 1 << 20)
        glibc.malloc_trim(0)
