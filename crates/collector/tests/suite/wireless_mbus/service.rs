//! The whole way: datagrams to a service, its store, its API and its command line.

use super::fixture::{KAW, forged, litres, telegram};
use crate::api::stand::{LONG, Stand};
use collector::event::Event;
use collector::mbus::{Intake, TelegramIntake, TelegramSource};
use collector::registry::KeyStore;
use device::meter::oms::{self, Reading, Sealing};
use jiff::tz::TimeZone;
use serde_json::Value;
use serialport::{SerialPort, TTYPort};
use std::io::Write;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Instant;
use wire::wireless_mbus::{Datagram, Frame, FrameFormat, Reassembly};

async fn hear(stand: &Stand, source: TelegramSource) -> (TelegramIntake, mpsc::Receiver<Event>) {
    let intake = Intake { sources: vec![source], unauthenticated: false, zone: TimeZone::UTC };
    let running = &stand.running;
    let keys: KeyStore = running.keys().clone();
    let reader = running.reader().clone();
    let (tell, told) = mpsc::channel();
    let tell = Box::new(move |event| tell.send(event).expect("the test listens"));
    let intake = TelegramIntake::start(intake, keys, reader, running.writer().clone(), tell);
    (intake.await.expect("it hears"), told)
}

async fn begin(stand: &Stand) -> (TelegramIntake, UdpSocket, mpsc::Receiver<Event>) {
    let source = TelegramSource::Udp("127.0.0.1:0".parse().expect("an address"));
    let (intake, told) = hear(stand, source).await;
    let gateway = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    gateway.connect(intake.udp()[0]).expect("loopback");
    (intake, gateway, told)
}

/// Sends until the meter has this number of telegrams, as a meter does.
async fn until(stand: &Stand, token: &str, gateway: &UdpSocket, (line, telegrams): (&str, i64)) -> Value {
    let begun = Instant::now();
    while begun.elapsed() < LONG {
        gateway.send(line.as_bytes()).expect("sent");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        let meters = stand.get("/wireless-mbus", token).await;
        if meters[0]["telegrams"] == telegrams {
            return meters;
        }
    }
    panic!("no telegram is stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn datagrams_become_telegrams_of_the_api() {
    let stand = Stand::new().await;
    let token = stand.first_token("anna").await;
    let (intake, gateway, told) = begin(&stand).await;
    // Keys that come while it runs are taken.
    let published = telegram("kamstrup-profile-d-1");
    stand.running.keys().put_mbus_meters(&[published.registered(false)]).expect("put");
    // A flood from the gateway, and bytes that are no lines, stop nothing.
    for number in 0..2000 {
        let _ = gateway.send(forged(1, &litres(number)).as_bytes());
    }
    for junk in [&[0xff; 2000][..], &[b'a'; 9000], b"\n\n", &[]] {
        let _ = gateway.send(junk);
    }
    let meters = until(&stand, &token, &gateway, (&published.line, 1)).await;
    assert_eq!((&meters[0]["meter"], &meters[0]["unauthenticated"]), (&KAW.into(), &0.into()));
    let telegrams = stand.get(&format!("/wireless-mbus/{KAW}/telegrams"), &token).await;
    let stored = &telegrams[0];
    assert_eq!((&stored["authenticated"], &stored["mode"]), (&true.into(), &10.into()));
    let volume = &stored["contents"]["records"][1];
    assert_eq!((&volume["mantissa"], &volume["unit"]), (&"0".into(), &"m³".into()), "{volume}");
    assert_eq!(telegrams.as_array().map(Vec::len), Some(1));
    // Observers hear of it once it is stored, and of nothing that was refused.
    let Ok(Event::Telegram(event)) = told.recv_timeout(LONG) else { panic!("nothing is told") };
    assert_eq!((event.meter.to_string(), event.authenticated, event.device_type), (KAW.into(), true, 0x16));
    let volume = event.values.iter().find(|value| value.quantity == "volume").expect("a volume");
    assert_eq!((volume.unit.as_str(), volume.storage), ("m³", 0), "{volume:?}");
    for number in 0..50 {
        gateway.send(forged(1, &litres(number)).as_bytes()).expect("sent");
    }
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty));
    stand.running.keys().remove_mbus_meter(event.meter).expect("removed");
    let removed = tokio::task::spawn_blocking(move || told.recv_timeout(LONG)).await.expect("no panic");
    assert_eq!(removed, Ok(Event::MbusMeterRemoved { meter: event.meter }));
    intake.stop().await;
    // What was refused is counted at the end.
    let meters = stand.get("/wireless-mbus", &token).await;
    assert!(meters[0]["refused"].as_i64().is_some_and(|refused| refused > 0), "{meters}");
    assert!(meters[0]["refusal"].as_str().is_some_and(|reason| reason.contains("authenticates")), "{meters}");
}

