//! Quantities as a person writes them: `2mJ`, `167ms`, `1/6s`, `24kB`, `100mAh@3V`, `4/h`.

use energy::storage::{Battery, Capacitor};
use energy::sun::Panel;

/// A kind of quantity: its unit's names with their factors, and how to write one.
struct UnitFamily {
    what: &'static str,
    units: &'static [(&'static str, f64)],
    examples: &'static str,
    /// Factor of a number without a unit; none where it would be a riddle.
    bare: Option<f64>,
}

const YEAR_S: f64 = 365.25 * 86_400.0;

const ENERGY: UnitFamily = UnitFamily {
    what: "an energy",
    units: &[
        ("J", 1.0),
        ("mJ", 1e-3),
        ("uJ", 1e-6),
        ("µJ", 1e-6),
        ("nJ", 1e-9),
        ("mWh", 3.6),
        ("Wh", 3600.0),
    ],
    examples: "2mJ, 500uJ or 0.002J",
    bare: None,
};

const TIME: UnitFamily = UnitFamily {
    what: "a time",
    units: &[
        ("s", 1.0),
        ("ms", 1e-3),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("min", 60.0),
        ("h", 3600.0),
        ("d", 86_400.0),
        ("y", YEAR_S),
        ("years", YEAR_S),
        ("days", 86_400.0),
    ],
    examples: "167ms, 1/6s, 2h or 5y",
    bare: None,
};

const MEMORY: UnitFamily = UnitFamily {
    what: "an amount of memory",
    units: &[
        ("B", 1.0),
        ("kB", 1000.0),
        ("KB", 1000.0),
        ("MB", 1e6),
        ("KiB", 1024.0),
        ("kiB", 1024.0),
        ("MiB", 1_048_576.0),
    ],
    examples: "24kB, 2KiB or 8192",
    bare: Some(1.0),
};

const FREQUENCY: UnitFamily = UnitFamily {
    what: "a frequency",
    units: &[("Hz", 1.0), ("kHz", 1e3), ("k", 1e3), ("MHz", 1e6), ("M", 1e6), ("GHz", 1e9)],
    examples: "16MHz, 16M, 16e6 or 16000000",
    bare: Some(1.0),
};

const COUNT: UnitFamily = UnitFamily {
    what: "a number",
    units: &[("k", 1e3), ("M", 1e6), ("G", 1e9)],
    examples: "1000000, 1_000_000, 1e6 or 1M",
    bare: Some(1.0),
};

const VOLTAGE: UnitFamily = UnitFamily {
    what: "a voltage",
    units: &[("V", 1.0), ("mV", 1e-3)],
    examples: "2.7, 2.7V or 2700mV",
    bare: Some(1.0),
};

const POWER: UnitFamily = UnitFamily {
    what: "a power",
    units: &[("W", 1.0), ("mW", 1e-3), ("uW", 1e-6), ("µW", 1e-6)],
    examples: "50mW or 0.05W",
    bare: None,
};

const CAPACITANCE: UnitFamily = UnitFamily {
    what: "a capacitance",
    units: &[("F", 1.0), ("mF", 1e-3), ("uF", 1e-6), ("µF", 1e-6)],
    examples: "0.1F, 100mF, or with its highest voltage 0.1F@5V",
    bare: None,
};

const CHARGE: UnitFamily = UnitFamily {
    what: "a battery",
    units: &[("Ah", 1.0), ("mAh", 1e-3)],
    examples: "220mAh@3V, 0.22Ah@3.0V, or with its self-discharge 220mAh@3V,1%/y",
    bare: None,
};

const SHARE: UnitFamily =
    UnitFamily { what: "a share", units: &[("%", 0.01)], examples: "85% or 0.85", bare: Some(1.0) };

impl UnitFamily {
    fn wrong(&self, text: &str) -> String {
        let near = self
            .units
            .iter()
            .find(|(name, _)| {
                let (_, unit) = split(text);
                unit != *name && unit.eq_ignore_ascii_case(name)
            })
            .map(|(name, _)| format!("; did you mean {}{name}?", split(text).0))
            .unwrap_or_default();
        format!("'{text}' is not {}: write {}{near}", self.what, self.examples)
    }

    /// A positive quantity in the unit's base.
    fn read(&self, text: &str) -> Result<f64, String> {
        match self.quantity(text) {
            Some(quantity) if quantity > 0.0 => Ok(quantity),
            Some(_) => Err(format!("'{}' is not above 0: write {}", text.trim(), self.examples)),
            None => Err(self.wrong(text.trim())),
        }
    }

