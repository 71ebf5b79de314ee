"""A collector under attack: the real service as a child, on loopback, in a folder of its own."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

import protocol
from meter import Meter, Network, Radio
from protocol import ACKNOWLEDGEMENT, COMMAND, NONE, SUITES, Assembly, Packet, Provision

# A command that was not answered is sent again after up to half of that.
PATIENCE_S = 40.0
# Between asking the API and asking again: it allows 50 requests a second of one address.
POLL_S = 0.2


Said = TypeVar("Said")


class Broken(Exception):
    """A promise of the protocol that the service did not keep."""


def must(holds: object, otherwise: str) -> None:
    if not holds:
        raise Broken(otherwise)


def calibrate(voltage_uv: int) -> dict:
    return {"calibrate": {"voltage_uv": voltage_uv, "current_ua": 52_000, "phase": 0}}


class Service:
    def __init__(self, wattseal: str, folder: Path) -> None:
        self.wattseal, self.folder = wattseal, folder
        self.database = folder / "wattseal.db"
        self._child: subprocess.Popen | None = None
        self.udp = self.http = ("127.0.0.1", 0)
        self._token = self.command("tokens", "add", "attacks", "--role", "administrator").strip()

    def command(self, *arguments: str) -> str:
        """What a subcommand prints."""
        done = subprocess.run(
            [self.wattseal, *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        if done.returncode != 0:
            raise Broken(f"wattseal {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def images(self, *arguments: str) -> list[Provision]:
        """The flash images that a subcommand of `meters` makes."""
        rows = json.loads(self.command("meters", *arguments, "--images", "images", "--format", "json"))
        return [Provision.from_flash((self.folder / row["flash"]).read_bytes()) for row in rows]

    def start(self, *options: str) -> None:
        with open(self.folder / "log", "ab") as log:
            self._child = subprocess.Popen(
                [self.wattseal, "collect", "--udp", "127.0.0.1:0", "--listen", "127.0.0.1:0", *options],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        told: dict[str, tuple[str, int]] = {}
        late = threading.Timer(PATIENCE_S, self._child.kill)
        late.start()
        for line in self._child.stdout:
            what, _, where = line.strip().partition(" ")
            host, _, port = where.removeprefix("http://").rstrip("/").rpartition(":")
            if port.isdigit():
                told[what] = (host, int(port))
            if {"dashboard", "udp"} <= told.keys():
                break
        late.cancel()
        must({"dashboard", "udp"} <= told.keys(), f"the service did not start: {self.log()[-500:]}")
        self.http, self.udp = told["dashboard"], told["udp"]

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self._child is None:
            return
        child, self._child = self._child, None
        child.send_signal(how)
        try:
            child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            raise Broken("the service did not stop") from None
        finally:
            child.stdout.close()
        must(
            how == signal.SIGKILL or child.returncode == 0,
            f"the service ended with {child.returncode}: {self.log()[-500:]}",
        )

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    # Database and keys: docs/how-to/collector/files.md, "Back up and restore".

    def delete_database(self) -> None:
        for file in self.folder.glob("wattseal.db*"):
            if not file.name.endswith(".lock"):
                file.unlink()
        self._token = self.command("tokens", "add", "attacks", "--role", "administrator").strip()

    def backup(self) -> Path:
        """Also while the service runs."""
        folder = Path(tempfile.mkdtemp(dir=self.folder)) / "backup"
        self.command("backup", str(folder))
        return folder

    def restore_database(self, backup: Path) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.database}{suffix}").unlink(missing_ok=True)
        shutil.copy(backup / self.database.name, self.database)

    def restore_keys(self, backup: Path) -> None:
        shutil.rmtree(self.folder / "wattseal.keys")
        shutil.copytree(backup / "wattseal.keys", self.folder / "wattseal.keys")

    # The API.

    def api(self, method: str, path: str, body: object = None) -> tuple[int, object]:
        connection = http.client.HTTPConnection(*self.http, timeout=PATIENCE_S)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        return answer.status, json.loads(text) if text else None

    def _get(self, path: str) -> object:
        status, said = self.api("GET", path)
        must(status == 200, f"GET {path} ended with {status}: {said}")
        return said

    def readings(self, meter: int) -> list[int]:
        """Powers in watts, oldest first."""
        day = 86_400
        now = int(time.time())
        query = urlencode({"from": now - 30 * day, "to": now + 30 * day, "resolution": "raw", "limit": 10_000})
        return self._get(f"/meters/{meter}/readings?{query}")["power_w"]

    def meter(self, meter: int) -> dict:
        return self._get(f"/meters/{meter}")

    def alerts(self, meter: int) -> list[dict]:
        return self._get(f"/alerts?meter={meter}")

    def causes(self) -> list[str]:
        """Of all alerts, the collector's own among them."""
        return [alert["cause"] for alert in self._get("/alerts")]

    def order(self, meter: int, command: object) -> int:
        status, said = self.api("POST", f"/meters/{meter}/commands", {"command": command})
        must(status == 201, f"the order {command} for meter {meter} ended with {status}: {said}")
        return said["id"]

    def ordered(self, meter: int, order: int) -> dict:
        return next(row for row in self._get(f"/meters/{meter}/commands") if row["id"] == order)

    def withdraw(self, meter: int, order: int) -> None:
        status, said = self.api("DELETE", f"/meters/{meter}/commands/{order}")
        must(status == 200, f"withdrawing order {order} of meter {meter} ended with {status}: {said}")


