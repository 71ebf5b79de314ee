//! The serial gateway on a pseudo-terminal, at whose other end is a board as RF12demo's source says
//! it behaves: one buffer, input taken character by character, a packet that comes while one waits
//! overwrites it.

use collector::gateway::serial::{SerialGateway, SerialLine};
use collector::gateway::{Gateways, HeardPacket, Route};
use serialport::{SerialPort, TTYPort};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// An instruction of the test to the board.
enum Tell {
    /// Text for the host, as it is.
    Say(String),
    /// The number of times that it finds the channel taken before it sends.
    Busy(u32),
}

/// Runs a board at `device`, until `told` is dropped: then it is unplugged. Its packets go to
/// `air`.
fn board(device: &Path, told: Receiver<Tell>, air: Sender<Vec<u8>>) -> std::thread::JoinHandle<()> {
    let (mut master, slave) = TTYPort::pair().expect("a pseudo-terminal");
    let _ = std::fs::remove_file(device);
    symlink(slave.name().expect("a slave has a name"), device).expect("a link");
    master.set_timeout(Duration::from_millis(2)).expect("a timeout");
    std::thread::spawn(move || {
        // Held, so that the line is there before the host opens it.
        let slave = slave;
        let (mut value, mut stack, mut waiting, mut busy) = (0u8, Vec::new(), None, 0);
        let say = |master: &mut TTYPort, text: &str| master.write_all(text.as_bytes()).expect("room");
        loop {
            match told.try_recv() {
                Ok(Tell::Say(text)) => say(&mut master, &text),
                Ok(Tell::Busy(count)) => busy = count,
                Err(std::sync::mpsc::TryRecvError::Disconnected) => break,
                Err(std::sync::mpsc::TryRecvError::Empty) => {}
            }
            let mut input = [0; 16];
            let count = master.read(&mut input).unwrap_or(0);
            for c in input[..count].iter().copied() {
                match c {
                    b'0'..=b'9' => value = value.wrapping_mul(10).wrapping_add(c - b'0'),
                    b',' => stack.push(std::mem::take(&mut value)),
                    b's' => {
                        say(&mut master, &format!("> {value}s\r\n"));
                        let payload = std::mem::take(&mut stack);
                        waiting = Some([&[0x40 | std::mem::take(&mut value)], &payload[..]].concat());
                    }
                    c if c.is_ascii_lowercase() => {
                        say(&mut master, &format!("> {value}{}\r\n", char::from(c)));
                        (value, stack) = (0, Vec::new());
                    }
                    _ => {}
                }
            }
            // It has something else to do meanwhile.
            std::thread::sleep(Duration::from_millis(1));
            if count == 0
                && let Some(packet) = waiting.take()
            {
                if busy > 0 {
                    busy -= 1;
                    say(&mut master, " Busy\r\n");
                    continue;
                }
                say(&mut master, &format!(" -> {} b\r\n", packet.len() - 1));
                let _ = air.send(packet);
            }
        }
        drop(slave);
    })
}

struct Bench {
    folder: tempfile::TempDir,
    gateways: Gateways,
    heard: Receiver<HeardPacket>,
    gateway: SerialGateway,
}

fn bench() -> (Bench, Sender<Tell>, Receiver<Vec<u8>>) {
    let folder = tempfile::tempdir().expect("a folder");
    let (tell, told) = channel();
    let (on_air, air) = channel();
    let device = folder.path().join("tty");
    board(&device, told, on_air);
    let gateways = Gateways::default();
    let (hear, heard) = channel();
    let line: SerialLine = format!("{}:57600", device.display()).parse().expect("a line");
    assert_eq!(line.baud, 57_600);
    let hear = move |packet| hear.send(packet).expect("the test lives");
    let gateway = SerialGateway::start(line, &gateways, hear);
    (Bench { folder, gateways, heard, gateway }, tell, air)
}

