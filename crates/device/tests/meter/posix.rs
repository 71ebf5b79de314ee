//! The meter as a process of the host (`make -C device TARGET=posix APP=meter`) against `wire`'s
//! collector, over UDP on loopback.

use rand::SeedableRng;
use rand::rngs::StdRng;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};
use wire::meter::{
    Cause, Collector, Command, CommandResult, CompletedCommand, Content, Due, Identity, MeterState, Policy,
    Provision, ReceivedReport, Setup, Suite, Transmission, UplinkOutcome,
};

const METER: u16 = 5;
/// Before each packet: what it is, and a strength that nobody knows
/// (`docs/how-to/collector/gateways.md`, "UDP").
const BEFORE: [u8; 4] = [b'W', b'S', b'1', 127];
/// Values of its sampler at the peaks, in steps, and the size of a step.
const PEAKS: (f64, f64) = (400.0, 100.0);
const STEP_UV: u32 = 800_000;
const STEP_UA: u32 = 200_000;

/// suites: by name; all where there are none.
fn built(out: &Path, suites: &str) -> PathBuf {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device");
    let made = Process::new("make")
        .arg("-C")
        .arg(device)
        .args(["TARGET=posix", "APP=meter"])
        .arg(format!("OUT={}", out.display()))
        .arg(format!("SUITES={suites}"))
        .output()
        .expect("make is there");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let folder = match suites {
        "" => "posix".to_owned(),
        fewer => format!("posix-{}", fewer.replace(' ', "+")),
    };
    out.join(folder).join("portable/meter")
}

/// The process, which does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The collector, and the socket that it is behind.
struct Gateway {
    socket: UdpSocket,
    meter: Option<SocketAddr>,
    collector: Collector,
    rng: StdRng,
    begun: Instant,
    reports: Vec<ReceivedReport>,
    answers: Vec<CompletedCommand>,
}

impl Gateway {
    fn now_ms(&self) -> u64 {
        1_800_000_000_000 + self.begun.elapsed().as_millis() as u64
    }

    fn send(&self, transmission: &Transmission) {
        let Some(meter) = self.meter else { return };
        for packet in &transmission.packets {
            let datagram = [&BEFORE[..], packet].concat();
            self.socket.send_to(&datagram, meter).expect("loopback takes it");
        }
    }

    /// Lives until something is so, at most so long; whether it is.
    fn until(&mut self, limit: Duration, done: impl Fn(&Gateway) -> bool) -> bool {
        let end = Instant::now() + limit;
        while Instant::now() < end && !done(self) {
            for due in self.collector.due(self.now_ms(), &mut self.rng) {
                match due {
                    Due::Save(state) => self.collector.confirm_state(state.meter, state.revision),
                    Due::SaveKeys(record) => self.collector.confirm_keys(&record),
                    Due::Send(transmission) => self.send(&transmission),
                }
            }
            let mut datagram = [0; 128];
            let Ok((len, from)) = self.socket.recv_from(&mut datagram) else { continue };
            let packet = datagram[..len].strip_prefix(&BEFORE).expect("a packet of the meter");
            self.meter = Some(from);
            match self.collector.on_packet(packet, self.now_ms()) {
                UplinkOutcome::Report(report) => {
                    let stored = self.collector.confirm_report(report.meter, report.report.n);
                    self.send(&stored.expect("a report that it has"));
                    self.reports.push(*report);
                }
                UplinkOutcome::Duplicate(acknowledgement) => self.send(&acknowledgement),
                UplinkOutcome::Answer(answer) => self.answers.push(*answer),
                UplinkOutcome::Piece => {}
                heard => panic!("{heard:?}"),
            }
        }
        done(self)
    }

    fn alerts(&self) -> Vec<Cause> {
        let alert = |report: &ReceivedReport| match report.report.content {
            Content::Alert(alert) => Some(alert.cause),
            Content::Measurement(_) | Content::Other(..) => None,
        };
        self.reports.iter().filter_map(alert).collect()
    }

    fn powers_w(&self) -> Vec<i16> {
        let power = |report: &ReceivedReport| match report.report.content {
            Content::Measurement(measurement) => Some(measurement.power_w),
            Content::Alert(_) | Content::Other(..) => None,
        };
        self.reports.iter().filter_map(power).collect()
    }
}

