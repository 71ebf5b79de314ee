//! Times in arguments: RFC 3339, or Unix seconds.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};
use utoipa::openapi::schema::OneOfBuilder;
use utoipa::openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type};

/// Times before 1970 and after 2200 are taken for these: there are no readings.
const TIMES_S: std::ops::RangeInclusive<i64> = 0..=7_258_118_400;

/// A time in an argument, as Unix time in s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time(pub(super) i64);

/// For the description: both forms.
pub(super) fn time_schema() -> RefOr<Schema> {
    forms([])
}

/// Both forms of a time, and more.
pub(super) fn forms<const N: usize>(more: [ObjectBuilder; N]) -> RefOr<Schema> {
    let seconds =
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(i64::MIN)).maximum(Some(i64::MAX));
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)));
    let all = more.into_iter().fold(OneOfBuilder::new().item(text).item(seconds), OneOfBuilder::item);
    RefOr::T(Schema::OneOf(all.build()))
}

impl Time {
    pub(super) fn parse(text: &str) -> Option<Time> {
        // A plus that nobody escaped is a space by now.
        let seconds = match text.parse::<i64>() {
            Ok(seconds) => seconds,
            Err(_) => text.replace(' ', "+").parse::<Timestamp>().or_else(|_| text.parse()).ok()?.as_second(),
        };
        Some(Time(seconds.clamp(*TIMES_S.start(), *TIMES_S.end())))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        let text = String::deserialize(deserializer)?;
        Time::parse(&text).ok_or_else(|| {
            let example = "RFC 3339, such as 2026-03-01T00:00:00Z, or Unix seconds";
            serde::de::Error::custom(format!("{text:?} is no time: {example}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_they_are_written() {
        // `date -u -d 2026-03-01T00:00:00Z +%s`
        for (text, time_s) in [
            ("2026-03-01T00:00:00Z", 1_772_323_200),
            ("2026-03-01T01:00:00+01:00", 1_772_323_200),
            ("2026-03-01T01:00:00 01:00", 1_772_323_200),
            ("2026-02-28T22:00:00-02:00", 1_772_323_200),
            ("1772323200", 1_772_323_200),
            ("-1", 0),
            ("9223372036854775807", 7_258_118_400),
            ("0001-01-01T00:00:00Z", 0),
        ] {
            assert_eq!(Time::parse(text), Some(Time(time_s)), "{text}");
        }
        for text in ["", "yesterday", "2026-03-01", "2026-13-01T00:00:00Z", "1e9", "99999999999999999999"] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }
}
