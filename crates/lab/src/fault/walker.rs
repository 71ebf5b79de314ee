//! The run without a fault, from one instruction of the window to the next.

use super::markers::{Markers, Sent};
use super::reference::Step;
use crate::LabError;
use mcu::{Mcu, Until};

/// A machine on its way through the window.
pub(super) struct Walker {
    pub machine: Box<dyn Mcu>,
    pub sent: Sent,
}

impl Walker {
    /// Comes to a step of the window.
    ///
    /// # Errors
    /// The machine is not where it was in the reference run.
    pub fn advance(&mut self, number: usize, steps: &[Step], markers: &Markers) -> Result<(), LabError> {
        let Step { pc, cycles } = steps[number];
        let machine = &mut *self.machine;
        if machine.cycles() < cycles {
            let _ = machine.run(&Until { cycles: Some(cycles), addresses: Vec::new() });
        }
        if machine.pc() != pc {
            // Two instructions may begin in one cycle.
            let _ = machine.run(&Until { cycles: Some(cycles + 1), addresses: vec![pc] });
        }
        if (machine.pc(), machine.cycles()) != (pc, cycles) {
            return Err(LabError::Unfinished(format!(
                "instruction {number} of the window, at {pc:#x} in cycle {cycles}, cannot be stopped at: the run is at {:#x} in cycle {}",
                machine.pc(),
                machine.cycles()
            )));
        }
        self.sent.take(machine.board_mut(), markers);
        Ok(())
    }

    pub fn copy(&self) -> Walker {
        Walker { machine: self.machine.snapshot(), sent: self.sent.clone() }
    }
}
