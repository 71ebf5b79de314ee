//! One microcontroller as a whole, seen from outside.

#[cfg(doc)]
use crate::Flow;
use crate::cores::{avr, cortex_m, hc08, mcs51, msp430, r8c, riscv};
use crate::{
    Board, CoreName, EnteredFault, Fault, Observer, Part, RegisterUses, Residency, Span, Step, StubUse,
    Taint, Trace,
};
use std::any::Any;
use std::collections::BTreeSet;

/// Bytes to be put into memory before a run, at ELF load addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First address (AVR: flash from 0, data space from 0x800000, EEPROM from 0x810000, fuses from
    /// 0x820000; 8051: program memory from 0, external data from 0x10000, internal data from
    /// 0x20000, special function registers at 0x30080).
    pub address: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Contents that a programmer writes into the part: the load segments of an ELF file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Load segments, not overlapping.
    pub segments: Vec<Segment>,
}

/// When to stop a run. Addresses stop before the instruction there executes, except for the first
/// instruction of the run, so that a run can be taken up again where it stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Until {
    /// Stop at the first instruction boundary at or past this many cycles since reset.
    pub cycles: Option<u64>,
    /// Stop before an instruction at one of these addresses (few: they are compared one by one or
    /// marked in the decoded program).
    pub addresses: Vec<u32>,
}

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The cycle limit was reached.
    Cycles,
    /// The instruction at this address of [`Until::addresses`] comes next.
    Address(u32),
    /// The core sleeps and no peripheral will ever wake it, or it jumps to itself with interrupts
    /// that can never come: the program has ended.
    Halted,
    /// The supply ([`Board::supply_v`]) is too low: the part is held in reset. Time no longer
    /// counts as cycles; what was under way in the flash has been cut short. To go on, let the
    /// supply rise to [`SupplyLimits::rising_v`] and call [`Mcu::reset`], in any order; until both
    /// have come about, every run ends here at once.
    PowerLost,
    /// A breakpoint instruction (`BREAK`, `BKPT`) was reached; it comes next.
    Breakpoint,
    /// The program has ended itself by semihosting, with this exit code.
    Exit(u32),
}

/// Between which supplies a part works and does not, as its power management is set now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupplyLimits {
    /// A run at a lower supply ends with [`Stop::PowerLost`]. It is looked at when a run begins and
    /// when the program changes the settings: runs must be short against the time in which the
    /// supply changes.
    pub falling_v: f64,
    /// The supply at which the reset ends.
    pub rising_v: f64,
}

/// Cause of a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetCause {
    /// The supply came: everything but non-volatile memory is lost, and time begins at 0.
    PowerOn,
    /// The reset pin.
    External,
    /// The brown-out detector.
    BrownOut,
    /// The watchdog expired.
    Watchdog,
    /// The window watchdog expired, or was fed too early.
    WindowWatchdog,
    /// The program asked for it (Cortex-M: SYSRESETREQ).
    Software,
    /// The program asked for its option bytes to be loaded (STM32: OBL_LAUNCH).
    OptionBytes,
    /// Registers were written without their password (MSP430).
    Password(Protected),
}

/// Registers of the MSP430 that take words with a password only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protected {
    /// WDT_A.
    Watchdog,
    /// The flash controller, or that of the FRAM.
    Flash,
    /// The power management module.
    Power,
    /// The memory protection unit.
    Mpu,
    /// The clock system.
    Clocks,
}

/// One microcontroller: core, memories, peripherals, and the board around it. Deterministic: the
/// same image, inputs and calls give the same cycles, always.
pub trait Mcu: Any + Send {
    /// Returns the part that this is a model of.
    fn part(&self) -> &Part;

    /// Writes an image into the memories. Call [`Mcu::reset`] afterwards.
    ///
    /// # Errors
    /// [`Fault::Load`] where the part has no memory at an address; an option byte that is not
    /// modelled.
    fn load(&mut self, image: &Image) -> Result<(), Fault>;

