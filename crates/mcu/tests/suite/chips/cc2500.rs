//! The CC2500 against its data sheet (SWRS040), driven over SPI as firmware drives it.

use mcu::Chip;
use mcu::chips::cc2500::{Cc2500, Frame, check_sum};
use testkit::random::{self, Random};

const US: u64 = 1000;
/// 8 bits at 1 MHz.
const BYTE_NS: u64 = 8 * US;

/// A chip and the time.
struct Bench {
    chip: Cc2500,
    now_ns: u64,
}

impl Bench {
    /// Powered up, its crystal running.
    fn new() -> Bench {
        let mut bench = Bench { chip: Cc2500::new(), now_ns: 0 };
        bench.wait(1_000 * US);
        bench
    }

    /// At 250 kbit/s, with GDO0 from the sync word to the end of the packet, calibrating on the way
    /// from idle.
    fn fast() -> Bench {
        let mut bench = Bench::new();
        for (register, value) in
            [(0x02, 0x06), (0x10, 0x2d), (0x11, 0x3b), (0x12, 0x73), (0x13, 0x22), (0x18, 0x18), (0x08, 0x05)]
        {
            bench.write(register, value);
        }
        bench
    }

    fn wait(&mut self, ns: u64) {
        self.now_ns += ns;
        self.chip.tick(self.now_ns);
    }

    fn try_bytes(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        self.chip.select(true, self.now_ns);
        let answers = bytes
            .iter()
            .map(|byte| {
                self.now_ns += BYTE_NS;
                self.chip.transfer(*byte, self.now_ns)
            })
            .collect();
        self.chip.select(false, self.now_ns);
        answers
    }

    fn bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.try_bytes(bytes).expect("an access")
    }

    fn strobe(&mut self, strobe: u8) -> u8 {
        self.bytes(&[strobe])[0]
    }

    fn write(&mut self, register: u8, value: u8) {
        self.bytes(&[register, value]);
    }

    fn read(&mut self, register: u8) -> u8 {
        self.bytes(&[0x80 | register, 0])[1]
    }

    fn status(&mut self, register: u8) -> u8 {
        self.bytes(&[0xc0 | register, 0])[1]
    }

    fn spent(&mut self, state: &str) -> u64 {
        let index = Cc2500::STATES.iter().position(|name| *name == state).expect("a state");
        let spent = self.chip.spent_ns(self.now_ns);
        assert_eq!(spent.iter().sum::<u64>(), self.now_ns, "all time is accounted for");
        spent[index]
    }

    /// Steps from event to event until GDO0 has this level; the time then.
    fn until_gdo0(&mut self, level: bool) -> u64 {
        while self.chip.output(0) != Some(level) {
            self.now_ns = self.chip.due().expect("something comes");
            self.chip.tick(self.now_ns);
        }
        self.now_ns
    }

    /// A packet in 3 ms, long enough for the receiver to be turned on first, with the air time of
    /// the fast settings: 11 bytes around the payload, 32.008 us each.
    fn frame(&self, bytes: &[u8]) -> Frame {
        let start_ns = self.now_ns + 3_000 * US;
        Frame { start_ns, end_ns: start_ns + (11 + bytes.len() as u64) * 32_008, bytes: bytes.to_vec() }
    }
}

/// "Status Register Details", "Configuration Register Details".
#[test]
fn registers_are_as_after_reset() {
    let mut bench = Bench::new();
    assert_eq!((bench.status(0x30), bench.status(0x31)), (0x80, 0x03), "PARTNUM, VERSION");
    for (register, value) in
        [(0x00, 0x29), (0x01, 0x2e), (0x02, 0x3f), (0x06, 0xff), (0x08, 0x45), (0x2e, 0x0b)]
    {
        assert_eq!(bench.read(register), value, "{register:#x}");
    }
    // A burst goes on from register to register.
    assert_eq!(bench.bytes(&[0xc4, 0, 0])[1..], [0xd3, 0x91]);
    bench.bytes(&[0x44, 1, 2]);
    assert_eq!((bench.read(0x04), bench.read(0x05)), (1, 2));
    bench.bytes(&[0x7e, 1, 2, 3]);
    assert_eq!(bench.bytes(&[0xfe, 0, 0, 0])[1..], [1, 2, 3], "PATABLE's index begins anew");
    bench.strobe(0x30);
    bench.wait(1_000 * US);
    assert_eq!(bench.read(0x04), 0xd3, "SRES");
    assert!(bench.try_bytes(&[0xf6, 0]).expect_err("WORTIME1").contains("not modelled"));
}

