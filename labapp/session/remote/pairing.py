"""Who may join a session: short codes that are read aloud, and the certificate that is made for it.

A code of six digits is enough because it cannot be tried out: SPAKE2 (RFC 9382) makes a strong key
of it on both sides, one attempt for each exchange. That key signs the hash of the certificate
that each side sees, so that nobody in between can pose as the other. The person who joins
proves the code first: a server that was not proved to tells nothing about it.

One certificate is enough. The other side is known by the key, inside the channel that this
certificate fixes.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from ssl import CERT_NONE, PROTOCOL_TLS_CLIENT, PROTOCOL_TLS_SERVER, SSLContext, TLSVersion
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from spake2 import SPAKE2_A, SPAKE2_B, SPAKEError
from spake2.ed25519_basic import NotOnCurve

DIGITS = 6
ATTEMPTS = 3
"""Wrong attempts at a code after which there is another one."""
LOCKED_AFTER = 10
"""Codes used up by wrong attempts after which nobody can join until the moderator allows it."""
VALID_DAYS = 2
_SERVER = b"labapp session"
_MALFORMED = (SPAKEError, NotOnCurve, ValueError, AssertionError)
"""What SPAKE2 raises for a message that the other side never sends."""


def new_code() -> str:
    """Six random digits."""
    return f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"


def spoken(code: str) -> str:
    """A code as it is shown and read aloud: in two groups."""
    return f"{code[:3]} {code[3:]}"


def as_typed(text: str) -> str:
    """The code in what somebody typed; empty if it is none."""
    digits = "".join(letter for letter in text if letter not in " -\u00a0")
    return digits if len(digits) == DIGITS and digits.isascii() and digits.isdigit() else ""


@dataclass(frozen=True)
class Certificate:
    """The server's side of TLS, and the hash by which others know it."""

    context: SSLContext
    sha256: bytes


def make_certificate() -> Certificate:
    """A new key and a certificate for it that it signs itself, held in memory alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "labapp session")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=VALID_DAYS))
        .not_valid_after(now + datetime.timedelta(days=VALID_DAYS))
        .sign(key, hashes.SHA256())
    )
    context = SSLContext(PROTOCOL_TLS_SERVER)
    context.minimum_version = TLSVersion.TLSv1_3
    # The ssl module reads files only: a folder that nobody else can read, for this moment.
    with TemporaryDirectory(prefix="labapp-") as folder:
        path = Path(folder) / "session.pem"
        path.touch(mode=0o600)
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + made.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(path)
    der = made.public_bytes(serialization.Encoding.DER)
    return Certificate(context, hashlib.sha256(der).digest())


def client_context() -> SSLContext:
    """TLS of a computer that joins. The certificate is checked by the code, not by an authority."""
    context = SSLContext(PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = CERT_NONE
    context.minimum_version = TLSVersion.TLSv1_3
    return context


@dataclass(frozen=True)
class Proofs:
    """What each side shows the other, and the key by which a broken link is taken up again."""

    client: bytes
    server: bytes
    again: bytes


def proofs(key: bytes, certificate_sha256: bytes, *exchanged: bytes) -> Proofs:
    """The proofs of a key that both sides have.

    Parameters
    ----------
    key : from SPAKE2, or of an earlier link.
    certificate_sha256 : of the certificate that this side has, or sees.
    exchanged : all that both sides exchanged before, in order.
    """
    context = b"".join(
        len(part).to_bytes(4, "big") + part for part in (certificate_sha256, *exchanged)
    )

    def sign(label: bytes) -> bytes:
        return hmac.new(key, label + b"\0" + context, hashlib.sha256).digest()

    return Proofs(sign(b"client"), sign(b"server"), sign(b"again"))


def same(proof: bytes, expected: bytes) -> bool:
    """Whether a proof is right; it takes as long whatever it is."""
    return hmac.compare_digest(proof, expected)


class ClientExchange:
    """SPAKE2 at the computer that joins."""

    def __init__(self, code: str, role: str) -> None:
        self._spake = SPAKE2_A(code.encode(), idA=role.encode(), idB=_SERVER)
        self.message: bytes = self._spake.start()

    def key(self, answer: bytes) -> bytes | None:
        """The key; None for an answer that no server gives."""
        with suppress(*_MALFORMED):
            key: bytes = self._spake.finish(answer)
            return key
        return None


def answer_exchange(code: str, role: str, message: bytes) -> tuple[bytes, bytes] | None:
    """SPAKE2 at the session's computer: the answer and the key; None for a malformed message."""
    with suppress(*_MALFORMED):
        spake = SPAKE2_B(code.encode(), idA=role.encode(), idB=_SERVER)
        answer: bytes = spake.start()
        key: bytes = spake.finish(message)
        return answer, key
    return None


@dataclass
class Code:
    """The code of a role, and how often it was tried.

    Every exchange counts as a wrong attempt until it is proved: one that breaks off has
    learnt as much as one that fails.
    """

    role: str
    code: str = field(default_factory=new_code)
    attempts: int = 0
    used_up: int = 0

    @property
    def locked(self) -> bool:
        """Whether nobody can join with it until `renew`."""
        return self.used_up >= LOCKED_AFTER

    def begin(self) -> tuple[str, int] | None:
        """The code for one more exchange, and how many have begun with it; None if it is
        locked."""
        if self.locked:
            return None
        self.attempts += 1
        code, attempts = self.code, self.attempts
        if attempts >= ATTEMPTS:
            self.code, self.attempts = new_code(), 0
            self.used_up += 1
        return code, attempts

    def succeed(self, code: str, *, once: bool) -> None:
        """The exchange with this code was proved. once: the code is for one person only."""
        self.used_up = 0
        if once or code != self.code:
            self.renew()
        else:
            self.attempts = 0

    def renew(self) -> None:
        """Another code, with all its attempts."""
        self.code, self.attempts, self.used_up = new_code(), 0, 0
