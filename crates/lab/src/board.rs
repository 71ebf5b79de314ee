//! Boards: `boards/*.toml`, which `device/Makefile` reads, too. A board is a target with its clock
//! and supply, chips with their wiring, and sensors at the converter.

use crate::pins::{analog_inputs, parse_pin, ports};
use crate::serial_buses;
use crate::target::Target;
use crate::workspace::Workspace;
use crate::{LabError, names};
use firmware::Source;
use mcu::chips::cc2500::Cc2500;
use mcu::chips::fm25::{self, Fm25};
use mcu::chips::rfm12b::Rfm12b;
use mcu::{Chip, Mcu, MemoryKind, Part, Pin, Wiring};
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A board, as its file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardDescription {
    /// Its name: the file's.
    #[serde(skip)]
    pub name: String,
    /// Description for a person.
    pub description: String,
    /// Source of its wiring.
    pub source: String,
    /// The name of its microcontroller's target.
    pub target: String,
    /// Core clock, in Hz.
    pub clock_hz: u64,
    /// Supply of microcontroller and chips, and the converter's reference, in volts.
    pub supply_v: f64,
    /// Sentence on the boards that run at a clock and a supply that the data sheet does not allow
    /// together; none where it allows them.
    #[serde(default)]
    pub beyond_data_sheet: Option<String>,
    /// Build of the meter's firmware; none where the board is no meter.
    #[serde(default)]
    pub meter: Option<MeterBuild>,
    /// Its serial buses.
    #[serde(rename = "spi", default)]
    pub buses: Vec<SpiBus>,
    /// Its chips.
    #[serde(rename = "chip", default)]
    pub chips: Vec<BoardChip>,
    /// Sensors at the converter.
    #[serde(rename = "sensor", default)]
    pub sensors: Vec<Sensor>,
    /// Address in the data space of the EEPROM of the part, where it has one.
    #[serde(skip)]
    eeprom: Option<u32>,
}

/// The `[meter]` table: how `device/meter` is built for a board, and calibrated.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeterBuild {
    /// The variant that fits the part.
    pub variant: String,
    /// By how much the current is sampled after the voltage, in 1/256 of a sampling interval.
    pub phase: i16,
    /// Builds of the firmware, where the part has no room for all suites in one; the first is made
    /// where none is chosen.
    #[serde(default, rename = "build")]
    pub builds: Vec<SuiteChoice>,
}

/// A build of the meter's firmware.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteChoice {
    /// The suites of the meter's protocol that it has, by name.
    pub suites: Vec<String>,
}

impl MeterBuild {
    /// Returns the suites to choose for a build that has this suite. Empty where the first build
    /// has it, or where there is no choice.
    ///
    /// # Errors
    /// A list of the builds, where none has the suite.
    pub fn with_suite(&self, suite: &str) -> Result<&[String], String> {
        if self.builds.is_empty() {
            return Ok(&[]);
        }
        let has = |choice: &SuiteChoice| choice.suites.iter().any(|known| known == suite);
        match self.builds.iter().position(has) {
            Some(0) => Ok(&[]),
            Some(place) => Ok(&self.builds[place].suites),
            None => {
                let builds: Vec<String> = self.builds.iter().map(|build| build.suites.join(", ")).collect();
                Err(builds.join("; or "))
            }
        }
    }
}

/// A serial interface and its pins.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpiBus {
    /// Its name in the target file.
    pub name: String,
    /// The clock.
    #[serde(deserialize_with = "pin")]
    pub sck: Pin,
    /// From the chips.
    #[serde(deserialize_with = "pin")]
    pub miso: Pin,
    /// To the chips.
    #[serde(deserialize_with = "pin")]
    pub mosi: Pin,
}

/// A chip on a board.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardChip {
    pub model: ChipModel,
    /// Role for the firmware's drivers.
    pub role: Role,
    /// The bus that it is on.
    pub spi: String,
    /// The pin that selects it while low.
    #[serde(deserialize_with = "pin")]
    pub select: Pin,
    /// Its other outputs, by their names in its data sheet. A CC2500's SO is wired to the bus's
    /// MISO anyhow.
    #[serde(deserialize_with = "pins", default)]
    pub outputs: BTreeMap<String, Pin>,
}

/// The chips that have a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChipModel {
    /// HopeRF RFM12B.
    Rfm12b,
    /// Texas Instruments CC2500.
    Cc2500,
    /// Cypress (Infineon) FM25L16B.
    Fm25l16b,
}

