//! Computes the wait before the next attempt.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// Returns the wait that `Retry-After` requests: seconds, or a date (RFC 9110, section 10.2.3). A past date is zero;
/// `None` for anything else.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Formats an endpoint's `Retry-After` for the message of its refusal.
pub(super) fn told(time: Duration) -> String {
    format!("(Retry-After: {} s)", time.as_secs_f64().ceil())
}

/// Returns a time between half of the wait and all of it, so that clients that were refused together do not retry
/// together. `random` is uniformly distributed over all of `u64`.
pub(super) fn jittered(wait: Duration, random: u64) -> Duration {
    let half = wait / 2;
    half + (wait - half).mul_f64(random as f64 / u64::MAX as f64)
}

/// Returns a number that differs between clients, from the random keys of a hasher.
pub(super) fn random() -> u64 {
    RandomState::new().hash_one(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, now: SystemTime) -> Option<Duration> {
        retry_after(&HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]), now)
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (text, seconds) in [
            ("30", 30.0),
            (" 0.5 ", 0.5),
            ("Sun, 06 Nov 1994 08:50:07 GMT", 30.0),
            ("Sunday, 06-Nov-94 08:50:07 GMT", 30.0),
            ("Sun Nov  6 08:50:07 1994", 30.0),
            ("Sun, 06 Nov 1994 08:49:00 GMT", 0.0),
        ] {
            assert_eq!(read(text, now), Some(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "soon", "-1", "NaN", "1e300", "Sun, 99 Nov 1994 08:50:07 GMT"] {
            assert_eq!(read(text, now), None, "{text}");
        }
    }

    #[test]
    fn a_wait_is_shortened_by_half_at_most() {
        let wait = Duration::from_secs(8);
        assert_eq!(jittered(wait, 0), wait / 2);
        assert_eq!(jittered(wait, u64::MAX), wait);
        assert_eq!(jittered(Duration::ZERO, u64::MAX), Duration::ZERO);
        assert_eq!(jittered(Duration::from_nanos(1), u64::MAX), Duration::from_nanos(1));
        for _ in 0..100 {
            let jittered = jittered(wait, random());
            assert!(wait / 2 <= jittered && jittered <= wait, "{jittered:?}");
        }
        assert_ne!(random(), random());
    }
}
