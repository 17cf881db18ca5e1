//! `toolgraft demo-server`: a small MCP server over stdio, for the demo and for
//! tests that need a real server without a network.
//!
//! Places, times and kinds of days are real; the weather is made up, always the
//! same for a place and date, and the answers say so.

mod calendar;
mod places;
mod rpc;

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use self::places::{CITIES, City, HERE};
use self::rpc::{INTERNAL, INVALID_PARAMS, Reply, UNKNOWN_METHOD};
use crate::base::Failure;

const INSTRUCTIONS: &str = "Where, when and what weather, for demonstrations. Ask location_query for the place before \
                            weather_query when the user does not name one. The weather is made up.";

const MADE_UP: &str = "(made-up figures of a demonstration server)";

const TRIP: &str = "trip";

const CITIES_URI: &str = "demo://cities";
const CITY_URI: &str = "demo://city/";

/// Options of `toolgraft demo-server`.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoServerArgs {
    /// Wait so long before a tool answers
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    delay: u64,
}

/// Runs the demonstration server until standard input ends.
pub(crate) fn run(args: DemoServerArgs) -> Result<(), Failure> {
    match rpc::serve(Duration::from_secs(args.delay), INSTRUCTIONS, answer) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::job("no MCP client on standard input; this command is started by one".to_owned())),
        Err(error) => Err(Failure::job(format!("the demonstration server ended: {error}"))),
    }
}

/// The result of a tool as text and as structured data, or an error message for the model.
type FoundTool = Result<(String, Value), String>;

fn location_query(asked: &Value) -> FoundTool {
    let query = given(asked, "query").filter(|q| !matches!(q.to_lowercase().as_str(), "here" | "这里" | "me"));
    let city = query
        .as_deref()
        .map_or(Some(HERE), places::city)
        .ok_or_else(|| format!("no city {:?}; the known ones are: {}", query.clone().unwrap_or_default(), names()))?;
    Ok((describe(city), place(city)))
}

fn weather_query(asked: &Value) -> FoundTool {
    let city = given(asked, "city").ok_or("\"city\" is empty: name a city")?;
    let day = given(asked, "date").map(|date| calendar::parse(&date)).transpose()?;
    let weather = places::weather(&city, day);
    let when = day.map_or_else(|| "now".to_owned(), |day| day.to_string());
    let text = format!(
        "{city}, {when}: {}, {} °C, humidity {} %, wind {} km/h {MADE_UP}",
        weather.sky, weather.celsius, weather.humidity, weather.wind
    );
    let structured = json!({
        "city": city, "date": day.map(|d| d.to_string()), "conditions": weather.sky,
        "temperature_c": weather.celsius, "humidity_percent": weather.humidity, "wind_kmh": weather.wind,
    });
    Ok((text, structured))
}

fn time_query(asked: &Value) -> FoundTool {
    let now = DateTime::<Utc>::from(SystemTime::now());
    let start = given(asked, "date").map(|date| calendar::parse(&date)).transpose()?;
    let from = start.unwrap_or(now.date_naive());
    let day = given(asked, "kind").map_or(from, |kind| calendar::next_of(from, &kind));
    // Only today has a time of day; another day is named without one.
    let time = (start.is_none() && day == from).then(|| now.format("%H:%M").to_string());
    let (weekday, kind, holiday) = (day.format("%A").to_string(), calendar::kind(day), calendar::holiday(day));
    let named = holiday.map(|name| format!(" ({name})")).unwrap_or_default();
    let clock = time.as_deref().map(|t| format!(" {t} UTC")).unwrap_or_default();
    let text = format!("{day}{clock}, {weekday}, a day of the kind {kind}{named}");
    let structured =
        json!({ "date": day.to_string(), "time": time, "weekday": weekday, "kind": kind, "holiday": holiday });
    Ok((text, structured))
}

/// Returns a text argument of this name, trimmed; `None` if it is missing or blank.
fn given(asked: &Value, name: &str) -> Option<String> {
    asked[name].as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn describe(city: &City) -> String {
    let local = if city.local == city.name { String::new() } else { format!(" ({})", city.local) };
    format!("{}{local}, {}: latitude {}, longitude {}", city.name, city.country, city.latitude, city.longitude)
}

fn place(city: &City) -> Value {
    json!({
        "city": city.name, "local_name": city.local, "country": city.country,
        "latitude": city.latitude, "longitude": city.longitude,
    })
}

fn names() -> String {
    CITIES.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")
}

/// Returns the response to a request other than the handshake.
fn answer(method: &str, params: &Value) -> Reply {
    match method {
        "ping" => Ok(json!({})),
        "tools/call" => call_tool(params),
        "prompts/get" => get_prompt(params),
        "completion/complete" => Ok(completed(&params["argument"])),
        "resources/read" => read_resource(params),
        _ => list(method),
    }
}

/// Returns the response to one of the list methods, such as `tools/list`.
fn list(method: &str) -> Reply {
    let mut lists: Map<String, Value> = serde_json::from_str(include_str!("lists.json"))
        .map_err(|error| (INTERNAL, format!("the lists cannot be read: {error}")))?;
    lists.remove(method).ok_or_else(|| (UNKNOWN_METHOD, method.to_owned()))
}

fn call_tool(params: &Value) -> Reply {
    let asked = &params["arguments"];
    let found = match params["name"].as_str().unwrap_or_default() {
        "location_query" => location_query(asked),
        "time_query" => time_query(asked),
        "weather_query" => weather_query(asked),
        other => return Err((INVALID_PARAMS, format!("no tool {other:?}"))),
    };
    Ok(match found {
        Ok((text, structured)) => {
            json!({"content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": false})
        }
        Err(text) => json!({"content": [{"type": "text", "text": text}], "isError": true}),
    })
}

fn get_prompt(params: &Value) -> Reply {
    if params["name"] != TRIP {
        return Err((INVALID_PARAMS, format!("no prompt {}: there is {TRIP}", params["name"])));
    }
    let city = given(&params["arguments"], "city").ok_or((INVALID_PARAMS, "\"city\" is missing".to_owned()))?;
    let when = given(&params["arguments"], "date").map_or_else(|| "today".to_owned(), |date| format!("on {date}"));
    let text = format!("I travel to {city} {when}. Look up the weather there and tell me what to pack.");
    Ok(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))
}

/// Returns the completion of an argument: the names of cities that begin with its value, if the argument is a city.
fn completed(argument: &Value) -> Value {
    let is_city = ["city", "name"].iter().any(|name| argument["name"] == *name);
    let begun = argument["value"].as_str().unwrap_or_default().to_lowercase();
    let names = CITIES.iter().map(|city| city.name).filter(|name| is_city && name.to_lowercase().starts_with(&begun));
    let values: Vec<&str> = names.collect();
    json!({"completion": {"values": values, "total": values.len(), "hasMore": false}})
}

fn read_resource(params: &Value) -> Reply {
    let uri = params["uri"].as_str().unwrap_or_default();
    let city = uri.strip_prefix(CITY_URI).map(|name| name.replace("%20", " "));
    let (text, kind) = match city.as_deref().and_then(places::city) {
        Some(city) => (place(city).to_string(), "application/json"),
        None if uri == CITIES_URI => (CITIES.iter().map(describe).collect::<Vec<_>>().join("\n"), "text/plain"),
        None => {
            let message =
                format!("no resource {uri:?}: there are {CITIES_URI} and {CITY_URI}{{name}}, for {}", names());
            return Err((INVALID_PARAMS, message));
        }
    };
    Ok(json!({"contents": [{"uri": uri, "mimeType": kind, "text": text}]}))
}
