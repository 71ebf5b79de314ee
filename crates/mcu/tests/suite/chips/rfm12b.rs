//! The RFM12B against its data sheet, driven over SPI as firmware drives it.

use mcu::Chip;
use mcu::chips::rfm12b::{AirByte, Rfm12b};

const US: u64 = 1000;
const MS: u64 = 1000 * US;
/// 16 bits at 8 MHz.
const COMMAND_NS: u64 = 2 * US;
/// C606h: 29 (6 + 1) periods of 10 MHz are 20.3 us a bit, 162.4 us a byte: 49,261.08 bit/s.
const BYTE_NS: u64 = 162_400;

const SLEEP: u16 = 0x8201;
const IDLE: u16 = 0x8209;
const TRANSMIT: u16 = 0x8239;
const RECEIVE: u16 = 0x82d9;
const STATUS: u16 = 0x0000;
const READ: u16 = 0xb000;
const RESTART: [u16; 2] = [0xca81, 0xca83];

struct Bench {
    chip: Rfm12b,
    now_ns: u64,
}

impl Bench {
    /// After the power-on reset, which is told of.
    fn new() -> Bench {
        let mut bench = Bench { chip: Rfm12b::new(), now_ns: 0 };
        bench.wait(101 * MS);
        assert_eq!(bench.send(STATUS), 0x4200, "POR, FFEM");
        bench
    }

    /// Asleep, as JeeLib sets it up, group 0xd4.
    fn ready() -> Bench {
        let mut bench = Bench::new();
        for word in [
            SLEEP, 0x80d7, 0xa640, 0xc606, 0x94a2, 0xc2ac, 0xca83, 0xced4, 0xc483, 0x9850, 0xcc77, 0xe000,
            0xc800, 0xc040,
        ] {
            bench.send(word);
        }
        bench
    }

    /// Receiving, its synthesizer settled.
    fn listening() -> Bench {
        let mut bench = Bench::ready();
        bench.send(RECEIVE);
        bench.wait(3 * MS);
        bench
    }

    fn wait(&mut self, ns: u64) {
        self.now_ns += ns;
        self.chip.tick(self.now_ns);
    }

    fn try_send(&mut self, word: u16) -> Result<u16, String> {
        self.chip.select(true, self.now_ns);
        let mut answer = 0;
        for byte in word.to_be_bytes() {
            self.now_ns += COMMAND_NS / 2;
            answer = answer << 8 | u16::from(self.chip.transfer(byte, self.now_ns)?);
        }
        self.chip.select(false, self.now_ns);
        Ok(answer)
    }

    fn send(&mut self, word: u16) -> u16 {
        self.try_send(word).expect("a command")
    }

    fn refused(&mut self, word: u16) -> String {
        let answer = self.try_send(word).expect_err("refused");
        self.chip.select(false, self.now_ns);
        answer
    }

    fn interrupt(&self) -> bool {
        self.chip.output(Rfm12b::NIRQ) == Some(false)
    }

    /// Steps from event to event until nIRQ is low; the time then.
    fn until_interrupt(&mut self) -> u64 {
        while !self.interrupt() {
            self.now_ns = self.chip.due().expect("something comes");
            self.chip.tick(self.now_ns);
        }
        self.now_ns
    }

    fn spent(&mut self, state: &str) -> u64 {
        let index = Rfm12b::STATES.iter().position(|name| *name == state).expect("a state");
        let spent = self.chip.spent_ns(self.now_ns);
        assert_eq!(spent.iter().sum::<u64>(), self.now_ns, "all time is accounted for");
        spent[index]
    }

    /// Lets it hear bytes, the first from `start_ns` on. Returns when the last one ends.
    fn hear(&mut self, start_ns: u64, bytes: &[u8]) -> u64 {
        bytes.iter().fold(start_ns, |start_ns, byte| {
            let end_ns = start_ns + BYTE_NS;
            self.chip.hear(AirByte { start_ns, end_ns, byte: *byte }, true);
            end_ns
        })
    }

