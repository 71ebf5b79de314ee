//! MQTT against mosquitto, Debian's, on a loopback port, with mosquitto_sub listening: another
//! client than the one under test.

mod hostile;

use collector::event::{Alert, Event, Reading, Telegram, TelegramValue};
use collector::publish::{Broker, Publisher, ReadMeters};
use collector::store::{Link, Meter};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::alone;
use testkit::ports::free_address;
use tokio::sync::broadcast;
use wire::meter::Suite;

const WITHIN: Duration = Duration::from_secs(15);
const INSTALL: &str = "mosquitto is missing; install it with: apt-get install mosquitto mosquitto-clients";

/// Ends its process with itself.
pub struct Process(Child);

impl Process {
    /// As a broker that loses its power.
    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// mosquitto on a port of its own, with nothing kept from run to run.
pub struct Mosquitto {
    folder: tempfile::TempDir,
    pub port: u16,
    process: Process,
}

impl Mosquitto {
    pub fn start(more: &str) -> Mosquitto {
        let folder = tempfile::tempdir().expect("a folder");
        let port = free_address().port();
        let user = if more.contains("user ") || !is_root() { "" } else { "user root\n" };
        let text = format!("listener {port} 127.0.0.1\npersistence false\n{user}{more}\n");
        std::fs::write(folder.path().join("mosquitto.conf"), text).expect("a file");
        let process = Mosquitto::run(folder.path(), port);
        Mosquitto { folder, port, process }
    }

    fn run(folder: &Path, port: u16) -> Process {
        let log = std::fs::File::create(folder.join("log")).expect("a file");
        let child = Command::new("/usr/sbin/mosquitto")
            .arg("-c")
            .arg(folder.join("mosquitto.conf"))
            .stdout(log.try_clone().expect("a file"))
            .stderr(log)
            .spawn()
            .expect(INSTALL);
        let mut process = Process(child);
        let begun = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
            let ended = process.0.try_wait().expect("a child");
            assert!(ended.is_none() && begun.elapsed() < WITHIN, "mosquitto does not listen: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
        process
    }

    fn restart(&mut self) {
        self.process = Mosquitto::run(self.folder.path(), self.port);
    }

    fn broker(&self) -> Broker {
        format!("mqtt://127.0.0.1:{}", self.port).parse().expect("a broker")
    }

    fn subscribe(&self, more: &[&str]) -> Child {
        Command::new("mosquitto_sub")
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-t", "#", "-F", "%r %t %p"])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .expect(INSTALL)
    }

    /// All messages from now on, and what is retained: retain flag, topic, payload.
    pub fn listen(&self, more: &[&str]) -> (Process, Receiver<(bool, String, String)>) {
        let mut child = self.subscribe(more);
        // Seen once in many runs: it ended at once, while the broker listened. It says why in the
        // test's output.
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(100));
            if child.try_wait().expect("a child").is_none() {
                break;
            }
            child = self.subscribe(more);
        }
        let (said, heard) = channel();
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut parts = line.splitn(3, ' ').map(str::to_owned);
                let (Some(retained), Some(topic), Some(payload)) = (parts.next(), parts.next(), parts.next())
                else {
                    continue;
                };
                if said.send((retained == "1", topic, payload)).is_err() {
                    return;
                }
            }
        });
        (Process(child), heard)
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// The next message under a topic.
pub fn next(heard: &Receiver<(bool, String, String)>, topic: &str) -> (bool, String) {
    let begun = Instant::now();
    loop {
        let left = WITHIN.saturating_sub(begun.elapsed());
        let (retained, of, payload) =
            heard.recv_timeout(left).unwrap_or_else(|_| panic!("nothing under {topic}"));
        if of == topic {
            return (retained, payload);
        }
    }
}

fn meter(meter: u16, label: &str) -> Meter {
    Meter {
        meter: meter.into(),
        label: label.into(),
        epoch: 1,
        suite: Suite::Aes128Gcm,
        interval_s: 30,
        revoked: false,
        last: None,
        heard_s: None,
        total_wh: None,
        online: true,
        link: Link { rssi_dbm: None, reports: 0, repeats: 0, refused: 0, lost: 0 },
        open_alerts: 0,
        waiting_commands: 0,
    }
}

fn reading(n: u32) -> Event {
    Event::Reading(Reading {
        meter: 258.into(),
        n,
        at_s: 1_767_225_600 + i64::from(n),
        heard_ms: 0,
        power_w: 1500,
        energy_dwh: 123_456 + n,
        total_dwh: Some(i64::from(223_456 + n)),
        suite: Suite::Aes128Gcm,
        rssi_dbm: Some(-61),
    })
}

