//! Dates and times: types F, G, I and J. EN 13757-3, Annex A; not compared.

/// A date. A part that is `None` stands for every one, such as the first of every month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Date {
    /// The year, in full.
    pub year: Option<u16>,
    /// The month from 1.
    pub month: Option<u8>,
    /// The day from 1.
    pub day: Option<u8>,
}

/// A time of day. A part that is `None` stands for every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Time {
    /// The hour.
    pub hour: Option<u8>,
    /// The minute.
    pub minute: Option<u8>,
    /// The second; `None` of a time to the minute, too.
    pub second: Option<u8>,
}

/// A date with a time of day, in the meter's local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DateTime {
    /// The date.
    pub date: Date,
    /// The time.
    pub time: Time,
    /// True in summer time.
    pub summer_time: bool,
}

/// A part that is in its range, or that stands for every one.
fn part(value: u8, every: u8, range: std::ops::RangeInclusive<u8>) -> Option<Option<u8>> {
    match value {
        value if value == every => Some(None),
        value if range.contains(&value) => Some(Some(value)),
        _ => None,
    }
}

impl Date {
    /// Reads type G, and the two bytes of F and I that are like it; `None` if it is no date. Years
    /// up to 80 are of this century, where no other bits tell the century.
    pub(super) fn from_type_g(low: u8, high: u8, century: u8) -> Option<Self> {
        if (low, high) == (0xff, 0xff) {
            return None;
        }
        let year = high >> 4 << 3 | low >> 5;
        let year = match (year, century) {
            (127, _) => None,
            (100.., _) => return None,
            (0..=80, 0) => Some(2000 + u16::from(year)),
            _ => Some(1900 + 100 * u16::from(century) + u16::from(year)),
        };
        let month = part(high & 0x0f, 15, 1..=12)?;
        let day = part(low & 0x1f, 0, 1..=31)?;
        let leap = year.is_none_or(|year| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
        let days = match month {
            Some(2) if leap => 29,
            Some(2) => 28,
            Some(4 | 6 | 9 | 11) => 30,
            _ => 31,
        };
        (day.unwrap_or(1) <= days).then_some(Self { year, month, day })
    }
}

impl Time {
    /// Reads type J.
    pub(super) fn from_type_j([second, minute, hour]: [u8; 3]) -> Option<Self> {
        let (hour, minute) = (part(hour, 31, 0..=23)?, part(minute, 63, 0..=59)?);
        Some(Self { hour, minute, second: part(second, 63, 0..=59)? })
    }
}

impl DateTime {
    /// Reads type F, which has no seconds; `None` if its invalid bit is set or it is no time.
    pub(super) fn from_type_f([minute, hour, low, high]: [u8; 4]) -> Option<Self> {
        if minute & 0x80 != 0 {
            return None;
        }
        let date = Date::from_type_g(low, high, hour >> 5 & 3)?;
        let hour_part = part(hour & 0x1f, 31, 0..=23)?;
        let time = Time { hour: hour_part, minute: part(minute & 0x3f, 63, 0..=59)?, second: None };
        Some(Self { date, time, summer_time: hour & 0x80 != 0 })
    }

    /// Reads type I; `None` if its invalid bit is set or it is no time. Its month of 0 and day of
    /// 0, which say that it has none, are no time here.
    pub(super) fn from_type_i([second, minute, hour, low, high, _week]: [u8; 6]) -> Option<Self> {
        if minute & 0x80 != 0 || low & 0x1f == 0 {
            return None;
        }
        let date = Date::from_type_g(low, high, 0)?;
        let time = Time::from_type_j([second & 0x3f, minute & 0x3f, hour & 0x1f])?;
        Some(Self { date, time, summer_time: second & 0x40 != 0 })
    }
}