/// Role of a chip for the firmware; a board has each at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The radio.
    Radio,
    /// Memory for the meter's state that must outlive the power.
    Memory,
}

/// Quantity that a sensor measures; a board has each at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// The mains' voltage, around half of the supply.
    MainsVoltage,
    /// The mains' current, around half of the supply.
    MainsCurrent,
    /// The voltage of the harvested node's storage.
    StoredVoltage,
}

/// Sensor at an input of the converter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensor {
    pub quantity: Quantity,
    /// The converter's channel.
    pub channel: u8,
    /// The pin of that channel.
    #[serde(deserialize_with = "pin")]
    pub pin: Pin,
    /// Divisor of the divider before the pin.
    #[serde(default = "undivided")]
    pub divider: u16,
}

fn undivided() -> u16 {
    1
}

fn pin<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pin, D::Error> {
    parse_pin(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

fn pins<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Pin>, D::Error> {
    BTreeMap::<String, String>::deserialize(deserializer)?
        .into_iter()
        .map(|(output, pin)| Ok((output, parse_pin(&pin).map_err(serde::de::Error::custom)?)))
        .collect()
}

impl ChipModel {
    /// Its name in board files and, of a radio, in `radios/`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ChipModel::Rfm12b => "rfm12b",
            ChipModel::Cc2500 => "cc2500",
            ChipModel::Fm25l16b => "fm25l16b",
        }
    }

    /// Its name on the board, as [`mcu::Board::chip_mut`] takes it.
    #[must_use]
    pub fn chip_name(self) -> &'static str {
        match self {
            ChipModel::Rfm12b => "RFM12B",
            ChipModel::Cc2500 => "CC2500",
            ChipModel::Fm25l16b => "FM25L16B",
        }
    }

    fn role(self) -> Role {
        match self {
            ChipModel::Rfm12b | ChipModel::Cc2500 => Role::Radio,
            ChipModel::Fm25l16b => Role::Memory,
        }
    }

    /// Its outputs that a board file may name, and the model's numbers of them.
    fn outputs(self) -> &'static [(&'static str, u8)] {
        match self {
            ChipModel::Rfm12b => &[("nIRQ", Rfm12b::NIRQ)],
            ChipModel::Cc2500 => &[("GDO0", Cc2500::GDO0), ("GDO2", Cc2500::GDO2)],
            ChipModel::Fm25l16b => &[],
        }
    }

    /// The output whose level the firmware reads at MISO between transfers.
    fn serial_output(self) -> Option<u8> {
        (self == ChipModel::Cc2500).then_some(Cc2500::SO)
    }

    /// As it comes from its maker, but for a memory that has `contents`.
    fn chip(self, contents: Option<&[u8]>) -> Box<dyn Chip> {
        match self {
            ChipModel::Rfm12b => Box::new(Rfm12b::new()),
            ChipModel::Cc2500 => Box::new(Cc2500::new()),
            ChipModel::Fm25l16b => {
                let mut memory = Fm25::new();
                if let Some(contents) = contents {
                    memory.memory_mut()[..contents.len()].copy_from_slice(contents);
                }
                Box::new(memory)
            }
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Role::Radio => "radio",
            Role::Memory => "memory",
        })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Quantity::MainsVoltage => "mains-voltage",
            Quantity::MainsCurrent => "mains-current",
            Quantity::StoredVoltage => "stored-voltage",
        })
    }
}

impl BoardDescription {
    /// Its radio.
    #[must_use]
    pub fn radio(&self) -> Option<&BoardChip> {
        self.chip(Role::Radio)
    }

    /// The chip in a role.
    #[must_use]
    pub fn chip(&self, role: Role) -> Option<&BoardChip> {
        self.chips.iter().find(|chip| chip.role == role)
    }

    /// The sensor of a quantity.
    #[must_use]
    pub fn sensor(&self, quantity: Quantity) -> Option<&Sensor> {
        self.sensors.iter().find(|sensor| sensor.quantity == quantity)
    }

    /// The converter's channel of a quantity.
    #[must_use]
    pub fn channel_of(&self, quantity: Quantity) -> Option<u8> {
        self.sensor(quantity).map(|sensor| sensor.channel)
    }

