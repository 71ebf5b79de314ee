//! The text between a host and a board with JeeLib's RF12demo or what came of it (RFM12Pi, RFM69Pi,
//! emonPi), as emonHub's `EmonHubJeeInterfacer` reads and writes it.
//!
//! - Heard: `OK 79 8 1 2 ..`, decimal: the header of the packet, then its payload; behind them
//!   boards with an RFM69 say the strength, `(-61)`. Boards that hear all groups put `G210` before
//!   the header. Packets whose check sum is wrong begin with `?`.
//! - To send: `8,1,2,..,15s`, decimal: the payload, then the node. The board makes the header:
//!   `0x40 | node`. It says ` -> 24 b` when it has sent, or something with `Busy` where it gave up.
//!   Before that the next packet must not come: there is one buffer.
//!
//! The header is byte 0 of our packets: `0x40 | node` (docs/reference/protocol.md, "On an RFM12B"). Some
//! boards show of a header the node alone; then the bit that says "to" is put back.

use wire::meter::PACKET_BYTES_MAX;

/// The board is not to show packets whose check sum is wrong.
pub const QUIET: &str = "1q";
/// The longest line that means something: `OK G250 ` and 67 bytes and `(-127)`, with room.
pub const LINE_BYTES_MAX: usize = 512;
/// The header's bit that says "to this node", not "from".
const TO: u8 = 0x40;
/// The header's bits of the node.
const NODE: u8 = 0x1f;

/// A line of the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A packet was heard.
    Heard {
        /// Address first, at most [`PACKET_BYTES_MAX`].
        bytes: Vec<u8>,
        /// In dBm, where the board says it.
        rssi_dbm: Option<i8>,
    },
    /// The packet was sent.
    Sent,
    /// The packet was not sent: others are on the air.
    Busy,
    /// Nothing of use.
    Other,
}

/// Parses a line without its end. Any bytes.
#[must_use]
pub fn parse(line: &[u8]) -> Said {
    let Ok(line) = str::from_utf8(line) else { return Said::Other };
    let line = line.trim_matches(|c: char| c.is_ascii_whitespace());
    if line.contains("Busy") {
        return Said::Busy;
    }
    if line.contains("-> ack") {
        return Said::Other;
    }
    // `-> 24 b`, and `TX 1 -> 24 b` of later ones.
    if line.contains("-> ") && line.ends_with(" b") {
        return Said::Sent;
    }
    heard(line).unwrap_or(Said::Other)
}

fn heard(line: &str) -> Option<Said> {
    let mut words = line.strip_prefix("OK")?.split_ascii_whitespace().peekable();
    // `G210`, or `G 210` of the first ones.
    if let Some(group) = words.next_if(|word| word.starts_with('G'))
        && group.len() == 1
    {
        words.next()?;
    }
    let mut bytes = Vec::with_capacity(PACKET_BYTES_MAX);
    let mut rssi_dbm = None;
    while let Some(word) = words.next() {
        if let Some(strength) = word.strip_prefix('(') {
            let strength: i16 = strength.strip_suffix(')')?.parse().ok()?;
            // A board that cannot tell says 0.
            rssi_dbm = i8::try_from(strength).ok().filter(|dbm| *dbm < 0);
            if words.peek().is_some() {
                return None;
            }
            break;
        }
        if bytes.len() == PACKET_BYTES_MAX {
            return None;
        }
        bytes.push(byte(word)?);
    }
    let header = bytes.first_mut()?;
    if *header & !NODE == 0 {
        *header |= TO;
    }
    Some(Said::Heard { bytes, rssi_dbm })
}

/// A byte in decimal, without a sign.
fn byte(word: &str) -> Option<u8> {
    if word.len() > 3 || !word.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    word.parse().ok()
}

/// The text that has a packet sent, address first; `None` where it is for nobody that these boards
/// can reach.
#[must_use]
pub fn sending(packet: &[u8]) -> Option<String> {
    let (address, payload) = packet.split_first()?;
    let node = address & NODE;
    if address & !NODE != TO || node == 0 || payload.len() >= PACKET_BYTES_MAX {
        return None;
    }
    let mut text = String::with_capacity(4 * packet.len() + 1);
    for byte in payload {
        text += &byte.to_string();
        text.push(',');
    }
    text += &node.to_string();
    text.push('s');
    Some(text)
}

/// Cuts what comes into lines. It holds [`LINE_BYTES_MAX`] at most, or another limit: a longer line
/// is dropped to its end.
#[derive(Debug)]
pub struct Lines {
    bytes_max: usize,
    begun: Vec<u8>,
    /// The line is too long; the rest of it is passed over.
    over: bool,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines::up_to(LINE_BYTES_MAX)
    }
}

impl Lines {
    /// Lines of up to this length.
    #[must_use]
    pub fn up_to(bytes_max: usize) -> Lines {
        Lines { bytes_max, begun: Vec::new(), over: false }
    }