/// "Chip Status Byte": CHIP_RDYn, STATE, FIFO_BYTES_AVAILABLE.
#[test]
fn the_status_byte_tells_of_state_and_fifo() {
    let mut bench = Bench::fast();
    assert_eq!(bench.strobe(0x3d), 0x0f, "idle, 15 and more bytes free");
    assert_eq!(bench.strobe(0x3d | 0x80), 0x00, "none to be read");
    let fill: Vec<u8> = std::iter::once(0x7f).chain([9; 60]).collect();
    assert_eq!(bench.bytes(&fill)[59..], [6, 5], "free as the 59th and the 60th byte come");
    assert_eq!(bench.strobe(0x3d), 0x04);
    bench.strobe(0x31);
    assert_eq!((bench.strobe(0x3d), bench.status(0x35)), (0x44, 8), "CALIBRATE, STARTCAL");
    bench.wait(710 * US);
    assert_eq!(bench.strobe(0x3d), 0x54, "SETTLING");
    bench.wait(90 * US);
    assert_eq!((bench.strobe(0x3d), bench.status(0x35)), (0x34, 18), "FSTXON");
    bench.strobe(0x34);
    bench.wait(30 * US);
    assert_eq!((bench.strobe(0x3d), bench.status(0x35)), (0x14, 13), "RX");
    bench.strobe(0x36);
    bench.strobe(0x3b);
    assert_eq!((bench.strobe(0x3d), bench.status(0x35), bench.status(0x3a)), (0x0f, 1, 0), "SIDLE, SFTX");
}

/// Fixed length, 64 bytes at 250 kbit/s: (256 + 59) 2^13 26 MHz / 2^28 = 249,938.96 bit/s; 4 + 4 +
/// 64 + 2 bytes are 592 bits, 2,368.58 us; before them 18,739 + 2,298 periods of 26 MHz (Table 28),
/// 809.12 us.
#[test]
fn a_packet_takes_its_time() {
    let mut bench = Bench::fast();
    bench.write(0x08, 0x04);
    bench.write(0x06, 64);
    let payload: Vec<u8> = (0..64).collect();
    bench.bytes(&[&[0x7f], &payload[..]].concat());
    bench.strobe(0x35);
    let strobed = bench.now_ns;
    let rise = bench.until_gdo0(true) - strobed;
    assert!(rise.abs_diff(809_115 + 256_062) <= 2, "the sync word is out after {rise} ns");
    let fall = bench.until_gdo0(false) - strobed;
    assert!(fall.abs_diff(809_115 + 2_368_578) <= 2, "the packet is out after {fall} ns");
    assert_eq!(bench.status(0x3a), 0);
    let sent = bench.chip.take_sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].bytes, payload);
    assert!((sent[0].end_ns - sent[0].start_ns).abs_diff(2_368_578) <= 1);
    bench.wait(US);
    assert_eq!(bench.spent("calibrate"), 720_731);
    assert!(bench.spent("tx").abs_diff(2_368_578) <= 1);
    assert_eq!(bench.spent("settling"), 88_385 + 77, "and two periods back to idle");
    assert_eq!(bench.status(0x35), 1);
}

/// x^16 + x^15 + x^2 + 1 begun with ones, nothing reflected: "CRC-16/CMS" of the catalogue of
/// parametrised CRC algorithms, whose check value for "123456789" is 0xaee7.
#[test]
fn the_check_sum_has_its_polynomial() {
    assert_eq!(check_sum(*b"123456789"), 0xaee7);
}

#[test]
fn the_fifos_end_at_64_bytes() {
    let mut bench = Bench::fast();
    bench.bytes(&[&[0x7f][..], &[40; 64]].concat());
    assert!(bench.try_bytes(&[0x3f, 1]).expect_err("too many").contains("64"));
    assert!(bench.try_bytes(&[0xbf, 0]).expect_err("none").contains("empty"));
    // 10 bytes of a packet of 40: TXFIFO_UNDERFLOW, from which only SFTX leads.
    bench.strobe(0x3b);
    bench.bytes(&[&[0x7f, 40][..], &[1; 10]].concat());
    bench.strobe(0x35);
    bench.wait(3_000 * US);
    assert_eq!((bench.strobe(0x3d) >> 4, bench.status(0x35), bench.status(0x3a)), (7, 22, 0x80));
    bench.strobe(0x35);
    assert_eq!(bench.status(0x35), 22);
    bench.strobe(0x3b);
    assert_eq!((bench.status(0x35), bench.status(0x3a)), (1, 0));
    assert_eq!(bench.chip.take_sent(), []);
    // 1 + 62 + 2 bytes of status: RXFIFO_OVERFLOW.
    let frame = bench.frame(&[7; 62]);
    bench.chip.hear(frame);
    bench.strobe(0x34);
    bench.wait(10_000 * US);
    assert_eq!((bench.strobe(0x3d) >> 4, bench.status(0x35), bench.status(0x3b)), (6, 17, 0x80 | 64));
    bench.strobe(0x3a);
    assert_eq!((bench.status(0x35), bench.status(0x3b)), (1, 0));
}

