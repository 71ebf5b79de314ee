"""What cryptography and firmware cost on microcontrollers: to the cycle, the byte and the microjoule."""

import os
from collections.abc import Callable, Iterable
from typing import Any, final

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

_Path = str | os.PathLike[str]
_Names = str | Iterable[str]
_Quantity = str | int | float
_Place = str | int
_Argument = int | str | Number | tuple[_Place, bytes]

class Error(Exception):
    """Failure for which the command would end with exit code 1, with the same text.

    Where there are rows all the same (a run that ended early, outputs that are wrong), they are its ``records``.
    """

    records: list[dict[str, Any]]

class UsageError(Error):
    """Something was asked for that cannot be: an unknown name, a clock that the data sheet does not allow."""

class FaultError(Error):
    """The model stopped: the program did what the part does not do, or what is not modelled."""

@final
class Number:
    """An integer of a C type, as ``u16(5)`` makes it."""

@final
class RunEnd:
    """End of a run."""

    @property
    def reason(self) -> str:
        """``reached`` (a symbol that was asked for), ``cycles``, ``stepped``, ``halted``, ``exited``, ``returned``, ``breakpoint`` or ``power lost``."""
    @property
    def exit_code(self) -> int | None:
        """The program's, where it ended itself by semihosting."""
    @property
    def ending(self) -> str:
        """The same for a person, with function and source line."""

@final
class CallResult:
    """A call that has returned, and what it cost."""

    @property
    def result(self) -> int | None:
        """Result of the function."""
    @property
    def cycles(self) -> int:
        """From the function's first instruction to the end of its return. ``measure`` counts the call
        instruction, too.
        """
    @property
    def instructions(self) -> int:
        """Instructions executed."""
    @property
    def stack_bytes(self) -> int:
        """Deepest stack use in bytes, the return address with it."""
    @property
    def time_s(self) -> float:
        """Seconds, at the clock that the program has set or that was asked for."""
    @property
    def energy_j(self) -> float:
        """Joules, at the data sheet's active current at that clock and supply, and asleep at the
        mode's.
        """

@final
class Snapshot:
    """State of a machine, as ``Machine.snapshot`` keeps it."""

    @property
    def cycles(self) -> int:
        """Cycles since reset when it was made."""

@final
class Uart:
    """UART of a machine, as ``Machine.uart`` gives it."""

    @property
    def name(self) -> str:
        """Its name in the data sheet."""
    @property
    def listens(self) -> bool:
        """True once the program has switched on the receiver."""
    def send(self, data: bytes) -> None:
        """Bytes begin to arrive, at the UART's own rate, while the program runs on."""

    def read(self) -> bytes:
        """Returns the bytes that the program has sent since they were last read."""

