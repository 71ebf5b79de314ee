//! Flame graphs of cycles.

use crate::LabError;
use crate::target::Target;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// Draws the lines `main;caller;callee cycles`; a static picture has no script.
///
/// # Errors
/// A sentence on lines that cannot be drawn.
pub(crate) fn svg(folded: &[String], title: String, is_static: bool) -> Result<String, String> {
    let mut options = inferno::flamegraph::Options::default();
    options.title = title;
    options.count_name = "cycles".into();
    options.font_type = "sans-serif".into();
    options.no_javascript = is_static;
    let mut svg = Vec::new();
    let drawn = inferno::flamegraph::from_lines(&mut options, folded.iter().map(String::as_str), &mut svg);
    drawn.map_err(|error| format!("no flame graph: {error}"))?;
    String::from_utf8(svg).map_err(|error| format!("no flame graph: {error}"))
}

/// Writes the flame graph of a run, where one is asked for.
pub(super) fn write(
    asked: Option<(File, &PathBuf)>,
    folded: &[String],
    target: &Target,
) -> Result<(), LabError> {
    let Some((mut file, path)) = asked else { return Ok(()) };
    let svg = svg(folded, format!("Cycles on {}", target.part.description), false)
        .map_err(|problem| LabError::BadFile { path: path.into(), problem })?;
    file.write_all(svg.as_bytes()).map_err(|error| LabError::File { path: path.into(), error })
}