class CollectorLog:
    """All that the collector sent. A number m has one content, and a nonce one message, as long as the keys are the same."""

    def __init__(self) -> None:
        self.commands: dict[tuple[bytes, int], bytes] = {}  # key128 and m: plaintext
        self._messages: dict[tuple[bytes, bytes], bytes] = {}  # key and nonce: message
        self._assemblies: dict[tuple[bytes, int], Assembly] = {}
        self.repeats: list[str] = []

    def hear(self, meter: Meter, packet: Packet) -> None:
        side, assembly = meter.side, self._assemblies.setdefault((meter.side.key128, packet.suite), Assembly())
        message = assembly.take(packet)
        opened = message and side.open(packet.kind, packet.suite, message)
        if not opened:
            return
        number, plaintext = opened
        if packet.kind == COMMAND:
            known = self.commands.setdefault((side.key128, number), plaintext)
            if known != plaintext:
                self.repeats.append(
                    f"m = {number} of meter {side.meter} went out as {known.hex()} and as {plaintext.hex()}"
                )
        if packet.suite != NONE and (packet.kind == ACKNOWLEDGEMENT or packet.suite not in protocol.CURVES):
            key = side.key256 if packet.suite == protocol.AES256_GCM else side.key128
            nonce = protocol.nonce(packet.kind, packet.suite, side.meter, number, None)
            if self._messages.setdefault((key, nonce), message) != message:
                self.repeats.append(f"nonce {nonce.hex()} sealed two messages")

    def numbers(self, meter: Meter) -> list[int]:
        """All m that the meter's keys were used with, in the order in which they came."""
        return [m for key, m in self.commands if key == meter.side.key128]


class Attacker:
    """Somebody with a radio: sends what it will, and keeps what it hears."""

    def __init__(self, radio: Radio) -> None:
        self.radio, self.heard = radio, []

    def send(self, *packets: bytes | Packet) -> None:
        for packet in packets:
            self.radio.send(packet if isinstance(packet, bytes) else packet.to_bytes())

    def take(self, data: bytes) -> None:
        self.heard.append(Packet.parse(data))

    def tick(self, now: float) -> None:
        pass


