//! Secrets of ciphers: key schedules, states, key streams, and inputs of authenticators.

use super::secrets::Secrets;
use super::{Run, aes_modes, hashes, random};
use aes::cipher::{BlockEncrypt, KeyInit};
use aes::{Block, hazmat};
use lab::operations::{Key, Operation};
use lab::reference::Case;
use lab::reference::symmetric::{block_case, ctr_case, expand, expand_case, open_case, seal_case};
use rand::rngs::StdRng;

/// The runs of an operation with room for `room` bytes of message; none of another kind.
pub fn runs(operation: &Operation, room: usize, rng: &mut StdRng) -> Vec<Run> {
    let name = operation.name.as_str();
    if let Some((size, action)) = name.strip_prefix("aes").and_then(|rest| rest.split_once('-')) {
        let key = random(size.parse::<usize>().expect("bits") / 8, rng);
        return aes_modes::runs(operation, &key, action, room, rng)
            .unwrap_or_else(|| aes(operation, &key, action, room, rng));
    }
    match name {
        "ascon-aead128-seal" | "ascon-aead128-open" => aead(name, room, rng, ascon),
        "chacha20-poly1305-seal" | "chacha20-poly1305-open" => aead(name, room, rng, chacha20_poly1305),
        "digest-check" => {
            let (a, mut secrets) = (random(32, rng), Secrets::default());
            secrets.bytes("the digest", &a);
            let inputs = vec![("key", a.clone()), ("message", a)];
            vec![(Case { inputs, result: Some(1), ..Case::default() }, secrets)]
        }
        _ => hashes::run(operation, room, rng).into_iter().collect(),
    }
}

/// Two blocks and a piece, or what there is room for.
fn length(room: usize) -> usize {
    room.min(40)
}

fn aes(operation: &Operation, key: &[u8], action: &str, room: usize, rng: &mut StdRng) -> Vec<Run> {
    let mut secrets = Secrets::default();
    secrets.aes_key("the key schedule", key);
    let nonce = random(if action.starts_with("gcm") { 12 } else { 16 }, rng);
    let message = random(length(room), rng);
    match action {
        "expand" => vec![(expand_case(key), secrets)],
        "encrypt" | "encrypt-expanded" | "module-encrypt" | "decrypt" | "decrypt-prepared"
        | "prepare-decryption" => {
            let (block, encrypts) = (random(16, rng), !action.contains("decrypt"));
            let case = block_case(key, operation.key, block.clone(), encrypts);
            let plain = if encrypts { &block } else { &case.outputs[0].1 };
            if !encrypts {
                secrets.decryption_keys("a decryption key", key);
            }
            secrets.bytes("the plaintext", plain);
            let output = encrypted(&mut secrets, key, plain);
            secrets.bytes("the ciphertext", &output);
            vec![(case, secrets)]
        }
        "ctr" | "ctr-sliced" => {
            secrets.bytes("the plaintext", &message);
            key_stream(&mut secrets, key, &nonce, message.len());
            let case = ctr_case(key, &nonce, message);
            // The message may be shown and the key stream not: both are searched for.
            secrets.public(&case.outputs[0].1);
            secrets.public(&nonce);
            vec![(case, secrets)]
        }
        "gcm-seal" => {
            let aad = random(13, rng);
            secrets.bytes("the plaintext", &message);
            let case = seal_case(key, nonce.clone(), aad.clone(), message.clone()).expect("it seals");
            let (ciphertext, tag) = (case.outputs[0].1.clone(), case.outputs[1].1.clone());
            gcm(&mut secrets, key, &nonce, &aad, &message, &ciphertext);
            secrets.public(&tag);
            vec![(case, secrets)]
        }
        "gcm-open" => [true, false]
            .map(|is_good| {
                let (aad, mut secrets) = (random(13, rng), Secrets::default());
                secrets.aes_key("the key schedule", key);
                let mut case = open_case(key, nonce.clone(), aad.clone(), message.clone()).expect("it seals");
                let ciphertext = input(&case, "message").to_vec();
                gcm(&mut secrets, key, &nonce, &aad, &message, &ciphertext);
                // A right tag shows what the wrong one would have to be.
                secrets.bytes("the tag", input(&case, "tag"));
                if is_good {
                    secrets.public(input(&case, "tag"));
                } else {
                    refused(&mut case);
                }
                (case, secrets)
            })
            .into(),
        other => panic!("AES has nothing that is called {other}"),
    }
}