struct Fixture {
    events: broadcast::Sender<Event>,
    meters: Arc<Mutex<Vec<Meter>>>,
}

fn fixture() -> Fixture {
    Fixture { events: broadcast::Sender::new(4096), meters: Arc::new(Mutex::new(vec![meter(258, "Flat 3")])) }
}

impl Fixture {
    fn publisher(&self, broker: Broker) -> Publisher {
        let meters = self.meters.clone();
        let read: ReadMeters = Arc::new(move || Ok(meters.lock().expect("nobody panicked").clone()));
        Publisher::start(broker, "wattseal-test".into(), self.events.subscribe(), read)
    }

    fn tell(&self, event: Event) {
        self.events.send(event).expect("somebody looks on");
    }
}

/// Compares the discovery of meter 258's energy with Home Assistant's documentation, "MQTT Sensor"
/// and "MQTT Discovery", and with a value that its template gives.
fn check_discovery(energy: &str) {
    let config: Value = serde_json::from_str(energy).expect("JSON");
    let text = |key: &str| config[key].as_str().unwrap_or_else(|| panic!("{key} in {config}"));
    assert_eq!(text("device_class"), "energy");
    assert_eq!(text("state_class"), "total_increasing");
    assert_eq!(text("unit_of_measurement"), "kWh");
    assert_eq!(text("state_topic"), "wattseal/258/reading");
    assert_eq!(text("value_template"), "{{ (value_json.energy_wh / 1000) | round(4) }}");
    assert_eq!((text("availability_topic"), text("payload_available")), ("wattseal/status", "online"));
    assert_eq!(text("unique_id"), "wattseal_258_energy");
    assert_eq!(config["expire_after"], 90);
    assert_eq!(config["device"]["identifiers"], serde_json::json!(["wattseal_258"]));
    let documented = [
        "availability_topic",
        "device",
        "device_class",
        "expire_after",
        "name",
        "origin",
        "payload_available",
        "payload_not_available",
        "state_class",
        "state_topic",
        "suggested_display_precision",
        "unique_id",
        "unit_of_measurement",
        "value_template",
    ];
    let keys: Vec<&String> = config.as_object().expect("an object").keys().collect();
    assert_eq!(keys, documented);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn home_assistant_and_emoncms_hear_what_they_ask_for() {
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let (_listening, heard) = mosquitto.listen(&[]);
    let fixture = fixture();
    let publisher = fixture.publisher(mosquitto.broker());
    assert_eq!(next(&heard, "wattseal/status").1, "online");
    let energy = next(&heard, "homeassistant/sensor/wattseal_258/energy/config").1;
    fixture.tell(reading(7));
    let whole = next(&heard, "wattseal/258/reading").1;
    assert_eq!(next(&heard, "emon/Flat_3/power"), (false, "1500".into()));
    assert_eq!(next(&heard, "emon/Flat_3/energy"), (false, "12346.3".into()));
    let alert = Alert {
        id: 1,
        meter: Some(258.into()),
        at_s: 5,
        cause: "watchdog".into(),
        detail: "third start".into(),
    };
    fixture.tell(Event::Alert(alert.clone()));
    let said: Value = serde_json::from_str(&next(&heard, "wattseal/258/alert").1).expect("JSON");
    assert_eq!(said, serde_json::json!({"id": 1, "at_s": 5, "cause": "watchdog", "detail": "third start"}));
    fixture.tell(Event::Alert(Alert { meter: None, cause: "store".into(), ..alert }));
    assert!(next(&heard, "wattseal/alert").1.contains("\"store\""));

    check_discovery(&energy);
    assert_eq!(
        serde_json::from_str::<Value>(&whole).expect("JSON"),
        serde_json::json!({"at_s": 1_767_225_607, "power_w": 1500, "energy_wh": 12346.3, "total_wh": 22346.3, "n": 7})
    );

    // A later subscriber finds the retained messages, and nothing else.
    let (_later, late) = mosquitto.listen(&["--retained-only"]);
    let mut found = BTreeSet::new();
    while found.len() < 4 {
        let (retained, topic, _) = late.recv_timeout(WITHIN).expect("four are retained");
        assert!(retained, "{topic}");
        found.insert(topic);
    }
    let expected = [
        "homeassistant/sensor/wattseal_258/energy/config",
        "homeassistant/sensor/wattseal_258/power/config",
        "wattseal/258/reading",
        "wattseal/status",
    ];
    assert_eq!(found.iter().collect::<Vec<_>>(), expected);

    // A new name, then none: the meter was revoked.
    fixture.meters.lock().expect("nobody panicked")[0].label = "Kitchen".into();
    fixture.tell(Event::Meter { meter: 258.into() });
    assert!(next(&heard, "homeassistant/sensor/wattseal_258/power/config").1.contains("Kitchen"));
    fixture.tell(reading(8));
    assert_eq!(next(&heard, "emon/Kitchen/power").1, "1500");
    fixture.meters.lock().expect("nobody panicked")[0].revoked = true;
    fixture.tell(Event::Meter { meter: 258.into() });
    for topic in ["homeassistant/sensor/wattseal_258/power/config", "wattseal/258/reading"] {
        assert_eq!(next(&heard, topic).1, "", "{topic}");
    }
    publisher.stop().await;
    assert_eq!(next(&heard, "wattseal/status").1, "offline");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_makers_meters_are_devices_of_home_assistant() {
    let mut mosquitto = Mosquitto::start("allow_anonymous true");
    let (listening, heard) = mosquitto.listen(&[]);
    let fixture = fixture();
    let publisher = fixture.publisher(mosquitto.broker());
    next(&heard, "wattseal/status");
    let meter = "KAW-53820306".parse().expect("a meter");
    let volume = TelegramValue {
        quantity: "volume".into(),
        unit: "m³".into(),
        value: "12.345".into(),
        function: "instantaneous".into(),
        ..TelegramValue::default()
    };
    fixture.tell(Event::Telegram(Telegram {
        meter,
        device_type: 0x16,
        heard_ms: 1_767_225_600_000,
        authenticated: true,
        values: vec![volume],
    }));
    let sensor = "homeassistant/sensor/wattseal_mbus_kaw_53820306/volume_m3/config";
    let config: Value = serde_json::from_str(&next(&heard, sensor).1).expect("JSON");
    assert_eq!(
        [&config["device_class"], &config["state_class"], &config["unit_of_measurement"]],
        ["water", "total_increasing", "m³"]
    );
    let topic = config["state_topic"].as_str().expect("a topic");
    let figure: Value = serde_json::from_str(&next(&heard, topic).1).expect("JSON");
    assert_eq!((&figure["value"], &figure["authenticated"]), (&"12.345".into(), &true.into()));
    assert_eq!(next(&heard, "emon/KAW-53820306/volume_m3"), (false, "12.345".into()));
    // A broker that has forgotten it hears it again; one that was away hears of the removal.
    mosquitto.process.kill();
    drop((listening, heard));
    mosquitto.restart();
    let (listening, heard) = mosquitto.listen(&[]);
    next(&heard, sensor);
    mosquitto.process.kill();
    drop((listening, heard));
    fixture.tell(Event::MbusMeterRemoved { meter });
    mosquitto.restart();
    let (_listening, heard) = mosquitto.listen(&[]);
    assert_eq!(next(&heard, sensor).1, "");
    publisher.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn returning_broker_gets_missed_events_in_order() {
    let mut mosquitto = Mosquitto::start("allow_anonymous true");
    let fixture = fixture();
    let publisher = fixture.publisher(mosquitto.broker());
    let (listening, heard) = mosquitto.listen(&[]);
    next(&heard, "wattseal/status");
    fixture.tell(reading(1));
    next(&heard, "emon/Flat_3/energy");
    mosquitto.process.kill();
    drop((listening, heard));
    for n in 2..=200 {
        fixture.tell(reading(n));
    }
    mosquitto.restart();
    let (_listening, heard) = mosquitto.listen(&[]);
    // The listener may come after the first ones; they are checked from where it hears them on, and
    // the last one has to come.
    let mut last = 0;
    while last < 200 {
        let whole: Value = serde_json::from_str(&next(&heard, "wattseal/258/reading").1).expect("JSON");
        let n = whole["n"].as_u64().expect("a number");
        assert!(n == last + 1 || last == 0, "{n} after {last}");
        last = n;
    }
    let (_later, late) = mosquitto.listen(&["--retained-only"]);
    next(&late, "homeassistant/sensor/wattseal_258/energy/config");
    publisher.stop().await;
}

#[test]
fn a_collector_that_dies_is_offline() {
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let (_listening, heard) = mosquitto.listen(&[]);
    let fixture = fixture();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let publisher = runtime.block_on(async { fixture.publisher(mosquitto.broker()) });
    assert_eq!(next(&heard, "wattseal/status").1, "online");
    runtime.shutdown_background();
    assert_eq!(next(&heard, "wattseal/status").1, "offline");
    drop(publisher);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_is_asked_for_and_stays_a_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let passwords = folder.path().join("passwords");
    let made = Command::new("mosquitto_passwd")
        .args(["-b", "-c"])
        .arg(&passwords)
        .args(["collector", "correct horse"])
        .status()
        .expect(INSTALL);
    assert!(made.success());
    let mosquitto =
        Mosquitto::start(&format!("allow_anonymous false\npassword_file {}", passwords.display()));
    let (_listening, heard) = mosquitto.listen(&["-u", "collector", "-P", "correct horse"]);
    let file = folder.path().join("password");
    std::fs::write(&file, "correct horse\n").expect("written");
    let mode = |mode| {
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("chmod");
    };
    let broker: Broker = format!("mqtt://collector@127.0.0.1:{}", mosquitto.port).parse().expect("a broker");
    mode(0o644);
    let error = broker.clone().with_password_file(&file, false).expect_err("open to all");
    assert!(error.contains("chmod 600"), "{error}");
    mode(0o600);
    let broker = broker.with_password_file(&file, false).expect("a password");
    assert!(!format!("{broker:?} {broker}").contains("horse"));
    let fixture = fixture();
    let publisher = fixture.publisher(broker);
    assert_eq!(next(&heard, "wattseal/status").1, "online");
    publisher.stop().await;
}

/// The log, as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panicked").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_tls_the_right_authority_is_trusted_and_no_other() {
    // A process has one log.
    let test = "mqtt::by_tls_the_right_authority_is_trusted_and_no_other";
    if !alone::is_here(test) {
        return alone::run(test);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let made = |name: &str, authority: &str| {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut wanted = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
        wanted.distinguished_name.push(rcgen::DnType::CommonName, authority);
        let cert = wanted.self_signed(&key).expect("a certificate");
        let files = ["", "-key"].map(|what| folder.path().join(format!("{name}{what}.pem")));
        std::fs::write(&files[0], cert.pem()).expect("written");
        std::fs::write(&files[1], key.serialize_pem()).expect("written");
        files
    };
    let [certificate, key] = made("broker", "house");
    // Another authority, and one that only has the same name.
    let others = [made("other", "elsewhere"), made("namesake", "house")];
    let (certificate_is, key_is) = (certificate.display(), key.display());
    let mosquitto =
        Mosquitto::start(&format!("allow_anonymous true\ncertfile {certificate_is}\nkeyfile {key_is}"));
    let broker: Broker = format!("mqtts://127.0.0.1:{}", mosquitto.port).parse().expect("a broker");
    let log = Log::default();
    let writer = log.clone();
    let logging = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    tracing::subscriber::set_global_default(logging).expect("the only one");
    let own = broker.to_string();
    let said = async |words: &str| {
        let begun = Instant::now();
        loop {
            let text = String::from_utf8_lossy(&log.0.lock().expect("nobody panicked")).into_owned();
            let mut lines = text.lines().filter(|line| line.contains(&own));
            if lines.clone().any(|line| line.contains(words)) {
                return lines.any(|line| line.contains("broker connected"));
            }
            assert!(begun.elapsed() < WITHIN, "no {words:?} in {text:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let fixture = fixture();
    for [other, _] in others {
        let untrusted = fixture.publisher(broker.clone().with_ca_file(&other).expect("a certificate"));
        assert!(!said("--mqtt-ca FILE").await);
        untrusted.stop().await;
        log.0.lock().expect("nobody panicked").clear();
    }
    // A client without authorities connects to nobody, not without TLS either.
    let nobody = fixture.publisher(broker.clone());
    assert!(!said("No valid CA").await);
    nobody.stop().await;
    let publisher = fixture.publisher(broker.with_ca_file(&certificate).expect("a certificate"));
    assert!(said("broker connected").await);
    let ca = certificate.to_str().expect("text");
    let (_listening, heard) = mosquitto.listen(&["--cafile", ca, "--retained-only"]);
    let online =
        tokio::task::spawn_blocking(move || next(&heard, "wattseal/status")).await.expect("no panic");
    assert_eq!(online, (true, "online".to_owned()));
    publisher.stop().await;
}
