//! Time and date, in binary or as decimal digits (RTCBCD).

/// RTCAE in an alarm register.
const RTCAE: u32 = 0x80;

/// Time and date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calendar {
    pub second: u32,
    pub minute: u32,
    pub hour: u32,
    pub day_of_week: u32,
    pub day: u32,
    pub month: u32,
    pub year: u32,
}

/// Events that RTCTEVx distinguishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    pub minute: bool,
    pub hour: bool,
    pub midnight: bool,
    pub noon: bool,
}

/// A number of two or four digits as decimal digits.
pub fn to_bcd(number: u32) -> u32 {
    (0..4).map(|digit| number / 10u32.pow(digit) % 10 << (4 * digit)).sum()
}

/// Decimal digits as a number.
pub fn from_bcd(digits: u32) -> u32 {
    (0..4).map(|digit| (digits >> (4 * digit) & 15) * 10u32.pow(digit)).sum()
}

impl Default for Calendar {
    /// "Clears the seconds, minutes, hours, day of week, and year counts and sets day-of-month and
    /// month counts to 1."
    fn default() -> Calendar {
        Calendar { second: 0, minute: 0, hour: 0, day_of_week: 0, day: 1, month: 1, year: 0 }
    }
}

impl Calendar {
    fn days(&self) -> u32 {
        match self.month {
            // "All years evenly divisible by 4 are leap years."
            2 if self.year.is_multiple_of(4) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// A second passes.
    pub fn tick(&mut self) -> Passed {
        self.second += 1;
        if self.second < 60 {
            return Passed::default();
        }
        self.second = 0;
        self.minute += 1;
        if self.minute < 60 {
            return Passed { minute: true, ..Passed::default() };
        }
        self.minute = 0;
        self.hour += 1;
        let midnight = self.hour >= 24;
        if midnight {
            self.next_day();
        }
        Passed { minute: true, hour: true, midnight, noon: self.hour == 12 }
    }

    fn next_day(&mut self) {
        self.hour = 0;
        self.day_of_week = if self.day_of_week >= 6 { 0 } else { self.day_of_week + 1 };
        self.day += 1;
        if self.day <= self.days() {
            return;
        }
        self.day = 1;
        self.month += 1;
        if self.month > 12 {
            self.month = 1;
            self.year = (self.year + 1) & 0xfff;
        }
    }

    /// Returns true if the alarm registers, for minute, hour, day of the week and day, select this
    /// minute.
    pub fn matches(&self, alarm: [u32; 4], bcd: bool) -> bool {
        let now = [self.minute, self.hour, self.day_of_week, self.day];
        let agrees =
            |(set, now): (u32, u32)| set & RTCAE == 0 || set & !RTCAE == if bcd { to_bcd(now) } else { now };
        alarm.iter().any(|set| set & RTCAE != 0) && alarm.into_iter().zip(now).all(agrees)
    }

    /// RTCTIM0, RTCTIM1, RTCDATE and RTCYEAR, by number.
    pub fn word(&self, number: usize, bcd: bool) -> u32 {
        let shown = |value| if bcd { to_bcd(value) } else { value };
        let (low, high) = match number {
            0 => (self.second, self.minute),
            1 => (self.hour, self.day_of_week),
            2 => (self.day, self.month),
            _ => return shown(self.year),
        };
        shown(low) & 0xff | (shown(high) & 0xff) << 8
    }

    /// Writes one of them.
    pub fn set_word(&mut self, number: usize, word: u32, bcd: bool) {
        let meant = |value: u32| if bcd { from_bcd(value) } else { value };
        let (low, high) = (meant(word & 0xff), meant(word >> 8 & 0xff));
        match number {
            0 => (self.second, self.minute) = (low, high),
            1 => (self.hour, self.day_of_week) = (low, high),
            2 => (self.day, self.month) = (low, high),
            _ => self.year = meant(word & if bcd { 0xffff } else { 0xfff }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Calendar, Passed, from_bcd, to_bcd};

    #[test]
    fn days_months_and_years_go_round() {
        let mut calendar =
            Calendar { second: 59, minute: 59, hour: 23, day_of_week: 6, day: 28, month: 2, year: 2023 };
        let all = Passed { minute: true, hour: true, midnight: true, noon: false };
        assert_eq!(calendar.tick(), all);
        assert_eq!(calendar, Calendar { day: 1, month: 3, year: 2023, ..Calendar::default() });
        let mut leap = Calendar {
            second: 59,
            minute: 59,
            hour: 23,
            day: 28,
            month: 2,
            year: 2024,
            ..Calendar::default()
        };
        leap.tick();
        assert_eq!((leap.day, leap.month, leap.day_of_week), (29, 2, 1));
        let mut last = Calendar {
            second: 59,
            minute: 59,
            hour: 23,
            day: 31,
            month: 12,
            year: 2099,
            ..Calendar::default()
        };
        last.tick();
        assert_eq!((last.day, last.month, last.year), (1, 1, 2100));
    }

    #[test]
    fn digits_are_decimal() {
        assert_eq!((to_bcd(2026), to_bcd(59)), (0x2026, 0x59));
        assert_eq!((from_bcd(0x2026), from_bcd(0x59)), (2026, 59));
        let calendar = Calendar { minute: 30, hour: 16, ..Calendar::default() };
        assert!(calendar.matches([0x80 | 0x30, 0x80 | 0x16, 0, 0], true));
        assert!(calendar.matches([0x80 | 30, 0, 0, 0], false));
        assert!(!calendar.matches([0x80 | 30, 0x80 | 17, 0, 0], false));
        assert!(!calendar.matches([30, 16, 0, 0], false), "no alarm register is enabled");
    }
}
