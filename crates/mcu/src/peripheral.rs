//! The bus's plug-in side: registers that do something.

use crate::transfer::{Lines, Parties};
use crate::{
    Accessed, Board, BusAccess, ClockChange, DacStep, Fault, Observer, Pin, PinDirections, PinEdge,
    ResetCause, SubsystemClocks,
};
use std::ops::Range;
use std::sync::Arc;

/// What a peripheral sees of the machine while one of its registers is accessed or its time has come.
pub struct Context<'a, 'o> {
    /// Cycles since reset, at the start of the accessing instruction (MSP430: at the end of the access's bus cycle).
    pub now: u64,
    /// The accessing instruction.
    pub pc: u32,
    /// Requested interrupts, a bit per vector or IRQ number.
    pub requests: &'a mut u128,
    /// Cycles for which the access holds the core up after the instruction; to be added to.
    pub stall: &'a mut u64,
    /// What is around the microcontroller.
    pub board: &'a mut Board,
    /// What peripherals tell each other and the core.
    pub events: &'a mut Events,
    /// Looks on, where someone does.
    pub observer: Option<&'a mut (dyn Observer + 'o)>,
}

impl Context<'_, '_> {
    /// Requests an interrupt.
    pub fn request(&mut self, irq: u8) {
        *self.requests |= 1 << irq;
    }

    /// Takes a request back.
    pub fn withdraw(&mut self, irq: u8) {
        *self.requests &= !(1 << irq);
    }

    /// A port drives the pins of `driven` to `levels` from now on: see [`Board::drive`].
    pub fn drive(&mut self, port: &str, driven: u32, levels: u32) {
        self.board.drive(port, driven, levels, self.now);
        self.directions(port, self.now);
    }

    /// Tells the observer which pins of a port are driven.
    fn directions(&mut self, port: &str, cycles: u64) {
        if let Some(observer) = &mut self.observer {
            observer.directions(&PinDirections { port, driven: self.board.driven(port), cycles });
        }
    }

    /// Tells the observer of each pin that differs between two output levels of a port.
    pub fn pins(&mut self, port: &str, before: u32, after: u32) {
        self.pins_at(port, before, after, self.now);
    }

    /// A module of the part takes a pin over from its port's latch with this level, or lets go of it: that is seen while the port
    /// drives the pin. It came about at cycle `at`, up to the length of an instruction before now.
    pub fn module_output(&mut self, pin: &Pin, level: Option<bool>, at: u64) {
        let driven = self.board.driven(&pin.port);
        if let Some((before, after)) = self.board.module_output(pin, level, self.now) {
            self.pins_at(&pin.port, before, after, at);
            if driven != self.board.driven(&pin.port) {
                self.directions(&pin.port, at);
            }
        }
    }

    /// A port leaves the pins of `alternate` to modules: see [`Board::set_alternates`].
    pub fn alternates(&mut self, port: &str, alternate: u32, functions: u64) {
        let before = self.board.outputs(port);
        self.board.set_alternates(port, alternate, functions, self.now);
        let after = self.board.outputs(port);
        self.pins_at(port, before, after, self.now);
        self.directions(port, self.now);
    }

    /// A byte has left the UART of this name, complete at `cycles`.
    pub fn sent(&mut self, port: &str, byte: u8, cycles: u64) {
        if let Some(observer) = &mut self.observer {
            observer.uart(port, byte, cycles);
        }
        self.board.keep_sent(port, byte, cycles);
    }

    /// The output of channel `channel`, from 1, of the converter `device` is another one from cycle `at` on; none where it is off. At
    /// the pin is the converter's input `input`.
    pub fn analog_output(&mut self, device: &str, channel: u8, input: u8, code: Option<u32>, at: u64) {
        let volts = code.map(|code| self.board.supply_v * f64::from(code) / 4096.0);
        self.board.set_analog_output(input, volts);
        if let Some(observer) = &mut self.observer {
            observer.analog(&DacStep { device, channel, volts, cycles: at });
        }
    }

    fn pins_at(&mut self, port: &str, before: u32, after: u32, cycles: u64) {
        if let Some(observer) = &mut self.observer {
            let mut changed = before ^ after;
            while changed != 0 {
                let pin = changed.trailing_zeros() as u8;
                changed &= changed - 1;
                observer.pin(&PinEdge { port, pin, high: after >> pin & 1 == 1, cycles });
            }
        }
    }
}

/// What the reads of a flash wait for a hit and for a miss of its cache (SAM D21: CTRLB.READMODE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadMode {
    /// None for a hit, the wait states for a miss.
    #[default]
    NoMissPenalty,
    /// None for a hit, one beyond the wait states for a miss.
    LowPower,
    /// The wait states for both.
    Deterministic,
}

/// What a flash controller has set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashSettings {
    /// Extra cycles of a read.
    pub wait_states: u8,
    /// Whether its cache is on.
    pub cached: bool,
    /// How its cache answers.
    pub read_mode: ReadMode,
    /// How often its cache was emptied.
    pub invalidations: u32,
    /// Cycles of the read of a word from a serial flash (RP2040).
    pub word_cycles: u32,
}

/// What a peripheral does with memory by itself, between two instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dma {
    /// Reads RAM; [`Peripheral::fetched`] is given the bytes.
    Fetch {
        /// One of the addresses of the peripheral that reads.
        device: u32,
        /// First byte.
        address: u32,
        /// Bytes.
        size: u32,
    },
    /// Writes RAM.
    Store {
        /// First byte.
        address: u32,
        /// What is written.
        bytes: Vec<u8>,
    },
}

/// The most channels that a multiplexer of requests of DMA has.
const CHANNELS: usize = 16;

