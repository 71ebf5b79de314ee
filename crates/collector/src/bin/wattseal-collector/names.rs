//! Meters as they are written on the command line.

use collector::network::{GlobalMeterId, NoMeter};

const RANGE: &str = "meters have 1 to 65535";

/// 258, or 7-258; 0 is nobody's number.
pub(crate) fn meter(text: &str) -> Result<GlobalMeterId, String> {
    let meter: GlobalMeterId = text.parse().map_err(|error: NoMeter| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
        if is_number { format!("{text} is nobody's number: {RANGE}") } else { error.to_string() }
    })?;
    match meter.meter {
        0 => Err(format!("0 is nobody's number: {RANGE}")),
        _ => Ok(meter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_meter_has_is_refused_with_the_range() {
        for text in ["0", "70000", "99999999999999999999"] {
            let said = meter(text).unwrap_err();
            assert!(said.starts_with(text) && said.contains("1 to 65535"), "{said}");
        }
        assert!(meter("7-70000").unwrap_err().contains("7-258"));
        assert!(meter("").is_err() && meter("65535").is_ok());
    }
}
