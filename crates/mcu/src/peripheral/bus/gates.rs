//! Peripherals without a clock, and in reset, because the clock control says so.
//!
//! An access to such a peripheral is a mistake of the program: a read gets 0, a write changes
//! nothing (RM0008 section 7.3, RM0090 section 7.3). Meanwhile the peripheral stands still.

use super::{Context, Device, PeripheralBus};
use crate::peripheral::gate::{ControlRegister, GateRegister, is_for};
use crate::{ClockUpdate, Event, Fault};
use std::ops::Range;
use std::sync::Arc;

/// In [`Gates::still_since`]: the device has its clock.
const RUNNING: u64 = u64::MAX;

/// The mistake, for whoever goes on after it.
const UNCLOCKED: &str = "an access to a peripheral without a clock, or in reset, reads 0 and changes nothing";

/// A bit of a clock control, and the registers that it is for.
struct Gate {
    register: &'static GateRegister,
    /// The register of enables in sleep, where that has the bit.
    in_sleep: Option<ControlRegister>,
    bit: u8,
    /// The beginning of the bit's name in the register of enables, and in that of resets.
    fields: [&'static str; 2],
    /// The peripheral's or block's name.
    name: String,
    device: usize,
    ranges: Vec<Range<u32>>,
    /// The ranges are all that the device has.
    is_whole: bool,
}

/// Settings of the gates in the clock control, a bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct States {
    enabled: u128,
    held: u128,
    /// Has a clock while the core sleeps.
    kept: u128,
}

impl States {
    fn read(gates: &[Gate], read: impl Fn(u32) -> u32) -> States {
        let mut states = States::default();
        for (number, Gate { register, in_sleep, bit, .. }) in gates.iter().enumerate() {
            let is_set = |offset: u32| u128::from(read(offset) >> bit & 1) << number;
            states.enabled |= is_set(register.enable.offset);
            states.held |= register.reset.map_or(0, |reset| is_set(reset.offset));
            states.kept |= in_sleep.map_or(1 << number, |in_sleep| is_set(in_sleep.offset));
        }
        states
    }
}

/// The gates of a bus.
#[derive(Clone, Default)]
pub(super) struct Gates {
    all: Arc<[Gate]>,
    states: States,
    at_reset: States,
    core_sleeps: bool,
    /// Some of a device's registers are out of reach, by the device's index.
    closed: Vec<bool>,
    /// The cycle from which on a device stands still, by its index; [`RUNNING`] where it does not.
    still_since: Vec<u64>,
    /// The clocks of which the devices were told last.
    clocks: Vec<ClockUpdate>,
    /// The interrupt lines of each device, by its index.
    lines: Vec<u128>,
}

impl Gates {
    pub fn new(devices: usize) -> Gates {
        Gates { closed: vec![false; devices], still_since: vec![RUNNING; devices], ..Gates::default() }
    }

    /// Returns true if some of the device's registers are out of reach.
    #[inline]
    pub fn is_closed(&self, device: usize) -> bool {
        self.closed[device]
    }

    /// Returns true if the device stands still.
    #[inline]
    pub fn stands_still(&self, device: usize) -> bool {
        self.still_since[device] != RUNNING
    }

    /// The time in which a device lives.
    pub fn time(&self, device: usize, now: u64) -> u64 {
        now.min(self.still_since[device])
    }

    /// When a device wants its tick.
    #[inline]
    pub fn due(&self, index: usize, device: &Device) -> u64 {
        if self.stands_still(index) { u64::MAX } else { device.0.due().unwrap_or(u64::MAX) }
    }

    /// Keeps the clocks for devices that are reset by themselves.
    pub fn remember(&mut self, update: ClockUpdate) {
        let kind = std::mem::discriminant(&update);
        self.clocks.retain(|known| std::mem::discriminant(known) != kind);
        self.clocks.push(update);
    }

    /// The whole part is reset: the devices know the core's clock alone.
    pub fn on_reset(&mut self) {
        self.clocks.retain(|known| matches!(known, ClockUpdate::Core(_)));
        self.still_since.fill(RUNNING);
        self.closed.fill(false);
        self.core_sleeps = false;
    }

    /// The gate behind which `address` is.
    fn gate(&self, device: usize, address: u32) -> Option<(usize, &Gate)> {
        let mut gates = self.all.iter().enumerate().filter(|(_, gate)| gate.device == device);
        gates.find(|(_, gate)| gate.ranges.iter().any(|range| range.contains(&address)))
    }

