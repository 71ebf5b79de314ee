//! The meter's firmware as it is built for the MSP430F5438A and the STM32F407, on the models of the
//! parts with a CC2500 and an FM25L16B: provisioned, it delivers sealed measurements to the
//! collector's end of the protocol, and takes commands.

use firmware::Firmware;
use firmware::{Slot, build_meter, build_meter_for_slot};
use lab::board::Quantity;
use lab::workspace::Workspace;
use mcu::chips::cc2500::{Cc2500, Frame};
use mcu::chips::fm25::Fm25;
use mcu::{Board, Mcu, Observer, Signal, Stop, Until};
use rand::SeedableRng;
use rand::rngs::StdRng;
use wire::meter::{
    Cause, Collector, Command, CommandResult, CompletedCommand, Content, Due, Identity, MeterRecord,
    MeterState, PROVISION_SYMBOL, Policy, Provision, ReceivedReport, Rejection, Setup, Status, Suite,
    Transmission, UplinkOutcome,
};

pub const METER: u16 = 7;
const METER_ADDRESS: u8 = 0x11;
const COLLECTOR_ADDRESS: u8 = 0x22;
/// 2026-01-01 00:00:00 UTC in the protocol's milliseconds: 9497 days after 2000-01-01.
const START_MS: u64 = 9497 * 86_400_000;
/// Interval at which the world looks at the radio.
const STEP_S: f64 = 0.002;
/// A bit at 249.9 kbit/s, in nanoseconds (drivers' register settings), and the bytes around a
/// packet: preamble, sync word, length, check sum.
const BIT_NS: u64 = 4001;
const AROUND: u64 = 4 + 4 + 1 + 2;
/// From one packet of the collector's to the next, so that the meter is back in receive.
const GAP_NS: u64 = 6_000_000;

/// A meter, and the collector that it talks to.
pub struct Rig {
    pub machine: Box<dyn Mcu>,
    clock_hz: u64,
    pub collector: Collector,
    rng: StdRng,
    pub accepted: Vec<ReceivedReport>,
    answered: Vec<CompletedCommand>,
    air_free_ns: u64,
    /// Addresses of `ws_message_prepare`, `ws_message_acknowledges` and `ws_message_unpack`.
    pub prepare: u32,
    pub acknowledges: u32,
    pub unpack: u32,
    /// Address of the provisioned data.
    pub provisioned_at: u32,
    /// The protocol's time at the machine's cycle 0.
    start_ms: u64,
}

/// A part's flash with a bootloader and a program in its first slot, once it is provisioned at that
/// address.
pub struct Slots<'a> {
    pub boot: &'a Firmware,
    /// Further contents of flash: address and bytes.
    pub flash: &'a [(u32, Vec<u8>)],
    pub provision: u32,
}

/// The meter of a board, linked for a slot, with these suites, and as it is small.
pub fn built_for_slot(board: &str, suites: &[&str], slot: Slot) -> Firmware {
    let workspace = Workspace::find().expect("the project's folder");
    let description = workspace.board(board).expect("a board");
    let target = workspace.target(&description.target).expect("a target");
    let source = workspace.board_source(&description, &target, None).expect("a clock of the part");
    let suites: Vec<String> = suites.iter().map(|suite| (*suite).to_owned()).collect();
    let path = build_meter_for_slot(&source, "small", &suites, slot).expect("it builds");
    Firmware::read(&path, target.part.core).expect("an ELF file")
}

impl Rig {
    pub fn new(board: &str, suite: Suite, seed: u64) -> Rig {
        Rig::with(board, suite, seed, None)
    }