/// A meter's process that has still to be started, provisioned with this suite, and its collector.
/// name: of its files.
fn provisioned(program: &Path, suite: Suite, name: &str) -> (Process, Gateway) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut rng = StdRng::seed_from_u64(1);
    let identity = Identity::generate(&mut rng);
    let setup = Setup {
        meter: METER,
        address: 0x45,
        collector_address: 0x41,
        channel: 212,
        power: 0,
        interval_s: 1,
        suite,
        voltage_uv: STEP_UV,
        current_ua: STEP_UA,
        phase: 0,
    };
    let provision = Provision::generate(setup, identity.public(), &mut rng);
    let files = ["flash", "eeprom"].map(|memory| folder.join(format!("{name}.{memory}")));
    std::fs::write(&files[0], &provision.flash()[..]).expect("written");
    std::fs::write(&files[1], &provision.eeprom()[..]).expect("written");
    let mut collector = Collector::new(identity, Policy { set_time: false, ..Policy::default() });
    collector.add(provision.record(), MeterState::new(&provision.record())).expect("the first meter");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    socket.set_read_timeout(Some(Duration::from_millis(5))).expect("a timeout");
    let address = socket.local_addr().expect("bound").to_string();
    let mut process = Process::new(program);
    process.args(&files).arg(address).stdin(Stdio::null());
    let gateway = Gateway {
        socket,
        meter: None,
        collector,
        rng,
        begun: Instant::now(),
        reports: Vec::new(),
        answers: Vec::new(),
    };
    (process, gateway)
}

/// docs/reference/protocol.md: what is of a suite that a build does not have is refused, and no key
/// is used with another one for it.
#[test]
fn a_build_with_fewer_suites_has_no_others() {
    let program = built(Path::new(env!("CARGO_TARGET_TMPDIR")), "none aes128-gcm");
    let (mut process, _) = provisioned(&program, Suite::AsconAead128, "posix-meter-of-another");
    let refused = process.output().expect("it starts");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("suite 5, which this build of the meter does not have"), "{said}");

    let (mut process, mut gateway) = provisioned(&program, Suite::Aes128Gcm, "posix-meter-with-fewer");
    let _meter = Running(process.spawn().expect("it starts"));
    let suites = || Suite::ALL.into_iter().filter(|suite| *suite > Suite::Aes128Gcm);
    for suite in suites() {
        let ordered = gateway.collector.command(METER, Command::Configure { interval_s: 1, suite });
        ordered.expect("there is room");
    }
    let wanted = suites().count();
    assert!(gateway.until(Duration::from_secs(30), |gateway| gateway.answers.len() == wanted));
    for answered in &gateway.answers {
        assert_eq!(answered.answer.outcome, CommandResult::OutOfRange, "{answered:?}");
    }
    let reports = gateway.reports.len();
    assert!(gateway.until(Duration::from_secs(20), |gateway| gateway.reports.len() > reports));
    assert!(gateway.reports.iter().all(|report| report.suite == Suite::Aes128Gcm));
    assert_eq!(gateway.collector.state(METER).expect("it is known").suites(), [Suite::Aes128Gcm]);
}

#[test]
fn a_meter_as_a_process_talks_to_the_collector_over_udp() {
    let program = built(Path::new(env!("CARGO_TARGET_TMPDIR")), "");
    let (mut process, mut gateway) = provisioned(&program, Suite::Aes128Gcm, "posix-meter");
    let _meter = Running(process.spawn().expect("it starts"));

    // An alert at once, a measurement a second.
    assert!(gateway.until(Duration::from_secs(20), |gateway| gateway.powers_w().len() >= 2));
    assert_eq!(gateway.alerts(), [Cause::PowerOn]);
    // Mean of the product of two sines in phase.
    let power_w = PEAKS.0 * PEAKS.1 / 2.0 * f64::from(STEP_UV) * f64::from(STEP_UA) * 1e-12;
    for measured_w in gateway.powers_w() {
        assert!((f64::from(measured_w) - power_w).abs() < 0.01 * power_w, "{measured_w} W of {power_w} W");
    }

    // What it is told to it does, also to begin anew: with the numbers behind those before.
    gateway.collector.command(METER, Command::ReadStatus { page: 0 }).expect("there is room");
    assert!(gateway.until(Duration::from_secs(20), |gateway| !gateway.answers.is_empty()));
    assert!(gateway.answers[0].answer.status(0).is_some());
    gateway.collector.command(METER, Command::Reboot).expect("there is room");
    assert!(gateway.until(Duration::from_secs(20), |gateway| gateway.alerts().len() == 2));
    assert_eq!(gateway.alerts(), [Cause::PowerOn, Cause::Commanded]);
    assert_eq!(gateway.answers[1].answer.outcome, CommandResult::Done);
    assert!(gateway.reports.is_sorted_by(|one, other| one.report.n < other.report.n));
}
