//! The harvested node's firmware as it is built for the part, on the model of the part with its
//! radio: it signs what it sends, answers challenges, sleeps without energy, and leaves no copy of
//! its key in RAM.

use firmware::Firmware;
use firmware::build_app;
use lab::board::{BoardDescription, Quantity};
use lab::reference::curve::Curve;
use lab::workspace::Workspace;
use mcu::chips::cc2500::{Cc2500, Frame};
use mcu::{Access, AccessKind, Board, Mcu, Observer, Stop, Until};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use wire::node::{
    CONFIG_SYMBOL, Challenge, Config, Message, Mode, Reassembly, STATUS_SYMBOL, Scheme, State, Status,
    Trigger,
};

const BOARD: &str = "msp430f5438a-cc2500";
const NODE: u32 = 0xc0ff_ee01;
const NODE_ADDRESS: u8 = 0x11;
const SERVER_ADDRESS: u8 = 0x22;

/// A node on its board.
struct Rig {
    machine: Box<dyn Mcu>,
    description: BoardDescription,
    clock_hz: u64,
    config_at: u32,
    status_at: u32,
    config: Config,
    reassembly: Reassembly,
}

impl Rig {
    fn new(config: Config, clock_hz: u64) -> Rig {
        let workspace = Workspace::find().expect("the project's folder");
        let description = workspace.board(BOARD).expect("a board");
        let (machine, firmware) = load(&workspace, &description, clock_hz);
        let symbol = |name| firmware.symbol(name).expect("node.h names it").address;
        let mut rig = Rig {
            machine,
            description,
            clock_hz,
            config_at: symbol(CONFIG_SYMBOL),
            status_at: symbol(STATUS_SYMBOL),
            config,
            reassembly: Reassembly::default(),
        };
        assert!(rig.machine.poke(rig.config_at, &rig.config.to_bytes()));
        rig
    }

    fn board(&mut self) -> &mut Board {
        self.machine.board_mut()
    }

    fn radio(&mut self) -> &mut Cc2500 {
        self.board().chip_mut("CC2500").expect("mounted").downcast_mut().expect("a CC2500")
    }

    fn stored(&mut self, volts: f64) {
        let sensor = self.description.sensor(Quantity::StoredVoltage).expect("a sensor").clone();
        self.board().set_analog(sensor.channel, volts / f64::from(sensor.divider));
    }

    fn run_s(&mut self, seconds: f64) {
        let cycles = self.machine.cycles() + (seconds * self.clock_hz as f64) as u64;
        let stop = self.machine.run(&Until { cycles: Some(cycles), ..Until::default() });
        assert_eq!(stop, Ok(Stop::Cycles), "at {:#06x}", self.machine.pc());
    }

    fn status(&self) -> Status {
        let mut bytes = [0; Status::BYTES];
        assert!(self.machine.peek(self.status_at, &mut bytes));
        Status::from_bytes(&bytes).expect("a state that there is")
    }

    /// Messages since the last call, each with the time at which its first packet began.
    fn messages(&mut self) -> Vec<(u64, Message)> {
        let mut begin_ns = None;
        let mut messages = Vec::new();
        for frame in self.radio().take_sent() {
            assert_eq!(frame.bytes[0], SERVER_ADDRESS);
            begin_ns = begin_ns.or(Some(frame.start_ns));
            if let Some(message) = self.reassembly.take(&frame.bytes).expect("a node's packet") {
                messages.extend(begin_ns.take().map(|begin_ns| (begin_ns, message)));
            }
        }
        messages
    }

    /// By an independent library.
    fn verified(&self, message: &Message, challenge: &[u8; 16]) -> bool {
        let key = &self.config.private_key[..self.config.scheme.key_bytes()];
        let curve = match self.config.scheme {
            Scheme::Secp160r1 => Curve::Secp160r1,
            Scheme::P256 => Curve::P256,
        };
        let public = curve.public(key).expect("a key");
        curve.verifies(&public, &message.signed_bytes(challenge), &message.signature).expect("a verdict")
    }
}

fn load(workspace: &Workspace, description: &BoardDescription, clock_hz: u64) -> (Box<dyn Mcu>, Firmware) {
    let target = workspace.target(&description.target).expect("a target");
    let source = workspace.board_source(description, &target, Some(clock_hz)).expect("a clock of the part");
    let path = build_app(&source, "fast", "node").expect("it builds");
    let firmware = Firmware::read(&path, target.part.core).expect("an ELF file");
    let mut machine = mcu::new_machine(&target.part, clock_hz).expect("a model");
    machine.load(firmware.image()).expect("it fits");
    description.mount(&mut *machine, None).expect("a board");
    machine.reset();
    (machine, firmware)
}

