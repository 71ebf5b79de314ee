//! Checks of a table, and its published figures.

use super::{Column, Drawing, Line, Table};

impl Table {
    /// Checks that the drawn columns exist, have one unit, and a clock where the table is drawn
    /// over that.
    pub(super) fn check_drawing(&self, drawing: &Drawing) -> Result<(), String> {
        let column = |name: &String| self.columns.iter().find(|column| column.name == *name);
        let mut named = drawing.columns.iter().chain(drawing.boxes.iter().flatten());
        if let Some(missing) = named.find(|name| column(name).is_none()) {
            return Err(format!("{}: no column '{missing}' to draw", self.name));
        }
        let drawn = |name: &String| drawing.columns.is_empty() || drawing.columns.contains(name);
        let mut units = self.columns.iter().filter(|column| drawn(&column.name)).map(|column| &column.unit);
        let first = units.next();
        if units.any(|unit| Some(unit) != first) {
            return Err(format!("{}: columns of different units in one chart", self.name));
        }
        match self.rows.iter().find(|line| drawing.over_clock && line.clock_hz.is_none()) {
            Some(line) => Err(format!("{}, row '{}': no clock to draw it over", self.name, line.name)),
            None => Ok(()),
        }
    }

    /// Returns true if a published figure counts here: each counts once, beside its like, and one
    /// that the paper does not print does not count.
    #[must_use]
    pub fn compares(&self, line: &Line, column: &Column) -> bool {
        let is_measured = self.columns.iter().any(|column| column.what.is_some());
        let is_printed = column.published_as.is_empty() && !line.computed.contains(&column.name);
        is_measured && is_printed && self.compares && column.compares && line.compares
    }

    /// Returns the index of a column's figures in [`Line::published`].
    #[must_use]
    pub fn published_column(&self, column: &Column) -> Option<usize> {
        let name = if column.published_as.is_empty() { &column.name } else { &column.published_as };
        self.columns.iter().filter(|column| column.published_as.is_empty()).position(|own| own.name == *name)
    }
}
