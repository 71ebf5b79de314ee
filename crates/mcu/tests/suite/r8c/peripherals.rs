//! Ports, clocks and protection of the R8C.

use mcu::{Fault, Image, Mcu, Observer, Part, PinEdge, Segment, Stop, Until, new_machine};

const PART: &str = include_str!("../../../../../targets/r8c.toml");

const PRCR: u16 = 0x0a;
const CM0: u16 = 0x06;
const CM1: u16 = 0x07;
const OCD: u16 = 0x0c;
const WDTS: u16 = 0x0e;

/// `MOV.B #value,address` for each, and `JMP` to itself.
fn run(writes: &[(u16, u8)], observer: &mut dyn Observer) -> (Box<dyn Mcu>, Result<Stop, Fault>) {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 20_000_000).expect("machine");
    let mut code = Vec::new();
    for (address, value) in writes {
        code.extend([0x74, 0xcf, *address as u8, (*address >> 8) as u8, *value]);
    }
    code.extend([0xfe, 0xff]);
    assert!(machine.poke(0x8000, &code));
    machine.set_pc(0x8000);
    let stop = machine.run_observed(&Until::default(), observer);
    (machine, stop)
}

fn stop(writes: &[(u16, u8)]) -> Result<Stop, Fault> {
    run(writes, &mut mcu::NoObserver).1
}

#[test]
fn the_crystal_becomes_the_clock() {
    let start = [(PRCR, 0x01), (CM1, 0x28), (CM0, 0x48), (CM0, 0x08), (OCD, 0x00), (PRCR, 0x00)];
    assert_eq!(stop(&start), Ok(Stop::Halted));
    // Not while it is stopped, nor while its pins are a port's.
    for writes in [&start[..2], &[start[0], start[2]]] {
        assert_eq!(stop(writes), Ok(Stop::Halted));
        assert!(matches!(stop(&[writes, &[(OCD, 0)]].concat()), Err(Fault::Peripheral { .. })));
    }
}

#[test]
fn protected_and_unmodelled_registers_are_refused() {
    for writes in [
        &[(CM0, 0x48)][..],
        &[(PRCR, 0x02), (OCD, 0x04)],
        &[(WDTS, 0)],
        &[(PRCR, 0x01), (CM1, 0x21)],
        &[(PRCR, 0x02), (0x04, 0x08)],
        &[(0xe2, 0xff)],
    ] {
        assert!(matches!(stop(writes), Err(Fault::Peripheral { .. })), "{writes:02x?}");
    }
    // The UART is not there at all.
    assert!(matches!(stop(&[(0xa0, 0)]), Err(Fault::Unmapped { address: 0xa0, .. })));
}

/// The part ignores the write, and so does the model where that is asked for.
#[test]
fn lenient_run_keeps_a_protected_register_s_value() {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 20_000_000).expect("machine");
    // MOV.B #48h,CM0; JMP to itself.
    assert!(machine.poke(0x8000, &[0x74, 0xcf, 0x06, 0x00, 0x48, 0xfe, 0xff]));
    machine.set_pc(0x8000);
    machine.set_lenient(true);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!(machine.tolerated(), [("a write to a register that PRCR protects", 1)]);
}

#[test]
fn a_watchdog_that_runs_after_reset_is_refused() {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 20_000_000).expect("machine");
    let mut image = |option| {
        let bytes = vec![0x00, 0x80, 0x00, option];
        machine.load(&Image { segments: vec![Segment { address: 0xfffc, bytes }] })
    };
    assert_eq!(image(0xff), Ok(()));
    assert!(matches!(image(0xfe), Err(Fault::Peripheral { address: 0xffff, .. })));
}

#[derive(Default)]
struct Pins(Vec<(String, u8, bool)>);

impl Observer for Pins {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.0.push((edge.port.into(), edge.pin, edge.high));
    }
}

#[test]
fn ports_are_latches() {
    let mut pins = Pins::default();
    // P1 (0xe1): latch, then direction (0xe3), then another level.
    let (_, stop) = run(&[(0xe1, 0x03), (0xe3, 0x01), (0xe1, 0x02)], &mut pins);
    assert_eq!(stop, Ok(Stop::Halted));
    assert_eq!(pins.0, [("P1".into(), 0, true), ("P1".into(), 0, false)]);
}
