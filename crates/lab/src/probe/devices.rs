//! Devices on a program's serial buses that somebody else answers for, byte by byte.

use super::Probe;
use crate::{LabError, pins, serial_buses};
use mcu::{Board, Chip, TwoWireDevice, Wiring};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Highest I2C address of seven bits.
const I2C_ADDRESS_MAX: u8 = 0x7F;

/// Answers of an I2C device. A text as error ends the run.
pub trait I2cScript: Send {
    /// Its address was sent: whether it acknowledges. Seconds count from reset.
    ///
    /// # Errors
    /// A reason to end the run.
    fn start(&mut self, reads: bool, time_s: f64) -> Result<bool, String>;

    /// A byte from the master: whether it acknowledges.
    ///
    /// # Errors
    /// A reason to end the run.
    fn write(&mut self, byte: u8) -> Result<bool, String>;

    /// A byte for the master.
    ///
    /// # Errors
    /// A reason to end the run.
    fn read(&mut self) -> Result<u8, String>;

    /// A STOP ends its transfer.
    ///
    /// # Errors
    /// A reason to end the run.
    fn stop(&mut self) -> Result<(), String>;
}

/// Answers of an SPI device. A text as error ends the run.
pub trait SpiScript: Send {
    /// Its select line goes low or back. Seconds count from reset.
    ///
    /// # Errors
    /// A reason to end the run.
    fn select(&mut self, selected: bool, time_s: f64) -> Result<(), String>;

    /// A byte from the master, and the byte that goes to it meanwhile.
    ///
    /// # Errors
    /// A reason to end the run.
    fn transfer(&mut self, byte: u8) -> Result<u8, String>;
}

/// A script and the device's name. Copies of a machine share the script; in a rehearsal nobody asks
/// it, and the first time at which somebody would have is kept.
struct Shared<S: ?Sized> {
    name: String,
    script: Arc<Mutex<S>>,
    is_rehearsal: bool,
    asked_ns: Option<u64>,
    failure: Option<String>,
}

impl<S: ?Sized> Clone for Shared<S> {
    fn clone(&self) -> Shared<S> {
        Shared {
            name: self.name.clone(),
            script: Arc::clone(&self.script),
            is_rehearsal: self.is_rehearsal,
            asked_ns: self.asked_ns,
            failure: self.failure.clone(),
        }
    }
}

impl<S: ?Sized> Shared<S> {
    fn new(name: String, script: Arc<Mutex<S>>) -> Shared<S> {
        Shared { name, script, is_rehearsal: false, asked_ns: None, failure: None }
    }

    /// The script, but in a rehearsal.
    fn script(&mut self, now_ns: u64) -> Option<MutexGuard<'_, S>> {
        if self.is_rehearsal {
            self.asked_ns.get_or_insert(now_ns);
            return None;
        }
        Some(self.script.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn power_up(&mut self) {
        self.failure = None;
    }

    /// The answer of a script; of one that failed `otherwise`, and the failure is kept.
    fn answer<T>(&mut self, answer: Option<Result<T, String>>, otherwise: T) -> T {
        match answer {
            Some(Ok(answer)) => answer,
            Some(Err(what)) => {
                self.failure.get_or_insert(what);
                otherwise
            }
            None => otherwise,
        }
    }
}

fn seconds(time_ns: u64) -> f64 {
    time_ns as f64 / 1e9
}

#[derive(Clone)]
struct I2cDevice {
    address: u8,
    is_addressed: bool,
    shared: Shared<dyn I2cScript>,
}

impl TwoWireDevice for I2cDevice {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn power_up(&mut self) {
        self.is_addressed = false;
        self.shared.power_up();
    }

    fn address(&mut self, address: u8, read: bool, now_ns: u64) -> bool {
        self.is_addressed = address == self.address;
        if !self.is_addressed {
            return false;
        }
        let answer = self.shared.script(now_ns).map(|mut script| script.start(read, seconds(now_ns)));
        let is_rehearsal = self.shared.is_rehearsal;
        self.shared.answer(answer, is_rehearsal)
    }

    fn write(&mut self, byte: u8, now_ns: u64) -> bool {
        let answer = self.shared.script(now_ns).map(|mut script| script.write(byte));
        self.shared.answer(answer, false)
    }

    fn read(&mut self, _acknowledged: bool, now_ns: u64) -> u8 {
        let answer = self.shared.script(now_ns).map(|mut script| script.read());
        self.shared.answer(answer, 0xFF)
    }

    fn stop(&mut self, now_ns: u64) {
        if std::mem::take(&mut self.is_addressed) {
            let answer = self.shared.script(now_ns).map(|mut script| script.stop());
            self.shared.answer(answer, ());
        }
    }

    fn take_failure(&mut self) -> Option<String> {
        self.shared.failure.take()
    }

    fn boxed_clone(&self) -> Box<dyn TwoWireDevice> {
        Box::new(self.clone())
    }
}

#[derive(Clone)]
struct SpiDevice {
    mode: u8,
    shared: Shared<dyn SpiScript>,
}

impl Chip for SpiDevice {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn power_up(&mut self) {
        self.shared.power_up();
    }