@final
class Machine:
    """A microcontroller's model, with firmware on it.

    The target by its exact name, such as ``atmega328p``.

    ``clock`` in Hz (``16e6`` or ``"16MHz"``): the core's, whatever the program sets; otherwise what
    the program sets.
    ``crystal`` in Hz: what the program makes its clock of. ``supply`` in volts; otherwise the target's default. ``lenient``, ``stubs``: as ``--lenient`` and ``--stub`` of ``wattseal measure``.
    """

    def __new__(
        cls,
        target: str,
        *,
        clock: _Quantity | None = None,
        crystal: _Quantity | None = None,
        supply: _Quantity | None = None,
        lenient: bool = False,
        stubs: _Names | None = None,
    ) -> Machine: ...
    def load(self, elf: _Path) -> None:
        """Loads an ELF file, and resets the machine: its first instruction comes next."""

    def reset(self) -> None:
        """A power-on reset; what was counted is forgotten."""

    def run(self, until: _Place | Iterable[_Place] | None = None, *, max_cycles: _Quantity | None = None) -> RunEnd:
        """Runs on until the instruction at one of these symbols or addresses comes next, or, with
        none, until the program ends; for at most
        ``max_cycles`` cycles from here (4e9). Raises ``Error`` where ``until`` was not reached.
        Ctrl-C ends it.
        """

    def step(self, count: int = 1) -> RunEnd:
        """Executes instructions, ``count`` of them; those of interrupts that come in between count.
        If the core sleeps, the next instruction is the one after it wakes.
        """

    def on(self, place: _Place, act: Callable[[Machine], object] | None) -> None:
        """From here on calls ``act(machine)`` whenever the instruction at this symbol or address comes
        next, in ``run`` and in ``call``; ``None`` for no longer. It may look at the machine and
        change it, but not run it. Its exception ends the run. ``load`` forgets it.
        """

    def snapshot(self) -> Snapshot:
        """The machine as it is now, for ``restore``."""

    def restore(self, snapshot: Snapshot) -> None:
        """Goes back to a snapshot, as often as is wanted: memories, registers, peripherals, pins, and
        what was counted.
        """

    def call(
        self,
        function: _Place,
        *arguments: _Argument,
        returns: str | None = ...,
        max_cycles: _Quantity | None = None,
    ) -> CallResult:
        """Calls a function where the program stands, by the C calling convention of its target (AVR,
        Cortex-M, MSP430, RISC-V), and leaves the program where it stood, with its registers as they
        were.

        An argument is an integer;
        ``u8(5)`` to ``i64(5)``, an integer of this type; the name of a symbol, for its address; or ``(symbol, bytes)``,
        which writes the bytes there first. What integers are and what comes back is in the debug
        information
        (``-gdwarf-4``). Where there is none, integers have to say their type, and ``returns`` what comes back: ``"u16"``, ``None``.

        Refused: floating-point numbers, structures and ``...`` as arguments; the large code model
        of the MSP430; other cores; a program that has not run to where its stack and variables are
        set up.
        """

    def read(self, place: _Place, length: int | None = None) -> bytes:
        """Memory at a symbol or an address; all of a symbol where no length is said. On an AVR data
        addresses begin at 0x800000.
        """

    def write(self, place: _Place, data: bytes) -> None:
        """Writes memory at a symbol or an address, as a debugger would; non-volatile memory, too."""

    def symbol(self, name: str) -> tuple[int, int]:
        """The address of a symbol, and its size in bytes, 0 where the file does not tell."""

    def set_register(self, name: str, value: int) -> None:
        """Sets a register, as a debugger would."""

    def send(self, uart: str, data: bytes) -> None:
        """Bytes begin to arrive at a UART, at its own rate, while the program runs on."""

    def sent(self) -> dict[str, bytes]:
        """Returns the output of the program since the last call, by port: UARTs, ``ITM.0``,
        ``semihosting``.
        """

    def uart(self, name: str) -> Uart:
        """A UART, by its name in the data sheet: ``USART2``."""

    def pin(self, name: str) -> bool | None:
        """The level at a pin, such as ``PB5``, ``PORTB.5`` or ``P1.0``, whoever drives it; ``None``
        where nobody does.
        """

    def set_pin(self, name: str, level: bool | None) -> None:
        """Drives a pin from outside, as a button does, or with ``None`` lets go of it. The program
        sees it when it runs on.
        """

    def attach_i2c(
        self,
        bus: str,
        address: int,
        *,
        write: Callable[[int], bool | None] | None = None,
        read: Callable[[], int] | None = None,
        start: Callable[[bool, float], bool | None] | None = None,
        stop: Callable[[], object] | None = None,
    ) -> None:
        """Puts a device onto an I2C bus, such as ``TWI`` or ``I2C1``, at an address of seven bits. Its
        functions are called while the program runs: ``write(byte)`` with each byte from the master,
        ``read()`` for each byte to it, ``start(reads, time_s)`` when it is addressed, ``stop()`` at
        the end. ``write`` and ``start`` may return ``False`` for no acknowledgement. A device
        without ``write`` or ``read`` does not acknowledge its address for it. An exception ends the
        run. ``load`` takes the device off; ``restore`` leaves its own state as it is.
        """

    def attach_spi(
        self,
        bus: str,
        select: str,
        transfer: Callable[[int], int],
        *,
        on_select: Callable[[bool, float], object] | None = None,
        mode: int = 0,
    ) -> None:
        """Wires a device to an SPI master, such as ``SPI`` or ``SPI1``; the pin ``select`` selects it
        while low. ``transfer(byte)`` is called with each byte from the master, and returns the byte
        that goes to it meanwhile. ``on_select(selected, time_s)`` is called when the pin goes low
        or back. ``mode`` is the SPI mode that the device understands. An exception ends the run.
        ``load`` takes the device off; ``restore`` leaves its own state as it is.
        """

    def profile(self) -> list[dict[str, Any]]:
        """A record for each function that was executed since reset, as
        ``wattseal measure --format json`` has it: ``calls``, ``inclusive_cycles``, ``exclusive_cycles``, ``stack_bytes``, ``time_s``, ``energy_j``. ``pandas.DataFrame``
        takes it.
        """

    @property
    def registers(self) -> dict[str, int]:
        """The registers by their names in the data sheet, in lower case."""
    @property
    def target(self) -> str:
        """The target's name."""
    @property
    def cycles(self) -> int:
        """Cycles since reset."""
    @property
    def instructions(self) -> int:
        """Instructions since reset."""
    @property
    def clock_hz(self) -> int:
        """The core's clock, in Hz."""
    @property
    def supply_v(self) -> float:
        """The supply, in volts."""
    @property
    def time_s(self) -> float:
        """Seconds since reset, at the clocks that there were."""
    @property
    def energy_j(self) -> float:
        """Joules since reset, at the data sheet's active current, and asleep at the mode's: at an
        upper bound where there is none.
        """

