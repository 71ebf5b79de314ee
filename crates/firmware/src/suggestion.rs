//! The nearest name where there is none.

/// The sentence that follows "there is no ...": the nearest names, or all of them where they are few.
#[must_use]
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut ranked: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| {
            let within = if candidate.contains(name) || name.contains(candidate) { 0.5 } else { 0.0 };
            (strsim::jaro_winkler(name, candidate) + within, candidate)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    ranked.dedup_by(|a, b| a.1 == b.1);
    let near: Vec<&str> = ranked.iter().filter(|(score, _)| *score > 0.75).take(4).map(|row| row.1).collect();
    if !near.is_empty() {
        return format!("; did you mean {}?", near.join(", "));
    }
    let mut all: Vec<&str> = ranked.iter().map(|row| row.1).collect();
    all.sort_unstable();
    match all.len() {
        0 => String::new(),
        1..=16 => format!("; there are {}", all.join(", ")),
        count => format!("; there are {count}, among them {}", all[..8].join(", ")),
    }
}
