#!/usr/bin/env python3
"""Searches order, registers and encodings of a straight-line kernel for the fewest cycles of a model.

    schedule.py crates/testkit/kernels/x25519_products.S --function ws_x25519_multiply_inner \\
        --target stm32f767 --target stm32f407 --argument 32 --argument 32 --argument 32

The kernel is assembled as for the first target, and its instructions are read from there. What one
reads and writes decides which may change places: a register's value has its own name here, and gets
a register anew in each order. Each generation is a program of many variants, which WattSeal's model
of each target runs: no rule of a pipeline stands here. A variant that leaves anything else in the
registers' arguments than the kernel does ends the search, for it is a mistake of this program; what
is found in the end is run once more on 100,000 random inputs, some of them all ones or zeros.

Each --argument is the size of a buffer whose address is in the next argument register, or `=` and a
number that is there. Of a function with branches the longest run without one is arranged. Cycles of
later targets may not grow; those of the first fall. The same seed gives the same code. Needed are
the targets' compilers and a built `wattseal`, by default target/debug/wattseal.
"""

import argparse
import csv
import dataclasses
import io
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Refused(Exception):
    """The kernel has something that this program does not know."""


class Instruction:
    """A line of assembly: its text with a `{n}` for each register, and what it does to them.

    `operands` are registers in the order of the text, `reads` and `writes` indices of them. `fixed`
    ones keep their registers. `memory` has (operand of the base, offset, size, is it a store).
    """

    def __init__(self, template, operands, reads, writes, fixed=(), memory=None, sets=False, uses=False):
        self.template = template
        self.operands = operands
        self.reads = set(reads)
        self.writes = set(writes)
        self.fixed = set(fixed)
        self.memory = memory or []
        self.sets_flags = sets
        self.uses_flags = uses


ARM_REGISTERS = {f"r{n}": f"r{n}" for n in range(13)} | {
    "lr": "lr", "sp": "sp", "r14": "lr", "r13": "sp", "ip": "r12", "fp": "r11", "sl": "r10", "sb": "r9"}
TWO_RESULTS = {"umull", "smull"}
ACCUMULATORS = {"umaal", "umlal", "smlal"}
COMPARISONS = {"cmp", "cmn", "tst", "teq"}
CARRYING = {"adc", "sbc", "rrx", "rsc"}
PLAIN = {
    "mov", "movw", "mvn", "add", "addw", "sub", "subw", "rsb", "adc", "sbc", "and", "orr", "eor", "bic", "orn", "lsl",
    "lsr", "asr", "ror", "neg", "mul", "mla", "mls", "uxtb", "uxth", "ubfx", "sbfx", "rev", "rev16", "rbit", "clz",
    "smulbb", "smulbt", "smultb", "smultt", "smlabb", "smlabt", "smlatb", "smlatt", "smuad", "smuadx", "smlad",
    "smladx", "smulwb", "smulwt", "smmulr", "smmul", "uadd16", "usub16", "sadd16", "ssub16", "pkhbt", "pkhtb",
}
IN_PLACE = {"movt", "bfi", "bfc"}
LOADS = {"ldr": 4, "ldrb": 1, "ldrh": 2, "ldrsb": 1, "ldrsh": 2}
STORES = {"str": 4, "strb": 1, "strh": 2}


def arm_registers(text):
    """The text with places for its registers, and these."""
    found = []

    def place(match):
        found.append(ARM_REGISTERS[match.group(0)])
        return "{%d}" % (len(found) - 1)

    return re.sub(r"\b(r\d+|lr|sp|ip|fp|sl|sb)\b", place, text), found


def arm_list(text):
    names = []
    for part in text.strip("{} ").split(","):
        first, _, last = part.strip().partition("-")
        first, last = ARM_REGISTERS[first], ARM_REGISTERS[last or first]
        if first == last:
            names.append(first)
        else:
            names += [f"r{n}" for n in range(int(first[1:]), int(last[1:]) + 1)]
    return names


