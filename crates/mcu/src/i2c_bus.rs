//! Devices on two-wire buses (I2C), which a master reaches by their addresses.

use std::any::Any;

/// A device on a two-wire bus, as a master sees it. Times are in nanoseconds since power-up, as
/// those of [`crate::Chip`].
pub trait TwoWireDevice: Any + Send {
    /// Its name.
    fn name(&self) -> &str;

    /// As after power-up, at time 0.
    fn power_up(&mut self);

    /// A START and an address, complete at `now_ns`: whether it acknowledges. It is addressed from
    /// then on until the next START or STOP.
    fn address(&mut self, address: u8, read: bool, now_ns: u64) -> bool;

    /// A byte from the master: whether it acknowledges.
    fn write(&mut self, byte: u8, now_ns: u64) -> bool;

    /// A byte for the master, which acknowledges it or not.
    fn read(&mut self, acknowledged: bool, now_ns: u64) -> u8;

    /// A STOP, of which every device on the bus is told.
    fn stop(&mut self, now_ns: u64);

    /// Reason why the machine has to stop, which the bus takes after each of the above.
    fn take_failure(&mut self) -> Option<String> {
        None
    }

    /// A copy of itself, for snapshots.
    fn boxed_clone(&self) -> Box<dyn TwoWireDevice>;
}

/// A device where it is.
pub(crate) struct Placed {
    /// The serial interface by its name in the target file.
    pub bus: String,
    pub device: Box<dyn TwoWireDevice>,
    addressed: bool,
}

impl Clone for Placed {
    fn clone(&self) -> Placed {
        Placed { bus: self.bus.clone(), device: self.device.boxed_clone(), addressed: self.addressed }
    }
}

/// The devices on all two-wire buses of a board. A line that nobody pulls low is high: bytes are
/// all ones, and nobody acknowledges.
#[derive(Clone, Default)]
pub(crate) struct I2cBuses {
    devices: Vec<Placed>,
}

impl I2cBuses {
    pub fn place(&mut self, bus: &str, device: Box<dyn TwoWireDevice>) {
        self.devices.push(Placed { bus: bus.to_string(), device, addressed: false });
    }

    pub fn find(&mut self, name: &str) -> Option<&mut dyn Any> {
        let placed = self.devices.iter_mut().find(|placed| placed.device.name() == name)?;
        Some(&mut *placed.device)
    }

    fn on(&mut self, bus: &str) -> impl Iterator<Item = &mut Placed> {
        self.devices.iter_mut().filter(move |placed| placed.bus == bus)
    }

    pub fn address(&mut self, bus: &str, address: u8, read: bool, now_ns: u64) -> bool {
        let mut any = false;
        for placed in self.on(bus) {
            placed.addressed = placed.device.address(address, read, now_ns);
            any |= placed.addressed;
        }
        any
    }

    pub fn write(&mut self, bus: &str, byte: u8, now_ns: u64) -> bool {
        let addressed = self.on(bus).filter(|placed| placed.addressed);
        addressed.fold(false, |any, placed| placed.device.write(byte, now_ns) | any)
    }

    pub fn read(&mut self, bus: &str, acknowledged: bool, now_ns: u64) -> u8 {
        let addressed = self.on(bus).filter(|placed| placed.addressed);
        addressed.fold(0xFF, |byte, placed| byte & placed.device.read(acknowledged, now_ns))
    }

    pub fn stop(&mut self, bus: &str, now_ns: u64) {
        for placed in self.on(bus) {
            placed.addressed = false;
            placed.device.stop(now_ns);
        }
    }

    /// The first failure of a device on a bus.
    pub fn take_failure(&mut self, bus: &str) -> Option<String> {
        self.on(bus).find_map(|Placed { device, .. }| {
            let what = device.take_failure()?;
            Some(format!("{}: {what}", device.name()))
        })
    }

    pub fn power_up(&mut self) {
        for placed in &mut self.devices {
            placed.addressed = false;
            placed.device.power_up();
        }
    }
}
