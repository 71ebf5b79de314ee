#!/usr/bin/python3
"""Attacks the collector's service by meters, attackers and bad days that speak the protocol from its document alone.

Each attack is a function: its text says what is done and what must hold. One that gets somewhere is named, with what
did not hold.
"""

from __future__ import annotations

import argparse
import os
import random
import struct
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import databases
import protocol
from meter import Meter, time_2000
from protocol import ANSWER, NONE, REPORT, SUITES, Address, Packet
from service import PATIENCE_S, Broken, Site, calibrate, must
from steps import (
    ALLOW_NONE,
    FORGED_W,
    NOTHING_S,
    SEALED,
    alerts_since,
    configure,
    keyless_answer,
    keyless_report,
    nothing_is_taken,
    register,
    sent_to,
)

# Suites.


def order_for_none_is_pending(site: Site) -> None:
    """While `configure none` is on its way, reports and an answer without keys are neither stored nor acknowledged nor
    believed; then the true meter takes it, and is heard without keys."""
    meters = site.meters(protocol.AES128_GCM, protocol.ECIES_ECDSA)
    site.start(ALLOW_NONE)
    site.start_meters(*meters)
    for meter in meters:
        meter.deaf = True
        order = site.service.order(meter.number, configure(NONE))
        m = sent_to(site, meter, protocol.CONFIGURE)
        attacker = site.attacker()
        attacker.send(*keyless_report(meter, meter.n + 1), *keyless_answer(meter, meter.n + 2, m, protocol.DONE))
        attacker.send(*keyless_report(meter, meter.n + 3))
        nothing_is_taken(site, attacker, "a keyless report while `configure none` is pending", meter)
        state = site.service.ordered(meter.number, order)["state"]
        must(state == "sent", f"a keyless answer made the order {state}")
        meter.deaf = False
        site.report(meter, power_w=2)
        site.is_done(meter, order)
        must(meter.suite == NONE, "the order is done, and not by the meter")
        site.report(meter, power_w=3)


def order_for_none_is_withdrawn(site: Site) -> None:
    """`configure none` goes out, is not heard, and is withdrawn. A report without keys is neither stored nor
    acknowledged, and the true meter is served, at once and later."""
    meters = site.meters(protocol.AES128_GCM, protocol.ECIES_ECDSA)
    site.start(ALLOW_NONE)
    site.start_meters(*meters)
    for meter in meters:
        meter.deaf = True
        order = site.service.order(meter.number, configure(NONE))
        sent_to(site, meter, protocol.CONFIGURE)
        site.service.withdraw(meter.number, order)
        attacker = site.attacker()
        attacker.send(*keyless_report(meter, meter.n + 1))
        nothing_is_taken(site, attacker, "a keyless report after `configure none` was withdrawn", meter)
        meter.deaf = False
        site.report(meter, power_w=2)
        site.command(meter, voltage_uv=222_222)
        attacker.send(*keyless_report(meter, meter.n + 1))
        nothing_is_taken(site, attacker, "a keyless report long after `configure none` was withdrawn", meter)
        site.report(meter, power_w=3)


def takes_its_order_unheard(site: Site, meter: Meter, suite: int) -> int:
    """An order for a suite that the meter carries out, and whose first answer is lost."""
    order = site.service.order(meter.number, configure(suite))
    meter.mute = True
    taken = site.network.until(lambda: meter.suite == suite, PATIENCE_S)
    must(taken, f"configure {SUITES[suite]} does not come to meter {meter.number}")
    return order


def first_answer_is_lost(site: Site) -> None:
    """Meters carry out a change of suite, up and down and to none; the first answer is lost, and they measure before the
    second one. That measurement is stored, and all later ones."""
    changes = {
        protocol.AES128_GCM: NONE,
        protocol.AES256_GCM: protocol.ECIES_ECDSA,
        protocol.ECIES: protocol.AES128_GCM,
        protocol.ECIES_ECDSA: protocol.ASCON_AEAD128,
        protocol.ASCON_AEAD128: protocol.AES256_GCM,
    }
    meters = site.meters(*changes)
    site.start(ALLOW_NONE)
    site.start_meters(*meters)
    for meter, suite in zip(meters, changes.values(), strict=True):
        order = takes_its_order_unheard(site, meter, suite)
        meter.measure(2)
        meter.mute = False
        site.is_done(meter, order)
    site.report(*meters, power_w=3)
    for meter in meters:
        must(2 in site.service.readings(meter.number), "a report was acknowledged and is not stored")


