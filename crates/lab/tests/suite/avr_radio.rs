//! Two ATmega328P with an RFM12B each, and the driver between them
//! (`device/ports/avr/drivers/rfm12b.c`, `device/exchange`), in the framing of JeeLib
//! (docs/reference/protocol.md, "On an RFM12B"), which is computed here by hand.

use firmware::Firmware;
use firmware::build_app;
use lab::workspace::Workspace;
use mcu::chips::rfm12b::{AirByte, Rfm12b};
use mcu::{Mcu, Residency, Stop, Until};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{SystemTime, UNIX_EPOCH};

const CLOCK_HZ: u64 = 16_000_000;
const TICKS_HZ: f64 = 15_625.0;
/// 29 (6 + 1) periods of 10 MHz are a bit (the data sheet, "Data Rate Command", C606h).
const BYTE_NS: u64 = 8 * 29 * 7 * 100;
/// Latency of a byte from station to station, and the largest distance between their times.
const LATENCY_NS: u64 = 40_000;
const STEP_CYCLES: u64 = 500;

const GROUP: u8 = 0xd4;
const ALICE: u8 = 0x40 | 1;
const BOB: u8 = 0x40 | 2;

/// The calls, `device/exchange/main.c`.
const START: u8 = 1;
const SEND: u8 = 2;
const LISTEN: u8 = 3;
const SLEEP: u8 = 4;
const SAMPLE: u8 = 5;
/// Fields of `ws_exchange`.
const RESULT: u32 = 4;
const LEN: u32 = 6;
const WHAT: u32 = 7;
const BYTES: u32 = 8;
const LOAD: u32 = 69;

struct SimulatedNode {
    machine: Box<dyn Mcu>,
    exchange: u32,
}

impl SimulatedNode {
    /// Without a radio where `radio` is not wanted.
    fn new(radio: bool) -> SimulatedNode {
        let workspace = Workspace::find().expect("the project's folder");
        let mut emontx = workspace.board("emontx").expect("a board");
        if !radio {
            emontx.chips.clear();
        }
        let target = workspace.target(&emontx.target).expect("a target");
        let source = workspace.board_source(&emontx, &target, Some(CLOCK_HZ)).expect("a clock of the part");
        let path = build_app(&source, "small", "exchange").expect("it builds");
        let firmware = Firmware::read(&path, target.part.core).expect("an ELF file");
        let mut machine = mcu::new_machine(&target.part, CLOCK_HZ).expect("a model");
        machine.load(firmware.image()).expect("it fits");
        emontx.mount(&mut *machine, None).expect("a board");
        machine.reset();
        let exchange = firmware.symbol("ws_exchange").expect("device/exchange has it").address;
        let mut station = SimulatedNode { machine, exchange };
        // Start-up clears what the host writes later.
        station.run_to(CLOCK_HZ / 1000);
        station
    }

    fn radio(&mut self) -> &mut Rfm12b {
        let board = self.machine.board_mut();
        board.chip_mut("RFM12B").expect("mounted").downcast_mut().expect("an RFM12B")
    }

    fn now_ns(&self) -> u64 {
        self.machine.cycles() * 1000 / 16
    }

    fn run_to(&mut self, cycles: u64) {
        let stop = self.machine.run(&Until { cycles: Some(cycles), ..Until::default() });
        assert_eq!(stop, Ok(Stop::Cycles), "at {:#06x}", self.machine.pc());
    }

    fn write(&mut self, at: u32, bytes: &[u8]) {
        assert!(self.machine.poke(self.exchange + at, bytes));
    }

    fn read<const N: usize>(&self, at: u32) -> [u8; N] {
        let mut bytes = [0; N];
        assert!(self.machine.peek(self.exchange + at, &mut bytes));
        bytes
    }

    fn call(&mut self, what: u8, ticks: u32, bytes: &[u8]) {
        assert!(!self.busy(), "one call at a time");
        self.write(0, &ticks.to_le_bytes());
        self.write(LEN, &[bytes.len() as u8]);
        self.write(BYTES, bytes);
        self.write(WHAT, &[what]);
    }

    fn busy(&self) -> bool {
        self.read::<1>(WHAT) != [0]
    }

    fn result(&self) -> i16 {
        i16::from_le_bytes(self.read(RESULT))
    }

    fn packet(&self) -> Vec<u8> {
        let len = usize::try_from(self.result()).expect("a length");
        self.read::<61>(BYTES)[..len].to_vec()
    }