    /// Takes bytes out of the FIFO as they come, up to the time when nothing is due any more.
    fn take(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Some(due_ns) = self.chip.due() {
            self.now_ns = self.now_ns.max(due_ns);
            self.chip.tick(self.now_ns);
            while self.interrupt() {
                assert_eq!(self.send(STATUS) & 0xa000, 0x8000, "FFIT, and no FFOV");
                bytes.push(self.send(READ) as u8);
            }
        }
        bytes
    }
}

/// "Reset Modes": up to 100 ms without commands; then POR, by which nIRQ is low until the status is
/// read.
#[test]
fn power_on_reset() {
    let mut bench = Bench { chip: Rfm12b::new(), now_ns: 0 };
    assert_eq!(bench.send(STATUS), 0);
    assert!(bench.refused(SLEEP).contains("power-on reset"));
    assert_eq!(bench.until_interrupt(), 100 * MS);
    assert_eq!(bench.send(STATUS), 0x4200);
    assert!(!bench.interrupt());
    assert_eq!(bench.send(STATUS), 0x0200);
    assert_eq!(bench.spent("crystal"), 100 * MS);
    bench.wait(MS);
    assert_eq!(bench.spent("idle"), MS + 2 * COMMAND_NS, "8208h: the crystal oscillator is on");
}

/// "Control Interface": a command whose select line goes high before its end is forgotten; one that
/// goes on does not exist.
#[test]
fn a_command_has_two_bytes() {
    let mut bench = Bench::ready();
    bench.chip.select(true, bench.now_ns);
    bench.chip.transfer(0x82, bench.now_ns).expect("half a command");
    bench.chip.select(false, bench.now_ns);
    assert_eq!(bench.send(STATUS), 0x0200);
    bench.chip.select(true, bench.now_ns);
    assert_eq!(bench.chip.spi_limit_hz(), 20_000_000);
    bench.chip.transfer(0, bench.now_ns).expect("half a command");
    bench.chip.transfer(0, bench.now_ns).expect("a command");
    assert!(bench.chip.transfer(0, bench.now_ns).expect_err("a third byte").contains("two"));
    bench.chip.select(false, bench.now_ns);
    bench.chip.select(true, bench.now_ns);
    bench.chip.transfer(0xb0, bench.now_ns).expect("half a command");
    assert_eq!(
        bench.chip.spi_limit_hz(),
        2_500_000,
        "a quarter of the crystal's 10 MHz while the FIFO is read"
    );
}

#[test]
fn unmodelled_commands_are_refused() {
    let mut bench = Bench::ready();
    for (word, what) in [
        (0x80c7, "315 MHz"),
        (0x8205, "low battery"),
        (0x8203, "wake-up"),
        (0x8208, "clock output"),
        (0x90a2, "interrupt input"),
        (0x95a2, "valid data"),
        (0x9402, "bandwidth"),
        (0x94a6, "threshold"),
        (0xc2bc, "analogue"),
        (0xc284, "bits 5 and 3"),
        (0xca87, "without a synchron pattern"),
        (0xca43, "8 bits"),
        (0x9858, "bit 3"),
        (0xcc00, "bits 7, 4 and 1"),
        (0xfe00, "software reset"),
        (0xc801, "Low Duty-Cycle"),
        (0xc050, "bit 4"),
        (0xd000, "no command"),
        (READ, "without a byte"),
    ] {
        let rejection = bench.refused(word);
        assert!(rejection.contains(what), "{word:04x}: {rejection}");
    }
    bench.send(0x8057);
    assert!(bench.refused(TRANSMIT).contains("TX register"));
    bench.send(SLEEP);
    bench.send(0x8097);
    assert!(bench.refused(RECEIVE).contains("FIFO"));
}