def order_for_none_is_withdrawn_too_late(site: Site) -> None:
    """The meter has carried out `configure none`, its answer is lost, and the order is withdrawn. What it says without keys
    is not taken. It can be told to seal again, and is heard when that is out of its journal."""
    meters = site.meters(protocol.AES128_GCM, protocol.ECIES_ECDSA)
    site.start(ALLOW_NONE)
    site.start_meters(*meters)
    for meter in meters:
        site.service.withdraw(meter.number, takes_its_order_unheard(site, meter, NONE))
        meter.mute = False
        meter.measure(FORGED_W)
    site.network.run(NOTHING_S)
    for meter in meters:
        must(
            FORGED_W not in site.service.readings(meter.number),
            "a keyless report after the order was withdrawn is stored",
        )
        site.is_done(meter, site.service.order(meter.number, configure(meter.provision.suite)))
        for _ in range(Meter.JOURNAL):
            meter.measure(2)
    site.report(*meters, power_w=3)


def upwards_from_none(site: Site) -> None:
    """A meter with `none` is to seal. An answer that anybody could make does not end the order; once the true meter has
    taken it, nothing without keys is taken."""
    (meter,) = site.meters(NONE)
    site.start(ALLOW_NONE)
    site.start_meters(meter)
    meter.deaf = True
    order = site.service.order(meter.number, configure(protocol.AES128_GCM))
    m = sent_to(site, meter, protocol.CONFIGURE)
    attacker = site.attacker()
    attacker.send(*keyless_answer(meter, meter.n + 1, m, protocol.DONE))
    site.network.run(NOTHING_S)
    state = site.service.ordered(meter.number, order)["state"]
    must(state == "sent", f"an answer without keys made the order {state}")
    meter.deaf = False
    site.is_done(meter, order)
    must(meter.suite == protocol.AES128_GCM, "the order is done, and not by the meter")
    site.report(meter, power_w=2)
    attacker.send(*keyless_report(meter, meter.n + 10))
    nothing_is_taken(site, attacker, "a keyless report of a meter that seals", meter)
    site.report(meter, power_w=3)


def sealed_is_required(site: Site) -> None:
    """With --require-sealed, and without it where any meter was provisioned to seal, reports in `none` are neither stored
    nor acknowledged, an order for `none` is refused, and what is sealed goes on."""
    plain, sealed = site.meters(NONE, protocol.AES128_GCM)
    attacker = site.attacker()
    plain.measure(FORGED_W)
    for options in (("--require-sealed",), ()):
        site.start(*options)
        site.start_meters(sealed)
        attacker.send(*keyless_report(plain, 7), *keyless_report(sealed, sealed.n + 1))
        nothing_is_taken(site, attacker, f"with {options}, a keyless report", plain, sealed)
        must(plain.journal, "a keyless report was acknowledged")
        status, said = site.service.api("POST", f"/meters/{sealed.number}/commands", {"command": configure(NONE)})
        must(400 <= status < 500, f"with {options}, an order for `none` ended with {status}: {said}")
        site.report(sealed, power_w=2)
        site.service.stop()


# Names.


