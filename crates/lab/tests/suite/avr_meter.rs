//! The meter's firmware on the model of the ATmega328P with its radio, against the collector's end
//! of the protocol: round trips of a report and of a command with every suite, what sealing takes,
//! and what is left of the stack (`device/meter`, docs/reference/protocol.md). `--nocapture` shows
//! the figures.

use firmware::Firmware;
use firmware::build_meter;
use lab::board::Quantity;
use lab::workspace::Workspace;
use mcu::chips::rfm12b::{AirByte, Rfm12b};
use mcu::{Mcu, Signal, Stop, Until};
use rand::SeedableRng;
use rand::rngs::StdRng;
use wire::meter::{
    Collector, Command, Due, Identity, MeterState, Policy, Provision, Setup, Suite, Transmission,
    UplinkOutcome,
};

const CLOCK_HZ: u64 = 16_000_000;
/// 8 bits at 10 MHz / 29 / 7 (the data sheet of the RFM12B, "Data Rate Command", C606h).
const BYTE_NS: u64 = 8 * 29 * 7 * 100;
/// The collector answers so long after a packet's end: its receiver becomes a transmitter.
const TURNAROUND_NS: u64 = 1_000_000;
const GROUP: u8 = 0xd4;
const METER: u16 = 7;
const PAINT: u8 = 0xa5;
const STACK_TOP: u32 = 0x80_08ff;
/// Offsets in ws_meter_status, `device/meter/meter.h`.
const ACKNOWLEDGED: u32 = 8;
const COMMANDS: u32 = 30;
const REFUSED: u32 = 34;

pub struct Rig {
    pub machine: Box<dyn Mcu>,
    firmware: Firmware,
    collector: Collector,
    rng: StdRng,
    /// Of the packet that is on the air.
    frame: Vec<u8>,
    answers: u32,
}

impl Rig {
    pub fn new(suite: Suite) -> Rig {
        let mut rng = StdRng::seed_from_u64(2016);
        let workspace = Workspace::find().expect("the project's folder");
        let emontx = workspace.board("emontx").expect("a board");
        let target = workspace.target(&emontx.target).expect("a target");
        let source = workspace.board_source(&emontx, &target, Some(CLOCK_HZ)).expect("a clock of the part");
        let meter = emontx.meter.as_ref().expect("a meter");
        let suites = meter.with_suite(suite.name()).expect("a build has it");
        let path = build_meter(&source, &meter.variant, suites).expect("it builds");
        let firmware = Firmware::read(&path, target.part.core).expect("an ELF file");
        let mut machine = mcu::new_machine(&target.part, CLOCK_HZ).expect("a model");
        machine.load(firmware.image()).expect("it fits");

        let mut collector =
            Collector::new(Identity::generate(&mut rng), Policy { set_time: false, ..Policy::default() });
        let setup = Setup {
            meter: METER,
            address: 0x41,
            collector_address: 0x5e,
            channel: GROUP,
            power: 0,
            interval_s: 4,
            suite,
            voltage_uv: 1_000_000,
            current_ua: 50_000,
            phase: 0,
        };
        let provision = Provision::generate(setup, collector.identity().public(), &mut rng);
        let record = provision.record();
        let state = MeterState::new(&record);
        collector.add(record, state).expect("the first one");
        let at = firmware.symbol("ws_provision").expect("a driver has it").address;
        assert!(machine.poke(at, &provision.flash()[..]));
        emontx.mount(&mut *machine, Some(&provision.eeprom()[..])).expect("it fits");

        let board = machine.board_mut();
        for (quantity, share, seed) in [(Quantity::MainsVoltage, 0.4, 1), (Quantity::MainsCurrent, 0.1, 2)] {
            let signal = Signal::Mains {
                offset_v: 0.5 * emontx.supply_v,
                amplitude_v: share * emontx.supply_v,
                hz: 50.0,
                phase_rad: 0.3,
                harmonics: vec![],
                noise_v: 1e-3 * emontx.supply_v,
                seed,
            };
            board.set_signal(emontx.channel_of(quantity).expect("a sensor"), signal);
        }
        machine.reset();
        Rig { machine, firmware, collector, rng, frame: vec![], answers: 0 }
    }