    /// Time that its radio has spent in a state.
    fn spent_ns(&mut self, state: &str) -> u64 {
        let index = Rfm12b::STATES.iter().position(|name| *name == state).expect("a state");
        let now_ns = self.now_ns();
        self.radio().spent_ns(now_ns)[index]
    }
}

/// Two stations, and all that goes through the air between them.
struct Air {
    stations: [SimulatedNode; 2],
    /// By sender.
    sent: [Vec<AirByte>; 2],
    /// Indices of unreadable bytes of the air, counted from the start of the test.
    spoilt: Vec<usize>,
    count: usize,
}

impl Air {
    /// Both set up for the group; their sampler's interrupts come with this load.
    fn new(load: u16) -> Air {
        let stations = [SimulatedNode::new(true), SimulatedNode::new(true)];
        let mut air = Air { stations, sent: [vec![], vec![]], spoilt: vec![], count: 0 };
        air.both(|station, index| station.call(START, 0, &[[ALICE, BOB][index], GROUP, 0]));
        air.both(|station, _| {
            assert_eq!(station.result(), 0);
            if load != 0 {
                station.write(LOAD, &load.to_le_bytes());
                station.call(SAMPLE, 0, &[]);
            }
        });
        air
    }

    /// Does something to both, and waits until they have done it.
    fn both(&mut self, mut what: impl FnMut(&mut SimulatedNode, usize)) {
        for (index, station) in self.stations.iter_mut().enumerate() {
            what(station, index);
        }
        self.until(|air| air.stations.iter().all(|station| !station.busy()));
    }

    fn step(&mut self) {
        let cycles = self.stations.iter().map(|station| station.machine.cycles()).min().expect("two");
        for from in 0..2 {
            self.stations[from].run_to(cycles + STEP_CYCLES);
            for byte in self.stations[from].radio().take_on_air() {
                let readable = !self.spoilt.contains(&self.count);
                self.count += 1;
                self.sent[from].push(byte);
                let later = AirByte {
                    start_ns: byte.start_ns + LATENCY_NS,
                    end_ns: byte.end_ns + LATENCY_NS,
                    byte: byte.byte,
                };
                self.stations[1 - from].radio().hear(later, readable);
            }
        }
    }

    fn until(&mut self, done: impl Fn(&Air) -> bool) {
        let limit = self.stations[0].machine.cycles() + CLOCK_HZ;
        while !done(self) {
            assert!(self.stations[0].machine.cycles() < limit, "within a second");
            self.step();
        }
    }

    fn run_ms(&mut self, ms: u64) {
        let end = self.stations[0].machine.cycles() + ms * CLOCK_HZ / 1000;
        self.until(|air| air.stations[0].machine.cycles() >= end);
    }

    /// Lets a station hear this, at once; returns when it ends.
    fn broadcast(&mut self, to: usize, bytes: &[u8]) -> u64 {
        let start_ns = self.stations[to].now_ns() + LATENCY_NS;
        bytes.iter().fold(start_ns, |start_ns, byte| {
            let air = AirByte { start_ns, end_ns: start_ns + BYTE_NS, byte: *byte };
            self.stations[to].radio().hear(air, true);
            air.end_ns
        })
    }
}

fn ticks(ms: f64) -> u32 {
    (ms * 1e-3 * TICKS_HZ) as u32
}

/// x^16 + x^15 + x^2 + 1 the other way around, begun with ones: CRC-16/MODBUS of the catalogues,
/// whose check value is 4b37h.
fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xa001 } else { sum >> 1 })
    })
}

/// JeeLib's frame behind the preamble.
fn frame(group: u8, packet: &[u8]) -> Vec<u8> {
    let mut bytes = vec![group, packet[0], packet.len() as u8 - 1];
    bytes.extend(&packet[1..]);
    let sum = crc(&bytes);
    [vec![0xaa, 0xaa, 0xaa, 0x2d], bytes, sum.to_le_bytes().to_vec()].concat()
}

fn packet(to: u8, len: u8) -> Vec<u8> {
    std::iter::once(to).chain((1..len).map(|index| index.wrapping_mul(37) ^ 0x5a)).collect()
}

#[test]
fn the_check_sum_is_the_catalogues() {
    assert_eq!(crc(b"123456789"), 0x4b37);
}

