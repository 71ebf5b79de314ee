"""The meter's protocol as docs/reference/protocol.md has it: packets, plaintexts, sealing, provisioning images, UDP framing.

Written from the documents alone and sharing no code with the rest of the project, so that a mistake of its other side
shows. Curves and ciphers are those of the package `cryptography` (OpenSSL), but for Ascon, which is in `ascon.py`.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import zlib
from dataclasses import dataclass, replace

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF

from ascon import AsconAead128

REPORT, ANSWER, ACKNOWLEDGEMENT, COMMAND = range(4)
NONE, AES128_GCM, AES256_GCM, ECIES, ECIES_ECDSA, ASCON_AEAD128 = range(6)
KINDS = ("report", "answer", "acknowledgement", "command")
SUITES = ("none", "aes128-gcm", "aes256-gcm", "ecies", "ecies-ecdsa", "ascon-aead128")
# Those whose reports and commands are sealed with a curve.
CURVES = (ECIES, ECIES_ECDSA)

MEASUREMENT, ALERT, TIME_NOT_SET = 1, 2, 0x80
CONFIGURE, CALIBRATE, REGISTER, SET_TIME, READ_STATUS, REBOOT = range(1, 7)
DONE, UNKNOWN_CODE, OUT_OF_RANGE, NUMBER_TOO_LOW = range(4)
POWER_ON, EXTERNAL_RESET, BROWN_OUT, WATCHDOG, COMMANDED_REBOOT = range(1, 6)

# Seconds from 1970-01-01 to 2000-01-01, both UTC.
EPOCH_2000 = 946_684_800


@dataclass(frozen=True)
class Address:
    """A meter's address: what it was registered as last."""

    name: int
    radio: int
    collector_radio: int

    def to_bytes(self) -> bytes:
        return struct.pack(">HBB", self.name, self.radio, self.collector_radio)


# Curve P-256.

CURVE = ec.SECP256R1()
# Its order, SEC 2 version 2 section 2.4.2.
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def random_private() -> bytes:
    return ec.generate_private_key(CURVE).private_numbers().private_value.to_bytes(32, "big")


def _private(key: bytes) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(key, "big"), CURVE)


def _public(key: bytes) -> ec.EllipticCurvePublicKey:
    return ec.EllipticCurvePublicKey.from_encoded_point(CURVE, b"\x04" + key)


def public_of(private: bytes) -> bytes:
    point = _private(private).public_key().public_numbers()
    return point.x.to_bytes(32, "big") + point.y.to_bytes(32, "big")


def shared_secret(private: bytes, public: bytes) -> bytes:
    return _private(private).exchange(ec.ECDH(), _public(public))


def sign(private: bytes, message: bytes) -> bytes:
    """ECDSA with SHA-256 and the nonce of RFC 6979 section 3.2; r and s."""
    digest = hashlib.sha256(message).digest()
    secret, z = int.from_bytes(private, "big"), int.from_bytes(digest, "big")
    seed = private + (z % ORDER).to_bytes(32, "big")
    key, value = bytes(32), b"\x01" * 32

    def mac(*parts: bytes) -> bytes:
        return hmac.digest(key, b"".join(parts), "sha256")

    for step in (b"\x00", b"\x01"):
        key = mac(value, step, seed)
        value = mac(value)
    while True:
        value = mac(value)
        nonce = int.from_bytes(value, "big")
        if 0 < nonce < ORDER:
            r = int.from_bytes(public_of(value)[:32], "big") % ORDER
            s = pow(nonce, -1, ORDER) * (z + r * secret) % ORDER
            if r and s:
                return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        key = mac(value, b"\x00")
        value = mac(value)


