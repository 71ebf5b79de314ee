//! The host's end of the protocol, whatever comes to it. With a bootloader:
//! crates/lab/tests/suite/bootloader.

use testkit::random::{Random, seed};
use update::loader::{Deframer, Transfer, frame, status_of};

#[test]
fn frames_are_found_among_anything() {
    let mut random = Random::new(seed());
    let mut deframer = Deframer::default();
    for _ in 0..2_000 {
        let garbage: Vec<u8> = (0..random.below(400)).map(|_| random.byte()).collect();
        for byte in garbage {
            if let Some(frame) = deframer.take(byte) {
                let _ = status_of(&frame);
            }
        }
        let bytes: Vec<u8> = (0..1 + random.below(250)).map(|_| random.byte() | 0x7c).collect();
        let found: Vec<_> = frame(&bytes).into_iter().filter_map(|byte| deframer.take(byte)).collect();
        assert_eq!(found, [bytes]);
    }
}

/// No answer makes it panic, and it ends: none more than a few times anew.
#[test]
fn a_transfer_survives_any_answers() {
    let mut random = Random::new(seed());
    let image: Vec<u8> = (0..4_000u32).map(|at| at as u8).collect();
    for _ in 0..500 {
        let mut transfer = Transfer::new(&image).expect("long enough");
        for _ in 0..200 {
            let Some(request) = transfer.request() else { break };
            assert!(request.len() < 600);
            let body: Vec<u8> = (0..random.below(7)).map(|_| random.byte() >> random.below(8)).collect();
            let answer = [
                &[0x80 | (1 + random.byte() % 6), [0, 0, 0, 17, 19, 4][random.below(6) as usize]],
                body.as_slice(),
            ]
            .concat();
            if transfer.answer(&answer).is_err() {
                break;
            }
            assert!(transfer.progress().0 <= image.len());
        }
    }
    // One that is always behind.
    let mut transfer = Transfer::new(&image).expect("long enough");
    let end = (0..20).position(|_| {
        let request = transfer.request().expect("more")[1];
        transfer.answer(&[request | 0x80, if request == 2 { 0 } else { 17 }, 0, 0, 0, 0]).is_err()
    });
    assert!(end.is_some(), "it is given up");
}
