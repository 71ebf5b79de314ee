//! Published telegrams, and frames that the tests make themselves.

use aes::Aes128;
use cbc::cipher::{BlockEncryptMut, KeyIvInit, block_padding::NoPadding};
use ccm::aead::{Aead, KeyInit, Payload};
use cmac::{Cmac, Mac};
use wire::wireless_mbus::{
    Datagram, Frame, FrameFormat, Message, MeterKey, OpenError, OpenedMessage, Reassembly, ReceivedFrame,
    crc16,
};

/// A section of the file of vectors.
#[derive(Clone, Debug, Default)]
pub struct Telegram {
    pub name: String,
    pub meter: String,
    pub bytes: Vec<u8>,
    pub key: Option<[u8; 16]>,
    pub mode: u8,
    /// Number of the record, storage number, value, unit.
    pub records: Vec<(usize, u64, String, String)>,
    pub dates: Vec<(usize, String)>,
}

/// Reads `crates/testkit/vectors/wireless-mbus.txt`.
pub fn telegrams() -> Vec<Telegram> {
    let text = include_str!("../../../../testkit/vectors/wireless-mbus.txt");
    let mut telegrams: Vec<Telegram> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(name) = line.strip_prefix('[') {
            let name = name.trim_end_matches(']').to_owned();
            telegrams.push(Telegram { name, ..Telegram::default() });
            continue;
        }
        let telegram = telegrams.last_mut().expect("a section");
        let (field, value) = line.split_once(" =").expect("a field");
        let value = value.trim();
        let mut parts = value.split('|').map(|part| part.trim().to_owned());
        let mut next = || parts.next().expect("a part");
        match field {
            "meter" => telegram.meter = value.to_owned(),
            "telegram" => telegram.bytes = unhex(value),
            "key" => telegram.key = Some(unhex(value).try_into().expect("sixteen bytes")),
            "mode" => telegram.mode = value.parse().expect("a number"),
            "record" => {
                let (number, storage) = (next().parse(), next().parse());
                telegram.records.push((
                    number.expect("a number"),
                    storage.expect("a number"),
                    next(),
                    next(),
                ));
            }
            "date" => telegram.dates.push((next().parse().expect("a number"), next())),
            "source" | "rewritten" => {}
            field => panic!("{field} in {}", telegram.name),
        }
    }
    telegrams
}

/// Finds a section by its name.
pub fn telegram(name: &str) -> Telegram {
    telegrams().into_iter().find(|telegram| telegram.name == name).expect("a section of this name")
}

