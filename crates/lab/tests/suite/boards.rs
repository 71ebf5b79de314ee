//! Boards on models: firmware that is built and loaded, chips that are wired as the firmware's ports have them, signals.

use firmware::{Firmware, build_app};
use lab::target::Workspace;
use mcu::chips::cc2500::Cc2500;
use mcu::chips::rfm12b::Rfm12b;
use mcu::{Board, Mcu, Pin, Signal, Wiring, new_machine};

/// The ATmega328P's in the meter.
pub const AVR_CLOCK_HZ: u64 = 16_000_000;

/// An application of `device/`, built for a target's clock, and a machine with it that is to be reset.
pub fn loaded(target: &str, clock_hz: Option<u64>, variant: &str, app: &str) -> (Box<dyn Mcu>, Firmware) {
    let workspace = Workspace::find().expect("the project's folder");
    let target = workspace.target(target).expect("a target");
    let point = target.operating_point(clock_hz, None).expect("a clock of the part");
    let path = build_app(&workspace.source(&target, &point), variant, app).expect("it builds");
    let firmware = Firmware::read(&path, target.part.core).expect("an ELF file");
    let mut machine = new_machine(&target.part, point.clock_hz).expect("a model");
    machine.load(firmware.image()).expect("it fits");
    (machine, firmware)
}

/// An ATmega328P at 5 V, not reset.
pub fn avr(app: &str) -> (Box<dyn Mcu>, Firmware) {
    let (mut machine, firmware) = loaded("atmega328p", Some(AVR_CLOCK_HZ), "small", app);
    machine.board_mut().supply_v = 5.0;
    (machine, firmware)
}

/// The radio of the ATmega328P, as in `device/ports/avr/drivers/rfm12b.c`.
pub fn mount_rfm12b(board: &mut Board) {
    board.externally_wakeable = true;
    let wiring = Wiring {
        spi: "SPI".into(),
        select: Pin::new("PORTB", 2),
        outputs: vec![(Rfm12b::NIRQ, Pin::new("PORTD", 2))],
    };
    board.mount(Box::new(Rfm12b::new()), wiring);
}

pub fn rfm12b(machine: &mut dyn Mcu) -> &mut Rfm12b {
    machine.board_mut().chip_mut("RFM12B").expect("mounted").downcast_mut().expect("an RFM12B")
}

pub fn cc2500(machine: &mut dyn Mcu) -> &mut Cc2500 {
    machine.board_mut().chip_mut("CC2500").expect("mounted").downcast_mut().expect("a CC2500")
}

/// 50 Hz around the middle of a supply, with a step or so of noise: without it samples of whole periods are all rounded alike.
pub fn mains(supply_v: f64, amplitude_v: f64, phase_rad: f64, noise_v: f64, seed: u64) -> Signal {
    Signal::Mains {
        offset_v: supply_v / 2.0,
        amplitude_v,
        hz: 50.0,
        phase_rad,
        harmonics: Vec::new(),
        noise_v,
        seed,
    }
}
