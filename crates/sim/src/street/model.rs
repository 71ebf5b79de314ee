//! A meter on its models as a station of a street.

use super::air::{Arrival, ReceivedByte, ReceiveMode};
use super::station::{AirByte, Station};
use crate::emulated::EmulatedMeter;
use lab::LabError;
use meter::Status;

/// The meter, and how far it was told to live.
pub struct Model {
    meter: EmulatedMeter,
    now_ns: u64,
    /// Byte writes when that was asked last.
    writes: u64,
}

impl Model {
    /// A meter without power.
    #[must_use]
    pub fn new(meter: EmulatedMeter) -> Model {
        let writes = meter.machine().nonvolatile_writes();
        Model { meter, now_ns: 0, writes }
    }
}

impl Station for Model {
    fn receive_mode(&self) -> ReceiveMode {
        ReceiveMode::Bytes(self.meter.setup().address)
    }

    fn next_ns(&self) -> u64 {
        self.now_ns
    }

    fn advance(&mut self, until_ns: u64) -> Result<(), LabError> {
        self.meter.run(until_ns, &[])?;
        self.now_ns = until_ns;
        Ok(())
    }

    fn take_on_air(&mut self, bytes: &mut Vec<AirByte>) {
        self.meter.take_on_air(bytes);
    }

    fn hear_byte(&mut self, heard: ReceivedByte) {
        self.meter.hear(heard.at, heard.readable);
    }

    fn hear_packet(&mut self, _: Arrival) {}

    fn set_load(&mut self, power_w: f64) {
        self.meter.set_load(power_w);
    }

    fn cut_power(&mut self, torn: u8) {
        self.meter.cut_power(torn);
    }

    fn power_up(&mut self, now_ns: u64) -> Result<(), LabError> {
        self.meter.power_up(now_ns);
        self.now_ns = now_ns;
        Ok(())
    }

    fn is_writing(&mut self) -> bool {
        let writes = self.meter.machine().nonvolatile_writes();
        writes != std::mem::replace(&mut self.writes, writes)
    }

    fn status(&self) -> Result<Status, LabError> {
        Ok(self.meter.status())
    }

    fn stack_untouched(&self) -> Option<u32> {
        self.meter.stack_untouched()
    }
}
