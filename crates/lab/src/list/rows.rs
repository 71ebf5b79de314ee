//! Entries of the lists.

use super::Entry;
use crate::accuracy::Bound;
use crate::energy_accuracy::EnergyBound;
use crate::operations::Operation;
use output::{Column, grouped, significant};
use serde::Serialize;

/// A target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetEntry {
    /// Target name.
    pub target: String,
    /// Manufacturer and part.
    pub description: String,
    /// Core of the part.
    pub core: String,
    /// Default core clock, in Hz.
    pub clock_hz: u64,
    /// Default supply, in volts.
    pub supply_v: f64,
    /// Program memory, in bytes.
    pub flash_bytes: u32,
    /// RAM, in bytes.
    pub ram_bytes: u32,
    /// Bound on the cycles of operations against the part's.
    pub accuracy: Bound,
    /// Bound on the energy against the part's, beside that of the cycles.
    pub energy_accuracy: EnergyBound,
    /// Compiler or assembler of its firmware; absent where none is built.
    pub compiler: Option<String>,
    /// Names of its sister parts, separated by blanks.
    pub sisters: String,
}

/// An operation of `bench`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpEntry {
    /// Operation name.
    pub op: String,
    /// Message bytes where none are asked for.
    pub bytes: u16,
    /// The message length can be chosen.
    pub any_length: bool,
    /// All its inputs are public, so that its time may depend on them.
    pub public: bool,
    /// Function whose call is measured.
    pub function: String,
    /// Variants of its builds, separated by blanks.
    pub variants: String,
    /// Targets that have it, separated by blanks.
    pub targets: String,
}

/// A variant of builds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VariantEntry {
    /// Variant name.
    pub variant: &'static str,
    /// Summary of the build.
    pub about: &'static str,
    /// Targets that have it, separated by blanks.
    pub targets: String,
}

/// A scheme by which a node protects a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchemeEntry {
    /// Scheme name.
    pub scheme: String,
    /// Sort of scheme.
    pub kind: String,
    /// Classical security level, in bits.
    pub security_bits: u32,
    /// Bytes that it adds to the message on the air.
    pub bytes: u32,
    /// Operations that each message takes, separated by blanks.
    pub ops: String,
    /// Service that it gives.
    pub what: String,
}

/// A paper that can be reproduced.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaperEntry {
    /// Paper name: first author and year.
    pub paper: String,
    /// Title of the paper.
    pub title: String,
    /// Authors and place of publication.
    pub published_in: String,
}

/// A board that goes wherever a target does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoardEntry {
    /// Names of the board, separated by blanks.
    pub board: String,
    /// Target or sister part on it.
    pub target: String,
    /// Core clock of its programs, in Hz.
    pub clock_hz: u64,
    /// Supply of the part, in volts.
    pub supply_v: f64,
    /// Source of clock and supply.
    pub source: String,
}

impl OpEntry {
    /// The entry of an operation, without targets and variants.
    pub(super) fn of(operation: &Operation) -> OpEntry {
        OpEntry {
            op: operation.name.clone(),
            bytes: operation.bytes,
            any_length: operation.any_length,
            public: operation.public,
            function: operation.measure.clone(),
            variants: String::new(),
            targets: String::new(),
        }
    }
}

/// Summary of a variant.
pub(super) fn about(variant: &str) -> &'static str {
    match variant {
        "O0" => "C without optimisation",
        "portable" => "C at -O2",
        "small" => "C at -Os, with the small assembly kernels",
        "fast" => "C at -O3, with the fast assembly kernels",
        "nompy" => "as fast, without the hardware multiplier",
        "mpy16" => "as fast, with the 16-bit hardware multiplier",
        "mpy32" => "as fast, with the 32-bit hardware multiplier",
        "memory" => "AES with its state in memory (R8C)",
        "register" => "AES with its state in registers (R8C)",
        _ => "",
    }
}

fn megahertz(clock_hz: u64) -> String {
    format!("{}", clock_hz as f64 / 1e6)
}

fn kibibytes(bytes: u32) -> String {
    significant(f64::from(bytes) / 1024.0, 3)
}

fn count(words: &str) -> String {
    words.split_whitespace().count().to_string()
}

impl Entry for TargetEntry {
    fn columns() -> Vec<Column<'static>> {
        vec![
            Column::left("target"),
            Column::left("core"),
            Column::right("MHz"),
            Column::right("V").spare(1),
            Column::right("flash KiB").with_broken_header(),
            Column::right("RAM KiB").with_broken_header(),
            Column::right("cycles"),
            Column::right("energy"),
            Column::left("compiler").spare(2),
            Column::left("part").spare(3),
        ]
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.target.clone(),
            self.core.clone(),
            megahertz(self.clock_hz),
            self.supply_v.to_string(),
            kibibytes(self.flash_bytes),
            kibibytes(self.ram_bytes),
            self.accuracy.to_string(),
            self.energy_accuracy.to_string(),
            self.compiler.clone().unwrap_or_else(|| "–".into()),
            self.description.clone(),
        ]
    }
}

impl Entry for OpEntry {
    fn columns() -> Vec<Column<'static>> {
        vec![
            Column::name("operation"),
            Column::right("bytes"),
            Column::left("inputs"),
            Column::right("targets"),
            Column::left("function").spare(1),
            Column::left("variants").spare(2),
        ]
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.op.clone(),
            if self.any_length { format!("any, {}", self.bytes) } else { self.bytes.to_string() },
            if self.public { "public".into() } else { "secret".into() },
            count(&self.targets),
            self.function.clone(),
            self.variants.clone(),
        ]
    }
}

impl Entry for VariantEntry {
    fn columns() -> Vec<Column<'static>> {
        vec![Column::left("variant"), Column::right("targets"), Column::left("build")]
    }

    fn cells(&self) -> Vec<String> {
        vec![self.variant.into(), count(&self.targets), self.about.into()]
    }
}

impl Entry for SchemeEntry {
    fn columns() -> Vec<Column<'static>> {
        vec![
            Column::name("scheme"),
            Column::left("kind"),
            Column::right("bits"),
            Column::right("bytes"),
            Column::left("operations").spare(2),
            Column::left("service").spare(1),
        ]
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.scheme.clone(),
            self.kind.clone(),
            self.security_bits.to_string(),
            grouped(self.bytes.into()),
            self.ops.clone(),
            self.what.clone(),
        ]
    }
}

impl Entry for PaperEntry {
    fn columns() -> Vec<Column<'static>> {
        vec![Column::left("paper"), Column::left("title"), Column::left("published in").spare(1)]
    }

    fn cells(&self) -> Vec<String> {
        vec![self.paper.clone(), self.title.clone(), self.published_in.clone()]
    }
}

impl Entry for BoardEntry {
    fn columns() -> Vec<Column<'static>> {
        vec![
            Column::left("board"),
            Column::left("target"),
            Column::right("MHz"),
            Column::right("V"),
            Column::left("source").spare(1),
        ]
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.board.clone(),
            self.target.clone(),
            megahertz(self.clock_hz),
            self.supply_v.to_string(),
            self.source.clone(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::about;
    use crate::operations::VARIANTS;

    #[test]
    fn each_variant_has_a_summary() {
        assert!(VARIANTS.iter().all(|variant| about(variant).len() > 5));
    }
}
