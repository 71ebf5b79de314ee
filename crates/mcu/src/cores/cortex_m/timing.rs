//! The seam between what instructions do and what they cost.
//!
//! The core executes; a [`Timing`] counts. It is a type parameter of the core, so that each
//! processor's rules are compiled into its dispatch loop, and a rule that a processor does not have
//! costs nothing.

pub mod m0;
pub mod m0plus;
pub mod m3;
pub mod m7;

use super::cache::CacheControl;
use super::mpu::Mpu;
use super::op::Op;
use crate::{Fault, FlashSettings, GateRegister, Part, ResetCause};
use std::ops::Range;

/// Outcome of an instruction on which its cost depends beyond the instruction. Every call site
/// passes a known variant, so a `match` on it is resolved when the loop is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retired {
    /// Nothing: data processing, MOV, shifts, extensions, saturation.
    Plain,
    /// The condition of its IT block failed: it did nothing.
    Skipped,
    /// A conditional branch or CBZ/CBNZ that fell through.
    NotTaken,
    /// A branch to `target` (bit 0 clear): B, BL, BX, BLX, CBZ, MOV PC, ADD PC.
    Branch {
        /// Address of the next instruction.
        target: u32,
    },
    /// MUL, MLA and all other multiplies, with the values of Rn and Rm.
    Multiply {
        /// Value of Rn.
        n: u32,
        /// Value of Rm.
        m: u32,
    },
    /// SDIV, UDIV.
    Divide {
        /// The dividend.
        n: u32,
        /// The divisor.
        m: u32,
    },
    /// A load of `count` items of `size` bytes from `address` up.
    Load {
        /// First byte.
        address: u32,
        /// Bytes of one item: 1, 2, 4.
        size: u8,
        /// Items: registers of LDM and LDRD, else 1.
        count: u8,
    },
    /// A load that also writes the program counter: LDR PC, POP {..., PC}, LDM with PC, TBB, TBH.
    LoadBranch {
        /// First byte read.
        address: u32,
        /// Bytes of one item: 1 for TBB, 2 for TBH, else 4.
        size: u8,
        /// Items read, the program counter among them.
        count: u8,
        /// Address of the next instruction; for an exception return the EXC_RETURN value, followed
        /// by [`Timing::exception`].
        target: u32,
    },
    /// A store, as [`Retired::Load`].
    Store {
        /// First byte.
        address: u32,
        /// Bytes of one item: 1, 2, 4.
        size: u8,
        /// Items.
        count: u8,
    },
    /// MRS, MSR, CPS, barriers, hints, SVC, IT, CLREX: `op.inner` tells which.
    System,
}

/// A step of exception handling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    /// Stacking, vector fetch, refill at `target`.
    Entry,
    /// From one handler into the next without unstacking.
    TailChain,
    /// Unstacking and refill at `target`.
    Return,
}

/// Words of the floating-point state in a frame, one a cycle (ARM AN298, "Cortex-M4(F) lazy
/// stacking and context switching": an interrupt's latency is 12 cycles, with the state 29).
pub const FLOAT_STATE: u32 = 17;

/// Data that a timing model keeps beside each decoded instruction.
///
/// # Safety
/// A value whose bytes are all zero must be valid: tables of undecoded slots are zeroed memory.
pub unsafe trait Note: Copy + Send + 'static {}

// SAFETY: all bits of these mean something.
unsafe impl Note for () {}
// SAFETY: as above.
unsafe impl Note for u32 {}
// SAFETY: as above.
unsafe impl Note for u64 {}

