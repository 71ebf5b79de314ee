//! Machine: everything around a core, once for every family.
//!
//! It has limits, breakpoints, deadlines, interrupts, sleep, resets, power loss, the supply, the
//! use of the cycles, the board, and snapshots.

mod flash;
mod mcu;

use crate::dataflow::CoreDataflow;
use crate::flash::CHANGED;
use crate::observe::dynamic;
use crate::peripherals::stub::{Stub, without};
use crate::residency::Usage;
use crate::supply::Supply;
use crate::{
    Accessed, Board, BusAccess, ClockUpdate, Contention, Dma, EnteredFault, Fault, Flow, Mcu, Observer, Part,
    PeripheralBus, PeripheralSpec, Register, ResetCause, Role, Segment, SleepInterval, Stop, Until,
    peripherals,
};
use flash::InterruptedWrite;
use std::ops::Range;

/// A processor core: its registers, memories and decoded instructions, and what it does with them.
/// What it shares with all others is in the [`Machine`] that holds it.
///
/// The loop over the instructions is each core's own. It must call [`Machine::service`] between two
/// instructions whenever [`Machine::cycles`] has come to [`Machine::deadline`], and set the
/// deadline to 0 where an instruction may have changed what the service looks at.
pub(crate) trait Core: Clone + Send + Sized + 'static {
    /// Its registers, in the order in which a person would print them.
    const REGISTERS: &'static [Register];

    /// Bytes of its widest access.
    const WIDTH: u8;

    /// Offset from the stack pointer to the ELF address of the stack.
    const STACK_SPACE: u32 = 0;

    /// True if a reset stops a flash operation under way, as a failing supply does; otherwise the
    /// operation is completed.
    const RESET_STOPS_FLASH: bool = true;

    /// The registers of this core, which begin with [`Core::REGISTERS`]: those of an optional unit
    /// may follow.
    fn all_registers(&self) -> &'static [Register] {
        Self::REGISTERS
    }

    /// The value of a register, by its index in [`Core::all_registers`].
    fn register(&self, index: usize) -> u32;

    /// Sets it as a debugger would. A core that sleeps wakes where that is the program counter.
    fn set_register(&mut self, index: usize, value: u32);

    /// Copies memory out; false where some of it is none.
    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool;

    /// Copies memory in, non-volatile memory too, and forgets what was decoded from it; false where
    /// some of it is none.
    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool;

    /// Reads `size` bytes as a program would, at an address without memory; `None` where a program
    /// could not. The machine is a copy that is discarded.
    fn read_register(machine: &mut Machine<Self>, address: u32, size: u8) -> Option<u32> {
        machine.bus.read(address, size, machine.cycles, machine.pc(), None).ok()
    }

    /// Becomes what `from` is, a core of the same part. What is decoded of the same program may
    /// stay.
    fn restore(&mut self, from: &Self) {
        self.clone_from(from);
    }

    /// Returns the bytes of the instruction at an address, where this core tells.
    fn instruction_length(&self, address: u32) -> Option<u32> {
        let _ = address;
        None
    }

    /// Returns true if there is RAM at the address.
    fn is_ram(&self, address: u32) -> bool;

    /// RAM as after power-up: zero.
    fn clear_ram(&mut self);

    /// An image was loaded: what in it the model does not allow.
    fn check_image(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// The core's registers as after a reset; memories, peripherals and counters are so already.
    ///
    /// # Errors
    /// Fault for which the program cannot begin.
    fn reset(machine: &mut Machine<Self>, cause: ResetCause) -> Result<(), Fault>;

    /// From here on the run ends before an instruction at one of these addresses, and at no others.
    fn set_breakpoints(&mut self, addresses: &[u32]);

    /// Executes instructions until the run ends. The first one is executed whatever breakpoint is
    /// at it.
    fn execute<O: Observer>(machine: &mut Machine<Self>, observer: &mut O) -> Result<Stop, Fault>;

    /// Completes the work that the instruction just executed has left for the time before the next
    /// one.
    fn finish_instruction(machine: &mut Machine<Self>) {
        let _ = machine;
    }

    /// The cycle at which something within the core comes about by itself; `u64::MAX` for never.
    fn due(&self) -> u64 {
        u64::MAX
    }

    /// The core sees the interrupt lines at cycle `now`, and what is due within it comes about.
    fn sample(&mut self, now: u64, requests: u128) {
        let _ = (now, requests);
    }

    /// A peripheral pulsed the core's event input.
    fn signalled(&mut self) {}

    /// Of the requests, those that would interrupt or wake the core as it is.
    fn interrupt_mask(&self) -> u128 {
        0
    }

    /// Those of them that no program holds back.
    fn non_maskable(&self) -> u128 {
        0
    }

    /// Takes the most urgent interrupt, if one is to be taken now; says whether.
    fn interrupt<O: Observer>(machine: &mut Machine<Self>, observer: &mut O) -> Result<bool, Fault> {
        let _ = (machine, observer);
        Ok(false)
    }

    /// Returns the data flow of the core's instructions in the program's current state.
    fn dataflow(&self) -> CoreDataflow;

    /// Returns true if the core has stopped until an interrupt comes.
    fn is_asleep(&self) -> bool {
        false
    }

    /// The name, as the target file's `[[supply.sleep]]` has it, of the mode that the core sleeps
    /// in; `None` while it runs.
    ///
    /// # Errors
    /// The core cannot sleep in this mode.
    fn sleeping(machine: &mut Machine<Self>) -> Result<Option<&'static str>, Fault> {
        let _ = machine;
        Ok(None)
    }

    /// Returns true if a floating-point unit did arithmetic since the machine was made.
    fn computed_in_float(&self) -> bool {
        false
    }

    /// Returns true if the program has the flash's instruction cache off, on a part whose program
    /// has to turn it on.
    fn is_uncached(&self) -> bool {
        false
    }

    /// Faults that the core takes itself end the run, or enter their handlers.
    fn set_stop_on_fault(&mut self, stop: bool) {
        let _ = stop;
    }

    /// The faults whose handlers were entered.
    fn faults_entered(&self) -> &[EnteredFault] {
        &[]
    }

    /// An access by a DMA controller where no peripheral is: what was read or written, or nothing
    /// where that is a bus error.
    ///
    /// # Errors
    /// There is something that is not modelled.
    fn access(machine: &mut Machine<Self>, access: &BusAccess) -> Result<Option<u32>, Fault> {
        let _ = (machine, access);
        Ok(None)
    }

    /// The cycles for which the core and a DMA controller wait because of each other, where both
    /// want the same memory when the controller makes this access.
    fn contention(machine: &mut Machine<Self>, access: &BusAccess) -> Contention {
        let _ = (machine, access);
        Contention::default()
    }

    /// A bank of the flash is at work up to cycle `until`: the core goes on, but for what it reads
    /// or executes there.
    fn occupy(machine: &mut Machine<Self>, bank: Range<u32>, until: u64) {
        let _ = bank;
        machine.hold(until);
    }

    /// The bank that is still at work, and whether the next instruction lies in it. Meanwhile every
    /// instruction boundary is looked at.
    fn busy_bank(machine: &mut Machine<Self>) -> Option<BusyBank> {
        let _ = machine;
        None
    }

    /// Lets `cycles` of sleep go by.
    fn idle(&mut self, cycles: u64) {
        let _ = cycles;
    }
}

