//! Reasons of verdicts: sentences whose figures are those of the run.
//!
//! | in the file | in the report |
//! | --- | --- |
//! | `{Table 1/M7/mean}` | our figure of that cell with its unit: 16.23 µs |
//! | `{A / B}` | the first of our figures over the second: 2.31 |
//! | `{A less than B}`, `{A more than B}` | the difference as a share of the second: 24 % |
//! | `{A as a share of B}` | 66 % |
//!
//! `published A` is the paper's figure of that cell.

use output::{figure, grouped, scaled, significant};

/// Figure of a cell by its name, and its unit: the run's, or the paper's if it is asked for.
/// Nothing if there is none.
pub(crate) type Figures<'a> = &'a dyn Fn(&str, Source) -> Option<(f64, String)>;

/// Origin of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Run,
    Paper,
}

/// Piece of a reason.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Words(&'a str),
    Figure(&'a str),
    Ratio(&'a str, &'a str),
    Less(&'a str, &'a str),
    More(&'a str, &'a str),
    Share(&'a str, &'a str),
}

/// Cuts a reason into its pieces. The error is a sentence.
fn pieces(reason: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = reason;
    while let Some((words, behind)) = rest.split_once('{') {
        let (inside, after) =
            behind.split_once('}').ok_or_else(|| format!("'{{{behind}' has no closing brace"))?;
        found.push(Piece::Words(words));
        let pair = |by| inside.split_once(by);
        let piece = None
            .or_else(|| pair(" / ").map(|(one, other)| Piece::Ratio(one, other)))
            .or_else(|| pair(" less than ").map(|(one, other)| Piece::Less(one, other)))
            .or_else(|| pair(" more than ").map(|(one, other)| Piece::More(one, other)))
            .or_else(|| pair(" as a share of ").map(|(one, other)| Piece::Share(one, other)));
        found.push(piece.unwrap_or(Piece::Figure(inside)));
        rest = after;
    }
    found.push(Piece::Words(rest));
    Ok(found)
}

/// Returns the cells that a reason names.
///
/// # Errors
/// A brace that is not closed, as a sentence.
pub(crate) fn cells(reason: &str) -> Result<Vec<String>, String> {
    let named = pieces(reason)?.into_iter().flat_map(|piece| match piece {
        Piece::Words(_) => vec![],
        Piece::Figure(cell) => vec![cell],
        Piece::Ratio(one, other)
        | Piece::Less(one, other)
        | Piece::More(one, other)
        | Piece::Share(one, other) => vec![one, other],
    });
    Ok(named.map(|name| cell_and_source(name).0.to_owned()).collect())
}

fn cell_and_source(name: &str) -> (&str, Source) {
    match name.strip_prefix("published ") {
        Some(cell) => (cell, Source::Paper),
        None => (name, Source::Run),
    }
}

/// Returns a reason with the figures in it, and a dash for a figure that there is not.
pub(crate) fn filled(reason: &str, figures: Figures) -> String {
    let named = |name| {
        let (cell, source) = cell_and_source(name);
        figures(cell, source)
    };
    let both = |one, other| Some((named(one)?.0, named(other)?.0));
    let share = |share: f64| format!("{} %", significant(100.0 * share, 2));
    let written = |piece| match piece {
        Piece::Words(words) => Some(words.to_owned()),
        Piece::Figure(cell) => named(cell).map(|(value, unit)| quantity(value, &unit)),
        Piece::Ratio(one, other) => both(one, other).map(|(one, other)| significant(one / other, 3)),
        Piece::Less(one, other) => both(one, other).map(|(one, other)| share(1.0 - one / other)),
        Piece::More(one, other) => both(one, other).map(|(one, other)| share(one / other - 1.0)),
        Piece::Share(one, other) => both(one, other).map(|(one, other)| share(one / other)),
    };
    // A paper whose reasons have an open brace is not read.
    let all = pieces(reason).unwrap_or_default().into_iter();
    all.map(|piece| written(piece).unwrap_or_else(|| "–".to_owned())).collect()
}

/// A figure within a sentence.
fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "1" => significant(value, 3),
        "B" => format!("{} bytes", grouped(value.round() as i64)),
        "s" | "J" => scaled(value, unit),
        _ => format!("{} {unit}", figure(Some(value), unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(cell: &str, source: Source) -> Option<(f64, String)> {
        if source == Source::Paper {
            return (cell == "T/M7/mean").then(|| (8.117e-6, "s".to_owned()));
        }
        match cell {
            "T/M7/mean" => Some((16.234e-6, "s".to_owned())),
            "T/M4/mean" => Some((32.468e-6, "s".to_owned())),
            "T/M4/flash" => Some((2971.0, "B".to_owned())),
            "T/M4/energy" => Some((4.8123, "µJ".to_owned())),
            _ => None,
        }
    }

    #[test]
    fn figures_of_the_run_stand_in_the_reason() {
        let filled = |reason| filled(reason, &figures);
        assert_eq!(filled("Ours takes {T/M7/mean}."), "Ours takes 16.23 µs.");
        assert_eq!(filled("{T/M4/mean / T/M7/mean} times"), "2 times");
        assert_eq!(filled("{T/M7/mean less than T/M4/mean} less"), "50 % less");
        assert_eq!(filled("{T/M4/mean more than T/M7/mean} more"), "100 % more");
        assert_eq!(filled("{T/M7/mean as a share of T/M4/mean}"), "50 %");
        assert_eq!(filled("{T/M7/mean / published T/M7/mean}"), "2");
        assert_eq!(filled("{T/M4/flash}, {T/M4/energy}"), "2,971 bytes, 4.812 µJ");
        assert_eq!(filled("{T/M0/mean}, and {T/M7/mean / T/M0/mean}"), "–, and –");
        assert_eq!(filled("No figure."), "No figure.");
    }

    #[test]
    fn cells_of_a_reason_are_named() {
        assert_eq!(
            cells("{a/b/c} and {d/e/f / published g/h/i}"),
            Ok(["a/b/c", "d/e/f", "g/h/i"].map(String::from).into())
        );
        assert!(cells("{a/b/c").expect_err("open").contains("no closing brace"));
    }
}