    fn select(&mut self, selected: bool, now_ns: u64) {
        let answer = self.shared.script(now_ns).map(|mut script| script.select(selected, seconds(now_ns)));
        self.shared.answer(answer, ());
    }

    fn take_failure(&mut self) -> Option<String> {
        self.shared.failure.take()
    }

    fn transfer(&mut self, byte: u8, now_ns: u64) -> Result<u8, String> {
        let answer = self.shared.script(now_ns).map(|mut script| script.transfer(byte));
        let answer = self.shared.answer(answer, 0xFF);
        self.shared.failure.take().map_or(Ok(answer), Err)
    }

    fn spi_mode(&self) -> u8 {
        self.mode
    }

    fn output(&self, _index: u8) -> Option<bool> {
        None
    }

    fn due(&self) -> Option<u64> {
        None
    }

    fn tick(&mut self, _now_ns: u64) {}

    fn boxed_clone(&self) -> Box<dyn Chip> {
        Box::new(self.clone())
    }
}

/// Name of an attached device on its board.
#[derive(Clone)]
pub(super) enum DeviceName {
    I2c(String),
    Spi(String),
}

impl DeviceName {
    fn asked_ns(&self, board: &mut Board) -> Option<u64> {
        match self {
            DeviceName::I2c(name) => of::<I2cDevice>(board.two_wire_device_mut(name)?)?.shared.asked_ns,
            DeviceName::Spi(name) => of::<SpiDevice>(board.chip_mut(name)?)?.shared.asked_ns,
        }
    }

    fn rehearse(&self, board: &mut Board) -> Option<()> {
        match self {
            DeviceName::I2c(name) => {
                of::<I2cDevice>(board.two_wire_device_mut(name)?)?.shared.is_rehearsal = true;
            }
            DeviceName::Spi(name) => of::<SpiDevice>(board.chip_mut(name)?)?.shared.is_rehearsal = true,
        }
        Some(())
    }
}

fn of<D: 'static>(device: &mut dyn Any) -> Option<&mut D> {
    device.downcast_mut()
}

/// From here on no script is asked by the machine of this board, a copy.
pub(super) fn rehearse(devices: &[DeviceName], board: &mut Board) {
    for device in devices {
        device.rehearse(board);
    }
}

/// The first cycle at which a machine that rehearses would have asked a script.
pub(super) fn asked(devices: &[DeviceName], board: &mut Board) -> Option<u64> {
    let asked_ns = devices.iter().filter_map(|device| device.asked_ns(board)).min()?;
    Some(board.cycle_at(asked_ns))
}

impl Probe {
    /// Puts a device onto the I2C bus of an interface, at an address of seven bits. A script is
    /// part of no snapshot: its own state goes on.
    ///
    /// # Errors
    /// No I2C interface of this name that is modelled as a master; an address of more bits, or one
    /// that is taken.
    pub fn attach_i2c(
        &mut self,
        bus: &str,
        address: u8,
        script: Arc<Mutex<dyn I2cScript>>,
    ) -> Result<(), LabError> {
        serial_buses::check_i2c(&self.target().part, bus).map_err(LabError::Usage)?;
        if address > I2C_ADDRESS_MAX {
            return Err(LabError::Usage(format!(
                "{address:#04x} is no I2C address: they have seven bits, up to 0x7f, without the bit for reading"
            )));
        }
        let name = format!("{bus} {address:#04x}");
        if self.machine.board_mut().two_wire_device_mut(&name).is_some() {
            return Err(LabError::Usage(format!("{name}: there is a device at this address already")));
        }
        let shared = Shared::new(name.clone(), script);
        let device = I2cDevice { address, is_addressed: false, shared };
        self.machine.board_mut().mount_two_wire(bus, Box::new(device));
        self.devices.push(DeviceName::I2c(name));
        Ok(())
    }

    /// Wires a device to an SPI master, and its select line to a pin, which selects it while low.
    ///
    /// # Errors
    /// No SPI interface of this name that is modelled as a master; no such pin, or one that selects
    /// another device; no such mode.
    pub fn attach_spi(
        &mut self,
        bus: &str,
        select: &str,
        mode: u8,
        script: Arc<Mutex<dyn SpiScript>>,
    ) -> Result<(), LabError> {
        serial_buses::check_spi(&self.target().part, bus).map_err(LabError::Usage)?;
        let pin = pins::find(select, self.target())
            .map_err(|problem| LabError::Usage(format!("pin {select}: {problem}")))?;
        if mode > 3 {
            return Err(LabError::Usage(format!("there is no SPI mode {mode}; they are 0 to 3")));
        }
        let name = format!("{bus} {}.{}", pin.port, pin.bit);
        if self.machine.board().chip(&name).is_some() {
            return Err(LabError::Usage(format!("{name}: this pin selects a device already")));
        }
        let device = SpiDevice { mode, shared: Shared::new(name.clone(), script) };
        let wiring = Wiring { spi: bus.into(), select: pin, outputs: Vec::new() };
        self.machine.board_mut().mount(Box::new(device), wiring);
        self.devices.push(DeviceName::Spi(name));
        Ok(())
    }
}