/// "TX Register Buffered Data Transmission": two bytes AAh, the first request when the first of
/// them is out; then a request as each byte moves up. t_sx 2 ms, T_tx_XTAL_ON 250 us.
#[test]
fn transmitter_sends_the_written_bytes() {
    let mut bench = Bench::ready();
    bench.wait(MS);
    bench.send(TRANSMIT);
    let on_ns = bench.now_ns;
    let written = [0xaa, 0x2d, 0xd4, 0x41, 0x00, 0x12, 0x34, 0xaa];
    for (index, byte) in written.iter().enumerate() {
        let first_ns = on_ns + 2_250 * US;
        assert_eq!(bench.until_interrupt(), first_ns + (index as u64 + 1) * BYTE_NS);
        assert_eq!(bench.send(STATUS), 0x8300, "RGIT, FFEM, ATS");
        assert!(bench.interrupt(), "until the byte is written");
        bench.send(0xb800 | byte);
        assert!(!bench.interrupt());
    }
    bench.until_interrupt();
    let off_ns = bench.now_ns + COMMAND_NS;
    bench.send(IDLE);
    assert!(!bench.interrupt() && bench.chip.due().is_none());
    let out = bench.chip.take_on_air();
    let expected: Vec<u8> = [0xaa, 0xaa].into_iter().chain(written.map(|byte| byte as u8)).collect();
    assert_eq!(out.iter().map(|air| air.byte).collect::<Vec<_>>(), expected);
    for (index, air) in out.iter().enumerate() {
        assert_eq!(air.start_ns, on_ns + 2_250 * US + index as u64 * BYTE_NS);
        assert_eq!(air.end_ns, air.start_ns + BYTE_NS);
    }
    assert_eq!(bench.spent("tx"), off_ns - on_ns - 2_250 * US, "the last byte is a fraction of itself");
    assert_eq!((bench.spent("crystal"), bench.spent("settling")), (102 * MS, 250 * US));
    assert!(bench.chip.take_on_air().is_empty());
}

/// RGUR: a byte that comes too late, or over one that still waits.
#[test]
fn the_transmitter_tells_of_bytes_that_come_late_or_early() {
    let mut bench = Bench::ready();
    bench.send(TRANSMIT);
    assert!(bench.refused(0xb8aa).contains("before the transmitter has asked"));
    bench.until_interrupt();
    bench.wait(BYTE_NS);
    assert_eq!(bench.send(STATUS), 0xa300, "RGIT, RGUR");
    bench.send(0xb811);
    assert_eq!(bench.send(STATUS), 0x0300);
    bench.send(0xb822);
    assert_eq!(bench.send(STATUS), 0x2300, "register over write");
    bench.until_interrupt();
    bench.send(IDLE);
    let out: Vec<u8> = bench.chip.take_on_air().iter().map(|air| air.byte).collect();
    assert_eq!(out, [0xaa, 0xaa, 0xaa, 0x22], "the last one once more, then what was written last");
    bench.send(0xb833);
    assert!(!bench.interrupt(), "preloaded anew when the transmitter is turned on");
}

/// T_tx_XTAL_ON and T_rx_XTAL_ON are 250 us, the turnarounds 150 us.
#[test]
fn changes_take_their_time() {
    let mut bench = Bench::ready();
    bench.send(IDLE);
    bench.wait(2 * MS);
    let start = bench.now_ns;
    bench.send(RECEIVE);
    bench.wait(250 * US - 1);
    assert_eq!((bench.spent("settling"), bench.spent("rx")), (250 * US - 1, 0));
    bench.wait(MS + 1);
    assert_eq!(bench.spent("rx"), MS);
    bench.send(TRANSMIT);
    bench.wait(150 * US + MS);
    assert_eq!((bench.spent("settling"), bench.spent("tx")), (400 * US, MS));
    bench.send(RECEIVE);
    bench.wait(150 * US);
    bench.send(IDLE);
    assert_eq!(bench.spent("settling"), 550 * US);
    bench.wait(10 * US);
    bench.send(SLEEP);
    bench.wait(MS);
    let awake = bench.now_ns - MS - start;
    let spent = ["settling", "rx", "tx"].map(|state| bench.spent(state)).iter().sum::<u64>();
    assert_eq!(awake - spent, COMMAND_NS + 10 * US + COMMAND_NS, "idle before and after");
}