/// What peripherals tell each other and the core, apart from interrupts.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// Interrupt flags, a bit per vector, that a peripheral subscribes to beside the core: who sets one of them says so with
    /// [`Events::raise`], whether or not its interrupt is enabled.
    subscribed: u128,
    /// `subscribed` has changed since the devices were notified.
    subscription_changed: bool,
    /// A flag that is set already when it begins to be subscribed to counts as one that rises.
    includes_set: bool,
    /// Subscribed flags that rose, and the cycle at which each did.
    risen_flags: Vec<(u8, u64)>,
    /// Something resets the part, for this cause.
    reset: Option<ResetCause>,
    /// The power reduction registers, the second one above the first: modules without a clock.
    reduced: u16,
    /// What the flash controller has set; for cores that ask their bus and not a memory system of their own.
    pub flash: FlashSettings,
    /// The frequencies of the modules' clocks, in Hz, by number (SAM D21: GCLK_CLKCTRL.ID; RP2040: clock generators; STM32: I2C1 to
    /// I2C4, 0 for the bus's clock); none where the part has no such clocks.
    pub generic_clocks_hz: Vec<u64>,
    /// What peripherals do with memory before the next instruction, in this order.
    dma: Vec<Dma>,
    /// What the core sees of its flash, where it can program it itself (AVR).
    pub flash_view: FlashView,
    /// The blocks that are held in reset, a bit each (RP2040: RESETS.RESET).
    pub held: u32,
    /// An oscillator's fault flag is set (MSP430F5xx: UCSCTL7), which keeps OFIFG set.
    pub oscillator_fault: bool,
    /// The program has let go of the pins, which a reset holds as they are after it (MSP430FR5xx: PM5CTL0.LOCKLPM5).
    pub pins_released: bool,
    /// One of these three has changed since the devices were told.
    controls_changed: bool,
    /// Goes on where the program does what is a mistake, but of which it is known what the part makes of it.
    lenient: bool,
    /// What of this came about, and how often.
    tolerated: Vec<(&'static str, u64)>,
    /// What of this was a fault.
    refused: Option<&'static str>,
    /// Interrupts that an interrupt controller on the bus lets through to the core, a bit each.
    pub enabled: u128,
    /// The request that a multiplexer gives to each channel of the controllers, from the first one's first on (STM32L4+: DMAMUX); 0 for none.
    selected_requests: [u8; CHANNELS],
    /// Requests of DMA and triggers.
    lines: Lines,
    /// A register started something that happens to the flash.
    flash_change: Option<FlashChange>,
    /// The core's event input was pulsed (Cortex-M: RXEV).
    core_event: bool,
}

impl Events {
    /// From now on the flags of these vectors are subscribed to, and no others. There is one subscriber at most. With `to_set`, one
    /// that is set already counts as rising now.
    pub fn subscribe(&mut self, vectors: u128, to_set: bool) {
        self.subscription_changed |= vectors != self.subscribed;
        self.includes_set = to_set;
        self.subscribed = vectors;
    }

    /// These blocks are held in reset now, and the modules' clocks have these frequencies; where that is new, all devices are told.
    pub fn set_controls(&mut self, held: u32, clocks_hz: Vec<u64>) {
        if self.held != held || self.generic_clocks_hz != clocks_hz {
            (self.held, self.generic_clocks_hz, self.controls_changed) = (held, clocks_hz, true);
        }
    }

    /// The pins are held as after a reset, or no longer; where that is new, all devices are told.
    pub fn release_pins(&mut self, released: bool) {
        if self.pins_released != released {
            (self.pins_released, self.controls_changed) = (released, true);
        }
    }

    /// Whether an event has not been routed yet.
    fn is_pending(&self) -> bool {
        self.subscription_changed
            || !self.risen_flags.is_empty()
            || self.lines.is_pending()
            || self.controls_changed
    }

    /// Requests of DMA on these lines are made from cycle `at` on, or taken back.
    pub fn request_transfer(&mut self, lines: u128, on: bool, at: u64) {
        let requests = self.lines.requests & !lines | if on { lines } else { 0 };
        if requests != self.lines.requests {
            self.lines.requests = requests;
            self.lines.changed = Some(at);
        }
    }

    /// The DMA controller waits for requests on these lines, and no others: who may make them is told ([`Peripheral::transfers_wanted`]), so
    /// that requests that nobody waits for need not be made (MSP430).
    pub fn want_transfers(&mut self, lines: u128) {
        self.lines.wanted = Some(lines);
    }

    /// A multiplexer gives the request `number` to channel `channel` of the controllers from cycle `at` on.
    pub fn select_request(&mut self, channel: usize, number: u8, at: u64) {
        if let Some(selected) = self.selected_requests.get_mut(channel) {
            *selected = number;
            self.lines.changed = Some(at);
        }
    }

    /// The request that channel `channel` of the controllers has been given; 0 for none.
    #[must_use]
    pub fn selected_request(&self, channel: usize) -> u8 {
        self.selected_requests.get(channel).copied().unwrap_or(0)
    }

    /// The requests of DMA that there are, a bit for each line.
    #[must_use]
    pub fn transfer_requests(&self) -> u128 {
        self.lines.requests
    }

    /// The trigger of this number (STM32: TRGO of the timer of that number; MSP430: that of a DMA request's line) came at cycle `at`.
    pub fn trigger(&mut self, number: u8, at: u64) {
        self.lines.triggers.push((number, true, at));
    }

    /// The trigger of this number went back at cycle `at`.
    pub fn end_trigger(&mut self, number: u8, at: u64) {
        self.lines.triggers.push((number, false, at));
    }

    /// A peripheral with a DMA of its own reads or writes a block of memory before the next instruction, which takes the core no time
    /// (nRF52: EasyDMA).
    pub fn request_dma(&mut self, dma: Dma) {
        self.dma.push(dma);
    }

    /// What was requested so, once.
    pub(crate) fn take_dma(&mut self) -> Vec<Dma> {
        std::mem::take(&mut self.dma)
    }

    /// Pulses the core's event input, which ends its wait for an event without an interrupt (Cortex-M: WFE).
    pub fn signal_core(&mut self) {
        self.core_event = true;
    }

    /// Whether it was pulsed, once.
    pub(crate) fn take_core_event(&mut self) -> bool {
        std::mem::take(&mut self.core_event)
    }

    /// A flash controller does this with the memory, as its registers say.
    pub fn change_flash(&mut self, change: FlashChange) {
        self.flash_change = Some(change);
    }

    /// What is to be done with the flash.
    pub(crate) fn take_flash_change(&mut self) -> Option<FlashChange> {
        self.flash_change.take()
    }

    /// A DMA controller asks for an access to the bus.
    pub fn access(&mut self, access: BusAccess) {
        self.lines.accesses.push(access);
    }

    /// The next access that was asked for.
    pub(crate) fn take_access(&mut self) -> Option<BusAccess> {
        let accesses = &mut self.lines.accesses;
        (!accesses.is_empty()).then(|| accesses.remove(0))
    }

    /// Whether to go on after a mistake of the program, as the part does; it is counted. The kinds are few: their names say what was done.
    #[must_use]
    pub fn tolerate(&mut self, kind: &'static str) -> bool {
        if self.lenient {
            match self.tolerated.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, count)) => *count += 1,
                None => self.tolerated.push((kind, 1)),
            }
        } else {
            self.refused = Some(kind);
        }
        self.lenient
    }

    /// Begins to go on after such mistakes, or no longer; none is counted yet.
    pub(crate) fn set_lenient(&mut self, lenient: bool) {
        self.lenient = lenient;
        self.tolerated.clear();
        self.refused = None;
    }

    /// What was not tolerated.
    pub(crate) fn refused(&self) -> Option<&'static str> {
        self.refused
    }

    /// What was tolerated, and how often.
    pub(crate) fn tolerated(&self) -> &[(&'static str, u64)] {
        &self.tolerated
    }

    /// As after a reset, which changes nothing of what is tolerated.
    fn reset(&mut self) {
        let (lenient, tolerated) = (self.lenient, std::mem::take(&mut self.tolerated));
        *self = Events { lenient, tolerated, ..Events::default() };
    }

    /// The flag of the interrupt `irq` rose at cycle `at`.
    pub fn raise(&mut self, irq: u8, at: u64) {
        if self.subscribed >> irq & 1 == 1 {
            self.risen_flags.push((irq, at));
        }
    }

    /// The part is to be reset for this cause: by its watchdog, or because the program asks for it.
    pub fn request_reset(&mut self, cause: ResetCause) {
        self.reset.get_or_insert(cause);
    }

    /// A power reduction register (AVR: PRR or PRR0 is number 0, PRR1 is 1) is written: modules of these bits can no longer be read or
    /// written.
    pub fn reduce(&mut self, number: usize, bits: u8) {
        let mut registers = self.reduced.to_le_bytes();
        registers[number] = bits;
        self.reduced = u16::from_le_bytes(registers);
    }

    /// Whether a reset was requested.
    pub(crate) fn wants_reset(&self) -> bool {
        self.reset.is_some()
    }

    /// The reset that was requested, once.
    pub(crate) fn take_reset(&mut self) -> Option<ResetCause> {
        self.reset.take()
    }
}