fn config(mode: Mode, scheme: Scheme) -> Config {
    let mut private_key = [0; 32];
    for (n, byte) in private_key.iter_mut().enumerate() {
        *byte = (37 * n + 11) as u8;
    }
    if scheme == Scheme::Secp160r1 {
        // Below the order, which has 161 bits.
        private_key[0] = 0;
    }
    Config {
        mode,
        scheme,
        node_id: NODE,
        first_counter: 500,
        interval_s: 10,
        threshold_mv: 2500,
        listen_every_ms: 1000,
        listen_for_ms: 5,
        node_address: NODE_ADDRESS,
        server_address: SERVER_ADDRESS,
        channel: 0,
        power: 0xfe,
        private_key,
    }
}

#[test]
fn a_fresh_part_sleeps_for_ever() {
    let mut rig = Rig::new(config(Mode::Periodic, Scheme::P256), 8_000_000);
    let fresh = [0xff, 0xff];
    assert!(rig.machine.poke(rig.config_at, &fresh));
    rig.run_s(100.0);
    assert_eq!((rig.status().state, rig.status().wakes), (State::Unconfigured, 0));
    assert!(rig.radio().take_sent().is_empty());
}

#[test]
fn readings_are_signed_in_every_interval() {
    for (scheme, clock_hz) in
        [(Scheme::Secp160r1, 25_000_000), (Scheme::P256, 25_000_000), (Scheme::Secp160r1, 1_000_000)]
    {
        let mut rig = Rig::new(config(Mode::Periodic, scheme), clock_hz);
        rig.stored(3.1);
        rig.run_s(25.0);
        let messages = rig.messages();
        assert_eq!(messages.len(), 3, "{scheme:?}");
        for (n, (_, message)) in messages.iter().enumerate() {
            assert_eq!((message.kind, message.node_id, message.scheme), (Trigger::Reading, NODE, scheme));
            assert_eq!((message.counter, message.uptime_s), (500 + n as u32, 10 * n as u32));
            // A step of the converter is 1.5 mV before the divider.
            assert!((3097..=3101).contains(&message.stored_mv), "{} mV", message.stored_mv);
            assert!(rig.verified(message, &[0; 16]));
        }
        let status = rig.status();
        assert_eq!((status.wakes, status.signatures, status.sent, status.starts), (3, 3, 3, 1));
        assert_eq!((status.radio_faults, status.counter_faults, status.state), (0, 0, State::Sleeping));
    }
}

#[test]
fn without_enough_energy_nothing_is_sent() {
    let mut rig = Rig::new(config(Mode::Periodic, Scheme::Secp160r1), 25_000_000);
    rig.stored(2.49);
    rig.run_s(15.0);
    assert_eq!((rig.status().wakes, rig.status().refused), (2, 2));
    assert!(rig.radio().take_sent().is_empty());
    rig.stored(2.51);
    rig.run_s(10.0);
    assert_eq!((rig.status().refused, rig.status().sent), (2, 1));
    assert_eq!(rig.messages().len(), 1);
}

/// Values written to ADC12CTL1.
struct ConverterClock(Vec<u64>);

impl Observer for ConverterClock {
    fn access(&mut self, access: &Access) {
        if access.address == 0x0702 && access.kind == AccessKind::Write {
            self.0.push(access.value);
        }
    }
}

/// ADC12OSC is 5.4 MHz at most; with the internal reference linearity is specified up to 4.0 MHz,
/// with some settings 2.7 MHz.
#[test]
fn the_converter_is_clocked_within_its_specification() {
    let mut rig = Rig::new(config(Mode::Periodic, Scheme::Secp160r1), 25_000_000);
    rig.stored(2.4);
    let mut clock = ConverterClock(Vec::new());
    let until = Until { cycles: Some(25_000_000), ..Until::default() };
    assert_eq!(rig.machine.run_observed(&until, &mut clock), Ok(Stop::Cycles));
    assert_eq!(clock.0.len(), 1);
    let (source, divider) = (clock.0[0] >> 3 & 3, (clock.0[0] >> 5 & 7) + 1);
    assert_eq!(source, 0, "ADC12OSC");
    assert!(5_400_000 / divider <= 2_700_000, "divided by {divider}");
}