#[tokio::test(flavor = "multi_thread")]
async fn module_frames_of_a_serial_line_become_telegrams() {
    let stand = Stand::new().await;
    let published = telegram("kamstrup-profile-d-1");
    stand.running.keys().put_mbus_meters(&[published.registered(false)]).expect("put");
    let (mut module, line) = TTYPort::pair().expect("a pseudo-terminal");
    let source = format!("im871a:{}", line.name().expect("a name")).parse().expect("a source");
    let (intake, told) = hear(&stand, source).await;
    // IMST's frame: radio link service, received telegram, nothing behind it. L is its length.
    let telegram: Vec<u8> = (0..published.line.len() / 2)
        .map(|at| u8::from_str_radix(&published.line[2 * at..][..2], 16).expect("digits"))
        .collect();
    let frame = [&[0xa5, 0x02, 0x03][..], &telegram].concat();
    let heard = tokio::task::spawn_blocking(move || {
        // A start byte and half a frame come before it, as where the collector begins to listen.
        module.write_all(&frame[..frame.len() / 2]).expect("written");
        let begun = Instant::now();
        loop {
            module.write_all(&frame).expect("written");
            match told.recv_timeout(std::time::Duration::from_millis(500)) {
                Err(_) if begun.elapsed() < LONG => {}
                heard => break heard.expect("a telegram"),
            }
        }
    });
    let Event::Telegram(event) = heard.await.expect("no panic") else { panic!("another event") };
    assert_eq!((event.meter.to_string(), event.authenticated), (KAW.into(), true));
    drop(line);
    intake.stop().await;
}

/// Runs `meters mbus`; returns exit code, standard output and standard error.
fn mbus(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal-collector"));
    let ran = command.current_dir(folder).args(["meters", "mbus"]).args(arguments).output();
    let ran = ran.expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

/// The firmware that is given these bytes is read with the key that the collector has.
#[test]
fn provisioned_meter_is_read_with_its_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |arguments: &[&str]| mbus(folder.path(), arguments);
    let (code, rows, said) =
        run(&["provision", "els-12345678", "--profile", "d", "--images", "made", "--format", "json"]);
    assert_eq!(code, Some(0), "{said}");
    let rows: Value = serde_json::from_str(&rows).expect("JSON");
    assert_eq!((&rows[0]["meter"], &rows[0]["mode"]), (&"ELS-12345678".into(), &10.into()));
    let read = |file: &str| std::fs::read(folder.path().join("made").join(file)).expect("it was written");
    let flash = read("ELS-12345678.flash.bin");
    let key: [u8; 16] = flash[32..48].try_into().expect("16 bytes");
    let sealing = Sealing {
        profile: flash[10],
        format: flash[11],
        address: flash[22..30].try_into().expect("8 bytes"),
        key,
    };
    let reading = Reading { counter: 1, energy: 1234, power: 230, hours: 0, status: 0 };
    let frame = Frame::parse(&oms::telegram(&sealing, &reading), FrameFormat::B).expect("a frame");
    let message = Reassembly::default().take(&Datagram::parse(frame).expect("a datagram"));
    let keys = KeyStore::Folder(folder.path().join("wattseal.keys"));
    let registered = keys.mbus_meters().expect("keys").into_values().next().expect("a meter");
    let its_key = registered.key.as_ref().expect("a key").meter_key();
    let opened = message.expect("one piece").expect("whole").open(Some(&its_key)).expect("authentic");
    assert_eq!((opened.meter.to_string().as_str(), opened.counter), ("ELS 12345678 01 02", Some(1)));
    // The key file is one: nothing of it is new.
    let (code, _, said) = run(&["import", "made/ELS-12345678.csv"]);
    assert!(code == Some(0) && said.contains("0 meters are new and 0 changed"), "{said}");
    // A key that is there stays, and no meter of profile A is taken by accident.
    for (arguments, why) in [
        (&["ELS-12345678"][..], "registered already"),
        (&["ELS-1234567a"], "eight decimal digits"),
        (&["ELS-12345679", "--profile", "a"], "--unauthenticated"),
        (&["ELS-12345679", "--voltage-uv", "1"], "110,000,000"),
    ] {
        let (code, _, said) = run(&[&["provision"], arguments, &["--images", "others"]].concat());
        assert!(matches!(code, Some(1 | 2)) && said.contains(why), "{code:?} {said}");
    }
    assert!(!folder.path().join("others").exists(), "nothing was made");
    assert_eq!(keys.mbus_meters().expect("keys").into_values().collect::<Vec<_>>(), [registered]);
    let taken = run(&["provision", "ELS-12345679", "--profile", "a", "--unauthenticated"]);
    assert_eq!(taken.0, Some(0), "{}", taken.2);
}

#[test]
fn command_line_imports_lists_and_removes() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |arguments: &[&str]| mbus(folder.path(), arguments);
    let key = "000102030405060708090A0B0C0D0E0F";
    let file = format!("Manufacturer,Serial,Key\nELS,12345678,{key}\nKAW,53820306,\n");
    std::fs::write(folder.path().join("keys.csv"), file).expect("written");
    let (code, _, said) = run(&["import", "keys.csv"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2 meters are new"), "{said}");
    let (code, listed, _) = run(&["list", "--format", "csv"]);
    assert!(code == Some(0) && listed.contains("ELS-12345678,true,false,0"), "{listed}");
    assert!(!listed.to_uppercase().contains(&key[..12]), "{listed}");
    assert_eq!(run(&["remove", "KAW-53820306"]).0, Some(0));
    assert_eq!(run(&["remove", "KAW-53820306"]).0, Some(2));
    std::fs::write(folder.path().join("keys.csv"), format!("id,key\nELS-12345678,{key}F\n"))
        .expect("written");
    let (code, _, said) = run(&["import", "keys.csv"]);
    assert!(
        code == Some(2) && said.contains("line 2, column \"key\"") && !said.contains(&key[..8]),
        "{said}"
    );
}
