//! The running meter: once a message is sealed or opened, nothing of a key stream, a mask, an
//! ephemeral key, its private key or a key schedule is in its RAM. Of its generator the present
//! state stays, of suite 6 the key of the epoch, and none of an epoch before.

use super::hashes::hmac;
use super::secrets::Secrets;
use super::symmetric::{ascon, gcm, key_stream};
use crate::{avr_meter, meter_ports};
use aes::cipher::{BlockEncrypt, KeyInit};
use lab::reference::curve::Curve;
use lab::reference::drbg::Drbg;
use lab::reference::sealing::x963_kdf;
use lab::reference::symmetric::seal_case;
use lab::workspace::Workspace;
use mcu::{Mcu, MemoryKind, Stop, Until};
use wire::meter::{Command, CommandResult, Suite};

/// Offsets in what is provisioned: docs/reference/protocol.md, "Provisioning".
const METER: usize = 2;
const OWN_PUBLIC_KEY: usize = 22;
const KEY_128: usize = 32;
const KEY_256: usize = 48;
const PRIVATE_KEY: usize = 80;
const COLLECTOR_KEY: usize = 112;

const REPORT: u8 = 0;
const ANSWER: u8 = 1;
const ACKNOWLEDGEMENT: u8 = 2;
const COMMAND: u8 = 3;

/// The meter of a target with its surroundings.
enum Rig {
    Avr(Box<avr_meter::Rig>),
    Port(Box<meter_ports::Rig>),
}

impl Rig {
    fn new(target: &str, suite: Suite) -> Rig {
        let seed = testkit::random::seed_or(20_260_104);
        match target {
            "atmega328p" => Rig::Avr(Box::new(avr_meter::Rig::new(suite))),
            _ => Rig::Port(Box::new(meter_ports::Rig::new(&format!("{target}-cc2500"), suite, seed))),
        }
    }

    fn machine(&mut self) -> &mut dyn Mcu {
        match self {
            Rig::Avr(rig) => &mut *rig.machine,
            Rig::Port(rig) => &mut *rig.machine,
        }
    }

    fn prepare(&self) -> u32 {
        match self {
            Rig::Avr(rig) => rig.symbol("ws_message_prepare"),
            Rig::Port(rig) => rig.prepare,
        }
    }

    fn acknowledges(&self) -> u32 {
        match self {
            Rig::Avr(rig) => rig.symbol("ws_message_acknowledges"),
            Rig::Port(rig) => rig.acknowledges,
        }
    }

    fn unpack(&self) -> u32 {
        match self {
            Rig::Avr(rig) => rig.symbol("ws_message_unpack"),
            Rig::Port(rig) => rig.unpack,
        }
    }

    /// Has the collector send a command.
    fn command(&mut self) {
        let command = Command::ReadStatus { page: 0 };
        match self {
            Rig::Avr(rig) => rig.command(command),
            Rig::Port(rig) => {
                rig.collector.command(meter_ports::METER, command).expect("a command");
            }
        }
    }

    fn provisioned(&mut self) -> Vec<u8> {
        let at = match self {
            Rig::Avr(rig) => rig.symbol("ws_provision"),
            Rig::Port(rig) => rig.provisioned_at,
        };
        self.peek(at, 176)
    }

    /// Goes on to where a function begins.
    fn run_to(&mut self, address: u32) {
        for _ in 0..1_000_000 {
            match self {
                Rig::Avr(rig) => rig.step(&[address]),
                Rig::Port(rig) => rig.step(&[address]),
            }
            if self.machine().pc() == address {
                return;
            }
        }
        panic!("{address:#x} is never come to");
    }

