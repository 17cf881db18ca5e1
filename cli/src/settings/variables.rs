//! Variables of the environment.

/// Returns the value of an environment variable; `None` if it is not set or blank.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}