/// A bank of flash that is being erased or programmed while the core goes on.
pub(crate) struct BusyBank {
    /// The cycle at which it is done.
    pub until: u64,
    /// The next instruction lies in it.
    pub executing: bool,
}

/// A microcontroller: a core and everything around it.
#[derive(Clone)]
pub(crate) struct Machine<C> {
    pub part: Part,
    pub core: C,
    pub bus: PeripheralBus,
    /// Cycles since reset, at the start of the instruction.
    pub cycles: u64,
    /// Instructions since reset.
    pub instructions: u64,
    /// The cycle from which the loop must call [`Machine::service`] between two instructions.
    pub deadline: u64,
    /// The cycle at which the run ends.
    pub limit: u64,
    /// The instruction count from which on interrupts may be taken: some instructions let another
    /// one go first.
    pub interrupts_from: u64,
    /// Control flow to the next instruction, kept for observers.
    pub flow: Flow,
    /// Fault of the instruction under way, which cannot be finished.
    pub fault: Option<Fault>,
    /// Fault for which the program cannot begin.
    reset_fault: Option<Fault>,
    /// The core stands still up to this cycle: the flash is busy.
    held_until: u64,
    /// Flash contents if the power fails before this cycle.
    interrupted_write: Option<(InterruptedWrite, u64)>,
    supply: Supply,
    usage: Usage,
    /// Segments that the image put into RAM; a reset restores them.
    ram_image: Vec<Segment>,
    /// Somebody may have told the board something since the last run: simulators run machines in
    /// very short steps.
    board_touched: bool,
}

