//! The meter that others read (`device/oms`) on its boards' models: what is on the air is opened by
//! `wire`'s receiver and is, byte by byte, what the same C makes on the host; it measures; and it
//! loses its power at random.
//!
//! Twenty thousand cuts: `cargo test --release -p wattseal-sim --test suite oms::twenty --
//! --ignored --nocapture`. WATTSEAL_SEED=n begins with run n: a broken run goes on from the seed
//! that it printed last.

mod costs;

use device::meter::oms::{Reading, Sealing, telegram};
use lab::board::Quantity;
use lab::workspace::Workspace;
use mcu::chips::fm25::Fm25;
use mcu::{Signal, Stop};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sim::node::emulated::{BoardFirmware, EmulatedBoard};
use sim::radio::Emission;
use std::sync::Arc;
use wire::wireless_mbus::{
    Application, Datagram, FormatCache, Frame, FrameFormat, Manufacturer, MeterAddress, MeterKey, MeterSetup,
    OpenedMessage, Quantity as Measured, Reassembly, SecurityProfile, Value,
};

const BOARDS: [&str; 3] = ["emontx", "msp430f5438a-cc2500", "stm32f407-cc2500"];
const PROFILES: [u8; 3] = [5, 7, 10];
const GROUP: u8 = 0xd4;
/// A meter for electricity, of the maker and number of Annex N.
const ADDRESS: [u8; 8] = [0x93, 0x15, 0x78, 0x56, 0x34, 0x12, 0x01, 0x02];
const SECOND_NS: u64 = 1_000_000_000;
const MILLISECOND_NS: u64 = 1_000_000;
/// Offsets in `ws_oms_status`, `device/oms/oms.h`.
const STATUS_BYTES: usize = 20;
/// The EEPROM in the ATmega328P's model: `mcu::Segment`.
const EEPROM: u32 = 0x81_0000;