class Site:
    """A service with its meters and attackers."""

    def __init__(self, wattseal: str, seed: str, long: bool) -> None:
        self.seed, self.long = seed, long
        self._folder = tempfile.TemporaryDirectory(prefix="wattseal-attack-")
        self.service = Service(wattseal, Path(self._folder.name))
        self.network, self.log = Network(), CollectorLog()
        self._radios: list[Radio] = []

    def close(self) -> None:
        self.service.kill()
        self.network.close()
        self._folder.cleanup()

    def meters(self, *suites: int) -> list[Meter]:
        """Meters 258, 259 and so on, one for each suite, which the service has to be started after."""
        made = []
        for number, suite in enumerate(suites, 258):
            made += self.service.images("provision", str(number), "--suite", SUITES[suite], "--interval", "10")
        return [self.add(provision) for provision in made]

    def add(self, provision: Provision) -> Meter:
        """A meter as its maker's image makes it."""
        meter = Meter(provision, self._radio(), self.log.hear)
        self.network.add(meter)
        return meter

    def attacker(self) -> Attacker:
        attacker = Attacker(self._radio())
        self.network.add(attacker)
        return attacker

    def _radio(self) -> Radio:
        radio = Radio(self.service.udp)
        self._radios.append(radio)
        return radio

    def start(self, *options: str) -> None:
        self.service.start(*options)
        for radio in self._radios:
            radio.move(self.service.udp)

    # What must go on.

    def report(self, *meters: Meter, power_w: int) -> None:
        """A measurement of each is acknowledged, and stored."""
        for meter in meters:
            meter.measure(power_w)
        for meter in meters:
            taken = self.network.until(lambda: not meter.journal, PATIENCE_S)
            must(taken, f"a report of meter {meter.number} ({SUITES[meter.suite]}) is not acknowledged")
            stored = self.service.readings(meter.number)
            must(power_w in stored, f"a report of meter {meter.number} was acknowledged and is not stored: {stored}")

    def start_meters(self, *meters: Meter) -> None:
        for meter in meters:
            meter.start()
        self.report(*meters, power_w=1)

    def polled(self, ask: Callable[[], Said], enough: Callable[[Said], object]) -> Said:
        """What the API says once that is enough, or when patience ends; the network runs meanwhile."""
        end = time.monotonic() + PATIENCE_S
        while not enough(said := ask()) and time.monotonic() < end:
            self.network.run(POLL_S)
        return said

    def refused(self, meter: Meter, at_least: int) -> int:
        """How many packets of a meter were looked at and refused, which the API does not know at once."""
        link = self.polled(lambda: self.service.meter(meter.number)["link"], lambda link: link["refused"] >= at_least)
        return link["refused"]

    def is_done(self, meter: Meter, order: int) -> None:
        """An order ends, and is done."""
        row = self.polled(lambda: self.service.ordered(meter.number, order), lambda row: row["ended_s"])
        what, how = row["command"], f"{row['state']} after {row['attempts']} attempts, answer {row['answer']}"
        must(row["state"] == "done", f"meter {meter.number} ({SUITES[meter.suite]}): {what} is not done, but {how}")

    def burst(self, *meters: Meter, orders: int) -> None:
        """Each meter does so many calibrations, one after the other."""
        ordered = [
            (meter, self.service.order(meter.number, calibrate(100_000 + i))) for i in range(orders) for meter in meters
        ]
        for meter, number in ordered[-len(meters) :]:
            self.is_done(meter, number)

    def command(self, *meters: Meter, voltage_uv: int) -> None:
        """A calibration of each is done, and it is the meter that did it."""
        ordered = [(meter, self.service.order(meter.number, calibrate(voltage_uv))) for meter in meters]
        for meter, number in ordered:
            self.is_done(meter, number)
            did = [plaintext[5:9] for plaintext in meter.executed if plaintext[4] == protocol.CALIBRATE]
            true = did[-1:] == [voltage_uv.to_bytes(4, "big")]
            must(true, f"an order for meter {meter.number} is shown as done, and was not carried out")
