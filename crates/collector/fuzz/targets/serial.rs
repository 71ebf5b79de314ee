//! The lines of a serial port: any bytes are lines within bounds, in any pieces, and a line is a
//! packet that a radio can have brought, or nothing. A board reads the sent line as the same
//! packet.
#![no_main]

use collector::gateway::serial::text::{LINE_BYTES_MAX, Lines, Said, parse, sending};
use libfuzzer_sys::fuzz_target;
use wire::meter::{PACKET_BYTES_MAX, Packet};

fuzz_target!(|bytes: &[u8]| {
    let Some((cut, bytes)) = bytes.split_first() else { return };
    let mut lines = Lines::default();
    for piece in bytes.chunks(usize::from(*cut).max(1)) {
        lines.take(piece, |line| {
            assert!(line.len() <= LINE_BYTES_MAX);
            let Said::Heard { bytes, .. } = parse(line) else { return };
            assert!((1..=PACKET_BYTES_MAX).contains(&bytes.len()));
            let _ = Packet::parse(&bytes);
            // Sent by the host, it is a line of decimal numbers that a board hears with its own
            // header.
            if let Some(text) = sending(&bytes) {
                let (payload, node) = text.strip_suffix('s').and_then(|text| text.rsplit_once(',')).unwrap_or(("", "0"));
                let heard = format!("OK {} {}", 0x40 | node.parse::<u8>().unwrap_or(0), payload.replace(',', " "));
                if !payload.is_empty() {
                    assert_eq!(parse(heard.as_bytes()), Said::Heard { bytes, rssi_dbm: None });
                }
            }
        });
        assert!(lines.held_bytes() <= LINE_BYTES_MAX);
    }
});