/// The peripherals of a part, for a core at `clock_hz`.
///
/// # Errors
/// The peripheral that no model exists for.
pub(crate) fn new_peripherals(part: &Part, clock_hz: u64) -> Result<PeripheralBus, String> {
    // Some count other clocks in cycles of this one.
    let clocked = Part { default_clock_hz: clock_hz, ..part.clone() };
    let new = |spec: &PeripheralSpec| {
        let mut device = peripherals::new_peripheral(&clocked, spec)?;
        device.clocks_changed(ClockUpdate::Core(clock_hz), 0);
        Ok(device)
    };
    let mut devices = part.peripherals.iter().map(new).collect::<Result<Vec<_>, String>>()?;
    for block in part.unmodelled.iter().filter(|block| block.stub) {
        let modelled = devices.iter().flat_map(|device| device.spec().ranges).collect();
        devices.push(Box::new(Stub::new(&block.name, without(block.range(), modelled))));
    }
    let mut bus = PeripheralBus::new(devices)?;
    bus.set_interrupt_lines(part.peripherals.iter().map(PeripheralSpec::interrupt_lines).collect());
    bus.board = Board::new(clock_hz);
    bus.board.supply_v = part.supply_v;
    Ok(bus)
}

impl<C: Core> Machine<C> {
    /// A machine with empty memories, reset.
    pub fn new(part: &Part, core: C, bus: PeripheralBus) -> Machine<C> {
        let mut machine = Machine {
            part: part.clone(),
            core,
            bus,
            cycles: 0,
            instructions: 0,
            deadline: 0,
            limit: u64::MAX,
            interrupts_from: 0,
            flow: Flow::Start,
            fault: None,
            reset_fault: None,
            held_until: 0,
            interrupted_write: None,
            supply: Supply::default(),
            usage: Usage::default(),
            ram_image: Vec::new(),
            board_touched: true,
        };
        machine.reset();
        machine
    }

    /// The next instruction boundary is one to be looked at.
    #[inline(always)]
    pub fn recheck(&mut self) {
        self.deadline = 0;
    }

    /// A peripheral was accessed. As [`Machine::recheck`], but where [`Machine::service`] would
    /// find nothing to do, it is not called: for cores that have nothing of their own to sample or
    /// to finish_instruction.
    #[inline]
    pub fn recheck_peripherals(&mut self) {
        let bus = &self.bus;
        let waiting = bus.requests & self.core.interrupt_mask() != 0 || bus.events.wants_reset();
        let busy = waiting || bus.stall != 0 || bus.power_changed || self.deadline == 0;
        self.deadline = if busy { 0 } else { self.limit.min(self.next_event()) };
    }

    /// The cycle at which something comes about by itself.
    pub fn next_event(&self) -> u64 {
        self.bus.due.min(self.core.due())
    }

    /// Returns true if nothing can interrupt or wake the core any more: it takes no interrupt, or
    /// none is requested, no event is due and nobody outside may act. While data are moved or flash
    /// is written without the core, the program goes on. With [`crate::Board::outlives_program`] it
    /// goes on as long as peripherals have an event due.
    pub fn nothing_can_come(&self) -> bool {
        let mask = self.core.interrupt_mask();
        let requested = self.bus.requests & mask != 0;
        let comes = requested || self.next_event() != u64::MAX || self.bus.board.externally_wakeable;
        if self.bus.board.outlives_program && self.bus.due != u64::MAX {
            return false;
        }
        let writes = self.interrupted_write.as_ref().is_some_and(|(_, until)| self.cycles < *until);
        let holds_back = !requested && mask & !self.core.non_maskable() == 0;
        !comes || holds_back && !self.bus.has_running_watchdog() && !self.bus.moves_data() && !writes
    }

