//! The random bit generator against NIST's cases, and what its contract promises.

use device::crypto::{Drbg, HmacDrbgSha1, HmacDrbgSha256};
use testkit::vectors;
use testkit::vectors::DrbgCase;

/// One case on the parts: SP 800-90A sections 9.3.1 and 10.1.2.5, and 9.3.1 step 7 with prediction
/// resistance.
macro_rules! run {
    ($state:ty, $case:expr) => {{
        let case: &DrbgCase = $case;
        let mut state = <$state>::default();
        state.instantiate([&case.entropy, &case.nonce, &case.personalization]);
        if let Some((entropy, additional)) = &case.reseed {
            state.update([entropy, additional]);
        }
        let mut output = vec![0; case.returned.len()];
        for draw in 0..2 {
            let mut additional = case.additional[draw].as_slice();
            if let Some(entropy) = &case.prediction_resistance {
                state.update([&entropy[draw], additional]);
                additional = &[];
            }
            if !additional.is_empty() {
                state.update([additional, &[]]);
            }
            state.output(&mut output);
            state.update([additional, &[]]);
        }
        output
    }};
}

#[test]
fn the_parts_with_sha1_give_what_nist_says() {
    for case in vectors::drbg_sha1() {
        assert_eq!(run!(HmacDrbgSha1, &case), case.returned, "{case:?}");
    }
}

#[test]
fn the_parts_with_sha256_give_what_nist_says() {
    for case in vectors::drbg_sha256() {
        assert_eq!(run!(HmacDrbgSha256, &case), case.returned, "{case:?}");
    }
}

#[test]
fn the_generator_gives_what_nist_says() {
    let mut joined = 0;
    for case in vectors::drbg_sha256() {
        let mut drbg = Drbg::default();
        let seed = [case.entropy.as_slice(), &case.nonce, &case.personalization];
        if case.personalization.is_empty() {
            assert_eq!(drbg.instantiate(&seed.concat()), 0);
            joined += 1;
        } else {
            assert_eq!(drbg.instantiate_pieces(seed), 0);
        }
        if let Some((entropy, additional)) = &case.reseed {
            assert_eq!(drbg.reseed(entropy, additional), 0);
        }
        let mut output = vec![0; case.returned.len()];
        for draw in 0..2 {
            let mut additional = case.additional[draw].as_slice();
            if let Some(entropy) = &case.prediction_resistance {
                assert_eq!(drbg.reseed(&entropy[draw], additional), 0);
                additional = &[];
            }
            assert_eq!(drbg.generate(&mut output, additional), 0);
        }
        assert_eq!(output, case.returned, "{case:?}");
    }
    assert_eq!(joined, 360);
}

#[test]
fn no_output_without_a_seed() {
    let mut drbg = Drbg::default();
    let mut output = [0xa5; 40];
    assert_eq!(drbg.generate(&mut output, &[]), -1);
    assert_eq!(output, [0; 40]);
    assert_eq!(drbg.reseed(&[1; 32], &[]), -1, "a reseed is no instantiation");

    // A seed that is too short takes the one before away, too.
    assert_eq!(drbg.instantiate(&[1; 48]), 0);
    assert_eq!(drbg.instantiate(&[1; 47]), -1);
    assert_eq!(drbg, Drbg::default());
    assert_eq!(drbg.generate(&mut output, &[]), -1);
    assert_eq!(drbg.instantiate_pieces([&[1; 20], &[], &[1; 27]]), -1);
    assert_eq!(drbg.instantiate_pieces([&[1; 20], &[], &[1; 28]]), 0);
    assert_eq!(drbg.generate(&mut output, &[]), 0);
}

#[test]
fn too_little_entropy_is_no_reseed() {
    let mut drbg = Drbg::default();
    assert_eq!(drbg.instantiate(&[1; 48]), 0);
    let before = drbg.clone();
    assert_eq!(drbg.reseed(&[2; 31], &[3; 100]), -1);
    assert_eq!(drbg, before);
    assert_eq!(drbg.reseed(&[2; 32], &[]), 0);
    assert_ne!(drbg, before);
}

#[test]
fn generator_limits_number_and_length_of_requests() {
    const INTERVAL: u32 = 0x8000_0000;
    let mut drbg = Drbg::default();
    assert_eq!(drbg.instantiate(&[1; 48]), 0);
    assert_eq!(drbg.request, 1);
    let mut output = vec![0xa5; 65536];
    assert_eq!(drbg.generate(&mut output, &[]), 0);
    assert_eq!(drbg.request, 2);

    let before = drbg.clone();
    let mut long = vec![0xa5; 65537];
    assert_eq!(drbg.generate(&mut long, &[]), -1);
    assert!(long.iter().all(|&byte| byte == 0));
    assert_eq!(drbg, before);

    drbg.request = INTERVAL;
    assert_eq!(drbg.generate(&mut output[..32], &[]), 0, "the last request of the interval");
    output.fill(0xa5);
    assert_eq!(drbg.generate(&mut output[..32], &[]), -1);
    assert_eq!(output[..33], [[0; 32].as_slice(), &[0xa5]].concat());
    assert_eq!(drbg.reseed(&[2; 32], &[]), 0);
    assert_eq!(drbg.request, 1);
    assert_eq!(drbg.generate(&mut output[..32], &[]), 0);
}
