//! Time and date as the calendar of an STM32 counts them, and as its registers have them: in BCD
//! (RM0090 sections 26.6.1, 26.6.2, 26.6.7).

/// A second of a century.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    second: u32,
    minute: u32,
    /// 0 to 23.
    hour: u32,
    /// 1 is Monday.
    weekday: u32,
    day: u32,
    month: u32,
    year: u32,
}

/// As after power-up: Monday, January 1st of the year 00.
impl Default for Time {
    fn default() -> Time {
        Time { second: 0, minute: 0, hour: 0, weekday: 1, day: 1, month: 1, year: 0 }
    }
}

fn bcd(number: u32) -> u32 {
    number / 10 << 4 | number % 10
}

fn number(bcd: u32) -> u32 {
    (bcd >> 4) * 10 + (bcd & 15)
}

/// The hour with its bit PM, where there are twelve.
fn hour_bits(hour: u32, twelve: bool) -> u32 {
    if !twelve {
        return bcd(hour) << 16;
    }
    let shown = match hour % 12 {
        0 => 12,
        hour => hour,
    };
    bcd(shown) << 16 | u32::from(hour >= 12) << 22
}

impl Time {
    /// TR.
    pub fn time(&self, twelve: bool) -> u32 {
        hour_bits(self.hour, twelve) | bcd(self.minute) << 8 | bcd(self.second)
    }

    /// DR.
    pub fn date(&self) -> u32 {
        bcd(self.year) << 16 | self.weekday << 13 | bcd(self.month) << 8 | bcd(self.day)
    }

    pub fn set_time(&mut self, bits: u32, twelve: bool) {
        self.second = number(bits & 0x7f) % 60;
        self.minute = number(bits >> 8 & 0x7f) % 60;
        let hour = number(bits >> 16 & 0x3f);
        self.hour = if twelve { hour % 12 + 12 * (bits >> 22 & 1) } else { hour % 24 };
    }

    pub fn set_date(&mut self, bits: u32) {
        self.day = number(bits & 0x3f);
        self.month = number(bits >> 8 & 0x1f);
        self.weekday = bits >> 13 & 7;
        self.year = number(bits >> 16 & 0xff) % 100;
    }

    /// INITS: the year is not zero.
    pub fn is_set(&self) -> bool {
        self.year != 0
    }

    fn days(&self) -> u32 {
        match self.month {
            2 if self.year.is_multiple_of(4) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// A second later.
    pub fn advance(&mut self) {
        self.second += 1;
        if self.second < 60 {
            return;
        }
        (self.second, self.minute) = (0, self.minute + 1);
        if self.minute < 60 {
            return;
        }
        (self.minute, self.hour) = (0, self.hour + 1);
        if self.hour < 24 {
            return;
        }
        (self.hour, self.weekday) = (0, self.weekday % 7 + 1);
        self.day += 1;
        if self.day <= self.days() {
            return;
        }
        (self.day, self.month) = (1, self.month + 1);
        if self.month > 12 {
            (self.month, self.year) = (1, (self.year + 1) % 100);
        }
    }

    /// True where it is what an alarm register says: MSK1 to MSK4 mask seconds, minutes, hours and
    /// the date or, with WDSEL, the weekday.
    pub fn matches(&self, alarm: u32, twelve: bool) -> bool {
        let day = if alarm >> 30 & 1 == 1 { self.weekday } else { bcd(self.day) };
        let now = day << 24 | self.time(twelve);
        let fields = [(7, 0x7f), (15, 0x7f00), (23, 0x7f_0000), (31, 0x3f00_0000)];
        fields.iter().all(|(mask, field)| alarm >> mask & 1 == 1 || alarm & field == now & field)
    }
}

#[cfg(test)]
mod tests {
    use super::Time;

    fn after(time: u32, date: u32, seconds: u32) -> (u32, u32) {
        let mut clock = Time::default();
        clock.set_time(time, false);
        clock.set_date(date);
        (0..seconds).for_each(|_| clock.advance());
        (clock.time(false), clock.date())
    }

    #[test]
    fn days_months_and_years_go_by() {
        // A Wednesday, 2024-02-28, and 2023-02-28, a Tuesday; the last second of 2099, a Thursday.
        assert_eq!(after(0x23_5959, 0x24_6228, 1), (0, 0x24_8229));
        assert_eq!(after(0x23_5959, 0x23_4228, 1), (0, 0x23_6301));
        assert_eq!(after(0x23_5959, 0x99_9231, 1), (0, 0x00_a101));
        assert_eq!(after(0x09_5930, 0x24_0430, 86_400), (0x09_5930, 0x24_2501));
    }

    #[test]
    fn there_are_twelve_hours_or_twenty_four() {
        let mut clock = Time::default();
        for (hour, twelve) in [(0x00, 0x12), (0x11, 0x11), (0x12, 0x52), (0x23, 0x51)] {
            clock.set_time(hour << 16, false);
            assert_eq!(clock.time(true), twelve << 16);
            clock.set_time(twelve << 16, true);
            assert_eq!(clock.time(false), hour << 16);
        }
    }
}