    /// The gates that are open now.
    fn open(&self) -> u128 {
        let States { enabled, held, kept } = self.states;
        enabled & !held & if self.core_sleeps { kept } else { u128::MAX }
    }
}

impl PeripheralBus {
    /// Says which registers of the clock control let the devices have their clocks; `read` reads
    /// them at an offset, as after a reset.
    pub(crate) fn set_gates(&mut self, registers: &'static [GateRegister], read: impl Fn(u32) -> u32) {
        let (gates, states) = self.find_gates(registers, read);
        self.install_gates(gates, states);
    }

    /// As [`PeripheralBus::set_gates`], where the clock control is a device.
    pub(super) fn set_gates_of_device(&mut self) {
        let control = self.clock_control();
        let found = control.map(|control| self.find_gates(control.gates(), |at| control.gate_register(at)));
        if let Some((gates, states)) = found {
            self.install_gates(gates, states);
        }
    }

    fn install_gates(&mut self, gates: Arc<[Gate]>, states: States) {
        (self.gates.all, self.gates.at_reset) = (gates, states);
        self.reset_gates(0);
    }

    fn find_gates(
        &self,
        registers: &'static [GateRegister],
        read: impl Fn(u32) -> u32,
    ) -> (Arc<[Gate]>, States) {
        let mut gates = Vec::new();
        for register in registers {
            for (bit, field) in register.fields {
                // A bit that is clear after a reset is none.
                let in_sleep = register.in_sleep.filter(|in_sleep| read(in_sleep.offset) >> bit & 1 == 1);
                let mut fields = field.split('/');
                let enable = fields.next().unwrap_or(field);
                let fields = [enable, fields.next().unwrap_or(enable)];
                gates.extend(self.blocks(enable).map(|(name, device, ranges, is_whole)| Gate {
                    register,
                    in_sleep,
                    bit: *bit,
                    fields,
                    name,
                    device,
                    ranges,
                    is_whole,
                }));
            }
        }
        debug_assert!(gates.len() <= 128);
        let states = States::read(&gates, read);
        (gates.into(), states)
    }

    /// The devices and blocks that a field is for: name, device, ranges, and whether those are all
    /// of the device's.
    fn blocks(&self, field: &str) -> impl Iterator<Item = (String, usize, Vec<Range<u32>>, bool)> {
        self.specs.iter().enumerate().filter_map(move |(device, spec)| {
            // Registers without a model work always.
            if self.devices[device].0.roles().stub.is_some() {
                return None;
            }
            let block = spec.blocks.iter().find(|(name, _)| is_for(field, name));
            if let Some((name, range)) = block {
                return Some((name.to_string(), device, vec![range.clone()], false));
            }
            is_for(field, &spec.name).then(|| (spec.name.clone(), device, spec.ranges.clone(), true))
        })
    }

    /// Says which interrupts the devices have, in the order in which they came.
    pub(crate) fn set_interrupt_lines(&mut self, lines: Vec<u128>) {
        self.gates.lines = lines;
    }

    /// Enables and resets as after a reset of the part, which begins at cycle `now`.
    pub(super) fn reset_gates(&mut self, now: u64) {
        self.gates.on_reset();
        self.gates.states = self.gates.at_reset;
        self.refresh_gates(now, 0);
    }

    /// The clock control was written.
    pub(crate) fn follow_gates(&mut self, read: impl Fn(u32) -> u32, now: u64, pc: u32) {
        let states = States::read(&self.gates.all, read);
        self.apply_gates(states, now, pc);
    }

    /// As [`PeripheralBus::follow_gates`], where the clock control is a device.
    pub(super) fn follow_gates_of_device(&mut self, now: u64, pc: u32) {
        let Some(control) = self.clock_control().filter(|_| !self.gates.all.is_empty()) else { return };
        let states = States::read(&self.gates.all, |at| control.gate_register(at));
        self.apply_gates(states, now, pc);
    }

    fn apply_gates(&mut self, states: States, now: u64, pc: u32) {
        if states == self.gates.states {
            return;
        }
        let rises = states.held & !self.gates.states.held;
        self.gates.states = states;
        for number in (0..128).filter(|number| rises >> number & 1 == 1) {
            self.reset_gated(number, now, pc);
        }
        self.refresh_gates(now, pc);
    }