pub fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|character| !character.is_whitespace()).collect();
    let byte =
        |pair: &[char]| pair.iter().fold(0, |byte, digit| byte << 4 | digit.to_digit(16).expect("hex"));
    digits.chunks(2).map(|pair| byte(pair) as u8).collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Telegram {
    /// Reads and opens the telegram with its key.
    pub fn open(&self) -> OpenedMessage {
        let line = hex(&self.bytes);
        let received =
            ReceivedFrame::from_line(&line).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let key = self.key.map(MeterKey::new);
        let mut datagram =
            Datagram::parse(received.frame).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        if datagram.is_encrypted() {
            datagram = datagram.decrypt(key.as_ref().expect("a key")).expect("its key");
        }
        message_of(&datagram).open(key.as_ref()).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

pub fn message_of(datagram: &Datagram) -> Message {
    Reassembly::default().take(datagram).expect("a message").expect("one piece")
}

/// Link layer address of the tests' meter, as bytes and as text.
pub const ADDRESS: [u8; 8] = [0x93, 0x15, 0x78, 0x56, 0x34, 0x12, 0x33, 0x03];
pub const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// A frame without CRCs of the tests' meter.
pub fn frame(body: &[u8]) -> Vec<u8> {
    let length = (9 + body.len()) as u8;
    [&[length, 0x44], &ADDRESS[..], body].concat()
}

/// Puts the CRCs of a format in.
pub fn with_crcs(content: &[u8], format: FrameFormat) -> Vec<u8> {
    let (first, further) = if format == FrameFormat::A { (10, 16) } else { (126, 126) };
    let (head, rest) = content.split_at(content.len().min(first));
    let mut content_of_b = head.to_vec();
    if format == FrameFormat::B {
        content_of_b[0] += 2 * (1 + rest.len().div_ceil(further)) as u8;
    }
    std::iter::once(&*content_of_b)
        .chain(rest.chunks(further))
        .flat_map(|block| [block, &crc16(block).to_be_bytes()].concat())
        .collect()
}

/// A datagram of the tests' meter whose frame is intact.
pub fn datagram(body: &[u8]) -> Datagram {
    let bytes = with_crcs(&frame(body), FrameFormat::A);
    Datagram::parse(Frame::parse(&bytes, FrameFormat::A).expect("a frame")).expect("a datagram")
}

/// Opens a message in one piece with the tests' key.
pub fn open(body: &[u8]) -> Result<OpenedMessage, OpenError> {
    message_of(&datagram(body)).open(Some(&MeterKey::new(KEY)))
}

pub fn cmac(key: &[u8; 16], bytes: &[u8]) -> [u8; 16] {
    <Cmac<Aes128> as Mac>::new(key.into()).chain_update(bytes).finalize().into_bytes().into()
}

/// Kenc for 0, Kmac for 1.
pub fn derived_key(constant: u8, counter: u32) -> [u8; 16] {
    cmac(&KEY, &[&[constant], &counter.to_le_bytes()[..], &ADDRESS[2..6], &[7; 7]].concat())
}

pub fn encrypt_cbc(key: &[u8; 16], vector: &[u8; 16], plaintext: &[u8]) -> Vec<u8> {
    cbc::Encryptor::<Aes128>::new(key.into(), vector.into()).encrypt_padded_vec_mut::<NoPadding>(plaintext)
}

/// A body of mode 5 with a configuration field and a plaintext of whole blocks.
pub fn profile_a(configuration: u16, plaintext: &[u8]) -> Vec<u8> {
    let mut vector = [0x2a; 16];
    vector[..8].copy_from_slice(&ADDRESS);
    let [low, high] = configuration.to_le_bytes();
    [&[0x7a, 0x2a, 0, low, high], &*encrypt_cbc(&KEY, &vector, plaintext)].concat()
}

/// A transport layer of mode 7 with a plaintext of whole blocks.
pub fn transport_b(counter: u32, plaintext: &[u8]) -> Vec<u8> {
    let blocks = (plaintext.len() / 16) as u8;
    let sealed = encrypt_cbc(&derived_key(0, counter), &[0; 16], plaintext);
    [&[0x7a, 0x2a, 0, blocks << 4, 0x07, 0x10], &*sealed].concat()
}

/// A fragmentation header of a whole message, with a MAC of `length` bytes.
pub fn fragmentation(message_control: u8, counter: u32, length: usize, transport: &[u8]) -> Vec<u8> {
    let fields = [&[message_control], &counter.to_le_bytes()[..]].concat();
    let mac = cmac(&derived_key(1, counter), &[&*fields, transport].concat());
    let mac = &mac[..length];
    let control = if mac.is_empty() { 0x28 } else { 0x2c };
    [&[0x90, (7 + mac.len()) as u8, 0, control], &*fields, mac].concat()
}

/// A body of mode 7 with its MAC of 8 bytes.
pub fn profile_b(counter: u32, plaintext: &[u8]) -> Vec<u8> {
    let transport = transport_b(counter, plaintext);
    [fragmentation(0x25, counter, 8, &transport), transport].concat()
}

/// A body of mode 10, with a count of encrypted bytes and a code of its MAC's length.
pub fn profile_d(counter: u32, encrypted: u8, tag: u8, plaintext: &[u8]) -> Vec<u8> {
    let header = [0x7a, 0x2a, 0, encrypted, 0x2a, 0x10, tag];
    let mut nonce = [0; 13];
    nonce[..8].copy_from_slice(&ADDRESS);
    nonce[9..].copy_from_slice(&counter.to_be_bytes());
    let cipher =
        ccm::Ccm::<Aes128, ccm::consts::U8, ccm::consts::U13>::new((&derived_key(0, counter)).into());
    let sealed = cipher.encrypt((&nonce).into(), Payload { msg: plaintext, aad: &header }).expect("short");
    [&header[..], &counter.to_le_bytes(), &*sealed].concat()
}