/// What the part's power management has set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Power {
    /// The level of the core voltage (MSP430: `PMMCOREV`).
    pub core_level: u8,
    /// Cycles from the event that ends a sleep without the main clock to the first cycle of that clock.
    pub wake_cycles: u64,
    /// Below this supply the part is reset.
    pub falling_v: f64,
    /// After that the reset ends at this supply, if it has not fallen below `brown_out_v` meanwhile.
    pub rising_v: f64,
    /// Below this supply nothing of what the power management was told is left.
    pub brown_out_v: f64,
    /// The supply at which a reset from below that ends.
    pub cold_v: f64,
    /// Below this supply the part, not being reset, may do anything: the data sheet does not allow it.
    pub allowed_v: f64,
}

/// What a core that programs its own flash sees of it at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlashView {
    /// All of it.
    #[default]
    Whole,
    /// What is below this address can be neither read nor executed.
    From(u32),
    /// A load gets fuses and lock bits.
    Fuses,
    /// A load gets the signature row.
    SignatureRow,
}

/// A store by the core into the part's flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashStore {
    /// The storing instruction.
    pub pc: u32,
    /// Whether that instruction itself stands in flash.
    pub from_flash: bool,
    /// First byte.
    pub address: u32,
    /// Bytes: 1, 2 or 4.
    pub size: u8,
    /// What is stored.
    pub value: u32,
    /// What is there before.
    pub before: u32,
}

/// What a flash controller does with the memory; the core stands still until it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlashChange {
    /// Nothing yet: the store is the first half of a long one.
    Kept,
    /// All bytes of the range become 0xff.
    Erase {
        /// The segment.
        range: Range<u32>,
        /// The cycle at which it is done.
        until: u64,
    },
    /// Bits that are 0 in `bytes` become 0.
    Program {
        /// First byte.
        address: u32,
        /// What is written.
        bytes: Vec<u8>,
        /// The cycle at which it is done.
        until: u64,
    },
}

/// How often a stub, registers without a model that remember what was written, was used since the machine was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StubUse {
    /// The block's name in the target file.
    pub name: String,
    /// Reads of its registers.
    pub reads: u64,
    /// Writes to its registers.
    pub writes: u64,
}

/// More bytes than the buffers of a UART hold.
const MOST_UNSENT: usize = 64;

/// A peripheral on the bus. Registers that a peripheral does not model answer with [`Fault::Peripheral`].
pub trait Peripheral: Send {
    /// Its name in the target file.
    fn name(&self) -> &str;

    /// The addresses that it answers at (may be several pieces; AVR without 0x800000).
    fn ranges(&self) -> Vec<Range<u32>>;

    /// Those of its addresses where other devices have bits, too (AVR: TIMSK and TIFR): it reads theirs as 0 and takes no note of what is
    /// written there.
    fn shared(&self) -> Vec<u32> {
        Vec::new()
    }

    /// A read of `size` bytes (1, 2, 4) at `address`.
    ///
    /// # Errors
    /// A register or a size that is not modelled.
    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault>;

    /// As [`Peripheral::read`], by an instruction that will write back what it reads, on a core where such an
    /// instruction reads a port's latch and not its pins (8051).
    ///
    /// # Errors
    /// As [`Peripheral::read`].
    fn read_latch(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.read(address, size, context)
    }

    /// A write of `size` bytes (1, 2, 4) at `address`.
    ///
    /// # Errors
    /// A register, a size or a setting that is not modelled.
    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault>;

    /// One bit set or cleared by an instruction for single bits. The default reads the byte and writes it back;
    /// registers with bits that a written one clears or toggles do better.
    ///
    /// # Errors
    /// As [`Peripheral::read`] and [`Peripheral::write`].
    fn write_bit(
        &mut self,
        address: u32,
        bit: u8,
        on: bool,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let value = self.read(address, 1, context)? & !(1 << bit) | u32::from(on) << bit;
        self.write(address, 1, value, context)
    }

    /// The core clock in Hz from cycle `now` on; told before the first reset, and whenever the program sets another one.
    fn set_clock(&mut self, clock_hz: u64, now: u64) {
        let _ = (clock_hz, now);
    }

    /// The core clock that it has set, in Hz, where it is the part's clock control and the core runs at what the program sets.
    fn core_clock_hz(&self) -> Option<u64> {
        None
    }

    /// The clocks beside the core's that it has set, where it is the part's clock control and peripherals count such (MSP430: SMCLK, ACLK).
    fn subsystem_clocks(&self) -> Option<SubsystemClocks> {
        None
    }

    /// What [`Peripheral::subsystem_clocks`] is from cycle `now` on; told after each reset, and whenever the program sets others. A core
    /// clock that changes with them was told before.
    fn set_subsystem_clocks(&mut self, clocks: &SubsystemClocks, now: u64) {
        let _ = (clocks, now);
    }

    /// Cycles of the core's clock in one of the peripheral buses' (STM32: APB1, APB2) from cycle `now` on, told whenever the program
    /// sets them; 1 after a reset.
    fn set_bus_dividers(&mut self, apb1: u64, apb2: u64, now: u64) {
        let _ = (apb1, apb2, now);
    }

    /// HCLK and the clock of 48 MHz that USB, SDIO and the random number generator share (STM32: PLL48CLK; 0 where it stands still), in
    /// Hz, from cycle `now` on, told whenever the program may have set them; after a reset it stands still.
    fn set_clock48(&mut self, hclk_hz: u64, clock48_hz: u64, now: u64) {
        let _ = (hclk_hz, clock48_hz, now);
    }

    /// The cycle at which the byte that its UART is sending is complete, and it is due.
    fn sending(&self) -> Option<u64> {
        None
    }

    /// Whether its UART receives what arrives; `None` where it has none.
    fn uart_listens(&self) -> Option<bool> {
        None
    }

