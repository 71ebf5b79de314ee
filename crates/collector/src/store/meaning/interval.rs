//! When quarter-hours, hours, days, weeks and months begin, by the clocks of a zone.

use crate::store::model::query::Interval;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Seconds of a quarter-hour. Since 2000 all clocks differ from UTC by whole ones (the `tz`
/// database).
const QUARTER_S: i64 = 900;
const HOUR_S: i64 = 3600;
const DAY_S: i64 = 86_400;
/// 0001-01-01 and 9998-12-31: times outside are taken for these.
const FIRST_S: i64 = -62_135_596_800;
const LAST_S: i64 = 253_370_678_400;

/// A day, and by how much its clocks are ahead of UTC, where that is the same from its beginning to
/// its end.
#[derive(Clone, Copy, Debug)]
struct Day {
    start_s: i64,
    end_s: i64,
    offset_s: Option<i64>,
}

/// The intervals of a zone.
#[derive(Clone, Debug)]
pub(in crate::store) struct Intervals {
    zone: TimeZone,
    /// The day that was asked for last: most questions are of the same.
    day: Day,
}

impl Intervals {
    pub(in crate::store) fn new(zone: TimeZone) -> Intervals {
        Intervals { zone, day: Day { start_s: 0, end_s: 0, offset_s: None } }
    }

    /// When the quarter-hour, the hour and the day begin that a time lies in.
    pub(in crate::store) fn starts(&mut self, at_s: i64) -> [i64; 3] {
        let at_s = at_s.clamp(FIRST_S, LAST_S);
        let day = self.day_of(at_s);
        let hour_s = match day.offset_s {
            Some(offset_s) => at_s - (at_s + offset_s).rem_euclid(HOUR_S),
            None => self.hour_on_a_day_of_change(at_s),
        };
        [at_s - at_s.rem_euclid(QUARTER_S), hour_s, day.start_s]
    }

    /// When the interval begins that a time lies in.
    pub(in crate::store) fn start(&mut self, at_s: i64, interval: Interval) -> i64 {
        let at_s = at_s.clamp(FIRST_S, LAST_S);
        match interval {
            Interval::Quarter => self.starts(at_s)[0],
            Interval::Hour => self.starts(at_s)[1],
            Interval::Day => self.starts(at_s)[2],
            Interval::Week => self.begin(self.monday(at_s)),
            Interval::Month => self.begin(self.date(at_s).first_of_month()),
        }
    }

    /// When each interval begins that overlaps with a range, and then where the last one ends;
    /// empty where the range is; `None` where there are more than `most`.
    pub(in crate::store) fn within(
        &mut self,
        from_s: i64,
        to_s: i64,
        interval: Interval,
        most: usize,
    ) -> Option<Vec<i64>> {
        let (from_s, to_s) = (from_s.clamp(FIRST_S, LAST_S), to_s.clamp(FIRST_S, LAST_S));
        let mut starts = Vec::new();
        if from_s >= to_s {
            return Some(starts);
        }
        let mut start_s = self.start(from_s, interval);
        while start_s < to_s {
            if starts.len() == most {
                return None;
            }
            starts.push(start_s);
            start_s = self.next(start_s, interval);
        }
        starts.push(start_s);
        Some(starts)
    }

    fn next(&mut self, start_s: i64, interval: Interval) -> i64 {
        match interval {
            Interval::Quarter => start_s + QUARTER_S,
            Interval::Hour => self.next_hour(start_s),
            Interval::Day => self.day_of(start_s).end_s,
            Interval::Week => self.begin(self.monday(start_s).saturating_add(7.days())),
            Interval::Month => self.begin(self.date(start_s).first_of_month().saturating_add(1.month())),
        }
    }

    fn day_of(&mut self, at_s: i64) -> Day {
        if !(self.day.start_s..self.day.end_s).contains(&at_s) {
            let date = self.date(at_s);
            let (start_s, end_s) = (self.begin(date), self.begin(date.saturating_add(1.day())));
            let offset_s = self.offset_s(start_s);
            let change = self.zone.following(timestamp(start_s)).next();
            let same = change.is_none_or(|change| change.timestamp() >= timestamp(end_s));
            self.day = Day { start_s, end_s, offset_s: same.then_some(offset_s) };
        }
        self.day
    }

    fn hour_on_a_day_of_change(&self, at_s: i64) -> i64 {
        let start_s = at_s - (at_s + self.offset_s(at_s)).rem_euclid(HOUR_S);
        // `preceding` says what lies before, and at_s itself counts.
        let change = self.zone.preceding(timestamp(at_s + 1)).next();
        change.map_or(start_s, |change| start_s.max(change.timestamp().as_second()))
    }

    /// An hour is cut short where clocks change within it, by half of one or in its middle; it is
    /// never longer.
    fn next_hour(&mut self, start_s: i64) -> i64 {
        let end_s = start_s + HOUR_S;
        let change = match self.day_of(start_s).offset_s {
            Some(_) => None,
            None => self.zone.following(timestamp(start_s)).next(),
        };
        let change_s = change.map_or(end_s, |change| change.timestamp().as_second());
        self.starts(change_s.min(end_s))[1]
    }

    fn offset_s(&self, at_s: i64) -> i64 {
        i64::from(self.zone.to_offset(timestamp(at_s)).seconds())
    }

    fn date(&self, at_s: i64) -> Date {
        self.zone.to_datetime(timestamp(at_s)).date()
    }

    fn monday(&self, at_s: i64) -> Date {
        let date = self.date(at_s);
        date.saturating_sub(i64::from(date.weekday().since(Weekday::Monday)).days())
    }

    /// When a date's first second is. Dates that a zone left out are no seconds long.
    fn begin(&self, date: Date) -> i64 {
        let first = date.to_zoned(self.zone.clone()).and_then(|midnight| midnight.start_of_day());
        match first {
            Ok(first) => first.timestamp().as_second(),
            Err(_) => {
                i64::from(date.since(Date::constant(1970, 1, 1)).map_or(0, |span| span.get_days())) * DAY_S
            }
        }
    }
}

/// Any that was clamped is one.
fn timestamp(at_s: i64) -> Timestamp {
    Timestamp::from_second(at_s).unwrap_or(Timestamp::UNIX_EPOCH)
}
