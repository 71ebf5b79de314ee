//! Cycles of the Cortex-M3 (r1p1 and later) and Cortex-M4.
//!
//! Tables: DDI 0337I table 3-1 (M3), DDI 0439 table 3-1 (M4). Rules between neighbours: DDI 0337I
//! section 3.3.3, "Load/store timings", repeated in TI's SWCU185, section 2.7.3. What the manuals
//! leave open is decided thus:
//!
//! - Pipeline refill P ("1 to 3 depending on the alignment and width of the target instruction, and
//!   whether the processor manages to speculate the address early"): 1 for branches whose target is
//!   known in decode (B, BL, CBZ, and BX LR: with 2 the fixsliced AES of Adomnicai and Peyrin,
//!   TCHES 2021/1, comes out 1 % above its measured cycles), 2 for targets out of other registers,
//!   3 after a load; one more where a 32-bit target straddles two words.
//! - Of three 32-bit instructions in a row that lie across two words and come directly after one of
//!   several cycles the third takes a cycle more (eprint 2025/523). After single cycles none does:
//!   the key schedules and the decryption of jnk0le's AES have such rows in their loops, and not a
//!   cycle for them.
//! - Loads, stores and no-operations beside each other: what jnk0le measured ("pipeline cycle
//!   test"), in `tests/suite/cortex_m/pipeline_m3_m4.toml`. A store that hides in a load, and a
//!   no-operation beside one, take none here, for the load has counted the cycle.
//! - An access to STM32F4's SRAM2 waits a cycle: `fetch.rs`.
//! - IT is folded into a preceding 16-bit instruction and then costs nothing; otherwise one cycle.
//! - Long multiplies of the M3 (3 to 5, 4 to 7 cycles, "terminate early for inputs below 64K in
//!   magnitude"): one cycle for each operand that is not; the signed accumulating ones one more.
//! - Divides (2 to 12, by the leading zeros of the operands): three quotient bits a cycle.

mod float;

use self::float::FloatUnit;
use super::super::fetch::{FLASH_END, FetchUnit, KeptLines, Transfer};
use super::super::flash::{Changed, FlashRegisters, Settings};
use super::super::flash_interface::Interface;
use super::super::fpu::decode::{Operation, operation};
use super::super::op::{Op, Opcode};
use super::{Exception, Retired, Timing};
use crate::{CoreName, Fault, FlashSettings, GateRegister, Part, ResetCause};
use std::ops::Range;

/// State after the previous instruction. Bits 0 to 14 are registers that an address must wait for,
/// of a single load, a store with writeback or data processing. [`Op::extra`] has the same bits for
/// the address of a load or store, and [`after::STORE`] where a load waits for a store.
mod after {
    /// Anything that nothing overlaps.
    pub const OTHER: u32 = 0;
    pub const REGISTERS: u32 = 0x7fff;
    /// A single store with an immediate offset.
    pub const STORE: u32 = 1 << 15;
    /// A single load: its data phase takes a cycle that the next instruction may share.
    pub const LOAD: u32 = 1 << 16;
    /// A single store with a register offset: its second cycle goes to a no-operation, too.
    pub const STORE_REGISTER: u32 = 1 << 17;
    /// A 16-bit encoding: a following IT is folded into it.
    pub const NARROW: u32 = 1 << 18;
    /// A 32-bit encoding across two words.
    pub const ACROSS: u32 = 1 << 19;
    /// A branch: what follows is its target.
    pub const BRANCH: u32 = 1 << 20;
    /// It took more than a cycle: one more than how many [`ACROSS`] in a row have followed such a
    /// one, in units of this.
    pub const LONG: u32 = 1 << 21;
    pub const ROW: u32 = 3 * LONG;
}

/// [`Op::class`] of loads and stores.
mod class {
    /// A load that shares the data phase of a load before; a store that hides in it.
    pub const CHAINED: u8 = 0;
    /// A load or store that takes its full time after a load.
    pub const ALONE: u8 = 1;
    /// A store with register offset.
    pub const REGISTER_OFFSET: u8 = 2;
    /// LDRD, STRD, LDM, STM.
    pub const MULTIPLE: u8 = 3;
}