    /// A meter that a bootloader runs, where there are slots.
    pub fn with(board: &str, suite: Suite, seed: u64, slots: Option<&Slots<'_>>) -> Rig {
        println!("{board}: seed {seed}");
        let workspace = Workspace::find().expect("the project's folder");
        let description = workspace.board(board).expect("a board");
        let meter = description.meter.as_ref().expect("a meter");
        let target = workspace.target(&description.target).expect("a target");
        let clock_hz = description.clock_hz;
        let source = workspace.board_source(&description, &target, None).expect("a clock of the part");
        let suites = meter.with_suite(suite.name()).expect("a build has the suite");
        let path = build_meter(&source, &meter.variant, suites).expect("it builds");
        let firmware = Firmware::read(&path, target.part.core).expect("an ELF file");
        let mut rng = StdRng::seed_from_u64(seed);
        let identity = Identity::generate(&mut rng);
        // 230 V at 1 V of amplitude, 10 A of amplitude at 0.5 V; a step is a 1024th of the supply.
        let step_v = description.supply_v / 1024.0;
        let setup = Setup {
            meter: METER,
            address: METER_ADDRESS,
            collector_address: COLLECTOR_ADDRESS,
            channel: 0,
            power: 0xff,
            interval_s: 1,
            suite,
            voltage_uv: (230.0 * 2f64.sqrt() * step_v * 1e6).round() as u32,
            current_ua: (20.0 * step_v * 1e6).round() as u32,
            phase: meter.phase,
        };
        let provision = Provision::generate(setup, identity.public(), &mut rng);
        let record = provision.record();
        let state = MeterState::new(&record);
        let collector = Rig::collector_with(identity, record, state);

        let mut machine = mcu::new_machine(&target.part, clock_hz).expect("a model");
        let provisioned_at = if let Some(slots) = slots {
            machine.load(slots.boot.image()).expect("it fits");
            for (address, bytes) in slots.flash {
                assert!(machine.poke(*address, bytes));
            }
            slots.provision
        } else {
            machine.load(firmware.image()).expect("it fits");
            firmware.symbol(PROVISION_SYMBOL).expect("the symbol").address
        };
        assert!(machine.poke(provisioned_at, &provision.flash()[..]));
        description.mount(&mut *machine, Some(&provision.eeprom()[..])).expect("it fits");
        let board = machine.board_mut();
        let mains = |amplitude_v, seed| Signal::Mains {
            offset_v: description.supply_v / 2.0,
            amplitude_v,
            hz: 50.0,
            phase_rad: 0.0,
            harmonics: Vec::new(),
            noise_v: 0.003,
            seed,
        };
        let channel = |quantity| description.channel_of(quantity).expect("a sensor");
        board.set_signal(channel(Quantity::MainsVoltage), mains(1.0, 1));
        board.set_signal(channel(Quantity::MainsCurrent), mains(0.5, 2));
        machine.reset();
        Rig {
            machine,
            clock_hz,
            collector,
            rng,
            accepted: Vec::new(),
            answered: Vec::new(),
            air_free_ns: 0,
            prepare: firmware.symbol("ws_message_prepare").expect("the meter has it").address,
            acknowledges: firmware.symbol("ws_message_acknowledges").expect("the meter has it").address,
            unpack: firmware.symbol("ws_message_unpack").expect("the meter has it").address,
            provisioned_at,
            start_ms: START_MS,
        }
    }

    /// A collector that begins with what is durable.
    fn collector_with(identity: Identity, record: MeterRecord, state: MeterState) -> Collector {
        let mut collector = Collector::new(
            identity,
            Policy { set_time: false, update_piece_every_ms: 1, ..Policy::default() },
        );
        collector.add(record, state).expect("a new meter");
        collector
    }

    /// The same meter at another time, with a collector that begins with what was durable then.
    pub fn at(&self, machine: Box<dyn Mcu>, record: MeterRecord, state: MeterState, seed: u64) -> Rig {
        Rig {
            machine,
            collector: Rig::collector_with(self.collector.identity().clone(), record, state),
            rng: StdRng::seed_from_u64(seed),
            accepted: Vec::new(),
            answered: Vec::new(),
            air_free_ns: 0,
            ..*self
        }
    }

    fn board(&mut self) -> &mut Board {
        self.machine.board_mut()
    }