    /// A quantity in the unit's base, zero and below too; `None` for what is no quantity.
    fn quantity(&self, text: &str) -> Option<f64> {
        let (digits, unit) = split(text.trim());
        let factor =
            if unit.is_empty() { self.bare? } else { self.units.iter().find(|(name, _)| *name == unit)?.1 };
        Some(number(digits)? * factor).filter(|quantity| quantity.is_finite())
    }
}

/// The number and the unit behind it.
fn split(text: &str) -> (&str, &str) {
    // An exponent's e is followed by a digit or a sign, a unit's never.
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let exponent = matches!(bytes[end], b'e' | b'E')
            && end > 0
            && bytes.get(end + 1).is_some_and(|next| next.is_ascii_digit() || matches!(next, b'-' | b'+'));
        if exponent {
            end += 2;
        } else if bytes[end].is_ascii_digit() || matches!(bytes[end], b'.' | b'/' | b'_' | b'-') {
            end += 1;
        } else {
            break;
        }
    }
    (&text[..end], text[end..].trim())
}

/// `12`, `1.5e-3`, `1/6`.
fn number(text: &str) -> Option<f64> {
    let plain = |part: &str| part.trim().replace('_', "").parse::<f64>().ok();
    match text.split_once('/') {
        Some((over, under)) => Some(plain(over)? / plain(under)?),
        None => plain(text),
    }
}

/// Joules: `2mJ`.
///
/// # Errors
/// A sentence with the notation of an energy.
pub fn joules(text: &str) -> Result<f64, String> {
    ENERGY.read(text)
}

/// Seconds: `167ms`, `1/6s`, `5y`.
///
/// # Errors
/// A sentence with the notation of a time.
pub fn seconds(text: &str) -> Result<f64, String> {
    TIME.read(text)
}

/// A time from a beginning, in whole nanoseconds, up to 30 years: `0s`, `1.5ms`.
///
/// # Errors
/// A sentence with the notation of a time.
pub fn time_ns(text: &str) -> Result<u64, String> {
    let seconds = TIME.quantity(text).or_else(|| (text.trim() == "0").then_some(0.0));
    let nanoseconds = seconds.map(|seconds| (seconds * 1e9).round());
    nanoseconds
        .filter(|nanoseconds| (0.0..1e18).contains(nanoseconds))
        .map(|nanoseconds| nanoseconds as u64)
        .ok_or_else(|| TIME.wrong(text.trim()))
}

/// A voltage of either sign, or none: `1.2V`, `-50mV`, `0`.
///
/// # Errors
/// A sentence with the notation of a voltage.
pub fn signed_volts(text: &str) -> Result<f64, String> {
    VOLTAGE.quantity(text).ok_or_else(|| VOLTAGE.wrong(text.trim()))
}

/// A frequency of a signal, in hertz: `50Hz`, `38kHz`, `0.5Hz`.
///
/// # Errors
/// A sentence with the notation of a frequency.
pub fn signal_hertz(text: &str) -> Result<f64, String> {
    FREQUENCY.read(text)
}

/// Bytes: `24kB` (24,000), `24KiB` (24,576), `8192`.
///
/// # Errors
/// A sentence with the notation of an amount of memory.
pub fn bytes(text: &str) -> Result<f64, String> {
    MEMORY.read(text)
}

/// Volts: `2.7`, `2.7V`.
///
/// # Errors
/// A sentence with the notation of a voltage.
pub fn volts(text: &str) -> Result<f64, String> {
    VOLTAGE.read(text)
}

/// Least frequency without a unit, in hertz. A smaller number is taken for a slip: no core runs
/// that slowly by design.
const LEAST_BARE_HZ: f64 = 10_000.0;

/// A clock in whole hertz, up to 1 THz: `16MHz`, `16M`, `16e6`.
///
/// # Errors
/// A sentence with the notation of a frequency; that of a small number without a unit.
pub fn frequency(text: &str) -> Result<u64, String> {
    let (digits, unit) = split(text.trim());
    if unit.is_empty() && number(digits).is_some_and(|bare| (1.0..LEAST_BARE_HZ).contains(&bare)) {
        return Err(format!(
            "'{digits}' has no unit, and would be hertz: did you mean {digits}MHz? Write {digits}MHz, {digits}kHz or {digits}Hz"
        ));
    }
    let hertz = FREQUENCY.quantity(text).ok_or_else(|| FREQUENCY.wrong(text.trim()))?.round();
    if (1.0..=1e12).contains(&hertz) {
        Ok(hertz as u64)
    } else {
        Err("a clock is at least 1 Hz and at most 1 THz".into())
    }
}

/// A whole number from 1 up: `1000000`, `1e6`, `1M`.
///
/// # Errors
/// A sentence with the notation of a number.
pub fn count(text: &str) -> Result<u64, String> {
    // Exact where it is written out.
    if let Ok(count @ 1..) = text.replace('_', "").parse() {
        return Ok(count);
    }
    let count = COUNT.read(text)?;
    if count.fract() == 0.0 && (1.0..=1e18).contains(&count) {
        Ok(count as u64)
    } else {
        Err(COUNT.wrong(text))
    }
}

