//! Names that a user types: patterns, and the nearest name when there is none.

use crate::LabError;
use fast_glob::glob_match;
pub use firmware::suggestion;

/// Returns the known names that a pattern matches (`*`, `?`, `[..]`, `{a,b}`), in their own order;
/// all of them where there is no pattern.
///
/// # Errors
/// [`LabError::UnknownName`] for a pattern that matches nothing; one that is malformed never does.
pub fn select<'a>(
    what: &'static str,
    patterns: &[String],
    known: &[&'a str],
) -> Result<Vec<&'a str>, LabError> {
    let mut chosen = vec![patterns.is_empty(); known.len()];
    for pattern in patterns {
        let mut found = false;
        for (mark, name) in chosen.iter_mut().zip(known) {
            if glob_match(pattern, name) {
                *mark = true;
                found = true;
            }
        }
        if !found {
            let suggestion = suggestion(pattern, known.iter().copied());
            return Err(LabError::UnknownName { what, name: pattern.clone(), suggestion });
        }
    }
    Ok(known.iter().zip(chosen).filter(|(_, mark)| *mark).map(|(name, _)| *name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGETS: [&str; 3] = ["atmega328p", "atmega128l", "stm32f407"];

    #[test]
    fn patterns_choose_in_the_order_of_the_list() {
        let chosen = select("target", &["stm*".into(), "atmega?28l".into()], &TARGETS).unwrap();
        assert_eq!(chosen, ["atmega128l", "stm32f407"]);
        assert_eq!(select("target", &[], &TARGETS).unwrap(), TARGETS);
    }

    #[test]
    fn a_slip_of_the_finger_names_its_neighbour() {
        let error = select("target", &["atmega382p".into()], &TARGETS).unwrap_err();
        assert!(error.is_usage());
        assert!(error.to_string().contains("did you mean atmega328p"), "{error}");
    }

    #[test]
    fn a_name_like_no_other_lists_what_there_is() {
        let error = select("target", &["qq".into()], &TARGETS).unwrap_err().to_string();
        assert_eq!(error, "there is no target 'qq'; there are atmega128l, atmega328p, stm32f407");
    }

    #[test]
    fn a_malformed_pattern_is_an_error_of_usage() {
        assert!(select("target", &["[".into()], &TARGETS).unwrap_err().is_usage());
    }
}
