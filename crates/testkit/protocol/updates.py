#!/usr/bin/python3
"""Prints crates/testkit/vectors/meter-update.txt: pieces of an image of the meter's firmware, and replies, with fixed keys.

With --check it compares them with that file, and ends with 1 where they differ.
"""

from __future__ import annotations

import argparse
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import protocol
from ascon import AsconAead128
from protocol import ANSWER, COMMAND
from vectors import ADDRESS, PROVISION, secret

FILE = Path(__file__).parents[1] / "vectors" / "meter-update.txt"

HEADER = """\
# Pieces of an image and replies (docs/reference/protocol.md, "Firmware by radio"), with the keys and names of meter-protocol.txt.
#
# Made by crates/testkit/protocol/updates.py, which is written from the document and shares no code with the rest of this project but what
# vectors.py beside it does. All numbers are in hexadecimal. The image is none that runs: its program is noise, and so is its signature.
# Suite 6 is in its epoch 0.
"""

AES256_GCM_REKEYED = 6
SUITES = {1: "aes128-gcm", 2: "aes256-gcm", 5: "ascon-aead128", AES256_GCM_REKEYED: "aes256-gcm-rekeyed"}
VERSION = 7
M = 0x18
DATA = 36


def image() -> bytes:
    noise = b"".join(secret(f"program {i}") for i in range(3))
    fields = b"WSI1" + b"stm32f407".ljust(16, b"\0")
    fields += struct.pack(">IIIII", VERSION, 0x08080000, 512, 512 + len(noise), 44)
    return fields.ljust(512, b"\0") + noise + secret("signature") + secret("signature, more")[:12]


IMAGE = image()
PIECES = -(-len(IMAGE) // DATA)


def update_command() -> bytes:
    arguments = len(IMAGE).to_bytes(3, "big") + struct.pack(">II", VERSION, zlib.crc32(IMAGE[:40]))
    return struct.pack(">IB", M, 8) + arguments


def seal(kind: int, suite: int, number: int, text: bytes) -> bytes:
    nonce = struct.pack(">BBHHHI", kind, suite, PROVISION.meter, 0, 0x0200 + number, M)
    if suite == protocol.ASCON_AEAD128:
        return AsconAead128(protocol.block(PROVISION.key128, b"WattSeal suite 5")).encrypt(nonce + bytes(4), text)
    key = PROVISION.key128 if suite == protocol.AES128_GCM else PROVISION.key256
    return AESGCM(key).encrypt(nonce, text, None)


def packet(to: int, kind: int, suite: int, number: int, text: bytes) -> bytes:
    header = struct.pack(">BBHBH", to, kind << 6 | suite << 3 | 7, ADDRESS.name, M & 0xFF, number)
    return header + seal(kind, suite, number, text)


def lines() -> Iterator[str]:
    yield from HEADER.splitlines()
    yield ""
    yield "[image]"
    yield f"bytes = {IMAGE.hex()}"
    yield f"command = {update_command().hex()}"
    for suite, name in SUITES.items():
        yield ""
        yield f"[{name}]"
        for index in (0, 1, PIECES - 1):
            text = IMAGE[DATA * index : DATA * (index + 1)].ljust(DATA, b"\0")
            yield f"piece = {packet(ADDRESS.radio, COMMAND, suite, index, text).hex()}"
        for state in (0, 1, PIECES, 0xFC03):
            yield f"reply = {packet(ADDRESS.collector_radio, ANSWER, suite, state, b'').hex()}"
    yield ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help=f"compare with {FILE.name} instead of printing")
    arguments = parser.parse_args()
    made = "\n".join(lines())
    if not arguments.check:
        sys.stdout.write(made)
        return 0
    same = FILE.read_text() == made
    sys.stdout.write("" if same else f"{FILE.name} differs from what this program makes\n")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
