//! Charts as SVG: light background, units on the axes, a legend that covers nothing, lines that
//! differ without colour.

mod bars;
mod boxes;
mod scale;

pub use bars::{Bar, BarGroup, bars};

use crate::LabError;
use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use scale::{Scale, Side};

/// Width of a chart, in pixels; what is beneath the axes adds to its height.
const WIDTH: u32 = 960;
/// Height of the axes with their labels.
const AXES_HEIGHT: u32 = 470;
const TITLE_HEIGHT: u32 = 44;
const LEGEND_ROW: u32 = 24;
const NOTE_ROW: u32 = 19;
/// Room left and right of legend and notes.
const MARGIN: u32 = 24;
/// A legend's piece of line.
const SAMPLE: u32 = 44;
const TITLE_SIZE: u32 = 20;
const LABEL_SIZE: u32 = 15;
const NOTE_SIZE: u32 = 13;
/// Width of a letter over the size of its font, on average over a line of text, rounded up.
const LETTER: f64 = 0.48;

/// Colours that differ for colour-blind readers, too, and on paper: Okabe and Ito, "Color Universal
/// Design" (2008).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The data, at least one point in all.
    pub series: Vec<Series>,
    /// Sentences beneath: where the data are from, what they do not say.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Its quantity: `clock`.
    pub label: String,
    /// Its unit: `MHz`; empty for pure numbers.
    pub unit: String,
    /// Logarithmic: only what is above zero can be shown.
    pub log: bool,
    /// True if the axis includes zero however far the data are away; not for logarithmic ones.
    pub from_zero: bool,
    /// Names of 0, 1, 2, ... where it counts things instead of measuring. Horizontal only; series
    /// then stand side by side, and no lines run from one thing to the next.
    pub names: Vec<String>,
}

impl Axis {
    #[must_use]
    pub fn linear(label: &str, unit: &str) -> Axis {
        Axis { label: label.into(), unit: unit.into(), ..Axis::default() }
    }

    #[must_use]
    pub fn log(label: &str, unit: &str) -> Axis {
        Axis { log: true, ..Axis::linear(label, unit) }
    }

    /// An axis of things.
    #[must_use]
    pub fn of(names: Vec<String>) -> Axis {
        Axis { names, ..Axis::default() }
    }

    fn caption(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{} in {}", self.label, self.unit) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Its points in the axes' units. One that is not finite breaks the line.
    pub points: Vec<(f64, f64)>,
    pub style: Style,
}

/// Style of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A line with a mark at each point.
    #[default]
    Line,
    /// Only a line: for many points, and for limits.
    Trace,
    /// Only marks.
    Marks,
    /// Boxes: five points at each place, the least, the quartiles with the median, the greatest.
    Boxes,
}

/// Draws a chart; the same chart gives the same text. Points that a logarithmic axis cannot show
/// are left out, and a sentence beneath says how many of which series.
///
/// # Errors
/// [`LabError::Chart`] if no point is left.
pub fn svg(chart: &Chart) -> Result<String, LabError> {
    let chart = &without_unplottable(chart);
    let failed = |problem: String| LabError::Chart { title: chart.title.clone(), problem };
    let scales = (Scale::of(chart, Side::X).map_err(failed)?, Scale::of(chart, Side::Y).map_err(failed)?);
    let legend = Legend::of(chart);
    let room = f64::from(WIDTH - 2 * MARGIN);
    let notes: Vec<String> = chart.notes.iter().flat_map(|note| wrapped(note, room, NOTE_SIZE)).collect();
    let height = TITLE_HEIGHT
        + AXES_HEIGHT
        + names_room(chart)
        + legend.rows() * LEGEND_ROW
        + notes.len() as u32 * NOTE_ROW
        + MARGIN;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        draw(chart, &scales, &legend, &notes, &area).map_err(|error| failed(error.to_string()))?;
    }
    Ok(text)
}