fn input<'a>(case: &'a Case, name: &str) -> &'a [u8] {
    case.inputs.iter().find(|(input, _)| *input == name).map_or(&[], |(_, bytes)| bytes)
}

/// The same with a wrong tag.
fn refused(case: &mut Case) {
    for (name, bytes) in &mut case.inputs {
        if *name == "tag" {
            bytes[7] ^= 4;
        }
    }
    let bytes = case.outputs.remove(0).1.len();
    case.untouched.push(("output", bytes));
    case.result = Some(-1);
}

/// A block, as it is, row by row, and as eight planes of a bit of each byte (aes_sliced.c).
fn block(secrets: &mut Secrets, name: &str, state: &[u8]) {
    secrets.bytes(name, state);
    let rows: Vec<u8> = (0..16).map(|at| state[4 * (at % 4) + at / 4]).collect();
    secrets.bytes(name, &rows);
    let plane = |bit: usize| (0..16).fold(0u16, |plane, at| plane | u16::from(rows[at] >> bit & 1) << at);
    secrets.bytes(name, &(0..8).flat_map(|bit| plane(bit).to_le_bytes()).collect::<Vec<u8>>());
}

/// FIPS 197, algorithm 1: the block, with all states on the way to it.
pub fn encrypted(secrets: &mut Secrets, key: &[u8], plain: &[u8]) -> Vec<u8> {
    let schedule = expand(key);
    let mut keys = schedule.chunks(16);
    let add = |state: &mut Block, key: &[u8]| state.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
    let mut state = Block::clone_from_slice(plain);
    add(&mut state, keys.next().expect("round keys"));
    let rounds = keys.len();
    for (round, key) in (1..).zip(keys) {
        block(secrets, "the state between rounds", &state);
        hazmat::cipher_round(&mut state, &Block::default());
        let mut substituted = state;
        hazmat::inv_mix_columns(&mut substituted);
        block(secrets, "the state behind the S-box", &substituted);
        if round == rounds {
            state = substituted;
        }
        add(&mut state, key);
    }
    state.to_vec()
}

/// The blocks of key stream behind a counter block, and what they are made of.
pub fn key_stream(secrets: &mut Secrets, key: &[u8], counter: &[u8], bytes: usize) {
    let first = u128::from_be_bytes(counter.try_into().expect("16 bytes"));
    for number in 0..bytes.div_ceil(16) as u128 {
        let stream = encrypted(secrets, key, &(first.wrapping_add(number)).to_be_bytes());
        block(secrets, "the key stream", &stream);
    }
}

/// A product in GHASH's field, SP 800-38D section 6.3.
fn product(x: u128, y: u128) -> u128 {
    (0..128).fold((0, y), |(z, v), bit| (if x >> (127 - bit) & 1 == 1 { z ^ v } else { z }, shifted(v))).0
}

fn shifted(v: u128) -> u128 {
    v >> 1 ^ if v & 1 == 1 { 0xe1 << 120 } else { 0 }
}

/// SP 800-38D, sections 6 and 7.
pub fn gcm(secrets: &mut Secrets, key: &[u8], nonce: &[u8], aad: &[u8], message: &[u8], ciphertext: &[u8]) {
    let cipher = |plain: &[u8]| {
        let mut block = Block::clone_from_slice(plain);
        match key.len() {
            16 => aes::Aes128::new(key.into()).encrypt_block(&mut block),
            _ => aes::Aes256::new(key.into()).encrypt_block(&mut block),
        }
        u128::from_be_bytes(block.into())
    };
    let counter = |number: u8| [nonce, &[0, 0, 0, number]].concat();
    let h = cipher(&[0; 16]);
    encrypted(secrets, key, &[0; 16]);
    encrypted(secrets, key, &counter(1));
    // Multiples of H that a table or a loop may hold.
    let mut multiple = h;
    for _ in 0..128 {
        secrets.bytes("H", &multiple.to_be_bytes());
        multiple = shifted(multiple);
    }
    (1..16u128).for_each(|nibble| secrets.bytes("H", &product(nibble << 124, h).to_be_bytes()));
    secrets.bytes("E(J0)", &cipher(&counter(1)).to_be_bytes());
    key_stream(secrets, key, &counter(2), message.len());
    let mut y = 0;
    let lengths = [8 * aad.len() as u64, 8 * message.len() as u64].map(u64::to_be_bytes).concat();
    for chunk in aad.chunks(16).chain(ciphertext.chunks(16)).chain([&*lengths]) {
        let mut bytes = [0; 16];
        bytes[..chunk.len()].copy_from_slice(chunk);
        y ^= u128::from_be_bytes(bytes);
        let is_first = chunk.as_ptr() == aad.as_ptr();
        // Before the first product it is what anybody sees.
        if !is_first {
            secrets.bytes("GHASH", &y.to_be_bytes());
        }
        y = product(y, h);
        secrets.bytes("GHASH", &y.to_be_bytes());
    }
    [nonce, aad, ciphertext, &lengths].iter().for_each(|bytes| secrets.public(bytes));
}