def parse_arm(line):
    mnemonic, _, rest = line.partition("\t")
    name = mnemonic.split(".")[0]
    match = re.match(r"(ldm|stm)(ia|db)?$|push$|pop$", name)
    if match:
        return parse_arm_list(mnemonic, name, rest)
    template, operands = arm_registers(rest)
    template = f"{mnemonic}\t{template}"
    everything = range(len(operands))
    if name in LOADS or name in STORES:
        offset = re.search(r"\[(?:r\d+|lr|sp|ip|fp|sl|sb)(?:, #(-?\d+))?\]$", rest)
        if not offset:
            raise Refused(f"an address that changes or has two registers: {line}")
        store = name in STORES
        size = (STORES if store else LOADS)[name]
        memory = [(1, int(offset.group(1) or 0), size, store)]
        return Instruction(template, operands, [0, 1] if store else [1], [] if store else [0], memory=memory)
    if name in TWO_RESULTS:
        return Instruction(template, operands, [2, 3], [0, 1])
    if name in ACCUMULATORS:
        return Instruction(template, operands, everything, [0, 1])
    if name in COMPARISONS:
        return Instruction(template, operands, everything, [], sets=True)
    if name in IN_PLACE:
        return Instruction(template, operands, everything, [0])
    sets = name not in PLAIN and name.endswith("s") and name[:-1] in PLAIN
    plain = name[:-1] if sets else name
    if plain not in PLAIN:
        raise Refused(f"an instruction that is not known here: {line}")
    reads = [index for index in everything if index != 0]
    # `adds r0, #1`, and the like, read what they write.
    if plain not in ("mov", "movw", "mvn", "neg") and rest.count(",") == 1 and (
            len(operands) == 2 or "#" in rest) and plain not in ("uxtb", "uxth", "rev", "rev16", "rbit", "clz"):
        reads.append(0)
    stack = [0] if operands[0] == "sp" else []
    return Instruction(template, operands, reads, [0], fixed=stack, sets=sets, uses=plain in CARRYING)


def parse_arm_list(mnemonic, name, rest):
    if name in ("push", "pop"):
        base, names, back = "sp", arm_list(rest), True
    else:
        base, _, names = rest.partition(",")
        back = base.endswith("!")
        base, names = ARM_REGISTERS[base.rstrip("!")], arm_list(names)
    store = name.startswith("stm") or name == "push"
    if "pc" in rest:
        raise Refused(f"a return in the middle: {rest}")
    operands = [base, *names]
    listed = range(1, len(operands))
    down = name == "push" or name.endswith("db")
    offset = -4 * len(names) if down else 0
    memory = [(0, offset, 4 * len(names), store)]
    text = f"{mnemonic}\t{rest}"
    reads = [0, *listed] if store else [0]
    writes = ([0] if back else []) + ([] if store else list(listed))
    fixed = range(len(operands))
    return Instruction(text.replace("{", "{{").replace("}", "}}"), operands, reads, writes, fixed=fixed, memory=memory)


RISCV_REGISTERS = ["ra", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "sp", "zero"]
RISCV_LOADS = {"lw": 4, "lh": 2, "lhu": 2, "lb": 1, "lbu": 1}
RISCV_STORES = {"sw": 4, "sh": 2, "sb": 1}
RISCV_PLAIN = {
    "add", "addi", "sub", "xor", "xori", "or", "ori", "and", "andi", "sll", "slli", "srl", "srli", "sra", "srai", "mv",
    "li", "lui", "not", "neg", "slt", "slti", "sltu", "sltiu", "seqz", "snez", "zext.b",
}


def parse_riscv(line):
    name, _, rest = line.partition("\t")
    found = []

    def place(match):
        if match.group(0) == "zero":
            return "zero"
        found.append(match.group(0))
        return "{%d}" % (len(found) - 1)

    template = f"{name}\t" + re.sub(r"\b(" + "|".join(RISCV_REGISTERS) + r")\b", place, rest)
    if name in RISCV_LOADS or name in RISCV_STORES:
        store = name in RISCV_STORES
        offset = int(re.search(r"(-?\d+)\(", rest).group(1))
        base = len(found) - 1
        memory = [(base, offset, (RISCV_STORES if store else RISCV_LOADS)[name], store)]
        reads = range(len(found)) if store else [1]
        return Instruction(template, found, reads, [] if store else [0], memory=memory)
    if name not in RISCV_PLAIN:
        raise Refused(f"an instruction that is not known here: {line}")
    return Instruction(template, found, range(1, len(found)), [0], fixed=[0] if found[0] == "sp" else [])


