//! Fields of a command's rows that hold identity and figures.

use super::Figure;
use crate::measure::Ended;
use serde::Deserialize;
use serde_json::Value;

/// The fields of a command's rows, as JSON pointers.
pub struct Layout {
    /// The command whose rows these are.
    pub command: &'static str,
    /// Fields that identify a row.
    identity: &'static [&'static str],
    /// Of them, which are its group in a table, and which its name there.
    group: &'static [usize],
    name: &'static [usize],
    /// Further identification for a person.
    details: fn(&Value) -> String,
    figures: &'static [(Figure, &'static str)],
    /// Field with the seconds of one call.
    time: Option<&'static str>,
    /// The first field of the identity does not matter where each side has but one.
    only_one: bool,
    /// Returns the reason for which a row is a failure by itself.
    wrong: fn(&Value) -> Option<String>,
    /// Rows that are no measurement.
    is_remark: fn(&Value) -> bool,
}

/// Of `bench`. The wait states follow from target, clock and supply.
pub static BENCH: Layout = Layout {
    command: "bench",
    identity: &["/target", "/op", "/variant", "/bytes", "/clock_hz", "/supply_v"],
    group: &[0],
    name: &[1, 2],
    details: |row| {
        let mhz = row["clock_hz"].as_f64().unwrap_or(0.0) / 1e6;
        format!("{} B, {mhz} MHz, {} V", row["bytes"], row["supply_v"].as_f64().unwrap_or(0.0))
    },
    figures: &[
        (Figure::Cycles, "/cycles/mean"),
        (Figure::Flash, "/flash_bytes"),
        (Figure::Ram, "/ram_bytes"),
        (Figure::Stack, "/stack_bytes"),
        (Figure::Energy, "/energy_j"),
    ],
    time: Some("/time_s"),
    only_one: false,
    wrong: |row| (row["verified"] == false).then(|| "WRONG output".into()),
    is_remark: |_| false,
};

/// Of `measure`: calls of one function in one firmware are one row.
pub static MEASURE: Layout = Layout {
    command: "measure",
    identity: &["/firmware", "/target", "/kind", "/name"],
    group: &[0, 1],
    name: &[3],
    details: |row| row["kind"].as_str().filter(|kind| *kind != "program").unwrap_or_default().into(),
    figures: &[
        (Figure::Cycles, "/inclusive_cycles"),
        (Figure::Flash, "/flash_bytes"),
        (Figure::Ram, "/ram_bytes"),
        (Figure::Stack, "/stack_bytes"),
        (Figure::Energy, "/energy_j"),
    ],
    time: Some("/time_s"),
    only_one: true,
    wrong: |_| None,
    is_remark: |row| matches!(row["kind"].as_str(), Some("tolerated" | "stub" | "state")),
};

/// Of `measure --call`.
pub static CALL: Layout = Layout {
    command: "measure --call",
    identity: &["/target", "/call", "/clock_hz", "/supply_v"],
    group: &[0],
    name: &[1],
    details: |row| {
        let mhz = row["clock_hz"].as_f64().unwrap_or(0.0) / 1e6;
        format!("{mhz} MHz, {} V", row["supply_v"].as_f64().unwrap_or(0.0))
    },
    figures: &[
        (Figure::Cycles, "/cycles/mean"),
        (Figure::Flash, "/flash_bytes"),
        (Figure::Ram, "/ram_bytes"),
        (Figure::Stack, "/stack_bytes"),
        (Figure::Energy, "/energy_j"),
    ],
    time: Some("/time_s"),
    only_one: false,
    wrong: |row| row["problem"].as_str().map(str::to_owned),
    is_remark: |_| false,
};

/// Of `ct`.
pub static CONSTANT_TIME: Layout = Layout {
    command: "ct",
    identity: &["/target", "/op", "/variant"],
    group: &[0],
    name: &[1, 2],
    details: |row| match row["verdict"].as_str() {
        Some("uncompared") => "output not compared".into(),
        _ => String::new(),
    },
    figures: &[(Figure::Cycles, "/cycles")],
    time: None,
    only_one: false,
    wrong: |row| match row["verdict"].as_str() {
        Some("variable") => {
            let texts: Vec<&str> =
                [&row["place"], &row["what"]].into_iter().filter_map(Value::as_str).collect();
            Some(format!("VARIABLE: {}", texts.join(": ")))
        }
        Some("dependent") => {
            let leaks =
                row["leaks"].as_array().into_iter().flatten().filter(|leak| leak["accepted"].is_null());
            let text = |leak: &Value| {
                let field = |name: &str| leak[name].as_str().unwrap_or_default().to_owned();
                format!("{} on {} at {}", field("kind"), field("secrets"), field("place"))
            };
            Some(format!("DEPENDS: {}", leaks.map(text).collect::<Vec<_>>().join("; ")))
        }
        Some("wrong") => Some("WRONG output".into()),
        Some("failed") => Some(format!("FAILED: {}", row["what"].as_str().unwrap_or_default())),
        Some("unread") => Some(format!("UNREAD: {}", row["what"].as_str().unwrap_or_default())),
        _ => None,
    },
    is_remark: |_| false,
};