    fn peek(&mut self, address: u32, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0; bytes];
        assert!(self.machine().peek(address, &mut buffer), "{address:#x} can be read");
        buffer
    }

    fn register(&mut self, name: &str) -> Option<u32> {
        self.machine().registers().into_iter().find(|(register, _)| register == name).map(|(_, value)| value)
    }

    /// A pointer that a function was called with, where it begins: the first four are in registers.
    fn pointer(&mut self, number: u32) -> u32 {
        if let Rig::Avr(_) = self {
            let mut half = |register: u32| self.register(&format!("r{register}")).expect("a register");
            return 0x80_0000 | half(25 - 2 * number) << 8 | half(24 - 2 * number);
        }
        let is_arm = self.register("lr").is_some();
        let name = format!("r{}", if is_arm { number } else { 12 + number });
        self.register(&name).unwrap_or_else(|| panic!("no register {name}"))
    }

    /// Goes on from where a function begins to where it returns to.
    fn finish(&mut self) {
        let sp = self.machine().sp();
        let back = match (self.register("lr"), &self) {
            (Some(link), _) => link & !1,
            (None, Rig::Avr(_)) => {
                2 * u32::from(u16::from_be_bytes(self.peek(0x80_0001 + sp, 2).try_into().expect("2 bytes")))
            }
            _ => u16::from_le_bytes(self.peek(sp, 2).try_into().expect("2 bytes")).into(),
        };
        let until = Until { cycles: Some(self.machine().cycles() + 1_000_000_000), addresses: vec![back] };
        assert_eq!(self.machine().run(&until), Ok(Stop::Address(back)));
    }
}

/// The key of a suite's AEAD.
fn aead_key(suite: Suite, provisioned: &[u8]) -> Vec<u8> {
    let key128 = &provisioned[KEY_128..][..16];
    match suite {
        Suite::Aes256Gcm | Suite::Aes256GcmRekeyed => provisioned[KEY_256..][..32].to_vec(),
        Suite::AsconAead128 => {
            let mut key = *aes::Block::from_slice(b"WattSeal suite 5");
            aes::Aes128::new(key128.into()).encrypt_block(&mut key);
            key.to_vec()
        }
        _ => key128.to_vec(),
    }
}

/// A message with the suite's AEAD: n, ciphertext, tag.
fn aead(
    secrets: &mut Secrets,
    suite: Suite,
    provisioned: &[u8],
    kind: u8,
    n: &[u8],
    plain: &[u8],
) -> Vec<u8> {
    let key = aead_key(suite, provisioned);
    let origin = [kind, suite as u8, provisioned[METER], provisioned[METER + 1]];
    let address = if kind == ANSWER { &provisioned[METER..][..4] } else { &[0; 4] };
    let nonce = [&origin[..], address, n].concat();
    secrets.aes_key("a key schedule", &provisioned[KEY_128..][..16]);
    if suite == Suite::AsconAead128 {
        let (ciphertext, tag) = ascon(&key, &[&*nonce, &[0; 4]].concat(), &[], plain, secrets);
        secrets.public(&ciphertext);
        secrets.public(&tag);
        return [n, &ciphertext, &tag].concat();
    }
    let outputs = seal_case(&key, nonce.clone(), Vec::new(), plain.to_vec()).expect("it seals").outputs;
    secrets.aes_key("a key schedule", &key);
    gcm(secrets, &key, &nonce, &[], plain, &outputs[0].1);
    secrets.public(&outputs[1].1);
    [n, &outputs[0].1, &outputs[1].1].concat()
}

/// A report with ECIES, from the generator's state before it.
fn ecies(secrets: &mut Secrets, provisioned: &[u8], state: &[u8], plain: &[u8]) -> Vec<u8> {
    let good = "a good key";
    let mut drbg = Drbg::resumed(&state[..32], &state[32..]);
    secrets.drawing(Drbg::resumed(&state[..32], &state[32..]), 40);
    let ephemeral = Curve::P256.generate(&mut drbg);
    let collector = &provisioned[COLLECTOR_KEY..][..64];
    let shared = Curve::P256.shared(&ephemeral, collector).expect(good);
    let sent = Curve::P256.public(&ephemeral).expect(good);
    secrets.scalar("the ephemeral key", &ephemeral, Curve::P256);
    let names = [&provisioned[OWN_PUBLIC_KEY..][..8], &collector[..8]].concat();
    ecies_of(secrets, provisioned, REPORT, &names, &shared, &sent, plain)
}

/// A command with ECIES, from the ephemeral public key that it begins with.
fn ecies_command(secrets: &mut Secrets, provisioned: &[u8], sent: &[u8], plain: &[u8]) -> Vec<u8> {
    let private = &provisioned[PRIVATE_KEY..][..32];
    let shared = Curve::P256.shared(private, sent).expect("a good key");
    secrets.scalar("the private key", private, Curve::P256);
    let names = [&provisioned[COLLECTOR_KEY..][..8], &provisioned[OWN_PUBLIC_KEY..][..8]].concat();
    ecies_of(secrets, provisioned, COMMAND, &names, &shared, sent, plain)
}

