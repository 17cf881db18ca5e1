//! `toolgraft demo-server`: a small MCP server over stdio, for the demo and for
//! tests that need a real server without a network.
//!
//! Places, times and kinds of days are real; the weather is made up, always the
//! same for a place and date, and the answers say so.

mod calendar;
mod places;
mod rpc;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use self::calendar::{Day, DayKind};
use self::places::{CITIES, City, HERE};
use self::rpc::{INVALID_PARAMS, Refusal, Reply, Server};
use crate::base::Failure;

const INSTRUCTIONS: &str = "Where, when and what weather, for demonstrations. Ask location_query for the place before \
                            weather_query when the user does not name one. The weather is made up.";

const MADE_UP: &str = "(made-up figures of a demonstration server)";

const TRIP: &str = "trip";

const CITIES_URI: &str = "demo://cities";
const CITY_URI: &str = "demo://city/";

/// Options of `toolgraft demo-server`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Wait so long before a tool answers
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    delay: u64,
}

/// Serves until standard input ends.
pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let server = Server { info, answer, delay: std::time::Duration::from_secs(args.delay) };
    match server.run() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::job("no MCP client on standard input; this command is started by one".to_owned())),
        Err(error) => Err(Failure::job(format!("the demonstration server ended: {error}"))),
    }
}

#[derive(Debug, Deserialize)]
struct LocationQuery {
    query: Option<String>,
}

#[derive(Debug, Deserialize)]
struct WeatherQuery {
    city: String,
    date: Option<String>,
}

#[derive(Debug, Deserialize)]
struct TimeQuery {
    date: Option<String>,
    kind: Option<DayKind>,
}

/// The parameters of `tools/call`.
#[derive(Debug, Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// The parameters of `prompts/get`.
#[derive(Debug, Deserialize)]
struct PromptRequest {
    name: String,
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

/// The argument that `completion/complete` asks about.
#[derive(Debug, Deserialize)]
struct Completion {
    argument: Argument,
}

#[derive(Debug, Deserialize)]
struct Argument {
    name: String,
    value: String,
}

/// The parameters of `resources/read`.
#[derive(Debug, Deserialize)]
struct ResourceRequest {
    uri: String,
}

fn location_query(asked: LocationQuery) -> Value {
    let query = given(asked.query).filter(|q| !matches!(q.to_lowercase().as_str(), "here" | "这里" | "me"));
    match query.as_deref().map_or(Some(HERE), places::city) {
        Some(city) => success(describe(city), place(city)),
        None => refuse(format!("no city {:?}; the known ones are: {}", query.unwrap_or_default(), names())),
    }
}

fn weather_query(asked: WeatherQuery) -> Value {
    let Some(city) = given(Some(asked.city)) else { return refuse("\"city\" is empty: name a city".to_owned()) };
    let day = match given(asked.date).map(|date| Day::parse(&date)).transpose() {
        Ok(day) => day,
        Err(error) => return refuse(error),
    };
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
    success(text, structured)
}

fn time_query(asked: TimeQuery) -> Value {
    let (today, clock) = Day::now();
    let start = match given(asked.date).map(|date| Day::parse(&date)).transpose() {
        Ok(day) => day,
        Err(error) => return refuse(error),
    };
    let from = start.unwrap_or(today);
    let day = asked.kind.map_or(from, |kind| from.next_of(kind));
    let time = (start.is_none() && day == today).then_some(clock);
    let holiday = day.holiday().map(|name| format!(" ({name})")).unwrap_or_default();
    let clock = time.as_deref().map(|t| format!(" {t} UTC")).unwrap_or_default();
    let text = format!("{day}{clock}, {}, a day of the kind {}{holiday}", day.weekday(), day.kind());
    let structured = json!({
        "date": day.to_string(), "time": time, "weekday": day.weekday(), "kind": day.kind(), "holiday": day.holiday(),
    });
    success(text, structured)
}

/// A text that is there and not blank.
fn given(text: Option<String>) -> Option<String> {
    text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty())
}

