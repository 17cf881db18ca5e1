//! Unique identifiers, and times for answers.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};

/// Returns a new identifier with this prefix and 24 hexadecimal digits. The first 16 come from a
/// randomly keyed hasher, the last 8 from a counter, so it is unique; it is not secret.
pub fn new_id(prefix: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let random = RandomState::new().hash_one(count);
    format!("{prefix}{random:016x}{:08x}", count & 0xffff_ffff)
}

/// Returns the current time in UTC as RFC 3339.
pub(crate) fn utc_now() -> String {
    DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Nanos, true)
}

/// Formats a Unix time, in seconds, in UTC as RFC 3339.
pub fn utc(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    time.unwrap_or_default().to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Returns the current Unix time in seconds.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_of_the_calendar() {
        for (seconds, written) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), written);
        }
        assert_eq!(utc_now().len(), "2000-02-29T00:00:00.000000000Z".len());
    }
}