/// A message with ECIES, from what both sides share: sender and recipient by their names.
fn ecies_of(
    secrets: &mut Secrets,
    provisioned: &[u8],
    kind: u8,
    names: &[u8],
    shared: &[u8],
    sent: &[u8],
    plain: &[u8],
) -> Vec<u8> {
    secrets.shared(shared);
    let keys = x963_kdf(shared, sent, 48);
    secrets.bytes("the derived keys", &keys);
    secrets.aes_key("the encryption key", &keys[..16]);
    key_stream(secrets, &keys[..16], &[0; 16], plain.len());
    let mut ciphertext = plain.to_vec();
    let mut mask = aes::Block::default();
    aes::Aes128::new(keys[..16].into()).encrypt_block(&mut mask);
    ciphertext.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    let origin = [kind, Suite::Ecies as u8, provisioned[METER], provisioned[METER + 1]];
    let info = [b"WSM2", &origin[..], names, &provisioned[KEY_128..][..16]].concat();
    let mac = hmac(secrets, "the authentication key", &keys[16..], &[&*ciphertext, &info].concat());
    let message = [sent, &ciphertext, &mac].concat();
    secrets.public(&message);
    message
}

fn left(rig: &mut Rig, target: &str, provisioned: &[u8], secrets: &mut Secrets) -> Vec<String> {
    // With suite 6, it has the epoch's key at hand: in epoch 0 the key of AES-256-GCM.
    if let Rig::Port(_) = rig {
        secrets.public(&provisioned[KEY_256..][..32]);
    }
    let target = Workspace::find().expect("the project's folder").target(target).expect("a target");
    let ram = target.part.memories.iter();
    ram.filter(|memory| matches!(memory.kind, MemoryKind::Ram | MemoryKind::Tcm))
        .flat_map(|memory| {
            let bytes = rig.peek(memory.start, memory.size as usize);
            let finds = secrets.find(memory.start, &bytes);
            finds
                .into_iter()
                .map(|find| format!("{} bytes of {} at {:#x}", find.bytes, find.name, find.address))
        })
        .collect()
}

/// A command is opened, and answered.
fn left_of_command(rig: &mut Rig, target: &str, suite: Suite, provisioned: &[u8]) -> Vec<String> {
    let (prepare, unpack) = (rig.prepare(), rig.unpack());
    rig.command();
    rig.run_to(unpack);
    let [header, at, plain] = [0, 1, 2].map(|number| rig.pointer(number));
    assert_eq!(rig.peek(header, 2), [COMMAND, suite as u8]);
    let heard = rig.peek(at, if suite == Suite::Ecies { 112 } else { 36 });
    rig.finish();
    let plain = rig.peek(plain, 16);
    let mut secrets = Secrets::default();
    let expected = if suite == Suite::Ecies {
        ecies_command(&mut secrets, provisioned, &heard[..64], &plain)
    } else {
        aead(&mut secrets, suite, provisioned, COMMAND, &plain[..4], &plain)
    };
    assert_eq!(heard, expected, "{target}, {suite}: as the reference commands it");
    let lines = left(rig, target, provisioned, &mut secrets);
    let mut finds: Vec<String> = lines.iter().map(|line| format!("command: {line}")).collect();

    loop {
        rig.run_to(prepare);
        let [header, _, plain, sealed] = [0, 1, 2, 3].map(|number| rig.pointer(number));
        let is_answer = rig.peek(header, 1) == [ANSWER];
        let plain = rig.peek(plain, 16);
        rig.finish();
        if !is_answer {
            continue;
        }
        let sealed = rig.peek(sealed, 36);
        let mut secrets = Secrets::default();
        let expected = aead(&mut secrets, suite, provisioned, ANSWER, &sealed[..4], &plain);
        assert_eq!(sealed, expected, "{target}, {suite}: as the reference answers it");
        let lines = left(rig, target, provisioned, &mut secrets);
        finds.extend(lines.iter().map(|line| format!("answer: {line}")));
        return finds;
    }
}

