#!/usr/bin/python3
"""Prints crates/testkit/vectors/meter-protocol.txt: messages of the meter's protocol with fixed keys.

With --check it compares them with that file, and ends with 1 where they differ.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import protocol
from protocol import ACKNOWLEDGEMENT, ANSWER, COMMAND, KINDS, REPORT, SUITES, Address

FILE = Path(__file__).parents[1] / "vectors" / "meter-protocol.txt"

HEADER = """\
# Messages of the meter's protocol (docs/reference/protocol.md) with fixed keys: of every kind and suite, sealed and cut into packets.
#
# Made by crates/testkit/protocol/vectors.py, which is written from the document and shares no code with the rest of this
# project: it composes the parts of the package `cryptography` 38.0.4 (OpenSSL): AESGCM, ECDH over SECP256R1, X963KDF, AES in
# CTR mode; ECDSA with the nonce of RFC 6979 is Python's integers over that package's curve; `hmac`, `hashlib.sha256`, `struct`
# and `zlib.crc32` are Python's; Ascon-AEAD128 is `ascon.py` beside it. Messages and images that did not change with "WSM2"
# have the bytes that an earlier program with version 48.0.0 of that package gave them.
#
# All numbers are in hexadecimal. `number` is n or m. `ephemeral` is the private key that made the ephemeral key of the message.
# The meter was registered with another name than it was provisioned with. The keys are SHA-256 of "WattSeal example: " and a word,
# and nobody's.
"""

# 2026-01-01 00:00:00 UTC.
NEW_YEAR = 0x30E87580


def secret(word: str) -> bytes:
    return hashlib.sha256(b"WattSeal example: " + word.encode()).digest()


COLLECTOR_PRIVATE = secret("collector")
PROVISION = protocol.Provision(
    meter=0x0102,
    radio=0x42,
    collector_radio=0x41,
    channel=0xD2,
    power=0,
    interval_s=10,
    suite=protocol.AES128_GCM,
    voltage_uv=270_000,
    current_ua=52_000,
    phase=-120,
    key128=secret("key128")[:16],
    key256=secret("key256"),
    private=secret("meter"),
    collector_public=protocol.public_of(COLLECTOR_PRIVATE),
)
SEED = secret("seed") + secret("seed, more")[:16]
ADDRESS = Address(0x0304, PROVISION.radio, PROVISION.collector_radio)


def reports() -> Iterator[tuple[str, int, bytes]]:
    yield "a measurement", 0xA01, protocol.measurement(0xA01, NEW_YEAR, 123_456, 1500)
    yield (
        "a measurement before the time is set, after 300 losses, of energy that is given out",
        0xFFFFFFFE,
        protocol.measurement(0xFFFFFFFE, 59, 0xFFFFFFFF, -2300, lost=300, time_set=False),
    )
    yield "an alert: the watchdog, at the third start", 0xB02, protocol.alert(0xB02, NEW_YEAR + 1, protocol.WATCHDOG, 3)


def answers(suite: int) -> Iterator[tuple[str, int, bytes]]:
    page_0 = protocol.status_page_0(NEW_YEAR, suite, 10, waiting=5, starts=3, stack_free=160)
    page_1 = protocol.status_page_1(123_456, 2304, 652, refused=7, lost=0)
    yield "done", 0xC03, protocol.answer(0x11, protocol.DONE)
    yield "arguments out of range", 0xC04, protocol.answer(0x12, protocol.OUT_OF_RANGE)
    yield "the state, page 0", 0xC05, protocol.answer(0x13, protocol.DONE, page_0)
    yield "the state, page 1", 0xC06, protocol.answer(0x14, protocol.DONE, page_1)
    last_m = struct.pack(">I", 0x1F00)
    yield (
        "the number is too low: the meter's last m is 1f00",
        0xC07,
        protocol.answer(0x15, protocol.NUMBER_TOO_LOW, last_m),
    )


def commands() -> Iterator[tuple[str, int, bytes]]:
    register = Address(0x0304, 0x43, 0x41).to_bytes()
    calibration = struct.pack(">IIh", PROVISION.voltage_uv, PROVISION.current_ua, PROVISION.phase)
    for title, m, code, arguments in (
        ("configure: every 60 s, ecies-ecdsa", 0x11, protocol.CONFIGURE, struct.pack(">HB", 60, protocol.ECIES_ECDSA)),
        ("calibrate", 0x12, protocol.CALIBRATE, calibration),
        ("register: as 0304, at 43, the collector at 41", 0x13, protocol.REGISTER, register),
        ("set time: 2026-01-01 00:00:00 UTC", 0x14, protocol.SET_TIME, struct.pack(">I", NEW_YEAR)),
        ("read status, page 0", 0x15, protocol.READ_STATUS, b"\0"),
        ("read status, page 1", 0x16, protocol.READ_STATUS, b"\1"),
        ("reboot", 0xFFFFFFFE, protocol.REBOOT, b""),
    ):
        yield title, m, protocol.command(m, code, arguments)


def record(title: str, kind: int, suite: int, number: int, plaintext: bytes) -> Iterator[str]:
    curve = kind in (REPORT, COMMAND) and suite in protocol.CURVES
    ephemeral = secret(f"ephemeral, {SUITES[suite]}, {KINDS[kind]}, {number:08x}") if curve else None
    from_meter = kind in (REPORT, ANSWER)
    side = PROVISION.side() if from_meter else PROVISION.other_side(COLLECTOR_PRIVATE)
    message = side.seal(kind, suite, number, plaintext, ADDRESS, ephemeral)
    to = ADDRESS.collector_radio if from_meter else ADDRESS.radio
    yield f"# {title}"
    yield f"kind = {kind:02x}"
    yield f"suite = {suite:02x}"
    yield f"number = {number:08x}"
    if plaintext:
        yield f"plaintext = {plaintext.hex()}"
    if ephemeral:
        yield f"ephemeral = {ephemeral.hex()}"
    yield f"message = {message.hex()}"
    for packet in protocol.packets(to, kind, suite, ADDRESS.name, number, message):
        yield f"packet = {packet.to_bytes().hex()}"
    yield ""


def provision() -> Iterator[str]:
    yield "[provision]"
    yield f"provisioned = {PROVISION.meter:04x}"
    yield f"name = {ADDRESS.name:04x}"
    yield f"meter_address = {ADDRESS.radio:02x}"
    yield f"collector_address = {ADDRESS.collector_radio:02x}"
    yield f"channel = {PROVISION.channel:02x}"
    yield f"power = {PROVISION.power:02x}"
    yield f"interval = {PROVISION.interval_s:04x}"
    yield f"suite = {PROVISION.suite:02x}"
    yield f"voltage = {PROVISION.voltage_uv:08x}"
    yield f"current = {PROVISION.current_ua:08x}"
    yield f"phase = {PROVISION.phase & 0xFFFF:04x}"
    yield f"key128 = {PROVISION.key128.hex()}"
    yield f"key256 = {PROVISION.key256.hex()}"
    yield f"meter_private = {PROVISION.private.hex()}"
    yield f"meter_public = {protocol.public_of(PROVISION.private).hex()}"
    yield f"collector_private = {COLLECTOR_PRIVATE.hex()}"
    yield f"collector_public = {PROVISION.collector_public.hex()}"
    yield f"seed = {SEED.hex()}"
    yield f"flash = {PROVISION.flash().hex()}"
    yield f"eeprom = {PROVISION.eeprom(SEED).hex()}"
    yield ""


def lines() -> Iterator[str]:
    yield from HEADER.splitlines()
    yield ""
    yield from provision()
    for suite, name in enumerate(SUITES):
        yield f"[{name}]"
        yield ""
        for title, number, plaintext in reports():
            yield from record(title, REPORT, suite, number, plaintext)
        for title, number, plaintext in answers(suite):
            yield from record(title, ANSWER, suite, number, plaintext)
        if suite == protocol.AES128_GCM:
            done = protocol.answer(0x17, protocol.DONE)
            yield from record("done: configured to none, which is sealed all the same", ANSWER, suite, 0xC08, done)
        yield from record("of the measurement", ACKNOWLEDGEMENT, suite, 0xA01, b"")
        for title, number, plaintext in commands():
            yield from record(title, COMMAND, suite, number, plaintext)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help=f"compare with {FILE.name} instead of printing")
    arguments = parser.parse_args()
    made = "\n".join(lines())
    if not arguments.check:
        sys.stdout.write(made)
        return 0
    kept = FILE.read_text()
    difference = difflib.unified_diff(kept.splitlines(), made.splitlines(), FILE.name, "vectors.py", lineterm="")
    sys.stdout.writelines(f"{line}\n" for line in difference)
    return int(kept != made)


if __name__ == "__main__":
    sys.exit(main())
