//! Several ports at one standard output: each keeps its lines whole.
//!
//! RTT's buffers are fetched now and then, so the end of a line may come later than its beginning,
//! and what leaves elsewhere meanwhile waits for it. A line that does not go on, such as a prompt,
//! holds up nobody for long.

use std::ops::ControlFlow;

/// Number of looks after which a line that has not grown waits for something else: input, or that
/// the program goes on.
const PATIENCE: u32 = 2;

/// Output by port, on its way out.
#[derive(Default)]
pub(crate) struct Lines {
    /// The port whose line has begun and not ended.
    open: Option<String>,
    /// Output of other ports meanwhile, the earliest first.
    held: Vec<(String, Vec<u8>)>,
    /// Looks since that line has grown, while others wait for it.
    still: u32,
}

type Out<'a> = &'a mut dyn FnMut(&str, &[u8]) -> ControlFlow<()>;

impl Lines {
    /// These bytes have left by a port.
    pub fn pass(&mut self, port: &str, bytes: &[u8], out: Out<'_>) -> ControlFlow<()> {
        if self.open.as_deref().is_some_and(|open| open != port) {
            match self.held.iter_mut().find(|held| held.0 == port) {
                Some(held) => held.1.extend(bytes),
                None => self.held.push((port.into(), bytes.into())),
            }
            return ControlFlow::Continue(());
        }
        self.still = 0;
        // Waiting output goes on where the line ends.
        let ends = if self.held.is_empty() { None } else { bytes.iter().position(|byte| *byte == b'\n') };
        let (now, later) = bytes.split_at(ends.map_or(bytes.len(), |end| end + 1));
        out(port, now)?;
        self.open = now.last().filter(|byte| **byte != b'\n').map(|_| port.into());
        if self.open.is_none() {
            self.release(out)?;
        }
        if later.is_empty() { ControlFlow::Continue(()) } else { self.pass(port, later, out) }
    }

    /// All ports have been looked at.
    pub fn looked(&mut self, out: Out<'_>) -> ControlFlow<()> {
        if self.held.is_empty() {
            return ControlFlow::Continue(());
        }
        self.still += 1;
        if self.still <= PATIENCE {
            return ControlFlow::Continue(());
        }
        self.open = None;
        self.release(out)
    }

    /// The run has ended.
    pub fn finish(&mut self, out: Out<'_>) -> ControlFlow<()> {
        while !self.held.is_empty() {
            self.open = None;
            self.release(out)?;
        }
        ControlFlow::Continue(())
    }

    fn release(&mut self, out: Out<'_>) -> ControlFlow<()> {
        for (port, bytes) in std::mem::take(&mut self.held) {
            self.pass(&port, &bytes, out)?;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, PATIENCE};
    use std::ops::ControlFlow;

    /// Output of these pieces, with looks where a piece has no port, and at the end.
    fn passed(pieces: &[(&str, &str)]) -> String {
        let (mut lines, mut all) = (Lines::default(), Vec::new());
        let mut out = |_: &str, bytes: &[u8]| {
            all.extend(bytes);
            ControlFlow::Continue(())
        };
        for (port, text) in pieces {
            let flow = if port.is_empty() {
                lines.looked(&mut out)
            } else {
                lines.pass(port, text.as_bytes(), &mut out)
            };
            assert!(flow.is_continue());
        }
        assert!(lines.finish(&mut out).is_continue());
        String::from_utf8(all).expect("text")
    }

    #[test]
    fn a_line_is_whole_before_another_port_speaks() {
        let pieces = [("A", "one "), ("B", "two\nthr"), ("A", "line\nnext "), ("B", "ee\n"), ("A", "one\n")];
        assert_eq!(passed(&pieces), "one line\ntwo\nthree\nnext one\n");
        assert_eq!(passed(&[("A", "a"), ("A", "b\nc"), ("A", "d\n")]), "ab\ncd\n");
    }

    #[test]
    fn a_prompt_holds_up_nobody_for_long() {
        let pieces = [("A", "> "), ("B", "said\n")];
        let looks = vec![("", ""); PATIENCE as usize + 1];
        let all = [&pieces[..], &looks, &[("A", "x\n")]].concat();
        assert_eq!(passed(&all), "> said\nx\n");
        assert_eq!(
            passed(&[("A", "> "), ("B", "said"), ("C", "more")]),
            "> saidmore",
            "all of it at the end"
        );
    }
}
