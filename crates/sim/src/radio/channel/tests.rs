//! Impairments of packets on a channel, and their receivers.

use super::*;

const RFM12B: Framing = Framing::Rfm12b { group: 212 };

const BYTE_NS: u64 = 162_400;
const RECEIVE_MODES: [ReceiveMode; 3] =
    [ReceiveMode::Packets(2), ReceiveMode::Bytes(3), ReceiveMode::Packets(1)];

fn model() -> ChannelModel {
    ChannelModel {
        seed: 1,
        framing: RFM12B,
        latency_ns: 1_000_000,
        byte_ns: BYTE_NS,
        loss: 0.0,
        bit_error_rate: 0.0,
        duplicate: 0.0,
        reorder: 0.0,
        later_ns: (5_000_000, 50_000_000),
    }
}

/// Lets time pass in steps, and gathers what each hears.
fn heard(channel: &mut RadioChannel, until_ns: u64) -> Vec<Vec<Arrival>> {
    let mut all = vec![Vec::new(); 3];
    let mut now_ns = 0;
    while now_ns < until_ns {
        now_ns += channel.model.step_ns();
        let mut inboxes = vec![Vec::new(); 3];
        channel.settle(now_ns, &RECEIVE_MODES, &mut inboxes);
        for (all, inbox) in all.iter_mut().zip(inboxes) {
            for (at, _) in bytes(&inbox) {
                assert!(at.start_ns >= now_ns, "received in the past");
            }
            all.extend(inbox);
        }
    }
    all
}

fn packets(inbox: &[Arrival]) -> Vec<&[u8]> {
    fn packet(arrival: &Arrival) -> Option<&[u8]> {
        match arrival {
            Arrival::Packet { packet, .. } => Some(packet),
            Arrival::Coming { .. } | Arrival::Byte(..) => None,
        }
    }
    inbox.iter().filter_map(packet).collect()
}

fn bytes(inbox: &[Arrival]) -> Vec<(AirByte, bool)> {
    let byte = |arrival: &Arrival| match arrival {
        Arrival::Byte(at, readable) => Some((*at, *readable)),
        Arrival::Coming { .. } | Arrival::Packet { .. } => None,
    };
    inbox.iter().filter_map(byte).collect()
}

#[test]
fn packet_reaches_its_receiver_after_the_latency() {
    let mut channel = RadioChannel::new(model());
    let packet = [1, 10, 11, 12];
    let sent = RFM12B.encode(&packet);
    channel.send_packet(0, 500_000, &packet, 0);
    let heard = heard(&mut channel, 20_000_000);
    assert_eq!(packets(&heard[2]), [[1, 10, 11, 12]]);
    assert_eq!(packets(&heard[0]), [[0u8; 0]; 0], "its own packet");
    let end_ns = 500_000 + sent.len() as u64 * BYTE_NS + 1_000_000;
    assert!(matches!(heard[2][1], Arrival::Packet { end_ns: end, from: 0, .. } if end == end_ns));
    let heard_bytes = bytes(&heard[1]);
    assert_eq!(
        heard_bytes.iter().map(|(at, readable)| (at.byte, *readable)).collect::<Vec<_>>(),
        sent.iter().map(|&byte| (byte, true)).collect::<Vec<_>>()
    );
    assert_eq!(heard_bytes[0].0.start_ns, 1_500_000);
    let traffic = channel.traffic();
    assert_eq!((traffic.packets, traffic.collided, traffic.bytes), (1, 0, sent.len() as u64));
}

#[test]
fn two_at_once_spoil_what_overlaps_and_noise_spoils_all() {
    let mut channel = RadioChannel::new(model());
    let packet = [1, 10, 11, 12];
    let sent = RFM12B.encode(&packet);
    channel.send_packet(0, 500_000, &packet, 0);
    // The last byte meets with the first of another packet.
    let later_ns = 500_000 + sent.len() as u64 * BYTE_NS - 10;
    channel.send_packet(2, later_ns, &[3, 1, 2], 0);
    let heard = heard(&mut channel, 20_000_000);
    assert_eq!(packets(&heard[2]), [[0u8; 0]; 0]);
    let unreadable: Vec<usize> = bytes(&heard[1])
        .iter()
        .enumerate()
        .filter(|(_, (_, readable))| !readable)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(unreadable, [sent.len() - 1, sent.len()]);
    // The other's preamble is all that was hit.
    let traffic = channel.traffic();
    assert_eq!((traffic.packets, traffic.collided), (2, 1));

    let mut channel = RadioChannel::new(model());
    channel.jam(0, 3_000_000);
    channel.send_packet(0, 500_000, &packet, 0);
    assert_eq!(packets(&self::heard(&mut channel, 20_000_000)[2]), [[0u8; 0]; 0]);
}

