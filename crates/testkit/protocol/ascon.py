"""Ascon-AEAD128 of NIST SP 800-232, as its text has it, without associated data: the package `cryptography` has no Ascon."""

from __future__ import annotations

import hmac

MASK = (1 << 64) - 1
# Table 14, and section 4.1.1.
IV = 0x00001000808C0001
RATE, ROUNDS_ENDS, ROUNDS_BETWEEN = 16, 12, 8
# Section 3.4, equation 9: by how much each word is rotated.
ROTATIONS = ((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))


def _rotated(word: int, by: int) -> int:
    return (word >> by | word << (64 - by)) & MASK


def _permuted(state: list[int], rounds: int) -> list[int]:
    x = list(state)
    for i in range(12 - rounds, 12):
        # Table 5, the last 12 constants.
        x[2] ^= 0xF0 - 0x0F * i
        # Section 3.3, the substitution layer: table 6 for 64 columns at once.
        x[0], x[2], x[4] = x[0] ^ x[4], x[2] ^ x[1], x[4] ^ x[3]
        x = [x[j] ^ (~x[(j + 1) % 5] & MASK & x[(j + 2) % 5]) for j in range(5)]
        x[1], x[3], x[0], x[2] = x[1] ^ x[0], x[3] ^ x[2], x[0] ^ x[4], ~x[2] & MASK
        x = [word ^ _rotated(word, a) ^ _rotated(word, b) for word, (a, b) in zip(x, ROTATIONS, strict=True)]
    return x


def _words(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[:8], "little"), int.from_bytes(data[8:16], "little")


class AsconAead128:
    def __init__(self, key: bytes) -> None:
        self._key = _words(key)

    def _begun(self, nonce: bytes) -> list[int]:
        x = _permuted([IV, *self._key, *_words(nonce)], ROUNDS_ENDS)
        # The key; and, as there is no associated data, the domain's bit alone.
        return [*x[:3], x[3] ^ self._key[0], x[4] ^ self._key[1] ^ 1 << 63]

    def _run(self, nonce: bytes, text: bytes, opens: bool) -> tuple[bytes, bytes]:
        """What comes of the text, and the tag."""
        x, out = self._begun(nonce), b""
        for at in range(0, len(text) + 1, RATE):
            block = text[at : at + RATE]
            stream = b"".join(word.to_bytes(8, "little") for word in x[:2])
            made = bytes(a ^ b for a, b in zip(block, stream, strict=False))
            out += made
            plain = made if opens else block
            padded = plain if len(plain) == RATE else (plain + b"\x01").ljust(RATE, b"\0")
            first, second = _words(padded)
            x[0], x[1] = x[0] ^ first, x[1] ^ second
            if len(plain) == RATE:
                x = _permuted(x, ROUNDS_BETWEEN)
        x[2], x[3] = x[2] ^ self._key[0], x[3] ^ self._key[1]
        x = _permuted(x, ROUNDS_ENDS)
        tag = (x[3] ^ self._key[0]).to_bytes(8, "little") + (x[4] ^ self._key[1]).to_bytes(8, "little")
        return out, tag

    def encrypt(self, nonce: bytes, plaintext: bytes) -> bytes:
        """The ciphertext and its tag."""
        return b"".join(self._run(nonce, plaintext, opens=False))

    def decrypt(self, nonce: bytes, sealed: bytes) -> bytes | None:
        """The plaintext; None where the tag is not its own."""
        ciphertext, tag = sealed[:-16], sealed[-16:]
        plaintext, right = self._run(nonce, ciphertext, opens=True)
        return plaintext if hmac.compare_digest(right, tag) else None
