//! A device on a two-wire bus.

use mcu::TwoWireDevice;

/// At 0x3C: keeps what is written, refuses the fourth byte, and answers 0xA0, 0xA1 and so on.
#[derive(Clone, Default)]
pub struct Device {
    pub log: Vec<String>,
    pub times_ns: Vec<u64>,
    written: usize,
    read: u8,
}

impl TwoWireDevice for Device {
    fn name(&self) -> &str {
        "device"
    }
    fn power_up(&mut self) {
        *self = Device::default();
    }
    fn address(&mut self, address: u8, read: bool, now_ns: u64) -> bool {
        self.log.push(format!("{address:02x}{}", if read { "R" } else { "W" }));
        self.times_ns.push(now_ns);
        address == 0x3C
    }
    fn write(&mut self, byte: u8, now_ns: u64) -> bool {
        self.log.push(format!("{byte:02x}"));
        self.times_ns.push(now_ns);
        self.written += 1;
        self.written < 4
    }
    fn read(&mut self, acknowledged: bool, _now_ns: u64) -> u8 {
        self.log.push(if acknowledged { "ACK".into() } else { "NACK".into() });
        self.read += 1;
        0x9F + self.read
    }
    fn stop(&mut self, _now_ns: u64) {
        self.log.push("STOP".into());
    }
    fn boxed_clone(&self) -> Box<dyn TwoWireDevice> {
        Box::new(self.clone())
    }
}