#[test]
fn receiver_takes_a_frame_from_the_air() {
    let mut bench = Bench::fast();
    let frame = bench.frame(b"wattseal");
    bench.chip.hear(frame.clone());
    bench.strobe(0x34);
    let rise = bench.until_gdo0(true);
    // 8 of 19 bytes.
    assert!(rise.abs_diff(frame.start_ns + 8 * 32_008) <= 1);
    assert_eq!(bench.until_gdo0(false), frame.end_ns);
    bench.wait(US);
    assert_eq!((bench.status(0x35), bench.status(0x3b)), (1, 11), "idle, length byte, 8, RSSI and LQI");
    let packet = bench.bytes(&[&[0xff][..], &[0; 11]].concat());
    assert_eq!((packet[1], &packet[2..10]), (8, &b"wattseal"[..]));
    assert_eq!(packet[11] & 0x80, 0x80, "CRC_OK");

    // With a wrong check sum: there, and marked; with CRC_AUTOFLUSH not there.
    for (control, left) in [(0x04, 11), (0x0c, 0)] {
        bench.write(0x07, control);
        let frame = bench.frame(b"wattseal");
        bench.chip.hear_corrupted(frame);
        bench.strobe(0x34);
        bench.wait(10_000 * US);
        assert_eq!(bench.status(0x3b), left);
        if left != 0 {
            assert_eq!(bench.bytes(&[&[0xff][..], &[0; 11]].concat())[11] & 0x80, 0);
        }
    }
    // Two at once.
    bench.write(0x07, 0x0c);
    let (first, mut second) = (bench.frame(b"wattseal"), bench.frame(b"other"));
    second.start_ns += 400 * US;
    second.end_ns += 400 * US;
    bench.chip.hear(first);
    bench.chip.hear(second);
    bench.strobe(0x34);
    bench.wait(10_000 * US);
    assert_eq!(bench.status(0x3b), 0);
}

/// One that is announced while another is being received, but begins after its end, does it no
/// harm.
#[test]
fn a_later_collision_spoils_nothing_now() {
    let mut bench = Bench::fast();
    bench.write(0x07, 0x0c);
    let first = bench.frame(b"wattseal");
    bench.chip.hear(first.clone());
    bench.strobe(0x34);
    bench.until_gdo0(true);
    bench.now_ns += 100 * US;
    bench.chip.tick(bench.now_ns);
    let later = bench.frame(b"later");
    assert!(later.start_ns > first.end_ns);
    bench.chip.hear_corrupted(later);
    bench.until_gdo0(false);
    assert_eq!(bench.status(0x3b), 11, "length byte, eight bytes, two of status");
    let bytes = bench.bytes(&[&[0xff][..], &[0; 11]].concat());
    assert_eq!((&bytes[2..10], bytes[11] & 0x80), (&b"wattseal"[..], 0x80));
}

#[test]
fn packets_for_others_and_late_receivers_are_lost() {
    let mut bench = Bench::fast();
    bench.write(0x07, 0x05);
    bench.write(0x09, 0x42);
    bench.write(0x06, 20);
    for bytes in [&[0x43, 1, 2][..], &[0x42; 21]] {
        let frame = bench.frame(bytes);
        bench.chip.hear(frame);
        bench.strobe(0x34);
        bench.wait(10_000 * US);
        assert_eq!((bench.status(0x35), bench.status(0x3b)), (13, 0), "it listens on");
        bench.strobe(0x36);
    }
    // Its sync word begins before the receiver is there: 3 ms + 128 us from now.
    let frame = bench.frame(&[0x42, 1, 2]);
    bench.chip.hear(frame);
    bench.wait(3_128 * US - 809 * US);
    bench.strobe(0x34);
    bench.wait(10_000 * US);
    assert_eq!((bench.status(0x35), bench.status(0x3b)), (13, 0));
    bench.strobe(0x36);
    let frame = bench.frame(&[0x42, 1, 2]);
    bench.chip.hear(frame);
    bench.wait(3_128 * US - 830 * US);
    bench.strobe(0x34);
    bench.wait(10_000 * US);
    assert_eq!((bench.status(0x35), bench.status(0x3b)), (1, 6));
}