    /// The clock of the real-time clock (STM32: RTCCLK; 0 where it stands still), in Hz, from cycle `now` on, and whether its domain is
    /// being reset; told whenever the program may have set it.
    fn set_rtc_clock(&mut self, clock_hz: u64, reset: bool, now: u64) {
        let _ = (clock_hz, reset, now);
    }

    /// What it asked for with [`Dma::Fetch`] was read.
    fn fetched(&mut self, bytes: &[u8], context: &mut Context<'_, '_>) {
        let _ = (bytes, context);
    }

    /// `context.events` has other clocks, or holds other blocks in reset or pins, than it had: see [`Events::set_controls`] and
    /// [`Events::release_pins`].
    fn controls_changed(&mut self, context: &mut Context<'_, '_>) {
        let _ = context;
    }

    /// Bytes begin to arrive at its UART input, one after the other; false where it has none. `now` is the cycle.
    fn uart_receive(&mut self, bytes: &[u8], now: u64) -> bool {
        let _ = (bytes, now);
        false
    }

    /// The non-volatile memory that it keeps, at its ELF address: for images, debuggers and snapshots.
    fn memory(&self) -> Option<(u32, &[u8])> {
        None
    }

    /// As [`Peripheral::memory`], to be written.
    fn memory_mut(&mut self) -> Option<(u32, &mut [u8])> {
        None
    }

    /// What it has set, where it is the part's power management.
    fn power(&self) -> Option<Power> {
        None
    }

    /// The clock by the manual's name (MSP430: `SMCLK`, `ACLK`) that it counts now and so keeps running, whatever the
    /// core's sleep would stop.
    fn clock_needed(&self) -> Option<&'static str> {
        None
    }

    /// The part's supply, in volts, at the start of a run.
    fn supply(&mut self, supply_v: f64) {
        let _ = supply_v;
    }

    /// What becomes of a store into flash, where it is the part's flash controller; `None` where it is none.
    fn flash_store(
        &mut self,
        store: &FlashStore,
        context: &mut Context<'_, '_>,
    ) -> Option<Result<FlashChange, Fault>> {
        let _ = (store, context);
        None
    }

    /// The cycle at which [`Peripheral::tick`] must be called next, if it wants to be.
    fn due(&self) -> Option<u64> {
        None
    }

    /// Its time has come: `context.now` is at or past [`Peripheral::due`].
    fn tick(&mut self, context: &mut Context<'_, '_>) {
        let _ = context;
    }

    /// Levels that the board drives at the input pins may have changed.
    fn inputs(&mut self, context: &mut Context<'_, '_>) {
        let _ = context;
    }

    /// The interrupts that it may ask for, a bit each: of these it is told when the core takes them.
    fn interrupts(&self) -> u128 {
        u128::MAX
    }

    /// The core has taken the interrupt `irq`; a peripheral whose flag is cleared by that clears it.
    fn taken(&mut self, irq: u8) {
        let _ = irq;
    }

    /// The flags of the interrupts in `vectors` are subscribed to, and no others: see [`Events::raise`]. With `to_set` it raises
    /// those that are set already.
    fn subscribed(&mut self, vectors: u128, to_set: bool, context: &mut Context<'_, '_>) {
        let _ = (vectors, to_set, context);
    }

    /// The flag of the interrupt `irq`, which it listens to, rose at cycle `at`.
    fn flag_raised(&mut self, irq: u8, at: u64, context: &mut Context<'_, '_>) {
        let _ = (irq, at, context);
    }

    /// The core goes to sleep, in the mode of this name; one that stops the clock of [`Peripheral::clock_needed`]
    /// was refused before.
    fn asleep(&mut self, mode: &str, context: &mut Context<'_, '_>) {
        let _ = (mode, context);
    }

    /// The core wakes from a sleep of which [`Peripheral::asleep`] told: its clocks run again from `context.now` on.
    fn awake(&mut self, context: &mut Context<'_, '_>) {
        let _ = context;
    }

    /// Whether it is a DMA controller.
    fn controls_transfers(&self) -> bool {
        false
    }

    /// Whether it is a DMA controller that has data to move.
    fn moves_data(&self) -> bool {
        false
    }

    /// Requests of DMA changed at cycle `at`: see [`Events::transfer_requests`].
    fn transfers_requested(&mut self, at: u64, context: &mut Context<'_, '_>) {
        let _ = (at, context);
    }

    /// The access that a DMA controller asked for was made.
    fn accessed(&mut self, access: &BusAccess, accessed: Accessed, context: &mut Context<'_, '_>) {
        let _ = (access, accessed, context);
    }

    /// The lines of the requests of DMA that it may make.
    fn transfer_lines(&self) -> u128 {
        0
    }

    /// A DMA controller waits for requests on these lines, and no others: see [`Events::want_transfers`].
    fn transfers_wanted(&mut self, lines: u128, context: &mut Context<'_, '_>) {
        let _ = (lines, context);
    }

    /// An access was made for its request on one of these lines, the last that the controller was set up for or not.
    fn transfer_served(&mut self, lines: u128, last: bool, context: &mut Context<'_, '_>) {
        let _ = (lines, last, context);
    }

    /// Whether triggers start something in it.
    fn follows_triggers(&self) -> bool {
        false
    }

    /// The trigger of this number came at cycle `at`.
    fn triggered(&mut self, number: u8, at: u64, context: &mut Context<'_, '_>) {
        let _ = (number, at, context);
    }

    /// The trigger of this number went back at cycle `at`.
    fn trigger_ended(&mut self, number: u8, at: u64, context: &mut Context<'_, '_>) {
        let _ = (number, at, context);
    }

    /// As after power-up.
    fn reset(&mut self);

    /// A reset of this cause at cycle `now`, of which [`ResetCause::PowerOn`] begins at cycle 0.
    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        let _ = (cause, now);
        self.reset();
    }

    /// Whether it will reset the part if nobody does anything.
    fn will_reset(&self) -> bool {
        false
    }

    /// The supply is cut off: what is being written into non-volatile memory becomes `torn`. A reset follows.
    fn cut_power(&mut self, torn: u8) {
        let _ = torn;
    }

    /// Writes of bytes of non-volatile memory that were begun since the machine was made.
    fn nonvolatile_writes(&self) -> u64 {
        0
    }

    /// How often it was used, where it is a stub.
    fn stub_use(&self) -> Option<&StubUse> {
        None
    }

    /// A copy of itself, for snapshots.
    fn boxed_clone(&self) -> Box<dyn Peripheral>;
}