/// The model's states and transition times are those of `radios/rfm12b.toml`, by the same names.
#[test]
fn the_radios_file_has_the_same_states_and_times() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../radios/rfm12b.toml"));
    let file: toml::Table = text.expect("the radio's file").parse().expect("TOML");
    let names = file["state"].as_array().expect("states").iter().map(|state| state["name"].as_str());
    let names: Vec<&str> = names.map(|name| name.expect("a name")).chain(["rx", "tx"]).collect();
    assert_eq!(names, Rfm12b::STATES);
    let words = [("sleep", SLEEP), ("idle", IDLE), ("rx", RECEIVE), ("tx", TRANSMIT)];
    let word = |name: &str| words.iter().find(|(other, _)| *other == name).expect("a state that lasts").1;
    for change in file["change"].as_array().expect("changes") {
        let end = |name: &str| change[name].as_str().expect("a state");
        let mut bench = Bench::ready();
        bench.send(word(end("from")));
        bench.wait(5 * MS);
        let mut now_ns = bench.now_ns + COMMAND_NS;
        bench.send(word(end("to")));
        for step in change["through"].as_array().expect("ways") {
            let time_ns = (step["time_s"].as_float().expect("a time") * 1e9).round() as u64;
            let before = bench.spent(step["state"].as_str().expect("a name"));
            bench.wait(time_ns);
            now_ns += time_ns;
            assert_eq!(bench.spent(step["state"].as_str().expect("a name")) - before, time_ns, "{change}");
        }
        let before = bench.spent(end("to"));
        bench.wait(MS);
        assert_eq!((bench.now_ns, bench.spent(end("to")) - before), (now_ns + MS, MS), "{change}");
    }
}

/// "RX FIFO Buffered Data Read": filled behind 2Dh and the group, eight bits an interrupt.
#[test]
fn receiver_fills_the_fifo_behind_the_pattern() {
    let mut bench = Bench::listening();
    let start_ns = bench.now_ns + 100 * US;
    bench.hear(start_ns, &[0xaa, 0xaa, 0x2d, 0xd4, 0x41, 0x03, 0x77]);
    assert_eq!(bench.until_interrupt(), start_ns + 5 * BYTE_NS);
    assert_eq!(bench.send(STATUS), 0x81c0, "FFIT, RSSI, DQD, CRL");
    assert_eq!(bench.send(READ), 0x41);
    assert!(!bench.interrupt());
    assert_eq!(bench.take(), [0x03, 0x77]);
    assert_eq!(bench.send(STATUS), 0x0200, "silence");
    // Still at work on what came: what follows has other borders.
    let start_ns = bench.now_ns + MS;
    bench.hear(start_ns, &[0xaa, 0xaa]);
    assert_eq!(bench.take(), [0x55, 0xaa]);
    for word in RESTART {
        bench.send(word);
    }
    let start_ns = bench.now_ns + MS;
    bench.hear(start_ns, &[0xaa, 0x2d, 0xd4, 0x01]);
    assert_eq!(bench.take(), [0x01]);
    // Turned off and on it searches anew, too.
    bench.send(IDLE);
    bench.send(RECEIVE);
    let start_ns = bench.now_ns + MS;
    bench.hear(start_ns, &[0xaa, 0x2d, 0xd4, 0x02]);
    assert_eq!(bench.take(), [0x02]);
}

