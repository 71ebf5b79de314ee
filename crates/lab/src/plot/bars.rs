//! Bars from left to right, one below the other.

use super::{
    COLOURS, Drawn, LABEL_SIZE, MARGIN, NOTE_ROW, NOTE_SIZE, TITLE_HEIGHT, TITLE_SIZE, WIDTH, left,
    middle_of, wrapped,
};
use crate::LabError;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Height of a bar with the room around it, in pixels.
const BAR_ROW: u32 = 24;
/// Height of a group's heading, in pixels.
const HEADING_ROW: u32 = 34;
/// Place of a bar's beginning, in pixels from the left edge.
const BEGIN: i32 = 200;
/// Place of the longest bar's end; its text is behind it.
const END: i32 = 690;

/// Bars under a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct BarGroup {
    pub heading: String,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub name: String,
    /// Length, in a unit that all bars of the group share.
    pub value: f64,
    /// Text behind the bar.
    pub text: String,
}

/// Draws groups of bars, each from zero to its own greatest value; the same groups give the same
/// text.
///
/// # Errors
/// [`LabError::Chart`] if there is no bar.
pub fn bars(title: &str, groups: &[BarGroup], notes: &[String]) -> Result<String, LabError> {
    let failed = |problem: String| LabError::Chart { title: title.to_owned(), problem };
    let count: usize = groups.iter().map(|group| group.bars.len()).sum();
    if count == 0 {
        return Err(failed("there is nothing to draw".into()));
    }
    let room = f64::from(WIDTH - 2 * MARGIN);
    let notes: Vec<String> = notes.iter().flat_map(|note| wrapped(note, room, NOTE_SIZE)).collect();
    let rows = count as u32 * BAR_ROW + groups.len() as u32 * HEADING_ROW;
    let height = TITLE_HEIGHT + rows + MARGIN + notes.len() as u32 * NOTE_ROW + MARGIN / 2;
    let mut text = String::new();
    draw(title, groups, &notes, &mut text, height).map_err(|error| failed(error.to_string()))?;
    Ok(text)
}

fn draw(title: &str, groups: &[BarGroup], notes: &[String], text: &mut String, height: u32) -> Drawn {
    let area = SVGBackend::with_string(text, (WIDTH, height)).into_drawing_area();
    area.fill(&WHITE)?;
    let middle = ((WIDTH / 2) as i32, (TITLE_HEIGHT / 2) as i32);
    area.draw(&Text::new(title.to_owned(), middle, middle_of(TITLE_SIZE)))?;
    let name_style = ("sans-serif", LABEL_SIZE).into_font().color(&BLACK);
    let name_style = name_style.pos(Pos::new(HPos::Right, VPos::Center));
    let mut top = TITLE_HEIGHT as i32;
    for group in groups {
        let heading = (MARGIN as i32, top + HEADING_ROW as i32 / 2);
        area.draw(&Text::new(group.heading.clone(), heading, left(LABEL_SIZE + 1)))?;
        top += HEADING_ROW as i32;
        let greatest = group.bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
        for bar in &group.bars {
            let line = top + BAR_ROW as i32 / 2;
            // A pixel, where less would be nothing to see.
            let length = ((bar.value / greatest * f64::from(END - BEGIN)).round() as i32).max(1);
            let corners = [(BEGIN, line - 8), (BEGIN + length, line + 8)];
            area.draw(&Text::new(bar.name.clone(), (BEGIN - 10, line), name_style.clone()))?;
            area.draw(&Rectangle::new(corners, COLOURS[0].filled()))?;
            area.draw(&Text::new(bar.text.clone(), (BEGIN + length + 8, line), left(LABEL_SIZE)))?;
            top += BAR_ROW as i32;
        }
    }
    for (index, note) in notes.iter().enumerate() {
        let y = top + (MARGIN + index as u32 * NOTE_ROW) as i32;
        area.draw(&Text::new(note.clone(), (MARGIN as i32, y), left(NOTE_SIZE)))?;
    }
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, value: f64) -> Bar {
        Bar { name: name.into(), value, text: format!("{value} & more") }
    }

    #[test]
    fn bars_are_as_long_as_their_shares() {
        let bars_of = |values: &[f64]| BarGroup {
            heading: "sha256".into(),
            bars: values.iter().map(|value| bar("r8c", *value)).collect(),
        };
        let text = bars("Energy", &[bars_of(&[1.0, 4.0, 1e-9]), bars_of(&[2.0])], &[]).expect("a picture");
        let width = |line: &str| line.split(" width=\"").nth(1)?.split('"').next()?.parse::<i32>().ok();
        let widths: Vec<i32> =
            text.lines().filter(|line| line.starts_with("<rect")).filter_map(width).collect();
        let full = END - BEGIN;
        // The first one is the background.
        assert_eq!(widths[1..], [(full + 2) / 4, full, 1, full], "{text}");
        assert!(text.contains("4 &amp; more") && text.contains("sha256"), "{text}");
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        let error = bars("Energy", &[BarGroup { heading: "sha1".into(), bars: Vec::new() }], &[]);
        assert!(error.expect_err("no bar").to_string().contains("nothing to draw"));
    }
}
