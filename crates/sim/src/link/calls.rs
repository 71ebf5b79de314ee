//! When the meter's firmware enters and leaves the functions that are watched.

use crate::emulated::EmulatedMeter;
use firmware::Firmware;
use lab::LabError;
use mcu::chips::rfm12b::Rfm12b;

/// How far a meter has come since its reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterSnapshot {
    /// The time, in nanoseconds of the world.
    pub time_ns: u64,
    /// Cycles in which its processor was awake.
    pub active_cycles: u64,
    /// Cycles in which it slept.
    pub asleep_cycles: u64,
    /// Time that its radio spent in each of [`Rfm12b::STATES`], in nanoseconds.
    pub radio_ns: [u64; Rfm12b::STATES.len()],
    /// Bytes of non-volatile memory whose writing has begun.
    pub writes: u64,
}

impl CounterSnapshot {
    /// Of a meter now.
    #[must_use]
    pub fn of(meter: &mut EmulatedMeter) -> CounterSnapshot {
        let time_ns = meter.now_ns();
        let since_ns = time_ns - meter.started_ns().unwrap_or(time_ns);
        let radio_ns = meter.radio().map(|radio| radio.spent_ns(since_ns)).unwrap_or_default();
        let machine = meter.machine();
        let active_cycles = machine.residency().active_cycles();
        let asleep_cycles = machine.cycles() - active_cycles;
        CounterSnapshot { time_ns, active_cycles, asleep_cycles, radio_ns, writes: machine.nonvolatile_writes() }
    }
}

/// A call that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index of the function, as [`Watch::new`] was given them.
    pub function: usize,
    /// When it was entered.
    pub start: CounterSnapshot,
    /// When it had returned.
    pub end: CounterSnapshot,
}

struct Entered {
    function: usize,
    return_to: u32,
    start: CounterSnapshot,
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

    /// The calls that have returned since this was last asked, in the order in which they did.
    pub fn take_calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }

    /// The meter lives up to a time, watched; it may end some cycles after that time.
    ///
    /// # Errors
    /// What the model cannot execute.
    pub fn run(&mut self, meter: &mut EmulatedMeter, until_ns: u64) -> Result<(), LabError> {
        while meter.now_ns() < until_ns && meter.started_ns().is_some() {
            meter.run(until_ns, &self.addresses)?;
            // Also where it was the time that ended the run: a run does not stop where it begins.
            let address = meter.machine().pc();
            if self.addresses.contains(&address) {
                self.reached(meter, address);
            }
        }
        Ok(())
    }

    fn reached(&mut self, meter: &mut EmulatedMeter, address: u32) {
        let now = CounterSnapshot::of(meter);
        let machine = meter.machine();
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