    /// The core goes to sleep or wakes: of some peripherals that takes the clock away.
    #[inline]
    pub(crate) fn follow_sleep(&mut self, sleeps: bool, now: u64, pc: u32) {
        if sleeps != self.gates.core_sleeps {
            self.gates.core_sleeps = sleeps;
            // Mostly no bit is clear.
            if self.gates.states.kept.count_ones() as usize != self.gates.all.len() {
                self.refresh_gates(now, pc);
            }
        }
    }

    /// Devices stand still or go on, as their gates say.
    fn refresh_gates(&mut self, now: u64, pc: u32) {
        let (all, open) = (Arc::clone(&self.gates.all), self.gates.open());
        for gate in all.iter() {
            self.gates.closed[gate.device] = false;
        }
        for (number, gate) in all.iter().enumerate() {
            let closed = open >> number & 1 == 0;
            self.gates.closed[gate.device] |= closed;
            let stops = gate.is_whole && !gate.register.is_bus_only;
            if stops && closed != self.gates.stands_still(gate.device) {
                if closed { self.stop(gate.device, now) } else { self.start(gate.device, now, pc) }
            }
        }
        self.reschedule();
    }

    fn stop(&mut self, device: usize, now: u64) {
        self.gates.still_since[device] = now;
    }

    fn start(&mut self, device: usize, now: u64, pc: u32) {
        let since = std::mem::replace(&mut self.gates.still_since[device], RUNNING);
        self.devices[device].0.delay(now.saturating_sub(since));
        let index = Arc::clone(&self.index);
        if index.inputs.contains(&device) {
            self.notify(device, Event::InputsChanged, now, pc);
        }
        if index.dma_controllers.contains(&device) {
            self.notify(device, Event::DmaRequestsChanged { at: now }, now, pc);
        }
    }

    /// The peripheral or block of a gate is put in reset: its registers, interrupts and requests
    /// are as after a reset of the part, and it is told the clocks anew.
    fn reset_gated(&mut self, number: usize, now: u64, pc: u32) {
        let all = Arc::clone(&self.gates.all);
        let Gate { device, ranges, is_whole, .. } = &all[number];
        let (index, now) = (*device, self.gates.time(*device, now));
        let base = ranges.first().map_or(0, |range| range.start);
        self.devices[index].0.reset_block(base, &mut context!(self, now, pc, None));
        if !is_whole {
            return;
        }
        let lines = self.gates.lines.get(index).copied().unwrap_or(0);
        let own = |base: &u32| ranges.iter().any(|range| range.contains(base));
        self.events.shared_requests.retain(|(_, base)| !own(base));
        let shared = self.events.shared_requests.iter().fold(0, |lines, (irq, _)| lines | 1u128 << irq);
        self.requests &= !(lines & !shared);
        self.events.request_transfer(self.specs[index].dma_lines, false, now);
        for update in self.gates.clocks.clone() {
            self.devices[index].0.clocks_changed(update, now);
        }
        self.devices[index].0.on_event(Event::ControlsChanged, &mut context!(self, now, pc, None));
        if self.board.changed || self.events.is_pending() {
            self.route_events(now, pc);
        }
    }

    /// Returns true if no gate keeps the address from being accessed.
    pub(super) fn is_open(&self, device: usize, address: u32) -> bool {
        let gate = self.gates.gate(device, address);
        gate.is_none_or(|(number, _)| self.gates.open() >> number & 1 == 1)
    }

    /// An access behind a closed gate: it gets and changes nothing.
    ///
    /// # Errors
    /// Such mistakes end the run.
    pub(super) fn pass_by(&mut self, device: usize, address: u32, pc: u32) -> Result<(), Fault> {
        if self.events.tolerate(UNCLOCKED) {
            return Ok(());
        }
        let Some((number, gate)) = self.gates.gate(device, address) else { return Ok(()) };
        let is_set = |bits: u128| bits >> number & 1 == 1;
        let GateRegister { enable, reset, .. } = gate.register;
        let [clock, held] = gate.fields;
        let what = match (reset, gate.in_sleep) {
            (Some(reset), _) if is_set(self.gates.states.held) => {
                format!("it is held in reset: clear {}, first", reset.describe(held, gate.bit))
            }
            (_, Some(in_sleep)) if is_set(self.gates.states.enabled) => {
                let bit = in_sleep.describe(clock, gate.bit);
                format!("its clock is off while the core sleeps: set {bit}, first")
            }
            _ => format!("its clock is off: set {}, first", enable.describe(clock, gate.bit)),
        };
        Err(Fault::Peripheral { pc, address, device: gate.name.clone(), what })
    }
}