    /// Handles the events between two instructions: the end of the run, peripherals' time, resets,
    /// interrupts, sleep, a supply that is too low. Sets the deadline before which none of them can
    /// come again by itself.
    ///
    /// # Errors
    /// The program did something that the model does not allow.
    #[cold]
    #[inline(never)]
    pub fn service<O: Observer>(&mut self, observer: &mut O) -> Result<Option<Stop>, Fault> {
        C::finish_instruction(self);
        self.cycles += std::mem::take(&mut self.bus.stall);
        self.account_clocks();
        if std::mem::take(&mut self.bus.power_changed) {
            self.usage.ran(self.cycles, self.bus.power.core_level);
            if let Some(stop) = self.check_supply()? {
                return Ok(Some(stop));
            }
        }
        loop {
            if self.bus.due <= self.cycles {
                self.bus.tick(self.cycles, self.pc(), dynamic(observer));
            }
            if let Some(change) = self.bus.events.take_flash_change() {
                self.change_flash(change);
                continue;
            }
            if let Some(access) = self.bus.events.take_access() {
                self.access_bus(&access, observer)?;
                continue;
            }
            self.transfer(observer)?;
            if let Some(cause) = self.bus.events.take_reset() {
                self.reset_running(cause);
                observer.reset(self.cycles);
                self.bus.tell_clock(self.cycles, dynamic(observer));
                self.check_reset()?;
                continue;
            }
            self.core.sample(self.cycles, self.bus.requests);
            if self.bus.events.take_core_event() {
                self.core.signalled();
            }
            if self.cycles >= self.limit {
                return Ok(Some(Stop::Cycles));
            }
            let busy = C::busy_bank(self);
            if let Some(BusyBank { until, executing: true }) = busy {
                self.held_until = until;
            }
            if self.cycles < self.held_until {
                // The flash is busy; peripherals go on.
                let next = self.bus.due.max(self.cycles + 1);
                self.cycles = next.min(self.held_until).min(self.limit);
                continue;
            }
            let shadowed = self.instructions < self.interrupts_from;
            let sp = if O::enabled() { self.core.register(Self::with_role(Role::StackPointer)) } else { 0 };
            if !shadowed && C::interrupt(self, observer)? {
                observer.interrupt(sp);
                continue;
            }
            let sleeping = C::sleeping(self)?;
            self.bus.follow_sleep(sleeping == Some("sleep"), self.cycles, self.pc());
            let Some(mode) = sleeping else {
                // The core may have found that an interrupt has to wait.
                let waits = self.instructions < self.interrupts_from;
                let watched = shadowed || waits || busy.is_some();
                self.deadline = if watched { 0 } else { self.limit.min(self.next_event()) };
                return Ok(None);
            };
            if self.nothing_can_come() {
                return Ok(Some(Stop::Halted));
            }
            let wake = self.next_event().min(self.limit).max(self.cycles + 1);
            if wake == u64::MAX {
                // Externally wakeable, but this run has no limit at which somebody could act.
                return Ok(Some(Stop::Halted));
            }
            self.account_clocks();
            self.usage.slept(mode, self.cycles, wake);
            if O::enabled() {
                let next = self.next_step();
                observer.sleep(&SleepInterval { mode, from: self.cycles, to: wake, next });
            }
            self.core.idle(wake - self.cycles);
            self.cycles = wake;
        }
    }

    /// Counts the cycles before each change of the clock for the clock that they had.
    fn account_clocks(&mut self) {
        for change in self.bus.clock_changes.drain(..) {
            self.usage.change_clock(change.cycles, change.clock_hz);
        }
    }

    /// Returns the use of the cycles up to now.
    fn usage_now(&self) -> Usage {
        let mut usage = self.usage.clone();
        for change in &self.bus.clock_changes {
            usage.change_clock(change.cycles, change.clock_hz);
        }
        usage
    }

    /// Makes the access to the bus that a DMA controller asked for.
    #[cold]
    fn access_bus<O: Observer>(&mut self, access: &BusAccess, observer: &mut O) -> Result<(), Fault> {
        let &BusAccess { address, size, value, .. } = access;
        let (now, pc) = (self.cycles, self.pc());
        let value = if self.bus.claims(address) {
            Some(match value {
                None => self.bus.read(address, size, now, pc, dynamic(observer))?,
                Some(value) => {
                    self.bus.write(address, size, value, now, pc, dynamic(observer))?;
                    value
                }
            })
        } else {
            C::access(self, access)?
        };
        let waited = std::mem::take(&mut self.bus.stall);
        let contention = C::contention(self, access);
        self.cycles += contention.core;
        let waited = waited + contention.controller;
        self.bus.complete_access(access, Accessed { value, waited }, self.cycles, pc);
        // For so long the controller has the bus to itself.
        self.cycles += std::mem::take(&mut self.bus.stall);
        Ok(())
    }

