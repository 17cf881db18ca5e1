//! Places of the demonstration server, and weather that is made up for them.

use chrono::{Datelike, NaiveDate};

/// A city that the demonstration server knows.
#[derive(Debug, PartialEq)]
pub(super) struct City {
    pub(super) name: &'static str,
    pub(super) local: &'static str,
    pub(super) country: &'static str,
    pub(super) latitude: f64,
    pub(super) longitude: f64,
    /// Mean temperatures of January and July, in degrees Celsius.
    climate: (i64, i64),
}

/// The city that `location_query` returns as the user's location.
pub(super) const HERE: &City = &CITIES[0];

/// The known cities, in the order in which they are listed.
#[rustfmt::skip]
pub(super) const CITIES: [City; 8] = [
    City { name: "Hangzhou",  local: "杭州",      country: "China",          latitude: 30.27,  longitude: 120.16, climate: (5, 29) },
    City { name: "Beijing",   local: "北京",      country: "China",          latitude: 39.90,  longitude: 116.41, climate: (-3, 27) },
    City { name: "Shanghai",  local: "上海",      country: "China",          latitude: 31.23,  longitude: 121.47, climate: (5, 28) },
    City { name: "Tokyo",     local: "東京",      country: "Japan",          latitude: 35.68,  longitude: 139.69, climate: (5, 26) },
    City { name: "Berlin",    local: "Berlin",    country: "Germany",        latitude: 52.52,  longitude: 13.40,  climate: (1, 19) },
    City { name: "Oslo",      local: "Oslo",      country: "Norway",         latitude: 59.91,  longitude: 10.75,  climate: (-3, 17) },
    City { name: "Nairobi",   local: "Nairobi",   country: "Kenya",          latitude: -1.29,  longitude: 36.82,  climate: (20, 17) },
    City { name: "New York",  local: "New York",  country: "United States",  latitude: 40.71,  longitude: -74.01, climate: (1, 25) },
];

/// Mean temperatures of January and July, in degrees Celsius, of a place that is not in the table.
const TEMPERATE: (i64, i64) = (3, 21);

const SKIES: [&str; 6] = ["clear", "light clouds", "overcast", "light rain", "showers", "fog"];

/// Made-up weather, which depends only on the place and the day.
#[derive(Debug, PartialEq)]
pub(super) struct Weather {
    pub(super) sky: &'static str,
    pub(super) celsius: i64,
    pub(super) humidity: u64,
    pub(super) wind: u64,
}

/// Returns the city with this name, in English or its own language, in any case. Text after a comma (`Oslo, Norway`)
/// and a trailing Chinese word for city are ignored.
pub(super) fn city(name: &str) -> Option<&'static City> {
    let name = name.split([',', '，']).next().unwrap_or_default().trim().trim_end_matches('市').to_lowercase();
    CITIES.iter().find(|c| c.name.to_lowercase() == name || c.local.to_lowercase() == name)
}

/// Returns the made-up weather of a place on a day; without a day, one with a mean temperature.
pub(super) fn weather(place: &str, day: Option<NaiveDate>) -> Weather {
    let known = city(place);
    let (january, july) = known.map_or(TEMPERATE, |c| c.climate);
    let name = known.map_or_else(|| place.trim().to_lowercase(), |c| c.name.to_lowercase());
    let days = day.map_or(0, |day| (day - NaiveDate::default()).num_days().unsigned_abs());
    let seed = mixed(&name, days);
    // Without a day it is a mean one: halfway between January and July.
    let distance = day.map_or(3, |day| (i64::from(day.month()) - 7).abs());
    let mean = july + (january - july) * distance.min(6) / 6;
    Weather {
        sky: SKIES[pick(seed, 0, SKIES.len() as u64)],
        celsius: mean - 3 + i64::try_from(pick(seed, 8, 7)).unwrap_or_default(),
        humidity: 40 + pick(seed, 16, 50) as u64,
        wind: 3 + pick(seed, 24, 20) as u64,
    }
}

fn pick(seed: u64, shift: u32, among: u64) -> usize {
    usize::try_from((seed >> shift) % among).unwrap_or_default()
}

/// Returns the FNV-1a hash of a name and a number.
fn mixed(name: &str, number: u64) -> u64 {
    let bytes = name.bytes().chain(number.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_city_is_found_under_all_its_names() {
        for name in ["Hangzhou", "hangzhou ", "杭州", "杭州市", "Hangzhou, China"] {
            assert_eq!(city(name), Some(HERE), "{name}");
        }
        assert_eq!(city("Atlantis"), None);
    }

    #[test]
    fn weather_is_the_same_for_a_place_and_day() {
        let day = "2026-11-21".parse().ok();
        assert_eq!(weather("杭州", day), weather("Hangzhou", day));
        assert_ne!(weather("Oslo", day), weather("Nairobi", day));
        let july = weather("Beijing", "2026-07-15".parse().ok());
        let january = weather("Beijing", "2026-01-15".parse().ok());
        assert!(july.celsius > january.celsius + 20, "{july:?} {january:?}");
    }
}
