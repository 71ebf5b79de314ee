//! When a meter's firmware enters and leaves the functions that are observed.

use super::emulated::EmulatedBoard;
use firmware::Firmware;
use lab::LabError;
use mcu::Mcu;

/// Room for the states of any radio.
pub const RADIO_STATES: usize = 10;

/// Counters of a meter since its reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterSnapshot {
    /// The time, in nanoseconds of the simulation.
    pub time_ns: u64,
    /// Cycles in which its processor was awake.
    pub active_cycles: u64,
    /// Cycles in which it slept.
    pub asleep_cycles: u64,
    /// Time that its radio spent in each of its states, in nanoseconds; 0 behind the last.
    pub radio_ns: [u64; RADIO_STATES],
    /// Bytes of non-volatile memory whose writing has begun.
    pub writes: u64,
}

impl CounterSnapshot {
    /// Of a board now.
    #[must_use]
    pub fn of(board: &mut EmulatedBoard, writes: u64) -> CounterSnapshot {
        let mut radio_ns = [0; RADIO_STATES];
        for (into, spent_ns) in radio_ns.iter_mut().zip(board.radio_ns()) {
            *into = spent_ns;
        }
        let active_cycles = board.machine().residency().active_cycles();
        let asleep_cycles = board.machine().cycles() - active_cycles;
        CounterSnapshot { time_ns: board.now_ns(), active_cycles, asleep_cycles, radio_ns, writes }
    }
}

/// A call that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index of the function, as [`CallObserver::new`] was given them.
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

/// Observes functions that do not call themselves, on AVR.
#[derive(Default)]
pub struct CallObserver {
    functions: Vec<u32>,
    entered: Vec<Entered>,
    addresses: Vec<u32>,
    calls: Vec<Call>,
}

impl CallObserver {
    /// Observes these functions of a firmware.
    ///
    /// # Errors
    /// A function that it does not have.
    pub fn new(firmware: &Firmware, functions: &[&str]) -> Result<CallObserver, LabError> {
        let address = |name: &&str| Ok(firmware.functions()[firmware.function(name)?].address);
        let functions: Vec<u32> = functions.iter().map(address).collect::<Result<_, LabError>>()?;
        Ok(CallObserver { addresses: functions.clone(), functions, ..CallObserver::default() })
    }

    /// Addresses at which a run must stop for it.
    #[must_use]
    pub fn addresses(&self) -> &[u32] {
        &self.addresses
    }

    /// Returns true if it observes this address.
    #[must_use]
    pub fn is_at(&self, address: u32) -> bool {
        self.addresses.contains(&address)
    }

    /// The calls that have returned since this was last asked, in the order in which they did.
    pub fn take_calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }

    /// The machine begins anew: nothing that was entered returns.
    pub fn forget(&mut self) {
        self.entered.clear();
        self.addresses.clone_from(&self.functions);
    }

    /// The machine is at one of the addresses.
    pub fn reached(&mut self, machine: &dyn Mcu, now: CounterSnapshot) {
        let address = machine.pc();
        if let Some(at) = self.entered.iter().rposition(|entered| entered.return_to == address) {
            let Entered { function, start, .. } = self.entered.remove(at);
            self.calls.push(Call { function, start, end: now });
        }
        if let Some(function) = self.functions.iter().position(|&entry| entry == address) {
            // A call pushes the word address of the next instruction, its low byte first, so that
            // it lies big-endian.
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