/// The halfwords of the prefetch buffer: three words.
const BUFFER: u32 = 6;

/// RM0090 section 3.5.2.
const STM32F4_LINES: KeptLines = KeptLines { instructions: 64, data: 8 };
/// RM0351 section 3.3.4, from memory: 32 lines of instructions and 8 of data, each of four reads of
/// the array. Each read is taken to come and go alone.
const STM32L4_LINES: KeptLines = KeptLines { instructions: 128, data: 32 };

/// The nRF52840's flash, whose clock never changes: two wait states without its instruction cache,
/// three for a miss with it (PS v1.1, "CPU", W_FLASH and W_FLASHCACHE). The cache lies on ICode
/// alone ("NVMC").
///
/// Data is read past the cache. That the line of the last read is kept for data is an assumption:
/// reads of tables in a row then wait once in four words. On the part P256-Cortex-M4's key
/// generation takes 327k cycles (its README); if every read waits, the model takes 14.7k more than
/// that, of which this takes 4.0k away. Without any wait for data the model would still be 10.0k
/// above.
const NRF52_UNCACHED: Settings =
    Settings { wait_states: 2, prefetch: false, instruction_lines: false, data_lines: true };
const NRF52_CACHED: Settings = Settings { wait_states: 3, instruction_lines: true, ..NRF52_UNCACHED };
/// Size of the nRF52840's cache, which the PS does not give. The nRF5340's network core, whose NVMC
/// has the same registers, has 2 kB (its PS, "Memory"). Its organisation is not published: full
/// associativity is an assumption. P-256-Cortex-M4's ECDH, whose field and curve arithmetic is
/// 2,016 bytes, then takes 0.3 % less than on the part (its README); with two ways it would take
/// 1.2 % more.
const NRF52_LINES: KeptLines = KeptLines { instructions: 128, data: 1 };

/// The timing of a Cortex-M3 or Cortex-M4 behind an STM32 flash interface, or a Cortex-M4 behind
/// the nRF52840's.
#[derive(Clone)]
pub struct M3 {
    /// Any multiplication takes a cycle: a Cortex-M4.
    fast_multiplier: bool,
    /// State after the previous instruction: [`after`].
    after: u32,
    /// Address of the last single access.
    block: u32,
    /// First address of a second bank of RAM, or the last of all.
    second_bank: u32,
    /// Bytes from the end of the flash up to a second bank of RAM.
    plain: u32,
    fetch: FetchUnit,
    /// Flash registers of an STM32; other parts have a flash controller on the bus.
    registers: Option<FlashRegisters>,
    float: FloatUnit,
}

/// Extra accesses of a load or store that is not aligned: it is split into aligned bytes and
/// halfwords (DDI 0337I section 3.4.2, "Unaligned data accesses").
#[inline(always)]
fn split(address: u32, size: u8) -> u32 {
    if address & (u32::from(size) - 1) == 0 { 0 } else { split_misaligned(address, size) }
}

#[cold]
#[inline(never)]
fn split_misaligned(address: u32, size: u8) -> u32 {
    if size == 4 && address & 1 != 0 { 2 } else { 1 }
}

impl M3 {
    #[inline(always)]
    fn branch(&mut self, target: u32) {
        self.after = after::BRANCH;
        self.fetch.branch(target);
    }

    /// Ends an instruction without data: its cycles and what the fetch unit adds. `after` is what
    /// it leaves.
    #[inline(always)]
    fn end(&mut self, op: &Op, note: u32, after: u32, address: u32, cycles: u32) -> u32 {
        let before = std::mem::replace(&mut self.after, after);
        if note & after::ACROSS != 0 && before & (after::ROW | after::BRANCH) != 0 {
            return self.end_across(op, before, address, cycles, Transfer::NONE);
        }
        if self.fetch.attention {
            cycles + self.fetch.run_instruction(address, u32::from(op.length), cycles, Transfer::NONE)
        } else {
            cycles
        }
    }

    /// Returns true if data at this address can take longer: in the flash, or in a second bank of
    /// RAM or above it.
    #[inline(always)]
    fn is_apart(&self, data: u32) -> bool {
        data.wrapping_sub(FLASH_END) >= self.plain
    }

