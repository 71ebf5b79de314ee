//! Board: the surroundings of a microcontroller.
//!
//! A board has the supply, voltages and levels at pins, and the chips wired to them.

mod masters;
mod pin_signal;
mod pins;

use crate::i2c_bus::I2cBuses;
use crate::{Signal, TwoWireDevice};
use masters::Masters;
pub use masters::{FinishedTransfer, MasterData, MasterTransfer};
pub use pin_signal::Levels;
use pin_signal::PinSignal;
use pins::Port;
use std::any::Any;
use std::collections::BTreeMap;

/// Nanoseconds in a second.
const NS_PER_S: u64 = 1_000_000_000;

/// Another chip on the board, reached over SPI and by pins. It lives in nanoseconds since power-up,
/// counted by the microcontroller's clock; the times that it is handed never go back, but for
/// [`Chip::power_up`].
pub trait Chip: Any + Send {
    /// Its name, by which [`Board::chip_mut`] finds it.
    fn name(&self) -> &str;

    /// As after power-up, at time 0.
    fn power_up(&mut self);

    /// Its select line goes active (low) or back.
    fn select(&mut self, selected: bool, now_ns: u64);

    /// Reason why the machine has to stop, which the board takes after [`Chip::select`].
    fn take_failure(&mut self) -> Option<String> {
        None
    }

    /// A byte is clocked in while it is selected, complete at `now_ns`; what it has clocked out
    /// meanwhile.
    ///
    /// # Errors
    /// The transfer is forbidden by the chip's data sheet or is not modelled. The machine stops
    /// with the text as a fault.
    fn transfer(&mut self, byte: u8, now_ns: u64) -> Result<u8, String>;

    /// The SPI mode that it understands: clock polarity and phase as 2 * CPOL + CPHA.
    fn spi_mode(&self) -> u8 {
        0
    }

    /// The fastest SPI clock that it understands, in Hz.
    fn spi_limit_hz(&self) -> u64 {
        u64::MAX
    }

    /// The level of one of its output pins; `None` while it does not drive it.
    fn output(&self, index: u8) -> Option<bool>;

    /// When something comes about next by itself that may change an output.
    fn due(&self) -> Option<u64>;

    /// Time passes up to `now_ns`.
    fn tick(&mut self, now_ns: u64);

    /// A copy of itself, for snapshots.
    fn boxed_clone(&self) -> Box<dyn Chip>;
}

/// A pin of the microcontroller, such as bit 3 of `P1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pin {
    /// The port's name in the data sheet.
    pub port: String,
    /// The bit, from 0.
    pub bit: u8,
}

impl Pin {
    /// Bit `bit` of `port`.
    #[must_use]
    pub fn new(port: &str, bit: u8) -> Pin {
        Pin { port: port.to_string(), bit }
    }
}

/// Connection of a chip to the microcontroller's pins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// The serial interface that it is on, by its name in the target file: `UCB0`.
    pub spi: String,
    /// The pin that selects it while low.
    pub select: Pin,
    /// Its outputs, by the chip's own numbers, and the pins that they are wired to.
    pub outputs: Vec<(u8, Pin)>,
}

struct Mounted {
    chip: Box<dyn Chip>,
    wiring: Wiring,
    selected: bool,
}

/// Returns true if a port drives a select line low. One that nobody drives is high: the pull-up at
/// the chip.
fn selects(port: &Port, bit: u8) -> bool {
    port.driven & !port.levels & 1 << bit != 0
}

impl Clone for Mounted {
    fn clone(&self) -> Mounted {
        Mounted { chip: self.chip.boxed_clone(), wiring: self.wiring.clone(), selected: self.selected }
    }
}

/// A byte that the microcontroller has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentByte {
    /// The UART's name in the target file; `ITM.0` and on for the trace port's channels,
    /// `semihosting`.
    pub port: String,
    /// The byte.
    pub byte: u8,
    /// Cycles since reset when it was complete.
    pub cycles: u64,
}

/// Clock mode and rate with which an SPI master shifts a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpiClock {
    /// 2 * CPOL + CPHA.
    pub mode: u8,
    /// The bit clock.
    pub hz: u64,
}