def names_are_rewritten(site: Site) -> None:
    """While `register` is on its way, and after it was withdrawn, true reports of the meter come with the new name in
    their header. That moves no meter: it is heard and commanded under the name that it has."""
    meters = site.meters(protocol.AES128_GCM, protocol.ECIES_ECDSA)
    site.start()
    site.start_meters(*meters)
    attacker, orders = site.attacker(), {}
    for meter in meters:
        meter.deaf = True
        elsewhere = Address(0x0300 + meter.number, 0x55, meter.address.collector_radio)
        orders[meter.number] = site.service.order(meter.number, register(elsewhere))
    for meter in meters:
        sent_to(site, meter, protocol.REGISTER)
    for withdrawn in (False, True):
        for meter in meters:
            if withdrawn:
                site.service.withdraw(meter.number, orders[meter.number])
            meter.measure(2 + withdrawn)
            newest = meter.journal[-1]
            packets = meter.packets(REPORT, newest.suite, newest.n, newest.message)
            attacker.send(*[replace(packet, name=0x0300 + meter.number) for packet in packets])
        site.network.run(0.5)
        for meter in meters:
            state = site.service.ordered(meter.number, orders[meter.number])["state"]
            must(state == ("withdrawn" if withdrawn else "sent"), f"a name in a header made the order {state}")
    for meter in meters:
        meter.deaf = False
    site.report(*meters, power_w=4)
    site.command(*meters, voltage_uv=222_222)
    for meter in meters:
        must(meter.address.name == meter.number, "the meter has the name of the order that was withdrawn")
        said = [Packet.parse(sent.packet) for sent in meter.sent if sent.kind == REPORT]
        attacker.send(*[replace(packet, name=0x0300 + meter.number) for packet in said])
    site.report(*meters, power_w=5)
    site.command(*meters, voltage_uv=333_333)


def old_answers_are_replayed(site: Site) -> None:
    """A meter is registered elsewhere and back. Its answer to the first order, sent again, moves it no more, and ends no
    other order."""
    (meter,) = site.meters(protocol.AES128_GCM)
    site.start()
    site.start_meters(meter)
    home, elsewhere = meter.address, Address(0x0304, 0x55, meter.address.collector_radio)
    for address in (elsewhere, home):
        site.is_done(meter, site.service.order(meter.number, register(address)))
        must(meter.address == address, "a register is shown as done, and was not carried out")
        site.report(meter, power_w=2)
    answers = [sent.packet for sent in meter.sent if sent.kind == ANSWER]
    attacker = site.attacker()
    meter.deaf = True
    order = site.service.order(meter.number, {"read-status": {"page": 0}})
    sent_to(site, meter, protocol.READ_STATUS)
    for _ in range(3):
        attacker.send(*answers)
        site.network.run(0.2)
    state = site.service.ordered(meter.number, order)["state"]
    must(state == "sent", f"an old answer made an order {state}")
    meter.deaf = False
    site.report(meter, power_w=3)
    site.is_done(meter, order)
    site.command(meter, voltage_uv=222_222)


