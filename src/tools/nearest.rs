//! Suggests similar names, for "did you mean".

/// Lowest similarity (Jaro-Winkler, 0 to 1) of a name that is suggested.
const ALIKE: f64 = 0.75;

/// Returns the names that are similar to `wanted`, the nearest first. Case and the separators between words do not
/// count.
///
/// ```
/// use toolgraft::tools::nearest;
///
/// assert_eq!(nearest("modle", ["host", "model"]), ["model"]);
/// assert!(nearest("colour", ["host", "model"]).is_empty());
/// ```
pub fn nearest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let folded = |text: &str| text.to_lowercase().replace(['_', '-', '/'], "");
    let wanted = folded(wanted);
    let scored = names.into_iter().map(|name| (strsim::jaro_winkler(&wanted, &folded(name)), name));
    let mut near: Vec<(f64, &str)> = scored.filter(|(likeness, _)| *likeness >= ALIKE).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().map(|(_, name)| name).collect()
}
