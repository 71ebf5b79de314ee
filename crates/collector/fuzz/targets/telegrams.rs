//! Wireless M-Bus: any bytes as a receiver's line, a module's serial line, a frame, and records.
//! Nothing is authenticated, and memory keeps its bounds from one input to the next.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::{LazyLock, Mutex};
use wire::wireless_mbus::{
    Datagram, FormatCache, Frame, FrameFormat, MESSAGE_BYTES_MAX, MeterKey, ModuleFrames, RadioModule, Reassembly,
    ReceivedFrame, Records,
};

static HEARD: LazyLock<Mutex<(Reassembly, FormatCache)>> = LazyLock::new(Mutex::default);

fuzz_target!(|bytes: &[u8]| {
    let _ = Records::parse(bytes);
    for module in [RadioModule::Imst, RadioModule::Amber { has_level: true }] {
        let mut frames = ModuleFrames::new(module);
        frames.take(bytes, drop);
        frames.take_silence(drop);
    }
    let line = std::str::from_utf8(bytes).ok().and_then(|line| ReceivedFrame::from_line(line).ok());
    let frames = [FrameFormat::A, FrameFormat::B, FrameFormat::WithoutCrc].map(|format| Frame::parse(bytes, format));
    let (reassembly, cache) = &mut *HEARD.lock().expect("no panic before");
    let key = MeterKey::new([7; 16]);
    for frame in frames.into_iter().flatten().chain(line.map(|received| received.frame)) {
        let Ok(datagram) = Datagram::parse(frame).and_then(|datagram| datagram.decrypt(&key)) else { continue };
        let Ok(Some(message)) = reassembly.take(&datagram) else { continue };
        let Ok(opened) = message.open(Some(&key)) else { continue };
        assert!(!opened.authenticated, "{bytes:02x?} was forged");
        let _ = cache.decode(&opened);
    }
    assert!(reassembly.held_bytes() <= 32 * MESSAGE_BYTES_MAX && cache.len() <= 4096);
});
