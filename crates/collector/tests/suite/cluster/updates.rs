//! An image of a meter's firmware that an api is given, and a worker sends, which is killed in the
//! midst of it: another goes on where the meter is.

use super::api::Asked;
use super::shared::{Stand, held};
use super::{WITHIN, until};
use collector::gateway::udp::parse;
use collector::gateway::{GatewayId, Route};
use device::meter::flash::Flash;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use wire::meter::{
    Answer, Command, CommandResult, Image, MessageKind, Packet, Reassembly, Status, Suite, UpdatePacket,
};

const DATA: usize = 36;
/// The interval of the meter's reports.
const INTERVAL: Duration = Duration::from_secs(1);

/// A meter's part of an image.
#[derive(Default)]
struct Firmware {
    version: u32,
    /// As it was told last: m, bytes, version.
    told: Option<(u32, u32, u32)>,
    received: Vec<u8>,
    /// Pieces that came, and were not those that were wanted.
    again: usize,
    begun: usize,
    reported: Option<Instant>,
}

impl Firmware {
    /// The meter of a slice hears something, or reports.
    fn step(&mut self, stand: &mut Stand, slice: usize) {
        let meter = &mut stand.meters[slice];
        if self.reported.is_none_or(|at| at.elapsed() > INTERVAL) {
            self.reported = Some(Instant::now());
            let report = meter.report();
            stand.radio.send(&report);
        }
        let mut buffer = [0; 128];
        let Ok(length) = stand.radio.socket.recv(&mut buffer) else { return };
        let (bytes, _) = parse(&buffer[..length]).expect("a datagram");
        let setup = *meter.provision.setup();
        if let Some(packet) = UpdatePacket::parse(bytes) {
            let Some((m, ..)) = self.told.filter(|_| packet.meter == setup.meter) else { return };
            let Ok(data) = meter.channel(|channel| channel.open_update_piece(&packet, m)) else { return };
            if usize::from(packet.number) == self.received.len() / DATA {
                self.received.extend(data);
            } else {
                self.again += 1;
            }
            let wants = (self.received.len() / DATA) as u16;
            let to = (setup.collector_address, setup.meter);
            let reply = meter.channel(|channel| channel.update_reply(packet.suite, to, m, wants));
            return stand.radio.send(&[reply]);
        }
        let packet = Packet::parse(bytes).expect("a packet");
        if packet.meter != setup.meter || packet.kind != MessageKind::Command {
            return;
        }
        // AES-GCM's commands are one packet.
        let message = Reassembly::default().take(&packet).expect("whole");
        let route = Route { gateway: GatewayId::of(0), peer: None };
        let (m, command) = meter.command(&(route, message.kind, message.suite, message.bytes));
        let mut body = [0; 11];
        match command {
            Command::ReadStatus { page: 2 } => {
                let (received, bytes) = (self.received.len() as u32, self.told.map_or(0, |told| told.1));
                let (on_trial, trial_next) = (false, false);
                let version = self.version;
                body =
                    Status::Firmware { version, slot: 1, on_trial, trial_next, received, bytes }.to_bytes();
            }
            Command::UpdateFirmware { bytes, version, .. } => {
                self.begun += usize::from(self.told.is_none_or(|told| told.0 != m));
                self.told = Some((m, bytes, version));
            }
            Command::Reboot => self.version = self.told.map_or(self.version, |told| told.2),
            other => panic!("{other:?}"),
        }
        let answer = meter.answer_with(Answer { m, outcome: CommandResult::Done, body });
        stand.radio.send(&answer);
    }
}

#[test]
fn an_update_goes_on_with_another_worker_where_it_was() {
    let mut stand = Stand::new();
    let one = stand.worker_with("one", &[]);
    let two = stand.worker_with("two", &[]);
    until("they share", || held(&one).len() == 2 && held(&two).len() == 2);
    let token = stand.token();
    let api = stand.api(&[]);
    until("it works", || api.asked("/health/ready").starts_with("HTTP/1.1 200"));
    let of_api = Asked::new(&format!("http://{}/", api.address("dashboard")), &token);
    let events = of_api.follow();
    let image = Image::new(Flash::image(1, 2, &[7; 1000])).expect("an image");
    let (status, added) = of_api.add_image(image.bytes());
    assert_eq!((status, &added["by"]), (201, &json!("test")), "{added}");
    let slice = held(&one)[0];
    let meter = stand.name(slice);
    // In a partition that another has, and one that is not there.
    let body = json!({"image": added["digest"], "meters": [meter, 1]}).to_string();
    let (status, refused) = of_api.ask("POST", "/updates", &body);
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("meter-unknown")), "{refused}");
    assert_eq!(of_api.get("/updates"), json!([]));
    let body = json!({"image": added["digest"], "meters": [meter]}).to_string();
    let (status, begun) = of_api.ask("POST", "/updates", &body);
    assert_eq!((status, &begun[0]["state"]), (201, &json!("waiting")), "{begun}");
    super::api::next(&events, json!({"event": "update", "meter": meter}));

    let mut firmware = Firmware { version: 1, ..Firmware::default() };
    let mut limit = Instant::now() + 2 * WITHIN;
    let half = usize::from(image.pieces() / 2) * DATA;
    while firmware.received.len() < half {
        assert!(Instant::now() < limit, "{} bytes: {}", firmware.received.len(), stand.log("one"));
        firmware.step(&mut stand, slice);
    }
    let (begun, again) = (firmware.begun, firmware.again);
    assert_eq!(of_api.get("/updates")[0]["state"], "sending");
    one.kill();
    limit = Instant::now() + 3 * WITHIN;
    let update = |of_api: &Asked<'_>| -> Value { of_api.get("/updates")[0].clone() };
    let mut looked = Instant::now();
    loop {
        firmware.step(&mut stand, slice);
        if looked.elapsed() > Duration::from_millis(500) {
            looked = Instant::now();
            let update = update(&of_api);
            if update["state"] == "runs" {
                break assert_eq!((&update["pieces"], &update["version"]), (&update["of"], &json!(2)));
            }
            assert!(looked < limit, "{update}: {}", stand.log("two"));
        }
    }
    assert_eq!(&firmware.received[..image.bytes().len()], image.bytes());
    // It was told of the image once more, and was not sent what it had but to hear where it is.
    assert_eq!((begun, firmware.begun), (1, 2));
    assert!(firmware.again - again < 5, "{} pieces came again", firmware.again - again);
    let (status, over) = of_api.ask("DELETE", &format!("/meters/{meter}/update"), "");
    assert_eq!((status, &over["error"]["code"]), (409, &json!("update-over")), "{over}");
    assert_eq!(stand.meters[slice].suite, Suite::Aes128Gcm);
    two.stop();
    api.stop();
}
