//! A state machine of a PIO block: its registers and queues, and the execution of an instruction.
//! Sections 3.4 (instructions) and 3.5 (details).

use std::collections::VecDeque;

/// EXECCTRL.
const EXEC_STALLED: u32 = 1 << 31;
const SIDE_EN: u32 = 1 << 30;
const SIDE_PINDIR: u32 = 1 << 29;
const JMP_PIN: u32 = 24;
const INLINE_OUT_EN: u32 = 1 << 18;
const OUT_STICKY: u32 = 1 << 17;
const WRAP_TOP: u32 = 12;
const WRAP_BOTTOM: u32 = 7;
const STATUS_SEL: u32 = 1 << 4;
/// SHIFTCTRL.
const FJOIN_RX: u32 = 1 << 31;
const FJOIN_TX: u32 = 1 << 30;
const PULL_THRESH: u32 = 25;
const PUSH_THRESH: u32 = 20;
const OUT_SHIFTDIR: u32 = 1 << 19;
const IN_SHIFTDIR: u32 = 1 << 18;
const AUTOPULL: u32 = 1 << 17;
const AUTOPUSH: u32 = 1 << 16;
/// The bits of the registers that keep what is written, and their values after a reset.
const CLKDIV_MASK: u32 = 0xffff_ff00;
const EXECCTRL_MASK: u32 = 0x7fff_ff9f;
const SHIFTCTRL_MASK: u32 = 0xffff_0000;
const CLKDIV_RESET: u32 = 1 << 16;
const EXECCTRL_RESET: u32 = 0x1f << WRAP_TOP;
const SHIFTCTRL_RESET: u32 = OUT_SHIFTDIR | IN_SHIFTDIR;
const PINCTRL_RESET: u32 = 5 << 26;
/// Words of a queue.
const DEPTH: usize = 4;

/// The pins as the state machines of a block drive them, and their interrupt flags.
#[derive(Clone, Copy, Default)]
pub struct Shared {
    pub outputs: u32,
    pub directions: u32,
    /// IRQ.
    pub flags: u32,
    /// The levels at the inputs, behind their synchronisers.
    pub inputs: u32,
}

/// Flags of FDEBUG that an instruction or an access sets.
#[derive(Clone, Copy, Default)]
pub struct Debug {
    pub tx_stall: bool,
    pub tx_over: bool,
    pub rx_under: bool,
    pub rx_stall: bool,
}

/// The end of an attempt to execute an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It is done; the number is its cycles of delay.
    Delay(u32),
    /// It waits.
    Stalled(Wait),
}

/// The condition that a stalled instruction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The next cycle.
    Cycle,
    /// Data in the transmit queue, or room in the receive queue.
    Queue,
    /// A level at a pin.
    Pin,
    /// A flag that is set or cleared.
    Flag,
}

/// A state machine.
#[derive(Clone)]
pub struct StateMachine {
    number: u32,
    pub divider: u32,
    execution: u32,
    shift: u32,
    pins: u32,
    pub enabled: bool,
    /// PC.
    pub address: u32,
    x: u32,
    y: u32,
    isr: u32,
    isr_count: u32,
    osr: u32,
    osr_count: u32,
    /// An instruction in place of the next one: of OUT EXEC and MOV EXEC, or one that was written
    /// to INSTR and stalled.
    latched: Option<u16>,
    /// The latched instruction was written to INSTR.
    forced: bool,
    /// An IRQ instruction has set its flag, and waits for its end.
    waits_for_flag: bool,
    pub transmit: VecDeque<u32>,
    pub receive: VecDeque<u32>,
    pub debug: Debug,
}

/// A field of a register or an instruction.
fn field(word: u32, at: u32, bits: u32) -> u32 {
    word >> at & ((1 << bits) - 1)
}

/// The `count` low bits of a word, of which there are up to 32.
fn low(word: u32, count: u32) -> u32 {
    if count >= 32 { word } else { word & ((1 << count) - 1) }
}