/// Repeats the server's call for a node that listens by turns: copies without a pause, each with
/// the time that is left.
fn call(rig: &mut Rig, challenge: [u8; 16], repeat_ms: u64) {
    let now_ns = now_ns(rig);
    let end_ns = now_ns + repeat_ms * 1_000_000;
    let mut start_ns = now_ns + 100_000;
    loop {
        // 35 bytes at 250 kbit/s, and a gap of 50 us.
        let copy_end_ns = start_ns + 35 * 32_000;
        if copy_end_ns > end_ns {
            break;
        }
        let answer_in_ms = ((end_ns - copy_end_ns) / 1_000_000) as u16 + 1;
        let packet =
            Challenge { node_address: NODE_ADDRESS, node_id: NODE, challenge, answer_in_ms }.to_packet();
        rig.radio().hear(Frame { start_ns, end_ns: copy_end_ns, bytes: packet.to_vec() });
        start_ns = copy_end_ns + 50_000;
    }
}

fn now_ns(rig: &Rig) -> u64 {
    (u128::from(rig.machine.cycles()) * 1_000_000_000 / u128::from(rig.clock_hz)) as u64
}

#[test]
fn a_challenge_is_answered_after_the_server_has_ended() {
    for scheme in [Scheme::Secp160r1, Scheme::P256] {
        let mut rig = Rig::new(config(Mode::Asynchronous, scheme), 25_000_000);
        rig.stored(3.0);
        rig.run_s(3.3);
        assert_eq!((rig.status().challenges, rig.messages().len()), (0, 0));
        let challenge = std::array::from_fn(|n| 0xf0 ^ n as u8);
        let ended_ns = now_ns(&rig) + 1_005_000_000;
        call(&mut rig, challenge, 1005);
        rig.run_s(3.0);
        let messages = rig.messages();
        let [(begin_ns, message)] = messages.as_slice() else { panic!("{messages:?}") };
        assert!((ended_ns..ended_ns + 5_000_000).contains(begin_ns), "{begin_ns} ns, after {ended_ns} ns");
        assert_eq!(message.kind, Trigger::Answer([0xf0, 0xf1, 0xf2, 0xf3]));
        assert!(rig.verified(message, &challenge));
        assert!(!rig.verified(message, &[0; 16]));
        assert_eq!((rig.status().challenges, rig.status().sent, rig.status().refused), (1, 1, 0));
    }
}

/// Whenever the call begins, a turn of the radio's own meets it. The processor sleeps through the
/// turns before.
#[test]
fn radio_that_listens_by_itself_hears_every_challenge() {
    for (listen_every_ms, listen_for_ms) in [(1000, 5), (1900, 4), (4000, 5), (250, 3)] {
        let config =
            Config { listen_every_ms, listen_for_ms, ..config(Mode::WakeOnRadio, Scheme::Secp160r1) };
        let repeat_ms = u64::from(listen_every_ms + listen_for_ms);
        let mut rig = Rig::new(config, 25_000_000);
        rig.stored(3.0);
        // Intervals are 10 s: some calls begin in one and end in the next.
        for (number, pause_s) in [0.05, 7.0, 3.333, 8.9, 9.5, 1.0].into_iter().enumerate() {
            rig.run_s(pause_s);
            let challenge = [number as u8 + 1; 16];
            let ended_ns = now_ns(&rig) + repeat_ms * 1_000_000;
            call(&mut rig, challenge, repeat_ms);
            rig.run_s(repeat_ms as f64 / 1e3 + 0.6);
            let messages = rig.messages();
            let [(begin_ns, message)] = messages.as_slice() else {
                panic!("every {listen_every_ms} ms, call {number}: {messages:?}, {:?}", rig.status())
            };
            // A node that hears the last copies signs when they have ended.
            assert!((ended_ns..ended_ns + 80_000_000).contains(begin_ns), "{begin_ns}, after {ended_ns} ns");
            assert!(rig.verified(message, &challenge));
        }
        let before = (rig.machine.residency().active_cycles(), now_ns(&rig));
        rig.run_s(100.0);
        let active = rig.machine.residency().active_cycles() - before.0;
        // Ten looks at the storage, each with a time of listening.
        assert!(active < 10 * 25_000 * 4, "{active} cycles");
        let now_ns = now_ns(&rig);
        let spent = rig.radio().spent_ns(now_ns);
        assert!(spent[1] > 90_000_000_000, "{spent:?}");
        assert_eq!((rig.status().radio_faults, rig.status().ignored), (0, 0));
    }
}

#[test]
fn radio_refuses_turns_that_it_cannot_keep() {
    for (listen_every_ms, listen_for_ms) in [(0, 5), (10, 5), (1000, 1), (1000, 200), (61_500, 5), (2000, 60)]
    {
        let config =
            Config { listen_every_ms, listen_for_ms, ..config(Mode::WakeOnRadio, Scheme::Secp160r1) };
        let mut rig = Rig::new(config, 25_000_000);
        rig.stored(3.0);
        rig.run_s(1.0);
        assert_eq!(rig.status().state, State::Unconfigured, "{listen_for_ms} of {listen_every_ms} ms");
    }
}