/// Everything around one microcontroller. With nothing mounted and nothing set it is 3.0 V and open
/// pins.
#[derive(Clone)]
pub struct Board {
    /// The supply of the microcontroller, in volts.
    pub supply_v: f64,
    /// Somebody outside may wake a sleeping machine: it sleeps on to the limit of its run instead
    /// of halting.
    pub externally_wakeable: bool,
    /// A machine that nothing will wake goes on to the limit of its run as long as its peripherals
    /// do anything: somebody looks at its pins.
    pub outlives_program: bool,
    /// The voltage at the converter's reference pin (AVR: AREF), if anything drives it.
    pub reference_v: Option<f64>,
    /// The program's name and arguments, for one that asks by semihosting.
    pub command_line: String,
    /// The time of the signals at cycle 0, in nanoseconds: the mains go on while a machine is off.
    pub signals_from_ns: u64,
    analog: BTreeMap<u8, Signal>,
    /// Voltages that the microcontroller itself puts out at inputs of its converter.
    analog_outputs: BTreeMap<u8, f64>,
    ports: BTreeMap<String, Port>,
    inputs: BTreeMap<Pin, bool>,
    /// Pins with levels over time.
    pin_signals: Vec<PinSignal>,
    /// See [`Board::set_remaps`].
    remaps: [u32; 2],
    /// See [`Board::routing`].
    routing: u32,
    /// See [`Board::set_capture_source`].
    capture_source: Option<bool>,
    chips: Vec<Mounted>,
    i2c_buses: I2cBuses,
    masters: Masters,
    /// Bytes sent since the last [`Board::take_sent`]; `None` until its first call.
    sent: Option<Vec<SentByte>>,
    clock_hz: u64,
    /// The cycle from which on that clock holds, and the time then, in nanoseconds.
    since: (u64, u64),
    /// The earliest cycle at which a chip wants to be ticked or a pin has an edge; `u64::MAX` for
    /// none.
    pub(crate) due: u64,
    /// Levels at pins may have changed since the ports last looked.
    pub(crate) changed: bool,
    /// Reason of a chip or device why the machine has to stop.
    pub(crate) failure: Option<String>,
}

impl Default for Board {
    fn default() -> Board {
        Board {
            supply_v: 3.0,
            externally_wakeable: false,
            outlives_program: false,
            reference_v: None,
            command_line: String::new(),
            signals_from_ns: 0,
            ports: BTreeMap::new(),
            analog: BTreeMap::new(),
            analog_outputs: BTreeMap::new(),
            inputs: BTreeMap::new(),
            pin_signals: Vec::new(),
            remaps: [0; 2],
            routing: 0,
            capture_source: None,
            chips: Vec::new(),
            i2c_buses: I2cBuses::default(),
            masters: Masters::default(),
            sent: None,
            clock_hz: 1_000_000,
            since: (0, 0),
            due: u64::MAX,
            changed: false,
            failure: None,
        }
    }
}

impl Board {
    /// A board whose microcontroller runs at `clock_hz`.
    #[must_use]
    pub fn new(clock_hz: u64) -> Board {
        Board { clock_hz: clock_hz.max(1), ..Board::default() }
    }

    /// Takes the bytes that UARTs, trace port and semihosting have sent since the last call, in the
    /// order in which they were complete. Bytes are kept from the first call on, also in runs that
    /// nobody observes, so take them often.
    pub fn take_sent(&mut self) -> Vec<SentByte> {
        self.sent.replace(Vec::new()).unwrap_or_default()
    }

    /// A byte was sent.
    pub(crate) fn keep_sent(&mut self, port: &str, byte: u8, cycles: u64) {
        if let Some(sent) = &mut self.sent {
            sent.push(SentByte { port: port.into(), byte, cycles });
        }
    }

    /// Puts a chip onto the board, powered up at time 0: to be done before the run begins. One
    /// whose select line is low already is selected from here on, and is not told.
    pub fn mount(&mut self, mut chip: Box<dyn Chip>, wiring: Wiring) {
        chip.power_up();
        let selected =
            self.ports.get(&wiring.select.port).is_some_and(|port| selects(port, wiring.select.bit));
        self.chips.push(Mounted { chip, wiring, selected });
        self.reschedule();
    }

    /// The chip of that name, to be asked or told something. The machine takes notice at its next
    /// run.
    pub fn chip_mut(&mut self, name: &str) -> Option<&mut dyn Any> {
        let mounted = self.chips.iter_mut().find(|mounted| mounted.chip.name() == name)?;
        Some(&mut *mounted.chip)
    }

    /// The chip of that name, to be asked something.
    #[must_use]
    pub fn chip(&self, name: &str) -> Option<&dyn Any> {
        let mounted = self.chips.iter().find(|mounted| mounted.chip.name() == name)?;
        Some(&*mounted.chip)
    }

    /// Puts a device onto the two-wire bus of the serial interface of this name (`TWI`), powered up
    /// at time 0: to be done before the run begins.
    pub fn mount_two_wire(&mut self, bus: &str, mut device: Box<dyn TwoWireDevice>) {
        device.power_up();
        self.i2c_buses.place(bus, device);
    }

    /// The device of that name on a two-wire bus, to be asked or told something.
    pub fn two_wire_device_mut(&mut self, name: &str) -> Option<&mut dyn Any> {
        self.i2c_buses.find(name)
    }