    /// Puts a machine of its target onto the board: supply, chips and initial memory contents.
    /// `memory_image` goes to the memory chip where there is one, else to the part's EEPROM. To be
    /// done before [`Mcu::reset`]. The machine is [externally
    /// wakeable](mcu::Board::externally_wakeable).
    ///
    /// # Errors
    /// [`LabError::Protocol`] for contents that the board has no room for.
    pub fn mount(&self, machine: &mut dyn Mcu, memory_image: Option<&[u8]>) -> Result<(), LabError> {
        let memory = self.chip(Role::Memory);
        if let Some(contents) = memory_image {
            let fits = match memory {
                Some(_) => contents.len() <= fm25::BYTES,
                None => self.eeprom.is_some_and(|address| machine.poke(address, contents)),
            };
            if !fits {
                let problem = format!("it has no memory with room for {} bytes", contents.len());
                return Err(LabError::Protocol { what: format!("board {}", self.name), problem });
            }
        }
        let board = machine.board_mut();
        board.supply_v = self.supply_v;
        board.externally_wakeable = true;
        for chip in &self.chips {
            board.mount(chip.model.chip(memory_image), self.wiring(chip));
        }
        Ok(())
    }

    /// Returns the wiring of one of its chips.
    fn wiring(&self, chip: &BoardChip) -> Wiring {
        let named = chip.model.outputs().iter();
        let mut outputs: Vec<(u8, Pin)> =
            named.filter_map(|(name, number)| Some((*number, chip.outputs.get(*name)?.clone()))).collect();
        let bus = self.buses.iter().find(|bus| bus.name == chip.spi);
        outputs.extend(chip.model.serial_output().zip(bus.map(|bus| bus.miso.clone())));
        Wiring { spi: chip.spi.clone(), select: chip.select.clone(), outputs }
    }

    /// The flash wait states that the firmware sets at a clock.
    fn wait_states(&self, part: &Part, clock_hz: u64) -> Result<u8, String> {
        part.wait_states(clock_hz, self.supply_v).ok_or_else(|| {
            let mhz = clock_hz as f64 / 1e6;
            format!("the flash of {} has no wait states for {mhz} MHz at {} V", part.name, self.supply_v)
        })
    }

    /// All pins in use, and what for; those of the buses once.
    fn used_pins(&self) -> impl Iterator<Item = (String, &Pin)> {
        let buses = self.buses.iter().flat_map(|bus| {
            [("sck", &bus.sck), ("miso", &bus.miso), ("mosi", &bus.mosi)]
                .map(|(line, pin)| (format!("{line} of {}", bus.name), pin))
        });
        let chips = self.chips.iter().flat_map(|chip| {
            let name = chip.model.as_str();
            let outputs = chip.outputs.iter().map(move |(output, pin)| (format!("{output} of {name}"), pin));
            outputs.chain([(format!("select of {name}"), &chip.select)])
        });
        let sensors = self.sensors.iter().map(|sensor| (format!("sensor {}", sensor.quantity), &sensor.pin));
        buses.chain(chips).chain(sensors)
    }

