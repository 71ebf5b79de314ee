//! Any bytes: nothing panics, nothing grows, and nothing is authenticated that was altered. The
//! printed seed repeats a run as `WATTSEAL_SEED`.

use super::fixture::{KEY, hex, profile_b, profile_d, telegrams, with_crcs};
use rand::{Rng, SeedableRng, rngs::StdRng};
use testkit::random::seed;
use wire::wireless_mbus::{
    Application, Datagram, FormatCache, Frame, FrameFormat, MESSAGE_BYTES_MAX, MeterKey, ModuleFrames,
    RadioModule, Reassembly, ReceivedFrame, Records,
};

/// Everything that hears a frame. Returns the payload that was authenticated, if one was.
fn hear(
    bytes: &[u8],
    key: &MeterKey,
    reassembly: &mut Reassembly,
    cache: &mut FormatCache,
) -> Option<Vec<u8>> {
    for format in [FrameFormat::A, FrameFormat::B, FrameFormat::WithoutCrc] {
        let _ = Frame::parse(bytes, format);
    }
    for module in [RadioModule::Imst, RadioModule::Amber { has_level: bytes.len().is_multiple_of(2) }] {
        let mut frames = ModuleFrames::new(module);
        frames.take(bytes, drop);
        frames.take_silence(drop);
    }
    let datagram = Datagram::parse(Frame::detect(bytes).ok()?).ok()?.decrypt(key).ok()?;
    let message = reassembly.take(&datagram).ok()??;
    let opened = message.open(Some(key)).ok()?;
    if let Ok(Application::Records { records, .. }) = cache.decode(&opened) {
        assert!(records.records.len() <= 1024);
    }
    opened.authenticated.then_some(opened.payload)
}

/// Changes bytes in a way that somebody on the air can.
fn mutate(bytes: &mut Vec<u8>, rng: &mut StdRng) {
    for _ in 0..rng.random_range(1..=3) {
        let at = rng.random_range(0..bytes.len().max(1));
        match rng.random_range(0..8) {
            _ if bytes.is_empty() => bytes.push(rng.random()),
            0 => bytes.truncate(at),
            1 => bytes.extend((0..rng.random_range(1..40)).map(|_| rng.random::<u8>())),
            2 | 3 => bytes[at] = rng.random(),
            4 => bytes[at] = [0x90, 0x8d, 0x7a, 0x72, 0x0d, 0xff, 0x80][rng.random_range(0..7)],
            _ => bytes[at] ^= 1 << rng.random_range(0..8),
        }
    }
    if rng.random() && !bytes.is_empty() {
        bytes[0] = (bytes.len() - 1) as u8;
    }
}

#[test]
fn mutated_telegrams_do_nothing_but_err() {
    let rng = &mut StdRng::seed_from_u64(seed());
    let (mut reassembly, mut cache) = (Reassembly::default(), FormatCache::default());
    let plaintext = [&[0x2f, 0x2f, 0x0c, 0x13, 1, 2, 3, 4], &[0x2f; 24][..]].concat();
    let ours = [profile_b(5, &plaintext), profile_d(6, 0xff, 1, &plaintext)];
    let ours = ours.map(|body| (super::fixture::frame(&body), KEY));
    let published = telegrams().into_iter().map(|one| (one.bytes, one.key.unwrap_or(KEY)));
    let sound: Vec<(Vec<u8>, [u8; 16])> = published.chain(ours).collect();
    let genuine: Vec<Vec<u8>> = sound
        .iter()
        .filter_map(|(bytes, key)| hear(bytes, &MeterKey::new(*key), &mut reassembly, &mut cache))
        .collect();
    assert_eq!(genuine.len(), 6);
    for round in 0..4_000 {
        let (bytes, key) = &sound[rng.random_range(0..sound.len())];
        let mut bytes = bytes.clone();
        mutate(&mut bytes, rng);
        if round % 4 == 0 && (10..250).contains(&bytes.len()) {
            bytes = with_crcs(&bytes, FrameFormat::A);
        }
        if let Some(payload) = hear(&bytes, &MeterKey::new(*key), &mut reassembly, &mut cache) {
            assert!(genuine.contains(&payload), "forged: {}", hex(&bytes));
        }
        assert!(reassembly.held_bytes() <= 32 * MESSAGE_BYTES_MAX && cache.len() <= 4096);
    }
}

#[test]
fn any_bytes_are_records_or_an_error() {
    let rng = &mut StdRng::seed_from_u64(seed());
    for _ in 0..20_000 {
        let length = rng.random_range(0..60);
        let bytes: Vec<u8> = (0..length).map(|_| rng.random()).collect();
        let Ok(read) = Records::parse(&bytes) else { continue };
        // All bytes but fillers are shown.
        let shown: usize = read.records.iter().map(|record| record.header.len() + record.data.len()).sum();
        let rest = read.manufacturer_data.len() + read.unread.map_or(0, |unread| unread.bytes.len());
        let fillers = bytes.iter().filter(|&&byte| matches!(byte, 0x2f | 0x7f)).count();
        assert!(shown + rest <= bytes.len() && shown + rest + fillers + 1 >= bytes.len(), "{bytes:02x?}");
    }
}

#[test]
fn any_line_is_a_frame_or_an_error() {
    let rng = &mut StdRng::seed_from_u64(seed());
    let parts = [
        "T1;1;1;",
        "0x",
        "b",
        "bY",
        "{",
        "\"data\":",
        "Wireless-MBus",
        ",",
        ";",
        "CRC",
        "44",
        "ff",
        " ",
        "é",
        "0",
    ];
    for _ in 0..20_000 {
        let count = rng.random_range(0..40);
        let line: String = (0..count).map(|_| parts[rng.random_range(0..parts.len())]).collect();
        let _ = ReceivedFrame::from_line(&line);
    }
}
