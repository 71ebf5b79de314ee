"""Steps that attacks share: orders, forged messages, and looks at what came of them."""

from __future__ import annotations

import protocol
from meter import Meter, time_2000
from protocol import ACKNOWLEDGEMENT, ANSWER, NONE, REPORT, SUITES, Address, Packet
from service import PATIENCE_S, Attacker, Site, must

SEALED = tuple(range(1, len(SUITES)))
# A forged reading: no meter here measures it.
FORGED_W = 30_000
# Lets meters with `none` in where there are others that seal.
ALLOW_NONE = "--require-sealed=false"
# For how long what must not happen is waited for.
NOTHING_S = 1.2


def configure(suite: int) -> dict:
    return {"configure": {"interval_s": 10, "suite": SUITES[suite]}}


def register(address: Address) -> dict:
    return {"register": {"meter": address.name, "address": address.radio, "collector_address": address.collector_radio}}


def keyless_report(meter: Meter, n: int, power_w: int = FORGED_W) -> list[Packet]:
    plaintext = protocol.measurement(n, time_2000(), 1, power_w)
    return meter.packets(REPORT, NONE, n, plaintext)


def keyless_answer(meter: Meter, n: int, m: int, result: int, said: bytes = b"") -> list[Packet]:
    plaintext = protocol.answer(m, result, said)
    return meter.packets(ANSWER, NONE, n, plaintext)


def sent_to(site: Site, meter: Meter, code: int) -> int:
    """The number of the last command of a code, once it went out."""

    def numbers() -> list[int]:
        return [m for m in site.log.numbers(meter) if site.log.commands[meter.side.key128, m][4] == code]

    must(site.network.until(numbers, PATIENCE_S), f"no command {code} goes out to meter {meter.number}")
    return numbers()[-1]


def nothing_is_taken(site: Site, attacker: Attacker, what: str, *meters: Meter) -> None:
    """What the attacker sent as these meters is neither acknowledged nor stored."""
    site.network.run(NOTHING_S)
    said = sorted({(packet.name, packet.number_lsb) for packet in attacker.heard if packet.kind == ACKNOWLEDGEMENT})
    must(not said, f"{what} was acknowledged: meters with the lowest byte of n {said}")
    for meter in meters:
        must(FORGED_W not in site.service.readings(meter.number), f"{what} was stored: meter {meter.number}")


def alerts_since(site: Site, meter: Meter, before: list[dict]) -> list[str]:
    known = {alert["id"] for alert in before}
    return [alert["cause"] for alert in site.service.alerts(meter.number) if alert["id"] not in known]
