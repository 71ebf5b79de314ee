//! When the meter's firmware enters and leaves the functions that are watched.

use crate::modelled::Modelled;
use lab::LabError;
use lab::elf::Firmware;

/// How far a meter has come since its reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The time, in nanoseconds of the world.
    pub time_ns: u64,
    /// Cycles in which its processor was awake.
    pub active_cycles: u64,
    /// Bytes of non-volatile memory whose writing has begun.
    pub writes: u64,
}

impl Moment {
    /// Of a meter now.
    #[must_use]
    pub fn of(meter: &Modelled) -> Moment {
        let machine = meter.machine();
        Moment {
            time_ns: meter.now_ns(),
            active_cycles: machine.residency().active_cycles(),
            writes: machine.nonvolatile_writes(),
        }
    }
}

/// A call that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index of the function, as [`Watch::new`] was given them.
    pub function: usize,
    /// When it was entered.
    pub start: Moment,
    /// When it had returned.
    pub end: Moment,
}

struct Entered {
    function: usize,
    return_to: u32,
    start: Moment,
}

/// Watches functions that do not call themselves.
#[derive(Default)]
pub struct Watch {
    functions: Vec<u32>,
    entered: Vec<Entered>,
    addresses: Vec<u32>,
    calls: Vec<Call>,
}

impl Watch {
    /// Watches these functions of a firmware.
    ///
    /// # Errors
    /// A function that it does not have.
    pub fn new(firmware: &Firmware, functions: &[&str]) -> Result<Watch, LabError> {
        let address = |name: &&str| Ok(firmware.functions()[firmware.function(name)?].address);
        let functions: Vec<u32> = functions.iter().map(address).collect::<Result<_, LabError>>()?;
        Ok(Watch { addresses: functions.clone(), functions, ..Watch::default() })
    }

    /// Where the meter is to stop.
    #[must_use]
    pub fn addresses(&self) -> &[u32] {
        &self.addresses
    }

    /// The calls that have returned since this was last asked, in the order in which they did.
    pub fn take_calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }

    /// The meter has stopped at an address.
    pub fn reached(&mut self, meter: &Modelled, address: u32) {
        let (machine, now) = (meter.machine(), Moment::of(meter));
        if let Some(at) = self.entered.iter().rposition(|entered| entered.return_to == address) {
            let Entered { function, start, .. } = self.entered.remove(at);
            self.calls.push(Call { function, start, end: now });
        }
        if let Some(function) = self.functions.iter().position(|&entry| entry == address) {
            // A call pushes the word address of the next instruction, its low byte first, so that it lies big-endian.
            let mut pushed = [0; 2];
            if machine.peek(0x80_0000 + machine.sp() + 1, &mut pushed) {
                let return_to = 2 * u32::from(u16::from_be_bytes(pushed));
                self.entered.push(Entered { function, return_to, start: now });
            }
        }
        self.addresses.clone_from(&self.functions);
        self.addresses.extend(self.entered.iter().map(|entered| entered.return_to));
    }
}
