//! A PIO block: four state machines that share 32 instructions, with queues, pins and interrupt
//! flags. Section 3.
//!
//! A state machine executes an instruction in each of its cycles, with the delay's cycles behind
//! it. Its cycles lie CLKDIV apart, from CLKDIV_RESTART on; a fraction rounds them up to cycles of
//! clk_sys. A flag that one state machine changes is seen by the others in the next cycle; at a pin
//! the one of the highest number has precedence. Levels at pins pass the two cycles of their
//! synchroniser (section 3.5.6.3), also those that the part drives itself. Estimates: the first
//! instruction comes in the first cycle of its own after the write of SM_ENABLE. One that is
//! written to INSTR is executed with the write, without its delay. It ends a delay. A stalled
//! side-set gets its pins back in the cycle after another state machine changed them. The other
//! block sees a pin of this one up to an instruction of the core later. Refused: OUT_STICKY,
//! INLINE_OUT_EN and reserved encodings.

mod machine;
mod schedule;

use super::interrupts::Interrupts;
use super::{BLOCK, Write, register};
use crate::peripherals::register::part_of_word;
use crate::{Context, Event, Fault, Part, Peripheral, PeripheralSpec, Pin, Spec};
use machine::{Done, Shared, StateMachine, Wait};
use schedule::Schedule;
use std::collections::VecDeque;

const COUNT: usize = 4;
const PINS: u8 = 30;
const CTRL: u32 = 0x00;
const FSTAT: u32 = 0x04;
const FDEBUG: u32 = 0x08;
const FLEVEL: u32 = 0x0c;
const TXF0: u32 = 0x10;
const RXF0: u32 = 0x20;
const IRQ: u32 = 0x30;
const IRQ_FORCE: u32 = 0x34;
const INPUT_SYNC_BYPASS: u32 = 0x38;
const DBG_PADOUT: u32 = 0x3c;
const DBG_PADOE: u32 = 0x40;
const DBG_CFGINFO: u32 = 0x44;
const INSTR_MEM0: u32 = 0x48;
const SM0: u32 = 0xc8;
/// Registers of a state machine.
const STRIDE: u32 = 0x18;
const CLKDIV: u32 = 0x00;
const EXECCTRL: u32 = 0x04;
const SHIFTCTRL: u32 = 0x08;
const ADDR: u32 = 0x0c;
const INSTR: u32 = 0x10;
const INTR: u32 = 0x128;
/// IRQ0_INTE, then INTF and INTS, then those of IRQ1.
const IRQ0_INTE: u32 = 0x12c;
const IRQ1_INTS: u32 = 0x140;
/// INTR and its like: queues and the lower four flags.
const INTERRUPTS: u32 = 0xfff;
/// DBG_CFGINFO: instructions, state machines, words of a queue.
const CONFIGURATION: u32 = 32 << 16 | 4 << 8 | 4;
/// Cycles of an input's synchroniser.
const SYNCHRONISER: u64 = 2;
/// FUNCSEL of PIO0; that of PIO1 follows.
pub(super) const FUNCTION: u8 = 6;

/// The block.
#[derive(Clone)]
pub struct Pio {
    name: String,
    base: u32,
    irq: u8,
    /// 0 or 1.
    number: u8,
    held: bool,
    memory: [u16; 32],
    machines: [StateMachine; COUNT],
    schedules: [Schedule; COUNT],
    shared: Shared,
    bypass: u32,
    interrupts: [Interrupts; 2],
    /// Its port's pins, those that it was given, and the routing of the board at that time.
    pins: Vec<Pin>,
    given: u32,
    routing: Option<u32>,
    /// The levels and directions that its pins were last driven with.
    driven: (u32, u32),
    /// The levels outside, and those on their way through the synchronisers.
    outside: u32,
    arriving: VecDeque<(u64, u32)>,
    /// Its requests of DMA.
    requests: u128,
}