    /// Ends an access to memory.
    #[inline(always)]
    fn end_access(
        &mut self,
        op: &Op,
        note: u32,
        after: u32,
        address: u32,
        cycles: u32,
        data: Transfer,
    ) -> u32 {
        let before = std::mem::replace(&mut self.after, after);
        if note & after::ACROSS != 0 && before & (after::ROW | after::BRANCH) != 0 {
            return self.end_across(op, before, address, cycles, data);
        }
        if self.fetch.attention || self.is_apart(data.address) {
            cycles + self.fetch.run_instruction(address, u32::from(op.length), cycles, data)
        } else {
            cycles
        }
    }

    /// Ends an instruction across two words that comes after a long one or as a branch's target.
    /// The third of a row after a long one takes a cycle more.
    #[inline(never)]
    fn end_across(&mut self, op: &Op, before: u32, address: u32, cycles: u32, data: Transfer) -> u32 {
        let row = before & after::ROW;
        if row != 0 && self.after & after::ROW == 0 {
            self.after |= (row + after::LONG) & after::ROW;
        }
        let cycles = cycles + u32::from(row == after::ROW);
        if self.fetch.attention || (data.words != 0 && self.is_apart(data.address)) {
            cycles + self.fetch.run_instruction(address, u32::from(op.length), cycles, data)
        } else {
            // The branch's refill brought the word with its first half.
            cycles + u32::from(before & after::BRANCH != 0)
        }
    }

    /// Returns true if two data addresses are in one block of memory. Flash, CCM, SRAM and its
    /// banks, and peripherals lie in different 64 MB or on different sides of the second bank's
    /// start.
    #[inline(always)]
    fn same_block(&self, one: u32, other: u32) -> bool {
        (one ^ other) >> 26 == 0 && (one < self.second_bank) == (other < self.second_bank)
    }

    /// Cycles of a single load, and whether it leaves [`after::LONG`].
    #[inline(always)]
    fn single_load(&mut self, op: &Op, data: u32, size: u8) -> (u32, u32) {
        let waits = self.after & u32::from(op.extra) != 0;
        let before = std::mem::replace(&mut self.block, data);
        let cycles = if self.after & after::LOAD == 0 {
            2 + u32::from(waits)
        } else if waits || op.class != class::CHAINED || !self.same_block(before, data) {
            2
        } else {
            1
        } + split(data, size);
        (cycles, if cycles > 1 { after::LONG } else { 0 })
    }

    /// Cycles of a single store, and whether it leaves [`after::LONG`].
    #[inline(always)]
    fn single_store(&mut self, op: &Op, data: u32, size: u8) -> (u32, u32) {
        let waits = self.after & u32::from(op.extra) != 0;
        let before = std::mem::replace(&mut self.block, data);
        let cycles = if self.after & after::LOAD == 0 {
            1 + u32::from(op.class >= class::REGISTER_OFFSET) + u32::from(waits)
        } else if waits || op.class != class::CHAINED || !self.same_block(before, data) {
            1 + u32::from(op.class == class::MULTIPLE)
        } else {
            0
        } + split(data, size);
        (cycles, if cycles > 1 { after::LONG } else { 0 })
    }

    /// A multiplication of the Cortex-M3.
    fn multiply(op: &Op, n: u32, m: u32) -> u32 {
        let large = |value: u32| u32::from(value >= 1 << 16);
        let large_signed = |value: u32| u32::from((value as i32).unsigned_abs() >= 1 << 16);
        match op.inner {
            Opcode::Mla | Opcode::Mls => 2,
            Opcode::Umull => 3 + large(n) + large(m),
            Opcode::Smull => 3 + large_signed(n) + large_signed(m),
            Opcode::Umlal => 4 + large(n) + large(m),
            Opcode::Smlal => 5 + large_signed(n) + large_signed(m),
            _ => 1,
        }
    }

    fn divide(op: &Op, n: u32, m: u32) -> u32 {
        let (n, m) = if op.inner == Opcode::Sdiv {
            ((n as i32).unsigned_abs(), (m as i32).unsigned_abs())
        } else {
            (n, m)
        };
        if m == 0 || n < m {
            return 2;
        }
        let quotient_bits = m.leading_zeros() - n.leading_zeros() + 1;
        1 + quotient_bits.div_ceil(3)
    }
}