    /// A power-on reset: registers, peripherals and counters as after power-up, RAM cleared to zero
    /// except what the image put there, non-volatile memory kept. A write into flash that was under
    /// way is cut short.
    fn reset(&mut self);

    /// A reset of this cause. After [`ResetCause::PowerOn`] all is as after [`Mcu::reset`]; after
    /// the others RAM keeps what it holds, the board goes on, and cycles count on; the time that
    /// the part is held in reset (AVR: the fuses' start-up time) is left out.
    fn reset_by(&mut self, cause: ResetCause);

    /// The supply goes off at once, and comes back: whatever byte of non-volatile memory was being
    /// written becomes `torn`, and of flash that was being erased or programmed those bits of each
    /// byte have changed that are set in `torn`; then a power-on reset follows.
    fn cut_power(&mut self, torn: u8);

    /// Writes of bytes of non-volatile memory that were begun since the machine was made, through
    /// all resets (AVR: EEPROM; STM32: option bytes).
    fn nonvolatile_writes(&self) -> u64;

    /// Runs until something of `until` comes about, unobserved.
    ///
    /// # Errors
    /// The model cannot or must not execute an instruction; the machine stays at it.
    fn run(&mut self, until: &Until) -> Result<Stop, Fault>;

    /// As [`Mcu::run`], telling `observer` of each step and access.
    ///
    /// # Errors
    /// As [`Mcu::run`].
    fn run_observed(&mut self, until: &Until, observer: &mut dyn Observer) -> Result<Stop, Fault>;

    /// As [`Mcu::run_observed`] with a [`Trace`], which is told without a call through a table.
    ///
    /// # Errors
    /// As [`Mcu::run`].
    fn run_traced(&mut self, until: &Until, trace: &mut Trace) -> Result<Stop, Fault>;

    /// A taint tracker for this machine and its program as it is now.
    fn taint(&self) -> Taint;

    /// As [`Mcu::run_traced`] with a [`Taint`] of this machine. [`Taint::finish`] afterwards.
    ///
    /// # Errors
    /// As [`Mcu::run`].
    fn run_tainted(&mut self, until: &Until, taint: &mut Taint) -> Result<Stop, Fault>;

    /// Cycles since reset: of the core clock, or machine cycles of [`Part::clocks_per_cycle`]
    /// clocks each.
    fn cycles(&self) -> u64;

    /// The core's clock, in Hz: the one that the machine was built with, or the one that the
    /// program has set.
    fn clock_hz(&self) -> u64;

    /// Returns the use of these cycles: running at each core voltage level, asleep in each mode.
    /// The parts add up to [`Mcu::cycles`].
    fn residency(&self) -> Residency;

    /// The same cycles, by clock, too: what each of them took of time and current is known from
    /// that.
    fn spans(&self) -> Vec<Span>;

    /// The limits of its supply, where they are modelled (MSP430F5xx). They follow the program's
    /// settings; after a [`Stop::PowerLost`] `rising_v` is that of the supervisor that struck, or
    /// once the supply has been below the brown-out level, that of a part fresh from power-up.
    fn supply_limits(&self) -> Option<SupplyLimits>;

    /// Instructions executed since reset.
    fn instructions(&self) -> u64;

    /// Goes on, as the part does, where the program does what is a mistake, but of which it is
    /// known what the part makes of it; otherwise, as at first, such a thing is a fault. It is
    /// counted from here on.
    fn set_lenient(&mut self, lenient: bool);

    /// Faults that the part takes itself (Cortex-M: an undefined instruction, a division by zero,
    /// an address where nothing is) end the run, as at first, or enter their handlers.
    fn set_stop_on_fault(&mut self, stop: bool);

    /// The faults whose handlers were entered since the machine was made: the first ones.
    fn faults_entered(&self) -> &[EnteredFault];

    /// Returns the kinds of tolerated mistakes since the machine was made, with their counts. It
    /// includes mistakes that never end a run, such as a converter's clock beyond its data sheet.
    fn tolerated(&self) -> Vec<(&str, u64)>;