impl Pio {
    /// The block at `spec.base`; `spec.irq` is its first interrupt, which the other follows, and
    /// `settings.number` 0 or 1. Its pins are those of the port `GPIO`.
    ///
    /// # Errors
    /// One of them that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Pio, String> {
        let needs = |what: &str| format!("{}: {} needs {what}", part.name, spec.name);
        let number = spec.settings.get("number").filter(|number| matches!(**number, 0 | 1));
        Ok(Pio {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.filter(|irq| *irq < 127).ok_or_else(|| needs("irq"))?,
            number: *number.ok_or_else(|| needs("number, 0 or 1"))? as u8,
            held: true,
            memory: [0; 32],
            machines: std::array::from_fn(|number| StateMachine::new(number as u32)),
            schedules: [Schedule::default(); COUNT],
            shared: Shared::default(),
            bypass: 0,
            interrupts: [Interrupts::new(INTERRUPTS); 2],
            pins: (0..PINS).map(|pin| Pin::new("GPIO", pin)).collect(),
            given: 0,
            routing: None,
            driven: (0, 0),
            outside: 0,
            arriving: VecDeque::new(),
            requests: 0,
        })
    }

    /// As after its own reset; the levels outside stay.
    fn clear(&mut self) {
        self.memory = [0; 32];
        self.machines = std::array::from_fn(|number| StateMachine::new(number as u32));
        self.schedules = [Schedule::default(); COUNT];
        self.shared = Shared { inputs: self.shared.inputs, ..Shared::default() };
        self.bypass = 0;
        self.interrupts = [Interrupts::new(INTERRUPTS); 2];
    }

    /// Executes what comes up to cycle `now`.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some(cycle) = self.next_cycle().filter(|cycle| *cycle <= context.now) {
            self.take_inputs(cycle);
            let before = self.shared;
            let mut flags = before.flags;
            for index in 0..COUNT {
                if self.schedules[index].next.is_some_and(|next| next.div_ceil(256) == cycle) {
                    self.shared.flags = before.flags;
                    self.step(index, context);
                    // A flag's change in this cycle is seen in the next one.
                    let changed = self.shared.flags ^ before.flags;
                    flags = flags & !changed | self.shared.flags & changed;
                }
            }
            self.shared.flags = flags;
            if flags != before.flags {
                self.wake(cycle, |wait| wait == Wait::Flag);
            }
            self.keep_sides(before, cycle);
            self.drive(cycle, context);
            self.request(cycle, context);
        }
        self.take_inputs(context.now);
    }

    /// The cycle of clk_sys in which a state machine goes on.
    fn next_cycle(&self) -> Option<u64> {
        self.schedules.iter().filter_map(|schedule| schedule.next).min().map(|next| next.div_ceil(256))
    }

    fn step(&mut self, index: usize, context: &mut Context<'_, '_>) {
        match self.machines[index].step(&self.memory, &mut self.shared) {
            Ok(done) => self.finish_instruction(index, done),
            Err(what) => {
                self.schedules[index].next = None;
                context.stop(&self.name, what);
            }
        }
    }

    /// State machines that stall with a side-set go on where their pins were changed by others.
    fn keep_sides(&mut self, before: Shared, cycle: u64) {
        let after = self.shared;
        let changed = (before.outputs ^ after.outputs) | (before.directions ^ after.directions);
        for index in 0..COUNT {
            if self.schedules[index].waits.is_some()
                && self.machines[index].side_pins(&self.memory) & changed != 0
            {
                self.resume(index, cycle);
            }
        }
    }

    /// Finds when the state machine goes on after an attempt to execute an instruction.
    fn finish_instruction(&mut self, index: usize, done: Done) {
        let period = self.machines[index].period();
        let schedule = &mut self.schedules[index];
        let Some(at) = schedule.next else { return };
        schedule.origin = at;
        (schedule.next, schedule.waits) = match done {
            Done::Delay(cycles) => (Some(at + period * u64::from(1 + cycles)), None),
            Done::Stalled(Wait::Cycle) => (Some(at + period), None),
            // Further levels are on their way to it.
            Done::Stalled(Wait::Pin) if !self.arriving.is_empty() => (Some(at + period), Some(Wait::Pin)),
            Done::Stalled(wait) => (None, Some(wait)),
        };
    }

    /// State machines that wait for such a thing go on in their next cycle after `cycle`.
    fn wake(&mut self, cycle: u64, is_due: impl Fn(Wait) -> bool) {
        for index in 0..COUNT {
            if self.schedules[index].waits.is_some_and(&is_due) {
                let before = self.schedules[index].next;
                self.resume(index, cycle);
                let next = &mut self.schedules[index].next;
                *next = before.into_iter().chain(*next).min();
            }
        }
    }

    /// A state machine that is on goes on in its next cycle after `cycle`.
    fn resume(&mut self, index: usize, cycle: u64) {
        let schedule = &mut self.schedules[index];
        schedule.waits = None;
        schedule.next = None;
        if self.machines[index].enabled {
            let period = self.machines[index].period();
            let delay = std::mem::take(&mut schedule.delay);
            schedule.next = Some(schedule.after(cycle, period) + delay * period);
        }
    }

    /// Takes the levels that have passed their synchronisers.
    fn take_inputs(&mut self, cycle: u64) {
        while let Some((_, levels)) = self.arriving.front().copied().filter(|(at, _)| *at <= cycle) {
            self.outside = levels;
            self.arriving.pop_front();
        }
        self.shared.inputs = self.outside;
    }

    fn on_inputs_changed(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
        self.take_routing(context);
        self.take_levels(context.now, context);
    }

    /// The levels at the pins since a cycle go into their synchronisers.
    fn take_levels(&mut self, cycle: u64, context: &Context<'_, '_>) {
        let levels = context.board.levels("GPIO");
        let last = self.last_levels();
        if levels != last {
            self.arriving.push_back((cycle + SYNCHRONISER, levels));
            self.pass_bypassed();
            let bypassed = (levels ^ last) & self.bypass;
            let seen = cycle + if bypassed == 0 { SYNCHRONISER } else { 1 };
            self.wake(seen - 1, |wait| wait == Wait::Pin);
        }
    }

    /// The levels that entered the synchronisers last.
    fn last_levels(&self) -> u32 {
        self.arriving.back().map_or(self.outside, |(_, levels)| *levels)
    }

    /// Levels without synchronisers are those that came last.
    fn pass_bypassed(&mut self) {
        let (levels, bypass) = (self.last_levels() & self.bypass, self.bypass);
        let arriving = self.arriving.iter_mut().map(|(_, levels)| levels);
        arriving.chain([&mut self.outside]).for_each(|it| *it = *it & !bypass | levels);
    }

    /// The pins that are its own, if they have changed.
    fn take_routing(&mut self, context: &mut Context<'_, '_>) {
        if self.routing.replace(context.board.routing()) == Some(context.board.routing()) {
            return;
        }
        let is_given = |pin: &&Pin| context.board.alternate_function(pin) == Some(FUNCTION + self.number);
        let given = self.pins.iter().filter(is_given).fold(0, |mask, pin| mask | 1 << pin.bit);
        let new = given & !self.given;
        self.given = given;
        self.put_out(new, context.now, context);
    }

    /// Its pins have the levels and directions that the state machines gave them.
    fn drive(&mut self, cycle: u64, context: &mut Context<'_, '_>) {
        let (outputs, directions) = (self.shared.outputs, self.shared.directions);
        let changed = (self.driven.0 ^ outputs) | (self.driven.1 ^ directions);
        if changed != 0 {
            self.driven = (outputs, directions);
            self.put_out(changed & self.given, cycle, context);
            if changed & self.given != 0 {
                self.take_levels(cycle, context);
            }
        }
    }

    fn put_out(&mut self, mut pins: u32, cycle: u64, context: &mut Context<'_, '_>) {
        while pins != 0 {
            let pin = pins.trailing_zeros();
            pins &= pins - 1;
            let (level, drives) = (self.shared.outputs >> pin & 1, self.shared.directions >> pin & 1);
            let level = (drives != 0).then_some(level != 0);
            context.module_output(&self.pins[pin as usize], level, cycle);
        }
    }

    /// A mask of the state machines of which something is true.
    fn mask(&self, is_true: impl Fn(&StateMachine) -> bool) -> u32 {
        self.machines.iter().rev().fold(0, |mask, machine| mask << 1 | u32::from(is_true(machine)))
    }

    fn raw(&self) -> u32 {
        let room = self.mask(StateMachine::can_transmit);
        let data = self.mask(|machine| !machine.receive.is_empty());
        (self.shared.flags & 0xf) << 8 | room << 4 | data
    }

    /// Asks for interrupts and DMA.
    fn request(&mut self, cycle: u64, context: &mut Context<'_, '_>) {
        let raw = self.raw();
        for (index, irq) in (self.irq..).take(2).enumerate() {
            if self.interrupts[index].status(raw) != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
        let lines = if self.held { 0 } else { u128::from(raw >> 4 & 0xf | (raw & 0xf) << 4) };
        if lines != self.requests {
            self.requests = lines;
            let place = 8 * self.number;
            context.events.request_transfer((lines ^ 0xff) << place, false, cycle);
            context.events.request_transfer(lines << place, true, cycle);
        }
    }

    fn read_register(&mut self, offset: u32, now: u64) -> Option<u32> {
        Some(match offset {
            CTRL => self.mask(|machine| machine.enabled),
            FSTAT => {
                let full = |len: usize, depth: usize| len >= depth;
                self.mask(|it| it.transmit.is_empty()) << 24
                    | self.mask(|it| full(it.transmit.len(), it.transmit_depth())) << 16
                    | self.mask(|it| it.receive.is_empty()) << 8
                    | self.mask(|it| full(it.receive.len(), it.receive_depth()))
            }
            FDEBUG => {
                self.mask(|it| it.debug.tx_stall) << 24
                    | self.mask(|it| it.debug.tx_over) << 16
                    | self.mask(|it| it.debug.rx_under) << 8
                    | self.mask(|it| it.debug.rx_stall)
            }
            FLEVEL => {
                let levels = self.machines.iter().map(|it| it.receive.len() << 4 | it.transmit.len());
                levels.rev().fold(0, |word, levels| word << 8 | levels as u32)
            }
            TXF0..RXF0 | IRQ_FORCE | INSTR_MEM0..SM0 => 0,
            RXF0..IRQ => {
                let index = ((offset - RXF0) / 4) as usize;
                let word = self.machines[index].pop();
                self.wake_queue(index, now);
                word
            }
            IRQ => self.shared.flags,
            INPUT_SYNC_BYPASS => self.bypass,
            DBG_PADOUT => self.shared.outputs,
            DBG_PADOE => self.shared.directions,
            DBG_CFGINFO => CONFIGURATION,
            SM0..INTR => {
                let machine = &self.machines[((offset - SM0) / STRIDE) as usize];
                match (offset - SM0) % STRIDE {
                    CLKDIV => machine.divider,
                    EXECCTRL => machine.execution(),
                    SHIFTCTRL => machine.shift(),
                    ADDR => machine.address,
                    INSTR => machine.instruction(&self.memory).into(),
                    _ => machine.pins(),
                }
            }
            INTR => self.raw(),
            IRQ0_INTE..=IRQ1_INTS => {
                let index = ((offset - IRQ0_INTE) / 12) as usize;
                self.interrupts[index].read((offset - IRQ0_INTE) % 12, self.raw())
            }
            _ => return None,
        })
    }

    /// A state machine that waits for its queues goes on.
    fn wake_queue(&mut self, index: usize, now: u64) {
        if self.schedules[index].waits == Some(Wait::Queue) {
            self.resume(index, now);
        }
    }

    fn write_register(
        &mut self,
        offset: u32,
        write: Write,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        let now = context.now;
        match offset {
            CTRL => self.write_control(write.onto(self.mask(|machine| machine.enabled)), now),
            // A one clears, by whatever alias it comes.
            FDEBUG => {
                for (index, machine) in self.machines.iter_mut().enumerate() {
                    let cleared = write.value >> index;
                    machine.debug.tx_stall &= cleared >> 24 & 1 == 0;
                    machine.debug.tx_over &= cleared >> 16 & 1 == 0;
                    machine.debug.rx_under &= cleared >> 8 & 1 == 0;
                    machine.debug.rx_stall &= cleared & 1 == 0;
                    if machine.enabled && self.schedules[index].waits == Some(Wait::Queue) {
                        machine.flag_stall(&self.memory);
                    }
                }
            }
            TXF0..RXF0 => self.write_queue(((offset - TXF0) / 4) as usize, write.value, now),
            IRQ => self.set_flags(self.shared.flags & !write.value, now),
            IRQ_FORCE => self.set_flags(self.shared.flags | write.value & 0xff, now),
            INPUT_SYNC_BYPASS => {
                self.bypass = write.onto(self.bypass);
                self.pass_bypassed();
                self.wake(now, |wait| wait == Wait::Pin);
            }
            INSTR_MEM0..SM0 => {
                self.memory[((offset - INSTR_MEM0) / 4) as usize] = write.value as u16;
                self.wake(now, |_| true);
            }
            SM0..INTR => self.write_machine(offset - SM0, write, context)?,
            IRQ0_INTE..=IRQ1_INTS => {
                let index = ((offset - IRQ0_INTE) / 12) as usize;
                self.interrupts[index].write((offset - IRQ0_INTE) % 12, write);
            }
            FSTAT | FLEVEL | RXF0..IRQ | DBG_PADOUT | DBG_PADOE | DBG_CFGINFO | INTR => {}
            _ => return Err("register not modelled"),
        }
        Ok(())
    }

    fn write_control(&mut self, control: u32, now: u64) {
        for index in 0..COUNT {
            let machine = &mut self.machines[index];
            let was_enabled = std::mem::replace(&mut machine.enabled, control >> index & 1 != 0);
            let restarted = control >> (4 + index) & 1 != 0;
            let in_phase = control >> (8 + index) & 1 != 0;
            let schedule = &mut self.schedules[index];
            let left = schedule.left(now, machine.period());
            if restarted {
                machine.restart();
            }
            if in_phase {
                schedule.origin = now * 256;
            }
            let is_asleep = schedule.waits.is_some() && schedule.next.is_none() && !restarted;
            if !machine.enabled || restarted || in_phase {
                schedule.delay = if restarted { 0 } else { left };
            }
            if !machine.enabled {
                schedule.next = None;
            } else if !was_enabled || restarted || in_phase && !is_asleep {
                self.resume(index, now);
            }
        }
    }

    fn write_queue(&mut self, index: usize, word: u32, now: u64) {
        self.machines[index].push(word);
        let Schedule { next, waits, .. } = self.schedules[index];
        let period = self.machines[index].period();
        // A cycle of a delay, or of an instruction that waits, fills the output shift register.
        let has_cycle = match (next, waits) {
            (Some(next), None) => next > now * 256 + period,
            (_, Some(Wait::Pin | Wait::Flag)) => true,
            _ => false,
        };
        if self.machines[index].enabled && has_cycle {
            self.machines[index].refill();
        }
        self.wake_queue(index, now);
    }

    fn set_flags(&mut self, flags: u32, now: u64) {
        if std::mem::replace(&mut self.shared.flags, flags) != flags {
            self.wake(now, |wait| wait == Wait::Flag);
        }
    }

    fn write_machine(
        &mut self,
        offset: u32,
        write: Write,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        let (index, now) = ((offset / STRIDE) as usize, context.now);
        let machine = &mut self.machines[index];
        match offset % STRIDE {
            CLKDIV => {
                let schedule = &mut self.schedules[index];
                let (before, from) = (machine.period(), schedule.after(now, machine.period()));
                machine.set_divider(write.onto(machine.divider));
                let after = machine.period();
                schedule.origin = from;
                let moved = |next: u64| from + next.saturating_sub(from) / before * after;
                schedule.next = schedule.next.map(moved);
                return Ok(());
            }
            EXECCTRL => machine.set_execution(write.onto(machine.execution()))?,
            SHIFTCTRL => machine.set_shift(write.onto(machine.shift())),
            ADDR => return Ok(()),
            INSTR => {
                let before = self.shared;
                self.machines[index].force(write.value as u16, &mut self.shared)?;
                if self.shared.flags != before.flags {
                    self.wake(now, |wait| wait == Wait::Flag);
                }
                self.keep_sides(before, now);
                self.drive(now, context);
            }
            _ => machine.set_pins(write.onto(machine.pins()))?,
        }
        // What it waits for may be something else now.
        if self.schedules[index].waits.is_some() || offset % STRIDE == INSTR {
            self.resume(index, now);
        }
        Ok(())
    }
}

impl Peripheral for Pio {
    fn spec(&self) -> Spec {
        Spec { follows_inputs: true, ..Spec::new(&self.name, self.base..self.base + BLOCK) }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let word = self.read_register(register(address), context.now);
        let word = word.ok_or_else(|| context.fault(&self.name, address, "register not modelled"))?;
        self.request(context.now, context);
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if self.held {
            return super::written_in_reset(&self.name, address, context);
        }
        self.advance(context);
        self.take_routing(context);
        let write = Write::new(address, size, value);
        let written = self.write_register(register(address), write, context);
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.request(context.now, context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.next_cycle()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.on_inputs_changed(context),
            Event::ControlsChanged => {
                let bit = 1 << (10 + self.number);
                let was_held = std::mem::replace(&mut self.held, context.events.held & bit != 0);
                if self.held && !was_held {
                    self.clear();
                    self.drive(context.now, context);
                }
                if self.held != was_held {
                    self.request(context.now, context);
                }
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.shared.inputs = 0;
        self.clear();
        self.held = true;
        (self.given, self.routing, self.driven) = (0, None, (0, 0));
        self.outside = 0;
        self.arriving.clear();
        self.requests = 0;
    }
}
