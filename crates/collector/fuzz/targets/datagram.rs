//! A UDP datagram: any bytes are a packet or nothing, and a packet's datagram is the same bytes
//! again.
#![no_main]

use collector::gateway::udp;
use libfuzzer_sys::fuzz_target;
use wire::meter::Packet;

fuzz_target!(|bytes: &[u8]| {
    let Some((packet, rssi_dbm)) = udp::parse(bytes) else { return };
    assert_eq!(udp::datagram(packet, rssi_dbm).as_deref(), Some(bytes));
    let _ = Packet::parse(packet);
});