    fn radio(&mut self) -> &mut Cc2500 {
        self.board().chip_mut("CC2500").expect("mounted").downcast_mut().expect("a CC2500")
    }

    /// The memory beside the microcontroller.
    pub fn memory(&self) -> &Fm25 {
        let chip = self.machine.board().chip("FM25L16B").expect("mounted");
        chip.downcast_ref().expect("an FM25L16B")
    }

    pub fn now_ns(&self) -> u64 {
        (u128::from(self.machine.cycles()) * 1_000_000_000 / u128::from(self.clock_hz)) as u64
    }

    fn send(&mut self, transmission: Transmission) {
        for bytes in transmission.packets {
            let start_ns = self.air_free_ns.max(self.now_ns() + GAP_NS);
            let end_ns = start_ns + (AROUND + bytes.len() as u64) * 8 * BIT_NS;
            self.air_free_ns = end_ns + GAP_NS;
            self.radio().hear(Frame { start_ns, end_ns, bytes });
        }
    }

    /// A step of the world, or less, where the machine comes to one of these addresses.
    pub fn step(&mut self, addresses: &[u32]) {
        let cycles = self.machine.cycles() + (STEP_S * self.clock_hz as f64) as u64;
        let stop = self.machine.run(&Until { cycles: Some(cycles), addresses: addresses.to_vec() });
        let at_one = matches!(stop, Ok(Stop::Address(at)) if addresses.contains(&at));
        assert!(at_one || stop == Ok(Stop::Cycles), "{stop:?} at {:#x}", self.machine.pc());
        self.exchange();
    }

    /// A step of the world, and what is to be seen of it.
    pub fn step_observed(&mut self, observer: &mut dyn Observer) {
        let cycles = self.machine.cycles() + (STEP_S * self.clock_hz as f64) as u64;
        let until = Until { cycles: Some(cycles), ..Until::default() };
        let stop = self.machine.run_observed(&until, observer);
        assert_eq!(stop, Ok(Stop::Cycles), "{:#x}", self.machine.pc());
        self.exchange();
    }

    /// Runs until `write` bytes of the memory have been written, in steps of `cycles`; nobody
    /// answers meanwhile.
    pub fn run_to_write(&mut self, write: u64, cycles: u64) {
        while self.memory().writes() < write {
            let cycles = Some(self.machine.cycles() + cycles);
            let stop = self.machine.run(&Until { cycles, ..Until::default() });
            assert_eq!(stop, Ok(Stop::Cycles), "{:#x}", self.machine.pc());
        }
        assert_eq!(self.memory().writes(), write, "a step is longer than a byte takes");
    }

    /// Hands the meter's frames to the collector, and the collector's frames to the radio.
    fn exchange(&mut self) {
        let now_ms = self.start_ms + self.now_ns() / 1_000_000;
        for frame in self.radio().take_sent() {
            match self.collector.on_packet(&frame.bytes, now_ms) {
                UplinkOutcome::Report(accepted) => {
                    let acknowledgement =
                        self.collector.confirm_report(METER, accepted.report.n).expect("handed out");
                    self.send(acknowledgement);
                    self.accepted.push(*accepted);
                }
                UplinkOutcome::Duplicate(acknowledgement) => self.send(acknowledgement),
                // Of a collector that began anew.
                UplinkOutcome::OldNumber(accepted) => {
                    let acknowledgement =
                        self.collector.confirm_report(METER, accepted.report.n).expect("handed out");
                    self.send(acknowledgement);
                }
                UplinkOutcome::Answer(answered) => self.answered.push(*answered),
                // A reply to a piece that went out again comes when all is there, or of an update
                // that is forgotten.
                UplinkOutcome::Piece
                | UplinkOutcome::Busy
                | UplinkOutcome::Rejected(Rejection::NoCommand) => {}
                heard => panic!("the collector hears {:02x?}: {heard:?}", frame.bytes),
            }
        }
        for due in self.collector.due(now_ms, &mut self.rng) {
            match due {
                Due::Save(state) => self.collector.confirm_state(METER, state.revision),
                Due::SaveKeys(record) => self.collector.confirm_keys(&record),
                Due::Send(transmission) => self.send(transmission),
            }
        }
    }