/// The chart without the points that its logarithmic axes cannot show.
fn without_unplottable(chart: &Chart) -> Chart {
    let mut chart = chart.clone();
    for series in &mut chart.series {
        let (x_log, y_log) = (chart.x.log, chart.y.log);
        let mut left_out = 0;
        for (x, y) in &mut series.points {
            if x_log && *x <= 0.0 || y_log && *y <= 0.0 {
                *y = f64::NAN;
                left_out += 1;
            }
        }
        if left_out > 0 {
            let points = if left_out == 1 { "1 point is".into() } else { format!("{left_out} points are") };
            chart.notes.push(format!(
                "{}: {points} left out; a logarithmic axis shows no value that is zero or less.",
                series.label
            ));
        }
    }
    chart
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw(chart: &Chart, scales: &(Scale, Scale), legend: &Legend, notes: &[String], area: &Area) -> Drawn {
    area.fill(&WHITE)?;
    let middle = ((WIDTH / 2) as i32, (TITLE_HEIGHT / 2) as i32);
    area.draw(&Text::new(chart.title.clone(), middle, middle_of(TITLE_SIZE)))?;
    let (_, below) = area.split_vertically(TITLE_HEIGHT);
    let (axes, below) = below.split_vertically(AXES_HEIGHT + names_room(chart));
    draw_axes(chart, scales, &axes)?;
    let (entries, below) = below.split_vertically(legend.rows() * LEGEND_ROW);
    for (index, series) in chart.series.iter().enumerate() {
        let (x, y) = legend.place(index);
        let middle = x + SAMPLE as i32 / 2;
        if series.style == Style::Boxes {
            boxes::draw(&entries, index, &boxes::sample((middle, y)))?;
            entries.draw(&Text::new(series.label.clone(), (x + SAMPLE as i32 + 8, y), left(LABEL_SIZE)))?;
            continue;
        }
        if series.style != Style::Marks && chart.x.names.is_empty() {
            draw_line(&entries, index, vec![(x, y), (x + SAMPLE as i32, y)])?;
        }
        if series.style != Style::Trace || !chart.x.names.is_empty() {
            entries.draw(&mark(index, (middle, y)))?;
        }
        entries.draw(&Text::new(series.label.clone(), (x + SAMPLE as i32 + 8, y), left(LABEL_SIZE)))?;
    }
    for (index, note) in notes.iter().enumerate() {
        let y = index as u32 * NOTE_ROW + NOTE_ROW / 2 + 4;
        below.draw(&Text::new(note.clone(), (MARGIN as i32, y as i32), left(NOTE_SIZE)))?;
    }
    area.present()?;
    Ok(())
}

fn left(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center))
}

fn middle_of(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Center))
}

fn draw_axes(chart: &Chart, (x, y): &(Scale, Scale), area: &Area) -> Drawn {
    let mut builder = ChartBuilder::on(area);
    builder
        .margin_left(10)
        .margin_right(MARGIN)
        .x_label_area_size(54 + names_room(chart))
        .margin_bottom(10)
        .y_label_area_size(84);
    let mut axes = builder.build_cartesian_2d(x.clone(), y.clone())?;
    axes.configure_mesh()
        .x_desc(chart.x.caption())
        .y_desc(chart.y.caption())
        // Names stand in lines of their own.
        .x_label_formatter(&|at| if chart.x.names.is_empty() { x.format_ext(at) } else { String::new() })
        .x_max_light_lines(0)
        .y_max_light_lines(0)
        .bold_line_style(RGBColor(0xdd, 0xdd, 0xdd))
        .label_style(("sans-serif", LABEL_SIZE).into_font())
        .axis_desc_style(("sans-serif", LABEL_SIZE + 1).into_font())
        .draw()?;
    let plane = axes.plotting_area();
    let root = area.strip_coord_spec().use_screen_coord();
    let room = name_width(chart);
    for (index, name) in chart.x.names.iter().enumerate() {
        let (middle, bottom) = plane.map_coordinate(&(index as f64, y.low));
        let first = if are_staggered(chart) { index % 2 } else { 0 };
        for (row, line) in (first..).zip(wrapped(name, room, LABEL_SIZE)) {
            let below = bottom + 16 + (row as u32 * NOTE_ROW) as i32;
            root.draw(&Text::new(line, (middle, below), middle_of(LABEL_SIZE)))?;
        }
    }
    for (index, series) in chart.series.iter().enumerate() {
        let step = 0.7 / chart.series.len() as f64;
        let aside = match chart.x.names.is_empty() {
            true => 0.0,
            false => (index as f64 - (chart.series.len() - 1) as f64 / 2.0) * step,
        };
        let pixel = |&(at, value): &(f64, f64)| {
            let finite = at.is_finite() && value.is_finite();
            finite.then(|| plane.map_coordinate(&(at + aside, value)))
        };
        // In pixels, so that dashes are as long on every axis.
        let mut pixels: Vec<Option<(i32, i32)>> = series.points.iter().map(pixel).collect();
        if series.style != Style::Boxes {
            pixels.dedup();
        }
        if series.style != Style::Marks && chart.x.names.is_empty() {
            for line in pixels.split(Option::is_none).filter(|line| line.len() > 1) {
                draw_line(&root, index, line.iter().copied().flatten().collect())?;
            }
        }
        if series.style == Style::Boxes {
            boxes::draw(&root, index, &pixels)?;
        } else if series.style != Style::Trace || !chart.x.names.is_empty() {
            for at in pixels.into_iter().flatten() {
                root.draw(&mark(index, at))?;
            }
        }
    }
    Ok(())
}

