"""The wheel, as it is installed: the module, its documents, and the command beside it."""

import ast
import inspect
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import pandas
import wattseal

HOME = pathlib.Path(os.environ["WATTSEAL_HOME"])
SUBJECT = HOME / "crates/lab/tests/suite/probe/subject.c"
PERIPHERALS = HOME / "crates/python/tests/peripherals.c"
TARGET = "atmega328p"


def built(folder, *flags):
    """The lab's program of functions to be called."""
    elf = pathlib.Path(folder) / "subject.elf"
    subprocess.run(["avr-gcc", f"-mmcu={TARGET}", "-Os", "-ffreestanding", *flags, SUBJECT, PERIPHERALS, "-o", elf], check=True)
    return elf


def command(*arguments):
    """What the command says and how it ends."""
    return subprocess.run(["wattseal", *map(str, arguments)], capture_output=True, text=True, check=False)


class Interrupt:
    """Ctrl-C after a while."""

    def __init__(self, seconds):
        self.timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))

    def __enter__(self):
        self.timer.start()

    def __exit__(self, *_):
        self.timer.cancel()


class OfMachine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.elf = built(cls.folder.name, "-gdwarf-4")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.machine = wattseal.Machine(TARGET, clock="16MHz", supply=5)
        self.machine.load(self.elf)

    def test_a_program_runs_and_is_looked_into(self):
        machine = self.machine
        end = machine.run(until="main")
        self.assertEqual((end.reason, end.exit_code), ("reached", None))
        end = machine.run()
        self.assertEqual(end.reason, "halted")
        self.assertIn("the program ended in main", end.ending)
        self.assertEqual(machine.read("sum"), b"\x03\x00")
        address, size = machine.symbol("sum")
        self.assertEqual((address & ~0xFFFF, size), (0x800000, 2))
        machine.write(address, b"\x05\x01")
        self.assertEqual(machine.read(address, 2), b"\x05\x01")
        machine.set_register("r5", 77)
        self.assertEqual(machine.registers["r5"], 77)
        self.assertEqual((machine.target, machine.clock_hz, machine.supply_v), (TARGET, 16_000_000, 5.0))
        self.assertAlmostEqual(machine.time_s, machine.cycles / 16e6)
        self.assertGreater(machine.instructions, 0)
        self.assertEqual(machine.sent(), {})
        machine.reset()
        self.assertEqual(machine.cycles, 0)

    def test_functions_are_called(self):
        machine = self.machine
        machine.run(until="main")
        self.assertEqual(machine.call("add", 40).result, 40)
        self.assertEqual(machine.call("add", wattseal.u16(2)).result, 42)
        self.assertEqual(machine.call("last", ("buffer", b"\1\2\3"), 2).result, 2)
        self.assertEqual(machine.call("apply", "add", 8, max_cycles=1e6).result, 50)
        self.assertEqual(machine.call("negative", -100).result, -100)
        done = machine.call("bare")
        # NOP and RET.
        self.assertEqual((done.result, done.cycles, done.instructions, done.stack_bytes), (None, 5, 2, 2))
        self.assertAlmostEqual(done.time_s, 5 / 16e6)
        self.assertAlmostEqual(done.energy_j / done.time_s, machine.energy_j / machine.time_s)
        self.assertIn("cycles=5", repr(done))

    def test_steps_are_instructions(self):
        machine = self.machine
        machine.run(until="main")
        before = (machine.instructions, machine.cycles)
        end = machine.step()
        self.assertEqual((end.reason, machine.instructions), ("stepped", before[0] + 1))
        machine.step(10)
        self.assertEqual(machine.instructions, before[0] + 11)
        self.assertGreater(machine.cycles, before[1] + 10)

    def test_a_snapshot_is_gone_back_to_as_often_as_wanted(self):
        machine = self.machine
        machine.run(until="main")
        kept = machine.snapshot()
        self.assertEqual(kept.cycles, machine.cycles)
        ends = []
        for _ in range(2):
            machine.run()
            ends.append((machine.cycles, machine.energy_j, machine.read("sum"), machine.registers, machine.profile()))
            machine.restore(kept)
            self.assertEqual((machine.cycles, machine.read("sum")), (kept.cycles, b"\0\0"))
        self.assertEqual(*ends)
        machine.load(self.elf)
        with self.assertRaisesRegex(wattseal.UsageError, "loaded otherwise"):
            machine.restore(kept)

    def test_python_acts_where_the_program_comes_by(self):
        machine = self.machine
        seen = []
        machine.on("add", lambda at: seen.append((at.registers["pc"], at.read("sum"))))
        machine.run(until="main")
        self.assertEqual(seen, [])
        machine.run()
        add = machine.symbol("add")[0]
        self.assertEqual(seen, [(add, b"\0\0")])
        # A call passes it, too, and what it changes is what the function finds.
        machine.reset()
        machine.run(until="main")
        machine.on("add", lambda at: at.write("sum", b"\x64\0"))
        self.assertEqual(machine.call("add", 1).result, 101)
        self.assertEqual(machine.call("apply", "add", 2).result, 102)
        # As an end of a run, it acts first.
        machine.on("add", lambda at: seen.append("here"))
        self.assertEqual(machine.run(until="add").reason, "reached")
        self.assertEqual(seen[1:], ["here"])
        machine.on("add", None)
        machine.run()
        machine.call("add", 0)
        self.assertEqual(seen[1:], ["here"])

    def test_what_acts_does_not_run_the_machine_and_its_exception_ends_the_run(self):
        machine = self.machine
        for act in [
            lambda at: at.run(),
            lambda at: at.step(),
            lambda at: at.call("add", 1),
            lambda at: at.reset(),
            lambda at: at.load(self.elf),
            lambda at: at.restore(at.snapshot()),
        ]:
            machine.on("add", act)
            machine.reset()
            with self.assertRaisesRegex(wattseal.UsageError, "not run it"):
                machine.run()
            self.assertEqual(machine.registers["pc"], machine.symbol("add")[0])
        machine.on("add", None)
        self.assertEqual(machine.run().reason, "halted")

    def test_pins_are_driven_and_read(self):
        machine = self.machine
        machine.run(until="main")
        self.assertIsNone(machine.pin("PB5"))
        machine.set_pin("PORTB.5", True)
        self.assertTrue(machine.pin("PB5"))
        machine.set_pin("PB5", None)
        self.assertIsNone(machine.pin("PB5"))
        # DDRB, PORTB: the program's own level.
        machine.call("drive_pin")
        self.assertIs(machine.pin("PB5"), True)
        for act in [lambda: machine.pin("PB8"), lambda: machine.set_pin("PORTZ.0", True), lambda: machine.pin("led")]:
            with self.assertRaises(wattseal.UsageError):
                act()

    def test_a_uart_is_written_and_read(self):
        machine = self.machine
        machine.run(until="main")
        uart = machine.uart("USART0")
        self.assertEqual((uart.name, uart.listens, uart.read()), ("USART0", False, b""))
        with self.assertRaisesRegex(wattseal.UsageError, "has not switched on its receiver"):
            uart.send(b"a")
        with self.assertRaisesRegex(wattseal.UsageError, "no UART 'USART9'"):
            machine.uart("USART9")
        machine.call("open_uart")
        self.assertTrue(uart.listens)
        uart.send(b"Az")
        self.assertEqual([machine.call("echo").result for _ in range(2)], [ord("A"), ord("z")])
        machine.call("wait")
        self.assertEqual((uart.read(), uart.read()), (b"Az", b""))

    def test_a_script_is_an_i2c_device(self):
        machine = self.machine
        machine.run(until="main")
        heard, answers = [], iter(b"\x19\x50")
        begun = machine.time_s
        machine.attach_i2c(
            "TWI", 0x48,
            start=lambda reads, time_s: heard.append(("start", reads, time_s > begun)),
            write=lambda byte: heard.append(byte),
            read=lambda: next(answers),
            stop=lambda: heard.append("stop"),
        )
        machine.attach_i2c("TWI", 0x20, write=lambda byte: byte != 7)
        self.assertEqual(machine.call("i2c_read", 0x48, 5).result, 0x1950)
        self.assertEqual(heard, [("start", False, True), 5, ("start", True, True), "stop"])
        # No device; one that refuses a byte; one without read().
        for address, place in [(0x49, 5), (0x20, 7), (0x20, 5)]:
            self.assertEqual(machine.call("i2c_read", address, place).result, 0xFFFF)
        self.assertEqual(len(heard), 4)
        for bus, address, said in [
            ("TWI1", 0x50, "no I2C interface 'TWI1'"),
            ("TWI", 0x48, "a device at this address already"),
            ("TWI", 0x90, "0x90 is no I2C address"),
            ("TWI", 0x148, "328 is no I2C address"),
        ]:
            with self.assertRaisesRegex(wattseal.UsageError, said):
                machine.attach_i2c(bus, address)

    def test_a_script_is_an_spi_device(self):
        machine = self.machine
        machine.run(until="main")
        heard = []

        def transfer(byte):
            heard.append(byte)
            return byte ^ 0xFF

        machine.attach_spi("SPI", "PB2", transfer, on_select=lambda selected, time_s: heard.append(selected))
        self.assertEqual(machine.call("spi_exchange", 0x12, 0x34).result, 0xEDCB)
        self.assertEqual(heard, [True, 0x12, 0x34, False])
        for arguments, mode, said in [
            (("SPI1", "PB1"), 0, "no serial interface 'SPI1'"),
            (("SPI", "PB2"), 0, "selects a device already"),
            (("SPI", "PB9"), 0, "has the pins"),
            (("SPI", "PB1"), 4, "no SPI mode 4"),
        ]:
            with self.assertRaisesRegex(wattseal.UsageError, said):
                machine.attach_spi(*arguments, transfer, mode=mode)
        machine.load(self.elf)
        machine.run(until="main")
        machine.attach_spi("SPI", "PB2", transfer, mode=3)
        with self.assertRaisesRegex(wattseal.FaultError, "clocked in SPI mode 0, but understands mode 3"):
            machine.call("spi_exchange", 1, 2)

    def test_an_exception_of_a_device_ends_the_run(self):
        machine = self.machine
        machine.run(until="main")
        kept = machine.snapshot()
        for read, kind, said in [
            (lambda: {}["temperature"], KeyError, "temperature"),
            (lambda: 300, ValueError, "it returned 300, and a byte is an integer from 0 to 255"),
            (lambda: None, ValueError, "it returned None"),
            (lambda: machine.cycles, wattseal.UsageError, "its machine runs"),
            (lambda: machine.load(self.elf), wattseal.UsageError, "its machine runs"),
        ]:
            machine.restore(kept)
            machine.attach_i2c("TWI", 0x48, write=lambda byte: True, read=read)
            with self.assertRaisesRegex(kind, said) as raised:
                machine.call("i2c_read", 0x48, 5)
            if sys.version_info >= (3, 11):
                self.assertEqual(raised.exception.__notes__, ["in read() of the device TWI 0x48"])
            # It stands where that came about, long before the end of the transfer.
            self.assertLess(machine.cycles - kept.cycles, 16e6 * 39 / 100e3 + 1_000)
        machine.restore(kept)

        def transfer(byte):
            raise OSError("no such register")

        machine.attach_spi("SPI", "PB2", transfer)
        with self.assertRaisesRegex(OSError, "no such register"):
            machine.call("spi_exchange", 1, 2)

    def test_an_exception_of_on_select_ends_the_run_before_a_transfer(self):
        machine = self.machine
        machine.run(until="main")
        kept = machine.snapshot()
        heard, fails = [], [True]

        def select(selected, time_s):
            if fails:
                raise OSError("not now")

        def transfer(byte):
            heard.append(byte)
            return byte ^ 0xFF

        machine.attach_spi("SPI", "PB2", transfer, on_select=select)
        with self.assertRaisesRegex(OSError, "not now"):
            machine.call("spi_exchange", 0x12, 0x34)
        self.assertEqual(heard, [])
        fails.clear()
        # It is raised once.
        self.assertEqual(machine.call("spi_exchange", 0x12, 0x34).result, 0xEDCB)
        self.assertEqual(heard, [0x12, 0x34])
        # A snapshot from before has no device: its line is open.
        machine.restore(kept)
        self.assertEqual(machine.call("spi_exchange", 0x12, 0x34).result, 0xFFFF)

    def test_a_device_is_selected_whose_line_is_low_when_it_is_attached(self):
        machine = self.machine
        machine.run(until="main")
        heard = []
        machine.call("select_spi")
        machine.attach_spi("SPI", "PB2", lambda byte: heard.append(byte) or 7)
        self.assertEqual(machine.call("spi_byte", 1).result, 7)
        self.assertEqual(heard, [1])

    def test_steps_of_a_core_asleep_ask_a_device_once(self):
        machine = self.machine
        machine.run(until="main")
        heard = []
        machine.attach_i2c("TWI", 0x48, start=lambda reads, time_s: heard.append(reads), write=heard.append)
        machine.set_register("pc", machine.symbol("send_asleep")[0])
        begun = machine.cycles
        for _ in range(300):
            machine.step()
        self.assertEqual(heard, [False, 9])
        # START, and two bytes with their acknowledgements, at 100 kHz.
        self.assertGreater(machine.cycles - begun, 16e6 * 19 / 100e3)

    def test_the_profile_is_measure_s_and_pandas_takes_it(self):
        self.machine.run()
        profile = pandas.DataFrame(self.machine.profile()).set_index("name")
        measured = wattseal.measure(self.elf, target=TARGET, clock=16e6, supply="5V")
        # The end of a run is measure's: a machine may go on.
        mine, theirs = ([{**row, "ended": None, "provenance": None} for row in rows if row["kind"] == "function"]
                        for rows in (self.machine.profile(), measured))
        self.assertEqual(mine, theirs)
        self.assertEqual(profile.calls["add"], 1)
        self.assertEqual(profile.exclusive_cycles.dtype, "int64")

    def test_errors_say_what_the_command_says(self):
        for act, kind, said in [
            (lambda: wattseal.Machine("atmega328pp"), wattseal.UsageError, "did you mean atmega328p"),
            (lambda: wattseal.Machine(TARGET).run(), wattseal.UsageError, 'load("firmware.elf") first'),
            (lambda: wattseal.Machine(TARGET, clock="fast"), wattseal.UsageError, "clock: "),
            (lambda: self.machine.call("add", 1), wattseal.UsageError, "run it to main first"),
            (lambda: self.machine.run(until="mein"), wattseal.UsageError, "did you mean main"),
            (lambda: self.machine.run(until="of_many"), wattseal.Error, ", before of_many"),
            (lambda: self.machine.call("add", 1, returns="u24"), wattseal.UsageError, "'u24' is no type"),
            (lambda: self.machine.call("add", 1.5), TypeError, "1.5 is nothing that can be passed"),
            (lambda: self.machine.load("no.elf"), wattseal.Error, "check the path"),
        ]:
            with self.assertRaises(kind) as raised:
                act()
            self.assertIn(said, str(raised.exception))
        # An instruction that the part has not.
        self.machine.write(self.machine.registers["pc"], b"\xff\xff")
        with self.assertRaisesRegex(wattseal.FaultError, "no such instruction"):
            self.machine.run(max_cycles=1000)
        with self.assertRaises(wattseal.Error) as raised:
            wattseal.measure(self.elf, target=TARGET, functions="of_many", max_cycles=1e5)
        self.assertIn("of_many was not called", str(raised.exception))
        self.assertEqual([row["kind"] for row in raised.exception.records], ["program"])
        said = command("measure", self.elf, "--target", TARGET, "--function", "of_many", "--max-cycles", "1e5")
        self.assertIn(str(raised.exception), said.stderr)
        self.assertEqual(said.returncode, 1)

    def test_ctrl_c_is_a_keyboard_interrupt(self):
        self.machine.run(until="main")
        for act in [
            lambda: self.machine.call("endless", max_cycles=1e15),
            lambda: wattseal.bench(ops="aes128-*", fresh=True, runs=10_000),
        ]:
            begun = time.monotonic()
            with Interrupt(0.5), self.assertRaises(KeyboardInterrupt):
                act()
            self.assertLess(time.monotonic() - begun, 60)
        # The machine is where it was then.
        self.assertGreater(self.machine.cycles, 100_000)

    def test_without_debug_information_types_are_said(self):
        with tempfile.TemporaryDirectory() as folder:
            self.machine.load(built(folder))
            self.machine.run(until="main")
            with self.assertRaisesRegex(wattseal.UsageError, "build with -gdwarf-4"):
                self.machine.call("add", 5)


