"""Attacks in which the database is deleted, or is an older copy, or its service is killed."""

from __future__ import annotations

import time

import protocol
from protocol import Address
from service import PATIENCE_S, Site, calibrate, must
from steps import FORGED_W, NOTHING_S, SEALED, configure, register


def database_deleted(site: Site) -> None:
    """Meters of all suites take more commands than there are seconds, the database is deleted, the keys stay. No m comes
    again; commands go on."""
    meters = site.meters(*SEALED)
    site.start()
    site.start_meters(*meters)
    site.burst(*meters, orders=12)
    site.service.stop()
    site.service.delete_database()
    site.start()
    causes = site.polled(site.service.causes, lambda causes: "restored" in causes)
    must("restored" in causes, f"no alert says that the database does not know keys that were used: {causes}")
    site.report(*meters, power_w=2)
    site.command(*meters, voltage_uv=222_222)


def database_of_before(site: Site) -> None:
    """The database is replaced by a copy that is older than the last commands and reports. No m comes again; commands
    and reports go on."""
    meters = site.meters(*SEALED)
    site.start()
    site.start_meters(*meters)
    site.command(*meters, voltage_uv=111_111)
    site.service.stop()
    backup = site.service.backup()
    site.start()
    site.report(*meters, power_w=2)
    site.command(*meters, voltage_uv=222_222)
    site.service.stop()
    site.service.restore_database(backup)
    site.start()
    site.report(*meters, power_w=3)
    site.command(*meters, voltage_uv=333_333)


def backup_restored_under_load(site: Site) -> None:
    """A backup is taken while reports and commands come, the service is killed later, the backup restored while the
    meters go on. What was acknowledged before the backup is there, no m comes again, commands and reports go on."""
    meters = site.meters(*SEALED)
    site.start()
    site.start_meters(*meters)
    power_w = 100

    def load(rounds: int) -> None:
        nonlocal power_w
        for _ in range(rounds):
            power_w += 1
            for meter in meters:
                meter.measure(power_w)
            site.network.run(0.03)

    def order(voltage_uv: int) -> None:
        for meter in meters:
            site.service.order(meter.number, calibrate(voltage_uv))

    order(111_111)
    load(15)
    before = {meter.number: range(101, 116 - len(meter.journal)) for meter in meters}
    backup = site.service.backup()
    order(222_222)
    load(15)
    site.service.kill()
    site.service.restore_database(backup)
    load(2)
    site.start()
    load(5)
    site.report(*meters, power_w=3)
    site.command(*meters, voltage_uv=333_333)
    for meter in meters:
        lost = set(before[meter.number]) - set(site.service.readings(meter.number))
        must(
            not lost,
            f"meter {meter.number}: {sorted(lost)} W were acknowledged before the backup, and are lost with it",
        )


def database_and_keys_of_before(site: Site) -> None:
    """Database and keys both become copies that are older than the last commands: nothing but time has gone on since. No
    m comes again; commands and reports go on."""
    meters = site.meters(*SEALED)
    site.start()
    site.start_meters(*meters)
    site.command(*meters, voltage_uv=111_111)
    site.service.stop()
    backup = site.service.backup()
    for voltage_uv in (222_222, 333_333):
        site.start()
        site.report(*meters, power_w=2)
        site.command(*meters, voltage_uv=voltage_uv)
        site.service.stop()
    site.service.restore_database(backup)
    site.service.restore_keys(backup)
    # More seconds than commands.
    time.sleep(3)
    site.start()
    site.report(*meters, power_w=3)
    site.command(*meters, voltage_uv=444_444)


def database_of_before_new_keys(site: Site) -> None:
    """A meter gets new keys, and the database becomes one of before. The new keys are used from now on, the old ones
    are not heard, and no m comes again under either."""
    (meter,) = site.meters(protocol.AES128_GCM)
    site.start()
    site.start_meters(meter)
    site.command(meter, voltage_uv=111_111)
    site.service.stop()
    backup = site.service.backup()
    (provision,) = site.service.images("rotate", str(meter.number))
    site.start()
    again = site.add(provision)
    site.start_meters(again)
    site.command(again, voltage_uv=222_222)
    site.service.stop()
    site.service.restore_database(backup)
    site.start()
    site.report(again, power_w=4)
    site.command(again, voltage_uv=333_333)
    meter.measure(FORGED_W)
    site.network.run(NOTHING_S)
    must(meter.journal, "a report under the keys of before was acknowledged")


def setup_changed_since_the_copy(site: Site) -> None:
    """Meters get other suites, of higher and of lower rank, and another name; then the database becomes one of before.
    All of them are heard and commanded as they are now."""
    up, down, renamed = meters = site.meters(protocol.AES128_GCM, protocol.ECIES_ECDSA, protocol.AES256_GCM)
    site.start()
    site.start_meters(*meters)
    site.service.stop()
    backup = site.service.backup()
    site.start()
    site.report(*meters, power_w=2)
    for meter, order in (
        (up, configure(protocol.ECIES_ECDSA)),
        (down, configure(protocol.AES128_GCM)),
        (renamed, register(Address(0x0304, 0x55, renamed.address.collector_radio))),
    ):
        site.is_done(meter, site.service.order(meter.number, order))
    site.report(*meters, power_w=3)
    site.service.stop()
    site.service.restore_database(backup)
    site.start()
    site.report(*meters, power_w=4)
    site.command(*meters, voltage_uv=333_333)


def killed_after_an_acknowledgement(site: Site) -> None:
    """The service is killed as soon as a meter has its acknowledgement. The reading is there after the next start, each
    time."""
    meters = site.meters(protocol.AES128_GCM, protocol.ECIES_ECDSA)
    site.start()
    said: dict[int, list[int]] = {meter.number: [] for meter in meters}
    for turn in range(40 if site.long else 10):
        for meter in meters:
            meter.measure(10 + turn)
        got = len(meters[0].acknowledged), len(meters[1].acknowledged)
        acknowledged = site.network.until(
            lambda: any(len(m.acknowledged) > g for m, g in zip(meters, got, strict=True)), PATIENCE_S
        )
        site.service.kill()
        must(acknowledged, "no report is acknowledged")
        for meter in meters:
            said[meter.number] = list(range(10, 10 + turn + 1 - len(meter.journal)))
        site.start()
        for meter in meters:
            stored = site.service.readings(meter.number)
            lost = set(said[meter.number]) - set(stored)
            must(not lost, f"meter {meter.number} has acknowledgements for {sorted(lost)} W, stored is {stored}")
            must(len(set(stored)) == len(stored), f"meter {meter.number} has readings that came twice: {stored}")
