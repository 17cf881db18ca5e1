//! Dates of the demonstration server: read, counted, named. Proleptic Gregorian calendar, UTC.

use std::fmt;
use std::time::SystemTime;

use chrono::{DateTime, Datelike, NaiveDate, Utc, Weekday};
use serde::{Deserialize, Serialize};

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(NaiveDate);

/// The kind of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DayKind {
    Weekday,
    Weekend,
    Holiday,
}

impl fmt::Display for DayKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DayKind::Weekday => "weekday",
            DayKind::Weekend => "weekend",
            DayKind::Holiday => "holiday",
        })
    }
}

/// Month, day and name of the holidays that this calendar knows.
const HOLIDAYS: [(u32, u32, &str); 4] =
    [(1, 1, "New Year's Day"), (5, 1, "Labour Day"), (10, 1, "National Day"), (12, 25, "Christmas Day")];

/// Years that are read.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;

impl Day {
    /// Reads `YYYY-MM-DD`.
    pub(super) fn parse(text: &str) -> Result<Day, String> {
        let wrong = || format!("{text:?} is not a date: write YYYY-MM-DD, such as 2026-05-01");
        let mut numbers = text.trim().splitn(3, '-').map(|part| {
            let digits = part.bytes().all(|b| b.is_ascii_digit());
            part.parse::<u32>().ok().filter(|_| digits)
        });
        let mut next = || numbers.next().flatten().ok_or_else(wrong);
        let (year, month, day) = (next()?, next()?, next()?);
        let year = i32::try_from(year).ok().filter(|year| YEARS.contains(year));
        year.and_then(|year| NaiveDate::from_ymd_opt(year, month, day)).map(Day).ok_or_else(wrong)
    }

    /// Today, and the time of day as `HH:MM`.
    pub(super) fn now() -> (Day, String) {
        let now = DateTime::<Utc>::from(SystemTime::now());
        (Day(now.date_naive()), now.format("%H:%M").to_string())
    }

    pub(super) fn weekday(self) -> String {
        self.0.format("%A").to_string()
    }

    pub(super) fn month(self) -> i64 {
        self.0.month().into()
    }

    pub(super) fn kind(self) -> DayKind {
        match (self.holiday(), self.0.weekday()) {
            (Some(_), _) => DayKind::Holiday,
            (None, Weekday::Sat | Weekday::Sun) => DayKind::Weekend,
            _ => DayKind::Weekday,
        }
    }

    pub(super) fn holiday(self) -> Option<&'static str> {
        HOLIDAYS.iter().find(|(month, day, _)| (*month, *day) == (self.0.month(), self.0.day())).map(|(.., name)| *name)
    }

    /// The first day of a kind, this one included. Each kind comes within a year.
    pub(super) fn next_of(self, kind: DayKind) -> Day {
        self.0.iter_days().take(366).map(Day).find(|day| day.kind() == kind).unwrap_or(self)
    }

    /// A number from which figures are made up: days from 1970-01-01.
    pub(super) fn number(self) -> u64 {
        (self.0 - NaiveDate::default()).num_days().unsigned_abs()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_named_and_written() {
        for (text, weekday, kind) in [
            ("1970-01-01", "Thursday", DayKind::Holiday),
            ("2024-02-29", "Thursday", DayKind::Weekday),
            ("2026-05-01", "Friday", DayKind::Holiday),
            ("2026-11-21", "Saturday", DayKind::Weekend),
            ("1900-03-01", "Thursday", DayKind::Weekday),
            ("9999-12-31", "Friday", DayKind::Weekday),
        ] {
            let day = Day::parse(text).unwrap();
            assert_eq!((day.to_string().as_str(), day.weekday(), day.kind()), (text, weekday.to_owned(), kind));
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-32", "tomorrow", "", "2026-1", "-1-01-01",
            "20260-01-01", "+2026-01-01",
        ] {
            assert!(Day::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_next_day_of_a_kind_may_be_the_day_itself() {
        let saturday = Day::parse("2026-11-21").unwrap();
        assert_eq!(saturday.next_of(DayKind::Weekend), saturday);
        assert_eq!(saturday.next_of(DayKind::Weekday).to_string(), "2026-11-23");
        assert_eq!(saturday.next_of(DayKind::Holiday).to_string(), "2026-12-25");
    }
}