fn success(text: String, structured: Value) -> Value {
    json!({"content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": false})
}

/// A result that tells the model its mistake.
fn refuse(text: String) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
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

/// The capabilities and the instructions, which both handshakes contain.
fn info() -> Value {
    json!({
        "capabilities": {"completions": {}, "prompts": {}, "resources": {}, "tools": {}},
        "instructions": INSTRUCTIONS,
    })
}

/// Answers a request of any method but the handshakes'.
fn answer(method: &str, params: Value, is_modern: bool) -> Reply {
    match method {
        "ping" => Ok(json!({})),
        "tools/call" => rpc::read(params).and_then(call_tool),
        "prompts/get" => rpc::read(params).and_then(get_prompt),
        "completion/complete" => rpc::read(params).map(complete),
        "resources/read" => rpc::read(params).and_then(|resource| read_resource(resource, is_modern)),
        _ => list(method),
    }
}

/// Returns the result of one of the list methods.
fn list(method: &str) -> Reply {
    let mut lists: Map<String, Value> = serde_json::from_str(include_str!("lists.json"))
        .map_err(|error| Refusal::internal(format!("the lists cannot be read: {error}")))?;
    lists.remove(method).ok_or_else(|| Refusal::unknown_method(method))
}

fn call_tool(call: Call) -> Reply {
    let Call { name, arguments } = call;
    let result = match name.as_str() {
        "location_query" => parse(arguments).map(location_query),
        "time_query" => parse(arguments).map(time_query),
        "weather_query" => parse(arguments).map(weather_query),
        other => return Err(Refusal::invalid(format!("no tool {other:?}"))),
    };
    Ok(result.unwrap_or_else(|refused| refused))
}

/// The arguments of a call, or the result that says what is wrong with them.
fn parse<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Value> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| refuse(format!("the arguments cannot be read: {error}")))
}

fn get_prompt(prompt: PromptRequest) -> Reply {
    if prompt.name != TRIP {
        return Err(Refusal::invalid(format!("no prompt {:?}: there is {TRIP}", prompt.name)));
    }
    let argument = |name: &str| given(prompt.arguments.get(name).cloned());
    let city = argument("city").ok_or_else(|| Refusal::invalid("\"city\" is missing".to_owned()))?;
    let when = argument("date").map_or_else(|| "today".to_owned(), |date| format!("on {date}"));
    let text = format!("I travel to {city} {when}. Look up the weather there and tell me what to pack.");
    Ok(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))
}

/// Cities, wherever one is asked for.
fn complete(completion: Completion) -> Value {
    let Argument { name, value } = completion.argument;
    let is_city = matches!(name.as_str(), "city" | "name");
    let prefix = value.to_lowercase();
    let names = CITIES.iter().map(|city| city.name).filter(|name| is_city && name.to_lowercase().starts_with(&prefix));
    let values: Vec<&str> = names.collect();
    json!({"completion": {"values": values, "total": values.len(), "hasMore": false}})
}

fn read_resource(resource: ResourceRequest, is_modern: bool) -> Reply {
    let uri = resource.uri;
    let city = uri.strip_prefix(CITY_URI).map(|name| name.replace("%20", " "));
    let (text, kind) = if uri == CITIES_URI {
        (CITIES.iter().map(describe).collect::<Vec<_>>().join("\n"), "text/plain")
    } else if let Some(city) = city.as_deref().and_then(places::city) {
        (place(city).to_string(), "application/json")
    } else {
        // Versions before 2026-07-28 had a code of their own for it.
        let code = if is_modern { INVALID_PARAMS } else { -32_002 };
        let known = names();
        let message = format!("no resource {uri:?}: there are {CITIES_URI} and {CITY_URI}{{name}}, for {known}");
        return Err(Refusal { code, message });
    };
    Ok(json!({"contents": [{"uri": uri, "mimeType": kind, "text": text}]}))
}
