//! The nearest name where there is none.

/// Returns the similarity of a candidate to the written name, from 0 up: case does not count, and a
/// slip of the fingers hardly does.
fn nearness(name: &str, candidate: &str) -> f64 {
    let (name, candidate) = (name.to_lowercase(), candidate.to_lowercase());
    let within = if candidate.contains(&name) || name.contains(&candidate) { 0.5 } else { 0.0 };
    let alike = strsim::jaro_winkler(&name, &candidate);
    // One letter of four that is wrong, missing, too many or in its neighbour's place; of short
    // names one of all.
    let slips = strsim::osa_distance(&name, &candidate);
    let is_slip = name.len() > 2 && slips <= (name.len() / 4).max(1);
    within + if is_slip { alike.max(0.9) } else { alike }
}

/// The sentence that follows "there is no ...": the nearest names, or all of them where they are
/// few.
#[must_use]
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut ranked: Vec<(f64, &str)> =
        known.into_iter().map(|candidate| (nearness(name, candidate), candidate)).collect();
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

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn case_and_slips_of_the_fingers_do_not_hide_a_name() {
        for (written, known, meant) in [
            ("SHA256", &["sha1", "sha256", "aes128-encrypt"][..], "sha256"),
            ("STM32F407", &["stm32f401", "stm32f407", "atmega328p"], "stm32f407"),
            ("fri", &["fir", "main", "checksum"], "fir"),
            ("mian", &["fir", "main"], "main"),
        ] {
            let said = suggestion(written, known.iter().copied());
            assert!(said.starts_with(&format!("; did you mean {meant}")), "{written}: {said}");
        }
        assert_eq!(suggestion("xy", ["ab", "cd"]), "; there are ab, cd");
    }
}