fn leaves_nothing(target: &str, suite: Suite) {
    let mut rig = Rig::new(target, suite);
    let provisioned = rig.provisioned();
    let (prepare, acknowledges) = (rig.prepare(), rig.acknowledges());
    let mut finds = Vec::new();
    for message in 1..=2 {
        rig.run_to(prepare);
        let [header, random, plain, sealed] = [0, 1, 2, 3].map(|number| rig.pointer(number));
        assert_eq!(rig.peek(header, 2), [REPORT, suite as u8]);
        let plain = rig.peek(plain, 16);
        let mut secrets = Secrets::default();
        let expected = if suite == Suite::Ecies {
            let state = rig.peek(random, 64);
            ecies(&mut secrets, &provisioned, &state, &plain)
        } else {
            aead(&mut secrets, suite, &provisioned, REPORT, &plain[..4], &plain)
        };
        rig.finish();
        assert_eq!(
            rig.peek(sealed, expected.len()),
            expected,
            "{target}, {suite}: as the reference seals it"
        );
        let lines = left(&mut rig, target, &provisioned, &mut secrets);
        finds.extend(lines.iter().map(|line| format!("message {message}: {line}")));

        rig.run_to(acknowledges);
        let at = rig.pointer(1);
        let heard = rig.peek(at, 20);
        let mut secrets = Secrets::default();
        let expected = aead(&mut secrets, suite, &provisioned, ACKNOWLEDGEMENT, &plain[..4], &[]);
        assert_eq!(heard, expected, "{target}, {suite}: as the reference acknowledges it");
        rig.finish();
        let lines = left(&mut rig, target, &provisioned, &mut secrets);
        finds.extend(lines.iter().map(|line| format!("acknowledgement {message}: {line}")));
    }
    finds.extend(left_of_command(&mut rig, target, suite, &provisioned));
    assert!(finds.is_empty(), "{target}, {suite}, left in RAM:\n{}", finds.join("\n"));
}

#[test]
fn atmega328p_meter_keeps_nothing_of_a_message() {
    for suite in [Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::AsconAead128, Suite::Ecies] {
        leaves_nothing("atmega328p", suite);
    }
}

const SUITES: [Suite; 5] =
    [Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::AsconAead128, Suite::Ecies, Suite::Aes256GcmRekeyed];

#[test]
fn msp430f5438a_meter_keeps_nothing_of_a_message() {
    SUITES.iter().for_each(|suite| leaves_nothing("msp430f5438a", *suite));
}

#[test]
fn stm32f407_meter_keeps_nothing_of_a_message() {
    SUITES.iter().for_each(|suite| leaves_nothing("stm32f407", *suite));
}

/// Once a key is renewed, the one before is nowhere in RAM, and the present one in one place.
fn keeps_one_key(target: &str) {
    let suite = Suite::Aes256GcmRekeyed;
    let mut rig = Rig::new(target, suite);
    let before = rig.provisioned()[KEY_256..][..32].to_vec();
    let Rig::Port(port) = &mut rig else { panic!("{target} has no suite 6") };
    let renewed = |rig: &meter_ports::Rig| {
        let keys = &rig.collector.record(meter_ports::METER).expect("it is known").keys;
        keys.epoch() == 1 && !keys.has_next()
    };
    port.run_until(8.0, "two reports", |rig| rig.accepted.len() >= 2);
    let kept = |rig: &mut Rig, name: &str, key: &[u8]| -> Vec<usize> {
        let mut secrets = Secrets::default();
        secrets.aes_key(name, key);
        let target = Workspace::find().expect("the project's folder").target(target).expect("a target");
        let ram = target.part.memories.iter();
        ram.filter(|memory| matches!(memory.kind, MemoryKind::Ram | MemoryKind::Tcm))
            .flat_map(|memory| secrets.find(memory.start, &rig.peek(memory.start, memory.size as usize)))
            .map(|find| find.bytes)
            .collect()
    };
    assert_eq!(kept(&mut rig, "the first key", &before), [32], "{target}");
    let Rig::Port(port) = &mut rig else { unreachable!("as above") };
    assert_eq!(port.command(Command::RenewKey).answer.outcome, CommandResult::Done);
    port.run_until(60.0, "the next epoch", renewed);
    let present = port.collector.record(meter_ports::METER).expect("it is known").keys.expose_epoch_key();
    let present = present.to_vec();
    assert_ne!(present, before);
    assert_eq!(kept(&mut rig, "the first key", &before), [0; 0], "{target}");
    assert_eq!(kept(&mut rig, "the present key", &present), [32], "{target}");
}

#[test]
fn msp430f5438a_meter_keeps_no_key_of_an_epoch_before() {
    keeps_one_key("msp430f5438a");
}

#[test]
fn stm32f407_meter_keeps_no_key_of_an_epoch_before() {
    keeps_one_key("stm32f407");
}