/// All peripherals of a machine.
#[derive(Clone)]
pub struct PeripheralBus {
    devices: Vec<Device>,
    /// (range, index into `devices`), sorted by start.
    map: Vec<(Range<u32>, usize)>,
    /// The index into `devices` for each of the lowest addresses, where AVR and MSP430 have all their registers; [`NOBODY`] for none.
    low: [u8; LOW],
    /// Addresses that several devices have, and the devices: see [`Peripheral::shared`].
    shared: Vec<(u32, Vec<usize>)>,
    /// Requested interrupts.
    pub requests: u128,
    /// The earliest cycle at which a device wants a tick; `u64::MAX` for none. Cores compare it with their cycle
    /// count at instruction boundaries.
    pub due: u64,
    /// When each device wants a tick, by its index; `u64::MAX` for never.
    dues: Vec<u64>,
    /// For each interrupt the devices, by their indices, that may ask for it: see [`Peripheral::interrupts`].
    askers: Arc<[Vec<u8>]>,
    parties: Arc<Parties>,
    /// The device that last said what it listens to.
    subscriber: usize,
    /// Cycles for which peripherals hold the core up; the core takes them when it has executed the instruction.
    pub stall: u64,
    /// A DMA controller has accessed the bus.
    pub(crate) moved_by_dma: bool,
    /// The devices were told of a sleep, and not yet of its end.
    asleep: bool,
    /// What is around the microcontroller.
    pub board: Board,
    /// What peripherals tell each other and the core.
    pub events: Events,
    /// What the power management has set, as it stands after each access to it.
    pub power: Power,
    /// `power` may have changed; for the core to take note of.
    pub power_changed: bool,
    /// Which device is the power management; past the end where there is none.
    power_device: usize,
    /// Which device is the clock control that the core's clock or the peripherals' follow; past the end where there is none.
    clock_device: usize,
    /// The clocks that the devices were told of last.
    subsystem_clocks: Option<SubsystemClocks>,
    /// The bit of each device, by its index, in the power reduction registers: see [`Events::reduce`].
    reductions: Vec<u16>,
}

/// A device that the bus owns.
struct Device(Box<dyn Peripheral>);

impl Clone for Device {
    fn clone(&self) -> Device {
        Device(self.0.boxed_clone())
    }
}

/// In [`PeripheralBus::low`].
const NOBODY: u8 = u8::MAX;
const LOW: usize = 0x1000;

/// What a device is called with, in a way that leaves the devices themselves alone.
macro_rules! context {
    ($bus:ident, $now:expr, $pc:expr, $observer:expr) => {
        Context {
            now: $now,
            pc: $pc,
            requests: &mut $bus.requests,
            stall: &mut $bus.stall,
            board: &mut $bus.board,
            events: &mut $bus.events,
            observer: $observer,
        }
    };
}

impl PeripheralBus {
    /// A bus with these devices.
    ///
    /// # Errors
    /// A sentence about two that claim one address.
    pub fn new(devices: Vec<Box<dyn Peripheral>>) -> Result<Self, String> {
        let mut map: Vec<(Range<u32>, usize)> = devices
            .iter()
            .enumerate()
            .flat_map(|(index, device)| device.ranges().into_iter().map(move |range| (range, index)))
            .collect();
        map.sort_by_key(|(range, _)| range.start);
        let mut shared: Vec<(u32, Vec<usize>)> = Vec::new();
        for (index, device) in devices.iter().enumerate() {
            for address in device.shared() {
                match shared.iter_mut().find(|(known, _)| *known == address) {
                    Some((_, sharers)) => sharers.push(index),
                    None => shared.push((address, vec![index])),
                }
            }
        }
        shared.retain(|(_, sharers)| sharers.len() > 1);
        // The first of those that share an address stands for all of them.
        map.retain(|(range, index)| {
            let sharers = shared.iter().find(|(address, _)| *address == range.start);
            sharers.is_none_or(|(_, sharers)| sharers[0] == *index || !sharers.contains(index))
        });
        for pair in map.windows(2) {
            let [(before, first), (after, second)] = pair else { continue };
            if before.end > after.start {
                let [first, second] = [first, second].map(|index| devices[*index].name());
                return Err(format!("{first} and {second} both claim the address {:#x}", after.start));
            }
        }
        let power_device =
            devices.iter().position(|device| device.power().is_some()).unwrap_or(devices.len());
        let controls_clocks =
            |device: &dyn Peripheral| device.core_clock_hz().is_some() || device.subsystem_clocks().is_some();
        let clock_device =
            devices.iter().position(|device| controls_clocks(&**device)).unwrap_or(devices.len());
        let which = |takes_part: fn(&dyn Peripheral) -> bool| {
            (0..devices.len()).filter(|index| takes_part(&*devices[*index])).collect::<Vec<_>>()
        };
        let requesting = |device: &dyn Peripheral| device.transfer_lines() != 0;
        let parties = Parties {
            controllers: which(|device| device.controls_transfers()),
            requesters: which(requesting)
                .iter()
                .map(|index| (devices[*index].transfer_lines(), *index))
                .collect(),
            triggered: which(|device| device.follows_triggers()),
        };
        let mut low = [NOBODY; LOW];
        for (range, index) in &map {
            for address in range.clone().take_while(|address| *address < LOW as u32) {
                low[address as usize] = u8::try_from(*index).unwrap_or(NOBODY);
            }
        }
        let mut bus = PeripheralBus {
            dues: vec![u64::MAX; devices.len()],
            reductions: vec![0; devices.len()],
            askers: (0..u128::BITS)
                .map(|irq| {
                    let asks = |device: &dyn Peripheral| device.interrupts() >> irq & 1 == 1;
                    (0..)
                        .zip(&devices)
                        .filter(|(_, device)| asks(&***device))
                        .map(|(index, _)| index)
                        .collect()
                })
                .collect(),
            parties: Arc::new(parties),
            subscriber: 0,
            devices: devices.into_iter().map(Device).collect(),
            map,
            low,
            shared,
            requests: 0,
            due: u64::MAX,
            stall: 0,
            moved_by_dma: false,
            asleep: false,
            power: Power::default(),
            power_changed: true,
            power_device,
            clock_device,
            subsystem_clocks: None,
            board: Board::default(),
            events: Events::default(),
        };
        bus.refresh_power();
        bus.reschedule();
        Ok(bus)
    }

    /// Says which bits of the power reduction register stop the clocks of the devices, in the order in which they came.
    pub fn set_reductions(&mut self, bits: &[u16]) {
        for (reduction, bits) in self.reductions.iter_mut().zip(bits) {
            *reduction = *bits;
        }
    }

    /// The device at an address, if it can be accessed.
    #[inline]
    fn reach(&self, address: u32) -> Option<usize> {
        let index = self.find(address)?;
        (self.events.reduced & self.reductions[index] == 0).then_some(index)
    }

    /// Why [`PeripheralBus::reach`] found none.
    #[cold]
    fn out_of_reach(&self, address: u32, size: u8, pc: u32, kind: &'static str) -> Fault {
        match self.find(address) {
            None => Fault::Unmapped { pc, address, size, kind },
            Some(index) => {
                let what = "its clock is switched off in the power reduction register".into();
                let device = self.devices[index].0.name().to_string();
                Fault::Peripheral { pc, address, device, what }
            }
        }
    }