/// The width of a name beneath the axis, in pixels.
fn name_width(chart: &Chart) -> f64 {
    f64::from(WIDTH - 84 - MARGIN) / chart.x.names.len().max(1) as f64
}

/// Returns true if every second name stands a line lower, because one of them is wider than its
/// room.
fn are_staggered(chart: &Chart) -> bool {
    let room = letters(name_width(chart), LABEL_SIZE);
    chart.x.names.iter().flat_map(|name| name.split_whitespace()).any(|word| word.chars().count() > room)
}

/// Height of the names beneath the axis besides the two lines that there is room for, in pixels.
fn names_room(chart: &Chart) -> u32 {
    let width = name_width(chart);
    let lines = chart.x.names.iter().map(|name| wrapped(name, width, LABEL_SIZE).len()).max().unwrap_or(0);
    (lines as u32 + u32::from(are_staggered(chart))).saturating_sub(2) * NOTE_ROW
}

/// A line in the colour and the dashes of a series.
fn draw_line(area: &Area, index: usize, points: Vec<(i32, i32)>) -> Drawn {
    let style = COLOURS[index % COLOURS.len()].stroke_width(2);
    // Every colour but the first has its own dashes, solid being the first of four.
    let (dash, gap) = [(0, 0), (10, 5), (3, 4), (18, 5)][index % 4];
    if dash == 0 {
        area.draw(&PathElement::new(points, style))?;
    } else {
        area.draw(&DashedPathElement::new(points, dash, gap, style))?;
    }
    Ok(())
}

/// The mark of a series: seven colours and six forms.
fn mark<'a>(index: usize, at: (i32, i32)) -> DynElement<'a, SVGBackend<'a>, (i32, i32)> {
    let colour = COLOURS[index % COLOURS.len()];
    let line = colour.stroke_width(2);
    let place = EmptyElement::at(at);
    match index % 6 {
        0 => (place + Circle::new((0, 0), 5, colour.filled())).into_dyn(),
        1 => (place + Rectangle::new([(-5, -5), (5, 5)], line)).into_dyn(),
        2 => (place + Polygon::new(vec![(0, -6), (6, 5), (-6, 5)], colour.filled())).into_dyn(),
        3 => (place + Cross::new((0, 0), 5, line)).into_dyn(),
        4 => (place + PathElement::new(vec![(0, -7), (7, 0), (0, 7), (-7, 0), (0, -7)], line)).into_dyn(),
        _ => (place + Circle::new((0, 0), 5, line)).into_dyn(),
    }
}

/// The entries' places beneath the axes, in columns as wide as the longest.
struct Legend {
    entries: usize,
    columns: usize,
}

impl Legend {
    fn of(chart: &Chart) -> Legend {
        let longest = chart.series.iter().map(|series| series.label.chars().count()).max().unwrap_or(0);
        let width = f64::from(SAMPLE + 36) + longest as f64 * LETTER * f64::from(LABEL_SIZE);
        let columns = (f64::from(WIDTH - 2 * MARGIN) / width).floor().max(1.0) as usize;
        Legend { entries: chart.series.len(), columns: columns.min(chart.series.len()).max(1) }
    }

