#!/usr/bin/env python3
"""Finds an order and registers for a circuit of a kernel, for a Cortex-M4.

    arrange.py crates/testkit/kernels/aes_substitution.txt --seed 1 --steps 200000

The circuit is a file of lines `name = a op b`, op being ^ or &, behind lines `in name register`,
`out name register` and `free registers`. The search moves lines, as far as their operands allow,
and keeps what takes fewer cycles; values that find no register wait on the stack. The cost is that
of crates/mcu/src/cores/cortex_m/timing/m3.rs: a cycle each; a load two, or one behind a load; a
store none behind a load. The same seed and steps give the same lines, which go into the kernel.
"""

import argparse
import math
import random

OPERATIONS = {"^": "eor", "&": "and"}


class Circuit:
    """Lines of a circuit, and where its inputs and outputs are."""

    def __init__(self, text):
        self.lines = []
        self.inputs = {}
        self.outputs = {}
        self.free = []
        for line in text.splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "in":
                self.inputs[words[1]] = words[2]
            elif words[0] == "out":
                self.outputs[words[1]] = words[2]
            elif words[0] == "free":
                self.free = words[1:]
            else:
                name, _, a, operation, b = words
                self.lines.append((name, OPERATIONS[operation], a, b))

    def order_is_possible(self, order):
        there = set(self.inputs)
        for index in order:
            name, _, a, b = self.lines[index]
            if a not in there or b not in there:
                return False
            there.add(name)
        return True


class Allocation:
    """Registers for the lines in an order; `text` is the code, `cycles` its cost."""

    def __init__(self, circuit, order):
        self.circuit = circuit
        self.uses = {}
        for position, index in enumerate(order):
            for operand in circuit.lines[index][2:]:
                self.uses.setdefault(operand, []).append(position)
        self.end = len(order)
        for name in circuit.outputs:
            self.uses.setdefault(name, []).append(self.end)
        self.where = dict(circuit.inputs)
        self.free = list(circuit.free)
        self.slots = {}
        self.text = []
        self.cycles = 0
        self.last_was_load = False
        for position, index in enumerate(order):
            self.place(position, circuit.lines[index])
        self.settle()

    def emit(self, text, cycles, is_load=False):
        self.text.append(text)
        self.cycles += cycles
        self.last_was_load = is_load

    def next_use(self, name, position):
        return next((use for use in self.uses.get(name, ()) if use >= position), self.end + 1)

    def take_register(self, position, keep, wish=None):
        """A free register, the one wished for if it is; else that of the value needed last."""
        if wish in self.free:
            self.free.remove(wish)
            return wish
        if self.free:
            return self.free.pop()
        victims = [name for name in self.where if name not in keep]
        victim = max(victims, key=lambda name: (self.next_use(name, position), name in self.slots))
        register = self.where.pop(victim)
        if victim not in self.slots and self.next_use(victim, position) <= self.end:
            self.slots[victim] = len(self.slots)
            self.emit(f"str.w\t{register}, [sp, #SPILL + {4 * self.slots[victim]}]", not self.last_was_load)
        return register

    def place(self, position, line):
        name, operation, a, b = line
        for operand in (a, b):
            if operand not in self.where:
                register = self.take_register(position, (a, b))
                self.where[operand] = register
                slot = 4 * self.slots[operand]
                self.emit(f"ldr.w\t{register}, [sp, #SPILL + {slot}]", 2 - self.last_was_load, True)
        sources = self.where[a], self.where[b]
        for operand in {a, b}:
            if self.next_use(operand, position + 1) > self.end:
                self.free.append(self.where.pop(operand))
        register = self.take_register(position + 1, (a, b), self.circuit.outputs.get(name))
        self.where[name] = register
        self.emit(f"{operation}.w\t{register}, {sources[0]}, {sources[1]}", 1)

    def settle(self):
        """Moves the outputs where they are wanted."""
        wrong = {self.where[n]: r for n, r in self.circuit.outputs.items() if n in self.where and self.where[n] != r}
        for name, register in self.circuit.outputs.items():
            if name not in self.where:
                self.cycles += 1000
        while wrong:
            source = next((s for s, to in wrong.items() if to not in wrong), None)
            if source is None:
                self.cycles += 1000
                return
            self.emit(f"mov.w\t{wrong.pop(source)}, {source}", 1)


def search(circuit, seed, steps):
    draw = random.Random(seed)
    order = list(range(len(circuit.lines)))
    assert circuit.order_is_possible(order)
    cost = Allocation(circuit, order).cycles
    best, best_cost = order[:], cost
    position_of = {line[0]: index for index, line in enumerate(circuit.lines)}
    operands = [[position_of[o] for o in line[2:] if o in position_of] for line in circuit.lines]
    users = [[] for _ in circuit.lines]
    for index, needed in enumerate(operands):
        for other in needed:
            users[other].append(index)
    for step in range(steps):
        heat = 1.5 * (1 - step / steps) + 0.05
        at = draw.randrange(len(order))
        index = order[at]
        place = {line: position for position, line in enumerate(order)}
        low = max((place[o] + 1 for o in operands[index]), default=0)
        high = min((place[u] - 1 for u in users[index]), default=len(order) - 1)
        to = draw.randint(low, high)
        if to == at:
            continue
        candidate = order[:at] + order[at + 1:]
        candidate.insert(to, index)
        new = Allocation(circuit, candidate).cycles
        if new <= cost or draw.random() < math.exp((cost - new) / heat):
            order, cost = candidate, new
            if cost < best_cost:
                best, best_cost = order[:], cost
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("circuit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=200000)
    arguments = parser.parse_args()
    circuit = Circuit(open(arguments.circuit).read())
    found = Allocation(circuit, search(circuit, arguments.seed, arguments.steps))
    print(f"@ {found.cycles} cycles, {len(found.slots)} words on the stack.")
    for line in found.text:
        print(f"\t{line}")


if __name__ == "__main__":
    main()