def answers_are_changed(site: Site) -> None:
    """The answer to a command comes with each of its bits changed in turn. None ends the order; the true one does."""
    meters = site.meters(*SEALED)
    site.start()
    site.start_meters(*meters)
    attacker = site.attacker()
    for meter in meters:
        meter.deaf = True
        order = site.service.order(meter.number, {"read-status": {"page": 0}})
        m = sent_to(site, meter, protocol.READ_STATUS)
        meter.n += 1
        said = protocol.answer(m, protocol.DONE, protocol.status_page_0(time_2000(), meter.suite, 10, 0, 1, 160))
        message = meter.side.seal(ANSWER, meter.suite, meter.n, said, meter.address)
        (packet,) = meter.packets(ANSWER, meter.suite, meter.n, message)
        true = int.from_bytes(packet.to_bytes(), "big")
        bits = 8 * len(packet.to_bytes())
        for bit in range(bits):
            attacker.send((true ^ 1 << bit).to_bytes(bits // 8, "big"))
            site.network.run(0.001)
        site.network.run(0.2)
        state = site.service.ordered(meter.number, order)["state"]
        must(state == "sent", f"{SUITES[meter.suite]}: an answer with a bit changed made the order {state}")
        attacker.send(packet)
        site.is_done(meter, order)


# Numbers.


def meter_is_ahead(site: Site) -> None:
    """A meter's last m is far above what the collector gives out. Its answers with result 3 are learned from: the order
    is done, by the meter, with a number above. An answer without keys that says so is not."""
    meters = site.meters(*SEALED)
    site.start()
    for meter in meters:
        meter.last_m, meter.last_command = time_2000() + 500_000_000, protocol.command(0, protocol.REBOOT)
    site.start_meters(*meters)
    first = meters[0]
    first.deaf = True
    order = site.service.order(first.number, {"read-status": {"page": 1}})
    m = sent_to(site, first, protocol.READ_STATUS)
    too_high = struct.pack(">I", 0xFFFF_FFF0)
    site.attacker().send(*keyless_answer(first, first.n + 1, m, protocol.NUMBER_TOO_LOW, too_high))
    site.network.run(0.3)
    first.deaf = False
    site.report(first, power_w=2)
    site.is_done(first, order)
    site.command(*meters, voltage_uv=222_222)
    for meter in meters:
        must("command-numbers" in alerts_since(site, meter, []), "no alert says that a meter knows higher numbers")
        highest = max(site.log.numbers(meter))
        must(highest < 0xFFFF_FFF0, f"m = {highest} was learned from an answer without keys")


def known_m_with_other_bytes(site: Site) -> None:
    """A meter has carried out another command under the m that the collector uses now. It does nothing and says so; the
    order is not shown as done before the meter has done it, with another m."""
    meters = site.meters(protocol.AES128_GCM, protocol.ECIES_ECDSA)
    site.start()
    site.start_meters(*meters)
    for meter in meters:
        meter.deaf = True
        order = site.service.order(meter.number, calibrate(222_222))
        m = sent_to(site, meter, protocol.CALIBRATE)
        meter.last_m, meter.last_command = m, protocol.command(m, protocol.REBOOT)
        meter.deaf = False
        site.report(meter, power_w=2)
        site.is_done(meter, order)
        must(
            [p[4] for p in meter.executed].count(protocol.CALIBRATE) == 1,
            "an order is shown as done, and was not carried out",
        )


def memory_written_again(site: Site) -> None:
    """A meter's EEPROM is written again with its maker's image, so that n begins anew. What comes under a known n with
    other contents is not acknowledged, and an alert says so, also where the service started meanwhile."""
    meters = site.meters(protocol.AES128_GCM, protocol.ECIES_ECDSA)
    site.start()
    for meter in meters:
        for _ in range(3):
            meter.start()
    site.report(*meters, power_w=2)
    for restarted in (False, True):
        if restarted:
            site.service.stop()
            site.start()
        for meter in meters:
            before = site.service.alerts(meter.number)
            again = site.add(meter.provision)
            again.measure(FORGED_W)
            site.network.run(NOTHING_S)
            must(again.journal, f"{SUITES[meter.suite]}: another report under a known n was acknowledged")
            causes = alerts_since(site, meter, before)
            must(
                "number-reused" in causes,
                f"{SUITES[meter.suite]}: another report under a known n is no alert: {causes}",
            )
            again.journal.clear()
        site.report(*meters, power_w=3 + restarted)


def starts_counted_again(site: Site) -> None:
    """A meter's EEPROM is written again, and its n is above all known ones by chance: its alert says fewer starts than
    before. That is an alert; starts that go on are none."""
    meters = site.meters(protocol.AES128_GCM, protocol.ECIES_ECDSA)
    site.start()
    for meter in meters:
        for _ in range(3):
            meter.start()
    site.report(*meters, power_w=2)
    for meter in meters:
        causes = alerts_since(site, meter, [])
        must(causes == ["power-on"] * 3, f"{SUITES[meter.suite]}: three starts made the alerts {causes}")
        before = site.service.alerts(meter.number)
        meter.starts = 0
        meter.start()
        site.report(meter, power_w=3)
        causes = alerts_since(site, meter, before)
        must("number-reused" in causes, f"{SUITES[meter.suite]}: starts that begin again are no alert: {causes}")


# Forgeries.


def signature_over_anothers_ciphertext(site: Site) -> None:
    """The owner of one meter signs, as that meter, the ciphertext of another one's report. Nothing of what it said is
    stored as the owner's reading."""
    victim, owned = site.meters(protocol.ECIES_ECDSA, protocol.ECIES_ECDSA)
    site.start()
    site.start_meters(owned)
    victim.n = owned.n + 10
    site.start_meters(victim)
    n = victim.n + 1
    said = protocol.measurement(n, time_2000(), 77, FORGED_W)
    context = owned.side.context(REPORT, protocol.ECIES_ECDSA, protocol.public_of(owned.side.private), owned.side.peer)
    opens_to = said
    # It opens to noise, in which one in 256 has the number's lowest byte where it has to be: taken as what it is, because its owner may
    # sign any. That is no report of the other's, so it is not one of these.
    while opens_to[3] == n & 0xFF:
        ephemeral = protocol.random_private()
        report = victim.side.seal(REPORT, protocol.ECIES_ECDSA, n, said, ephemeral=ephemeral)
        key = protocol.derive(protocol.shared_secret(ephemeral, victim.side.peer), 16, report[:64] + context)
        opens_to = protocol.counter_mode(key, report[64:80])
    stolen = report[:80] + protocol.sign(owned.side.private, report[:80] + context)
    attacker = site.attacker()
    attacker.send(*owned.packets(REPORT, protocol.ECIES_ECDSA, n, stolen))
    nothing_is_taken(site, attacker, "the report of another meter under the signature", owned)
    site.service.stop()
    site.service.command("audit")
    site.start()
    owned.n += 1
    site.report(owned, power_w=2)


def flip(packets: list[bytes], random: random.Random) -> list[bytes]:
    which = random.randrange(len(packets))
    bit = random.randrange(8 * len(packets[which]))
    changed = bytearray(packets[which])
    changed[bit // 8] ^= 1 << bit % 8
    return packets[:which] + [bytes(changed)] + packets[which + 1 :]


def cut(packets: list[bytes], random: random.Random) -> list[bytes]:
    which = random.randrange(len(packets))
    length = random.choice([random.randrange(1, len(packets[which])), len(packets[which]) - 1])
    return packets[:which] + [packets[which][:length]] + packets[which + 1 :]


def stretch(packets: list[bytes], random: random.Random) -> list[bytes]:
    which = random.randrange(len(packets))
    longer = packets[which] + random.randbytes(random.randrange(1, 4))
    return packets[:which] + [longer] + packets[which + 1 :]


def relabel(packets: list[bytes], random: random.Random) -> list[bytes]:
    """Another kind and suite; the pieces stay."""
    label = packets[0][1] >> 3
    other = random.choice([kind << 3 | suite for kind in range(4) for suite in range(len(SUITES)) if kind << 3 | suite != label])
    return [packet[:1] + bytes([other << 3 | packet[1] & 7]) + packet[2:] for packet in packets]


def scramble(packets: list[bytes], random: random.Random) -> list[bytes]:
    """A header that is right, and nothing else."""
    return [packet[:5] + random.randbytes(len(packet) - 5) for packet in packets]


def forged_and_changed(site: Site) -> None:
    """Thousands of packets of all sealed suites: bits changed, cut, longer, with other labels, random, replayed, a
    signature in its other form. Nothing is stored or acknowledged but what the meters said, once; they are served
    meanwhile and afterwards."""
    rng = random.Random(site.seed)
    meters = site.meters(*SEALED)
    site.start()
    site.start_meters(*meters)
    said = {meter.number: [1] for meter in meters}
    forger, replayer = site.attacker(), site.attacker()
    for turn in range(3_000 if site.long else 750):
        for meter in meters:
            change = rng.choice((flip, flip, flip, cut, stretch, relabel, scramble))
            meter.n += 1
            n = meter.n
            plaintext = protocol.measurement(n, time_2000(), n, FORGED_W)
            message = meter.side.seal(REPORT, meter.suite, n, plaintext)
            whole = meter.packets(REPORT, meter.suite, n, message)
            forger.send(*change([packet.to_bytes() for packet in whole], rng))
            if turn % 50 == 0:
                replayer.send(*[sent.packet for sent in rng.sample(meter.sent, min(5, len(meter.sent)))])
        site.network.run(0.004)
        if turn % 250 == 249:
            site.report(*meters, power_w=turn)
            for meter in meters:
                said[meter.number].append(turn)
    # The other form of a signature that is true: the same report, once.
    signed = meters[-1]
    n = signed.acknowledged[-1]
    packets = [sent.packet for sent in signed.sent if (sent.kind, sent.n) == (REPORT, n)][:3]
    message = b"".join(packet[5:] for packet in packets)
    other_s = protocol.ORDER - int.from_bytes(message[-32:], "big")
    other = message[:-32] + other_s.to_bytes(32, "big")
    alerts = len(site.service.alerts(signed.number))
    replayer.send(*signed.packets(REPORT, signed.suite, n, other))
    site.report(*meters, power_w=5)
    must(len(site.service.alerts(signed.number)) == alerts, "the other form of a signature made an alert")
    for meter in meters:
        stored = site.service.readings(meter.number)
        must(
            sorted(stored) == sorted([*said[meter.number], 5]),
            f"meter {meter.number} said {said[meter.number]}, stored is {stored}",
        )
        refused = site.refused(meter, at_least=100)
        must(refused >= 100, f"of the forged packets of meter {meter.number} only {refused} were looked at")
    nothing_is_taken(site, forger, "a forged report", *meters)


def keyless_flood(site: Site) -> None:
    """Thousands of packets without keys, under names that there are and that there are not. Nothing is stored or
    acknowledged, and the meters are served."""
    rng = random.Random(site.seed)
    meters = site.meters(*SEALED)
    site.start()
    site.start_meters(*meters)
    attacker = site.attacker()
    for turn in range(20_000 if site.long else 4_000):
        n = rng.randrange(1, 2**32)
        kind = rng.choice((REPORT, REPORT, ANSWER))
        plaintext = protocol.measurement(n, time_2000(), 1, FORGED_W)
        victim = rng.choice(meters)
        name = rng.choice((victim.address.name, rng.randrange(0x10000)))
        attacker.send(*protocol.packets(victim.address.collector_radio, kind, NONE, name, n, plaintext))
        if turn % 1000 == 500:
            site.report(*meters, power_w=turn)
        elif turn % 40 == 0:
            site.network.run(0.002)
    nothing_is_taken(site, attacker, "a keyless report", *meters)
    site.report(*meters, power_w=2)
    site.command(*meters, voltage_uv=222_222)


# The slow ones first.
ATTACKS: tuple[Callable[[Site], None], ...] = (
    names_are_rewritten,
    forged_and_changed,
    known_m_with_other_bytes,
    databases.database_deleted,
    databases.database_of_before,
    databases.backup_restored_under_load,
    databases.database_and_keys_of_before,
    databases.database_of_before_new_keys,
    databases.setup_changed_since_the_copy,
    order_for_none_is_pending,
    order_for_none_is_withdrawn,
    order_for_none_is_withdrawn_too_late,
    first_answer_is_lost,
    upwards_from_none,
    sealed_is_required,
    old_answers_are_replayed,
    answers_are_changed,
    meter_is_ahead,
    memory_written_again,
    starts_counted_again,
    signature_over_anothers_ciphertext,
    keyless_flood,
    databases.killed_after_an_acknowledgement,
)


def run(attack: Callable[[Site], None], arguments: argparse.Namespace) -> str | None:
    """What did not hold."""
    site = Site(arguments.wattseal, f"{arguments.seed} {attack.__name__}", arguments.long)
    try:
        attack(site)
        must(not site.log.repeats, "; ".join(site.log.repeats[:3]))
    except Broken as broken:
        # A number that came again is the cause of what went wrong after it.
        return "; ".join([str(broken), *site.log.repeats[:3]])
    except Exception:
        return traceback.format_exc() + site.service.log()[-2000:]
    finally:
        site.close()
    return None


def timed(attack: Callable[[Site], None], arguments: argparse.Namespace) -> bool:
    begin = time.monotonic()
    broken = run(attack, arguments)
    took = f"{time.monotonic() - begin:.1f} s"
    print(
        f"FAILED  {attack.__name__}: {broken} ({took})" if broken else f"ok      {attack.__name__} ({took})", flush=True
    )
    return broken is None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wattseal", required=True, metavar="FILE", help="the program whose service is attacked")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"), help="of what is random")
    parser.add_argument("--long", action="store_true", help="with more of what is random")
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="attacks at the same time [default: 4]")
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help="[default: all]")
    arguments = parser.parse_args()
    arguments.wattseal = os.path.abspath(arguments.wattseal)
    known = {attack.__name__: attack for attack in ATTACKS}
    if unknown := set(arguments.attacks) - known.keys():
        parser.error(f"there are no attacks {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    chosen = [known[name] for name in arguments.attacks] or list(ATTACKS)
    print(f"seed {arguments.seed}", flush=True)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        held = list(pool.map(lambda attack: timed(attack, arguments), chosen))
    print(f"{sum(held)} of {len(held)} attacks came to nothing")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
