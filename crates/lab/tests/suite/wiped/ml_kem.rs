//! Secrets of ML-KEM and the hybrid agreements.

use super::noise::{self, Set};
use super::secrets::Secrets;
use super::{Run, random};
use fips203::traits::{Encaps, KeyGen, SerDes};
use fips203::{ml_kem_512, ml_kem_768};
use lab::reference::curve::Curve;
use lab::reference::drbg::SEED_BYTES;
use lab::reference::hybrid::Pair;
use lab::reference::{hybrid, ml_kem};
use rand::rngs::StdRng;

impl Secrets {
    /// Noise, the first polynomials of which are transformed: the bytes that it is sampled from,
    /// and what the transform makes, as residues from 0 and around 0.
    fn noise(&mut self, set: &Set, seed: &[u8], polynomials: u8, transformed: u8) {
        self.bytes("the noise's seed", seed);
        for number in 0..polynomials {
            let sampled = noise::sampled_bytes(set, seed, number);
            self.bytes("what noise is sampled from", &sampled);
            if number < transformed {
                self.transformed(&noise::transformed(set, &sampled));
            }
        }
    }

    fn transformed(&mut self, residues: &[i16]) {
        let centred = |&residue: &i16| if residue > noise::Q / 2 { residue - noise::Q } else { residue };
        for form in [residues.to_vec(), residues.iter().map(centred).collect()] {
            self.bytes(
                "noise, transformed",
                &form.into_iter().flat_map(i16::to_le_bytes).collect::<Vec<u8>>(),
            );
        }
        self.bytes("noise, encoded", &noise::encoded(residues));
    }
}

/// A run of one of ML-KEM.
pub fn run(operation: &str, rng: &mut StdRng) -> Run {
    let mut secrets = Secrets::default();
    let mut seed = || -> [u8; 32] { random(32, rng).try_into().expect("32 bytes") };
    let (d, z, m) = (seed(), seed(), seed());
    macro_rules! exchange {
        ($module:ident) => {{
            let (public, private) = $module::KG::keygen_from_seed(d, z);
            let (shared, ciphertext) = public.encaps_from_seed(&m);
            let (public, private) = (public.into_bytes().to_vec(), private.into_bytes().to_vec());
            (public, private, shared.into_bytes().to_vec(), ciphertext.into_bytes().to_vec())
        }};
    }
    let (name, action) = operation["ml-kem-".len()..].split_once('-').expect("a parameter set");
    let set = noise::set(name);
    let (public, private, shared, ciphertext) =
        if name == "512" { exchange!(ml_kem_512) } else { exchange!(ml_kem_768) };
    // Algorithms 13 and 17, and s, which keys are made of.
    let seeds = noise::seeds(&[&d[..], &[set.k]]);
    let (rho, sigma) = seeds.split_at(32);
    let r = noise::seeds(&[&m[..], &noise::hash(&public)])[32..].to_vec();
    let key = [d, z].concat();
    if action.starts_with("keygen") {
        let is_seeded = action.ends_with("-seeded");
        if !is_seeded {
            secrets.bytes("d", &d);
        }
        if !(is_seeded && action.contains("-pieces")) {
            secrets.bytes("z", &z);
        }
        secrets.noise(&set, sigma, 2 * set.k, 2 * set.k);
        let case = match action {
            "keygen-pieces" => ml_kem::keygen_pieces_case(key, &public),
            "keygen-pieces-seeded" => ml_kem::keygen_pieces_case([sigma, rho].concat(), &public),
            "keygen-seeded" => ml_kem::keygen_case([sigma, &z, rho].concat(), &public, &private),
            _ => ml_kem::keygen_case(key, &public, &private),
        };
        secrets.public(&public);
        return (case, secrets);
    }
    secrets.bytes("m", &m);
    secrets.bytes("the shared secret", &shared);
    secrets.noise(&set, &r, 2 * set.k + 1, set.k);
    let case = match action {
        "encapsulate" => ml_kem::encapsulation_case(public, m.to_vec(), &ciphertext, &shared),
        "encapsulate-pieces" => {
            ml_kem::encapsulation_pieces_case(public, m.to_vec(), Some((&ciphertext, &shared)))
        }
        _ => {
            secrets.bytes("z", &z);
            (0..set.k).for_each(|number| {
                secrets.transformed(&noise::transformed(&set, &noise::sampled_bytes(&set, sigma, number)));
            });
            if action == "decapsulate-pieces" {
                secrets.bytes("d", &d);
                secrets.noise(&set, sigma, set.k, set.k);
                ml_kem::decapsulation_pieces_case(key, &public, &ciphertext, Some(shared))
            } else {
                ml_kem::decapsulation_case(private, ciphertext, shared)
            }
        }
    };
    (case, secrets)
}

/// A run of one of the hybrid agreements.
pub fn hybrid_run(operation: &str, rng: &mut StdRng) -> Run {
    let mut secrets = Secrets::default();
    let (own, other) = (random(SEED_BYTES, rng), random(SEED_BYTES, rng));
    let (salt, info) = (random(32, rng), random(16, rng));
    let good = "good keys";
    let pair = match operation.rsplit_once('-').map(|(pair, _)| pair) {
        Some("p256-ml-kem-512") => Pair::P256MlKem512,
        Some("x25519-ml-kem-512") => Pair::X25519MlKem512,
        _ => Pair::X25519MlKem768,
    };
    let set = noise::set(if pair == Pair::X25519MlKem768 { "768" } else { "512" });
    let point = if pair == Pair::P256MlKem512 { 64 } else { 32 };
    // Of X25519 the bytes that are clamped at both ends are left out.
    let scalar = |secrets: &mut Secrets, what: &str, bytes: &[u8]| match pair {
        Pair::P256MlKem512 => secrets.scalar(what, bytes, Curve::P256),
        _ => secrets.bytes(what, &bytes[1..31]),
    };
    if operation.ends_with("-keygen") {
        let (private_key, seeds) = hybrid::keys(pair, &own).expect(good);
        secrets.generator(&own, 40);
        scalar(&mut secrets, "the private key", &private_key[..32]);
        secrets.bytes("d and z", &seeds);
        secrets.noise(&set, &noise::seeds(&[&seeds[..32], &[set.k]])[32..], 2 * set.k, 2 * set.k);
        return (hybrid::keygen_case(own, private_key), secrets);
    }
    let responds = operation.ends_with("-respond");
    let seeds = if responds { [&*other, &own] } else { [&*own, &other] };
    let made = hybrid::agreement(pair, seeds, &salt, &info).expect(good);
    if pair == Pair::P256MlKem512 {
        secrets.shared(&made.secrets[..32]);
        secrets.bytes("T", &made.secrets[32..]);
    } else {
        secrets.bytes("T || Z", &made.secrets);
    }
    secrets.mac_key("the key-derivation key", &hybrid::extracted(&made.secrets, &salt));
    secrets.mac_key("the salt", &salt);
    secrets.bytes("the key", &made.key);
    secrets.bytes("m", &made.m);
    let r = &noise::seeds(&[&made.m, &noise::hash(&made.offer[point..])])[32..];
    secrets.noise(&set, r, 2 * set.k + 1, set.k);
    let case = if responds {
        secrets.generator(&own, 40);
        scalar(&mut secrets, "the ephemeral key", &made.ephemeral);
        hybrid::respond_case(&made, &own, &salt, info)
    } else {
        scalar(&mut secrets, "the private key", &made.private_key[..32]);
        hybrid::agree_case(&made, &salt, info)
    };
    (case, secrets)
}