impl StateMachine {
    pub fn new(number: u32) -> StateMachine {
        StateMachine {
            number,
            divider: CLKDIV_RESET,
            execution: EXECCTRL_RESET,
            shift: SHIFTCTRL_RESET,
            pins: PINCTRL_RESET,
            enabled: false,
            address: 0,
            x: 0,
            y: 0,
            isr: 0,
            isr_count: 0,
            osr: 0,
            osr_count: 32,
            latched: None,
            forced: false,
            waits_for_flag: false,
            transmit: VecDeque::new(),
            receive: VecDeque::new(),
            debug: Debug::default(),
        }
    }

    /// Clears what CTRL.SM_RESTART clears, and no more.
    pub fn restart(&mut self) {
        (self.isr, self.isr_count, self.osr_count) = (0, 0, 32);
        (self.latched, self.forced, self.waits_for_flag) = (None, false, false);
    }

    /// Parts of 256 of a cycle between two cycles of its own; an integer part of 0 is 65536.
    pub fn period(&self) -> u64 {
        match u64::from(self.divider >> 8) {
            fraction @ 0..256 => 65536 << 8 | fraction,
            period => period,
        }
    }

    pub fn set_divider(&mut self, divider: u32) {
        self.divider = divider & CLKDIV_MASK;
    }

    /// EXECCTRL as it is read.
    pub fn execution(&self) -> u32 {
        self.execution | if self.forced { EXEC_STALLED } else { 0 }
    }