    fn rows(&self) -> u32 {
        self.entries.div_ceil(self.columns) as u32
    }

    /// Returns an entry's left edge and the middle of its height.
    fn place(&self, index: usize) -> (i32, i32) {
        let column = (WIDTH - 2 * MARGIN) as usize / self.columns * (index % self.columns);
        let row = (index / self.columns) as u32 * LEGEND_ROW + LEGEND_ROW / 2;
        (MARGIN as i32 + column as i32, row as i32)
    }
}

/// Number of letters that fit into `width` pixels.
fn letters(width: f64, size: u32) -> usize {
    (width / (LETTER * f64::from(size))) as usize
}

/// Wraps a text into lines of at most `width` pixels, longer words excepted.
fn wrapped(text: &str, width: f64, size: u32) -> Vec<String> {
    output::wrapped(text, letters(width, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> Chart {
        Chart {
            title: "Energy of a signature".into(),
            x: Axis::log("clock", "MHz"),
            y: Axis::linear("energy", "mJ"),
            series: vec![Series { label: "2.7 V & <more>".into(), points, style: Style::Line }],
            notes: vec!["From the data sheet.".into()],
        }
    }

    #[test]
    fn a_chart_says_what_its_axes_are() {
        let text = svg(&chart(vec![(1.0, 2.5), (25.0, 0.5)])).expect("a chart");
        for part in [
            "Energy of a signature",
            "clock in MHz",
            "energy in mJ",
            "2.7 V &amp; &lt;more&gt;",
            "From the data",
        ] {
            assert!(text.contains(part), "{part} is missing");
        }
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn names_wider_than_their_room_stand_a_line_lower_by_turns() {
        let lines = |name: &str| {
            let names = vec![name.to_owned(); 13];
            let text = svg(&Chart { x: Axis::of(names), ..chart(vec![(0.0, 1.0)]) }).expect("a chart");
            let heights = text.lines().zip(text.lines().skip(1)).filter(|(_, line)| line.trim() == name);
            let heights =
                heights.map(|(tag, _)| tag.split(" y=\"").nth(1).expect("a place").split('"').next());
            let heights: Vec<_> = heights.flatten().map(str::to_owned).collect();
            assert_eq!(heights.len(), 13);
            heights.iter().collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!((lines("stm32f407"), lines("msp430f5438a")), (1, 2));
    }

    #[test]
    fn undrawable_chart_is_an_error_with_its_reason() {
        let refused = |points| svg(&chart(points)).expect_err("no chart").to_string();
        assert!(refused(vec![]).contains("no points"));
        assert!(refused(vec![(f64::NAN, 1.0)]).contains("no points"));
        assert!(refused(vec![(0.0, 1.0)]).contains("no points"));
    }

    #[test]
    fn logarithmic_axis_leaves_out_points_and_says_so() {
        let text = svg(&chart(vec![(0.0, 1.0), (-1.0, 1.0), (2.0, 1.0)])).expect("a chart of the rest");
        assert!(text.contains("2 points are left out"), "{text}");
        assert!(!svg(&chart(vec![(2.0, 0.0)])).expect("a chart").contains("left out"));
    }

    #[test]
    fn one_point_alone_is_a_chart() {
        assert!(svg(&chart(vec![(5.0, 0.0)])).is_ok());
    }

    #[test]
    fn names_of_many_lines_have_room_above_the_legend() {
        let named = |name: &str| {
            let x = Axis::of([name; 9].map(str::to_owned).into());
            names_room(&Chart { x, ..chart(vec![(0.0, 1.0)]) })
        };
        assert_eq!(named("M0"), 0);
        assert_eq!(named("ATmega128L, 255 bits, sign and verify"), 2 * NOTE_ROW);
    }

    #[test]
    fn notes_break_between_words() {
        let note = "word ".repeat(100);
        let lines = wrapped(&note, 912.0, NOTE_SIZE);
        assert!(lines.len() > 3 && lines.iter().all(|line| line.len() < 160));
        assert_eq!(lines.join(" "), note.trim());
    }
}
