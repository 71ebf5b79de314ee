//! Peripheral bus: all peripherals of a machine.
//!
//! It finds the peripheral at an address, knows when one wants a tick, and passes messages on.

use super::{
    Context, Event, Events, FlashStore, MOST_UNSENT, Nonvolatile, Peripheral, Power, Roles, Spec, StubUse,
};
use crate::{Board, ClockChange, Fault, FlashChange, Observer, SubsystemClocks};
use std::ops::Range;
use std::sync::Arc;

/// Context for a call of a device, which borrows all of the bus except the devices.
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
            reads_latch: false,
        }
    };
}

// They use the macro above.
mod clocks;
mod gates;
mod index;
pub(super) mod power;
mod routing;

use gates::Gates;
use index::DeviceIndex;

/// All peripherals of a machine.
#[derive(Clone)]
pub struct PeripheralBus {
    devices: Vec<Device>,
    /// The constants of each device, by its index.
    specs: Arc<[Spec]>,
    /// (range, index into `devices`), sorted by start.
    map: Vec<(Range<u32>, usize)>,
    /// The index into `devices` for each of the lowest addresses, where AVR and MSP430 have all
    /// their registers; [`NOBODY`] for none.
    low: [u8; LOW],
    /// Addresses that several devices have, and the devices: see [`Spec::shared`].
    shared: Vec<(u32, Vec<usize>)>,
    /// Requested interrupts.
    pub requests: u128,
    /// The earliest cycle at which a device wants a tick; `u64::MAX` for none. Cores compare it
    /// with their cycle count at instruction boundaries.
    pub due: u64,
    /// When each device wants a tick, by its index; `u64::MAX` for never.
    dues: Vec<u64>,
    index: Arc<DeviceIndex>,
    /// The device that last said what it listens to.
    subscriber: usize,
    /// Cycles for which peripherals hold the core up; the core takes them when it has executed the
    /// instruction.
    pub stall: u64,
    /// A DMA controller has accessed the bus.
    pub(crate) moved_by_dma: bool,
    /// The devices were told of a sleep, and not yet of its end.
    sleeping: bool,
    /// Surroundings of the microcontroller.
    pub board: Board,
    /// Messages from peripherals to each other and to the core.
    pub events: Events,
    /// Settings of the power management, read after each access to it.
    pub power: Power,
    /// `power` may have changed; for the core to take note of.
    pub power_changed: bool,
    /// Index of the power management; past the end where there is none.
    power_device: usize,
    /// Index of the clock control that the clock of the core or the peripherals follows; past the
    /// end where there is none.
    clock_device: usize,
    /// Changes of the core's clock that the machine has not accounted for yet.
    pub(crate) clock_changes: Vec<ClockChange>,
    /// The clocks that the devices were told of last.
    subsystem_clocks: Option<SubsystemClocks>,
    /// The bit of each device, by its index, in the power reduction registers: see
    /// [`Events::reduce`].
    reductions: Vec<u16>,
    /// The power reduction registers, as the devices were told of them.
    reduced: u16,
    /// The enables of the devices' clocks, and their resets.
    gates: Gates,
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

impl PeripheralBus {
    /// A bus with these devices.
    ///
    /// # Errors
    /// A sentence about two that claim one address.
    pub fn new(devices: Vec<Box<dyn Peripheral>>) -> Result<Self, String> {
        let specs: Arc<[Spec]> = devices.iter().map(|device| device.spec()).collect();
        let mut map: Vec<(Range<u32>, usize)> = specs
            .iter()
            .enumerate()
            .flat_map(|(index, spec)| spec.ranges.iter().map(move |range| (range.clone(), index)))
            .collect();
        map.sort_by_key(|(range, _)| range.start);
        let mut shared: Vec<(u32, Vec<usize>)> = Vec::new();
        for (index, spec) in specs.iter().enumerate() {
            for address in &spec.shared {
                match shared.iter_mut().find(|(known, _)| known == address) {
                    Some((_, sharers)) => sharers.push(index),
                    None => shared.push((*address, vec![index])),
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
                let [first, second] = [first, second].map(|index| &specs[*index].name);
                return Err(format!("{first} and {second} both claim the address {:#x}", after.start));
            }
        }
        let position = |has_role: fn(&Roles<'_>) -> bool| {
            devices.iter().position(|device| has_role(&device.roles())).unwrap_or(devices.len())
        };
        let power_device = position(|roles| roles.power_management.is_some());
        let clock_device = position(|roles| roles.clock_control.is_some());
        let index = Arc::new(DeviceIndex::new(&devices, &specs));
        let mut low = [NOBODY; LOW];
        for (range, index) in &map {
            for address in range.clone().take_while(|address| *address < LOW as u32) {
                low[address as usize] = u8::try_from(*index).unwrap_or(NOBODY);
            }
        }
        let mut bus = PeripheralBus {
            dues: vec![u64::MAX; devices.len()],
            reductions: vec![0; devices.len()],
            reduced: 0,
            gates: Gates::new(devices.len()),
            index,
            subscriber: 0,
            devices: devices.into_iter().map(Device).collect(),
            specs,
            map,
            low,
            shared,
            requests: 0,
            due: u64::MAX,
            stall: 0,
            moved_by_dma: false,
            sleeping: false,
            power: Power::default(),
            power_changed: true,
            clock_changes: Vec::new(),
            power_device,
            clock_device,
            subsystem_clocks: None,
            board: Board::default(),
            events: Events::default(),
        };
        bus.refresh_power();
        bus.reschedule();
        bus.set_gates_of_device();
        Ok(bus)
    }

    /// Says which bits of the power reduction register stop the clocks of the devices, in the order
    /// in which they came.
    pub fn set_reductions(&mut self, bits: &[u16]) {
        for (reduction, bits) in self.reductions.iter_mut().zip(bits) {
            *reduction = *bits;
        }
    }

    /// The device at an address, if it can be accessed.
    #[inline]
    fn reach(&self, address: u32) -> Option<usize> {
        let index = self.find(address)?;
        let is_open = !self.gates.is_closed(index) || self.is_open(index, address);
        (self.events.reduced & self.reductions[index] == 0 && is_open).then_some(index)
    }

    /// An access for which [`PeripheralBus::reach`] found no device.
    #[cold]
    fn miss(&mut self, address: u32, size: u8, pc: u32, kind: &'static str) -> Result<(), Fault> {
        match self.find(address) {
            None => Err(Fault::Unmapped { pc, address, size, kind }),
            Some(index) if !self.is_open(index, address) => self.pass_by(index, address, pc),
            Some(index) => {
                let what = "its clock is switched off in the power reduction register".into();
                let device = self.specs[index].name.clone();
                Err(Fault::Peripheral { pc, address, device, what })
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

    /// The device of this name.
    fn named(&self, name: &str) -> Option<usize> {
        self.specs.iter().position(|spec| spec.name == name)
    }

    /// Returns true if a peripheral answers at `address`.
    #[must_use]
    pub fn claims(&self, address: u32) -> bool {
        self.find(address).is_some()
    }

    /// The name of the device at an address that one claims.
    pub fn device_at(&self, address: u32) -> &str {
        self.find(address).map_or("", |index| &self.specs[index].name)
    }

    /// The addresses that peripherals answer at, with a number for each of them, sorted.
    pub(crate) fn ranges(&self) -> Vec<(Range<u32>, usize)> {
        self.map.clone()
    }

    /// Finds the next due time when any device may have another one than before.
    fn reschedule(&mut self) {
        for (index, device) in self.devices.iter().enumerate() {
            self.dues[index] = self.gates.due(index, device);
        }
        self.find_due();
    }

    fn find_due(&mut self) {
        let first = self.dues.iter().fold(u64::MAX, |first, due| first.min(*due));
        self.due = first.min(self.board.due);
    }

    /// Tells every device.
    fn broadcast(&mut self, event: Event<'_>, now: u64, pc: u32) {
        let sleeps = matches!(event, Event::Sleep(_) | Event::Wake);
        for (index, device) in self.devices.iter_mut().enumerate() {
            if sleeps && self.reduced & self.reductions[index] != 0 {
                continue;
            }
            let now = self.gates.time(index, now);
            device.0.on_event(event, &mut context!(self, now, pc, None));
        }
    }

    /// Tells one device, which may want its tick at another cycle then; one without a clock hears
    /// nothing.
    fn notify(&mut self, index: usize, event: Event<'_>, now: u64, pc: u32) {
        if self.gates.stands_still(index) {
            return;
        }
        let device = &mut self.devices[index];
        device.0.on_event(event, &mut context!(self, now, pc, None));
        self.dues[index] = device.0.due().unwrap_or(u64::MAX);
    }

    /// Passes a store into the part's flash to its controller, and returns the resulting change.
    ///
    /// # Errors
    /// [`Fault::Architecture`] where no flash controller is modelled, or the controller's own
    /// fault.
    pub fn flash_store(
        &mut self,
        store: &FlashStore,
        now: u64,
        observer: Option<&mut (dyn Observer + '_)>,
    ) -> Result<FlashChange, Fault> {
        let pc = store.pc;
        let mut context = context!(self, now, pc, observer);
        let controller = self.devices.iter_mut().find_map(|device| device.0.as_flash_controller());
        let change = controller.map(|controller| controller.begin_store(store, &mut context));
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
                self.finish_access(index, now, pc);
            }
            return Ok(value);
        }
        let Some(index) = self.reach(address) else {
            return self.miss(address, size, pc, "read").map(|()| 0);
        };
        let mut context = context!(self, now, pc, observer);
        let value = self.devices[index].0.read(address, size, &mut context)?;
        self.finish_access(index, now, pc);
        Ok(value)
    }

    /// As [`PeripheralBus::read`], by an instruction that will write back what it reads: see
    /// [`Context::reads_latch`].
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
            return self.miss(address, size, pc, "read").map(|()| 0);
        };
        let mut context = Context { reads_latch: true, ..context!(self, now, pc, observer) };
        let value = self.devices[index].0.read(address, size, &mut context)?;
        self.finish_access(index, now, pc);
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
                self.finish_access(index, now, pc);
            }
            return Ok(());
        }
        let Some(index) = self.reach(address) else {
            return self.miss(address, size, pc, "write");
        };
        let mut context = context!(self, now, pc, observer.as_deref_mut());
        self.devices[index].0.write(address, size, value, &mut context)?;
        if index == self.power_device {
            self.refresh_power();
        }
        if index == self.clock_device {
            self.follow_clock(now, observer);
            self.follow_gates_of_device(now, pc);
        }
        self.finish_access(index, now, pc);
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
            return self.miss(address, 1, pc, "write");
        };
        let mut observer = observer;
        let mut context = context!(self, now, pc, observer.as_deref_mut());
        self.devices[index].0.write_bit(address, bit, on, &mut context)?;
        if index == self.clock_device {
            self.follow_clock(now, observer);
            self.follow_gates_of_device(now, pc);
        }
        self.finish_access(index, now, pc);
        Ok(())
    }

    /// Sends the bytes that the UARTs still hold: see [`crate::Mcu::finish_sending`].
    pub(crate) fn finish_sending(&mut self, pc: u32, observer: &mut dyn Observer) {
        for index in 0..self.devices.len() {
            for _ in 0..MOST_UNSENT {
                let port = self.devices[index].0.roles().serial_port;
                let Some(end) = port.and_then(|port| port.transmit_end()) else { break };
                let mut context = context!(self, end, pc, Some(&mut *observer));
                self.devices[index].0.tick(&mut context);
            }
        }
        self.reschedule();
    }

    /// Returns true if the UART `name` receives the bytes that arrive; `None` where there is none
    /// of that name.
    #[must_use]
    pub fn uart_listens(&self, name: &str) -> Option<bool> {
        let index = self.named(name)?;
        let is_receiving = self.devices[index].0.roles().serial_port?.is_receiving();
        is_receiving.map(|receives| receives && !self.gates.stands_still(index))
    }

    /// The device with this address gets what it asked for with [`Dma::Fetch`].
    pub(crate) fn complete_fetch(
        &mut self,
        device: u32,
        bytes: &[u8],
        now: u64,
        pc: u32,
        observer: Option<&mut (dyn Observer + '_)>,
    ) {
        let Some(index) = self.find(device) else { return };
        let event = Event::MemoryFetched(bytes);
        self.devices[index].0.on_event(event, &mut context!(self, now, pc, observer));
        self.finish_access(index, now, pc);
    }

    /// Bytes begin to arrive at the UART `name`; false where there is none of that name.
    pub fn uart_receive(&mut self, name: &str, bytes: &[u8], now: u64) -> bool {
        let Some(index) = self.named(name) else { return false };
        let has_receiver = self.devices[index].0.roles().serial_port.is_some_and(|port| port.has_receiver());
        if has_receiver {
            // No instruction brings them about.
            self.notify(index, Event::BytesArrive(bytes), now, 0);
            self.find_due();
        }
        has_receiver
    }

    /// The devices that keep non-volatile memory.
    fn nonvolatile(&self) -> impl Iterator<Item = (&Spec, &dyn Nonvolatile)> {
        let indices = self.index.nonvolatile.iter();
        indices.filter_map(|index| Some((&self.specs[*index], self.devices[*index].0.roles().nonvolatile?)))
    }

    /// The devices' non-volatile memory from `address` on, if a device keeps `size` bytes there.
    #[must_use]
    pub fn memory(&self, address: u32, size: usize) -> Option<&[u8]> {
        self.nonvolatile().filter_map(|(_, device)| device.memory()).find_map(|(start, bytes)| {
            let offset = address.checked_sub(start)? as usize;
            bytes.get(offset..offset.checked_add(size)?)
        })
    }

    /// As [`PeripheralBus::memory`], to be written.
    #[must_use]
    pub fn memory_mut(&mut self, address: u32, size: usize) -> Option<&mut [u8]> {
        let devices = self.devices.iter_mut().filter_map(|device| device.0.as_nonvolatile()?.memory_mut());
        devices.into_iter().find_map(|(start, bytes)| {
            let offset = address.checked_sub(start)? as usize;
            bytes.get_mut(offset..offset.checked_add(size)?)
        })
    }

    /// Lets every device and every chip whose time has come have its tick. Where events lead to
    /// tasks, each has its tick at its own cycle: an event is a task of another device's later.
    pub fn tick(&mut self, now: u64, pc: u32, mut observer: Option<&mut (dyn Observer + '_)>) {
        while !self.events.connected.is_empty() && self.due < now {
            let at = self.due;
            self.tick_due(at, pc, observer.as_deref_mut());
            if self.due <= at {
                break;
            }
        }
        self.tick_due(now, pc, observer);
    }

    fn tick_due(&mut self, now: u64, pc: u32, mut observer: Option<&mut (dyn Observer + '_)>) {
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
        for register in std::mem::take(&mut self.events.lines.triggered_tasks) {
            self.trigger_task(register, now, pc, observer.as_deref_mut());
        }
        if self.board.changed || self.events.is_pending() {
            self.route_events(now, pc);
        }
        self.find_due();
    }

    /// Triggers the task with this register. A device that refuses it stops the run.
    fn trigger_task(&mut self, register: u32, now: u64, pc: u32, observer: Option<&mut (dyn Observer + '_)>) {
        if let Err(fault) = self.write(register, 4, 1, now, pc, observer) {
            let name = self.device_at(register).to_string();
            let what = match fault {
                Fault::Peripheral { what, .. } => what,
                other => other.to_string(),
            };
            context!(self, now, pc, None).stop(&name, &format!("a task that an event triggers: {what}"));
        }
    }

    /// The core has taken the interrupt `irq`.
    pub fn acknowledge_interrupt(&mut self, irq: u8, now: u64, pc: u32) {
        self.requests &= !(1 << irq);
        let event = Event::InterruptAcknowledged(irq);
        for index in self.index.acknowledged[usize::from(irq)].iter().map(|index| usize::from(*index)) {
            let device = &mut self.devices[index];
            device.0.on_event(event, &mut context!(self, now, pc, None));
            self.dues[index] = self.gates.due(index, device);
        }
        self.find_due();
    }

    /// Returns true if a DMA controller has data to move.
    pub(crate) fn moves_data(&self) -> bool {
        let mut roles = self.index.dma_controllers.iter().map(|index| self.devices[*index].0.roles());
        roles.any(|roles| roles.dma_controller.is_some_and(|controller| controller.has_data()))
    }

    /// The stubs that were used: see [`Roles::stub`].
    pub(crate) fn stub_uses(&self) -> Vec<StubUse> {
        let uses = self.devices.iter().filter_map(|device| device.0.roles().stub);
        uses.filter(|used| used.reads + used.writes > 0).cloned().collect()
    }

    /// Writes of bytes of non-volatile memory that were begun since the machine was made.
    #[must_use]
    pub fn nonvolatile_writes(&self) -> u64 {
        self.nonvolatile().map(|(_, device)| device.writes()).sum()
    }
}