impl Timing for M3 {
    type Note = u32;

    const FETCHES: bool = false;

    fn new(part: &Part, clock_hz: u64) -> Result<Self, String> {
        let flash = part.flash.as_ref();
        let registers = if flash.is_some_and(|flash| flash.interface == "nrf52") {
            part.check_clock(clock_hz)?;
            None
        } else {
            Some(FlashRegisters::new(part, clock_hz)?)
        };
        let line_bits = flash.map_or(32, |flash| flash.line_bits);
        let settings = registers.as_ref().map_or(NRF52_UNCACHED, FlashRegisters::settings);
        let lines = match &registers {
            None => NRF52_LINES,
            Some(registers) if registers.interface == Interface::L4 => STM32L4_LINES,
            Some(_) => STM32F4_LINES,
        };
        let mut fetch = FetchUnit::new(BUFFER, line_bits, lines, settings);
        let mut second_bank = u32::MAX;
        if let Some((memory, bank)) =
            part.memories.iter().find_map(|memory| Some((memory, memory.second_bank.as_ref()?)))
        {
            second_bank = bank.start;
            fetch.second_bank = bank.start..memory.start.wrapping_add(memory.size);
            fetch.stores_pass = !bank.stores_wait;
        }
        Ok(M3 {
            fast_multiplier: part.core == CoreName::CortexM4,
            after: after::OTHER,
            block: 0,
            second_bank,
            plain: second_bank - FLASH_END,
            fetch,
            registers,
            float: FloatUnit::default(),
        })
    }

    fn reset(&mut self) {
        self.after = after::OTHER;
        self.float = FloatUnit::default();
        if let Some(registers) = &mut self.registers {
            registers.reset();
        }
        self.fetch.reset(self.registers.as_ref().map_or(NRF52_UNCACHED, FlashRegisters::settings));
    }

    fn classify(&self, op: &mut Op, address: u32) -> u32 {
        use Opcode::*;
        let operands = op.operands();
        // Pre- and post-indexed accesses of the Cortex-M3 do not overlap a load before.
        let indexed = if self.fast_multiplier { class::CHAINED } else { class::ALONE };
        let registers = u32::from(operands.writes) & after::REGISTERS;
        let (class, leaves) = match op.inner {
            LdrImm | LdrReg | LdrLit | LdrbImm | LdrbReg | LdrbLit | LdrhImm | LdrhReg | LdrhLit
            | LdrsbImm | LdrsbReg | LdrsbLit | LdrshImm | LdrshReg | LdrshLit | Ldrex | Ldrexb | Ldrexh => {
                (class::CHAINED, after::LOAD | registers)
            }
            LdrPre | LdrPost | LdrbPre | LdrbPost | LdrhPre | LdrhPost | LdrsbPre | LdrsbPost | LdrshPre
            | LdrshPost => (indexed, after::LOAD | registers),
            // "Treated more like an LDR".
            Strex | Strexb | Strexh => (class::REGISTER_OFFSET, after::LOAD | registers),
            StrImm | StrbImm | StrhImm => (class::CHAINED, after::STORE),
            StrPre | StrPost | StrbPre | StrbPost | StrhPre | StrhPost => (indexed, after::STORE | registers),
            StrReg | StrbReg | StrhReg => (class::REGISTER_OFFSET, after::STORE_REGISTER),
            Ldrd | Strd | Ldm | Ldmdb | Stm | Stmdb | LdmPc => (class::MULTIPLE, after::OTHER),
            Float => match operation(op) {
                Operation::Vldr if op.m == 1 => (class::CHAINED, after::LOAD),
                Operation::Vldr | Operation::Vldm | Operation::Vstr | Operation::Vstm => {
                    (class::MULTIPLE, registers)
                }
                _ => (class::CHAINED, registers),
            },
            _ => (class::CHAINED, registers),
        };
        op.class = class;
        let loads = leaves & after::LOAD != 0 || matches!(op.inner, Ldrd | Ldm | Ldmdb | LdmPc);
        op.extra = if class == class::MULTIPLE { 0 } else { operands.addresses & after::REGISTERS as u16 };
        if loads {
            op.extra |= after::STORE as u16;
        }
        // A branch and the refill of the pipeline.
        op.cycles = match op.inner {
            Bx if op.m == 14 => 2,
            Bx | Blx | MovPc | AddPc => 3,
            _ => 2,
        };
        let narrow = if op.length == 2 { after::NARROW } else { 0 };
        let across = if op.length == 4 && address & 2 != 0 { after::ACROSS } else { 0 };
        leaves | narrow | across
    }