    /// Writes EXECCTRL.
    ///
    /// # Errors
    /// A setting that is not modelled.
    pub fn set_execution(&mut self, execution: u32) -> Result<(), &'static str> {
        if execution & (INLINE_OUT_EN | OUT_STICKY) != 0 {
            return Err("EXECCTRL: OUT_STICKY and INLINE_OUT_EN are not modelled");
        }
        self.execution = execution & EXECCTRL_MASK;
        Ok(())
    }

    pub fn pins(&self) -> u32 {
        self.pins
    }

    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// Writes SHIFTCTRL; queues that are joined or parted are emptied.
    pub fn set_shift(&mut self, shift: u32) {
        if (self.shift ^ shift) & (FJOIN_RX | FJOIN_TX) != 0 {
            self.transmit.clear();
            self.receive.clear();
        }
        self.shift = shift & SHIFTCTRL_MASK;
    }

    /// Writes PINCTRL.
    ///
    /// # Errors
    /// More pins than there can be.
    pub fn set_pins(&mut self, pins: u32) -> Result<(), &'static str> {
        if field(pins, 26, 3) > 5 || field(pins, 29, 3) > 5 {
            return Err("PINCTRL: SET_COUNT and SIDESET_COUNT go to 5");
        }
        self.pins = pins;
        Ok(())
    }

    /// Words that its queues hold.
    pub fn transmit_depth(&self) -> usize {
        match self.shift & (FJOIN_RX | FJOIN_TX) {
            FJOIN_TX => 2 * DEPTH,
            0 => DEPTH,
            _ => 0,
        }
    }

    pub fn receive_depth(&self) -> usize {
        match self.shift & (FJOIN_RX | FJOIN_TX) {
            FJOIN_RX => 2 * DEPTH,
            0 => DEPTH,
            _ => 0,
        }
    }

    pub fn can_transmit(&self) -> bool {
        self.transmit.len() < self.transmit_depth()
    }

    /// A word from the bus.
    pub fn push(&mut self, word: u32) {
        if self.can_transmit() {
            self.transmit.push_back(word);
        } else {
            self.debug.tx_over = true;
        }
    }

    /// A word for the bus.
    pub fn pop(&mut self) -> u32 {
        self.debug.rx_under |= self.receive.is_empty();
        self.receive.pop_front().unwrap_or(0)
    }

    fn threshold(&self, at: u32) -> u32 {
        match field(self.shift, at, 5) {
            0 => 32,
            bits => bits,
        }
    }

    /// Fills the output shift register by autopull if it is empty, as each cycle does that is none
    /// of an OUT, behind its instruction (section 3.5.4).
    pub fn refill(&mut self) {
        if self.shift & AUTOPULL != 0
            && self.osr_count >= self.threshold(PULL_THRESH)
            && let Some(word) = self.transmit.pop_front()
        {
            (self.osr, self.osr_count) = (word, 0);
        }
    }

    /// The instruction that it executes next, or is at.
    pub fn instruction(&self, memory: &[u16; 32]) -> u16 {
        self.latched.unwrap_or(memory[self.address as usize & 31])
    }

    /// An instruction that was written to INSTR, which is executed at once and without its delay;
    /// one that stalls goes on with the state machine's own cycles.
    /// Errors as of [`Self::step`].
    pub fn force(&mut self, instruction: u16, shared: &mut Shared) -> Result<Done, &'static str> {
        (self.latched, self.forced, self.waits_for_flag) = (Some(instruction), true, false);
        self.step(&[0; 32], shared)
    }

    /// A cycle of its own, which is none of a delay.
    ///
    /// # Errors
    /// The encoding of its instruction is reserved.
    pub fn step(&mut self, memory: &[u16; 32], shared: &mut Shared) -> Result<Done, &'static str> {
        let instruction = u32::from(self.instruction(memory));
        if is_reserved(instruction) {
            return Err("a state machine meets an instruction whose encoding is reserved");
        }
        let was_latched = self.latched;
        let mut next = match was_latched {
            Some(_) => self.address,
            None if self.address == field(self.execution, WRAP_TOP, 5) => {
                field(self.execution, WRAP_BOTTOM, 5)
            }
            None => (self.address + 1) & 31,
        };
        let mut executes = None;
        let stalled = self.execute(instruction, &mut next, &mut executes, shared);
        if instruction >> 13 != 3 {
            self.refill();
        }
        let (directions, base, count, sides, delay) = self.sides(instruction);
        put(shared, directions, base, count, sides);
        if let Some(wait) = stalled {
            return Ok(Done::Stalled(wait));
        }
        self.address = next;
        self.latched = executes;
        let delay = if std::mem::take(&mut self.forced) || executes.is_some() { 0 } else { delay };
        Ok(Done::Delay(delay))
    }

    /// The pins that the side-set of the instruction it is at has.
    pub fn side_pins(&self, memory: &[u16; 32]) -> u32 {
        let (_, base, count, ..) = self.sides(self.instruction(memory).into());
        low(u32::MAX, count).rotate_left(base)
    }

    /// Sets the stall flag of the queue that the instruction it is at waits for.
    pub fn flag_stall(&mut self, memory: &[u16; 32]) {
        let instruction = self.instruction(memory);
        let receives = instruction >> 13 == 2 || instruction >> 13 == 4 && instruction & 0x80 == 0;
        let flag = if receives { &mut self.debug.rx_stall } else { &mut self.debug.tx_stall };
        *flag = true;
    }

    /// The side-set of an instruction: whether it sets directions, its first pin, their number, and
    /// the value. It has precedence over the instruction (section 3.5.1). The instruction's delay.
    fn sides(&self, instruction: u32) -> (bool, u32, u32, u32, u32) {
        let count = field(self.pins, 29, 3);
        let bits = field(instruction, 8, 5);
        let delay = low(bits, 5 - count);
        let sides = bits >> (5 - count);
        let optional = self.execution & SIDE_EN != 0 && count != 0;
        let enabled = !optional || sides >> (count - 1) & 1 != 0;
        let count = if optional { count - 1 } else { count };
        let count = if enabled { count } else { 0 };
        (self.execution & SIDE_PINDIR != 0, field(self.pins, 10, 5), count, sides, delay)
    }

    /// Executes an instruction; returns what it waits for if it stalls.
    fn execute(
        &mut self,
        instruction: u32,
        next: &mut u32,
        executes: &mut Option<u16>,
        shared: &mut Shared,
    ) -> Option<Wait> {
        let (operand, index) = (field(instruction, 5, 3), field(instruction, 0, 5));
        match instruction >> 13 {
            0 => self.jump(operand, index, next, shared),
            1 => return self.wait(operand, index, shared),
            2 => return self.shift_in(operand, index, shared),
            3 => return self.shift_out(operand, index, next, executes, shared),
            4 if operand & 4 == 0 => return self.push_isr(operand),
            4 => return self.pull_osr(operand),
            5 => {
                let value = self.moved(index, shared);
                self.put_moved(operand, value, next, executes, shared);
            }
            6 => return self.interrupt(operand, index, shared),
            _ => match operand {
                0 | 4 => put(shared, operand == 4, field(self.pins, 5, 5), field(self.pins, 26, 3), index),
                1 => self.x = index,
                2 => self.y = index,
                _ => {}
            },
        }
        None
    }

    fn jump(&mut self, condition: u32, target: u32, next: &mut u32, shared: &Shared) {
        let (x, y) = (self.x, self.y);
        let taken = match condition {
            0 => true,
            1 => x == 0,
            2 => x != 0,
            3 => y == 0,
            4 => y != 0,
            5 => x != y,
            6 => shared.inputs >> field(self.execution, JMP_PIN, 5) & 1 != 0,
            _ => self.osr_count < self.threshold(PULL_THRESH),
        };
        match condition {
            2 => self.x = x.wrapping_sub(1),
            4 => self.y = y.wrapping_sub(1),
            _ => {}
        }
        if taken {
            *next = target;
        }
    }

    /// The flag of an instruction's index, relative to the state machine where its MSB says so.
    fn flag(&self, index: u32) -> u32 {
        if index & 0x10 != 0 { index & 4 | (index + self.number) & 3 } else { index & 7 }
    }

    fn wait(&mut self, operand: u32, index: u32, shared: &mut Shared) -> Option<Wait> {
        let high = operand & 4 != 0;
        match operand & 3 {
            2 => {
                let bit = 1 << self.flag(index);
                if (shared.flags & bit != 0) != high {
                    return Some(Wait::Flag);
                }
                if high {
                    shared.flags &= !bit;
                }
                None
            }
            source => {
                let base = if source == 1 { field(self.pins, 15, 5) } else { 0 };
                let pin = (base + index) & 31;
                ((shared.inputs >> pin & 1 != 0) != high).then_some(Wait::Pin)
            }
        }
    }

    fn shift_in(&mut self, source: u32, bits: u32, shared: &Shared) -> Option<Wait> {
        let bits = if bits == 0 { 32 } else { bits };
        let count = (self.isr_count + bits).min(32);
        let pushes = self.shift & AUTOPUSH != 0 && count >= self.threshold(PUSH_THRESH);
        if pushes && self.receive.len() >= self.receive_depth() {
            self.debug.rx_stall = true;
            return Some(Wait::Queue);
        }
        let value = match source {
            0 => shared.inputs.rotate_right(field(self.pins, 15, 5)),
            1 => self.x,
            2 => self.y,
            6 => self.isr,
            7 => self.osr,
            _ => 0,
        };
        let value = low(value, bits);
        self.isr = match (bits, self.shift & IN_SHIFTDIR != 0) {
            (32, _) => value,
            (_, true) => self.isr >> bits | value << (32 - bits),
            (_, false) => self.isr << bits | value,
        };
        self.isr_count = count;
        if pushes {
            self.receive.push_back(self.isr);
            (self.isr, self.isr_count) = (0, 0);
        }
        None
    }

    fn shift_out(
        &mut self,
        destination: u32,
        bits: u32,
        next: &mut u32,
        executes: &mut Option<u16>,
        shared: &mut Shared,
    ) -> Option<Wait> {
        let bits = if bits == 0 { 32 } else { bits };
        if self.shift & AUTOPULL != 0 && self.osr_count >= self.threshold(PULL_THRESH) {
            // It stalls in this cycle, whether or not there is a word.
            let empty = self.transmit.is_empty();
            self.debug.tx_stall |= empty;
            self.refill();
            return Some(if empty { Wait::Queue } else { Wait::Cycle });
        }
        let value;
        (value, self.osr) = match (bits, self.shift & OUT_SHIFTDIR != 0) {
            (32, _) => (self.osr, 0),
            (_, true) => (low(self.osr, bits), self.osr >> bits),
            (_, false) => (self.osr >> (32 - bits), self.osr << bits),
        };
        self.osr_count = (self.osr_count + bits).min(32);
        match destination {
            4 => put(shared, true, field(self.pins, 0, 5), field(self.pins, 20, 6), value),
            6 => (self.isr, self.isr_count) = (value, bits),
            7 => *executes = Some(value as u16),
            5 => *next = value & 31,
            _ => self.put_register(destination, value, shared),
        }
        self.refill();
        None
    }

    /// The pins of OUT, X and Y, the destinations that OUT and MOV have in common.
    fn put_register(&mut self, destination: u32, value: u32, shared: &mut Shared) {
        match destination {
            0 => put(shared, false, field(self.pins, 0, 5), field(self.pins, 20, 6), value),
            1 => self.x = value,
            2 => self.y = value,
            _ => {}
        }
    }

    fn push_isr(&mut self, operand: u32) -> Option<Wait> {
        let (if_full, blocks) = (operand & 2 != 0, operand & 1 != 0);
        if if_full && self.isr_count < self.threshold(PUSH_THRESH) {
            return None;
        }
        if self.receive.len() < self.receive_depth() {
            self.receive.push_back(self.isr);
        } else {
            self.debug.rx_stall = true;
            if blocks {
                return Some(Wait::Queue);
            }
        }
        (self.isr, self.isr_count) = (0, 0);
        None
    }

    fn pull_osr(&mut self, operand: u32) -> Option<Wait> {
        let (if_empty, blocks) = (operand & 2 != 0, operand & 1 != 0);
        let is_full = self.osr_count < self.threshold(PULL_THRESH);
        // With autopull it is a barrier alone.
        if is_full && (if_empty || self.shift & AUTOPULL != 0) {
            return None;
        }
        match self.transmit.pop_front() {
            Some(word) => self.osr = word,
            None if blocks => {
                self.debug.tx_stall = true;
                return Some(Wait::Queue);
            }
            None => self.osr = self.x,
        }
        self.osr_count = 0;
        None
    }

    fn moved(&self, index: u32, shared: &Shared) -> u32 {
        let value = match index & 7 {
            0 => shared.inputs.rotate_right(field(self.pins, 15, 5)),
            1 => self.x,
            2 => self.y,
            5 => {
                let queue = if self.execution & STATUS_SEL != 0 { &self.receive } else { &self.transmit };
                if queue.len() < field(self.execution, 0, 4) as usize { u32::MAX } else { 0 }
            }
            6 => self.isr,
            7 => self.osr,
            _ => 0,
        };
        match index >> 3 & 3 {
            1 => !value,
            2 => value.reverse_bits(),
            _ => value,
        }
    }

    fn put_moved(
        &mut self,
        destination: u32,
        value: u32,
        next: &mut u32,
        executes: &mut Option<u16>,
        shared: &mut Shared,
    ) {
        match destination {
            4 => *executes = Some(value as u16),
            5 => *next = value & 31,
            6 => (self.isr, self.isr_count) = (value, 0),
            7 => (self.osr, self.osr_count) = (value, 0),
            _ => self.put_register(destination, value, shared),
        }
    }

    fn interrupt(&mut self, operand: u32, index: u32, shared: &mut Shared) -> Option<Wait> {
        let (clears, waits) = (operand & 2 != 0, operand & 1 != 0);
        let bit = 1 << self.flag(index);
        if clears {
            shared.flags &= !bit;
            return None;
        }
        if !std::mem::replace(&mut self.waits_for_flag, waits) {
            shared.flags |= bit;
        }
        if waits && shared.flags & bit != 0 {
            return Some(Wait::Flag);
        }
        self.waits_for_flag = false;
        None
    }
}

/// Returns true if the encoding of an instruction is reserved (section 3.4).
fn is_reserved(instruction: u32) -> bool {
    let (operand, index) = (field(instruction, 5, 3), field(instruction, 0, 5));
    let reserves_flag = index & 8 != 0;
    match instruction >> 13 {
        1 => operand & 3 == 3 || operand & 3 == 2 && reserves_flag,
        2 => matches!(operand, 4 | 5),
        4 => index != 0,
        5 => operand == 3 || index & 7 == 4 || index >> 3 == 3,
        6 => operand & 4 != 0 || reserves_flag,
        7 => matches!(operand, 3 | 5..),
        _ => false,
    }
}

/// Puts the `count` low bits of a value at the pins from `base` on, modulo 32: their levels, or
/// their directions.
fn put(shared: &mut Shared, directions: bool, base: u32, count: u32, value: u32) {
    let mask = low(u32::MAX, count).rotate_left(base);
    let value = value.rotate_left(base) & mask;
    let target = if directions { &mut shared.directions } else { &mut shared.outputs };
    *target = *target & !mask | value;
}
