//! Faults that entered their handlers, told of while the program runs on.

use super::Program;
use crate::harness::place_fault;

impl Program<'_> {
    /// Says which faults entered their handlers since the last time.
    pub(super) fn tell_faults(&mut self) {
        for entered in self.machine.faults_entered().iter().skip(self.faults) {
            let place = place_fault(self.target, self.firmware, entered.fault.clone());
            let (exception, cycles) = (entered.exception, entered.cycles);
            (self.say)(&format!("{exception} entered at cycle {cycles}: {place}"));
        }
        self.faults = self.machine.faults_entered().len().max(self.faults);
    }
}