    fn depends_on_operands(&self, op: &Op) -> bool {
        match op.inner {
            Opcode::Umull | Opcode::Smull | Opcode::Umlal | Opcode::Smlal => !self.fast_multiplier,
            Opcode::Sdiv | Opcode::Udiv => true,
            _ => false,
        }
    }

    #[inline(always)]
    fn retire(&mut self, op: &Op, note: &u32, address: u32, outcome: Retired) -> u32 {
        let note = *note;
        match outcome {
            Retired::Plain => self.end(op, note, note, address, 1),
            Retired::Skipped | Retired::NotTaken => {
                self.end(op, note, after::OTHER | note & after::NARROW, address, 1)
            }
            Retired::Branch { target } => {
                let cycles = self.end(op, note, after::OTHER, address, u32::from(op.cycles));
                self.branch(target);
                cycles
            }
            Retired::Multiply { n, m } => {
                if self.fast_multiplier {
                    return self.end(op, note, note, address, 1);
                }
                let cycles = Self::multiply(op, n, m);
                let after = note | if cycles > 1 { after::LONG } else { 0 };
                self.end(op, note, after, address, cycles)
            }
            Retired::Divide { n, m } => {
                let cycles = Self::divide(op, n, m);
                self.end(op, note, note | after::LONG, address, cycles)
            }
            Retired::Load { address: data, size, count: 1 } => {
                let (cycles, long) = self.single_load(op, data, size);
                self.end_access(op, note, note | long, address, cycles, Transfer::load(data, 1))
            }
            Retired::Load { address: data, count, .. } => {
                let waits = self.after & after::STORE != 0;
                let cycles = 1 + u32::from(count) + u32::from(waits);
                self.end_access(op, note, note | after::LONG, address, cycles, Transfer::load(data, count))
            }
            Retired::Store { address: data, size, count: 1 } => {
                let (cycles, long) = self.single_store(op, data, size);
                self.end_access(op, note, note | long, address, cycles, Transfer::store(data, 1))
            }
            Retired::Store { address: data, count, .. } => self.end_access(
                op,
                note,
                note | after::LONG,
                address,
                1 + u32::from(count),
                Transfer::store(data, count),
            ),
            Retired::LoadBranch { address: data, count, target, .. } => {
                let loads = match op.inner {
                    // Load, add to the program counter, reload.
                    Opcode::Tbb | Opcode::Tbh => 3,
                    _ => 1 + u32::from(count),
                };
                let loads = loads + u32::from(self.after & after::STORE != 0);
                let cycles =
                    self.end_access(op, note, after::OTHER, address, loads + 3, Transfer::load(data, count));
                self.branch(target);
                cycles
            }
            Retired::System => {
                let cycles = match op.inner {
                    Opcode::It => u32::from(self.after & after::NARROW == 0),
                    // The flags of MRS and MSR are at hand; other special registers take a second
                    // cycle.
                    Opcode::Mrs | Opcode::Msr => 1 + u32::from(op.imm & 0xff > 3),
                    Opcode::Isb => 4,
                    Opcode::Dmb | Opcode::Dsb => 1 + self.fetch.drain(),
                    // It goes by in a cycle that the one before leaves to it.
                    Opcode::Nop => u32::from(self.after & (after::LOAD | after::STORE_REGISTER) == 0),
                    _ => 1,
                };
                let after = if op.inner == Opcode::It {
                    after::OTHER
                } else {
                    note & after::NARROW | if cycles > 1 { after::LONG } else { 0 }
                };
                self.end(op, note, after, address, cycles)
            }
        }
    }