    /// Such a mistake that was a fault, where there was one: [`Mcu::set_lenient`] would have gone
    /// on.
    fn refused(&self) -> Option<&'static str>;

    /// The stubs that the program used since the machine was made, and how often.
    fn stub_uses(&self) -> Vec<StubUse>;

    /// Returns true if the program is asleep, listens to interrupts, and none of them can come: it
    /// has lost its wake-up. A program that falls asleep with its interrupts off does not wait,
    /// because that is how programs end.
    fn waits_in_vain(&self) -> bool;

    /// Returns true if the program did arithmetic in a floating-point unit since the machine was
    /// made. The unit's timing is known less well than the core's.
    fn computed_in_float(&self) -> bool;

    /// Returns true if the program has the flash's instruction cache off (nRF52840: as after a
    /// reset). The timing is then known less well.
    fn is_uncached(&self) -> bool;

    /// Returns true if a DMA controller moved data since the machine was made. The waits of core
    /// and controller for each other are known less well than the core's timing.
    fn moved_by_dma(&self) -> bool;

    /// The instruction that an observed run would have told of next, had it not ended: the cycles
    /// of the last one that was executed, and whether that was a call or a return, are in it. The
    /// next run tells of it again, as [`Flow::Start`].
    fn next_step(&self) -> Step;

    /// Address of the next instruction.
    fn pc(&self) -> u32;

    /// Moves execution to an address (Thumb: bit 0 is ignored).
    fn set_pc(&mut self, pc: u32);

    /// The stack pointer (AVR: without the ELF's 0x800000; 8051: with 0x20000 for the internal
    /// data).
    fn sp(&self) -> u32;

    /// The registers that the core has, in the order in which a person would print them.
    fn register_names(&self) -> &'static [Register];

    /// The registers by name, in that order: AVR `r0`..`r31`, `sreg`, `sp`, `pc`; MSP430 `pc`,
    /// `sp`, `sr`, `r4`..`r15`; Cortex-M `r0`..`r12`, `sp`, `lr`, `pc`, `xpsr`, `msp`, `psp`,
    /// `primask`, `control`, `basepri`, `faultmask`; 8051 `a`, `b`, `dptr`, `psw`, `sp`, `r0`..`r7`
    /// of the current bank, `pc`; 68HC08 `a`, `h`, `x`, `sp`, `pc`, `ccr`; RISC-V `ra`, `sp`, `gp`,
    /// `tp`, `t0`..`t2`, `s0`, `s1`, `a0`..`a5`, `pc` and CSRs; R8C `r0`..`r3`, `a0`, `a1`, `fb` of
    /// the current bank, `sb`, `usp`, `isp`, `sp` (the one that is selected), `flg`, `intb`, `pc`,
    /// and those of both banks as `bank0.r0`, `bank1.r0`.
    fn registers(&self) -> Vec<(String, u32)>;

    /// Sets a register by its name; false where there is none of that name.
    fn set_register(&mut self, name: &str, value: u32) -> bool;

    /// Reads memory as a debugger would: no cycles, no side effects. False where there is no
    /// memory.
    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool;

    /// Reads registers of peripherals, or of the core, that have an address, as the program would:
    /// by the widest accesses that fit. What reading does happens to a copy of the machine. False
    /// where the program could not read them.
    fn inspect(&self, address: u32, bytes: &mut [u8]) -> bool;

    /// Writes memory as a debugger would, also non-volatile memory. False where there is no memory.
    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool;

    /// The program has ended; what its UARTs have still to send leaves them, as it does on a board.
    /// No cycles are counted for it.
    fn finish_sending(&mut self, observer: &mut dyn Observer);

    /// Returns true if the program has switched on the receiver of a UART; `None` where no modelled
    /// UART has that name.
    fn uart_listens(&self, port: &str) -> Option<bool>;

    /// Bytes begin to arrive at a UART, one after the other at its own rate; false where there is
    /// none of that name that is modelled.
    fn uart_receive(&mut self, port: &str, bytes: &[u8]) -> bool;

