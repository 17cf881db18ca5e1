//! Dates of the demonstration server: read, counted, named. Proleptic Gregorian calendar, UTC.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A day, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(i64);

/// What sort of day it is.
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
const HOLIDAYS: [(i64, i64, &str); 4] =
    [(1, 1, "New Year's Day"), (5, 1, "Labour Day"), (10, 1, "National Day"), (12, 25, "Christmas Day")];

const WEEKDAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// Years that are read.
const YEARS: std::ops::RangeInclusive<i64> = 1..=9999;

impl Day {
    /// Reads `YYYY-MM-DD`.
    pub(super) fn parse(text: &str) -> Result<Day, String> {
        let wrong = || format!("{text:?} is not a date: write YYYY-MM-DD, such as 2026-05-01");
        let mut numbers = text.trim().splitn(3, '-').map(|part| {
            let digits = part.bytes().all(|b| b.is_ascii_digit());
            part.parse::<i64>().ok().filter(|_| digits)
        });
        let mut next = || numbers.next().flatten().ok_or_else(wrong);
        let (year, month, day) = (next()?, next()?, next()?);
        let found = Day(days(year, month, day));
        match YEARS.contains(&year) && found.civil() == (year, month, day) {
            true => Ok(found),
            false => Err(wrong()),
        }
    }

    /// Today, and the time of day as `HH:MM`.
    pub(super) fn now() -> (Day, String) {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
        let (day, minute) = (seconds / 86_400, seconds / 60 % 1_440);
        (Day(i64::try_from(day).unwrap_or_default()), format!("{:02}:{:02}", minute / 60, minute % 60))
    }

    pub(super) fn weekday(self) -> &'static str {
        WEEKDAYS[self.of_week()]
    }

    pub(super) fn month(self) -> i64 {
        self.civil().1
    }

    pub(super) fn kind(self) -> DayKind {
        match (self.holiday(), self.weekday()) {
            (Some(_), _) => DayKind::Holiday,
            (None, "Saturday" | "Sunday") => DayKind::Weekend,
            _ => DayKind::Weekday,
        }
    }

    pub(super) fn holiday(self) -> Option<&'static str> {
        let (_, month, day) = self.civil();
        HOLIDAYS.iter().find(|(m, d, _)| (*m, *d) == (month, day)).map(|(.., name)| *name)
    }

    /// The first day of a kind, this one included. Each kind comes within a year.
    pub(super) fn next_of(self, kind: DayKind) -> Day {
        (0..366).map(|n| Day(self.0 + n)).find(|day| day.kind() == kind).unwrap_or(self)
    }

    /// A number from which figures are made up.
    pub(super) fn number(self) -> u64 {
        self.0.unsigned_abs()
    }

    fn of_week(self) -> usize {
        usize::try_from(self.0.rem_euclid(7)).unwrap_or_default()
    }

    /// Year, month, day.
    fn civil(self) -> (i64, i64, i64) {
        // Counting years from 1 March puts the leap day last; 400 years are one cycle.
        let shifted = self.0 + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        (year_of_era + era * 400 + i64::from(month <= 2), month, day)
    }
}

/// Days from 1970-01-01 to a date; a date that does not exist gives some other day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let shifted_month = (month + 9).rem_euclid(12);
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
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
            assert_eq!((day.to_string().as_str(), day.weekday(), day.kind()), (text, weekday, kind));
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
