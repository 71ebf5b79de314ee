//! Two targets or two variants side by side.

use super::parts::{self, part};
use super::section::{Section, WRONG};
use crate::LabError;
use crate::operations::VARIANTS;
use crate::rank::{Costs, Rank};
use crate::row::BenchRow;
use crate::selection::Choice;
use crate::workspace::Workspace;
use output::significant;
use output::{Column, Sheet};

/// Two targets or two variants.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    sides: [Side; 2],
}

/// A side of a pair.
#[derive(Clone, Debug, PartialEq)]
struct Side {
    /// As it was asked for.
    name: String,
    of: Of,
}

#[derive(Clone, Debug, PartialEq)]
enum Of {
    Variant,
    Target { target: String, clock_hz: u64, supply_v: f64 },
}

impl Pair {
    /// Finds two variants, or two targets at this clock and supply.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] for a name that is neither, [`LabError::Usage`] for one of each
    /// and for the same twice, [`LabError::Supply`] for a point that a data sheet does not allow.
    pub fn find(
        workspace: &Workspace,
        names: [String; 2],
        clock_hz: Option<u64>,
        supply_v: Option<f64>,
    ) -> Result<Pair, LabError> {
        let is_variant = |name: &String| VARIANTS.contains(&name.as_str());
        if names.iter().any(is_variant) != names.iter().all(is_variant) {
            let [one, other] = names;
            return Err(LabError::Usage(format!(
                "--compare {one} {other}: one is a variant and the other is none; name two targets or two variants"
            )));
        }
        let of = |name: &String| -> Result<Of, LabError> {
            if is_variant(name) {
                return Ok(Of::Variant);
            }
            let target = workspace.target(name)?;
            target.toolchain()?;
            let point = target.operating_point(clock_hz, supply_v)?;
            Ok(Of::Target {
                target: target.name().into(),
                clock_hz: point.clock_hz,
                supply_v: point.supply_v,
            })
        };
        let [one, other] = [of(&names[0])?, of(&names[1])?];
        let [first, second] = names;
        let is_same = if one == Of::Variant { first == second } else { one == other };
        if is_same {
            return Err(LabError::Usage(format!(
                "--compare {first} {second}: both are the same; name another"
            )));
        }
        Ok(Pair { sides: [Side { name: first, of: one }, Side { name: second, of: other }] })
    }

    /// The rows of both sides: targets in the variant `fast` where none is chosen.
    ///
    /// # Errors
    /// [`LabError::Usage`] for a choice of what the pair is of.
    pub fn choice(
        &self,
        targets: Vec<String>,
        operations: Vec<String>,
        variants: Vec<String>,
    ) -> Result<Choice, LabError> {
        let names = || self.sides.iter().map(|side| side.name.clone()).collect::<Vec<_>>();
        let (chosen, option) = match self.sides[0].of {
            Of::Variant => (&variants, "--variant"),
            Of::Target { .. } => (&targets, "--target"),
        };
        if !chosen.is_empty() {
            return Err(LabError::Usage(format!("--compare names what {option} would; leave {option} out")));
        }
        Ok(match self.sides[0].of {
            Of::Variant => Choice::Matching { targets, operations, variants: names() },
            Of::Target { .. } => {
                let variants = if variants.is_empty() { vec!["fast".into()] } else { variants };
                Choice::Matching { targets: names(), operations, variants }
            }
        })
    }
}

impl Side {
    fn has(&self, row: &BenchRow) -> bool {
        match &self.of {
            Of::Variant => row.variant == self.name,
            Of::Target { target, clock_hz, supply_v } => {
                row.target == *target && row.clock_hz == *clock_hz && row.supply_v == *supply_v
            }
        }
    }

    /// The rest of a row's identity but its operation.
    fn group<'a>(&self, row: &'a BenchRow) -> &'a str {
        match self.of {
            Of::Variant => &row.target,
            Of::Target { .. } => &row.variant,
        }
    }
}

/// A table for each target of two variants, or for each variant of two targets.
pub(super) fn sections<'a>(pair: &'a Pair, rows: &[BenchRow]) -> Vec<Section<'a>> {
    let group = |row: &BenchRow| pair.sides[0].group(row).to_owned();
    let mut groups: Vec<String> = Vec::new();
    for row in rows {
        if !groups.contains(&group(row)) {
            groups.push(group(row));
        }
    }
    let of_group = |name: String| {
        let rows: Vec<&BenchRow> = rows.iter().filter(|row| group(row) == name).collect();
        section(pair, name, &rows)
    };
    groups.into_iter().map(of_group).collect()
}

fn section<'a>(pair: &'a Pair, title: String, rows: &[&BenchRow]) -> Section<'a> {
    let [one, other] = &pair.sides;
    let columns = [
        Column::name("operation"),
        Column::left("figure"),
        Column::right(&one.name),
        Column::right(&other.name),
        Column::right("ratio"),
    ];
    let mut sheet = Sheet::new(&columns);
    let (mut compared, mut alone): (Vec<&BenchRow>, Vec<&str>) = (Vec::new(), Vec::new());
    for row in rows {
        let is_same = |found: &&&BenchRow| found.op == row.op && found.bytes == row.bytes;
        let of_side = |side: &Side| rows.iter().filter(is_same).find(|row| side.has(row)).copied();
        let (Some(left), Some(right)) = (of_side(one), of_side(other)) else {
            alone.push(&row.op);
            continue;
        };
        // Once for both.
        if one.has(row) {
            compared.extend([left, right]);
            lines(left, right).into_iter().for_each(|cells| sheet.row(cells));
        }
    }
    let parts: Vec<_> = compared.iter().map(|row| part(row)).collect();
    let mut feet = vec![format!("ratio: {} over {}", other.name, one.name)];
    feet.extend(parts::feet(&parts));
    if !alone.is_empty() {
        feet.push(format!("only one of both has: {}", alone.join(", ")));
    }
    Section { title, sheet, feet }
}

/// The figures of two rows, a line each.
fn lines(left: &BenchRow, right: &BenchRow) -> Vec<[String; 5]> {
    let [one, other] = [left, right].map(Costs::from);
    let figures = Rank::ALL.map(|(_, figure)| figure);
    let line = |(index, figure): (usize, Rank)| {
        let [before, after] = [&one, &other].map(|costs| figure.figure(costs));
        let ratio = before.zip(after).filter(|(before, _)| *before != 0.0);
        [
            if index == 0 { left.op.clone() } else { String::new() },
            figure.name().into(),
            text(figure, before, left),
            text(figure, after, right),
            ratio.map_or_else(|| "–".into(), |(before, after)| significant(after / before, 3)),
        ]
    };
    figures.into_iter().enumerate().map(line).collect()
}

/// A figure with its unit and its mark.
fn text(figure: Rank, value: Option<f64>, row: &BenchRow) -> String {
    let mark = match figure {
        Rank::Cycles => row.accuracy.cycles.mark(),
        Rank::Energy => row.energy_accuracy.energy.mark(),
        Rank::Time | Rank::Flash | Rank::Ram | Rank::Stack => "",
    };
    value.map_or_else(|| WRONG.into(), |value| figure.text(value) + mark)
}