#[test]
fn sleep_keeps_all_but_fifos_test_and_patable() {
    let mut bench = Bench::fast();
    bench.write(0x29, 0x11);
    bench.bytes(&[0x7e, 0xfe, 0xa9]);
    bench.bytes(&[0x7f, 1, 2]);
    let before = bench.spent("sleep");
    bench.strobe(0x39);
    bench.wait(50_000 * US);
    assert_eq!(bench.spent("sleep") - before, 50_000 * US);
    // CSn low: SO high until the crystal runs, 150 us and 64 * 63 periods (PO_TIMEOUT = 2, 155 us).
    bench.chip.select(true, bench.now_ns);
    assert_eq!(bench.chip.output(1), Some(true));
    assert!(bench.chip.transfer(0x3d, bench.now_ns + BYTE_NS).expect_err("too early").contains("CHIP_RDYn"));
    let since = bench.now_ns;
    bench.now_ns = bench.chip.due().expect("the crystal");
    assert_eq!(bench.now_ns - since, 150_000 + 155_077);
    bench.chip.tick(bench.now_ns);
    assert_eq!(bench.chip.output(1), Some(false));
    bench.chip.select(false, bench.now_ns);
    assert_eq!(bench.chip.output(1), None);
    assert_eq!((bench.read(0x10), bench.read(0x29), bench.status(0x3a)), (0x2d, 0x59, 0));
    assert_eq!(bench.bytes(&[0xfe, 0, 0])[1..], [0xfe, 0]);
    assert!(bench.try_bytes(&[0x34, 0x39]).expect_err("SPWD").contains("not allowed"));
}

/// Wake-on-radio: EVENT0 = 34,667 of 750 periods is 1.0000 s; RX_TIME = 0 at WOR_RES = 0 listens
/// for 3.6058 us each, 125.0 ms ("RX Termination Timer").
#[test]
fn wake_on_radio_listens_by_turns() {
    let mut bench = Bench::fast();
    for (register, value) in [(0x1e, 0x87), (0x1f, 0x6b), (0x20, 0x78), (0x16, 0x00)] {
        bench.write(register, value);
    }
    let before = bench.spent("rx");
    bench.strobe(0x38);
    bench.wait(4_000_100 * US - 1_000_000 * US + 200_000 * US);
    let rx = bench.spent("rx") - before;
    assert!(rx.abs_diff(3 * 125_003_000) < 3 * 1_000_000, "{rx} ns of 3.2 s");
    assert!(bench.spent("wor") > 2_700_000 * US);
    // A packet in the next turn ends it.
    bench.now_ns += 700_000 * US;
    let frame = Frame {
        start_ns: bench.now_ns + 130_000 * US,
        end_ns: bench.now_ns + 130_608 * US,
        bytes: vec![1; 8],
    };
    bench.chip.hear(frame);
    bench.wait(3_000_000 * US);
    assert_eq!((bench.status(0x35), bench.status(0x3b)), (1, 11));
}

/// The chip answers or refuses all bytes over SPI, and its time adds up.
#[test]
fn any_bytes_are_survived() {
    let seed = random::seed();
    let transfers =
        std::env::var("WATTSEAL_TRANSFERS").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let mut random = Random::new(seed);
    let mut random = move || random.word64();
    let mut bench = Bench::new();
    for _ in 0..transfers {
        match random() % 64 {
            0..=9 => bench.chip.select(random() & 1 == 0, bench.now_ns),
            10 => bench.wait(random() % 2_000_000),
            11 => {
                let start_ns = bench.now_ns + random() % 1_000_000;
                let bytes = (0..random() % 300).map(|n| n as u8).collect();
                bench.chip.hear(Frame { start_ns, end_ns: start_ns + random() % 3_000_000, bytes });
            }
            12 => bench.chip = bench.chip.clone(),
            kind => {
                bench.now_ns += BYTE_NS;
                // Strobes and FIFO more often than by chance.
                let byte = if kind < 30 { 0x30 | random() as u8 & 0xcf } else { random() as u8 };
                let _ = bench.chip.transfer(byte, bench.now_ns);
            }
        }
        for index in 0..4 {
            let _ = bench.chip.output(index);
        }
        assert!(bench.chip.due().is_none_or(|due| due > bench.now_ns), "seed {seed}");
    }
    bench.spent("idle");
}
