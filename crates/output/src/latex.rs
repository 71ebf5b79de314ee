//! Texts and tables for LaTeX, for a document of class `article` without packages.

/// A text that means nothing else to LaTeX, in ASCII and the letters of Latin-1.
#[must_use]
pub fn latex_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => escaped += "\\textbackslash{}",
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => escaped.extend(['\\', letter]),
            '<' | '>' | '|' => escaped.extend(['$', letter, '$']),
            // Behind the end of a row they would begin its option.
            '[' | ']' | '*' => escaped.extend(['{', letter, '}']),
            // No ligature makes a dash of two of them.
            '-' => escaped += "-{}",
            '"' => escaped += "''",
            '–' => escaped += "--{}",
            '—' => escaped += "---{}",
            '−' => escaped += "$-$",
            '×' => escaped += "$\\times$",
            '÷' => escaped += "$\\div$",
            '·' => escaped += "$\\cdot$",
            '±' => escaped += "$\\pm$",
            '≤' => escaped += "$\\le$",
            '≥' => escaped += "$\\ge$",
            '≈' => escaped += "$\\approx$",
            'µ' | 'μ' => escaped += "$\\mu$",
            'Ω' => escaped += "$\\Omega$",
            '†' => escaped += "$\\dagger$",
            '‡' => escaped += "$\\ddagger$",
            '§' => escaped += "{\\S}",
            '°' => escaped += "$^\\circ$",
            '²' => escaped += "$^2$",
            '’' => escaped.push('\''),
            '“' | '”' => escaped += "''",
            '…' => escaped += "...",
            '\n' | '\t' => escaped.push(' '),
            // `article` may have no glyph for any other letter.
            _ if !letter.is_ascii() && !is_latin1_letter(letter) => escaped.push('?'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

fn is_latin1_letter(letter: char) -> bool {
    matches!(letter, 'À'..='ÿ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_letters_mean_nothing_to_latex() {
        assert_eq!(
            latex_text("a_b & 5 % of $x^2 #{1}\\"),
            "a\\_b \\& 5 \\% of \\$x\\textasciicircum{}2 \\#\\{1\\}\\textbackslash{}"
        );
        assert_eq!(latex_text("[18] 3 µs ~ –"), "{[}18{]} 3 $\\mu$s \\textasciitilde{} --{}");
    }
}