class OfCommands(unittest.TestCase):
    def test_records_are_the_command_s_json(self):
        elf = "docs/examples/build/meter.elf"
        for records, line in [
            (lambda: wattseal.measure(elf, target=TARGET), ["measure", elf, "--target", TARGET]),
            (
                lambda: wattseal.bench(targets=TARGET, ops="aes128-*", variants="small", runs=2),
                ["bench", "--target", TARGET, "--op", "aes128-*", "--variant", "small", "--runs", "2"],
            ),
        ]:
            said = command(*line, "--format", "json")
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual(records(), json.loads(said.stdout))

    def test_the_command_is_the_command(self):
        said = command("--version")
        self.assertRegex(said.stdout, r"^wattseal \d")
        said = command("bench", "--target", "atmega328pp")
        self.assertEqual(said.returncode, 2)
        self.assertIn("did you mean atmega328p", said.stderr)
        self.assertEqual(command("bench", "--no-such").returncode, 2)
        self.assertIn(TARGET, wattseal.targets())

    def test_without_a_clone_the_wheel_has_all(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "XDG_CACHE_HOME": folder}
            del environment["WATTSEAL_HOME"]
            act = "import wattseal; print(wattseal.bench(targets='atmega328p', ops='aes128-encrypt', variants='fast', runs=1))"
            said = subprocess.run(
                [sys.executable, "-c", act], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual(os.listdir(folder), ["wattseal"])
            kept = pathlib.Path(folder) / "own"
            rows = wattseal.bench(targets=TARGET, ops="aes128-encrypt", variants="fast", runs=1, cache=kept)
            own = ast.literal_eval(said.stdout)
            # The data that the wheel has in it are of no commit.
            for row in [*own, *rows]:
                row["provenance"].pop("commit")
            self.assertEqual(own, rows)
            self.assertIn("figures", os.listdir(kept))


class OfDocuments(unittest.TestCase):
    def test_the_examples_work(self):
        text = (HOME / "docs/how-to/python.md").read_text(encoding="utf-8")
        names = {}
        examples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(examples), 4)
        for example in examples:
            exec(compile(example, "docs/how-to/python.md", "exec"), names)  # pylint: disable=exec-used

    def test_help_is_what_the_stubs_say(self):
        stubs = ast.parse((pathlib.Path(wattseal.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))
        seen = 0
        for node in ast.walk(stubs):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef):
                continue
            owner = next(
                (one for one in stubs.body if isinstance(one, ast.ClassDef) and node in one.body), None
            )
            if ast.get_docstring(node) is None:
                continue
            real = getattr(getattr(wattseal, owner.name) if owner else wattseal, node.name)
            self.assertEqual(inspect.getdoc(real), ast.get_docstring(node), node.name)
            seen += 1
        self.assertGreater(seen, 30)

    def shown_and_run(self, notebook):
        """The outputs of a notebook as they are kept, and of a new run."""
        import nbclient
        import nbformat

        path = HOME / "docs/how-to" / notebook
        shown, run = nbformat.read(path, as_version=4), nbformat.read(path, as_version=4)
        nbclient.NotebookClient(run, timeout=170, kernel_name="python3").execute()
        return [[output for cell in book.cells for output in cell.get("outputs", [])] for book in (shown, run)]

    def test_notebooks_show_what_they_compute(self):
        text = lambda outputs: [output.get("text") or output["data"].get("text/plain", "") for output in outputs]
        for notebook, pictures in [("python.ipynb", 1), ("notebooks/elumalai2011.ipynb", 0)]:
            with self.subTest(notebook):
                shown, run = self.shown_and_run(notebook)
                self.assertEqual(text(run), text(shown))
                drawn = [output for output in run if "image/png" in output.get("data", {})]
                self.assertEqual(len(drawn), pictures)


if __name__ == "__main__":
    unittest.main()
