//! Time zones of places that a user names.
//!
//! A small model that must give the name of a zone writes the city, or a zone from the tool's description.

use std::sync::OnceLock;

use super::words::words;

/// Time zones, one region with its zones per line: `zone.tab` of the tz database 2024a (public domain).
const ZONES: &str = include_str!("zones.txt");

/// Returns the distinct time zones of the cities that a text names, in the order of the text.
pub(in crate::turn) fn named_in(text: &str) -> Vec<String> {
    let said: Vec<String> = words(text).collect();
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (zone, city) in zones() {
        let at = said.windows(city.len()).position(|words| words == city.as_slice());
        found.extend(at.map(|at| (at, zone.as_str())));
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, zone)| zone.to_owned()).collect()
}

/// Returns the time zones with the words of their cities, in lower case.
fn zones() -> &'static [(String, Vec<String>)] {
    static ALL: OnceLock<Vec<(String, Vec<String>)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let lines = ZONES.lines().filter_map(|line| line.split_once(' '));
        let zones = lines.flat_map(|(region, zones)| zones.split(' ').map(move |zone| (region, zone)));
        let city = |zone: &str| words(zone.rsplit('/').next().unwrap_or(zone)).collect();
        zones.map(|(region, zone)| (format!("{region}/{zone}"), city(zone))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cities_are_found_in_what_a_person_says() {
        for (text, zones) in [
            ("What time is it in Tokyo, and what time in New York?", &["Asia/Tokyo", "America/New_York"][..]),
            ("When it is 09:15 in Berlin, what is it in Kolkata?", &["Europe/Berlin", "Asia/Kolkata"]),
            ("My calendar is in Buenos Aires time.", &["America/Argentina/Buenos_Aires"]),
            ("New ideas for York", &[]),
            ("", &[]),
        ] {
            assert_eq!(named_in(text), zones, "{text}");
        }
    }
}