/// A whole number of a type, 0 or more, in digits: `16`.
///
/// # Errors
/// A sentence with the largest number.
pub fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().and_then(|number: u64| T::try_from(number).ok());
    let largest = u64::MAX >> (u64::BITS - 8 * size_of::<T>() as u32);
    number.ok_or_else(|| format!("'{text}' is no whole number from 0 to {largest}: write digits, such as 16"))
}

/// An address: `0x8000000`, `32768`.
///
/// # Errors
/// A sentence with the notation of an address.
pub fn address(text: &str) -> Result<u32, String> {
    let address = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(&digits.replace('_', ""), 16).ok(),
        None => text.replace('_', "").parse().ok(),
    };
    address.ok_or_else(|| "an address is a number of at most 32 bits, such as 0x8000000".into())
}

/// Watts: `50mW`.
///
/// # Errors
/// A sentence with the notation of a power.
pub fn watts(text: &str) -> Result<f64, String> {
    POWER.read(text)
}

/// A share between 0 and 1: `85%`.
///
/// # Errors
/// A sentence with the notation of a share, and its range.
pub fn share(text: &str) -> Result<f64, String> {
    let share = SHARE.read(text)?;
    if share > 1.0 { Err(format!("'{text}' is more than the whole: write 85% or 0.85")) } else { Ok(share) }
}

/// A growth as a share, with its sign of percent: `1%`, `0.5%`, `0%`.
///
/// # Errors
/// A sentence with the notation of a growth.
pub fn growth(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').and_then(|digits| digits.trim().parse::<f64>().ok());
    percent
        .filter(|percent| *percent >= 0.0 && percent.is_finite())
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("'{text}' is not a growth: write 1%, 0.5% or 0%"))
}

/// Messages a second: `1/15min`, `4/h`, `0.1Hz`.
///
/// # Errors
/// A sentence with the notation of a rate.
pub fn hertz(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let examples = "write 4/h, 1/15min, 1/s or 0.1Hz";
    if TIME.read(text).is_ok() && !text.starts_with("1/") {
        return Err(format!("'{text}' is a time, not a rate: {examples}; did you mean 1/{text}?"));
    }
    let wrong = || format!("'{text}' is not a rate: {examples}");
    let rate = if let Some(digits) = text.strip_suffix("Hz") {
        number(digits.trim()).ok_or_else(wrong)?
    } else {
        let (count, interval) = text.split_once('/').ok_or_else(wrong)?;
        let interval = interval.trim();
        let one = if interval.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "1" };
        let interval = TIME.read(&format!("{one}{interval}")).map_err(|_| wrong())?;
        number(count.trim()).ok_or_else(wrong)? / interval
    };
    if rate > 0.0 && rate.is_finite() { Ok(rate) } else { Err(wrong()) }
}

/// A battery: capacity and voltage, `220mAh@3V`, and where it counts the share that it loses by
/// itself in a year, `220mAh@3V,1%/y`.
///
/// # Errors
/// A sentence with the notation of a battery.
pub fn battery(text: &str) -> Result<Battery, String> {
    let Some((capacity, voltage)) = text.split_once('@') else {
        let voltage = if CHARGE.read(text).is_ok() { "; its voltage is missing" } else { "" };
        return Err(format!("{}{voltage}", CHARGE.wrong(text)));
    };
    let (voltage, self_discharge_per_year) = match voltage.split_once(',') {
        Some((voltage, lost)) => {
            (voltage, share(lost.trim().strip_suffix("/y").ok_or_else(|| CHARGE.wrong(text))?)?)
        }
        None => (voltage, 0.0),
    };
    Ok(Battery {
        capacity_ah: CHARGE.read(capacity).map_err(|_| CHARGE.wrong(text))?,
        voltage_v: volts(voltage)?,
        self_discharge_per_year,
        usable: 1.0,
    })
}

/// The voltage of a capacitor that is given without one: that of two cells of 2.5 V in series.
pub const CAPACITOR_V: f64 = 5.0;

/// A capacitor without losses: `0.1F`, or with its highest voltage `0.1F@5.5V`.
///
/// # Errors
/// A sentence with the notation of a capacitor.
pub fn capacitor(text: &str) -> Result<Capacitor, String> {
    let (capacitance, max_v) = match text.split_once('@') {
        Some((capacitance, voltage)) => (capacitance, volts(voltage)?),
        None => (text, CAPACITOR_V),
    };
    let capacitance_f = CAPACITANCE.read(capacitance).map_err(|_| CAPACITANCE.wrong(text))?;
    Ok(Capacitor { capacitance_f, max_v, esr_ohm: 0.0, leakage_a: 0.0 })
}

