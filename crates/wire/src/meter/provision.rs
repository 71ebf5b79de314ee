//! The bytes that are written into a meter when it is made, and the collector's record of it:
//! docs/reference/protocol.md, "Provisioning".

use super::{Identity, MeterId, MeterKeys, PublicKey, Record, Suite};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Bytes in flash.
pub const FLASH_BYTES: usize = 176;
/// Bytes of non-volatile memory.
pub const EEPROM_BYTES: usize = 1024;
/// The symbol of the linked program where [`Provision::flash`] is to be written before the part
/// starts.
pub const PROVISION_SYMBOL: &str = "ws_provision";
/// The symbol of the linked program whose value, and not what is there, says which suites it has: a
/// bit of each, by its code.
pub const SUITES_SYMBOL: &str = "ws_meter_suites";

/// The settings of a new meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Its name; not 0.
    pub meter: MeterId,
    /// Its radio address. With JeeLib's framing: 0x40 and a node number, 1 to 30.
    pub address: u8,
    /// The collector's radio address.
    pub collector_address: u8,
    /// RFM12B: group; CC2500: CHANNR.
    pub channel: u8,
    /// Output power as the radio has it.
    pub power: u8,
    /// Seconds between measurements, at least 1.
    pub interval_s: u16,
    /// The suite that it seals in at first.
    pub suite: Suite,
    /// Voltage of a step of the converter, in microvolts: 1 to 4,000,000.
    pub voltage_uv: u32,
    /// Current of a step of the converter, in microamperes: 1 to 4,000,000, and with the voltage's
    /// a product of at least 110,000,000.
    pub current_ua: u32,
    /// By how much later the voltage is to be taken, in 1/256 of a sampling interval: -256 to 256.
    pub phase: i16,
}

impl Setup {
    /// A meter of which nothing was chosen but its name: AES-128-GCM each 10 s, group 210, a
    /// collector at node 15, which is what RFM12Pi and RFM69Pi are set to, and the converter's
    /// steps of an emonTx with its voltage and current transformers.
    #[must_use]
    pub const fn usual(meter: MeterId) -> Setup {
        let collector_address = 0x4f;
        Setup {
            meter,
            address: Setup::node_address(meter, collector_address),
            collector_address,
            channel: 210,
            power: 0,
            interval_s: 10,
            suite: Suite::Aes128Gcm,
            voltage_uv: 270_000,
            current_ua: 52_000,
            phase: 0,
        }
    }

    /// A radio address with JeeLib's framing for a meter where nobody chose one: 0x40 and a node
    /// from 1 to 30, by its number, another than the collector's.
    #[must_use]
    pub const fn node_address(meter: MeterId, collector_address: u8) -> u8 {
        let address = 0x40 | (1 + (meter % 30) as u8);
        match address == collector_address {
            false => address,
            true => 0x40 | (1 + ((meter + 1) % 30) as u8),
        }
    }
}

/// The collector's record of a meter. It is as secret as the keys in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeterRecord {
    /// The settings that it was made with.
    pub setup: Setup,
    /// The keys that it shares with the collector.
    pub keys: MeterKeys,
    /// The meter's public key.
    pub public: PublicKey,
}

/// A meter that is to be made.
#[derive(Clone)]
pub struct Provision {
    setup: Setup,
    keys: MeterKeys,
    identity: Identity,
    collector: PublicKey,
    seed: Zeroizing<[u8; 48]>,
}

impl Provision {
    /// Makes all keys and the first seed of a meter. Keys are made anew for each meter and each
    /// time that one is provisioned again: nonces begin with 1 again.
    #[must_use]
    pub fn generate(setup: Setup, collector: &PublicKey, rng: &mut impl CryptoRng) -> Provision {
        let mut seed = Zeroizing::new([0; 48]);
        rng.fill_bytes(&mut seed[..]);
        let (keys, identity) = (MeterKeys::generate(rng), Identity::generate(rng));
        Provision { setup, keys, identity, collector: *collector, seed }
    }

    /// A meter with keys that are there already: for tests and published examples.
    #[must_use]
    pub fn with_keys(
        setup: Setup,
        keys: MeterKeys,
        identity: Identity,
        collector: &PublicKey,
        seed: [u8; 48],
    ) -> Provision {
        Provision { setup, keys, identity, collector: *collector, seed: Zeroizing::new(seed) }
    }

    /// Returns the settings that were chosen.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The meter's key pair.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the record that the collector keeps.
    #[must_use]
    pub fn record(&self) -> MeterRecord {
        MeterRecord { setup: self.setup, keys: self.keys.clone(), public: *self.identity.public() }
    }

    /// Returns the bytes for [`PROVISION_SYMBOL`].
    #[must_use]
    pub fn flash(&self) -> Zeroizing<[u8; FLASH_BYTES]> {
        let Setup { meter, address, collector_address, channel, power, interval_s, suite, .. } = self.setup;
        let Setup { voltage_uv, current_ua, phase, .. } = self.setup;
        let (key128, key256) = self.keys.expose();
        let record = Record::new()
            .with(&1u16.to_be_bytes())
            .with(&meter.to_be_bytes())
            .with(&[address, collector_address, channel, power])
            .with(&interval_s.to_be_bytes())
            .with(&[suite.code(), 0])
            .with(&voltage_uv.to_be_bytes())
            .with(&current_ua.to_be_bytes())
            .with(&phase.to_be_bytes())
            .with(&self.identity.public().to_bytes()[..8])
            .with(&[0; 2])
            .with(key128)
            .with(key256)
            .with(&self.identity.private_bytes()[..])
            .with(&self.collector.to_bytes());
        Zeroizing::new(record.bytes)
    }

    /// The first contents of the non-volatile memory.
    #[must_use]
    pub fn eeprom(&self) -> Zeroizing<[u8; EEPROM_BYTES]> {
        let mut image = Zeroizing::new([0xff; EEPROM_BYTES]);
        let seed = Record::<52>::new().with(&[0; 4]).with(&self.seed[..]).bytes;
        image[..52].copy_from_slice(&seed);
        image[52..60].copy_from_slice(&Sha256::digest(seed)[..8]);
        put_first_numbers(&mut image);
        let Setup { meter, address, collector_address, interval_s, suite, .. } = self.setup;
        let Setup { voltage_uv, current_ua, phase, .. } = self.setup;
        let settings = Record::<28>::new()
            .with(&1u32.to_be_bytes())
            .with(&0u32.to_be_bytes())
            .with(&[0, suite.code()])
            .with(&interval_s.to_be_bytes())
            .with(&meter.to_be_bytes())
            .with(&[address, collector_address])
            .with(&voltage_uv.to_be_bytes())
            .with(&current_ua.to_be_bytes())
            .with(&phase.to_be_bytes())
            .bytes;
        image[156..184].copy_from_slice(&settings);
        image[184..188].copy_from_slice(&check(b"WSS1", &settings));
        image
    }
}

/// Puts the first record of numbers into a memory: the next number is 1, and nothing was before.
pub(crate) fn put_first_numbers(image: &mut [u8; EEPROM_BYTES]) {
    let numbers = Record::<8>::new().with(&1u32.to_be_bytes()).with(&[0; 4]).bytes;
    image[120..128].copy_from_slice(&numbers);
    image[128..132].copy_from_slice(&check(b"WSN1", &numbers));
}

/// CRC-32 (ISO 3309) over the letters of a record's kind and the record.
fn check(letters: &[u8; 4], record: &[u8]) -> [u8; 4] {
    crc32fast::hash(&[letters.as_slice(), record].concat()).to_be_bytes()
}