    /// A START and an address are complete on a two-wire bus: whether anything acknowledges.
    pub fn two_wire_address(&mut self, bus: &str, address: u8, read: bool, cycle: u64) -> bool {
        self.on_two_wire(bus, cycle, |buses, now_ns| buses.address(bus, address, read, now_ns))
    }

    /// A byte from the master on a two-wire bus: whether it is acknowledged.
    pub fn two_wire_write(&mut self, bus: &str, byte: u8, cycle: u64) -> bool {
        self.on_two_wire(bus, cycle, |buses, now_ns| buses.write(bus, byte, now_ns))
    }

    /// A byte for the master on a two-wire bus; all ones where none is addressed.
    pub fn two_wire_read(&mut self, bus: &str, acknowledged: bool, cycle: u64) -> u8 {
        self.on_two_wire(bus, cycle, |buses, now_ns| buses.read(bus, acknowledged, now_ns))
    }

    /// A STOP on a two-wire bus.
    pub fn two_wire_stop(&mut self, bus: &str, cycle: u64) {
        self.on_two_wire(bus, cycle, |buses, now_ns| buses.stop(bus, now_ns));
    }

    /// Something comes about on a two-wire bus. A device's failure stops the machine at its next
    /// event, which is due.
    fn on_two_wire<T>(&mut self, bus: &str, cycle: u64, act: impl FnOnce(&mut I2cBuses, u64) -> T) -> T {
        let now_ns = self.time_ns(cycle);
        let answer = act(&mut self.i2c_buses, now_ns);
        if let Some(what) = self.i2c_buses.take_failure(bus) {
            self.failure = Some(what);
            self.reschedule();
        }
        answer
    }

    /// Sets the voltage at an input of the converter.
    pub fn set_analog(&mut self, channel: u8, volts: f64) {
        self.set_signal(channel, Signal::Level(volts));
    }

    /// Sets the voltage over time at an input of the converter.
    pub fn set_signal(&mut self, channel: u8, signal: Signal) {
        self.analog.insert(channel, signal);
        self.changed = true;
    }

    /// Returns true if the voltage at an input of the converter changes by itself.
    pub(crate) fn analog_varies(&self, channel: u8) -> bool {
        let is_driven = self.analog_outputs.contains_key(&channel);
        !is_driven && matches!(self.analog.get(&channel), Some(signal) if !matches!(signal, Signal::Level(_)))
    }

    /// A digital-to-analog converter of the microcontroller drives the pin of an input of the
    /// converter, or lets go of it.
    pub(crate) fn set_analog_output(&mut self, channel: u8, volts: Option<f64>) {
        match volts {
            Some(volts) => self.analog_outputs.insert(channel, volts),
            None => self.analog_outputs.remove(&channel),
        };
    }

    /// The voltage at an input of the converter at a cycle, which the microcontroller itself may
    /// drive; 0 V where nothing was set.
    #[must_use]
    pub fn analog_v(&self, channel: u8, cycle: u64) -> f64 {
        if let Some(volts) = self.analog_outputs.get(&channel) {
            return *volts;
        }
        match self.analog.get(&channel) {
            None => 0.0,
            Some(Signal::Level(volts)) => *volts,
            Some(signal) => signal.voltage_v(self.signals_from_ns + self.time_ns(cycle)),
        }
    }

    /// The microcontroller's clock, in Hz.
    #[must_use]
    pub fn clock_hz(&self) -> u64 {
        self.clock_hz
    }

