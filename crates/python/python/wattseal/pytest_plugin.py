"""Plugin of pytest: costs of firmware as assertions.

The firmware stands in pytest's settings, or in a mark, whose further arguments are those of ``wattseal.measure``::

    [pytest]
    wattseal_elf = build/firmware.elf
    wattseal_target = stm32f407

    def test_fir_is_fast(firmware):
        assert firmware.cycles("fir") < 700

    @pytest.mark.firmware("build/uno.elf", target="uno", max_cycles=1e6)
    def test_seal_keeps_its_key(firmware):
        assert firmware.is_constant_time("seal", secrets="key:16")
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wattseal

#: Cycles of a run that nothing else ends: some tenths of a second here, a second or so of the part.
MAX_CYCLES = 50_000_000

BASELINE = "wattseal-baseline.json"

_UPDATE = "--wattseal-update"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("wattseal", "costs of firmware")
    group.addoption(_UPDATE, action="store_true", help=f"write the figures of now into {BASELINE}")
    parser.addini("wattseal_elf", "the firmware's ELF file, from the folder of the settings", default="")
    parser.addini("wattseal_target", "its target, or its board", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "firmware(elf, target=..., **options): the ELF file, its target, and options of wattseal.measure",
    )
    config.stash[_MEASURED] = {}


_MEASURED = pytest.StashKey[dict[Any, list[dict[str, Any]]]]()


class Verdict:
    """Answer to a question, which pytest shows where an assertion fails."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems

    def __bool__(self) -> bool:
        return not self.problems

    def __repr__(self) -> str:
        return "; ".join(self.problems) or "as it should be"


class Firmware:
    """An ELF file, whose functions are measured when they are asked for, each once in a session."""

    def __init__(
        self,
        elf: Path,
        target: str,
        options: dict[str, Any],
        measured: dict[Any, list[dict[str, Any]]],
        baseline: Path,
        update: bool,
    ) -> None:
        self.elf = elf
        self.target = target
        self._options = {"max_cycles": MAX_CYCLES, **options}
        self._measured = measured
        self._baseline = baseline
        self._update = update

    def rows(self, function: str | None = None) -> list[dict[str, Any]]:
        """The records of ``wattseal.measure``, of one function's calls or of all functions."""
        built = self.elf.stat().st_mtime_ns if self.elf.exists() else 0
        key = (str(self.elf), built, self.target, function, repr(sorted(self._options.items())))
        if key not in self._measured:
            self._measured[key] = wattseal.measure(
                self.elf, target=self.target, functions=function, **self._options
            )
        return self._measured[key]

    def _calls(self, function: str) -> list[dict[str, Any]]:
        calls = [row for row in self.rows(function) if row["kind"] == "call" and row["calls"] == 1]
        if not calls:
            raise wattseal.Error(f"no call of {function} had returned when the run ended; raise max_cycles")
        return calls

    def calls(self, function: str) -> int:
        """Calls that returned."""
        return len(self._calls(function))

    def cycles(self, function: str) -> int:
        """Cycles of the longest call, with everything that it calls."""
        return max(row["inclusive_cycles"] for row in self._calls(function))

    def time_s(self, function: str) -> float:
        """Seconds of the longest call."""
        return max(row["time_s"] for row in self._calls(function))

    def energy_j(self, function: str) -> float:
        """Joules of the call that takes most."""
        return max(row["energy_j"] for row in self._calls(function))

    def stack_bytes(self, function: str) -> int:
        """Bytes of the deepest call's stack."""
        return max(row["stack_bytes"] for row in self._calls(function))

    def _program(self, figure: str) -> Any:
        return next(row[figure] for row in self.rows() if row["kind"] == "program")

    @property
    def flash_bytes(self) -> int:
        """Bytes of code, constants and initial values."""
        return self._program("flash_bytes")

    @property
    def ram_bytes(self) -> int:
        """Bytes of initialised and zeroed data."""
        return self._program("ram_bytes")

    def is_constant_time(self, function: str, *, secrets: str | list[str], **options: Any) -> Verdict:
        """True where no branch, address or time of the function depends on these secrets.

        Further options are those of ``wattseal.ct``.
        """
        known = ("clock", "stubs", "max_cycles")
        options = {**{name: self._options[name] for name in known if name in self._options}, **options}
        leaks = wattseal.ct(self.elf, target=self.target, function=function, secrets=secrets, **options)
        return Verdict([f"{leak['kind']} depends on {leak['secrets']} in {leak['place']}" for leak in leaks])

    def is_within_baseline(self, function: str, within: float = 0.0) -> Verdict:
        """True where cycles, stack and energy of the function are at most those of the baseline, and a share
        ``within`` more. ``--wattseal-update`` writes the baseline, a file beside the test.
        """
        figures = {name: getattr(self, name)(function) for name in ("cycles", "stack_bytes", "energy_j")}
        key = f"{self.elf.name} {self.target} {function}"
        kept: dict[str, dict[str, Any]] = {}
        if self._baseline.exists():
            kept = json.loads(self._baseline.read_text(encoding="utf-8"))
        if self._update:
            kept[key] = figures
            self._baseline.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", encoding="utf-8")
            return Verdict([])
        if key not in kept:
            return Verdict([f"{self._baseline.name} has no figures of {key}; pytest {_UPDATE} writes them"])
        return Verdict([
            f"{name} {kept[key][name]} -> {now}: {now / kept[key][name] - 1:+.1%}, where {within:.1%} is allowed"
            for name, now in figures.items()
            # The last digits of joules are a matter of rounding.
            if now > kept[key][name] * (1 + within) * (1 + 1e-12)
        ])

    def machine(self, until: str | int | None = "main") -> wattseal.Machine:
        """A new machine with the firmware, run to this symbol."""
        known = ("clock", "crystal", "supply", "lenient", "stubs")
        machine = wattseal.Machine(
            self.target, **{name: self._options[name] for name in known if name in self._options}
        )
        machine.load(self.elf)
        if until is not None:
            machine.run(until=until)
        return machine


@pytest.fixture
def firmware(request: pytest.FixtureRequest) -> Firmware:
    """The firmware of the settings, or of the mark ``firmware``."""
    config = request.config
    mark = request.node.get_closest_marker("firmware")
    options = dict(mark.kwargs) if mark else {}
    elf = mark.args[0] if mark and mark.args else config.getini("wattseal_elf")
    target = options.pop("target", None) or config.getini("wattseal_target")
    if not elf or not target:
        missing = "wattseal_target" if elf else "wattseal_elf"
        raise pytest.UsageError(
            f"which firmware? Set {missing} in pytest's settings, or @pytest.mark.firmware(ELF, target=TARGET)"
        )
    path = config.rootpath / elf
    baseline = request.path.parent / BASELINE
    update = config.getoption(_UPDATE)
    return Firmware(path, target, options, config.stash[_MEASURED], baseline, update)
