//! Days of the demonstration server: read, named. Proleptic Gregorian calendar, UTC.

use chrono::{Datelike, NaiveDate, Weekday};

/// Month, day and name of the holidays that the demonstration server knows.
const HOLIDAYS: [(u32, u32, &str); 4] =
    [(1, 1, "New Year's Day"), (5, 1, "Labour Day"), (10, 1, "National Day"), (12, 25, "Christmas Day")];

/// Parses a date written as `YYYY-MM-DD`.
pub(super) fn parse(text: &str) -> Result<NaiveDate, String> {
    let text = text.trim();
    // chrono also reads a sign and fewer digits: `+12345-6-7` has ten characters, too.
    let is_written_out = text.len() == "YYYY-MM-DD".len() && text.starts_with(|c: char| c.is_ascii_digit());
    let day = text.parse().ok().filter(|_| is_written_out);
    day.ok_or_else(|| format!("{text:?} is not a date: write YYYY-MM-DD, such as 2026-05-01"))
}

/// Returns the kind of a day: `weekday`, `weekend` or `holiday`.
pub(super) fn kind(day: NaiveDate) -> &'static str {
    match (holiday(day), day.weekday()) {
        (Some(_), _) => "holiday",
        (None, Weekday::Sat | Weekday::Sun) => "weekend",
        _ => "weekday",
    }
}

pub(super) fn holiday(day: NaiveDate) -> Option<&'static str> {
    HOLIDAYS.iter().find(|(month, of_month, _)| (*month, *of_month) == (day.month(), day.day())).map(|(.., name)| *name)
}

/// Returns the first day of this kind on or after `day`. Each kind occurs within a year.
pub(super) fn next_of(day: NaiveDate, wanted: &str) -> NaiveDate {
    day.iter_days().take(366).find(|day| kind(*day) == wanted).unwrap_or(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_named_and_written() {
        for (text, weekday, named) in [
            ("1970-01-01", Weekday::Thu, "holiday"),
            ("2024-02-29", Weekday::Thu, "weekday"),
            ("2026-05-01", Weekday::Fri, "holiday"),
            ("2026-11-21", Weekday::Sat, "weekend"),
            ("1900-03-01", Weekday::Thu, "weekday"),
            ("9999-12-31", Weekday::Fri, "weekday"),
        ] {
            let day = parse(text).unwrap();
            assert_eq!((day.to_string().as_str(), day.weekday(), kind(day)), (text, weekday, named));
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-32", "tomorrow", "", "2026-1", "-1-01-01",
            "20260-01-01", "+2026-01-01",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_next_day_of_a_kind_may_be_the_day_itself() {
        let saturday = parse("2026-11-21").unwrap();
        assert_eq!(next_of(saturday, "weekend"), saturday);
        assert_eq!(next_of(saturday, "weekday").to_string(), "2026-11-23");
        assert_eq!(next_of(saturday, "holiday").to_string(), "2026-12-25");
    }
}