    /// The microcontroller's clock is another one from cycle `now` on.
    pub(crate) fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.since = if now == 0 { (0, 0) } else { (now, self.time_ns(now)) };
        self.clock_hz = clock_hz.max(1);
        self.reschedule();
    }

    /// The time in nanoseconds at a cycle, of those at the present clock.
    #[must_use]
    pub fn time_ns(&self, cycle: u64) -> u64 {
        let (since, since_ns) = self.since;
        let cycle = cycle.saturating_sub(since);
        // Whole seconds and the rest apart, of which neither needs more than 64 bits.
        let (seconds, rest) = (cycle / self.clock_hz, cycle % self.clock_hz);
        seconds.wrapping_mul(NS_PER_S).wrapping_add(rest * NS_PER_S / self.clock_hz).wrapping_add(since_ns)
    }

    /// The first cycle that is not before a time in nanoseconds.
    #[must_use]
    pub fn cycle_at(&self, time_ns: u64) -> u64 {
        let (since, since_ns) = self.since;
        let time_ns = time_ns.saturating_sub(since_ns);
        let (seconds, rest) = (time_ns / NS_PER_S, time_ns % NS_PER_S);
        let cycles =
            seconds.saturating_mul(self.clock_hz).saturating_add((rest * self.clock_hz).div_ceil(NS_PER_S));
        cycles.saturating_add(since)
    }

    /// Levels at a port have changed: chips are selected by that.
    fn select_chips(&mut self, port: &str, cycle: u64) {
        let Some(own) = self.ports.get(port).copied() else { return };
        self.changed = true;
        if self.chips.is_empty() {
            return;
        }
        let now_ns = self.time_ns(cycle);
        let mut changed = false;
        for mounted in &mut self.chips {
            let select = &mounted.wiring.select;
            let selected = selects(&own, select.bit);
            if select.port == port && selected != mounted.selected {
                mounted.selected = selected;
                mounted.chip.tick(now_ns);
                mounted.chip.select(selected, now_ns);
                if let Some(what) = mounted.chip.take_failure() {
                    self.failure = Some(format!("{}: {what}", mounted.chip.name()));
                }
                changed = true;
            }
        }
        if changed {
            self.reschedule();
        }
    }

    /// A byte goes out at a serial interface, complete at `cycle`: what comes in. All ones where no
    /// chip is selected.
    ///
    /// # Errors
    /// The selected chip does not understand the byte, or a chip has failed before.
    pub fn transfer(&mut self, spi: &str, clock: SpiClock, byte: u8, cycle: u64) -> Result<u8, String> {
        if let Some(what) = self.failure.take() {
            self.reschedule();
            return Err(what);
        }
        let now_ns = self.time_ns(cycle);
        let mut on_line =
            self.chips.iter_mut().filter(|mounted| mounted.selected && mounted.wiring.spi == spi);
        let Some(mounted) = on_line.next() else { return Ok(0xff) };
        if on_line.next().is_some() {
            return Err(format!("{spi}: two chips are selected at once"));
        }
        let chip = &mut mounted.chip;
        if chip.spi_mode() != clock.mode {
            let (name, wants) = (chip.name(), chip.spi_mode());
            return Err(format!(
                "{name} is clocked in SPI mode {}, but understands mode {wants}",
                clock.mode
            ));
        }
        if clock.hz > chip.spi_limit_hz() {
            let (name, limit) = (chip.name(), chip.spi_limit_hz());
            return Err(format!("{name} is clocked at {} Hz; it allows {limit} Hz", clock.hz));
        }
        chip.tick(now_ns);
        let answer = chip.transfer(byte, now_ns);
        let answer = answer.map_err(|what| format!("{}: {what}", chip.name()));
        self.reschedule();
        answer
    }

    /// Lets every chip whose time has come have its tick, and edges reach their pins.
    pub(crate) fn tick(&mut self, cycle: u64) {
        let now_ns = self.time_ns(cycle);
        for signal in &mut self.pin_signals {
            signal.tick(now_ns);
        }
        self.masters.tick(now_ns);
        for mounted in &mut self.chips {
            mounted.chip.tick(now_ns);
        }
        self.reschedule();
    }

    /// Finds anew when a chip or an edge is due, after something has happened to one; the ports are
    /// to look, too.
    pub(crate) fn reschedule(&mut self) {
        let chips = self.chips.iter().filter_map(|mounted| mounted.chip.due());
        let signals = self.pin_signals.iter().filter_map(PinSignal::due);
        let due = chips.chain(signals).chain(self.masters.due()).min();
        self.due = match self.failure {
            Some(_) => 0,
            None => due.map_or(u64::MAX, |due_ns| self.cycle_at(due_ns)),
        };
        let is_alone = self.chips.is_empty() && self.pin_signals.is_empty() && self.masters.is_empty();
        self.changed |= !is_alone;
    }

    /// The microcontroller lets go of all its pins.
    pub(crate) fn high_impedance(&mut self, cycle: u64) {
        self.analog_outputs.clear();
        self.set_remaps([0; 2]);
        self.set_capture_source(None);
        for port in self.ports.keys().cloned().collect::<Vec<_>>() {
            if let Some(own) = self.ports.get_mut(&port) {
                (own.module_pins, own.alternate) = (0, 0);
                own.combine();
            }
            self.drive(&port, 0, 0, cycle);
        }
    }

    /// Power comes back at time 0: the chips begin anew; what drives from outside stays.
    pub(crate) fn power_up(&mut self) {
        self.ports.clear();
        self.set_remaps([0; 2]);
        self.set_capture_source(None);
        self.analog_outputs.clear();
        self.changed = true;
        self.failure = None;
        self.i2c_buses.power_up();
        self.masters.power_up();
        self.pin_signals.iter_mut().for_each(PinSignal::power_up);
        for mounted in &mut self.chips {
            mounted.selected = false;
            mounted.chip.power_up();
        }
        self.reschedule();
    }
}
