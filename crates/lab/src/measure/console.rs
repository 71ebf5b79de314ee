//! Output of the program's UARTs, trace port and semihosting, line by line.

use std::collections::BTreeMap;
use std::io::Write;

/// A line that is longer is written in pieces.
const MOST_BYTES: usize = 1024;

/// Writes each line as it is complete, behind its port's name.
pub(super) struct Console<'a> {
    lines: BTreeMap<String, Vec<u8>>,
    out: &'a mut dyn Write,
}

impl<'a> Console<'a> {
    pub fn new(out: &'a mut dyn Write) -> Console<'a> {
        Console { lines: BTreeMap::new(), out }
    }

    pub fn take(&mut self, port: &str, byte: u8) {
        if !self.lines.contains_key(port) {
            self.lines.insert(port.into(), Vec::new());
        }
        let Some(line) = self.lines.get_mut(port) else { return };
        if byte != b'\n' {
            line.push(byte);
        }
        if byte == b'\n' || line.len() == MOST_BYTES {
            write_line(&mut *self.out, port, line);
            line.clear();
        }
    }

    /// Writes what was not ended by a line feed.
    pub fn finish(mut self) {
        for (port, line) in std::mem::take(&mut self.lines) {
            if !line.is_empty() {
                write_line(self.out, &port, &line);
            }
        }
    }
}

/// Control characters are escaped: a program must not speak to the user's terminal.
fn write_line(out: &mut dyn Write, port: &str, line: &[u8]) {
    let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() && letter != '\t' {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    // The measurement goes on where nobody listens any more.
    let _ = writeln!(out, "{port}: {shown}");
}

#[cfg(test)]
mod tests {
    use super::Console;

    #[test]
    fn console_lines_have_their_port_and_no_control_characters() {
        let mut out = Vec::new();
        let mut console = Console::new(&mut out);
        for (port, text) in
            [("USART1", "one\r"), ("ITM.0", "\x1b[2Jx\n"), ("USART1", "\n\ntw"), ("USART1", "o")]
        {
            text.bytes().for_each(|byte| console.take(port, byte));
        }
        console.finish();
        assert_eq!(String::from_utf8_lossy(&out), "ITM.0: \\u{1b}[2Jx\nUSART1: one\nUSART1: \nUSART1: two\n");
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_memory() {
        let mut out = Vec::new();
        let mut console = Console::new(&mut out);
        (0..2 * super::MOST_BYTES).for_each(|_| console.take("U", b'a'));
        assert!(console.lines["U"].is_empty());
        console.finish();
        assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 2);
    }
}