/// A panel by its power at 1,000 W/m², `50mW`, and where it is not whole the share of it that the
/// charger stores, `50mW@85%`.
///
/// # Errors
/// A sentence with the notation of a panel.
pub fn panel(text: &str) -> Result<Panel, String> {
    let (power, efficiency) = match text.split_once('@') {
        Some((power, efficiency)) => (power, share(efficiency)?),
        None => (text, 1.0),
    };
    Ok(Panel { rated_w: watts(power)?, charger_efficiency: efficiency })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(read: Result<f64, String>, expected: f64) {
        let value = read.expect("a quantity");
        assert!((value / expected - 1.0).abs() < 1e-12, "{value} is not {expected}");
    }

    #[test]
    fn quantities_are_read_as_people_write_them() {
        near(joules("2mJ"), 0.002);
        near(joules("500 uJ"), 0.0005);
        near(joules("2e-3J"), 0.002);
        near(seconds("167ms"), 0.167);
        near(seconds("1/6s"), 1.0 / 6.0);
        near(seconds("5y"), 5.0 * 365.25 * 86_400.0);
        near(bytes("24kB"), 24_000.0);
        near(bytes("24KiB"), 24_576.0);
        near(bytes("8192"), 8192.0);
        near(volts("2.7"), 2.7);
        near(volts("2700mV"), 2.7);
        near(share("85%"), 0.85);
        assert_eq!(
            ["16MHz", "16M", "32.768kHz", "16Hz", "10000", "16e6"].map(frequency),
            [Ok(16_000_000), Ok(16_000_000), Ok(32_768), Ok(16), Ok(10_000), Ok(16_000_000)]
        );
        assert_eq!(
            [count("1e9"), count("1_000"), count("18446744073709551615")],
            [Ok(1_000_000_000), Ok(1000), Ok(u64::MAX)]
        );
        near(hertz("4/h"), 4.0 / 3600.0);
        near(hertz("1/15min"), 1.0 / 900.0);
        near(hertz("0.1Hz"), 0.1);
        near(hertz("1/s"), 1.0);
        let cell = battery("100mAh@3V").expect("a battery");
        assert!((cell.capacity_ah - 0.1).abs() < 1e-12 && cell.voltage_v == 3.0);
        near(battery("100mAh@3V,1%/y").map(|cell| cell.self_discharge_per_year), 0.01);
        let cap = capacitor("0.1F").expect("a capacitor");
        assert!(cap.capacitance_f == 0.1 && cap.max_v == 5.0);
        assert_eq!(capacitor("100mF@5.5V").expect("a capacitor").max_v, 5.5);
        assert_eq!(panel("50mW@85%").expect("a panel").charger_efficiency, 0.85);
    }

    #[test]
    fn malformed_quantity_is_refused_with_the_notation() {
        for (error, hint) in [
            (joules("2mj").unwrap_err(), "did you mean 2mJ?"),
            (joules("2").unwrap_err(), "write 2mJ"),
            (joules("-2mJ").unwrap_err(), "write 2mJ"),
            (joules("").unwrap_err(), "write 2mJ"),
            (seconds("1/0s").unwrap_err(), "1/6s"),
            (hertz("15min").unwrap_err(), "did you mean 1/15min?"),
            (hertz("4").unwrap_err(), "write 4/h"),
            (battery("100mAh").unwrap_err(), "its voltage is missing"),
            (battery("100@3V").unwrap_err(), "220mAh@3V"),
            (battery("100mAh@3V,1%").unwrap_err(), "1%/y"),
            (capacitor("0.1").unwrap_err(), "0.1F@5V"),
            (share("120%").unwrap_err(), "85%"),
            (bytes("24 kilo").unwrap_err(), "24kB"),
            (frequency("16mhz").unwrap_err(), "did you mean 16MHz?"),
            (frequency("16").unwrap_err(), "did you mean 16MHz?"),
            (frequency("9999").unwrap_err(), "9999Hz"),
            (frequency("0.1").unwrap_err(), "at least 1 Hz"),
            (frequency("0").unwrap_err(), "at least 1 Hz"),
            (frequency("-16MHz").unwrap_err(), "at least 1 Hz"),
            (count("0").unwrap_err(), "1000000"),
            (count("1.5").unwrap_err(), "1e6"),
            (whole::<u16>("70000").unwrap_err(), "from 0 to 65535"),
            (whole::<u64>("-1").unwrap_err(), "from 0 to 18446744073709551615"),
        ] {
            assert!(error.contains(hint), "{error}");
        }
    }
}
