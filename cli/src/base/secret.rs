//! Random values that nobody can guess.

use crate::base::Failure;

/// Returns 128 random bits from the system's secure generator, in hexadecimal digits.
///
/// # Errors
/// The system provides no random numbers.
pub(crate) fn secret() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Failure::job(format!("the system has no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