/// Seals with key, nonce, associated data and plaintext, and gives ciphertext and tag.
type Seal = fn(&[u8], &[u8], &[u8], &[u8], &mut Secrets) -> (Vec<u8>, Vec<u8>);

/// Sealing, or opening of what is sealed and of what is not.
fn aead(name: &str, room: usize, rng: &mut StdRng, seal: Seal) -> Vec<Run> {
    let is_chacha = name.starts_with("chacha");
    let [key, nonce] = if is_chacha { [32, 12] } else { [16, 16] }.map(|bytes| random(bytes, rng));
    let (aad, plaintext) = (random(13, rng), random(length(room), rng));
    let make = |is_good: Option<bool>| {
        let mut secrets = Secrets::default();
        secrets.bytes("the key", &key);
        secrets.bytes("the plaintext", &plaintext);
        let (ciphertext, tag) = seal(&key, &nonce, &aad, &plaintext, &mut secrets);
        for bytes in [&nonce, &aad, &ciphertext] {
            secrets.public(bytes);
        }
        if is_good == Some(false) {
            secrets.bytes("the tag", &tag);
        } else {
            secrets.public(&tag);
        }
        let inputs = vec![("key", key.clone()), ("nonce", nonce.clone()), ("aad", aad.clone())];
        let (message, outputs) = if is_good.is_none() {
            (plaintext.clone(), vec![("output", ciphertext), ("tag", tag.clone())])
        } else {
            (ciphertext, vec![("output", plaintext.clone())])
        };
        let inputs = [inputs, vec![("message", message)]].concat();
        let result = (is_good.is_some() || is_chacha).then_some(0);
        let mut case = Case { inputs, outputs, result, ..Case::default() };
        if is_good.is_some() {
            case.inputs.push(("tag", tag));
        }
        if is_good == Some(false) {
            refused(&mut case);
        }
        (case, secrets)
    };
    if name.ends_with("-seal") { vec![make(None)] } else { vec![make(Some(true)), make(Some(false))] }
}

/// RFC 8439 section 2.8: key stream, r, s and what Poly1305 adds s to.
fn chacha20_poly1305(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    plain: &[u8],
    secrets: &mut Secrets,
) -> (Vec<u8>, Vec<u8>) {
    use chacha20poly1305::aead::{Aead, Payload};
    use chacha20poly1305::{ChaCha20Poly1305, Nonce};
    let cipher = ChaCha20Poly1305::new(key.into());
    let mut sealed =
        cipher.encrypt(Nonce::from_slice(nonce), Payload { msg: plain, aad }).expect("it is short");
    let tag = sealed.split_off(plain.len());
    // Whole blocks from the first on: encryption begins with the second.
    let padded = vec![0; plain.len().next_multiple_of(64)];
    let others = cipher.encrypt(Nonce::from_slice(nonce), &*padded).expect("it is short");
    let first = chacha_block(key, nonce, 0);
    let blocks = [&first[..], &others[..padded.len()]].concat();
    for (number, stream) in (0u32..).zip(blocks.chunks(64)) {
        secrets.bytes(if number == 0 { "r and s" } else { "the key stream" }, stream);
        let initial = chacha_input(key, nonce, number);
        let words = stream.chunks(4).zip(&initial);
        let state = words.flat_map(|(word, initial)| {
            u32::from_le_bytes(word.try_into().expect("4 bytes")).wrapping_sub(*initial).to_le_bytes()
        });
        secrets.bytes("the state behind the rounds", &state.collect::<Vec<u8>>());
    }
    let number = |bytes: &[u8]| u128::from_le_bytes(bytes.try_into().expect("16 bytes"));
    let r = number(&first[..16]) & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff;
    secrets.bytes("r", &r.to_le_bytes());
    let limbs = |times: u32| {
        (0..5)
            .flat_map(move |limb| ((r >> (26 * limb)) as u32 & 0x3ff_ffff).wrapping_mul(times).to_le_bytes())
    };
    for times in [1, 5] {
        secrets.bytes("r", &limbs(times).collect::<Vec<u8>>());
    }
    let sum = number(&tag).wrapping_sub(number(&first[16..32]));
    secrets.bytes("Poly1305 without s", &sum.to_le_bytes());
    (sealed, tag)
}

