//! Signs by which a run shows how it ended.

use crate::LabError;
use crate::program::exit;
use firmware::Firmware;
use mcu::{Board, CoreName, Mcu};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::str::FromStr;

/// A sign, as a person writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Execution comes to this symbol or address.
    Reach(String),
    /// The program ends with this exit code.
    Exit(u32),
    /// This text leaves by a port.
    Output(String),
}

impl FromStr for Marker {
    type Err = String;

    fn from_str(text: &str) -> Result<Marker, String> {
        let wrong =
            || format!("'{text}' is no marker: write reach:SYMBOL, exit:N, such as exit:1, or output:TEXT");
        match text.split_once(':').ok_or_else(wrong)? {
            (_, "") => Err(wrong()),
            ("reach", symbol) => Ok(Marker::Reach(symbol.into())),
            ("exit", code) => code.parse().map(Marker::Exit).map_err(|_| wrong()),
            ("output", sent) => Ok(Marker::Output(sent.into())),
            _ => Err(wrong()),
        }
    }
}

impl std::fmt::Display for Marker {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Marker::Reach(symbol) => write!(out, "reach:{symbol}"),
            Marker::Exit(code) => write!(out, "exit:{code}"),
            Marker::Output(text) => write!(out, "output:{text}"),
        }
    }
}

/// A marker of a run, by its number in the list of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// The program withstood.
    Good(usize),
    /// The attack succeeded.
    Bad(usize),
}

/// The markers of a campaign, with their addresses.
pub(super) struct Markers {
    good: Vec<Marker>,
    bad: Vec<Marker>,
    reached: BTreeMap<u32, Met>,
    exit: Option<u32>,
    core: CoreName,
    /// Addresses at which a run stops.
    pub addresses: Vec<u32>,
}

impl Markers {
    /// Finds the symbols.
    ///
    /// # Errors
    /// None of one kind; an unknown symbol; one that is good and bad.
    pub fn new(
        good: &[Marker],
        bad: &[Marker],
        exit: Option<&str>,
        firmware: &Firmware,
    ) -> Result<Markers, LabError> {
        if good.is_empty() || bad.is_empty() {
            let said = "give a --good and a --bad marker, such as --good reach:reject --bad reach:accept";
            return Err(LabError::Usage(said.into()));
        }
        if let Some(both) = good.iter().find(|marker| bad.contains(marker)) {
            return Err(LabError::Usage(format!("{both} is both good and bad")));
        }
        let mut reached = BTreeMap::new();
        let all = good.iter().enumerate().map(|(index, marker)| (marker, Met::Good(index)));
        for (marker, met) in
            all.chain(bad.iter().enumerate().map(|(index, marker)| (marker, Met::Bad(index))))
        {
            let Marker::Reach(symbol) = marker else { continue };
            let address = firmware.symbol(symbol)?.address;
            // An address may be in a file that is loaded beside the program.
            if !firmware.is_code(address) && firmware.symbols().contains_key(symbol) {
                let said = format!("{marker}: at {address:#x} is no instruction of the program");
                return Err(LabError::Usage(said));
            }
            if reached.insert(address, met).is_some() {
                return Err(LabError::Usage(format!("{marker}: another marker is at {address:#x}, too")));
            }
        }
        let exit = exit::address(exit, firmware)?;
        let addresses = reached.keys().copied().chain(exit).collect();
        Ok(Markers { good: good.into(), bad: bad.into(), reached, exit, core: firmware.core(), addresses })
    }

    /// The marker as a person wrote it.
    pub fn name(&self, met: Met) -> String {
        match met {
            Met::Good(index) => self.good[index].to_string(),
            Met::Bad(index) => self.bad[index].to_string(),
        }
    }

    /// The marker of an instruction that comes next, or of the exit code that it has.
    pub fn at(&self, machine: &dyn Mcu) -> Option<Met> {
        let pc = machine.pc();
        self.reached.get(&pc).copied().or_else(|| self.exited(self.exit_code(machine)?))
    }

    /// Returns the exit code of a program that has come to the function that ends it.
    pub fn exit_code(&self, machine: &dyn Mcu) -> Option<u32> {
        (self.exit == Some(machine.pc())).then(|| exit::code(machine, self.core))
    }

    /// The marker of an exit code.
    pub fn exited(&self, code: u32) -> Option<Met> {
        let wanted = Marker::Exit(code);
        let index = |markers: &[Marker]| markers.iter().position(|marker| *marker == wanted);
        index(&self.bad).map(Met::Bad).or_else(|| index(&self.good).map(Met::Good))
    }

    /// Returns true if a text that is sent is a marker.
    pub fn has_output(&self) -> bool {
        self.good.iter().chain(&self.bad).any(|marker| matches!(marker, Marker::Output(_)))
    }

    /// The marker of which the sent bytes end with the text.
    fn sent(&self, bytes: &[u8]) -> Option<Met> {
        let index = |markers: &[Marker]| {
            markers
                .iter()
                .position(|marker| matches!(marker, Marker::Output(text) if bytes.ends_with(text.as_bytes())))
        };
        index(&self.bad).map(Met::Bad).or_else(|| index(&self.good).map(Met::Good))
    }
}

/// Output of a run so far.
#[derive(Clone, Default)]
pub(super) struct Sent {
    ports: BTreeMap<String, Vec<u8>>,
    digest: DefaultHasher,
    /// The first marker whose text was sent, and the cycle at which it was complete.
    pub met: Option<(Met, u64)>,
}

impl Sent {
    /// Takes over the bytes that the board has kept.
    pub fn take(&mut self, board: &mut Board, markers: &Markers) {
        for sent in board.take_sent() {
            self.digest.write(sent.port.as_bytes());
            self.digest.write_u8(sent.byte);
            let bytes = self.ports.entry(sent.port).or_default();
            bytes.push(sent.byte);
            if self.met.is_none() {
                self.met = markers.sent(bytes).map(|met| (met, sent.cycles));
            }
        }
    }

    /// A number that is another one for another output.
    pub fn digest(&self) -> u64 {
        self.digest.finish()
    }

    /// Output by port, for a person.
    pub fn text(&self) -> impl Iterator<Item = (&str, String)> {
        self.ports.iter().map(|(port, bytes)| (port.as_str(), String::from_utf8_lossy(bytes).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Marker;

    #[test]
    fn marker_is_read_as_it_is_written() {
        for text in ["reach:main", "exit:3", "output:a:b"] {
            assert_eq!(text.parse::<Marker>().map(|marker| marker.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "main", "reach:", "exit:x", "exit:-1", "seen:main"] {
            assert!(text.parse::<Marker>().is_err_and(|said| said.contains("reach:SYMBOL")), "{text}");
        }
    }
}