/// Bytes in which the receiver finds no beginning.
#[test]
fn receiver_ignores_bytes_without_the_pattern() {
    let others: [&[u8]; 4] = [
        &[0xaa, 0xaa, 0x2d, 0xd5, 1],
        &[0xaa, 0xaa, 0xd4, 0x2d, 1],
        &[0xaa, 0x2d, 0xaa, 0xd4, 1],
        &[0x2d, 0xd4, 1],
    ];
    for bytes in others {
        let mut bench = Bench::listening();
        let start_ns = bench.now_ns + 10 * US;
        bench.hear(start_ns, bytes);
        assert!(bench.take().is_empty(), "{bytes:02x?}");
    }
    let begin = [0xaa, 0x2d, 0xd4, 0x41];
    // Turned on in the midst of the only byte of preamble.
    let mut bench = Bench::ready();
    bench.send(RECEIVE);
    let start_ns = bench.now_ns + 2_300 * US - BYTE_NS;
    bench.hear(start_ns, &begin);
    assert!(bench.take().is_empty());
    // With a hole in it.
    let mut bench = Bench::listening();
    let end_ns = bench.hear(bench.now_ns + US, &begin[..2]);
    bench.hear(end_ns + BYTE_NS, &begin[2..]);
    assert!(bench.take().is_empty());
    // Filling is off.
    let mut bench = Bench::listening();
    bench.send(RESTART[0]);
    bench.hear(bench.now_ns + US, &begin);
    assert!(bench.take().is_empty());
    // A byte of the pattern was disturbed.
    let mut bench = Bench::listening();
    let start_ns = bench.now_ns + US;
    for (index, byte) in begin.into_iter().enumerate() {
        let start_ns = start_ns + index as u64 * BYTE_NS;
        bench.chip.hear(AirByte { start_ns, end_ns: start_ns + BYTE_NS, byte }, index != 2);
    }
    assert!(bench.take().is_empty());
}

/// CA8Bh: the pattern is the group's byte alone.
#[test]
fn a_pattern_of_one_byte() {
    let mut bench = Bench::listening();
    bench.send(0xca89);
    bench.send(0xca8b);
    bench.hear(bench.now_ns + US, &[0xaa, 0xd4, 0x41]);
    assert_eq!(bench.take(), [0x41]);
}

/// 16 bits: the first bit of a third byte is one too many (FFOV).
#[test]
fn the_fifo_overflows_at_the_seventeenth_bit() {
    let begin = [0xaa, 0x2d, 0xd4, 1, 2, 3, 4];
    for (late_ns, overflow) in [(BYTE_NS + 20 * US, false), (BYTE_NS + 21 * US, true)] {
        let mut bench = Bench::listening();
        bench.hear(bench.now_ns + US, &begin);
        bench.until_interrupt();
        // The first of two bytes of the command is 1 us earlier; the FIFO gives its byte as the
        // second one comes.
        bench.wait(late_ns - 2 * COMMAND_NS);
        let status = bench.send(STATUS);
        assert_eq!(bench.send(READ), 1);
        bench.wait(BYTE_NS - 2 * COMMAND_NS);
        assert_eq!(status & 0x2000, 0);
        let lost = bench.send(STATUS) & 0x2000 != 0;
        assert_eq!(lost, overflow, "{late_ns} ns after the first");
        assert_eq!(bench.send(READ), 2);
        assert_eq!(bench.take(), if overflow { vec![4] } else { vec![3, 4] });
    }
    let mut bench = Bench::listening();
    bench.hear(bench.now_ns + US, &begin);
    bench.wait(2 * MS);
    assert_eq!(bench.send(STATUS) & 0xa200, 0xa000, "FFIT, FFOV");
    assert_eq!((bench.send(READ), bench.send(READ)), (1, 2));
    assert!(!bench.interrupt());
}

/// Of two stations at once the world says what can be read.
#[test]
fn receiver_reads_disturbed_bytes_wrongly() {
    let mut bench = Bench::listening();
    let start_ns = bench.now_ns + US;
    for (index, byte) in [0xaa, 0x2d, 0xd4, 1, 2, 3].into_iter().enumerate() {
        let start_ns = start_ns + index as u64 * BYTE_NS;
        bench.chip.hear(AirByte { start_ns, end_ns: start_ns + BYTE_NS, byte }, index != 4);
    }
    // Another one, announced late and too weak to be read.
    let start_ns = start_ns + 4 * BYTE_NS - 50 * US;
    bench.chip.hear(AirByte { start_ns, end_ns: start_ns + BYTE_NS, byte: 9 }, false);
    assert_eq!(bench.take(), [1, !2, 3]);
}