    /// The devices that share an address, if several do.
    #[inline]
    fn sharers(&self, address: u32) -> Option<Vec<usize>> {
        if self.shared.is_empty() {
            return None;
        }
        let found = self.shared.iter().find(|(shared, _)| *shared == address);
        found.map(|(_, sharers)| sharers.clone())
    }

    #[inline]
    fn find(&self, address: u32) -> Option<usize> {
        if let Some(&index) = self.low.get(address as usize)
            && index != NOBODY
        {
            return Some(index.into());
        }
        let after = self.map.partition_point(|(range, _)| range.start <= address);
        let (range, index) = self.map.get(after.checked_sub(1)?)?;
        range.contains(&address).then_some(*index)
    }

    /// Whether a peripheral answers at `address`.
    #[must_use]
    pub fn claims(&self, address: u32) -> bool {
        self.find(address).is_some()
    }

    /// The addresses that peripherals answer at, with a number for each of them, sorted.
    pub(crate) fn ranges(&self) -> Vec<(Range<u32>, usize)> {
        self.map.clone()
    }

    /// Finds the next due time when any device may have another one than before.
    fn reschedule(&mut self) {
        for (due, device) in self.dues.iter_mut().zip(&self.devices) {
            *due = device.0.due().unwrap_or(u64::MAX);
        }
        self.find_due();
    }

    fn find_due(&mut self) {
        let first = self.dues.iter().fold(u64::MAX, |first, due| first.min(*due));
        self.due = first.min(self.board.due);
    }

    /// After an access to a device: what it has told others reaches them, and the next due time is found.
    fn settle(&mut self, index: usize, now: u64, pc: u32) {
        let due = self.devices[index].0.due().unwrap_or(u64::MAX);
        let before = std::mem::replace(&mut self.dues[index], due);
        if self.board.changed || self.events.is_pending() {
            if self.events.subscription_changed {
                self.subscriber = index;
            }
            self.route_events(now, pc);
            self.find_due();
        } else if due < self.due {
            self.due = due;
        } else if before != due && before == self.due {
            self.find_due();
        }
    }

    /// The input pins follow the board, the subscriber gets the flags that rose.
    #[inline(never)]
    fn route_events(&mut self, now: u64, pc: u32) {
        let board_changed = std::mem::take(&mut self.board.changed);
        if board_changed {
            for device in &mut self.devices {
                device.0.inputs(&mut context!(self, now, pc, None));
            }
        }
        let subscribed = std::mem::take(&mut self.events.subscription_changed);
        if subscribed {
            let (vectors, to_set) = (self.events.subscribed, self.events.includes_set);
            for device in &mut self.devices {
                device.0.subscribed(vectors, to_set, &mut context!(self, now, pc, None));
            }
        }
        let controlled = std::mem::take(&mut self.events.controls_changed);
        if controlled {
            for device in &mut self.devices {
                device.0.controls_changed(&mut context!(self, now, pc, None));
            }
        }
        if !self.events.risen_flags.is_empty() {
            self.notify_subscriber(now, pc);
        }
        while self.events.lines.is_pending() {
            self.route_lines(now, pc);
        }
        if board_changed || subscribed || controlled {
            self.reschedule();
        }
    }

    /// Triggers and requests of DMA reach those whom they are for.
    fn route_lines(&mut self, now: u64, pc: u32) {
        let parties = Arc::clone(&self.parties);
        if let Some(lines) = self.events.lines.wanted.take() {
            for (_, index) in &parties.requesters {
                self.devices[*index].0.transfers_wanted(lines, &mut context!(self, now, pc, None));
                self.dues[*index] = self.devices[*index].0.due().unwrap_or(u64::MAX);
            }
        }
        for (number, high, at) in std::mem::take(&mut self.events.lines.triggers) {
            for index in &parties.triggered {
                let context = &mut context!(self, now, pc, None);
                if high {
                    self.devices[*index].0.triggered(number, at, context);
                } else {
                    self.devices[*index].0.trigger_ended(number, at, context);
                }
                self.dues[*index] = self.devices[*index].0.due().unwrap_or(u64::MAX);
            }
        }
        if let Some(at) = self.events.lines.changed.take() {
            for index in &parties.controllers {
                self.devices[*index].0.transfers_requested(at, &mut context!(self, now, pc, None));
                self.dues[*index] = self.devices[*index].0.due().unwrap_or(u64::MAX);
            }
        }
    }

    /// An access that a DMA controller asked for was made: it is told, and so is whoever made the request.
    pub(crate) fn accessed(&mut self, access: &BusAccess, accessed: Accessed, now: u64, pc: u32) {
        self.moved_by_dma = true;
        let parties = Arc::clone(&self.parties);
        let requesters = parties.requesters.iter().filter(|(lines, _)| lines & access.serves != 0);
        for (_, index) in requesters {
            let (lines, last) = (access.serves, access.last);
            self.devices[*index].0.transfer_served(lines, last, &mut context!(self, now, pc, None));
            self.dues[*index] = self.devices[*index].0.due().unwrap_or(u64::MAX);
        }
        for index in &parties.controllers {
            self.devices[*index].0.accessed(access, accessed, &mut context!(self, now, pc, None));
            self.dues[*index] = self.devices[*index].0.due().unwrap_or(u64::MAX);
        }
        self.route_events(now, pc);
        self.find_due();
    }

    /// Tells the subscriber of the flags that rose; when it is due is looked up, and no more.
    fn notify_subscriber(&mut self, now: u64, pc: u32) {
        let mut risen_flags = std::mem::take(&mut self.events.risen_flags);
        if let Some(device) = self.devices.get_mut(self.subscriber) {
            for (irq, at) in risen_flags.drain(..) {
                device.0.flag_raised(irq, at, &mut context!(self, now, pc, None));
            }
            self.dues[self.subscriber] = device.0.due().unwrap_or(u64::MAX);
        }
        if self.events.risen_flags.is_empty() {
            // Keeps its room.
            self.events.risen_flags = risen_flags;
        }
    }

    /// A run begins: somebody may have told the board or its chips something meanwhile.
    pub fn resume(&mut self, now: u64, pc: u32) {
        if let Some(device) = self.devices.get_mut(self.power_device) {
            device.0.supply(self.board.supply_v);
        }
        self.board.reschedule();
        self.route_events(now, pc);
        self.reschedule();
    }

    fn refresh_power(&mut self) {
        let device = self.devices.get(self.power_device);
        self.power = device.and_then(|device| device.0.power()).unwrap_or_default();
        self.power_changed = true;
    }

    /// Whether one of the devices is the part's power management.
    pub(crate) fn has_power_management(&self) -> bool {
        self.power_device < self.devices.len()
    }

    /// The device that keeps the clock of this name running, if one does: see [`Peripheral::clock_needed`].
    #[must_use]
    pub fn clock_needed(&self, clock: &str) -> Option<&str> {
        let mut needing = self.devices.iter().filter(|device| device.0.clock_needed() == Some(clock));
        needing.next().map(|device| device.0.name())
    }