/// A row: what it is of, and what that costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The table that it stands in.
    pub group: String,
    /// Its name there.
    pub name: String,
    /// Further identification for a person.
    details: String,
    /// All that it is known by.
    pub identity: Vec<String>,
    pub figures: Vec<(Figure, f64)>,
    pub time_s: Option<f64>,
    /// Fault of the row, whatever it costs.
    pub wrong: Option<String>,
    /// End of its run, where its command says so; of several the one that did not end as it should.
    pub ended: Option<Ended>,
    only_one: bool,
}

impl Measured {
    /// The value of a figure, where the row has it.
    #[must_use]
    pub fn figure(&self, figure: Figure) -> Option<f64> {
        self.figures.iter().find(|(known, _)| *known == figure).map(|(_, value)| *value)
    }

    /// Why its run did not end as it should, where it did not: its figures are of a part of the
    /// run.
    #[must_use]
    pub fn unfinished(&self) -> Option<&str> {
        self.ended.as_ref()?.why.as_deref()
    }

    /// Why it did not end as it should, with where that was.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        let Ended { place, why, .. } = self.ended.as_ref()?;
        let place = place.as_ref().map_or(String::new(), |place| format!(" (ended at {place})"));
        Some(format!("{}{place}", why.as_ref()?))
    }

    /// Its name with what else it is known by.
    #[must_use]
    pub fn detailed_name(&self) -> String {
        let Measured { name, details, .. } = self;
        if details.is_empty() { name.clone() } else { format!("{name} ({details})") }
    }

    /// All that it is known by, in a line.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{} {}", self.group, self.detailed_name())
    }

    /// Returns true if this row of `before` and `other` of `after` are of the same.
    pub(super) fn is_same_as(&self, other: &Measured, before: &[Measured], after: &[Measured]) -> bool {
        let is_one =
            |rows: &[Measured]| rows.iter().all(|row| row.identity.first() == rows[0].identity.first());
        let from = usize::from(self.only_one && is_one(before) && is_one(after));
        self.identity.len() == other.identity.len() && self.identity[from..] == other.identity[from..]
    }
}

/// A figure of several calls: bytes are the most of any, all else the mean.
struct Merged {
    measured: Measured,
    calls: f64,
}

impl Merged {
    fn add(&mut self, row: Measured) {
        self.calls += 1.0;
        let calls = self.calls;
        let mean = |mean: f64, value: f64| mean + (value - mean) / calls;
        if row.unfinished().is_some() {
            self.measured.ended.clone_from(&row.ended);
        }
        for (figure, value) in row.figures {
            match self.measured.figures.iter_mut().find(|(known, _)| *known == figure) {
                Some((Figure::Cycles | Figure::Energy, known)) => *known = mean(*known, value),
                Some((_, known)) => *known = known.max(value),
                None => self.measured.figures.push((figure, value)),
            }
        }
        self.measured.time_s = self.measured.time_s.zip(row.time_s).map(|(known, value)| mean(known, value));
        self.measured.wrong = self.measured.wrong.take().or(row.wrong);
    }
}

/// The field that a nested one is in.
fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

impl Layout {
    /// Returns the identities and figures of these rows, those of the same in one.
    pub(super) fn measured(&self, rows: &[Value]) -> Result<Vec<Measured>, String> {
        let mut merged: Vec<Merged> = Vec::new();
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| !(self.is_remark)(row)) {
            let row = self.read(row).map_err(|problem| {
                format!("row {} has {problem}, and so is no row of {}", index + 1, self.command)
            })?;
            match merged.iter_mut().find(|known| known.measured.identity == row.identity) {
                Some(known) => known.add(row),
                None => merged.push(Merged { measured: row, calls: 1.0 }),
            }
        }
        Ok(merged.into_iter().map(|merged| merged.measured).collect())
    }

    fn read(&self, row: &Value) -> Result<Measured, String> {
        let field = |pointer: &str| pointer.trim_start_matches('/').replace('/', ".");
        let text = |pointer: &&str| match row.pointer(pointer) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            _ => Err(format!("no text '{}'", field(pointer))),
        };
        let identity: Vec<String> = self.identity.iter().map(text).collect::<Result<_, _>>()?;
        let mut figures = Vec::new();
        for &(figure, pointer) in self.figures {
            match row.pointer(pointer) {
                // The field does not exist in this kind of row.
                Some(Value::Null) => {}
                None if row.pointer(parent(pointer)).is_some_and(Value::is_null) => {}
                Some(Value::Number(number)) => figures.push((figure, number.as_f64().unwrap_or(f64::NAN))),
                _ => return Err(format!("no number '{}'", field(pointer))),
            }
        }
        let joined = |fields: &[usize]| {
            let texts = fields.iter().map(|field| identity[*field].as_str());
            texts.collect::<Vec<_>>().join(" ")
        };
        Ok(Measured {
            group: joined(self.group),
            name: joined(self.name),
            details: (self.details)(row),
            time_s: self.time.and_then(|pointer| row.pointer(pointer)).and_then(Value::as_f64),
            wrong: (self.wrong)(row),
            ended: Ended::deserialize(&row["ended"]).ok(),
            only_one: self.only_one,
            figures,
            identity,
        })
    }
}