def signature_holds(public: bytes, signature: bytes, message: bytes) -> bool:
    r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
    try:
        _public(public).verify(encode_dss_signature(r, s), message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def derive(secret: bytes, length: int, shared_info: bytes) -> bytes:
    """The X9.63 KDF with SHA-256."""
    return X963KDF(hashes.SHA256(), length, shared_info).derive(secret)


def counter_mode(key: bytes, text: bytes) -> bytes:
    """AES in counter mode from a counter of zero, both ways."""
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(text)


def block(key: bytes, text: bytes) -> bytes:
    """One block of AES."""
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(text)


# Sealing.


def nonce(kind: int, suite: int, meter: int, number: int, address: Address | None) -> bytes:
    there = address.to_bytes() if kind == ANSWER else bytes(4)
    return struct.pack(">BBH", kind, suite, meter) + there + struct.pack(">I", number)


@dataclass(frozen=True)
class Side:
    """One end of a meter's channel: the keys that it has, its own private key, and the other end's public one."""

    meter: int  # as provisioned
    key128: bytes
    key256: bytes
    private: bytes
    peer: bytes

    def _encrypt(self, suite: int, nonce: bytes, plaintext: bytes) -> bytes:
        """With the AEAD of the suite, or of those that have none: the ciphertext and its tag."""
        if suite == ASCON_AEAD128:
            return self._ascon().encrypt(nonce + bytes(4), plaintext)
        return self._gcm(suite).encrypt(nonce, plaintext, None)

    def _decrypt(self, suite: int, nonce: bytes, sealed: bytes) -> bytes | None:
        if suite == ASCON_AEAD128:
            return self._ascon().decrypt(nonce + bytes(4), sealed)
        try:
            return self._gcm(suite).decrypt(nonce, sealed, None)
        except InvalidTag:
            return None

    def _ascon(self) -> AsconAead128:
        return AsconAead128(block(self.key128, b"WattSeal suite 5"))

    def _gcm(self, suite: int) -> AESGCM:
        return AESGCM(self.key256 if suite == AES256_GCM else self.key128)

    def context(self, kind: int, suite: int, sender: bytes, recipient: bytes) -> bytes:
        return b"WSM2" + struct.pack(">BBH", kind, suite, self.meter) + sender[:8] + recipient[:8]

    def seal(
        self,
        kind: int,
        suite: int,
        number: int,
        plaintext: bytes = b"",
        address: Address | None = None,
        ephemeral: bytes | None = None,
    ) -> bytes:
        """A message of this side. `plaintext` is empty in acknowledgements, `address` is an answer's."""
        if suite == NONE:
            return plaintext or struct.pack(">I", number)
        if kind in (REPORT, COMMAND) and suite in CURVES:
            return self._seal_with_curve(kind, suite, plaintext, ephemeral or random_private())
        sealed = self._encrypt(suite, nonce(kind, suite, self.meter, number, address), plaintext)
        return struct.pack(">I", number) + sealed

    def _seal_with_curve(self, kind: int, suite: int, plaintext: bytes, ephemeral: bytes) -> bytes:
        context = self.context(kind, suite, public_of(self.private), self.peer)
        point, secret = public_of(ephemeral), shared_secret(ephemeral, self.peer)
        if suite == ECIES:
            keys = derive(secret, 48, point)
            ciphertext = counter_mode(keys[:16], plaintext)
            return point + ciphertext + hmac.digest(keys[16:], ciphertext + context + self.key128, "sha256")
        ciphertext = counter_mode(derive(secret, 16, point + context), plaintext)
        return point + ciphertext + sign(self.private, point + ciphertext + context)

    def open(
        self, kind: int, suite: int, message: bytes, address: Address | None = None
    ) -> tuple[int | None, bytes] | None:
        """The number and plaintext of a message of the other side, or None where it is not authentic. An answer's number
        with `none` is in its packet alone: it is None here."""
        if len(message) != message_length(kind, suite):
            return None
        if suite == NONE:
            number = None if kind == ANSWER else int.from_bytes(message[:4], "big")
            return number, b"" if kind == ACKNOWLEDGEMENT else message
        if kind in (REPORT, COMMAND) and suite in CURVES:
            plaintext = self._open_with_curve(kind, suite, message)
            return plaintext and (int.from_bytes(plaintext[:4], "big"), plaintext)
        number = int.from_bytes(message[:4], "big")
        plaintext = self._decrypt(suite, nonce(kind, suite, self.meter, number, address), message[4:])
        if plaintext is None:
            return None
        if kind in (REPORT, COMMAND) and plaintext[:4] != message[:4]:
            return None
        return number, plaintext

    def _open_with_curve(self, kind: int, suite: int, message: bytes) -> bytes | None:
        context = self.context(kind, suite, self.peer, public_of(self.private))
        point, ciphertext, code = message[:64], message[64:80], message[80:]
        try:
            secret = shared_secret(self.private, point)
        except ValueError:
            return None
        if suite == ECIES:
            keys = derive(secret, 48, point)
            right = hmac.digest(keys[16:], ciphertext + context + self.key128, "sha256")
            return counter_mode(keys[:16], ciphertext) if hmac.compare_digest(right, code) else None
        if not signature_holds(self.peer, code, point + ciphertext + context):
            return None
        return counter_mode(derive(secret, 16, point + context), ciphertext)


# Packets.


def message_length(kind: int, suite: int) -> int:
    if kind == ACKNOWLEDGEMENT:
        return 4 if suite == NONE else 20
    if suite == NONE:
        return 16
    if kind == ANSWER:
        return 36
    return {ECIES: 112, ECIES_ECDSA: 144}.get(suite, 36)


@dataclass(frozen=True)
class Packet:
    """A packet with one piece of a message."""

    to: int
    kind: int
    suite: int
    index: int
    count: int
    name: int
    number_lsb: int  # the lowest byte of n or m
    piece: bytes

    def to_bytes(self) -> bytes:
        code = (0, 1, 3)[self.count - 1] + self.index
        coded = self.kind << 6 | self.suite << 3 | code
        return struct.pack(">BBHB", self.to, coded, self.name, self.number_lsb) + self.piece

    @staticmethod
    def parse(data: bytes) -> Packet | None:
        """None where it is no packet of the protocol."""
        if len(data) < 6:
            return None
        to, coded, name, number_lsb = struct.unpack(">BBHB", data[:5])
        kind, suite, code = coded >> 6, coded >> 3 & 7, coded & 7
        if suite >= len(SUITES) or code > 5:
            return None
        count = (1, 2, 2, 3, 3, 3)[code]
        packet = Packet(to, kind, suite, code - (0, 1, 3)[count - 1], count, name, number_lsb, data[5:])
        length = message_length(kind, suite)
        whole = count == pieces_of(length) and len(packet.piece) * count == length
        return packet if whole else None


def pieces_of(length: int) -> int:
    """A packet has at most 61 bytes, five of them its header."""
    return -(-length // 56)


def packets(to: int, kind: int, suite: int, name: int, number: int, message: bytes) -> list[Packet]:
    count = pieces_of(len(message))
    size = len(message) // count
    cut = [message[i * size : (i + 1) * size] for i in range(count)]
    return [Packet(to, kind, suite, i, count, name, number & 0xFF, piece) for i, piece in enumerate(cut)]


class Assembly:
    """Puts the pieces of messages together: one unfinished message of a name and kind."""

    def __init__(self) -> None:
        self._pieces: dict[tuple[int, int], dict[int, Packet]] = {}

    def take(self, packet: Packet) -> bytes | None:
        """The message, with its last piece."""
        if packet.count == 1:
            return packet.piece
        key = (packet.name, packet.kind)
        pieces = self._pieces.setdefault(key, {})
        if any((other.number_lsb, other.suite) != (packet.number_lsb, packet.suite) for other in pieces.values()):
            pieces.clear()
        pieces[packet.index] = packet
        if len(pieces) < packet.count:
            return None
        del self._pieces[key]
        return b"".join(pieces[i].piece for i in range(packet.count))


# UDP: docs/how-to/collector/gateways.md, "Gateways".


def datagram(packet: bytes, rssi_dbm: int = 127) -> bytes:
    return b"WS1" + struct.pack(">b", rssi_dbm) + packet


def packet_of(data: bytes) -> bytes | None:
    return data[4:] if data[:3] == b"WS1" and 4 < len(data) <= 4 + 61 else None


# Plaintexts.


def measurement(n: int, time: int, energy_dwh: int, power_w: int, lost: int = 0, time_set: bool = True) -> bytes:
    code = MEASUREMENT | (0 if time_set else TIME_NOT_SET)
    return struct.pack(">IBBIIh", n, code, min(lost, 255), time, energy_dwh & 0xFFFFFFFF, power_w)


def alert(n: int, time: int, cause: int, starts: int) -> bytes:
    return struct.pack(">IBBIBH3x", n, ALERT, 0, time, cause, starts)


def command(m: int, code: int, arguments: bytes = b"") -> bytes:
    return struct.pack(">IB", m, code) + arguments.ljust(11, b"\0")


def answer(m: int, result: int, said: bytes = b"") -> bytes:
    return struct.pack(">IB", m, result) + said.ljust(11, b"\0")


def status_page_0(time: int, suite: int, interval_s: int, waiting: int, starts: int, stack_free: int) -> bytes:
    return struct.pack(">IBHBHB", time, suite, interval_s, waiting, starts, stack_free // 4)


def status_page_1(energy_dwh: int, voltage_dv: int, current_ca: int, refused: int, lost: int) -> bytes:
    return struct.pack(">IHHHB", energy_dwh, voltage_dv, current_ca, refused, min(lost, 255))


# Provisioning.


@dataclass(frozen=True)
class Provision:
    """What is written into a meter's flash."""

    meter: int
    radio: int
    collector_radio: int
    channel: int
    power: int
    interval_s: int
    suite: int
    voltage_uv: int
    current_ua: int
    phase: int
    key128: bytes
    key256: bytes
    private: bytes
    collector_public: bytes

    LAYOUT = ">HHBBBBHBxIIh8s2x16s32s32s64s"

    def flash(self) -> bytes:
        settings = (self.meter, self.radio, self.collector_radio, self.channel, self.power, self.interval_s, self.suite)
        calibration = (self.voltage_uv, self.current_ua, self.phase)
        keys = (public_of(self.private)[:8], self.key128, self.key256, self.private, self.collector_public)
        return struct.pack(self.LAYOUT, 1, *settings, *calibration, *keys)

    @classmethod
    def from_flash(cls, flash: bytes) -> Provision:
        version, *fields = struct.unpack(cls.LAYOUT, flash)
        settings, public, keys = fields[:10], fields[10], fields[11:]
        provision = cls(*settings, *keys)
        if version != 1 or public != public_of(provision.private)[:8]:
            raise ValueError("these bytes are no provisioned flash")
        return provision

    def eeprom(self, seed: bytes) -> bytes:
        first = struct.pack(">I", 0) + seed
        image = first + hashlib.sha256(first).digest()[:8]
        image = image.ljust(120, b"\xff") + checked(struct.pack(">II", 1, 0), b"WSN1")
        image = image.ljust(156, b"\xff") + checked(self._first_settings(), b"WSS1")
        return image.ljust(1024, b"\xff")

    def _first_settings(self) -> bytes:
        generation, last_m, result, last_command = 1, 0, 0, 0
        setup = struct.pack(">BHHBB", self.suite, self.interval_s, self.meter, self.radio, self.collector_radio)
        calibration = struct.pack(">IIh", self.voltage_uv, self.current_ua, self.phase)
        return struct.pack(">IIB", generation, last_m, result) + setup + calibration + struct.pack(">H", last_command)

    @property
    def address(self) -> Address:
        return Address(self.meter, self.radio, self.collector_radio)

    def side(self) -> Side:
        """The meter's."""
        return Side(self.meter, self.key128, self.key256, self.private, self.collector_public)

    def other_side(self, collector_private: bytes) -> Side:
        """The collector's."""
        return replace(self.side(), private=collector_private, peer=public_of(self.private))


def checked(record: bytes, letters: bytes) -> bytes:
    return record + struct.pack(">I", zlib.crc32(letters + record))