    pub fn symbol(&self, name: &str) -> u32 {
        self.firmware.symbol(name).expect("the meter has it").address
    }

    fn radio(&mut self) -> &mut Rfm12b {
        let board = self.machine.board_mut();
        board.chip_mut("RFM12B").expect("mounted").downcast_mut().expect("an RFM12B")
    }

    fn now_ns(&self) -> u64 {
        self.machine.cycles() * 1000 / 16
    }

    fn status(&self, offset: u32) -> u16 {
        let mut bytes = [0; 2];
        assert!(self.machine.peek(self.symbol("ws_meter_status") + offset, &mut bytes));
        u16::from_le_bytes(bytes)
    }

    fn untouched(&self) -> usize {
        let end = self.symbol("ws_noinit_end") | 0x80_0000;
        let mut bytes = vec![0; (STACK_TOP + 1 - end) as usize];
        assert!(self.machine.peek(end, &mut bytes));
        bytes.iter().take_while(|byte| **byte == PAINT).count()
    }

    /// Sends to the meter, in JeeLib's framing.
    fn send(&mut self, transmission: &Transmission) {
        let mut start_ns = self.now_ns() + TURNAROUND_NS;
        for packet in &transmission.packets {
            let mut bytes = vec![GROUP, packet[0], packet.len() as u8 - 1];
            bytes.extend(&packet[1..]);
            let sum = crc(&bytes);
            for byte in [&[0xaa, 0xaa, 0xaa, 0x2d], &bytes[..], &sum.to_le_bytes(), &[0xaa]].concat() {
                let air = AirByte { start_ns, end_ns: start_ns + BYTE_NS, byte };
                self.radio().hear(air, true);
                start_ns = air.end_ns;
            }
            start_ns += TURNAROUND_NS;
        }
    }

    /// Takes what came of the air to the collector, and sends what it says.
    fn exchange(&mut self) {
        for byte in self.radio().take_on_air() {
            self.frame.push(byte.byte);
        }
        let Some(at) = self.frame.windows(2).position(|two| two == [0x2d, GROUP]) else { return };
        let frame = &self.frame[at + 1..];
        let Some(&len) = frame.get(2) else { return };
        // The group, header, length, payload, check sum, and a byte more.
        if frame.len() < usize::from(len) + 6 {
            return;
        }
        let (body, sum) = frame[..usize::from(len) + 5].split_at(usize::from(len) + 3);
        assert_eq!(crc(body).to_le_bytes(), sum);
        let packet = [&body[1..2], &body[3..]].concat();
        self.frame.clear();
        let now_ms = self.now_ns() / 1_000_000;
        match self.collector.on_packet(&packet, now_ms) {
            UplinkOutcome::Report(report) => {
                let answer =
                    self.collector.confirm_report(report.meter, report.report.n).expect("as it came");
                self.send(&answer);
            }
            UplinkOutcome::Duplicate(answer) => self.send(&answer),
            UplinkOutcome::Answer(_) => self.answers += 1,
            UplinkOutcome::Piece => {}
            other => panic!("{other:?}"),
        }
    }

    /// Sends a command.
    pub fn command(&mut self, command: Command) {
        self.collector.command(METER, command).expect("a place");
        let now_ms = self.now_ns() / 1_000_000;
        loop {
            let due = self.collector.due(now_ms, &mut self.rng);
            let Some(due) = due.into_iter().next() else { return };
            match due {
                Due::Save(state) => {
                    self.collector.confirm_state(state.meter, state.revision);
                }
                Due::SaveKeys(_) => unreachable!("no key is renewed here"),
                Due::Send(transmission) => {
                    self.send(&transmission);
                    return;
                }
            }
        }
    }