@dataclasses.dataclass
class Core:
    """How a compiler's processor is read, called and listed."""

    parse: object
    registers: list
    branches: re.Pattern
    arguments: list
    mode: str
    stub: str
    disassemble: list
    options: list


ARM = Core(
    parse_arm,
    [f"r{n}" for n in range(13)] + ["lr"],
    re.compile(r"(b|bl|bx|blx|cbn?z|b(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le))(\.[nw])?\t|.*\bpc\}?$"),
    ["r0", "r1", "r2"],
    "\t.syntax unified\n\t.thumb\n\t.thumb_func\n",
    "call:\n\tpush\t{r4-r11, lr}\n\tmov\tr12, r0\n\tmov\tr0, r1\n"
    "\tmov\tr1, r2\n\tmov\tr2, r3\n\tblx\tr12\n\tpop\t{r4-r11, pc}\n",
    ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn"],
    [],
)
RISCV = Core(
    parse_riscv,
    ["ra", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5"],
    re.compile(r"(ret|j|jr|jal|jalr|call|tail|b\w+)(\t|$)"),
    ["a0", "a1", "a2"],
    "",
    "call:\n\taddi\tsp, sp, -12\n\tsw\tra, 0(sp)\n\tsw\ts0, 4(sp)\n\tsw\ts1, 8(sp)\n\tmv\tt0, a0\n\tmv\ta0, a1\n"
    "\tmv\ta1, a2\n\tmv\ta2, a3\n\tjalr\tt0\n\tlw\tra, 0(sp)\n\tlw\ts0, 4(sp)\n\tlw\ts1, 8(sp)\n\taddi\tsp, sp, 12\n"
    "\tret\n",
    ["riscv64-unknown-elf-objdump", "-d", "--no-show-raw-insn"],
    ["-mno-relax"],
)
CORES = {"arm-none-eabi-gcc": ARM, "riscv64-unknown-elf-gcc": RISCV}


class Kernel:
    """Instructions, the values that go between them, and which must stay behind which."""

    def __init__(self, core, lines):
        self.core = core
        first, end = longest_run(core, lines)
        self.head, self.tail = lines[:first], lines[end:]
        self.instructions = [core.parse(line) for line in lines[first:end]]
        self.own = written(core, lines)
        self.webs = []
        self.operand_webs = []
        self.before = [set() for _ in self.instructions]
        self.name_values()
        self.order_memory()
        self.after = [set() for _ in self.instructions]
        for index, needed in enumerate(self.before):
            for other in needed:
                self.after[other].add(index)

    def new_web(self, register, fixed, start):
        self.webs.append({"register": register, "fixed": fixed, "defined": set(), "uses": set(), "input": start})
        return len(self.webs) - 1

    def name_values(self):
        """Names each value of a register; one that is changed in place keeps its name."""
        live = {}
        flags_set, flags_used = None, []
        for index, it in enumerate(self.instructions):
            names = [None] * len(it.operands)
            for operand in sorted(it.reads):
                register = it.operands[operand]
                if register not in live:
                    live[register] = self.new_web(register, True, True)
                web = live[register]
                names[operand] = web
                self.before[index] |= self.webs[web]["defined"]
                self.webs[web]["uses"].add(index)
                if operand in it.fixed:
                    self.webs[web]["fixed"] = True
            for operand in sorted(it.writes):
                register = it.operands[operand]
                if operand in it.reads:
                    web = names[operand]
                    # Readers of the value before come before, too.
                    self.before[index] |= self.webs[web]["uses"] - {index}
                else:
                    web = live[register] = self.new_web(register, operand in it.fixed, False)
                    names[operand] = web
                self.webs[web]["defined"].add(index)
                if operand in it.fixed:
                    self.webs[web]["fixed"] = True
            if (it.uses_flags or it.sets_flags) and flags_set is not None:
                self.before[index].add(flags_set)
            if it.sets_flags:
                self.before[index] |= set(flags_used)
                flags_set, flags_used = index, []
            elif it.uses_flags:
                flags_used.append(index)
            self.operand_webs.append(names)
        # Values that the lines behind may read stay; if they return, the result alone.
        for register, web in live.items():
            wanted = len(self.tail) > 1 or register in self.core.arguments[:1] or register in self.tail[0]
            if wanted or self.webs[web]["fixed"]:
                self.webs[web]["fixed"] = True
                self.webs[web]["uses"].add(len(self.instructions))

    def order_memory(self):
        """Two accesses of which one stores keep their order, if they may meet. The stack is apart from buffers."""
        accesses = []
        moved = {}
        for index, it in enumerate(self.instructions):
            for operand, offset, size, store in it.memory:
                web = self.operand_webs[index][operand]
                version = (web, moved.get(web, 0))
                here = (it.operands[operand] == "sp", version, offset, size, store)
                for other, there in accesses:
                    if (store or there[4]) and may_meet(here, there):
                        self.before[index].add(other)
                accesses.append((index, here))
                if operand in it.writes:
                    moved[web] = moved.get(web, 0) + 1
            for operand in it.writes & it.reads:
                web = self.operand_webs[index][operand]
                if not it.memory:
                    moved[web] = moved.get(web, 0) + 1

    def text(self, order):
        """The lines in this order with registers for all values, or None where these do not suffice."""
        place = {index: position for position, index in enumerate(order)}
        end = len(order)
        place[end] = end
        spans = []
        for web in self.webs:
            first = -1 if web["input"] else min(place[index] for index in web["defined"])
            last = max((place[index] for index in web["uses"] | web["defined"]), default=first)
            spans.append((first, last))
        taken = {register: [] for register in self.core.registers + ["sp"]}
        colours = [None] * len(self.webs)
        for number, web in enumerate(self.webs):
            if web["fixed"]:
                colours[number] = web["register"]
                taken[web["register"]].append(spans[number])
        for register in taken:
            spans_here = sorted(taken[register])
            if any(a[1] > b[0] for a, b in zip(spans_here, spans_here[1:])):
                return None
        free = sorted((n for n, web in enumerate(self.webs) if not web["fixed"]), key=lambda n: spans[n])
        for number in free:
            first, last = spans[number]
            wish = self.webs[number]["register"]
            for register in [wish] + self.core.registers:
                if all(last <= b[0] or first >= b[1] for b in taken[register]) and register in self.own:
                    # A result that nobody reads takes its register for the instruction itself.
                    if first == last and any(b[0] <= first <= b[1] for b in taken[register]):
                        continue
                    colours[number] = register
                    taken[register].append((first, last))
                    break
            else:
                return None
        lines = []
        for index in order:
            it = self.instructions[index]
            registers = [colours[web] for web in self.operand_webs[index]]
            if clashes(it, registers):
                return None
            lines.append(it.template.format(*registers))
        return self.head + lines + self.tail


def longest_run(core, lines):
    """The first line of the longest run without a branch and where one may come to, and the line behind it."""
    runs, first = [], 0
    for index, line in enumerate(lines):
        if line.endswith(":") or core.branches.match(line):
            runs.append((index - first, first, index))
            first = index + 1
    return max(runs)[1:]


def written(core, lines):
    """The registers that the function writes: these alone are its own."""
    found = set()
    for line in lines:
        if not line.endswith(":") and not core.branches.match(line):
            it = core.parse(line)
            found |= {it.operands[operand] for operand in it.writes}
    return found


def may_meet(one, other):
    if one[0] != other[0]:
        return False
    if one[1] != other[1]:
        return True
    return one[2] < other[2] + other[3] and other[2] < one[2] + one[3]


def clashes(it, registers):
    """Two results in one register."""
    results = [registers[operand] for operand in it.writes]
    return len(set(results)) != len(results)


class Model:
    """A target's build and its model."""

    def __init__(self, target, binary, folder, arguments):
        self.target = target
        self.binary = binary
        self.folder = pathlib.Path(folder) / target
        self.folder.mkdir()
        self.arguments = arguments
        self.size = sum(int(argument) for argument in arguments if not argument.startswith("="))
        run(["make", "-s", "-C", str(ROOT / "device"), f"TARGET={target}", "APP=call", "VARIANT=fast",
             f"OUT={self.folder}/build", f"KIT={self.folder}/kit", "kit"])
        kit = dict(line.split(" ", 1) for line in (self.folder / "kit/kit").read_text().splitlines())
        self.compiler = kit["compiler"]
        self.flags = kit["flags"].split()
        self.libraries = kit["libraries"].split()
        self.core = CORES.get(self.compiler)
        if self.core is None:
            raise Refused(f"{target}: its compiler, {self.compiler}, is not known here")

    def lines(self, source, function):
        """The function's instructions as the assembler has them."""
        path = self.folder / "kernel.o"
        run([self.compiler, *self.flags, f"-I{ROOT}/device/crypto", *self.core.options, "-c", str(source), "-o", str(path)])
        listing = run([*self.core.disassemble, str(path)])
        lines, targets, inside = {}, set(), False
        for line in listing.splitlines():
            if line.endswith(">:"):
                inside = inside and ".L" in line or line.endswith(f"<{function}>:")
            elif inside and "\t" in line:
                address, text = line.split("\t", 1)
                text = text.split("@")[0].split(";")[0].split(" # ")[0].strip()
                target = re.match(r"(.*[\t,] ?)([0-9a-f]+) <.*>$", text)
                if target:
                    targets.add(int(target.group(2), 16))
                    text = f"{target.group(1)}.L_VARIANT_{int(target.group(2), 16)}"
                lines[int(address.strip().rstrip(":"), 16)] = text
        if not lines or not targets <= set(lines):
            raise Refused(f"{function} is not in {source}, or has a branch to elsewhere")
        while list(lines.values())[-1].startswith("nop"):
            lines.popitem()
        return [text for address, line in lines.items()
                for text in ([f".L_VARIANT_{address}:"] if address in targets else []) + [line]]

    def build(self, variants, repeats):
        """A program that calls each variant between two writes to `mark`, after the kernel."""
        passed, at = [], 0
        for argument in self.arguments + ["=0"] * (3 - len(self.arguments)):
            passed.append(f"(void *){argument[1:]}" if argument.startswith("=") else f"bytes + {at}")
            at += 0 if argument.startswith("=") else int(argument)
        words = (self.size + 3) // 4
        c = f"""#include <stdint.h>
volatile uint32_t mark;
extern void call(const void *, void *, void *, void *);
extern void {', '.join(f'variant_{n}(void)' for n in range(len(variants)))};
typedef void variant(void);
static variant *const all[] = {{ {', '.join(f'variant_{n}' for n in range(len(variants)))} }};
static uint32_t inputs[{words}], wanted[{words}], got[{words}], state = 1;
void ws_bench_ready(void);
__attribute__((noinline)) void different(void) {{ for (;;) mark = mark; }}
__attribute__((noinline)) void finished(void) {{ __asm__ volatile(""); for (;;) mark = mark; }}
static void copy(uint32_t *to) {{ for (int i = 0; i < {words}; i++) to[i] = inputs[i]; }}
static void apply(int n, uint32_t *words, int marked) {{
    char *const bytes = (char *)words;
    copy(words);
    if (marked) mark = n;
    call((const void *)all[n], {', '.join(passed)});
    if (marked) mark = n;
}}
void ws_bench_run(void) {{
    /* Start-up has written to it once: a pair of its own. */
    mark = 0;
    for (int r = 0; r < {repeats}; r++) {{
        for (int i = 0; i < {words}; i++) {{
            state ^= state << 13; state ^= state >> 17; state ^= state << 5;
            inputs[i] = r % 4 == 1 && (state & 1) ? -(state >> 1 & 1) : state;
        }}
        apply(0, wanted, 0);
        for (int n = 0; n < {len(variants)}; n++) {{
            apply(n, got, 0);
            apply(n, got, r == {repeats} - 1);
            for (int i = 0; i < {words}; i++) if (got[i] != wanted[i]) different();
        }}
    }}
    finished();
}}
"""
        functions = [("call", self.core.stub)]
        functions += [(f"variant_{n}", f"variant_{n}:\n\t" + "\n\t".join(lines).replace("VARIANT", str(n)) + "\n")
                      for n, lines in enumerate(variants)]
        assembly = "".join(
            f"\n\t.section .text.{name}, \"ax\", %progbits\n\t.balign 32\n\t.global {name}\n"
            f"\t.type {name}, %function\n{self.core.mode}{body}" for name, body in functions)
        (self.folder / "main.c").write_text(c)
        (self.folder / "variants.S").write_text(assembly)
        kit = self.folder / "kit"
        elf = self.folder / "program.elf"
        for source in ("main.c", "variants.S"):
            run([self.compiler, *self.flags, "-O1", "-c", source, "-o", source + ".o"], self.folder)
        run([self.compiler, *self.flags, "-nostdlib", "-Wl,--gc-sections", f"-Wl,-T,{kit}/device.ld",
             *map(str, sorted(kit.glob("*.o"))), "main.c.o", "variants.S.o", *self.libraries, "-o", str(elf)], self.folder)
        return elf

    def cycles(self, variants, repeats=3):
        """The cycles of each variant, the calls among them."""
        elf = self.build(variants, repeats)
        answer = run([self.binary, "measure", str(elf), "--target", self.target, "--marker", "mark", "--until", "finished",
                      "--max-cycles", "1e10", "--format", "csv"])
        rows = [int(row["inclusive_cycles"]) for row in csv.DictReader(io.StringIO(answer)) if row["kind"] == "region"]
        if len(rows) != len(variants) + 1:
            raise Refused(f"{self.target}: a variant does other than the kernel")
        return rows[1:]


def run(command, folder=None):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(f"{' '.join(command[:6])} ...: {done.stderr[-2000:]}")
    return done.stdout


def moved(kernel, order, draw):
    """The order with one to three instructions elsewhere, as far as their operands allow."""
    order = order[:]
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 5))):
        at = draw.randrange(len(order))
        index = order[at]
        low = next((p + 1 for p in range(at - 1, -1, -1) if order[p] in kernel.before[index]), 0)
        high = next((p - 1 for p in range(at + 1, len(order)) if order[p] in kernel.after[index]), len(order) - 1)
        low, high = max(low, at - 12), min(high, at + 12)
        to = draw.randint(low, high)
        order.pop(at)
        order.insert(to, index)
    return order