fn chacha_input(key: &[u8], nonce: &[u8], number: u32) -> [u32; 16] {
    let bytes = [b"expand 32-byte k", key, &number.to_le_bytes(), nonce].concat();
    std::array::from_fn(|at| u32::from_le_bytes(bytes[4 * at..][..4].try_into().expect("4 bytes")))
}

/// RFC 8439 section 2.3.
fn chacha_block(key: &[u8], nonce: &[u8], number: u32) -> [u8; 64] {
    let initial = chacha_input(key, nonce, number);
    let mut state = initial;
    let mut quarter = |[a, b, c, d]: [usize; 4]| {
        for (to, by, other, left) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
            state[to] = state[to].wrapping_add(state[by]);
            state[other] = (state[other] ^ state[to]).rotate_left(left);
        }
    };
    for _ in 0..10 {
        (0..4).for_each(|at| quarter([at, at + 4, at + 8, at + 12]));
        (0..4).for_each(|at| quarter([at, 4 + (at + 1) % 4, 8 + (at + 2) % 4, 12 + (at + 3) % 4]));
    }
    let mut out = [0; 64];
    for ((out, word), initial) in out.chunks_mut(4).zip(state).zip(initial) {
        out.copy_from_slice(&word.wrapping_add(initial).to_le_bytes());
    }
    out
}

/// SP 800-232 section 3: `rounds` rounds of the permutation.
fn ascon_rounds(s: &mut [u64; 5], rounds: u64) {
    for round in 16 - rounds..16 {
        s[2] ^=
            [0x3c, 0x2d, 0x1e, 0x0f, 0xf0, 0xe1, 0xd2, 0xc3, 0xb4, 0xa5, 0x96, 0x87, 0x78, 0x69, 0x5a, 0x4b]
                [round as usize];
        s[0] ^= s[4];
        s[4] ^= s[3];
        s[2] ^= s[1];
        let t: [u64; 5] = std::array::from_fn(|at| !s[at] & s[(at + 1) % 5]);
        (0..5).for_each(|at| s[at] ^= t[(at + 1) % 5]);
        s[1] ^= s[0];
        s[0] ^= s[4];
        s[3] ^= s[2];
        s[2] = !s[2];
        for (word, [a, b]) in s.iter_mut().zip([[19, 28], [61, 39], [1, 6], [10, 17], [7, 41]]) {
            *word ^= word.rotate_right(a) ^ word.rotate_right(b);
        }
    }
}

