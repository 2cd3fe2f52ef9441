"""The checklist's rules, without windows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.study.schema import Participants
from labapp.ui.language import tr
from labapp.ui.moderator import checklist
from labapp.ui.moderator.checklist import Microphone, Row, ScreenChoice, Warm

P = Participants()
ROWS = st.builds(
    Row,
    st.sampled_from(sorted(checklist.NEEDED)),
    st.sampled_from(["ok", "warn", "missing", "busy"]),
    st.text(max_size=5),
    st.booleans(),
)


@given(st.lists(ROWS, max_size=8))
def test_ready_means_that_every_required_row_is_ok(rows: list[Row]) -> None:
    verdict = checklist.readiness(rows)
    assert verdict.ready == all(row.state == "ok" for row in rows if row.required)
    for row in rows:
        if row.required and row.state in ("warn", "missing"):
            assert tr(checklist.NEEDED[row.key]) in verdict.why


def test_what_is_still_checked_is_said_only_when_nothing_is_wrong() -> None:
    busy, wrong = Row("decoders", "busy", ""), Row("consent", "missing", "")
    assert checklist.readiness([busy]).why == "One moment: still checking the models."
    assert checklist.readiness([busy, wrong]).why == "Start needs the consent text."
    assert checklist.readiness([Row("disk", "missing", ""), wrong]).why == (
        "Start needs room on the disk and the consent text."
    )


@given(st.sets(st.integers(1, 150), max_size=30))
def test_the_proposed_id_is_free_and_valid(numbers: set[int]) -> None:
    taken = {P.label(n): ["1"] for n in numbers}
    proposed = P.next_free(taken)
    assert proposed not in taken
    assert checklist.participant_row(P, taken, proposed, "1").state == "ok"


def test_ids_of_another_form_do_not_confuse_the_proposal() -> None:
    assert P.next_free({"P03": ["1"], "pilot": ["1"]}) == "P04"
    assert P.next_free({}) == "P01"


@pytest.mark.parametrize(
    ("label", "session", "state", "words"),
    [
        ("P03", "1", "missing", "P03 is taken. The next free id is P04."),
        ("P03", "2", "ok", "has had session 1 already"),
        ("", "1", "missing", "Type an id like P01"),
        ("P3", "1", "missing", "look like P01"),
        ("P00", "1", "missing", "look like P01"),
        ("anna", "1", "missing", "look like P01"),
        ("P05", "a b", "missing", "letters and digits"),
        ("P05", "", "missing", "letters and digits"),
        ("P04", "1", "ok", "The next free id."),
        ("P09", "1", "ok", "free"),
    ],
)
def test_participants(label: str, session: str, state: str, words: str) -> None:
    row = checklist.participant_row(P, {"P03": ["1"]}, label, session)
    assert row.state == state
    assert words in row.text
    assert row.blocks == (state != "ok")


@pytest.mark.parametrize(
    ("policy", "found", "state", "blocks", "words"),
    [
        ("required", Microphone(None), "missing", True, "needs sound"),
        ("optional", Microphone(None), "warn", False, "without sound"),
        ("off", Microphone(None), "ok", False, "records no sound"),
        ("required", Microphone("m", heard=True, state="heard"), "ok", False, "heard"),
        ("optional", Microphone("m", state="silent"), "warn", True, "say something"),
        ("required", Microphone("m"), "busy", True, "say something"),
        ("required", Microphone("m", state="zeros"), "missing", True, "Exact silence"),
        ("required", Microphone("m", heard=True, state="zeros"), "warn", False, "noise gate"),
        ("required", Microphone("m", state="clipping"), "warn", True, "Too loud"),
        ("required", Microphone("m", heard=True, state="clipping"), "warn", False, "Too loud"),
        ("optional", Microphone("m", problem="It is gone."), "missing", True, "It is gone."),
        ("optional", Microphone(None, state="unknown"), "busy", True, "Checking"),
        ("off", Microphone(None, state="unknown"), "ok", False, "records no sound"),
        ("optional", Microphone(None, problem="No PortAudio."), "warn", False, "No PortAudio."),
        ("required", Microphone(None, problem="No PortAudio."), "missing", True, "No PortAudio."),
    ],
)
def test_microphone(policy, found, state, blocks, words) -> None:  # type: ignore[no-untyped-def]
    row = checklist.microphone_row(policy, found)
    assert (row.state, row.blocks) == (state, blocks)
    assert words in row.text


def test_screens() -> None:
    one, two = ScreenChoice(1, "eDP-1", 1366, 768), ScreenChoice(2, "DP-1", 3840, 2160, 2.0)
    assert "Ctrl+Shift+M" in checklist.screen_row([one], "eDP-1").text
    assert checklist.screen_row([one, two], "DP-1").state == "ok"
    for scale in (1.25, 1.5):
        assert checklist.screen_row([replace(one, scale=scale)], "eDP-1").state == "ok"
    tight = ScreenChoice(1, "eDP-1", 1280, 720, 1.6)
    for screens, chosen in (([tight], "eDP-1"), ([tight, two], "DP-1"), ([tight, two], "eDP-1")):
        small = checklist.screen_row(screens, chosen)
        assert (small.state, small.blocks) == ("warn", False)
        assert "eDP-1 has room for 800 × 450 points" in small.text
    assert checklist.screen_row([one], "eDP-1", 384).state == "ok"
    small = checklist.screen_row([one], "eDP-1", 800)
    assert (small.state, small.required) == ("warn", False)
    assert "pictures of 800 points" in small.text
    gone = checklist.screen_row([one], "DP-1")
    assert gone.blocks
    assert "DP-1 is not there" in gone.text
    assert two.label == "2 · DP-1 · 3840 × 2160 at 200 %"


def test_decoders_are_ready_when_all_are_warm() -> None:
    needed = ["a/b", "c/d"]
    half = checklist.decoder_row(needed, [Warm("a/b", "cpu", 1.0)])
    assert half.state == "busy"
    assert "c/d (2 of 2)" in half.text
    whole = checklist.decoder_row(needed, [Warm("c/d", "cuda", 2.46), Warm("a/b", "cpu", 1.0)])
    assert whole.state == "ok"
    assert (
        whole.text == "a/b, c/d ready · CPU and GPU (CUDA), pictures within 3\N{NO-BREAK SPACE}ms"
    )
    assert checklist.decoder_row(needed, [], "The weights are damaged.").blocks
    assert not checklist.decoder_row([], []).blocks


def test_disk() -> None:
    assert checklist.disk_row(None).state == "busy"
    low = checklist.disk_row(100_000_000)
    assert low.blocks
    assert low.text == "100 MB free; a session needs 524 MB."
    assert checklist.disk_row(212_000_000_000).text == (
        "212 GB free, writable · room for about 557 sessions"
    )
    assert checklist.disk_row(5, "It cannot be written.").text == "It cannot be written."


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("We are the lab.", "ok"),
        ("See [our page](https://example.org).", "ok"),
        ("We are [your institution].", "missing"),
        ("   ", "missing"),
        (None, "warn"),
    ],
)
def test_consent(text: str | None, state: str) -> None:
    row = checklist.consent_row(text)
    assert row.state == state
    assert row.blocks == (state == "missing")


def test_the_template_names_what_is_missing() -> None:
    row = checklist.consent_row("[your institution] and [name of the lab] ask you.")
    assert row.text == "Still the template: fill in [your institution] and 1 more."


def test_who_withdrew_or_took_part_elsewhere_is_refused() -> None:
    refused = {"P01": "", "P02": "mnist-crowd"}
    rows = [checklist.participant_row(P, {}, label, "1", refused) for label in refused]
    assert [row.state for row in rows] == ["missing", "missing"]
    assert rows[0].text == "P01 withdrew from this study."
    assert rows[1].text == "P02 took part in mnist-crowd, which is related."
    assert checklist.participant_row(P, {}, "P03", "1", refused).text == "The next free id."


def test_pictures_are_counted_once_how_far_they_are_is_known() -> None:
    said = [checklist.picture_row(done, of) for done, of in ((0, 0), (0, 300), (3, 10), (300, 300))]
    assert [(row.state, row.text) for row in said] == [
        ("ok", ""),
        ("busy", "They are being made ready …"),
        ("busy", "Painting them: 3 of 10 …"),
        ("ok", "300 pictures are there."),
    ]
    assert checklist.picture_row(3, 10, "it is another model").state == "missing"
