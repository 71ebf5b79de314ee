//! Boxes of a box plot: from quartile to quartile with the median, and whiskers to the least and
//! the greatest.

use super::{Area, COLOURS, Drawn};
use plotters::prelude::*;

/// Points of a box.
const POINTS: usize = 5;
/// Half of a box's width, and of a whisker's end, in pixels.
const HALF: i32 = 14;
const END: i32 = 7;

/// Points of the box in a legend.
pub(super) fn sample((x, y): (i32, i32)) -> [Option<(i32, i32)>; POINTS] {
    [9, 5, 0, -5, -9].map(|below| Some((x, y + below)))
}

/// Draws a box for each five points; one that lacks a point is left out.
pub(super) fn draw(area: &Area, index: usize, points: &[Option<(i32, i32)>]) -> Drawn {
    let style = COLOURS[index % COLOURS.len()].stroke_width(2);
    for group in points.chunks_exact(POINTS) {
        let [Some((x, least)), Some((_, lower)), Some((_, median)), Some((_, upper)), Some((_, most))] =
            *group
        else {
            continue;
        };
        area.draw(&Rectangle::new([(x - HALF, upper), (x + HALF, lower)], style))?;
        let lines = [
            vec![(x, least), (x, lower)],
            vec![(x, upper), (x, most)],
            vec![(x - HALF, median), (x + HALF, median)],
            vec![(x - END, least), (x + END, least)],
            vec![(x - END, most), (x + END, most)],
        ];
        for line in lines {
            area.draw(&PathElement::new(line, style))?;
        }
    }
    Ok(())
}
