//! Numbers as a person reads them.

/// 1234567 as `1,234,567`.
#[must_use]
pub fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A quantity with its SI prefix and three to four significant digits: 0.000123 s as `123.0 µs`.
#[must_use]
pub fn scaled(value: f64, unit: &str) -> String {
    if value == 0.0 {
        return format!("0 {unit}");
    }
    const PREFIXES: [(f64, &str); 7] =
        [(1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")];
    let (scale, prefix) =
        PREFIXES.into_iter().find(|(scale, _)| value.abs() >= *scale * 0.99995).unwrap_or(PREFIXES[6]);
    let scaled = value / scale;
    let decimals = if scaled >= 100.0 { 1 } else { 2 };
    format!("{scaled:.decimals$} {prefix}{unit}")
}

/// A time as a person says it: from a minute on in minutes, hours, days or years of 365.25 days,
/// below as [`scaled`].
#[must_use]
pub fn duration(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] =
        [(31_557_600.0, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min")];
    match UNITS.into_iter().find(|(unit, _)| seconds >= 2.0 * unit || (seconds >= *unit && *unit < 86_400.0))
    {
        Some((unit, name)) if seconds / unit < 100.0 => format!("{} {name}", significant(seconds / unit, 3)),
        Some((unit, name)) => format!("{:.0} {name}", seconds / unit),
        None => scaled(seconds, "s"),
    }
}

/// A figure with as many digits as its unit is worth; a dash where there is none.
#[must_use]
pub fn figure(value: Option<f64>, unit: &str) -> String {
    match value {
        None => "–".into(),
        Some(value) if matches!(unit, "cycles" | "B" | "bit") && value.fract().abs() < 0.05 => {
            grouped(value.round() as i64)
        }
        Some(value) if value.abs() >= 10_000.0 || (value.abs() >= 100.0 && value.fract() == 0.0) => {
            grouped(value.round() as i64)
        }
        Some(value) if value.abs() >= 100.0 => {
            let tenths = (value * 10.0).round() as i64;
            format!("{}.{}", grouped(tenths / 10), tenths.unsigned_abs() % 10)
        }
        Some(value) => significant(value, 4),
    }
}

/// Writes a number below 100 to `digits` significant digits, without trailing zeros.
#[must_use]
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let decimals = (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_carry_the_prefix_that_suits_them() {
        assert_eq!(scaled(0.000_123, "s"), "123.0 µs");
        assert_eq!(scaled(0.001, "s"), "1.00 ms");
        assert_eq!(scaled(2.18e-6, "J"), "2.18 µJ");
        assert_eq!(scaled(0.0, "J"), "0 J");
        assert_eq!(scaled(1.5e-15, "J"), "0.00 pJ");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(-1_234_567), "-1,234,567");
    }

    #[test]
    fn digits_that_say_nothing_are_left_out() {
        assert_eq!(significant(7.101, 4), "7.101");
        assert_eq!(significant(0.01437812, 4), "0.01438");
        assert_eq!(significant(0.44, 4), "0.44");
        assert_eq!(significant(40.0, 4), "40");
        assert_eq!(significant(0.0, 4), "0");
        assert_eq!(significant(0.0057, 2), "0.0057");
    }

    #[test]
    fn figures_have_the_digits_that_their_unit_is_worth() {
        let cell = |value, unit| figure(Some(value), unit);
        assert_eq!(figure(None, "cycles"), "–");
        assert_eq!(cell(42_105_985.7, "cycles"), "42,105,986");
        assert_eq!(cell(1_797.0, "cycles"), "1,797");
        assert_eq!(cell(1_796.97, "cycles"), "1,797.0");
        assert_eq!(cell(1_578.5, "µs"), "1,578.5");
        assert_eq!(cell(486.47, "µs"), "486.5");
        assert_eq!(cell(0.0, "cycles"), "0");
    }
}