    /// Runs until something is so, for so long at most; the seconds that it took.
    fn until(&mut self, limit_s: f64, done: impl Fn(&Rig) -> bool) -> f64 {
        let begin = self.machine.cycles();
        let seconds = |rig: &Rig| (rig.machine.cycles() - begin) as f64 / CLOCK_HZ as f64;
        while !done(self) {
            assert!(seconds(self) < limit_s, "not within {limit_s} s; refused {}", self.status(REFUSED));
            self.step(&[]);
        }
        seconds(self)
    }

    /// A tenth of a millisecond, or less, where the machine comes to one of these addresses.
    pub fn step(&mut self, addresses: &[u32]) {
        let until = Until { cycles: Some(self.machine.cycles() + 1600), addresses: addresses.to_vec() };
        let stop = self.machine.run(&until);
        let at_one = matches!(stop, Ok(Stop::Address(at)) if addresses.contains(&at));
        assert!(at_one || stop == Ok(Stop::Cycles), "{stop:?} at {:#06x}", self.machine.pc());
        self.exchange();
    }

    /// Runs to a function's beginning, and to its end: the seconds from one to the other.
    fn function(&mut self, name: &str, limit_s: f64) -> f64 {
        let at = self.symbol(name);
        let end = self.machine.cycles() + (limit_s * CLOCK_HZ as f64) as u64;
        while self.machine.pc() != at {
            assert!(self.machine.cycles() < end, "{name}: not within {limit_s} s");
            self.step(&[at]);
        }
        let begin = self.machine.cycles();
        let mut bytes = [0; 2];
        assert!(self.machine.peek(0x80_0001 + self.machine.sp(), &mut bytes));
        let back = 2 * u32::from(u16::from_be_bytes(bytes));
        let until = Until { cycles: Some(begin + 10 * CLOCK_HZ), addresses: vec![back] };
        assert_eq!(self.machine.run(&until), Ok(Stop::Address(back)), "{name}");
        (self.machine.cycles() - begin) as f64 / CLOCK_HZ as f64
    }
}

/// CRC-16/MODBUS of the catalogues.
fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xa001 } else { sum >> 1 })
    })
}

/// A report's round trip, from the raw data to the acknowledgement's acceptance, and a command's,
/// from its first byte on the air to its answer at the collector. GCM and Ascon within 40 ms and
/// ECIES with ECDSA within 3.5 s, on the meter's side of both; at least 100 bytes of stack are
/// never touched.
#[test]
fn round_trips_are_quick_and_leave_stack() {
    for (suite, limit_s) in [
        (Suite::None, 0.040),
        (Suite::Aes128Gcm, 0.040),
        (Suite::Aes256Gcm, 0.040),
        (Suite::Ecies, 3.5),
        (Suite::EciesEcdsa, 3.5),
        (Suite::AsconAead128, 0.040),
    ] {
        let mut rig = Rig::new(suite);
        // The alert of the start, the seed's health tests before it where there are any.
        let first_s = rig.until(30.0, |rig| rig.status(ACKNOWLEDGED) == 1);
        let prepare_s = rig.function("ws_message_prepare", 10.0);
        let rest_s = rig.until(5.0, |rig| rig.status(ACKNOWLEDGED) == 2);
        let report_s = prepare_s + rest_s;

        rig.command(Command::ReadStatus { page: 0 });
        let unpack_s = rig.function("ws_message_unpack", 5.0);
        let answer_s = rig.until(5.0, |rig| rig.answers == 1);
        assert_eq!(rig.status(COMMANDS), 1);
        let untouched = rig.untouched();
        println!(
            "{suite:?}: first acknowledgement after {first_s:.3} s; prepare {:.2} ms, round trip {:.2} ms; unpack {:.2} ms, \
             then to the answer {:.2} ms; {untouched} bytes of stack untouched",
            prepare_s * 1e3,
            report_s * 1e3,
            unpack_s * 1e3,
            answer_s * 1e3,
        );
        assert!(report_s <= limit_s, "{suite:?}: {report_s} s");
        assert!(untouched >= 100, "{suite:?}: {untouched}");
    }
}
