//! Parts by a figure, as a picture of bars.

use super::arrangement::Arrangement;
use super::called;
use super::parts::{PartRow, part};
use crate::LabError;
use crate::call::CallRow;
use crate::plot::{self, Bar, BarGroup};
use crate::rank::Rank;
use crate::row::BenchRow;

/// Draws the rows of a bench as bars, those of each operation under its name, the least first. Rows
/// with wrong outputs are left out.
///
/// # Errors
/// [`LabError::Chart`] if no row is left.
pub fn picture(rows: &[BenchRow], by: Rank) -> Result<String, LabError> {
    let arrangement = Arrangement::Operations(Some(by));
    let mut rows = rows.to_vec();
    arrangement.sort(&mut rows);
    let same = |one: &BenchRow, other: &BenchRow| one.op == other.op && one.bytes == other.bytes;
    let group = |rows: &[BenchRow]| {
        let first = &rows[0];
        let is_one = rows.iter().all(|row| row.variant == first.variant);
        let heading = match is_one {
            true => format!("{} of {} bytes, {}", first.op, first.bytes, first.variant),
            false => format!("{} of {} bytes", first.op, first.bytes),
        };
        let bars = rows.iter().filter_map(|row| bar(&part(row), by, !is_one));
        BarGroup { heading, bars: bars.collect() }
    };
    let groups: Vec<BarGroup> = rows.chunk_by(same).map(group).collect();
    draw(&groups, by)
}

/// Draws a call's targets as bars, the least first. Those without figures are left out.
///
/// # Errors
/// [`LabError::Chart`] if no target is left.
pub fn call_picture(rows: &[CallRow], by: Rank) -> Result<String, LabError> {
    let heading = rows.first().map_or("", |row| row.call.as_str());
    parts(heading, &rows.iter().map(called::part).collect::<Vec<_>>(), by)
}

/// Draws parts as bars, the least first, under a heading.
pub(super) fn parts(heading: &str, rows: &[PartRow<'_>], by: Rank) -> Result<String, LabError> {
    let mut bars: Vec<Bar> = rows.iter().filter_map(|row| bar(row, by, false)).collect();
    bars.sort_by(|one, other| one.value.total_cmp(&other.value));
    draw(&[BarGroup { heading: heading.to_owned(), bars }], by)
}

fn draw(groups: &[BarGroup], by: Rank) -> Result<String, LabError> {
    let notes = match by {
        Rank::Energy => vec!["The processor alone; behind each energy the bound of its current.".into()],
        Rank::Cycles | Rank::Time => vec!["Behind each figure the bound of its cycles.".into()],
        Rank::Flash | Rank::Ram | Rank::Stack => Vec::new(),
    };
    let name = by.name();
    let title = format!("{}{} by part", name[..1].to_uppercase(), &name[1..]);
    plot::bars(&title, groups, &notes)
}

/// The bar of a part; none where it has no such figure.
fn bar(row: &PartRow<'_>, by: Rank, with_variant: bool) -> Option<Bar> {
    let value = by.figure(&row.costs)?;
    let bound = match by {
        Rank::Cycles | Rank::Time => row.accuracy.map(|accuracy| accuracy.cycles.to_string()),
        Rank::Energy => row.energy_accuracy.map(|accuracy| accuracy.energy.to_string()),
        Rank::Flash | Rank::Ram | Rank::Stack => None,
    };
    let bound = bound.map_or_else(String::new, |bound| format!(" ({bound})"));
    let name = if with_variant { format!("{} {}", row.target, row.variant) } else { row.target.to_owned() };
    Some(Bar { name, value, text: by.text(value) + &bound })
}
