//! The lines of a program that counts its own cycles:
//!
//! - `ws-begin`
//! - `ws-row aes128-encrypt 812`
//! - `ws-row sha256-block 3150`
//! - `ws-end 2`
//!
//! Rounds follow each other for ever, so that it does not matter when somebody begins to listen. A
//! round counts where it has as many rows as it says. All other lines are passed over.

use crate::LabError;

/// More than any line of a round has.
const LONGEST_LINE: usize = 200;

/// A row's cycles over several rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    pub name: String,
    /// In the last round.
    pub cycles: u64,
    /// Difference between the most and the fewest of any round.
    pub spread: u64,
}

/// Rounds, as their bytes come.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    line: Vec<u8>,
    /// The rows of the round under way; none before the first one begins.
    current: Option<Vec<(String, u64)>>,
    complete: Vec<Vec<(String, u64)>>,
    /// Rounds that began.
    begun: usize,
    bytes: usize,
}

impl Rounds {
    /// Takes bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        for byte in bytes {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                self.take_line(String::from_utf8_lossy(&line).trim());
            } else if self.line.len() < LONGEST_LINE {
                self.line.push(*byte);
            }
        }
    }

    fn take_line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["ws-begin"] => {
                self.begun += 1;
                self.current = Some(Vec::new());
            }
            ["ws-row", name, cycles] => match (&mut self.current, cycles.parse()) {
                (Some(rows), Ok(cycles)) => rows.push((name.into(), cycles)),
                // A byte was lost: the round is not to be trusted.
                _ => self.current = None,
            },
            ["ws-end", count] => {
                if let Some(rows) = self.current.take()
                    && count.parse() == Ok(rows.len())
                    && !rows.is_empty()
                {
                    self.complete.push(rows);
                }
            }
            _ => {}
        }
    }

    /// The rounds that came whole.
    #[must_use]
    pub fn complete(&self) -> &[Vec<(String, u64)>] {
        &self.complete
    }

    /// A sentence about a board from which too few rounds came, with what to look at.
    pub(super) fn shortage(&self, wanted: usize, why: &str) -> String {
        let (complete, begun, bytes) = (self.complete.len(), self.begun, self.bytes);
        match bytes {
            0 => {
                return format!(
                    "the board sent nothing, {why}: look at its port, and that it runs this program"
                );
            }
            _ if begun == 0 => {
                return format!(
                    "the board sent {bytes} bytes, {why}, and no line ws-begin among them: look at --baud, and that it runs this program"
                );
            }
            _ => {}
        }
        let came = format!("{complete} of {wanted} rounds came whole from the board, {why}");
        // The last one may still be under way.
        match begun.saturating_sub(complete) {
            0 | 1 => format!("{came}: listen for longer, or give --rounds {}", complete.max(1)),
            broken => format!(
                "{came}; {broken} others lack rows or have wrong ones: bytes are lost on the way, so look at --baud and the line"
            ),
        }
    }

    /// The rows of the first `rounds` rounds.
    ///
    /// # Errors
    /// Rounds whose rows differ, or with a name twice.
    pub(super) fn counted(&self, rounds: usize) -> Result<Vec<Counted>, LabError> {
        let rounds = &self.complete[..rounds.min(self.complete.len())];
        let Some(last) = rounds.last() else { return Ok(Vec::new()) };
        let names = |round: &[(String, u64)]| round.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let mut sorted = names(last);
        sorted.sort();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(LabError::Unfinished(format!(
                "a round has the row {} twice; give each a name",
                twice[0]
            )));
        }
        if let Some(other) = rounds.iter().find(|round| names(round) != names(last)) {
            return Err(LabError::Unfinished(format!(
                "the rounds differ in their rows: {} and {}",
                names(other).join(", "),
                names(last).join(", ")
            )));
        }
        let counted = |(at, (name, cycles)): (usize, &(String, u64))| {
            let all = || rounds.iter().map(|round| round[at].1);
            let spread = all().max().unwrap_or(0) - all().min().unwrap_or(0);
            Counted { name: name.clone(), cycles: *cycles, spread }
        };
        Ok(last.iter().enumerate().map(counted).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(text: &str) -> Rounds {
        let mut rounds = Rounds::default();
        rounds.take(text.as_bytes());
        rounds
    }

    #[test]
    fn rows_of_whole_rounds_are_counted() {
        let text = "ow b 3\r\nws-end 2\r\nhello\r\nws-begin\r\nws-row a 10\r\nws-row b 20\r\nws-end 2\r\n\
                    ws-begin\r\nws-row a 12\r\nws-row b 20\r\nws-end 2\r\nws-begin\r\nws-row a 99";
        let counted = rounds(text).counted(2).expect("two rounds");
        let row = |name: &str, cycles, spread| Counted { name: name.into(), cycles, spread };
        assert_eq!(counted, [row("a", 12, 2), row("b", 20, 0)]);
        assert_eq!(rounds(text).complete().len(), 2);
    }

    #[test]
    fn round_with_a_lost_line_is_left_out() {
        for text in [
            "ws-begin\nws-row a 1\nws-end 2\n",
            "ws-begin\nws-row a 1\nws-rw b 2\nws-end 2\n",
            "ws-begin\nws-row a 1x\nws-row b 2\nws-end 1\n",
            "ws-row a 1\nws-end 1\n",
            "ws-begin\nws-end 0\n",
        ] {
            assert_eq!(rounds(text).complete().len(), 0, "{text}");
        }
    }

    #[test]
    fn rounds_with_other_rows_are_refused() {
        let twice = "ws-begin\nws-row a 1\nws-row a 2\nws-end 2\n";
        assert!(rounds(twice).counted(1).expect_err("a twice").to_string().contains("row a twice"));
        let others = "ws-begin\nws-row a 1\nws-end 1\nws-begin\nws-row b 1\nws-end 1\n";
        assert!(rounds(others).counted(2).expect_err("a and b").to_string().contains("a and b"));
    }
}