def search(kernel, models, draw, generations, width, report):
    """The best text. All of a generation is in one program with the kernel itself, for where code lies counts, too."""
    best = list(range(len(kernel.instructions)))
    own = best_text = kernel.text(best)
    if own is None:
        raise Refused("the kernel's own order found no registers")
    saved = None
    for generation in range(1, generations + 1):
        candidates, tried = [], 0
        while len(candidates) < width and tried < 20 * width:
            tried += 1
            candidate = moved(kernel, best, draw)
            text = kernel.text(candidate)
            if text is not None and text != best_text:
                candidates.append((candidate, text))
        texts = [own, best_text] + [text for _, text in candidates]
        costs = list(zip(*(model.cycles(texts) for model in models)))
        allowed = [cost for cost in costs[2:] if all(c <= o for c, o in zip(cost[1:], costs[0][1:]))]
        cost = min(allowed, key=rank, default=costs[1])
        if rank(cost) <= rank(costs[1]) and allowed:
            best, best_text = candidates[draw.choice([n for n, c in enumerate(costs[2:]) if c == cost])]
            gain = [o - c for o, c in zip(costs[0], cost)]
            if gain != saved:
                report(generation, gain)
            saved = gain
    return best_text


def rank(cost):
    """Cycles of the first target count first, then those of all."""
    return cost[0], sum(cost)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--function", required=True)
    parser.add_argument("--target", action="append", required=True)
    parser.add_argument("--argument", action="append", default=[])
    parser.add_argument("--generations", type=int, default=200)
    parser.add_argument("--width", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checks", type=int, default=100_000)
    parser.add_argument("--wattseal", default=str(ROOT / "target/debug/wattseal"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = [Model(target, arguments.wattseal, folder, arguments.argument) for target in arguments.target]
        lines = models[0].lines(arguments.source.resolve(), arguments.function)
        kernel = Kernel(models[0].core, lines)

        def report(generation, gain):
            print(f"generation {generation}: {', '.join(map(str, gain))} cycles less", file=sys.stderr)

        own = kernel.text(list(range(len(kernel.instructions))))
        text = search(kernel, models, random.Random(arguments.seed), arguments.generations, arguments.width, report)
        cycles = [model.cycles([own, text]) for model in models]
        models[0].cycles([own, text], repeats=arguments.checks)
    print(f"@ {' '.join(sys.argv[1:])}".replace(str(ROOT) + "/", ""))
    for target, (old, new) in zip(arguments.target, cycles):
        print(f"@ {target}: {old} -> {new} cycles with the call")
    print("\n".join(line.replace("_VARIANT_", "") if line.endswith(":") else "\t" + line.replace("_VARIANT_", "") for line in text))


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"schedule.py: {why}")