/// Both ways, and what is on the air meanwhile, byte by byte: five bytes of preamble, 2Dh, the
/// group, header, length, payload, check sum, and of one more the beginning.
#[test]
fn packets_go_both_ways_in_jeelibs_framing() {
    let mut air = Air::new(20);
    let there = packet(BOB, 41);
    air.stations[1].call(LISTEN, ticks(100.0), &[]);
    air.run_ms(10);
    let before = air.stations[0].spent_ns("tx");
    air.stations[0].call(SEND, 0, &there);
    air.until(|air| air.stations.iter().all(|station| !station.busy()));
    assert_eq!((air.stations[0].result(), air.stations[1].result()), (0, 41));
    assert_eq!(air.stations[1].packet(), there);

    let sent = std::mem::take(&mut air.sent[0]);
    let bytes: Vec<u8> = sent.iter().map(|byte| byte.byte).collect();
    assert_eq!(bytes, [vec![0xaa, 0xaa], frame(GROUP, &there), vec![0xaa]].concat());
    // 5 + 2 + 2 + 40 + 2 bytes at 49,261 bit/s are 8.2824 ms.
    let whole_ns = sent[50].end_ns - sent[0].start_ns;
    assert_eq!((sent.len(), whole_ns), (52, 51 * BYTE_NS));
    let on_air_ns = air.stations[0].spent_ns("tx") - before;
    println!(
        "41 bytes: {} us to the end of the check sum, transmitter on for {} us",
        whole_ns / 1000,
        on_air_ns / 1000
    );
    assert!((whole_ns..whole_ns + BYTE_NS / 4).contains(&on_air_ns), "{on_air_ns} ns");

    let back = packet(ALICE, 61);
    air.stations[0].call(LISTEN, ticks(100.0), &[]);
    air.run_ms(1);
    air.stations[1].call(SEND, 0, &back);
    air.until(|air| air.stations.iter().all(|station| !station.busy()));
    assert_eq!(air.stations[0].packet(), back);
    // As it stands in JeeLib's order; the check sum d352h by long division in another program.
    air.sent[0].clear();
    air.stations[1].call(LISTEN, ticks(100.0), &[]);
    air.run_ms(1);
    air.stations[0].call(SEND, 0, &[BOB, 0x61, 0x62, 0x63]);
    air.until(|air| air.stations.iter().all(|station| !station.busy()));
    assert_eq!(air.stations[1].packet(), [BOB, 0x61, 0x62, 0x63]);
    let bytes: Vec<u8> = air.sent[0].iter().map(|byte| byte.byte).collect();
    let expected = [0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0x2d, 0xd4, 0x42, 3, 0x61, 0x62, 0x63, 0x52, 0xd3, 0xaa];
    assert_eq!(bytes, expected);
    // The shortest, only its address.
    air.stations[1].call(LISTEN, ticks(100.0), &[]);
    air.run_ms(1);
    air.stations[0].call(SEND, 0, &[BOB]);
    air.until(|air| air.stations.iter().all(|station| !station.busy()));
    assert_eq!(air.stations[1].packet(), [BOB]);
}

/// Disturbed packets, those for others or of another group, and too long ones are not heard; the
/// packet after them is.
#[test]
fn only_whole_packets_for_the_station_are_heard() {
    let mut air = Air::new(20);
    let right = packet(BOB, 20);
    let mut wrong = frame(GROUP, &right);
    let last = wrong.len() - 1;
    wrong[last] ^= 0x10;
    let mut flipped = frame(GROUP, &right);
    flipped[9] ^= 0x01;
    let mut long = frame(GROUP, &packet(BOB, 61));
    long[6] = 61;
    let others = [
        wrong,
        flipped,
        long,
        frame(GROUP, &packet(ALICE, 20)),
        // A broadcast of JeeLib's, and one that asks for an acknowledgement.
        frame(GROUP, &packet(2, 20)),
        frame(GROUP, &packet(BOB | 0x20, 20)),
        frame(GROUP ^ 1, &right),
        // The length does not reach its end.
        frame(GROUP, &right)[..15].to_vec(),
    ];
    for other in others {
        air.stations[1].call(LISTEN, ticks(80.0), &[]);
        air.run_ms(10);
        air.broadcast(1, &[vec![0xaa, 0xaa], other.clone()].concat());
        air.run_ms(30);
        assert!(air.stations[1].busy(), "{other:02x?}");
        air.broadcast(1, &[vec![0xaa, 0xaa], frame(GROUP, &right)].concat());
        air.until(|air| !air.stations[1].busy());
        assert_eq!(air.stations[1].packet(), right, "after {other:02x?}");
    }
    // A byte that two stations sent at once.
    air.stations[1].call(LISTEN, ticks(30.0), &[]);
    air.run_ms(1);
    air.spoilt = vec![air.count + 12];
    air.stations[0].call(SEND, 0, &right);
    air.until(|air| air.stations.iter().all(|station| !station.busy()));
    assert_eq!((air.stations[0].result(), air.stations[1].result()), (0, 0));
}