/// SP 800-232 section 4, algorithm 3: all states.
pub fn ascon(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    plain: &[u8],
    secrets: &mut Secrets,
) -> (Vec<u8>, Vec<u8>) {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    let padded = |bytes: &[u8]| {
        let mut padded = [bytes, &[1]].concat();
        padded.resize(padded.len().next_multiple_of(16), 0);
        padded
    };
    let keys = [word(&key[..8]), word(&key[8..])];
    secrets.words("the key", &keys);
    let mut s = [0x0000_1000_808c_0001, keys[0], keys[1], word(&nonce[..8]), word(&nonce[8..])];
    ascon_rounds(&mut s, 12);
    secrets.words("the state", &s);
    s[3] ^= keys[0];
    s[4] ^= keys[1];
    for block in padded(aad).chunks(16).filter(|_| !aad.is_empty()) {
        s[0] ^= word(&block[..8]);
        s[1] ^= word(&block[8..]);
        secrets.words("the state", &s);
        ascon_rounds(&mut s, 8);
        secrets.words("the state", &s);
    }
    s[4] ^= 1 << 63;
    let (mut sealed, blocks) = (Vec::new(), padded(plain));
    for (number, block) in (1..).zip(blocks.chunks(16)) {
        secrets.bytes("the key stream", &[s[0].to_le_bytes(), s[1].to_le_bytes()].concat());
        s[0] ^= word(&block[..8]);
        s[1] ^= word(&block[8..]);
        sealed.extend([s[0].to_le_bytes(), s[1].to_le_bytes()].concat());
        secrets.words("the state", &s);
        if number < blocks.len() / 16 {
            ascon_rounds(&mut s, 8);
            secrets.words("the state", &s);
        }
    }
    sealed.truncate(plain.len());
    s[2] ^= keys[0];
    s[3] ^= keys[1];
    ascon_rounds(&mut s, 12);
    secrets.words("the state", &s);
    (sealed, [s[3] ^ keys[0], s[4] ^ keys[1]].map(u64::to_le_bytes).concat())
}

/// A traced cipher computes the library's values.
#[test]
fn traced_cipher_gives_what_the_library_gives() {
    use aes::cipher::{KeyIvInit, StreamCipher};
    use ascon_aead::aead::Aead;
    use rand::SeedableRng;

    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let mut secrets = Secrets::default();
    let (message, key) = (random(150, &mut rng), random(32, &mut rng));
    let plain = random(16, &mut rng);
    let expected = &block_case(&key, Key::Raw, plain.clone(), true).outputs[0].1;
    assert_eq!(encrypted(&mut secrets, &key, &plain), *expected);

    let (key, nonce) = (random(16, &mut rng), random(16, &mut rng));
    for bytes in [0, 16, 40] {
        let (plain, aad) = (random(bytes, &mut rng), random(bytes / 3, &mut rng));
        let payload = ascon_aead::aead::Payload { msg: &plain, aad: &aad };
        let cipher = <ascon_aead::AsconAead128 as ascon_aead::aead::KeyInit>::new_from_slice(&key);
        let cipher = cipher.expect("16 bytes");
        let sealed = cipher.encrypt(nonce.as_slice().try_into().expect("16 bytes"), payload).expect("short");
        let (ciphertext, tag) = ascon(&key, &nonce, &aad, &plain, &mut secrets);
        assert_eq!([ciphertext, tag].concat(), sealed);
    }
    let (key, nonce) = (random(32, &mut rng), random(12, &mut rng));
    let mut block = [0; 64];
    chacha20poly1305::ChaCha20Poly1305::new(key.as_slice().into());
    let sealed = chacha20_poly1305(&key, &nonce, &[], &block, &mut secrets).0;
    block.copy_from_slice(&sealed);
    assert_eq!(chacha_block(&key, &nonce, 1), block);

    // E(J0) is the tag without GHASH.
    let (key, nonce, aad) = (random(16, &mut rng), random(12, &mut rng), random(13, &mut rng));
    let case = seal_case(&key, nonce.clone(), aad.clone(), message.clone()).expect("it seals");
    let mut found = Secrets::default();
    gcm(&mut found, &key, &nonce, &aad, &message, &case.outputs[0].1);
    let mut mask = [nonce.as_slice(), &[0, 0, 0, 1]].concat();
    mask.splice(.., encrypted(&mut secrets, &key, &mask.clone()));
    let hash: Vec<u8> = case.outputs[1].1.iter().zip(&mask).map(|(tag, mask)| tag ^ mask).collect();
    assert_eq!(found.find(0, &hash).iter().map(|find| &*find.name).collect::<Vec<_>>(), ["GHASH"]);
    let mut stream = vec![0; 16];
    let counter = [nonce.as_slice(), &[0, 0, 0, 2]].concat();
    ctr::Ctr128BE::<aes::Aes128>::new(key.as_slice().into(), counter.as_slice().into())
        .apply_keystream(&mut stream);
    assert_eq!(found.find(0, &stream).iter().map(|find| &*find.name).collect::<Vec<_>>(), ["the key stream"]);
}