const WITHIN: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn packets_pass_both_ways_one_after_the_other() {
    let (bench, tell, air) = bench();
    let route = Route { gateway: bench.gateway.id(), peer: None };
    // The board was on before: half a line, then a help text, a bad packet and one of somebody
    // else.
    let noise =
        "2 3 4\r\n\r\nAvailable commands:\r\n  <nn> i     - set node ID\r\n ? 79 1 2\r\nOK 5 1 2 (-80)\r\n";
    tell.send(Tell::Say(noise.into())).expect("a board");
    tell.send(Tell::Say("OK 79 8 3 4 1 255 (-61)\r\n".into())).expect("a board");
    let heard = |bytes: &[u8], rssi_dbm| HeardPacket { route, bytes: bytes.to_vec(), rssi_dbm };
    let receive = || bench.heard.recv_timeout(WITHIN).expect("heard");
    assert_eq!(receive(), heard(&[0x45, 1, 2], Some(-80)));
    assert_eq!(receive(), heard(&[0x4f, 8, 3, 4, 1, 255], Some(-61)));

    // Three pieces of the longest packets, given at once: the board has one buffer.
    let packets: Vec<Vec<u8>> = (0..3u8).map(|piece| [&[0x42, piece], &[200; 59][..]].concat()).collect();
    bench.gateways.transmit(route, &packets);
    for packet in &packets {
        assert_eq!(air.recv_timeout(WITHIN).expect("sent"), *packet);
    }
    // Others are on the air: it is given again.
    tell.send(Tell::Busy(3)).expect("a board");
    std::thread::sleep(Duration::from_millis(20));
    bench.gateways.transmit(route, &packets[..1]);
    assert_eq!(air.recv_timeout(WITHIN).expect("sent"), packets[0]);
    // For ever: it is given up, and the next one is sent.
    tell.send(Tell::Busy(5)).expect("a board");
    std::thread::sleep(Duration::from_millis(20));
    bench.gateways.transmit(route, &packets[..2]);
    assert_eq!(air.recv_timeout(WITHIN).expect("sent"), packets[1]);
    // A packet that no such board can send is passed over.
    bench.gateways.transmit(route, &[vec![0x07, 1], packets[2].clone()]);
    assert_eq!(air.recv_timeout(WITHIN).expect("sent"), packets[2]);
    assert!(air.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_board_that_was_unplugged_is_found_again() {
    let (bench, tell, air) = bench();
    let route = Route { gateway: bench.gateway.id(), peer: None };
    tell.send(Tell::Say("OK 79 1\r\nOK 79 2 (-6".into())).expect("a board");
    assert_eq!(bench.heard.recv_timeout(WITHIN).expect("heard").bytes, [0x4f, 1]);
    drop((tell, air));
    std::thread::sleep(Duration::from_millis(100));
    bench.gateways.transmit(route, &[vec![0x42, 9]]);

    let (tell, told) = channel();
    let (on_air, air) = channel();
    board(&bench.folder.path().join("tty"), told, on_air);
    let begun = Instant::now();
    // It says something now and then; the host has to open the line first.
    let packet = loop {
        tell.send(Tell::Say("OK 79 3\r\n".into())).expect("a board");
        if let Ok(packet) = bench.heard.recv_timeout(Duration::from_millis(100)) {
            break packet;
        }
        assert!(begun.elapsed() < WITHIN, "not found again");
    };
    assert_eq!(packet.bytes, [0x4f, 3]);
    // Packets for the time without a board are gone, new ones go.
    bench.gateways.transmit(route, &[vec![0x42, 10]]);
    assert_eq!(air.recv_timeout(WITHIN).expect("sent"), [0x42, 10]);
}

#[test]
fn a_line_is_a_device_and_perhaps_a_rate() {
    let line = |text: &str| text.parse::<SerialLine>();
    let made = |device: &str, baud| Ok(SerialLine { device: device.into(), baud });
    assert_eq!(line("/dev/ttyAMA0"), made("/dev/ttyAMA0", 38_400));
    assert_eq!(line("/dev/ttyUSB0:57600"), made("/dev/ttyUSB0", 57_600));
    assert_eq!(line("/dev/serial/by-path/pci-0:1.0"), made("/dev/serial/by-path/pci-0:1.0", 38_400));
    for wrong in ["", ":38400", "/dev/ttyAMA0:1", "/dev/ttyAMA0:99999999999"] {
        assert!(line(wrong).is_err(), "{wrong}");
    }
}
