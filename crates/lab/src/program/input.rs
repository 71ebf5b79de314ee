//! Bytes for a program's UART.

use crate::target::Target;
use crate::{LabError, names};
use mcu::Mcu;
use std::sync::mpsc::{Receiver, TryRecvError};

/// Input of a UART.
pub(crate) struct Input {
    /// Its name in the target file.
    pub uart: String,
    bytes: Receiver<Vec<u8>>,
    /// Bytes that came while nobody listened.
    waiting: Vec<u8>,
    /// Nothing comes any more.
    ended: bool,
}

impl Input {
    /// Input for this UART, or for the only one. Its source is opened once the UART is known.
    ///
    /// # Errors
    /// There is none of that name that receives; it is not said which; the source cannot be opened.
    pub fn open(
        uart: Option<&str>,
        target: &Target,
        machine: &dyn Mcu,
        open: impl FnOnce() -> Result<Receiver<Vec<u8>>, LabError>,
    ) -> Result<Input, LabError> {
        let uart = receiver(uart, target, machine)?;
        Ok(Input { uart, bytes: open()?, waiting: Vec::new(), ended: false })
    }

    /// Begins to deliver input, and returns it. Input waits until the program listens: a person
    /// does not type before the prompt, either.
    pub fn take_in(&mut self, machine: &mut dyn Mcu) -> Vec<u8> {
        while !self.ended {
            match self.bytes.try_recv() {
                Ok(bytes) => self.waiting.extend(bytes),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.ended = true,
            }
        }
        let listens = machine.uart_listens(&self.uart) == Some(true);
        let bytes = if listens { std::mem::take(&mut self.waiting) } else { Vec::new() };
        if !bytes.is_empty() {
            machine.uart_receive(&self.uart, &bytes);
        }
        // A sleeping program may yet be woken by it.
        machine.board_mut().externally_wakeable = !self.ended || !self.waiting.is_empty();
        bytes
    }
}

/// The UART that input goes to.
fn receiver(asked: Option<&str>, target: &Target, machine: &dyn Mcu) -> Result<String, LabError> {
    let specs = &target.part.peripherals;
    let known: Vec<&str> = specs
        .iter()
        .map(|spec| spec.name.as_str())
        .filter(|name| machine.uart_listens(name).is_some())
        .collect();
    match (asked, known.as_slice()) {
        (Some(name), _) if known.contains(&name) => Ok(name.into()),
        (Some(name), _) => {
            let suggestion = names::suggestion(name, known);
            Err(LabError::UnknownName { what: "UART that receives", name: name.into(), suggestion })
        }
        (None, [only]) => Ok((*only).into()),
        (None, []) => {
            Err(LabError::Usage(format!("{} has no UART that receives and is modelled", target.name())))
        }
        (None, several) => {
            Err(LabError::Usage(format!("say by --uart which one the input goes to: {}", several.join(", "))))
        }
    }
}
