"""The plugin of pytest, in a project of somebody's own."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from test_wattseal import TARGET, built

SETTINGS = f"""
[pytest]
wattseal_elf = subject.elf
wattseal_target = {TARGET}
"""

LEAKY = """
#include <stdint.h>
volatile uint8_t key[4];
volatile uint8_t out;
__attribute__((noinline)) void leaky(void) { if (key[0] & 1) out += key[1]; else out = key[2]; }
__attribute__((noinline)) void steady(void) { out = key[0] ^ key[1]; }
int main(void) { leaky(); steady(); for (;;) ; }
"""


class OfPytest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)
        built(self.at, "-gdwarf-4")
        (self.at / "pytest.ini").write_text(SETTINGS, encoding="utf-8")

    def run_tests(self, text, *arguments):
        """Pytest's exit code on these tests, and what it says."""
        (self.at / "test_costs.py").write_text(text, encoding="utf-8")
        said = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
            cwd=self.at, capture_output=True, text=True, check=False,
        )
        return said.returncode, said.stdout + said.stderr

    def test_costs_are_asserted(self):
        code, said = self.run_tests("""
def test_add(firmware):
    assert 0 < firmware.cycles("add") < 100
    assert firmware.calls("deep") == 3
    assert firmware.stack_bytes("deep") > firmware.stack_bytes("add") >= 2
    assert 0 < firmware.energy_j("add") < 1e-5 and firmware.time_s("add") < 1e-4
    assert firmware.flash_bytes > 100 and firmware.ram_bytes > 100
    assert firmware.machine().call("add", 40).result == 40

def test_too_slow(firmware):
    assert firmware.cycles("add") < 2

def test_not_called(firmware):
    firmware.cycles("endless")
""")
        self.assertEqual(code, 1, said)
        self.assertIn("2 failed, 1 passed", said)
        self.assertIn("assert firmware.cycles", said.replace("\n", " "))
        self.assertIn("endless was not called", said)

    def test_constant_time_is_asserted(self):
        (self.at / "leaky.c").write_text(LEAKY, encoding="utf-8")
        subprocess.run(
            ["avr-gcc", f"-mmcu={TARGET}", "-Os", "-gdwarf-4", "leaky.c", "-o", "leaky.elf"], cwd=self.at, check=True
        )
        code, said = self.run_tests(f"""
import pytest

@pytest.mark.firmware("leaky.elf", target="{TARGET}")
def test_steady(firmware):
    assert firmware.is_constant_time("steady", secrets="key:4", calls=1)

@pytest.mark.firmware("leaky.elf")
def test_leaky(firmware):
    assert firmware.is_constant_time("leaky", secrets=["key:4"], calls=1)
""")
        self.assertEqual(code, 1, said)
        self.assertIn("1 failed, 1 passed", said)
        self.assertRegex(said, "branch depends on key in leaky")

    def test_a_baseline_is_written_and_held(self):
        text = """
def test_held(firmware):
    assert firmware.is_within_baseline("add", within=0.01)
"""
        code, said = self.run_tests(text)
        self.assertEqual(code, 1, said)
        self.assertIn("--wattseal-update writes them", said)
        self.assertEqual(self.run_tests(text, "--wattseal-update")[0], 0)
        self.assertEqual(self.run_tests(text)[0], 0)
        path = self.at / "wattseal-baseline.json"
        kept = json.loads(path.read_text(encoding="utf-8"))
        [figures] = kept.values()
        figures["cycles"] -= 1
        path.write_text(json.dumps(kept), encoding="utf-8")
        code, said = self.run_tests(text)
        self.assertEqual(code, 1, said)
        self.assertIn(f"cycles {figures['cycles']} -> {figures['cycles'] + 1}", said)
        # What got less is no failure.
        figures["cycles"] += 10
        path.write_text(json.dumps(kept), encoding="utf-8")
        self.assertEqual(self.run_tests(text)[0], 0)

    def test_without_firmware_it_says_what_to_set(self):
        (self.at / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        code, said = self.run_tests("def test_add(firmware): pass\n")
        self.assertEqual(code, 1, said)
        self.assertIn("Set wattseal_elf", said)


if __name__ == "__main__":
    unittest.main()
