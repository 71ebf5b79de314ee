//! The opening of messages and their contents: sealed messages of any bytes for every kind and
//! suite, and plaintexts of any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rand::{SeedableRng, rngs::StdRng};
use std::sync::LazyLock;
use wire::meter::{
    Answer, Channel, Command, Identity, MessageKind, MeterKeys, Report, Status, Suite, signature_holds,
};

static SIDES: LazyLock<(MeterKeys, Identity, Identity)> = LazyLock::new(|| {
    let rng = &mut StdRng::seed_from_u64(1);
    (MeterKeys::generate(rng), Identity::generate(rng), Identity::generate(rng))
});

fuzz_target!(|bytes: &[u8]| {
    let Some((what, bytes)) = bytes.split_first() else { return };
    let (keys, own, peer) = &*SIDES;
    let channel = Channel { meter: 7, keys, own, peer: peer.public() };
    let kind = MessageKind::from_code(what >> 6);
    if let Some(suite) = Suite::from_code(what >> 3 & 7) {
        let opened = channel.open(kind, suite, bytes);
        assert!(opened.is_err() || suite == Suite::None, "{kind:?} {suite}: {bytes:02x?} was forged");
        let acknowledged = channel.open_acknowledgement(suite, bytes);
        assert!(acknowledged.is_err() || suite == Suite::None);
        assert!(!signature_holds(7, peer.public(), own.public(), bytes));
    }
    if let Ok(plaintext) = <&[u8; 16]>::try_from(bytes) {
        assert_eq!(Report::from_bytes(plaintext).to_bytes(), *plaintext);
        let answer = Answer::from_bytes(plaintext);
        assert_eq!(answer.to_bytes(), *plaintext);
        for page in 0..2 {
            let _ = Status::from_bytes(page, &answer.body);
        }
        if let Ok((m, command)) = Command::from_bytes(plaintext) {
            assert!(command.is_valid());
            assert_eq!(Command::from_bytes(&command.to_bytes(m)), Ok((m, command)));
        }
    }
});