    /// Goes on until `done`, or fails after `within_s` seconds of the meter's.
    pub fn run_until(&mut self, within_s: f64, what: &str, done: impl Fn(&Rig) -> bool) {
        let limit_ns = self.now_ns() + (within_s * 1e9) as u64;
        while !done(self) {
            assert!(
                self.now_ns() < limit_ns,
                "{what}: not within {within_s} s; {} reports so far",
                self.accepted.len()
            );
            self.step(&[]);
        }
    }

    /// Cycles from the beginning of the next sealing to its end, with the sampler's interrupts that
    /// come meanwhile.
    fn sealing_cycles(&mut self) -> u64 {
        let begun = self.machine.cycles();
        while self.machine.pc() != self.prepare {
            assert!(self.machine.cycles() < begun + 20 * self.clock_hz, "nothing is sealed");
            self.step(&[self.prepare]);
        }
        // The call's return address: in the link register, or on the stack.
        let link = self.machine.registers().into_iter().find(|(name, _)| name == "lr");
        let mut pushed = [0; 2];
        assert!(self.machine.peek(self.machine.sp(), &mut pushed));
        let back = link.map_or(u16::from_le_bytes(pushed).into(), |(_, address)| address & !1);
        let from = self.machine.cycles();
        let until = Until { cycles: Some(from + 10 * self.clock_hz), addresses: vec![back] };
        assert_eq!(self.machine.run(&until), Ok(Stop::Address(back)));
        self.machine.cycles() - from
    }

    pub fn command(&mut self, command: Command) -> CompletedCommand {
        let before = self.answered.len();
        self.collector.command(METER, command).expect("a command");
        self.run_until(40.0, "an answer", |rig| rig.answered.len() > before);
        self.answered.last().expect("an answer").clone()
    }
}

impl Rig {
    /// The power goes, and comes back a second later.
    pub fn cut_power(&mut self) {
        self.cut_power_within(0);
    }

    /// The same: of what flash is being changed to, these bits have changed.
    pub fn cut_power_within(&mut self, torn: u8) {
        self.start_ms += self.now_ns() / 1_000_000 + 1000;
        self.air_free_ns = 0;
        self.machine.cut_power(torn);
    }

    /// Goes on until the meter says that it began anew.
    pub fn began_anew(&mut self, cause: Cause, starts: u16) {
        let before = self.accepted.len();
        self.run_until(30.0, "an alert", |rig| {
            rig.accepted[before..].iter().any(|accepted| match accepted.report.content {
                Content::Alert(alert) => (alert.cause, alert.starts) == (cause, starts),
                _ => false,
            })
        });
    }
}