    fn float(&mut self, op: &Op, note: &u32, address: u32, outcome: Retired, now: u64) -> u32 {
        let waits = self.float.wait(op, now);
        if waits != 0 {
            // A load before has long had its data phase.
            self.after = after::OTHER;
        }
        let cycles = match outcome {
            // Two cycles, of which the table lets none be shared: unlike that of STR no measurement
            // is known.
            Retired::Store { address: data, count: 1, .. } => {
                self.end_access(op, *note, *note | after::LONG, address, 2, Transfer::store(data, 1))
            }
            Retired::Load { .. } | Retired::Store { .. } => self.retire(op, note, address, outcome),
            _ => {
                let cycles = self.float.process(op, now + u64::from(waits));
                let after = *note | if cycles > 1 { after::LONG } else { 0 };
                self.end(op, *note, after, address, cycles)
            }
        };
        waits + cycles
    }

    /// DDI 0337I and DDI 0439, "Exception handling": 12 cycles to the first instruction of the
    /// handler, 6 from one handler into the next, 12 back (stacking and fetching run side by side
    /// over two buses).
    fn exception(&mut self, step: Exception, _sp: u32, target: u32) -> u32 {
        self.after = after::OTHER;
        self.branch(target);
        match step {
            Exception::Entry | Exception::Return => 12 + self.fetch.drain(),
            Exception::TailChain => 6,
        }
    }

    fn idle(&mut self, _cycles: u64) {
        self.fetch.drain();
    }

    fn bus_busy(&self) -> u32 {
        self.fetch.bus_busy()
    }

    fn wait_on_bus(&mut self, waits: u32, store: bool) -> u32 {
        self.fetch.wait_on_bus(waits, store);
        0
    }

    fn store_bit(&mut self) {
        self.fetch.store_bit();
    }

    fn registers(&self) -> Range<u32> {
        self.registers.as_ref().map_or(0..0, FlashRegisters::range)
    }

    fn read_register(&mut self, address: u32, size: u8, pc: u32) -> Result<u32, Fault> {
        let unmapped = Err(Fault::Unmapped { pc, address, size, kind: "read" });
        self.registers.as_ref().map_or(unmapped, |registers| registers.read(address, size, pc))
    }

    fn rtc_clock(&self) -> (u64, bool) {
        self.registers.as_ref().map_or((0, false), FlashRegisters::rtc_clock)
    }

    fn module_clocks(&self) -> Vec<u64> {
        self.registers.as_ref().map_or(Vec::new(), FlashRegisters::module_clocks)
    }

    fn gates(&self) -> &'static [GateRegister] {
        self.registers.as_ref().map_or(&[], |registers| registers.rcc.gates())
    }

    fn gate_register(&self, offset: u32) -> u32 {
        self.registers.as_ref().map_or(0, |registers| registers.rcc.read(offset))
    }

    fn set_reset_cause(&mut self, cause: ResetCause) {
        if let Some(registers) = &mut self.registers {
            registers.set_reset_cause(cause);
        }
    }

    fn core_clock_hz(&self) -> Option<u64> {
        self.registers.as_ref().and_then(FlashRegisters::core_clock_hz)
    }

    fn bus_dividers(&self) -> (u64, u64) {
        self.registers.as_ref().map_or((1, 1), FlashRegisters::bus_dividers)
    }

    fn usb_clock(&self) -> (u64, u64) {
        self.registers.as_ref().map_or((1, 0), FlashRegisters::usb_clock)
    }

    fn write_register(&mut self, address: u32, size: u8, value: u32, pc: u32) -> Result<(), Fault> {
        let Some(registers) = &mut self.registers else {
            return Err(Fault::Unmapped { pc, address, size, kind: "write" });
        };
        let changed = registers.write(address, size, value, pc)?;
        self.fetch.apply(changed, registers.settings());
        Ok(())
    }

    fn apply_flash(&mut self, settings: FlashSettings) {
        if self.registers.is_none() && settings.cached != self.fetch.keeps_lines() {
            // PS, ICACHECNF: a cache that is disabled does not retain its content.
            let changed = Changed { settings: true, instruction_reset: true, ..Changed::default() };
            self.fetch.apply(changed, if settings.cached { NRF52_CACHED } else { NRF52_UNCACHED });
        }
    }
    fn is_uncached(&self) -> bool {
        self.registers.is_none() && !self.fetch.keeps_lines()
    }
}