    /// Takes bytes, and hands out the lines that they end, without their ends.
    pub fn take(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\r' | b'\n')) {
            let (end, rest) = match piece.split_last() {
                Some((b'\r' | b'\n', rest)) => (true, rest),
                _ => (false, piece),
            };
            self.over |= self.begun.len() + rest.len() > self.bytes_max;
            if !self.over {
                self.begun.extend(rest);
            }
            if end {
                if !self.over && !self.begun.is_empty() {
                    line(&self.begun);
                }
                self.begun.clear();
                self.over = false;
            }
        }
    }

    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.begun.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(bytes: &[u8], rssi_dbm: Option<i8>) -> Said {
        Said::Heard { bytes: bytes.to_vec(), rssi_dbm }
    }

    /// Lines as boards write them: RF12demo.8 to .12, RFM69Pi, emonPi.
    #[test]
    fn lines_of_boards() {
        for (line, said) in [
            ("OK 79 8 1 2 255 0", packet(&[0x4f, 8, 1, 2, 255, 0], None)),
            ("OK 79 8 1 2 255 0 (-61) ", packet(&[0x4f, 8, 1, 2, 255, 0], Some(-61))),
            ("OK 79 8 (-0)", packet(&[0x4f, 8], None)),
            ("OK G210 79 8", packet(&[0x4f, 8], None)),
            ("OKG 210 79 8", packet(&[0x4f, 8], None)),
            // The node alone, as emonPi and RFM69Pi show it.
            ("OK 15 8 1 2 (-40)", packet(&[0x4f, 8, 1, 2], Some(-40))),
            // A packet with an acknowledgement bit is none of ours, and stays as it is.
            ("OK 111 8", packet(&[0x6f, 8], None)),
            (" -> 24 b", Said::Sent),
            ("TX 1 -> 24 b", Said::Sent),
            (" Busy", Said::Busy),
            ("TX Busy 0x20", Said::Busy),
            (" -> ack", Said::Other),
            ("> 15s", Said::Other),
            (" ? 79 8 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9", Said::Other),
            ("?  33 1 2", Said::Other),
            ("[RF12demo.12] A i15 g210 @ 433 MHz q1", Said::Other),
            ("OK", Said::Other),
            ("OK 256", Said::Other),
            ("OK -1", Said::Other),
            ("OK +1", Said::Other),
            ("OK 0079 8", Said::Other),
            ("OK 79 8 (-61", Said::Other),
            ("OK 79 8 (-61) 9", Said::Other),
            ("OK X4F08", Said::Other),
            ("79 8 1 2", Said::Other),
            ("", Said::Other),
        ] {
            assert_eq!(parse(line.as_bytes()), said, "{line}");
        }
        assert_eq!(parse(b"OK 79 \xff"), Said::Other);
        let most = format!("OK 79{}", " 255".repeat(60));
        assert!(matches!(parse(most.as_bytes()), Said::Heard { bytes, .. } if bytes.len() == 61));
        assert_eq!(parse(format!("{most} 1").as_bytes()), Said::Other);
    }

    #[test]
    fn sending_formats_a_line_or_refuses_the_packet() {
        assert_eq!(sending(&[0x42, 0x88, 3, 4, 255]).as_deref(), Some("136,3,4,255,2s"));
        for nobody in [&[][..], &[0x40, 1], &[0x02, 1], &[0x62, 1], &[0xc2, 1], &[0x42; 62]] {
            assert_eq!(sending(nobody), None, "{nobody:?}");
        }
    }

    #[test]
    fn a_line_that_does_not_end_is_dropped_whole() {
        let mut lines = Lines::default();
        let mut heard = Vec::new();
        let mut take = |bytes: &[u8]| lines.take(bytes, |line| heard.push(line.to_vec()));
        take(&[b'1'; LINE_BYTES_MAX]);
        take(b"1");
        take(&[b'1'; 10_000]);
        take(b"OK 1\r\nOK 2\r");
        take(b"\nOK");
        take(b" 3\n\n");
        assert_eq!(heard, [b"OK 2".to_vec(), b"OK 3".to_vec()]);
    }

    proptest! {
        #[test]
        fn bytes_in_any_pieces_yield_same_lines_within_bounds(
            bytes in prop::collection::vec(prop_oneof![4 => Just(b'1'), 1 => any::<u8>(), 1 => Just(b'\n')], 0..3000),
            cuts in prop::collection::vec(1..700usize, 1..20),
        ) {
            let (mut whole, mut pieces) = (Vec::new(), Vec::new());
            Lines::default().take(&bytes, |line| whole.push(line.to_vec()));
            let mut lines = Lines::default();
            let (mut rest, mut cuts) = (&bytes[..], cuts.iter().cycle());
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(*cuts.next().expect("endless")));
                lines.take(now, |line| pieces.push(line.to_vec()));
                prop_assert!(lines.held_bytes() <= LINE_BYTES_MAX);
                rest = later;
            }
            prop_assert_eq!(&whole, &pieces);
            for line in whole {
                let _ = parse(&line);
            }
        }

        #[test]
        fn any_text_is_no_packet_that_is_too_long(line in "(OK)?[ G()0-9,-]{0,300}") {
            if let Said::Heard { bytes, rssi_dbm } = parse(line.as_bytes()) {
                prop_assert!((1..=PACKET_BYTES_MAX).contains(&bytes.len()));
                prop_assert!(rssi_dbm.is_none_or(|dbm| dbm < 0));
            }
        }

        /// The sent line encodes the packet that the board would put on the air, by the parser in
        /// the firmware's source.
        #[test]
        fn sent_line_encodes_the_packet(node in 1..=31u8, payload in prop::collection::vec(any::<u8>(), 0..=60)) {
            let packet = [&[0x40 | node], &payload[..]].concat();
            let text = sending(&packet).expect("an RFM12B packet");
            let (mut value, mut stack) = (0u8, Vec::new());
            for c in text.bytes() {
                match c {
                    b'0'..=b'9' => value = value.wrapping_mul(10).wrapping_add(c - b'0'),
                    b',' => stack.push(std::mem::take(&mut value)),
                    _ => prop_assert_eq!(c, b's'),
                }
            }
            prop_assert_eq!([&[0x40 | value], &stack[..]].concat(), packet);
        }
    }
}
