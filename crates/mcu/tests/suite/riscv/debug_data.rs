//! Output of the CH32V003's programs through the data registers of the debug module.

use mcu::{Observer, Part, PeripheralBus, peripherals::new_peripheral};
use std::path::Path;

#[derive(Default)]
struct Console(String);

impl Observer for Console {
    fn uart(&mut self, port: &str, byte: u8, _cycles: u64) {
        assert_eq!(port, "DM");
        self.0.push(char::from(byte));
    }
}

/// As ch32fun's `SetupDebugPrintf` and `_write` do it: first that nothing waits, then seven bytes,
/// then two.
#[test]
fn debugger_takes_written_data_at_once() {
    const DMDATA0: u32 = 0xe000_00f4;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../targets/ch32v003.toml");
    let part = Part::from_toml(&std::fs::read_to_string(file).expect("a target file")).expect("valid");
    let devices = part.peripherals.iter().map(|spec| new_peripheral(&part, spec).expect("a model")).collect();
    let mut bus = PeripheralBus::new(devices).expect("a bus");
    let mut console = Console::default();
    for (first, second) in [(0x80, 0), (0x6c_65_48_8b, 0x77_20_6f_6c), (0x0a_21_86, 0)] {
        bus.write(DMDATA0 + 4, 4, second, 0, 0, Some(&mut console)).expect("a register");
        bus.write(DMDATA0, 4, first, 0, 0, Some(&mut console)).expect("a register");
        assert_eq!(bus.read(DMDATA0, 4, 0, 0, None), Ok(0), "taken");
    }
    assert_eq!(console.0, "Hello w!\n");
}