/// Counts cycles for one processor with its memory system.
///
/// For each instruction the core calls, in this order: [`Timing::fetch`] if [`Timing::FETCHES`];
/// executes; [`Timing::retire`] once. The instruction's cost is the sum. Data-memory wait states
/// belong into `retire`, which is given the addresses. Implementations are `#[inline(always)]` on
/// the paths that ordinary instructions take.
pub trait Timing: Clone + Send + 'static {
    /// Data of each decoded instruction beyond `class`, `cycles` and `extra` of [`Op`], such as
    /// register masks; `()` for none. It lies beside the op.
    type Note: Note;

    /// True if [`Timing::fetch`] is to be called before each instruction.
    const FETCHES: bool;

    /// The model for a part at a clock (which decides the flash's wait states), as after reset.
    ///
    /// # Errors
    /// A sentence: what the target file lacks or asks in vain.
    fn new(part: &Part, clock_hz: u64) -> Result<Self, String>;

    /// As after reset.
    fn reset(&mut self);

    /// Called once when an instruction is decoded: fills `op.class`, `op.cycles`, `op.extra`, and
    /// returns the note. [`Op::operands`] tells its registers.
    fn classify(&self, op: &mut Op, address: u32) -> Self::Note;

    /// Returns true if the cycles of the instruction depend on the values of Rn and Rm, in the
    /// model or on the part.
    fn depends_on_operands(&self, op: &Op) -> bool {
        let _ = op;
        false
    }

    /// Extra cycles because the `length` bytes at `address` are not yet in the processor. Keeps its
    /// own account of what has been fetched; the usual answer is 0.
    #[inline(always)]
    fn fetch(&mut self, address: u32, length: u8) -> u32 {
        let _ = (address, length);
        0
    }

    /// Cycles of the instruction at `address`.
    fn retire(&mut self, op: &Op, note: &Self::Note, address: u32, outcome: Retired) -> u32;

    /// As [`Timing::retire`], once for all instructions: where each is told of, this takes little
    /// beside it, and a copy in every instruction would take long to build.
    #[inline(never)]
    fn retire_observed(&mut self, op: &Op, note: &Self::Note, address: u32, outcome: Retired) -> u32 {
        self.retire(op, note, address, outcome)
    }

    /// Cycles of the floating-point instruction at `address`, which begins at `now`:
    /// [`Retired::Plain`], or a load or store of words.
    fn float(&mut self, op: &Op, note: &Self::Note, address: u32, outcome: Retired, now: u64) -> u32 {
        let _ = now;
        self.retire(op, note, address, outcome)
    }

    /// Cycles of saving S0 to S15 and FPSCR to the stack, or of taking them from it.
    fn float_state(&mut self) -> u32 {
        FLOAT_STATE
    }

    /// Cycles of a step of exception handling: stacking at `sp` (the frame's lowest address), going
    /// on at `target`.
    fn exception(&mut self, step: Exception, sp: u32, target: u32) -> u32;

    /// Cycles passed without instructions (sleep): whatever overlapped has settled.
    fn idle(&mut self, cycles: u64) {
        let _ = cycles;
    }

    /// A cache maintenance operation of the program (Cortex-M7); cycles it costs beyond the store.
    fn cache(&mut self, control: CacheControl) -> u32 {
        let _ = control;
        0
    }

    /// The memory protection unit was written (Cortex-M7: it says what the data cache keeps).
    fn protect(&mut self, mpu: &Mpu) {
        let _ = mpu;
    }

    /// Addresses of the registers that the memory system itself has (the flash interface's); empty
    /// for none.
    fn registers(&self) -> Range<u32> {
        0..0
    }

    /// Reads one of [`Timing::registers`].
    ///
    /// # Errors
    /// A register or size that is not modelled.
    fn read_register(&mut self, address: u32, size: u8, pc: u32) -> Result<u32, Fault> {
        Err(Fault::Unmapped { pc, address, size, kind: "read" })
    }

    /// Writes one of [`Timing::registers`].
    ///
    /// # Errors
    /// A register, size or setting that is not modelled or not allowed.
    fn write_register(&mut self, address: u32, size: u8, value: u32, pc: u32) -> Result<(), Fault> {
        let _ = value;
        Err(Fault::Unmapped { pc, address, size, kind: "write" })
    }

    /// Takes over the settings of a flash controller on the bus, after every write to the bus's
    /// registers (Cortex-M0+).
    fn apply_flash(&mut self, settings: FlashSettings) {
        let _ = settings;
    }

    /// Returns true if the program has the flash's instruction cache off, on a part whose program
    /// has to turn it on.
    fn is_uncached(&self) -> bool {
        false
    }

    /// Says, after [`Timing::reset`], what the reset's cause was.
    fn set_reset_cause(&mut self, cause: ResetCause) {
        let _ = cause;
    }

    /// The core's clock, in Hz, where it is what the program sets.
    fn core_clock_hz(&self) -> Option<u64> {
        None
    }

    /// Cycles of the core's clock in one of APB1's and one of APB2's, as the program has set them.
    fn bus_dividers(&self) -> (u64, u64) {
        (1, 1)
    }

    /// Cycles until the system bus has done with a store that the core did not wait for.
    fn bus_busy(&self) -> u32 {
        0
    }

    /// Adds the bus's wait states of a read or write of the instruction under way. Returns the
    /// cycles for which the core stands still beyond the result of [`Timing::retire`].
    fn wait_on_bus(&mut self, waits: u32, store: bool) -> u32 {
        let _ = store;
        self.idle(u64::from(waits));
        waits
    }

    /// The instruction under way stores through a bit-band alias: the read just waited for is the
    /// bus's own.
    fn store_bit(&mut self) {}

    /// The clock of the RTC, in Hz, as the program has set it, 0 where it stands still; whether the
    /// backup domain is being reset.
    fn rtc_clock(&self) -> (u64, bool) {
        (0, false)
    }

    /// The clocks of the modules that have a choice, in Hz, as the program has set them: see
    /// [`crate::Events::generic_clocks_hz`].
    fn module_clocks(&self) -> Vec<u64> {
        Vec::new()
    }

    /// The registers that let peripherals have their clocks, or reset them.
    fn gates(&self) -> &'static [GateRegister] {
        &[]
    }

    /// One of those registers, by its offset.
    fn gate_register(&self, offset: u32) -> u32 {
        let _ = offset;
        0
    }

    /// HCLK and the clock of 48 MHz, in Hz, as the program has set them; 0 for one that stands
    /// still.
    fn usb_clock(&self) -> (u64, u64) {
        (1, 0)
    }
}