/// The whole of it, on a board.
fn delivers_and_obeys(board: &str) {
    let mut rig = Rig::new(board, Suite::Aes128Gcm, 20_260_101);
    rig.run_until(8.0, "four reports", |rig| rig.accepted.len() >= 4);
    let Content::Alert(alert) = rig.accepted[0].report.content else {
        panic!("{:?}", rig.accepted[0].report)
    };
    assert_eq!((alert.cause, alert.starts), (Cause::PowerOn, 1));
    for pair in rig.accepted.windows(2) {
        assert!(pair[0].report.n < pair[1].report.n, "in order");
    }
    let Content::Measurement(measured) = rig.accepted[3].report.content else { panic!("a measurement") };
    // 230 V and 10 A / sqrt 2, in phase.
    let power_w = 230.0 * 10.0 / 2f64.sqrt();
    assert!(
        (f64::from(measured.power_w) / power_w - 1.0).abs() < 0.01,
        "{} W of {power_w}",
        measured.power_w
    );

    let answered = rig.command(Command::ReadStatus { page: 1 });
    assert_eq!(answered.answer.outcome, CommandResult::Done);
    let Some(Status::Metering { voltage_dv, current_ca, .. }) = answered.answer.status(1) else {
        panic!("{answered:?}")
    };
    assert!((f64::from(voltage_dv) / 10.0 - 230.0).abs() < 2.0, "{voltage_dv} tenths of a volt");
    assert!((f64::from(current_ca) / 100.0 - 7.07).abs() < 0.1, "{current_ca} hundredths of an ampere");

    let answered = rig.command(Command::Configure { interval_s: 2, suite: Suite::EciesEcdsa });
    assert_eq!(answered.answer.outcome, CommandResult::Done);
    let before = rig.accepted.len();
    rig.run_until(60.0, "two signed reports", |rig| {
        rig.accepted[before..].iter().filter(|report| report.suite == Suite::EciesEcdsa).count() >= 2
    });
    let signed: Vec<&ReceivedReport> =
        rig.accepted[before..].iter().filter(|report| report.suite == Suite::EciesEcdsa).collect();
    assert!(
        signed
            .iter()
            .all(|report| report.sealed.len() == 144
                && matches!(report.report.content, Content::Measurement(_)))
    );

    let answered = rig.command(Command::Configure { interval_s: 1, suite: Suite::AsconAead128 });
    assert_eq!(answered.answer.outcome, CommandResult::Done);
    let before = rig.accepted.len();
    rig.run_until(60.0, "two reports with Ascon", |rig| {
        rig.accepted[before..].iter().filter(|report| report.suite == Suite::AsconAead128).count() >= 2
    });

    let answered = rig.command(Command::SetTime { time_s: (START_MS / 1000) as u32 });
    assert_eq!(answered.answer.outcome, CommandResult::Done);

    let answered = rig.command(Command::Reboot);
    assert_eq!(answered.answer.outcome, CommandResult::Done);
    rig.began_anew(Cause::Commanded, 2);
    rig.cut_power();
    rig.began_anew(Cause::PowerOn, 3);
    for pair in rig.accepted.windows(2) {
        assert!(pair[0].report.n < pair[1].report.n, "in order, none twice");
    }
    assert_eq!(rig.collector.counters().total(), 0, "nothing was refused");
}

#[test]
fn the_msp430_delivers_sealed_measurements_and_takes_commands() {
    delivers_and_obeys("msp430f5438a-cc2500");
}

#[test]
fn the_stm32_delivers_sealed_measurements_and_takes_commands() {
    delivers_and_obeys("stm32f407-cc2500");
}

/// docs/reference/post-quantum.md, "In the meter", the parts with a CC2500: the least of some,
/// because the sampler's interrupts come now and then, on top of it.
#[test]
fn sealing_takes_as_long_as_the_page_says() {
    let page = include_str!("../../../../docs/reference/post-quantum.md");
    let section = page.split("### In the meter").nth(1).expect("a section");
    for (board, target) in [("msp430f5438a-cc2500", "msp430f5438a"), ("stm32f407-cc2500", "stm32f407")] {
        let row = section.lines().find(|line| line.starts_with(&format!("| {target} |"))).expect("a row");
        let told = row.split('|').skip(2).map(|cell| {
            let cycles = cell.split("cycles").next().unwrap_or_default();
            cycles.trim().replace(',', "").parse::<u64>().ok()
        });
        for (suite, told) in [Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::AsconAead128].into_iter().zip(told) {
            let mut rig = Rig::new(board, suite, 20_260_102);
            let cycles = (0..4).map(|_| rig.sealing_cycles()).min().expect("some");
            println!("{target}, {suite}: {cycles} cycles");
            let told = told.unwrap_or_else(|| panic!("no cycles of {suite} in: {row}"));
            let most = told + told * 12 / 100;
            assert!((told..=most).contains(&cycles), "{suite}: {cycles} cycles, and the page says {told}");
        }
    }
}