    /// Makes the memory accesses that peripherals have requested. They take the core no time. A
    /// device on the board may have failed.
    fn transfer<O: Observer>(&mut self, observer: &mut O) -> Result<(), Fault> {
        if let Some(what) = self.bus.board.failure.take() {
            return Err(Fault::Architecture { pc: self.pc(), address: self.pc(), what });
        }
        for dma in self.bus.events.take_dma() {
            let (address, done) = match dma {
                Dma::Fetch { device, address, size } => {
                    let mut bytes = vec![0; size as usize];
                    let done = self.core.is_ram(address) && self.core.peek(address, &mut bytes);
                    if done {
                        self.bus.complete_fetch(device, &bytes, self.cycles, self.pc(), dynamic(observer));
                    }
                    (address, done)
                }
                Dma::Store { address, bytes } => {
                    (address, self.core.is_ram(address) && self.core.poke(address, &bytes))
                }
            };
            if !done {
                let what = "a peripheral's DMA reaches beyond RAM".into();
                return Err(Fault::Architecture { pc: self.pc(), address, what });
            }
        }
        Ok(())
    }

    /// Ends the run if the supply is too low for the part.
    fn check_supply(&mut self) -> Result<Option<Stop>, Fault> {
        let (power, supply_v) = (self.bus.power, self.bus.board.supply_v);
        if !self.supply.suffices(&power, supply_v) {
            return Ok(Some(Stop::PowerLost));
        }
        if supply_v < power.allowed_v {
            let what = format!(
                "the supply of {supply_v} V is below the {} V that the data sheet asks for at core voltage level {} and \
                 this clock, and no supervisor for that level is on",
                power.allowed_v, power.core_level
            );
            return Err(Fault::Architecture { pc: self.pc(), address: self.pc(), what });
        }
        Ok(None)
    }

    fn check_reset(&self) -> Result<(), Fault> {
        self.reset_fault.clone().map_or(Ok(()), Err)
    }

    /// A reset while the supply stays: memory is kept, the board goes on, and cycles count on. What
    /// the part needs to begin is left out.
    fn reset_running(&mut self, cause: ResetCause) {
        self.usage.ran(self.cycles, self.bus.power.core_level);
        if C::RESET_STOPS_FLASH {
            self.interrupt_flash_write(CHANGED);
        }
        self.bus.reset_by(cause, self.cycles, self.pc());
        self.begin(cause);
    }

    /// The core as after a reset.
    fn begin(&mut self, cause: ResetCause) {
        self.interrupts_from = 0;
        self.flow = Flow::Start;
        self.fault = None;
        self.board_touched = true;
        self.recheck();
        self.reset_fault = C::reset(self, cause).err().or_else(|| self.bus.pending_fault(self.pc()));
    }

    /// Returns `size` bytes of memory from an address on, as a little-endian number.
    pub fn held(&self, address: u32, size: u8) -> u32 {
        let mut bytes = [0; 4];
        self.core.peek(address, &mut bytes[..usize::from(size)]);
        u32::from_le_bytes(bytes)
    }

    fn run_with<O: Observer>(&mut self, until: &Until, observer: &mut O) -> Result<Stop, Fault> {
        self.check_reset()?;
        if std::mem::take(&mut self.board_touched) {
            self.bus.resume(self.cycles, self.pc());
        }
        // The supply may be another one by now.
        self.bus.power_changed = true;
        self.limit = until.cycles.unwrap_or(u64::MAX);
        self.flow = Flow::Start;
        self.recheck();
        self.core.set_breakpoints(&until.addresses);
        let stop = C::execute(self, observer);
        self.core.set_breakpoints(&[]);
        stop.map_err(|fault| self.named(fault))
    }

    /// Says of a fetch from registers whose they are.
    fn named(&self, fault: Fault) -> Fault {
        match fault {
            Fault::Unmapped { pc, address, kind: "fetch", .. } if self.bus.claims(address) => {
                let what = format!(
                    "the program has come to the registers of {}, from which no instruction is fetched: a wild jump, return or pointer",
                    self.bus.device_at(address)
                );
                Fault::Architecture { pc, address, what }
            }
            fault => fault,
        }
    }

    fn with_role(role: Role) -> usize {
        C::REGISTERS.iter().position(|register| register.role == role).unwrap_or(0)
    }
}
