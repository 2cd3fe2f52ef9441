"""REFI-QDA files that are written here, read by a library that others wrote."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from pyrefiqda import RefiCodebook, RefiProject

from labapp.coding.exchange import refi
from labapp.coding.exchange.files import ms, plain
from labapp.coding.exchange.incoming import FORMATS
from labapp.coding.exchange.model import Sheet, label_of
from tests.helpers.exchanged import BOOK, sheets
from tests.helpers.nightly import EVERYTHING


def codes_of(codes: list, above: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:  # type: ignore[type-arg]
    """The way to each code, by its id."""
    found = {}
    for code in codes:
        way = (*above, code.name)
        found |= {code.guid: way, **codes_of(code.code, way)}
    return found


@settings(
    max_examples=30 if EVERYTHING else 4,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(sheet=sheets())
def test_pyrefiqda_reads_the_same_codes_times_and_quotes(sheet: Sheet, tmp_path: Path) -> None:
    path, folder = tmp_path / "sheet.qdpx", tmp_path / "sheet"
    path.unlink(missing_ok=True)
    FORMATS["qdpx"].write([sheet], path)
    project = RefiProject.load(path, str(folder))
    assert [user.name for user in project.users.user] == ["anna"]
    assert [case.name for case in project.cases.case] == ["P01"]
    values = [value.text_value for value in project.cases.case[0].variable_value]
    assert values == ["vae"]
    codes = codes_of(project.code_book.codes.code)
    ways = {code.id: (code.tier, code.name) for code in BOOK.codes}
    (sound,) = project.sources.audio_source
    assert RefiProject.resolve_source_path(sound.path, folder).is_file()
    own = sorted(
        (s.begin, s.end, codes[s.coding[0].code_ref.target_guid], (s.description or "").split())
        for s in sound.audio_selection
    )
    sent = []
    for a in sheet.annotations:
        way = ways[a.code] if a.value is None else (*ways[a.code], f"Sure = {a.value}")
        end = max(ms(a.t1_ns), ms(a.t0_ns) + 1)
        sent.append((ms(a.t0_ns), end, way, plain(a.memo).split()))
    assert own == sorted(sent)
    said = {unit.id: plain(unit.text) for unit in sheet.utterances}
    quotes = []
    for source in project.sources.text_source:
        place = RefiProject.resolve_source_path(source.plain_text_path, folder)
        text = place.read_bytes().decode()
        for s in source.plain_text_selection:
            way = codes[s.coding[0].code_ref.target_guid]
            quotes.append((text[s.start_position : s.end_position], way[-1]))
    names = {code.id: code.name for code in BOOK.codes}
    assert sorted(quotes) == sorted(
        (said[a.unit], label_of(a).replace(a.code, names[a.code]))
        for a in sheet.annotations
        if a.unit and said[a.unit]
    )


def test_pyrefiqda_reads_the_codebook(tmp_path: Path) -> None:
    refi.write(BOOK, tmp_path / "codes.qdc")
    codes = RefiCodebook.load(tmp_path / "codes.qdc").codes.code
    assert [code.name for code in codes] == ["strategy", "affect", "surety"]
    assert not any(code.is_codable for code in codes)
    assert codes[0].code[0].description.startswith("Turns a dial to see what it does.")
    assert len(codes_of(codes)) == 3 + len(BOOK.codes) + 5