    /// Checks the board on its target.
    fn check(&self, target: &Target) -> Result<(), String> {
        let part = &target.part;
        match (target.supply.check(self.clock_hz as f64, self.supply_v), &self.beyond_data_sheet) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Err(error), None) => {
                return Err(format!("{error}; or say in beyond_data_sheet who runs it so all the same"));
            }
            (Ok(()), Some(_)) => {
                return Err("the data sheet allows this clock and supply: leave beyond_data_sheet out".into());
            }
        }
        self.wait_states(part, self.clock_hz)?;
        if let Some(meter) = &self.meter {
            let known = &target.toolchain().map_err(|error| error.to_string())?.variants;
            if !known.contains(&meter.variant) {
                let suggestion = names::suggestion(&meter.variant, known.iter().map(String::as_str));
                return Err(format!("[meter]: there is no variant '{}'{suggestion}", meter.variant));
            }
        }
        for bus in &self.buses {
            serial_buses::check_spi(part, &bus.name)?;
        }
        unique("spi", self.buses.iter().map(|bus| bus.name.clone()))?;
        self.check_chips()?;
        unique("sensor", self.sensors.iter().map(|sensor| sensor.quantity.to_string()))?;
        unique("channel", self.sensors.iter().map(|sensor| sensor.channel.to_string()))?;
        for Sensor { quantity, channel, divider, .. } in &self.sensors {
            let channels = analog_inputs(part);
            if *channel >= channels {
                return Err(format!(
                    "sensor {quantity}: the converter of {} has {channels} channels; {channel} is none of them",
                    part.name
                ));
            }
            if *divider == 0 {
                return Err(format!("sensor {quantity}: divider must be at least 1"));
            }
        }
        self.check_pins(part)
    }

    fn check_chips(&self) -> Result<(), String> {
        for chip in &self.chips {
            let model = chip.model.as_str();
            if chip.role != chip.model.role() {
                return Err(format!("chip {model}: its role is {}, not {}", chip.model.role(), chip.role));
            }
            if !self.buses.iter().any(|bus| bus.name == chip.spi) {
                let suggestion = names::suggestion(&chip.spi, self.buses.iter().map(|bus| bus.name.as_str()));
                return Err(format!("chip {model}: there is no [[spi]] '{}'{suggestion}", chip.spi));
            }
            let known: Vec<&str> = chip.model.outputs().iter().map(|(name, _)| *name).collect();
            if let Some(output) = chip.outputs.keys().find(|output| !known.contains(&output.as_str())) {
                let suggestion = names::suggestion(output, known);
                return Err(format!("chip {model}: there is no output '{output}'{suggestion}"));
            }
        }
        unique("chip with role", self.chips.iter().map(|chip| chip.role.to_string()))
    }

    fn check_pins(&self, part: &Part) -> Result<(), String> {
        let ports = ports(part);
        let mut used = BTreeMap::<&Pin, String>::new();
        for (what, pin) in self.used_pins() {
            let Some((_, bits)) = ports.iter().find(|(port, _)| *port == pin.port) else {
                let suggestion = names::suggestion(&pin.port, ports.iter().map(|(port, _)| port.as_str()));
                return Err(format!("{what}: {} has no port '{}'{suggestion}", part.name, pin.port));
            };
            if pin.bit >= 32 || bits >> pin.bit & 1 == 0 {
                return Err(format!("{what}: {} of {} has no pin {}", pin.port, part.name, pin.bit));
            }
            if let Some(first) = used.get(pin) {
                return Err(format!("{}.{} is {first} and {what}", pin.port, pin.bit));
            }
            used.insert(pin, what);
        }
        Ok(())
    }
}

fn unique(what: &str, names: impl Iterator<Item = String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if seen.contains(&name) {
            return Err(format!("there is more than one {what} {name}"));
        }
        seen.insert(name);
    }
    Ok(())
}

impl Workspace {
    /// The names of all boards, sorted.
    ///
    /// # Errors
    /// [`LabError::File`] where the folder cannot be read.
    pub fn board_names(&self) -> Result<Vec<String>, LabError> {
        self.names_in("boards")
    }

    /// One board by its exact name.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] with the nearest names; [`LabError::BadFile`] for a malformed
    /// file, or one whose target cannot be wired so.
    pub fn board(&self, name: &str) -> Result<BoardDescription, LabError> {
        let known = self.board_names()?;
        if !known.iter().any(|candidate| candidate == name) {
            let suggestion = names::suggestion(name, known.iter().map(String::as_str));
            return Err(LabError::UnknownName { what: "board", name: name.into(), suggestion });
        }
        let (path, text) = self.read(format!("boards/{name}.toml"))?;
        self.board_from_toml(name, &text).map_err(|problem| LabError::BadFile { path, problem })
    }

    fn board_from_toml(&self, name: &str, text: &str) -> Result<BoardDescription, String> {
        let mut board: BoardDescription =
            toml::from_str(text).map_err(|error| format!("board file: {error}"))?;
        let target = self.target(&board.target).map_err(|error| error.to_string())?;
        board.check(&target)?;
        name.clone_into(&mut board.name);
        let eeprom = target.part.memories.iter().find(|memory| memory.kind == MemoryKind::Eeprom);
        board.eeprom = eeprom.map(|memory| memory.start);
        Ok(board)
    }

    /// Returns the sources of firmware for a board, at the board's clock where none is given.
    /// `target` is the board's.
    ///
    /// # Errors
    /// [`LabError::Usage`] for a clock that the flash has no wait states for.
    pub fn board_source<'a>(
        &'a self,
        board: &'a BoardDescription,
        target: &'a Target,
        clock_hz: Option<u64>,
    ) -> Result<Source<'a>, LabError> {
        let clock_hz = clock_hz.unwrap_or(board.clock_hz);
        Ok(Source {
            root: self.root()?,
            cache: self.cache()?,
            target: target.name(),
            target_file: target.own_file.as_deref(),
            toolchain: target.toolchain()?,
            board: Some(&board.name),
            clock_hz,
            wait_states: board.wait_states(&target.part, clock_hz).map_err(LabError::Usage)?,
        })
    }
}

#[cfg(test)]
mod tests;