fn seed() -> u64 {
    std::env::var("WATTSEAL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

fn firmware(board: &str) -> Arc<BoardFirmware> {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let board = workspace.board(board).expect("a board");
    let variant = board.meter.clone().expect("a meter's board").variant;
    Arc::new(BoardFirmware::build(&workspace, board, &variant, "oms").expect("it builds"))
}

/// Data that is provisioned: `device/oms/oms.h`.
fn flash(sealing: &Sealing, interval_s: u16, phase: i16) -> Vec<u8> {
    let mut flash = vec![0; 176];
    flash[1] = 2;
    flash[6] = GROUP;
    flash[8..10].copy_from_slice(&interval_s.to_be_bytes());
    flash[10] = sealing.profile;
    flash[11] = sealing.format;
    flash[12..16].copy_from_slice(&867_000_u32.to_be_bytes());
    flash[16..20].copy_from_slice(&195_000_u32.to_be_bytes());
    flash[20..22].copy_from_slice(&phase.to_be_bytes());
    flash[22..30].copy_from_slice(&sealing.address);
    flash[32..48].copy_from_slice(&sealing.key);
    flash
}

/// A memory with the first record of numbers alone: docs/reference/protocol.md, "Provisioning".
fn memory() -> Vec<u8> {
    let mut memory = vec![0xff; 1024];
    let record = [1_u32.to_be_bytes(), 0_u32.to_be_bytes()].concat();
    let check = crc32fast::hash(&[b"WSN1", &record[..]].concat());
    memory[120..132].copy_from_slice(&[record, check.to_be_bytes().to_vec()].concat());
    memory
}

/// A meter on its board.
struct Meter {
    board: EmulatedBoard,
    status: u32,
    now_ns: u64,
    /// Bytes of the air that are no frame yet.
    heard: Vec<u8>,
}

impl Meter {
    fn new(firmware: &Arc<BoardFirmware>, sealing: &Sealing, interval_s: u16, seed: u64) -> Meter {
        let phase = firmware.board.meter.as_ref().map_or(0, |meter| meter.phase);
        Meter::provisioned(firmware, &flash(sealing, interval_s, phase), seed)
    }

    /// A meter with this flash.
    fn provisioned(firmware: &Arc<BoardFirmware>, flash: &[u8], seed: u64) -> Meter {
        let mut board = EmulatedBoard::new(firmware, Some(&memory())).expect("a model");
        let at = firmware.address("ws_provision").expect("a driver has it");
        assert!(board.machine_mut().poke(at, flash));
        let status = firmware.address("ws_oms_status").expect("the meter has it");
        let supply_v = firmware.board.supply_v;
        for (quantity, amplitude_v, seed) in
            [(Quantity::MainsVoltage, 1.0, seed), (Quantity::MainsCurrent, 0.1, seed + 1)]
        {
            let signal = Signal::Mains {
                offset_v: supply_v / 2.0,
                amplitude_v,
                hz: 50.0,
                phase_rad: 0.0,
                harmonics: Vec::new(),
                noise_v: 0.003,
                seed,
            };
            let channel = firmware.board.channel_of(quantity).expect("a sensor");
            board.machine_mut().board_mut().set_signal(channel, signal);
        }
        board.power_up(0);
        Meter { board, status, now_ns: 0, heard: Vec::new() }
    }

    /// Lives on, and returns the frames that went out.
    fn run(&mut self, for_ns: u64) -> Vec<Vec<u8>> {
        self.now_ns += for_ns;
        loop {
            let stop = self.board.run(self.now_ns, &[]).expect("the firmware runs");
            if stop != Stop::Cycles || self.board.now_ns() >= self.now_ns {
                break;
            }
        }
        let mut emissions = Vec::new();
        self.board.take_emissions(&mut emissions);
        let mut frames = Vec::new();
        for emission in emissions {
            match emission {
                Emission::Byte(byte) => self.heard.push(byte.byte),
                Emission::Packet { packet, .. } => frames.push(packet),
            }
        }
        while let Some(at) = self.heard.windows(2).position(|two| two == [0x2d, GROUP]) {
            let frame = &self.heard[at + 2..];
            // The first byte, how many follow, those, a check sum and a byte more.
            let Some(&len) = frame.get(1) else { break };
            let len = usize::from(len);
            if frame.len() < len + 5 {
                break;
            }
            frames.push([&frame[..1], &frame[2..2 + len]].concat());
            self.heard.drain(..at + 2 + len + 5);
        }
        frames
    }

    fn cut(&mut self, torn: u8) {
        self.board.cut_power(torn);
        self.heard.clear();
        self.now_ns += SECOND_NS;
        self.board.power_up(self.now_ns);
    }

    fn status(&self) -> [u8; STATUS_BYTES] {
        let mut status = [0; STATUS_BYTES];
        assert!(self.board.machine().peek(self.status, &mut status));
        status
    }

    fn memory(&self) -> Vec<u8> {
        let mut memory = vec![0; 1024];
        if !self.board.machine().peek(EEPROM, &mut memory) {
            let chip = self.board.machine().board().chip("FM25L16B").expect("a memory");
            let chip: &Fm25 = chip.downcast_ref().expect("an FM25L16B");
            memory.copy_from_slice(&chip.memory()[..1024]);
        }
        memory
    }
}

fn open(frame: &[u8], sealing: &Sealing) -> OpenedMessage {
    let format = if sealing.format == 0 { FrameFormat::A } else { FrameFormat::B };
    let datagram = Datagram::parse(Frame::parse(frame, format).expect("a frame")).expect("a datagram");
    let message = Reassembly::default().take(&datagram).expect("a message").expect("one piece");
    message.open(Some(&MeterKey::new(sealing.key))).expect("the meter's key")
}

/// The contents of a frame; of profile A's counter the access number.
fn read(frame: &[u8], sealing: &Sealing) -> Reading {
    let opened = open(frame, sealing);
    assert_eq!(opened.authenticated, sealing.profile != 5);
    let decoded = FormatCache::default().decode(&opened).expect("an application");
    let Application::Records { records, .. } = decoded else { panic!("{decoded:?}") };
    let value = |quantity| {
        let found = records.records.iter().find(|record| record.quantity == Some(quantity));
        match found.map(|record| &record.value) {
            Some(Value::Number(value)) => value.mantissa,
            other => panic!("{quantity:?}: {other:?}"),
        }
    };
    let access_number = opened.header.access_number.expect("a short header");
    Reading {
        counter: opened.counter.unwrap_or(access_number.into()),
        energy: value(Measured::Energy) as u32,
        power: value(Measured::Power) as i16,
        hours: value(Measured::OnTime) as u16,
        status: opened.header.status.expect("a short header").0,
    }
}

/// A witness of a meter over all its starts, on the air and in its memory.
struct Witness {
    sealing: Sealing,
    counters: std::collections::HashSet<u32>,
    newest: Option<Reading>,
    telegrams: u64,
}

impl Witness {
    fn new(sealing: Sealing) -> Witness {
        Witness { sealing, counters: Default::default(), newest: None, telegrams: 0 }
    }

    /// The newest record of the register that is whole: n and energy.
    fn kept(memory: &[u8]) -> Option<(u32, u32)> {
        let records = memory[256..].chunks_exact(12).filter(|record| {
            let check = crc32fast::hash(&[b"WSR1", &record[..8]].concat());
            record[8..] == check.to_be_bytes()
        });
        let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes"));
        records.map(|record| (number(&record[..4]), number(&record[4..8]))).max()
    }

    /// A frame was on the air, with that memory then.
    fn sent(&mut self, frame: &[u8], memory: &[u8], what: &str) {
        let read = read(frame, &self.sealing);
        let (n, energy) = Witness::kept(memory).expect("a register is kept before it is sent");
        assert_eq!((n as u8, energy & 0x7fff_ffff), (read.counter as u8, read.energy), "{what}");
        let whole = Reading { counter: n, ..read };
        assert_eq!(telegram(&self.sealing, &whole), frame, "{what}: not what the host makes of it");
        assert!(self.counters.insert(n), "{what}: counter {n} came twice");
        if let Some(before) = self.newest {
            assert!(n > before.counter, "{what}: counter {n} after {}", before.counter);
            assert!(read.energy >= before.energy, "{what}: {read:?} after {before:?}");
        }
        self.newest = Some(whole);
        self.telegrams += 1;
    }
}

fn sealing(profile: u8, format: u8, rng: &mut StdRng) -> Sealing {
    Sealing { profile, format, address: ADDRESS, key: rng.random() }
}

#[test]
fn telegrams_of_each_board_and_profile_are_read() {
    for board in BOARDS {
        let firmware = firmware(board);
        for (index, profile) in PROFILES.into_iter().enumerate() {
            let mut rng = StdRng::seed_from_u64(seed());
            let sealing = sealing(profile, (index % 2) as u8, &mut rng);
            let mut meter = Meter::new(&firmware, &sealing, 2, rng.random::<u32>().into());
            let mut witness = Witness::new(sealing);
            let what = format!("{board}, profile {profile}");
            for _ in 0..90 {
                for frame in meter.run(100 * MILLISECOND_NS) {
                    witness.sent(&frame, &meter.memory(), &what);
                }
            }
            let newest = witness.newest.unwrap_or_else(|| panic!("{what}: {:?}", meter.status()));
            println!("{what}: {} telegrams, {newest:?}", witness.telegrams);
            assert!(witness.telegrams >= 4, "{what}");
            // 1 V of amplitude at the voltage's sensor, and 0.1 V at the current's.
            let steps = |volts: f64| volts / 2f64.sqrt() / firmware.board.supply_v * 1024.0;
            let watts = steps(1.0) * 0.867 * steps(0.1) * 0.195;
            assert!((f64::from(newest.power) - watts).abs() < 0.02 * watts, "{what}: {watts} W");
            assert!(newest.energy > 0 && newest.status == 0, "{what}: {newest:?}");
        }
    }
}

/// The collector writes what this file writes by the offsets of the header.
#[test]
fn provisioned_bytes_are_those_of_the_header() {
    let mut rng = StdRng::seed_from_u64(seed());
    let [m0, m1, i0, i1, i2, i3, version, device_type] = ADDRESS;
    let manufacturer = Manufacturer(u16::from_le_bytes([m0, m1]));
    let address = MeterAddress { manufacturer, identification: [i0, i1, i2, i3], version, device_type };
    let profiles = [SecurityProfile::A, SecurityProfile::B, SecurityProfile::D];
    for (profile, mode) in profiles.into_iter().zip(PROFILES) {
        for (number, format) in [FrameFormat::A, FrameFormat::B].into_iter().enumerate() {
            let sealing = sealing(mode, number as u8, &mut rng);
            let setup = MeterSetup {
                address,
                profile,
                format,
                channel: GROUP,
                power: 0,
                interval_s: 0x0102,
                voltage_uv: 867_000,
                current_ua: 195_000,
                phase: -21,
            };
            assert_eq!(setup.flash(&sealing.key)[..], flash(&sealing, 0x0102, -21));
        }
    }
    assert_eq!(MeterSetup::eeprom()[..], memory());
}

#[test]
fn access_numbers_go_on_one_by_one_over_a_start() {
    let mut rng = StdRng::seed_from_u64(seed());
    let sealing = sealing(5, 0, &mut rng);
    let mut meter = Meter::new(&firmware("emontx"), &sealing, 1, 1);
    let mut access_numbers = Vec::new();
    for _ in 0..4 {
        for _ in 0..40 {
            access_numbers
                .extend(meter.run(100 * MILLISECOND_NS).iter().map(|frame| read(frame, &sealing).counter));
        }
        // Within a second, so that no telegram is due.
        meter.cut(0);
    }
    assert!(access_numbers.len() >= 8, "{access_numbers:?}");
    assert!(access_numbers.is_sorted_by(|before, after| before + 1 == *after), "{access_numbers:?}");
}

#[test]
fn wrong_settings_are_refused() {
    let firmware = firmware("emontx");
    let mut rng = StdRng::seed_from_u64(1);
    let sealing = sealing(7, 1, &mut rng);
    let sound = flash(&sealing, 1, 0);
    let with = |at: usize, bytes: &[u8]| {
        let mut flash = sound.clone();
        flash[at..at + bytes.len()].copy_from_slice(bytes);
        flash
    };
    for (what, flash, sends) in [
        ("sound", sound.clone(), true),
        ("erased", vec![0xff; 176], false),
        ("another protocol's", with(0, &[0, 1]), false),
        ("without an interval", with(8, &[0, 0]), false),
        ("profile C", with(10, &[13]), false),
        ("without a profile", with(10, &[0]), false),
        ("without a frame format", with(11, &[2]), false),
        ("without a maker", with(22, &[0, 0]), false),
    ] {
        let mut meter = Meter::provisioned(&firmware, &flash, 1);
        let frames = meter.run(3 * SECOND_NS);
        assert_eq!(!frames.is_empty(), sends, "{what}");
    }
    // Nothing is measured, and the status byte says so.
    let mut meter = Meter::provisioned(&firmware, &with(12, &[0; 4]), 1);
    let frames = meter.run(3 * SECOND_NS);
    assert_eq!(frames.first().map(|frame| read(frame, &sealing).status), Some(8));
}

/// Cuts at random; half of them soon after the start, while its records are written. Returns how
/// many telegrams came.
fn cuts_at_random(firmware: &Arc<BoardFirmware>, profile: u8, cuts: u64, seed: u64) -> u64 {
    let mut rng = StdRng::seed_from_u64(seed);
    let sealing = sealing(profile, (seed % 2) as u8, &mut rng);
    let mut meter = Meter::new(firmware, &sealing, 1, seed);
    let mut witness = Witness::new(sealing);
    let what = format!("profile {profile}, seed {seed}");
    for _ in 0..cuts {
        // A telegram is due after a second, and its register is written then.
        let soon = rng.random_range(0..200 * MILLISECOND_NS);
        let due = rng.random_range(990 * MILLISECOND_NS..1200 * MILLISECOND_NS);
        let long = rng.random_range(0..2500 * MILLISECOND_NS);
        let mut left_ns = [soon, due, due, long][rng.random_range(0..4)];
        while left_ns > 0 {
            let step_ns = left_ns.min(25 * MILLISECOND_NS);
            left_ns -= step_ns;
            for frame in meter.run(step_ns) {
                witness.sent(&frame, &meter.memory(), &what);
            }
        }
        meter.cut(rng.random());
    }
    // It comes back.
    let before = witness.telegrams;
    for _ in 0..60 {
        for frame in meter.run(50 * MILLISECOND_NS) {
            witness.sent(&frame, &meter.memory(), &what);
        }
    }
    assert!(witness.telegrams > before, "{what}: {:?}", meter.status());
    witness.telegrams
}

#[test]
fn no_counter_comes_twice_and_the_register_never_goes_back() {
    let firmware = firmware("emontx");
    for profile in PROFILES {
        let telegrams = cuts_at_random(&firmware, profile, 24, seed() + u64::from(profile));
        println!("profile {profile}: {telegrams} telegrams");
        assert!(telegrams >= 6, "{telegrams}");
    }
}

#[test]
#[ignore = "takes a quarter of an hour"]
fn twenty_thousand_cuts() {
    const RUNS: u64 = 200;
    const CUTS: u64 = 100;
    let firmware = firmware("emontx");
    for run in seed()..=RUNS {
        let profile = PROFILES[run as usize % PROFILES.len()];
        let telegrams = cuts_at_random(&firmware, profile, CUTS, run);
        println!("seed {run}, profile {profile}: {telegrams} telegrams, {} cuts so far", run * CUTS);
    }
}
