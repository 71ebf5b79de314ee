//! Meters as they are written on the command line.

use collector::network::{GlobalMeterId, NoMeter};

/// 258, or 7-258; 0 is nobody's number.
pub(crate) fn meter(text: &str) -> Result<GlobalMeterId, String> {
    let meter: GlobalMeterId = text.parse().map_err(|error: NoMeter| error.to_string())?;
    match meter.meter {
        0 => Err("0 is nobody's number: meters have 1 to 65535".into()),
        _ => Ok(meter),
    }
}