def targets() -> list[str]:
    """The names of all targets."""

def bench(
    *,
    targets: _Names | None = None,
    ops: _Names | None = None,
    variants: _Names | None = None,
    all: bool = False,
    bytes: int | None = None,
    runs: int | None = None,
    clock: _Quantity | None = None,
    supply: _Quantity | None = None,
    calibration: _Path | None = None,
    max_cycles: _Quantity | None = None,
    seed: int = 1,
    cold: bool = False,
    fresh: bool = False,
    cache: _Path | None = None,
) -> list[dict[str, Any]]:
    """Measures the cost of each operation on each target: the records of ``wattseal bench --format
    json``.

    Names and patterns
    (``"stm32*"``), one or several; with none, the README's tables. Raises ``Error`` where an output
    was wrong.
    """

def measure(
    *elf: _Path,
    target: str,
    functions: _Names | None = None,
    until: _Place | None = None,
    calls: int | None = None,
    pin: str | None = None,
    marker: _Place | None = None,
    max_cycles: _Quantity | None = None,
    clock: _Quantity | None = None,
    crystal: _Quantity | None = None,
    supply: _Quantity | None = None,
    calibration: _Path | None = None,
    lenient: bool = False,
    stubs: _Names | None = None,
    input: _Path | None = None,
    uart: str | None = None,
    flamegraph: _Path | None = None,
    vcd: _Path | None = None,
    trace: _Path | None = None,
    lcov: _Path | None = None,
) -> list[dict[str, Any]]:
    """Runs ELF files from reset: the records of ``wattseal measure --format json``, whose options
    these are.

    Raises ``Error``, with the records as its ``records``, where a run failed or what was asked for
    did not come about.
    """

def ct(
    elf: _Path,
    *,
    target: str,
    function: str,
    secrets: _Names,
    public: _Names | None = None,
    declassified: _Names | None = None,
    calls: int = 10,
    max_cycles: _Quantity | None = None,
    clock: _Quantity | None = None,
    stubs: _Names | None = None,
) -> list[dict[str, Any]]:
    """The instructions of a function through which secrets show, by a branch, an address or their
    time: the records of ``wattseal ct FIRMWARE.elf --format json``, whose options these are.

    Raises ``Error``, with the records as its ``records``, where nothing is known of a secret: the
    function was not called, no instruction read the secret, or the run failed.
    """

def reproduce(paper: str, *, cache: _Path | None = None) -> list[dict[str, Any]]:
    """A paper's tables, or those of ``all``: the records of ``wattseal reproduce --format json``."""

def u8(value: int) -> Number:
    """The argument ``value`` as a ``uint8_t``, for a function of which the file does not say what it takes."""

def u16(value: int) -> Number:
    """The argument ``value`` as a ``uint16_t``."""

def u32(value: int) -> Number:
    """The argument ``value`` as a ``uint32_t``."""

def u64(value: int) -> Number:
    """The argument ``value`` as a ``uint64_t``."""

def i8(value: int) -> Number:
    """The argument ``value`` as an ``int8_t``."""

def i16(value: int) -> Number:
    """The argument ``value`` as an ``int16_t``."""

def i32(value: int) -> Number:
    """The argument ``value`` as an ``int32_t``."""

def i64(value: int) -> Number:
    """The argument ``value`` as an ``int64_t``."""
