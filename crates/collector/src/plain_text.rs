//! Texts that people give and others read: nothing in them is invisible, and nothing turns their
//! direction.

/// Says if a character is invisible, or changes its neighbours' order: controls, the controls of
/// bidirectional text, and the other default ignorable code points of Unicode 15
/// (`Default_Ignorable_Code_Point` in DerivedCoreProperties.txt) with separators of lines.
pub(crate) fn is_misleading(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Says if a character joins or parts its neighbours, or chooses their form, as Persian, Indic
/// scripts and emoji need it.
pub(crate) fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// A text by which something is told apart.
pub(crate) fn is_plain_name(text: &str) -> bool {
    !text.chars().any(is_misleading)
}

/// A text that is shown.
pub(crate) fn is_plain_label(text: &str) -> bool {
    !text.chars().any(|character| is_misleading(character) && !is_joiner(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bidirectional_controls_are_in_no_text() {
        let bidirectional = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        for character in bidirectional.chain(['\u{200e}', '\u{200f}', '\u{61c}']) {
            let text = format!("Flat {character}3");
            assert!(!is_plain_name(&text) && !is_plain_label(&text), "{text:?}");
        }
    }

    #[test]
    fn invisible_characters_are_in_no_text() {
        for character in
            ['\0', '\n', '\u{85}', '\u{ad}', '\u{200b}', '\u{2060}', '\u{3164}', '\u{feff}', '\u{e0041}']
        {
            let text = format!("Flat{character}3");
            assert!(!is_plain_name(&text) && !is_plain_label(&text), "{text:?}");
        }
    }

    #[test]
    fn letters_of_all_scripts_are_in_texts_and_joiners_in_labels() {
        for text in
            ["Flat 3", "Wohnung 3, Küche", "شقة ٣", "דירה 3", "公寓 3", "अपार्टमेंट", "e\u{301}tage", "🏠"]
        {
            assert!(is_plain_name(text) && is_plain_label(text), "{text:?}");
        }
        for text in ["می\u{200c}خانه", "☀\u{fe0f} roof", "👨\u{200d}👩\u{200d}👧"] {
            assert!(!is_plain_name(text) && is_plain_label(text), "{text:?}");
        }
    }
}
