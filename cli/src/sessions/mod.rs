//! The conversations that `toolgraft chat` keeps by itself.
//!
//! `store` keeps them, each in the form that `/save` and `log export` write. `toolgraft log` shows them, and
//! `chat --continue` takes one up again.

pub(crate) mod said;
pub(crate) mod saved;

mod cut;
mod store;

use std::time::{Duration, SystemTime};

pub(crate) use store::{Kept, Listed, Store};

use crate::servers::trust;
use toolgraft_files::Holder;

/// Returns ` (process 4711)` with the id of the process that holds a lock; empty if it is not known.
pub(crate) fn by_process(holder: Holder) -> String {
    holder.process.map(|process| format!(" (process {process})")).unwrap_or_default()
}

/// Returns the time since a moment in a word or two; its date if that is more than a week ago.
pub(crate) fn age(used: SystemTime) -> String {
    let passed = SystemTime::now().duration_since(used).unwrap_or_default().as_secs();
    match passed {
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", passed / 60),
        3_600..86_400 => format!("{} h ago", passed / 3_600),
        86_400..604_800 => format!("{} d ago", passed / 86_400),
        _ => trust::date(used.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_said_in_the_largest_unit() {
        let ago = |seconds| age(SystemTime::now() - Duration::from_secs(seconds));
        let said: Vec<String> = [5, 120, 7_300, 200_000].into_iter().map(ago).collect();
        assert_eq!(said, ["just now", "2 min ago", "2 h ago", "2 d ago"]);
        assert_eq!(age(SystemTime::UNIX_EPOCH), "1 Jan 1970".replace("1 J", "01 J"));
    }
}
