//! The settings that a meter is to have: as provisioned, and after each command.

use super::memory::Values;
use wire::meter::{Command, MeterRecord};

/// Returns the values that a meter is provisioned with.
pub fn values(record: &MeterRecord) -> Values {
    let setup = &record.setup;
    Values {
        suite: setup.suite.code(),
        interval_s: setup.interval_s,
        meter: setup.meter,
        address: setup.address,
        collector_address: setup.collector_address,
        voltage_uv: setup.voltage_uv,
        current_ua: setup.current_ua,
        phase: setup.phase,
    }
}

/// Returns the values after a command that is done.
pub fn commanded(values: Values, command: Command) -> Values {
    match command {
        Command::Configure { interval_s, suite } => Values { interval_s, suite: suite.code(), ..values },
        Command::Calibrate { voltage_uv, current_ua, phase } => {
            Values { voltage_uv, current_ua, phase, ..values }
        }
        Command::Register { meter, address, collector_address } => {
            Values { meter, address, collector_address, ..values }
        }
        Command::SetTime { .. }
        | Command::ReadStatus { .. }
        | Command::Reboot
        | Command::RenewKey
        | Command::UpdateFirmware { .. } => values,
    }
}
