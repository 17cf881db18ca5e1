//! Numbers of JSON with all of their digits.

#[cfg(feature = "validate")]
use serde_json::Number;

/// Returns `true` if the number that `serde_json` reads from the token has not all of the token's significant digits.
pub(super) fn loses_digits(token: &str) -> bool {
    // `serde_json` keeps these as integers, with all digits.
    if token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok() {
        return false;
    }
    let read = Decimal::parse(token).zip(token.parse().ok());
    read.is_none_or(|(decimal, value)| !decimal.is(value))
}

/// A JSON number's exact value: `digits` × 10^`scale`.
#[derive(Debug, PartialEq)]
pub(super) struct Decimal {
    negative: bool,
    /// Significant decimal digits, without zeros at either end; empty for zero.
    digits: String,
    scale: i64,
}

impl Decimal {
    /// Reads a number by the grammar of RFC 8259; `None` if the text is not one, or its exponent is malformed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        // Rust's own parser would take `.5`, `05` and `+5`, which RFC 8259 does not have.
        if whole.is_empty() || leading_zero || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let written = [whole, fraction].concat();
        let digits = written.trim_end_matches('0');
        let zeros = written.len() - digits.len();
        let scale = exponent - i64::try_from(fraction.len()).ok()? + i64::try_from(zeros).ok()?;
        let digits = digits.trim_start_matches('0').to_owned();
        // `0.000e5` is zero, as `0` is.
        let scale = if digits.is_empty() { 0 } else { scale };
        Some(Decimal { negative, digits, scale })
    }

    /// Returns `true` if the shortest decimal spelling of `value` has the digits, scale and sign of this number.
    pub(super) fn is(&self, value: f64) -> bool {
        Decimal::parse(&format!("{value:e}")).is_some_and(|other| {
            self.digits == other.digits && self.scale == other.scale && self.negative == other.negative
        })
    }
}

/// Conversions for a schema that wants a number and got a text that spells one.
#[cfg(feature = "validate")]
impl Decimal {
    pub(super) fn integer(&self) -> Option<Number> {
        let zeros = usize::try_from(self.scale).ok()?;
        // More than u64::MAX has, so the text below stays short.
        if self.digits.len().saturating_add(zeros) > 20 {
            return None;
        }
        let digits = format!("{}{}", self.digits, "0".repeat(zeros));
        match (self.digits.is_empty(), self.negative) {
            (true, _) => Some(0.into()),
            (false, false) => digits.parse::<u64>().ok().map(Number::from),
            (false, true) => format!("-{digits}").parse::<i64>().ok().map(Number::from),
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }
}

/// Returns the exponent of a number, clamped to a quarter of the 64-bit range; `None` if it is not an integer.
fn exponent_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Far enough from the edge that digits before and after the point may be counted in.
    const MOST: i64 = i64::MAX / 4;
    let most = if text.starts_with('-') { -MOST } else { MOST };
    Some(text.parse().map_or(most, |exponent: i64| exponent.clamp(-MOST, MOST)))
}
