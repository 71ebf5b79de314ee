//! Figures that rows are ranked by.

use crate::call::CallRow;
use crate::row::BenchRow;
use output::{grouped, scaled};

/// A figure that rows are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    Cycles,
    Time,
    Energy,
    Flash,
    Ram,
    Stack,
}

/// Costs of a row; none of one without figures, or with wrong outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Mean clock cycles.
    pub cycles: Option<f64>,
    /// Mean time, in seconds.
    pub time_s: Option<f64>,
    /// Mean energy, in joules.
    pub energy_j: Option<f64>,
    pub flash_bytes: Option<f64>,
    pub ram_bytes: Option<f64>,
    pub stack_bytes: Option<f64>,
}

impl From<&BenchRow> for Costs {
    fn from(row: &BenchRow) -> Costs {
        if !row.verified {
            return Costs::default();
        }
        Costs {
            cycles: Some(row.cycles.mean),
            time_s: Some(row.time_s),
            energy_j: Some(row.energy_j),
            flash_bytes: Some(row.flash_bytes as f64),
            ram_bytes: Some(row.ram_bytes as f64),
            stack_bytes: Some(f64::from(row.stack_bytes)),
        }
    }
}

impl From<&CallRow> for Costs {
    fn from(row: &CallRow) -> Costs {
        if row.problem.is_some() {
            return Costs::default();
        }
        Costs {
            cycles: row.cycles.map(|cycles| cycles.mean),
            time_s: row.time_s,
            energy_j: row.energy_j,
            flash_bytes: row.flash_bytes.map(|bytes| bytes as f64),
            ram_bytes: row.ram_bytes.map(|bytes| bytes as f64),
            stack_bytes: row.stack_bytes.map(f64::from),
        }
    }
}

impl Rank {
    /// All of them, by their names.
    pub const ALL: [(&str, Rank); 6] = [
        ("cycles", Rank::Cycles),
        ("time", Rank::Time),
        ("energy", Rank::Energy),
        ("flash", Rank::Flash),
        ("ram", Rank::Ram),
        ("stack", Rank::Stack),
    ];

    /// The figure of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Rank> {
        Rank::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, rank)| rank)
    }

    /// Its name for a person.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Rank::Cycles => "cycles",
            Rank::Time => "time",
            Rank::Energy => "energy",
            Rank::Flash => "flash",
            Rank::Ram => "RAM",
            Rank::Stack => "stack",
        }
    }

    /// A figure with its unit, for a person.
    #[must_use]
    pub fn text(self, value: f64) -> String {
        match self {
            Rank::Cycles => grouped(value.round() as i64),
            Rank::Time => scaled(value, "s"),
            Rank::Energy => scaled(value, "J"),
            Rank::Flash | Rank::Ram | Rank::Stack => format!("{} B", grouped(value as i64)),
        }
    }

    /// The figure of a row, in SI units.
    #[must_use]
    pub fn figure(self, costs: &Costs) -> Option<f64> {
        match self {
            Rank::Cycles => costs.cycles,
            Rank::Time => costs.time_s,
            Rank::Energy => costs.energy_j,
            Rank::Flash => costs.flash_bytes,
            Rank::Ram => costs.ram_bytes,
            Rank::Stack => costs.stack_bytes,
        }
    }

    /// Puts the rows with the least first, and those without the figure last.
    pub fn sort<T>(self, rows: &mut [T])
    where
        for<'a> Costs: From<&'a T>,
    {
        rows.sort_by(|one, other| {
            let [one, other] =
                [one, other].map(|row| self.figure(&Costs::from(row)).unwrap_or(f64::INFINITY));
            one.total_cmp(&other)
        });
    }
}
