"""What cryptography and firmware cost on microcontrollers: to the cycle, the byte and the microjoule.

Firmware, as a cross-compiler built it, runs on a cycle-accurate model of its microcontroller::

    import wattseal

    machine = wattseal.Machine("stm32f407")
    machine.load("firmware.elf")
    machine.run(until="main")
    done = machine.call("add", 2, 3)
    done.result, done.cycles, done.energy_j

``bench``, ``measure`` and ``reproduce`` give the records that the command ``wattseal`` writes with ``--format json``.
All figures are in SI units, which their names say: ``energy_j`` in joules, ``time_s`` in seconds, ``clock_hz``, ``supply_v``.
"""

from ._native import (
    CallResult,
    Error,
    FaultError,
    Machine,
    Number,
    RunEnd,
    Snapshot,
    Uart,
    UsageError,
    bench,
    ct,
    measure,
    number as _number,
    reproduce,
    targets,
)

__all__ = [
    "CallResult",
    "Error",
    "FaultError",
    "Machine",
    "Number",
    "RunEnd",
    "Snapshot",
    "Uart",
    "UsageError",
    "bench",
    "ct",
    "i8",
    "i16",
    "i32",
    "i64",
    "measure",
    "reproduce",
    "targets",
    "u8",
    "u16",
    "u32",
    "u64",
]


def u8(value):
    """The argument ``value`` as a ``uint8_t``, for a function of which the file does not say what it takes."""
    return _number("u8", value)


def u16(value):
    """The argument ``value`` as a ``uint16_t``."""
    return _number("u16", value)


def u32(value):
    """The argument ``value`` as a ``uint32_t``."""
    return _number("u32", value)


def u64(value):
    """The argument ``value`` as a ``uint64_t``."""
    return _number("u64", value)


def i8(value):
    """The argument ``value`` as an ``int8_t``."""
    return _number("i8", value)


def i16(value):
    """The argument ``value`` as an ``int16_t``."""
    return _number("i16", value)


def i32(value):
    """The argument ``value`` as an ``int32_t``."""
    return _number("i32", value)


def i64(value):
    """The argument ``value`` as an ``int64_t``."""
    return _number("i64", value)