    /// What becomes of a store into the part's flash.
    ///
    /// # Errors
    /// [`Fault::Architecture`] where no flash controller is modelled, or the controller's own fault.
    pub fn flash_store(
        &mut self,
        store: &FlashStore,
        now: u64,
        observer: Option<&mut (dyn Observer + '_)>,
    ) -> Result<FlashChange, Fault> {
        let pc = store.pc;
        let mut context = context!(self, now, pc, observer);
        let change = self.devices.iter_mut().find_map(|device| device.0.flash_store(store, &mut context));
        self.reschedule();
        change.unwrap_or_else(|| {
            let what = "a write to flash, whose controller is not modelled".into();
            Err(Fault::Architecture { pc, address: store.address, what })
        })
    }

    /// A read at `address`.
    ///
    /// # Errors
    /// [`Fault::Unmapped`] where no device answers, or the device's own fault.
    pub fn read(
        &mut self,
        address: u32,
        size: u8,
        now: u64,
        pc: u32,
        observer: Option<&mut (dyn Observer + '_)>,
    ) -> Result<u32, Fault> {
        let mut observer = observer;
        if let Some(sharers) = self.sharers(address) {
            let mut value = 0;
            for index in sharers {
                let mut context = context!(self, now, pc, observer.as_deref_mut());
                value |= self.devices[index].0.read(address, size, &mut context)?;
                self.settle(index, now, pc);
            }
            return Ok(value);
        }
        let Some(index) = self.reach(address) else {
            return Err(self.out_of_reach(address, size, pc, "read"));
        };
        let mut context = context!(self, now, pc, observer);
        let value = self.devices[index].0.read(address, size, &mut context)?;
        self.settle(index, now, pc);
        Ok(value)
    }

    /// As [`PeripheralBus::read`], by an instruction that will write back what it reads: see
    /// [`Peripheral::read_latch`].
    ///
    /// # Errors
    /// As [`PeripheralBus::read`].
    pub fn read_latch(
        &mut self,
        address: u32,
        size: u8,
        now: u64,
        pc: u32,
        observer: Option<&mut (dyn Observer + '_)>,
    ) -> Result<u32, Fault> {
        let Some(index) = self.reach(address) else {
            return Err(self.out_of_reach(address, size, pc, "read"));
        };
        let mut context = context!(self, now, pc, observer);
        let value = self.devices[index].0.read_latch(address, size, &mut context)?;
        self.settle(index, now, pc);
        Ok(value)
    }

    /// A write at `address`.
    ///
    /// # Errors
    /// As [`PeripheralBus::read`].
    pub fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        now: u64,
        pc: u32,
        observer: Option<&mut (dyn Observer + '_)>,
    ) -> Result<(), Fault> {
        let mut observer = observer;
        if let Some(sharers) = self.sharers(address) {
            for index in sharers {
                let mut context = context!(self, now, pc, observer.as_deref_mut());
                self.devices[index].0.write(address, size, value, &mut context)?;
                self.settle(index, now, pc);
            }
            return Ok(());
        }
        let Some(index) = self.reach(address) else {
            return Err(self.out_of_reach(address, size, pc, "write"));
        };
        let mut context = context!(self, now, pc, observer.as_deref_mut());
        self.devices[index].0.write(address, size, value, &mut context)?;
        if index == self.power_device {
            self.refresh_power();
        }
        if index == self.clock_device {
            self.follow_clock(now, observer);
        }
        self.settle(index, now, pc);
        Ok(())
    }

    /// One bit set or cleared at `address`.
    ///
    /// # Errors
    /// As [`PeripheralBus::read`].
    pub fn write_bit(
        &mut self,
        address: u32,
        bit: u8,
        on: bool,
        now: u64,
        pc: u32,
        observer: Option<&mut (dyn Observer + '_)>,
    ) -> Result<(), Fault> {
        let Some(index) = self.reach(address) else {
            return Err(self.out_of_reach(address, 1, pc, "write"));
        };
        let mut observer = observer;
        let mut context = context!(self, now, pc, observer.as_deref_mut());
        self.devices[index].0.write_bit(address, bit, on, &mut context)?;
        if index == self.clock_device {
            self.follow_clock(now, observer);
        }
        self.settle(index, now, pc);
        Ok(())
    }

    /// The core's clock, in Hz.
    #[must_use]
    pub fn clock_hz(&self) -> u64 {
        self.board.clock_hz()
    }

    /// The clock control may have set other clocks.
    pub(crate) fn follow_clock(&mut self, now: u64, observer: Option<&mut (dyn Observer + '_)>) {
        let Some(device) = self.devices.get(self.clock_device) else { return };
        let clocks = device.0.subsystem_clocks();
        if let Some(clock_hz) = device.0.core_clock_hz() {
            self.change_clock(clock_hz, now, observer);
        }
        if let Some(clocks) = clocks.filter(|_| clocks != self.subsystem_clocks) {
            self.subsystem_clocks = Some(clocks);
            for device in &mut self.devices {
                device.0.set_subsystem_clocks(&clocks, now);
            }
            self.reschedule();
        }
    }

    /// The core's clock is `clock_hz` from cycle `now` on.
    pub(crate) fn change_clock(
        &mut self,
        clock_hz: u64,
        now: u64,
        observer: Option<&mut (dyn Observer + '_)>,
    ) {
        if clock_hz == self.board.clock_hz() {
            return;
        }
        self.set_clock(clock_hz, now);
        self.refresh_power();
        self.reschedule();
        self.tell_clock(now, observer);
    }

    fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.board.set_clock(clock_hz, now);
        for device in &mut self.devices {
            device.0.set_clock(clock_hz, now);
        }
    }

    /// Tells the observer of the clock as it is.
    pub(crate) fn tell_clock(&self, now: u64, observer: Option<&mut (dyn Observer + '_)>) {
        if let Some(observer) = observer {
            observer.clock(&ClockChange { clock_hz: self.board.clock_hz(), cycles: now });
        }
    }

    /// Tells the devices of the peripheral buses' clocks: see [`Peripheral::set_bus_dividers`].
    pub fn set_bus_dividers(&mut self, apb1: u64, apb2: u64, now: u64) {
        for device in &mut self.devices {
            device.0.set_bus_dividers(apb1, apb2, now);
        }
        self.reschedule();
    }

    /// Tells the devices of the clock of 48 MHz: see [`Peripheral::set_clock48`].
    pub fn set_clock48(&mut self, hclk_hz: u64, clock48_hz: u64, now: u64) {
        for device in &mut self.devices {
            device.0.set_clock48(hclk_hz, clock48_hz, now);
        }
        self.reschedule();
    }

    /// What the UARTs have been given leaves them: see [`crate::Mcu::finish_sending`].
    pub(crate) fn finish_sending(&mut self, pc: u32, observer: &mut dyn Observer) {
        for index in 0..self.devices.len() {
            for _ in 0..MOST_UNSENT {
                let Some(end) = self.devices[index].0.sending() else { break };
                let mut context = context!(self, end, pc, Some(&mut *observer));
                self.devices[index].0.tick(&mut context);
            }
        }
        self.reschedule();
    }

    /// Tells the devices of the real-time clock's clock: see [`Peripheral::set_rtc_clock`].
    pub fn set_rtc_clock(&mut self, clock_hz: u64, reset: bool, now: u64) {
        for device in &mut self.devices {
            device.0.set_rtc_clock(clock_hz, reset, now);
        }
        self.reschedule();
    }

    /// Tells the devices of the modules' clocks: see [`Events::set_controls`].
    pub(crate) fn set_module_clocks(&mut self, clocks_hz: Vec<u64>, now: u64, pc: u32) {
        self.events.set_controls(self.events.held, clocks_hz);
        if self.events.is_pending() {
            self.route_events(now, pc);
        }
    }

    /// Whether the UART `name` receives what arrives; `None` where there is none of that name.
    #[must_use]
    pub fn uart_listens(&self, name: &str) -> Option<bool> {
        self.devices.iter().find(|device| device.0.name() == name)?.0.uart_listens()
    }

    /// The device with this address gets what it asked for with [`Dma::Fetch`].
    pub(crate) fn fetched(
        &mut self,
        device: u32,
        bytes: &[u8],
        now: u64,
        pc: u32,
        observer: Option<&mut (dyn Observer + '_)>,
    ) {
        let Some(index) = self.find(device) else { return };
        self.devices[index].0.fetched(bytes, &mut context!(self, now, pc, observer));
        self.settle(index, now, pc);
    }

    /// Bytes begin to arrive at the UART `name`; false where there is none of that name.
    pub fn uart_receive(&mut self, name: &str, bytes: &[u8], now: u64) -> bool {
        let device = self.devices.iter_mut().find(|device| device.0.name() == name);
        let received = device.is_some_and(|device| device.0.uart_receive(bytes, now));
        self.reschedule();
        received
    }

    /// The devices' non-volatile memory from `address` on, if a device keeps `size` bytes there.
    #[must_use]
    pub fn memory(&self, address: u32, size: usize) -> Option<&[u8]> {
        self.devices.iter().filter_map(|device| device.0.memory()).find_map(|(start, bytes)| {
            let offset = address.checked_sub(start)? as usize;
            bytes.get(offset..offset.checked_add(size)?)
        })
    }

    /// As [`PeripheralBus::memory`], to be written.
    #[must_use]
    pub fn memory_mut(&mut self, address: u32, size: usize) -> Option<&mut [u8]> {
        self.devices.iter_mut().filter_map(|device| device.0.memory_mut()).find_map(|(start, bytes)| {
            let offset = address.checked_sub(start)? as usize;
            bytes.get_mut(offset..offset.checked_add(size)?)
        })
    }

    /// Lets every device and every chip whose time has come have its tick.
    pub fn tick(&mut self, now: u64, pc: u32, mut observer: Option<&mut (dyn Observer + '_)>) {
        for (device, due) in self.devices.iter_mut().zip(&mut self.dues) {
            if *due <= now {
                let observer = observer.as_deref_mut();
                device.0.tick(&mut context!(self, now, pc, observer));
                *due = device.0.due().unwrap_or(u64::MAX);
            }
        }
        if self.board.due <= now {
            self.board.tick(now);
        }
        if self.board.changed || self.events.is_pending() {
            self.route_events(now, pc);
        }
        self.find_due();
    }

    /// Tells the devices that the core has taken `irq`.
    pub fn taken(&mut self, irq: u8) {
        self.requests &= !(1 << irq);
        for index in self.askers[usize::from(irq)].iter().map(|index| usize::from(*index)) {
            let device = &mut self.devices[index];
            device.0.taken(irq);
            self.dues[index] = device.0.due().unwrap_or(u64::MAX);
        }
        self.find_due();
    }

    /// Tells the devices that the core goes to sleep, in the mode of this name.
    pub fn asleep(&mut self, mode: &str, now: u64, pc: u32) {
        self.asleep = true;
        for device in &mut self.devices {
            device.0.asleep(mode, &mut context!(self, now, pc, None));
        }
        self.reschedule();
    }

    /// Tells the devices that their clocks run again from `now` on.
    pub fn awake(&mut self, now: u64, pc: u32) {
        if std::mem::take(&mut self.asleep) {
            for device in &mut self.devices {
                device.0.awake(&mut context!(self, now, pc, None));
            }
            self.reschedule();
        }
    }

    /// Whether the devices were last told of a sleep.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.asleep
    }

    /// Every device and every chip on the board as after power-up.
    pub fn reset(&mut self) {
        self.reset_devices(ResetCause::PowerOn, 0);
        self.board.power_up();
        self.reschedule();
    }

    /// Every device as after a reset of this cause, while the board goes on.
    pub fn reset_by(&mut self, cause: ResetCause, now: u64, pc: u32) {
        self.reset_devices(cause, now);
        self.board.high_impedance(now);
        self.route_events(now, pc);
        self.reschedule();
    }

    fn reset_devices(&mut self, cause: ResetCause, now: u64) {
        self.requests = 0;
        self.stall = 0;
        self.asleep = false;
        self.events.reset();
        for device in &mut self.devices {
            device.0.reset_by(cause, now);
        }
        if cause == ResetCause::PowerOn {
            // Time begins anew.
            let clock_hz = self.board.clock_hz();
            self.set_clock(clock_hz, 0);
            self.subsystem_clocks = None;
        }
        self.follow_clock(now, None);
        self.refresh_power();
    }

    /// Whether the watchdog will reset the part if nobody does anything.
    #[must_use]
    pub fn will_reset(&self) -> bool {
        self.devices.iter().any(|device| device.0.will_reset())
    }

    /// Whether a DMA controller has data to move.
    pub(crate) fn moves_data(&self) -> bool {
        self.parties.controllers.iter().any(|index| self.devices[*index].0.moves_data())
    }

    /// The supply is cut off: see [`Peripheral::cut_power`].
    pub fn cut_power(&mut self, torn: u8) {
        for device in &mut self.devices {
            device.0.cut_power(torn);
        }
    }

    /// The stubs that were used: see [`Peripheral::stub_use`].
    pub(crate) fn stub_uses(&self) -> Vec<StubUse> {
        let uses = self.devices.iter().filter_map(|device| device.0.stub_use());
        uses.filter(|used| used.reads + used.writes > 0).cloned().collect()
    }

    /// Writes of bytes of non-volatile memory that were begun: see [`Peripheral::nonvolatile_writes`].
    #[must_use]
    pub fn nonvolatile_writes(&self) -> u64 {
        self.devices.iter().map(|device| device.0.nonvolatile_writes()).sum()
    }
}