#[test]
fn without_enough_energy_it_is_deaf() {
    let mut rig = Rig::new(config(Mode::Asynchronous, Scheme::Secp160r1), 25_000_000);
    rig.stored(2.4);
    rig.run_s(0.5);
    call(&mut rig, [1; 16], 1005);
    rig.run_s(5.0);
    assert_eq!((rig.status().closed, rig.status().challenges, rig.messages().len()), (1, 0, 0));
}

/// Packets on the air for other nodes, or incomplete ones.
#[test]
fn others_packets_are_not_heard() {
    let mut config = config(Mode::Asynchronous, Scheme::Secp160r1);
    (config.listen_every_ms, config.listen_for_ms) = (0, 1000);
    let mut rig = Rig::new(config, 25_000_000);
    rig.stored(3.0);
    rig.run_s(0.1);
    let good = Challenge { node_address: NODE_ADDRESS, node_id: NODE, challenge: [7; 16], answer_in_ms: 0 };
    let others = [
        Challenge { node_address: 0x33, ..good.clone() }.to_packet().to_vec(),
        Challenge { node_id: NODE + 1, ..good.clone() }.to_packet().to_vec(),
        vec![NODE_ADDRESS],
        good.to_packet()[..23].to_vec(),
        vec![NODE_ADDRESS; 61],
    ];
    for bytes in others {
        let start_ns = now_ns(&rig) + 1_000_000;
        let end_ns = start_ns + (bytes.len() as u64 + 11) * 32_000;
        rig.radio().hear(Frame { start_ns, end_ns, bytes });
        rig.run_s(0.01);
    }
    assert_eq!((rig.status().challenges, rig.status().ignored), (0, 4));
    let start_ns = now_ns(&rig) + 1_000_000;
    rig.radio().hear(Frame { start_ns, end_ns: start_ns + 35 * 32_000, bytes: good.to_packet().to_vec() });
    rig.run_s(0.5);
    let messages = rig.messages();
    assert_eq!((messages.len(), rig.status().challenges), (1, 1));
    assert!(rig.verified(&messages[0].1, &[7; 16]));
}

/// Each restart costs a block of numbers and no more; none comes twice.
#[test]
fn counters_rise_over_restarts() {
    let mut rig = Rig::new(config(Mode::Periodic, Scheme::Secp160r1), 25_000_000);
    let mut counters = Vec::new();
    for _ in 0..4 {
        rig.stored(3.0);
        rig.run_s(15.0);
        counters.extend(rig.messages().iter().map(|(_, message)| message.counter));
        rig.machine.reset();
    }
    assert_eq!(counters, [500, 501, 564, 565, 628, 629, 692, 693]);
}

/// The power fails at any moment of the first second, in which the counter's segment is erased and
/// written.
#[test]
fn counters_rise_over_power_failures_at_any_moment() {
    let seed = 20_140_217;
    let mut rng = StdRng::seed_from_u64(seed);
    let mut rig = Rig::new(config(Mode::Periodic, Scheme::Secp160r1), 25_000_000);
    let mut highest = 0;
    let mut lives = 0;
    for life in 0..60 {
        rig.stored(3.0);
        rig.run_s(rng.random::<f64>() * if life % 4 == 3 { 0.4 } else { 0.08 });
        for (_, message) in rig.messages() {
            assert!(message.counter > highest, "seed {seed}, life {life}: {} again", message.counter);
            highest = message.counter;
            lives += 1;
        }
        rig.machine.reset();
    }
    assert!(lives > 0, "seed {seed}: no life was long enough for a message");
}

/// As `wiped.rs` does for operations: eight bytes of the key in a row, in any order that an
/// implementation may have.
#[test]
fn no_copy_of_the_key_stays_in_ram() {
    for scheme in [Scheme::Secp160r1, Scheme::P256] {
        let mut rig = Rig::new(config(Mode::Periodic, scheme), 25_000_000);
        rig.stored(3.0);
        rig.run_s(5.0);
        assert_eq!(rig.status().sent, 1);
        let mut ram = vec![0; 0x4000];
        assert!(rig.machine.peek(0x1c00, &mut ram));
        let key = &rig.config.private_key[..scheme.key_bytes()];
        let backwards: Vec<u8> = key.iter().rev().copied().collect();
        let words: Vec<u8> = key.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
        for form in [key, &backwards, &words] {
            for part in form.windows(8) {
                assert!(!ram.windows(8).any(|bytes| bytes == part), "{scheme:?}: {part:02x?} of the key");
            }
        }
    }
}
