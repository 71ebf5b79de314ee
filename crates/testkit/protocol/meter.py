"""A meter that speaks UDP, as docs/reference/protocol.md has it: it reports, takes acknowledgements, and carries out commands.

Its memory never fails, and it answers a command as often as it hears it: the bound of one answer a second is for the
wear of an EEPROM that it does not have.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import protocol
from protocol import ACKNOWLEDGEMENT, ANSWER, COMMAND, NONE, REPORT, Address, Assembly, Packet, Provision, Side


def time_2000() -> int:
    return int(time.time()) - protocol.EPOCH_2000


class Radio:
    """A UDP socket that sends packets to the collector and hears its packets, also those that it sent before it was started
    again at another port. The socket's port may have been another's, to whom somebody else's collector still speaks:
    that is not heard."""

    def __init__(self, collector: tuple[str, int]) -> None:
        self._collectors: set[tuple[str, int]] = set()
        self.move(collector)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)

    def move(self, collector: tuple[str, int]) -> None:
        """The collector is there from now on."""
        self.collector = collector
        self._collectors.add(collector)

    def send(self, packet: bytes) -> None:
        # What cannot be sent is lost, as packets may be.
        with suppress(ConnectionRefusedError, BlockingIOError):
            self.socket.sendto(protocol.datagram(packet), self.collector)

    def heard(self) -> list[bytes]:
        packets = []
        while True:
            try:
                datagram, sender = self.socket.recvfrom(2048)
            except BlockingIOError:
                return packets
            except ConnectionRefusedError:
                continue  # nobody listened to an earlier packet
            packet = protocol.packet_of(datagram)
            if packet and sender in self._collectors:
                packets.append(packet)

    def close(self) -> None:
        self.socket.close()


class Node(Protocol):
    """Somebody who hears packets, and does what is due."""

    radio: Radio

    def take(self, data: bytes) -> None: ...

    def tick(self, now: float) -> None: ...


class Network:
    def __init__(self) -> None:
        self._nodes: list[Node] = []

    def add(self, node: Node) -> None:
        self._nodes.append(node)

    def until(self, condition: Callable[[], object], seconds: float) -> bool:
        """Whether `condition` came true within that time."""
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for node in self._nodes:
                selector.register(node.radio.socket, selectors.EVENT_READ, node)
            while not condition():
                left = end - time.monotonic()
                if left < 0:
                    return False
                for node in self._nodes:
                    node.tick(time.monotonic())
                for key, _ in selector.select(min(left, 0.02)):
                    for packet in key.data.radio.heard():
                        key.data.take(packet)
        return True

    def run(self, seconds: float) -> None:
        self.until(lambda: False, seconds)

    def close(self) -> None:
        for node in self._nodes:
            node.radio.close()
        self._nodes.clear()


@dataclass
class Sealed:
    """A report in the journal."""

    n: int
    suite: int
    message: bytes


@dataclass
class Sent:
    """A packet that went out, with the kind and the n of its message."""

    kind: int
    n: int
    packet: bytes


class Meter:
    """`heard` is called with each packet that comes, also while the meter is deaf and takes none."""

    # Reports that the journal holds; then the oldest one goes for each new one.
    JOURNAL = 17
    # Seconds between attempts of a report.
    RESEND_S = 0.25

    def __init__(self, provision: Provision, radio: Radio, heard: Callable[[Meter, Packet], None]) -> None:
        self.provision, self.radio, self._heard = provision, radio, heard
        self.side: Side = provision.side()
        self.address: Address = provision.address
        self.suite, self.interval_s = provision.suite, provision.interval_s
        self.n = self.starts = self.lost = self.energy_dwh = 0
        self.last_m, self.last_command, self.last_result = 0, b"", protocol.DONE
        self.journal: list[Sealed] = []
        self.sent: list[Sent] = []
        self.acknowledged: list[int] = []
        self.executed: list[bytes] = []  # the plaintexts of commands that were carried out
        self.deaf = self.mute = False
        self._assembly = Assembly()
        self._next_attempt = 0.0

    @property
    def number(self) -> int:
        """As it was provisioned."""
        return self.provision.meter

    # Reports.

    def start(self, cause: int = protocol.POWER_ON) -> int:
        self.starts += 1
        return self._report(lambda n: protocol.alert(n, time_2000(), cause, self.starts))

    def measure(self, power_w: int) -> int:
        self.energy_dwh += 1
        return self._report(lambda n: protocol.measurement(n, time_2000(), self.energy_dwh, power_w, self.lost))

    def _report(self, plaintext: Callable[[int], bytes]) -> int:
        if len(self.journal) == self.JOURNAL:
            self.journal.pop(0)
            self.lost += 1
        self.n += 1
        message = self.side.seal(REPORT, self.suite, self.n, plaintext(self.n))
        self.journal.append(Sealed(self.n, self.suite, message))
        self._next_attempt = 0.0
        return self.n

    def packets(self, kind: int, suite: int, n: int, message: bytes) -> list[Packet]:
        """A message in packets from where the meter is now."""
        return protocol.packets(self.address.collector_radio, kind, suite, self.address.name, n, message)

    def tick(self, now: float) -> None:
        if self.journal and now >= self._next_attempt:
            self._next_attempt = now + self.RESEND_S
            oldest = self.journal[0]
            self._send(REPORT, oldest.suite, oldest.n, oldest.message)

    def _send(self, kind: int, suite: int, n: int, message: bytes) -> None:
        for packet in self.packets(kind, suite, n, message):
            self.sent.append(Sent(kind, n, packet.to_bytes()))
            if not self.mute:
                self.radio.send(packet.to_bytes())

    # What it hears.

    def take(self, data: bytes) -> None:
        packet = Packet.parse(data)
        if packet is None:
            return
        self._heard(self, packet)
        if self.deaf or (packet.to, packet.name) != (self.address.radio, self.address.name):
            return
        if packet.kind == ACKNOWLEDGEMENT:
            self._take_acknowledgement(packet)
        elif packet.kind == COMMAND and packet.suite == self.suite:
            message = self._assembly.take(packet)
            opened = message and self.side.open(COMMAND, packet.suite, message)
            if opened and opened[0] & 0xFF == packet.number_lsb:
                self._take_command(*opened)

    def _take_acknowledgement(self, packet: Packet) -> None:
        opened = self.side.open(ACKNOWLEDGEMENT, packet.suite, packet.piece)
        oldest = self.journal[0] if self.journal else None
        if opened and oldest and (oldest.n, oldest.suite, oldest.n & 0xFF) == (opened[0], packet.suite, packet.number_lsb):
            self.journal.pop(0)
            self.acknowledged.append(oldest.n)
            self._next_attempt = 0.0

    def _take_command(self, m: int, plaintext: bytes) -> None:
        said = b""
        if m < self.last_m or (m == self.last_m and plaintext != self.last_command):
            result, said = protocol.NUMBER_TOO_LOW, struct.pack(">I", self.last_m)
        elif m == self.last_m:
            result, said = self.last_result, self._said(plaintext)
        else:
            result, said = self._execute(plaintext)
            self.last_m, self.last_command, self.last_result = m, plaintext, result
            self.executed.append(plaintext)
        self._answer(plaintext[4], protocol.answer(m, result, said))
        if m == self.last_m and result == protocol.DONE and plaintext[4] == protocol.REBOOT:
            self.start(protocol.COMMANDED_REBOOT)

    def _execute(self, plaintext: bytes) -> tuple[int, bytes]:
        code, arguments = plaintext[4], plaintext[5:]
        if not protocol.CONFIGURE <= code <= protocol.REBOOT:
            return protocol.UNKNOWN_CODE, b""
        if not in_range(code, arguments):
            return protocol.OUT_OF_RANGE, b""
        if code == protocol.CONFIGURE:
            self.interval_s, self.suite = struct.unpack(">HB", arguments[:3])
        elif code == protocol.REGISTER:
            self.address = Address(*struct.unpack(">HBB", arguments[:4]))
        return protocol.DONE, self._said(plaintext)

    def _said(self, plaintext: bytes) -> bytes:
        """What a command asked for."""
        if plaintext[4] != protocol.READ_STATUS:
            return b""
        if plaintext[5] == 0:
            return protocol.status_page_0(time_2000(), self.suite, self.interval_s, len(self.journal), self.starts, 160)
        return protocol.status_page_1(self.energy_dwh, 2304, 652, 0, 0)

    def _answer(self, code: int, plaintext: bytes) -> None:
        self.n += 1
        suite = protocol.AES128_GCM if code == protocol.CONFIGURE and self.suite == NONE else self.suite
        message = self.side.seal(ANSWER, suite, self.n, plaintext, self.address)
        self._send(ANSWER, suite, self.n, message)


def in_range(code: int, arguments: bytes) -> bool:
    if code == protocol.CONFIGURE:
        interval_s, suite = struct.unpack(">HB", arguments[:3])
        return interval_s > 0 and suite < len(protocol.SUITES)
    if code == protocol.CALIBRATE:
        voltage_uv, current_ua, phase = struct.unpack(">IIh", arguments[:10])
        steps = all(1 <= step <= 4_000_000 for step in (voltage_uv, current_ua))
        return steps and voltage_uv * current_ua >= 110_000_000 and -256 <= phase <= 256
    if code == protocol.REGISTER:
        return arguments[:2] != b"\0\0"
    if code == protocol.READ_STATUS:
        return arguments[0] <= 1
    return True