/// Listening ends at its deadline, but not before the end of a packet that has begun.
#[test]
fn listening_ends_in_time() {
    let mut air = Air::new(0);
    air.both(|station, _| station.call(LISTEN, ticks(10.0), &[]));
    for _ in 0..2 {
        let from_ns = air.stations[1].now_ns();
        air.both(|station, _| station.call(LISTEN, ticks(20.0), &[]));
        let took_ns = air.stations[1].now_ns() - from_ns;
        assert_eq!(air.stations[1].result(), 0);
        assert!((20_000_000..20_300_000).contains(&took_ns), "{took_ns}");
    }
    let last = packet(BOB, 61);
    air.stations[1].call(LISTEN, ticks(5.0), &[]);
    air.run_ms(1);
    let end_ns = air.broadcast(1, &frame(GROUP, &last));
    air.until(|air| !air.stations[1].busy());
    assert_eq!(air.stations[1].packet(), last);
    assert!(air.stations[1].now_ns() - end_ns < 100_000);
    // One that breaks off holds it for 12 ms and a tick or two.
    air.stations[1].call(LISTEN, ticks(5.0), &[]);
    air.run_ms(1);
    let end_ns = air.broadcast(1, &frame(GROUP, &last)[..7]);
    air.until(|air| !air.stations[1].busy());
    assert_eq!(air.stations[1].result(), 0);
    assert!((11_000_000..13_000_000).contains(&(air.stations[1].now_ns() - end_ns)));
}

/// While a radio sleeps or nothing is to be done, it draws what its state says.
#[test]
fn the_radio_sleeps_between() {
    let mut air = Air::new(0);
    air.run_ms(10);
    let before = air.stations[0].spent_ns("sleep");
    air.run_ms(10);
    let slept_ns = air.stations[0].spent_ns("sleep") - before;
    assert!((10_000_000..10_100_000).contains(&slept_ns), "{slept_ns} ns after its start");
    air.stations[0].call(SEND, 0, &packet(BOB, 5));
    air.until(|air| !air.stations[0].busy());
    let (crystal, idle) = (air.stations[0].spent_ns("crystal"), air.stations[0].spent_ns("idle"));
    assert_eq!(crystal, 102_000_000, "power-on reset, and t_sx");
    air.run_ms(5);
    assert!(air.stations[0].spent_ns("idle") - idle >= 5_000_000);
    air.stations[0].call(SLEEP, 0, &[]);
    air.until(|air| !air.stations[0].busy());
    let before = air.stations[0].spent_ns("sleep");
    air.run_ms(5);
    assert!(air.stations[0].spent_ns("sleep") - before >= 5_000_000);
}

#[test]
fn without_a_radio_it_says_so() {
    let mut station = SimulatedNode::new(false);
    station.run_to(CLOCK_HZ / 100);
    station.call(START, 0, &[BOB, GROUP, 0]);
    while station.busy() {
        station.run_to(station.machine.cycles() + 1000);
        assert!(station.now_ns() < 1_000_000_000);
    }
    assert_eq!(station.result(), -1);
}

/// Interrupts of the sampler do not lose a byte, whenever they come: 2,500 a second, and each as
/// long as the load makes it.
#[test]
fn no_byte_is_lost_beside_the_sampler() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_nanos() as u64;
    println!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    // 4 cycles each, beside the 80 and more of the interrupt itself: the meter's are 250 together,
    // and 2,200 go well.
    for load in [1, 50, 500] {
        let mut air = Air::new(load);
        for _ in 0..8 {
            let len = random.random_range(1..=61);
            let there: Vec<u8> = std::iter::once(BOB).chain((1..len).map(|_| random.random())).collect();
            air.stations[1].call(LISTEN, ticks(100.0), &[]);
            air.run_ms(8);
            let wait = random.random_range(0..20);
            (0..wait).for_each(|_| air.step());
            let before = air.stations.each_ref().map(|station| station.machine.residency());
            air.stations[0].call(SEND, 0, &there);
            air.until(|air| !air.stations[0].busy());
            for (station, before) in air.stations.iter().zip(&before) {
                let Residency { active, asleep } = station.machine.residency().since(before);
                let share = active[0] as f64 / (active[0] + asleep[0].cycles) as f64;
                println!("load {load}, {len} bytes: {share:.3} of the time awake");
                assert!(load > 1 || share < 0.25, "{share}");
            }
            air.until(|air| !air.stations[1].busy());
            assert_eq!(
                (air.stations[0].result(), air.stations[1].packet()),
                (0, there),
                "load {load}, seed {seed}"
            );
        }
    }
}