    /// Returns the board around the microcontroller.
    fn board(&self) -> &Board;

    /// As [`Mcu::board`], to be changed between runs. What is mounted and driven outlives a reset;
    /// the chips power up with it.
    fn board_mut(&mut self) -> &mut Board;

    /// The whole machine as it is now, to be run on from here independently.
    fn snapshot(&self) -> Box<dyn Mcu>;

    /// Makes this machine what a snapshot of `from` would be, in less time: what it has decoded of
    /// a program that is the same in both stays decoded. False, and nothing is done, if `from` is
    /// another part.
    fn restore(&mut self, from: &(dyn Mcu + 'static)) -> bool;

    /// Returns the bytes of the instruction at an address, by the decoder of the model; `None`
    /// where there is no instruction, or where the core's model does not tell.
    fn instruction_length(&self, address: u32) -> Option<u32>;

    /// Returns the uses of the registers by the instructions at these addresses; `None` where the
    /// core's registers have addresses or banks.
    fn register_uses(&self, addresses: &BTreeSet<u32>) -> Option<RegisterUses>;
}

/// Use of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Data, addresses, or what only this family has.
    General,
    /// The address of the next instruction.
    ProgramCounter,
    /// The stack pointer in use.
    StackPointer,
    /// Flags and interrupt masks.
    Status,
    /// The return address of a subroutine.
    Link,
}

/// A register of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// The data sheet's name, in lower case.
    pub name: &'static str,
    /// Its width in bits.
    pub bits: u8,
    /// The register's use.
    pub role: Role,
}

impl Register {
    pub(crate) const fn new(name: &'static str, bits: u8) -> Register {
        Register { name, bits, role: Role::General }
    }

    pub(crate) const fn with(name: &'static str, bits: u8, role: Role) -> Register {
        Register { name, bits, role }
    }
}

/// Builds the machine that `part` describes, its core clocked as the program sets it from the
/// part's oscillators and a crystal of `crystal_hz`, the target file's where there is none; reset,
/// with empty memories. Time is told by [`Mcu::clock_hz`] and [`Observer::clock`].
///
/// # Errors
/// As [`new_machine`]; a part whose target file has no table `[clock]`, or no use for a crystal.
pub fn new_clocked_machine(part: &Part, crystal_hz: Option<u64>) -> Result<Box<dyn Mcu>, String> {
    let mut part = part.clone();
    let Some(clock) = &mut part.clock else {
        return Err(format!("{}: no [clock] table says what its clock is made from", part.name));
    };
    if crystal_hz.is_some() && clock.crystal_hz.is_none() {
        return Err(format!("{}: no crystal is modelled", part.name));
    }
    clock.crystal_hz = crystal_hz.or(clock.crystal_hz);
    clock.followed = true;
    new_machine(&part, part.default_clock_hz)
}

/// Builds the machine that `part` describes, its core clocked at `clock_hz`, reset, with empty
/// memories.
///
/// `clock_hz` decides which wait states the flash needs; a core's flash registers must allow for
/// them before the program may run that fast.
///
/// # Errors
/// A sentence naming the peripheral of the part that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Mcu>, String> {
    match part.core {
        CoreName::Avr25 | CoreName::Avr5 | CoreName::Avr51 | CoreName::Avr6 => {
            avr::new_machine(part, clock_hz)
        }
        CoreName::Hc08 => hc08::new_machine(part, clock_hz),
        CoreName::Mcs51 => mcs51::new_machine(part, clock_hz),
        CoreName::Msp430x => msp430::new_machine(part, clock_hz),
        CoreName::R8c => r8c::new_machine(part, clock_hz),
        CoreName::QingkeV2 => riscv::new_machine(part, clock_hz),
        CoreName::CortexM0
        | CoreName::CortexM0Plus
        | CoreName::CortexM3
        | CoreName::CortexM4
        | CoreName::CortexM7 => cortex_m::new_machine(part, clock_hz),
    }
}
