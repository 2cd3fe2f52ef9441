"""Codes, certificates and proofs."""

from __future__ import annotations

import random
import ssl
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.session.remote import pairing
from labapp.session.remote.pairing import (
    ATTEMPTS,
    LOCKED_AFTER,
    ClientExchange,
    Code,
    answer_exchange,
    as_typed,
    new_code,
    proofs,
    same,
    spoken,
)

CODES = st.integers(0, 999_999).map("{:06}".format)


@given(CODES)
def test_what_is_read_aloud_is_understood_when_it_is_typed(code: str) -> None:
    assert as_typed(spoken(code)) == as_typed(f" {code} ") == as_typed("-".join(code)) == code


@pytest.mark.parametrize(
    "text", ["", "12345", "1234567", "12345a", "１２３４５６", "١٢٣٤٥٦", "12.456"]
)
def test_what_is_no_code_is_none(text: str) -> None:
    assert as_typed(text) == ""


def test_codes_are_drawn_from_all_there_are() -> None:
    codes = [new_code() for _ in range(3000)]
    assert {len(code) for code in codes} == {6}
    assert len(set(codes)) > 2950
    for place in range(6):
        assert {code[place] for code in codes} == set("0123456789")


def exchange(typed: str, code: str, role: str = "observer") -> tuple[bytes | None, bytes | None]:
    """The keys at both sides."""
    client = ClientExchange(typed, role)
    answered = answer_exchange(code, role, client.message)
    assert answered is not None
    answer, key = answered
    return client.key(answer), key


def test_both_sides_have_the_same_key_where_the_code_is_the_same() -> None:
    there, here = exchange("123456", "123456")
    assert there == here is not None
    assert len(here) == 32
    again, _ = exchange("123456", "123456")
    assert again != there, "each exchange has a key of its own"


def test_another_code_or_role_has_another_key() -> None:
    there, here = exchange("123457", "123456")
    assert there is not None
    assert there != here
    client = ClientExchange("123456", "moderator")
    answered = answer_exchange("123456", "observer", client.message)
    assert answered is not None
    assert client.key(answered[0]) != answered[1], "the code of observers is none for moderators"


@given(st.binary(max_size=80))
def test_bytes_that_no_side_sends_are_refused(message: bytes) -> None:
    assert answer_exchange("123456", "observer", message) is None
    assert ClientExchange("123456", "observer").key(message) is None


def test_damaged_messages_are_refused_or_give_another_key() -> None:
    """Half of all damaged messages are no point of the curve, and some are one of low order."""
    rng, refused = random.Random(3), 0
    for _ in range(40):
        client = ClientExchange("123456", "observer")
        message = bytearray(client.message)
        message[rng.randrange(1, len(message))] ^= 1 << rng.randrange(8)
        answered = answer_exchange("123456", "observer", bytes(message))
        refused += answered is None
        if answered is not None:
            assert client.key(answered[0]) != answered[1]
    assert refused > 20
    for low in (b"\x01" + 31 * b"\0", b"\0" * 32, b"\xec" + 30 * b"\xff" + b"\x7f"):
        assert answer_exchange("123456", "observer", b"A" + low) is None
    own = ClientExchange("123456", "observer")
    assert own.key(b"B" + own.message[1:]) is None, "what is sent back is no answer"


def test_a_proof_fits_one_certificate_one_exchange_and_one_side() -> None:
    mine = proofs(b"k" * 32, b"c" * 32, b"role", b"name")
    assert same(mine.client, proofs(b"k" * 32, b"c" * 32, b"role", b"name").client)
    assert len({mine.client, mine.server, mine.again}) == 3
    others = (
        proofs(b"j" * 32, b"c" * 32, b"role", b"name"),
        proofs(b"k" * 32, b"d" * 32, b"role", b"name"),
        proofs(b"k" * 32, b"c" * 32, b"rolen", b"ame"),
        proofs(b"k" * 32, b"c" * 32, b"name", b"role"),
        proofs(b"k" * 32, b"c" * 32, b"role"),
    )
    assert not any(same(other.client, mine.client) for other in others)


def test_a_certificate_is_new_each_time_and_tls_is_the_latest() -> None:
    first, second = pairing.make_certificate(), pairing.make_certificate()
    assert first.sha256 != second.sha256
    assert first.context.minimum_version is ssl.TLSVersion.TLSv1_3
    assert pairing.client_context().minimum_version is ssl.TLSVersion.TLSv1_3


def test_after_three_attempts_there_is_another_code() -> None:
    code = Code("observer", "123456")
    assert [code.begin() for _ in range(ATTEMPTS)] == [("123456", 1), ("123456", 2), ("123456", 3)]
    assert code.code != "123456"
    assert (code.attempts, code.used_up) == (0, 1)


def test_a_thousand_wrong_codes_are_rejected_and_lock_the_role() -> None:
    """Somebody who tries out codes has thirty guesses at ten codes, and then none."""
    rng, code, used = random.Random(1), Code("moderator"), []
    for _ in range(1000):
        guess = f"{rng.randrange(10**6):06}"
        begun = code.begin()
        if begun is None:
            assert code.locked
            continue
        used.append(begun[0])
        if guess != begun[0] and len(used) <= 4:  # the exchange itself takes milliseconds
            there, here = exchange(guess, begun[0], "moderator")
            assert there != here
    assert len(used) == ATTEMPTS * LOCKED_AFTER
    assert len(set(used)) == LOCKED_AFTER
    before = code.code
    code.renew()
    assert not code.locked
    assert code.code != before
    assert code.begin() == (code.code, 1)


@given(st.lists(st.booleans(), max_size=40), st.booleans())
def test_attempts_start_again_when_somebody_proved_the_code(proved: list[bool], once: bool) -> None:
    code, failed = Code("observer"), 0
    seen = [code.code]
    for right in proved:
        begun = code.begin()
        if begun is None:
            assert failed == ATTEMPTS * LOCKED_AFTER
            break
        failed = 0 if right else failed + 1
        if right:
            code.succeed(begun[0], once=once)
            assert (code.attempts, code.used_up) == (0, 0)
        if code.code != seen[-1]:
            seen.append(code.code)
        elif right:
            assert not once, "the code of a moderator is for one person"
    assert code.locked == (failed >= ATTEMPTS * LOCKED_AFTER)
    assert all(before != after for before, after in pairwise(seen))
