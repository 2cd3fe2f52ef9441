"""What goes out in a format comes back equal, to the format's precision."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from labapp.base.errors import ExchangeError
from labapp.coding.exchange.incoming import FORMATS
from labapp.coding.exchange.model import Annotation, Arrival, Format, Sheet, Utterance, digest
from tests.helpers.exchanged import sheets
from tests.helpers.nightly import EVERYTHING

TWO_WAY = [name for name, form in FORMATS.items() if form.read is not None]


def there_and_back(form: Format, sheet: Sheet) -> Arrival:
    """A sheet as it comes back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"sheet{form.suffix}"
        form.write([sheet], path)
        assert form.read is not None
        (arrival,) = form.read(path.read_bytes(), path.name)
    assert not arrival.lost
    return arrival


def same_times(form: Format, sent: Utterance | Annotation, back: Utterance | Annotation) -> bool:
    """Rounded once, and nothing more; a stretch of a format without moments is one again."""
    most = form.precision_ns // 2 + 1
    return abs(sent.t0_ns - back.t0_ns) <= most and abs(sent.t1_ns - back.t1_ns) <= most


@pytest.mark.parametrize("name", TWO_WAY)
@settings(max_examples=60 if EVERYTHING else 7, suppress_health_check=[HealthCheck.too_slow])
@given(sheet=sheets())
def test_sheets_come_back_equal(name: str, sheet: Sheet) -> None:
    form = FORMATS[name]
    if name == "srt" and not any(digest(u.text) != digest("") for u in sheet.utterances):
        with pytest.raises(ExchangeError, match="no captions"):  # the file is empty
            there_and_back(form, sheet)
        return
    arrival = there_and_back(form, sheet)
    sent = list(sheet.utterances)
    if name in ("vtt", "srt"):  # a cue has words
        sent = [u for u in sent if digest(u.text) != digest("")]
    elif name == "textgrid":  # an empty interval is none
        sent = [u for u in sent if u.text.strip()]
    back = arrival.utterances
    assert [(u.speaker, digest(u.text)) for u in back] == [
        (u.speaker, digest(u.text)) for u in sent
    ]
    assert all(same_times(form, a, b) for a, b in zip(sent, back, strict=True))
    codes = [] if name in ("vtt", "srt") else sheet.annotations
    left = list(arrival.annotations)
    for annotation in codes:
        same = [
            other
            for other in left
            if (other.tier, other.code, other.value)
            == (annotation.tier, annotation.code, annotation.value)
            and same_times(form, annotation, other)
            and (not arrival.memos or digest(other.memo) == digest(annotation.memo))
            and other.id in (None, annotation.id)
        ]
        assert same, annotation
        left.remove(same[0])
    assert not left