#[test]
fn packets_get_lost_come_twice_and_late_as_often_as_asked_for() {
    let model = ChannelModel { loss: 0.3, duplicate: 0.1, reorder: 0.2, ..model() };
    let mut channel = RadioChannel::new(model);
    let mut came = vec![0u32; 5000];
    let mut late = 0;
    let mut now_ns = 0;
    let mut highest = 0;
    for number in 0..5000u16 {
        let [high, low] = number.to_be_bytes();
        channel.send_packet(0, now_ns, &[1, high, low], 0);
        let mut inboxes = vec![Vec::new(); 3];
        for _ in 0..10 {
            now_ns += model.step_ns();
            channel.settle(now_ns, &RECEIVE_MODES, &mut inboxes);
        }
        for packet in packets(&inboxes[2]) {
            let number = u16::from_be_bytes([packet[1], packet[2]]);
            came[usize::from(number)] += 1;
            late += u32::from(number < highest);
            highest = highest.max(number);
        }
    }
    let of = |times| came.iter().filter(|&&count| count == times).count() as f64;
    // 5000 trials: three deviations of a share p are 3 (p (1 - p) / 5000)^(1/2), below 0.02. What
    // comes late may meet with something else, and be lost, too.
    assert!((of(0) / 5000.0 - 0.3).abs() < 0.08, "{}", of(0));
    assert!((of(2) / 5000.0 - 0.7 * 0.8 * 0.1).abs() < 0.04, "{}", of(2));
    assert!(late > 200, "{late}");
}

#[test]
fn bit_errors_have_the_stated_rate_and_spoil_their_packet() {
    let model = ChannelModel { bit_error_rate: 1e-3, ..model() };
    let mut channel = RadioChannel::new(model);
    let mut now_ns = 0;
    let (mut came, mut wrong, mut bits) = (0, 0, 0);
    let sent = RFM12B.encode(&[1; 40]);
    for _ in 0..1000 {
        channel.send_packet(0, now_ns, &[1; 40], 0);
        let mut inboxes = vec![Vec::new(); 3];
        for _ in 0..15 {
            now_ns += model.step_ns();
            channel.settle(now_ns, &RECEIVE_MODES, &mut inboxes);
        }
        came += packets(&inboxes[2]).len();
        for ((at, _), sent) in bytes(&inboxes[1]).iter().zip(&sent) {
            wrong += (at.byte ^ sent).count_ones();
            bits += 8;
        }
        assert!(packets(&inboxes[2]).iter().all(|packet| *packet == [1; 40]));
    }
    let rate = f64::from(wrong) / f64::from(bits);
    assert!((rate - 1e-3).abs() < 2e-4, "{rate}");
    // (1 - 10^-3)^(8 x 45) of the packets: from the synchronisation to the CRC.
    assert!((f64::from(came as u32) / 1000.0 - 0.697).abs() < 0.05, "{came}");
}

#[test]
fn bytes_that_are_handed_in_one_by_one_are_one_packet() {
    let mut channel = RadioChannel::new(model());
    let sent = RFM12B.encode(&[1, 2, 3]);
    let mut inboxes = vec![Vec::new(); 3];
    let mut now_ns = 0;
    let mut next = 0;
    while now_ns < 20_000_000 {
        now_ns += model().step_ns();
        while next < sent.len() && 100_000 + next as u64 * BYTE_NS < now_ns {
            let start_ns = 100_000 + next as u64 * BYTE_NS;
            channel
                .send(1, Emission::Byte(AirByte { start_ns, end_ns: start_ns + BYTE_NS, byte: sent[next] }));
            next += 1;
        }
        channel.settle(now_ns, &RECEIVE_MODES, &mut inboxes);
    }
    assert_eq!(packets(&inboxes[2]), [[1, 2, 3]]);
    assert_eq!(channel.take_sent_packets().len(), 1);
}

#[test]
fn packet_arrives_once_its_collisions_are_known() {
    let known_ns = ChannelModel { framing: Framing::Cc2500, byte_ns: 32_000, ..model() }.known_after_ns();
    let model = ChannelModel {
        framing: Framing::Cc2500,
        byte_ns: 32_000,
        latency_ns: 1_000_000 + known_ns,
        ..model()
    };
    assert_eq!(model.step_ns(), 1_000_000);
    let emission = |from, start_ns, packet: &[u8]| {
        let end_ns = start_ns + Framing::Cc2500.air_bytes(packet.len()) as u64 * 32_000;
        (end_ns, from, Emission::Packet { start_ns, end_ns, packet: packet.to_vec() })
    };
    // Each is sent once it is over; the second begins within the first. The third is alone.
    let mut emissions = vec![
        emission(0, 100_000, &[1, 10, 11]),
        emission(1, 300_000, &[1; 50]),
        emission(1, 9_000_000, &[2, 5]),
    ];
    let mut channel = RadioChannel::new(model);
    let modes = [ReceiveMode::Packets(2), ReceiveMode::Off, ReceiveMode::Packets(1)];
    let (mut now_ns, mut inboxes) = (0, vec![Vec::new(); 3]);
    while now_ns < 40_000_000 {
        now_ns += model.step_ns();
        for (_, from, emission) in emissions.extract_if(.., |(end_ns, ..)| *end_ns < now_ns) {
            channel.send(from, emission);
        }
        channel.settle(now_ns, &modes, &mut inboxes);
    }
    assert_eq!(packets(&inboxes[0]), [[2, 5]]);
    assert_eq!(packets(&inboxes[2]), [[0u8; 0]; 0], "they collided");
    let Some(Arrival::Packet { start_ns, .. }) = inboxes[0].last() else { panic!("a packet") };
    assert_eq!(*start_ns, 9_000_000 + model.latency_ns);
    let traffic = channel.traffic();
    assert_eq!((traffic.packets, traffic.collided), (3, 2));
}
