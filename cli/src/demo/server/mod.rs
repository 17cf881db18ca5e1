//! `toolgraft demo-server`: a small MCP server over stdio, for the demo and for
//! tests that need a real server without a network.
//!
//! Places, times and kinds of days are real; the weather is made up, always the
//! same for a place and date, and the answers say so.

mod calendar;
mod places;

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CompletionInfo,
    ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::calendar::{Day, DayKind};
use self::places::{CITIES, City, HERE};
use crate::base::Failure;
use crate::servers::runner;

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
    let delay = Duration::from_secs(args.delay);
    runner::runtime()?.block_on(async {
        let running = DemoServer { delay }.serve(stdio()).await.map_err(|e| {
            Failure::job(format!("no MCP client on standard input ({e}); this command is started by one"))
        })?;
        running.waiting().await.map(|_| ()).map_err(|e| Failure::job(format!("the server ended: {e}")))
    })
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

/// The tools as they are listed.
fn tools() -> Result<Vec<Tool>, ErrorData> {
    serde_json::from_str(include_str!("tools.json"))
        .map_err(|error| ErrorData::internal_error(format!("the tools cannot be read: {error}"), None))
}

/// The arguments of a call, or the result that says what is wrong with them.
fn arguments<T: DeserializeOwned>(request: CallToolRequestParams) -> Result<T, CallToolResult> {
    serde_json::from_value(Value::Object(request.arguments.unwrap_or_default()))
        .map_err(|error| refuse(format!("the arguments cannot be read: {error}")))
}

struct DemoServer {
    delay: Duration,
}

impl DemoServer {
    fn location_query(asked: LocationQuery) -> CallToolResult {
        let query = given(asked.query).filter(|q| !matches!(q.to_lowercase().as_str(), "here" | "这里" | "me"));
        match query.as_deref().map_or(Some(HERE), places::city) {
            Some(city) => answer(describe(city), place(city)),
            None => refuse(format!("no city {:?}; known are: {}", query.unwrap_or_default(), names())),
        }
    }

    fn weather_query(asked: WeatherQuery) -> CallToolResult {
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
        answer(text, structured)
    }

    fn time_query(asked: TimeQuery) -> CallToolResult {
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
        answer(text, structured)
    }
}

/// A text that is there and not blank.
fn given(text: Option<String>) -> Option<String> {
    text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty())
}

fn answer(text: String, structured: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}

fn refuse(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
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

impl ServerHandler for DemoServer {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
        ServerConfig::new(can.enable_completions().build())
            .with_server_info(Implementation::new("toolgraft-demo", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tokio::time::sleep(self.delay).await;
        let result = match request.name.as_ref() {
            "location_query" => arguments(request).map(Self::location_query),
            "time_query" => arguments(request).map(Self::time_query),
            "weather_query" => arguments(request).map(Self::weather_query),
            other => return Err(ErrorData::invalid_params(format!("no tool {other:?}"), None)),
        };
        Ok(result.unwrap_or_else(|refused| refused).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let city = PromptArgument::new("city").with_description("Where to go").with_required(true);
        let date = PromptArgument::new("date").with_description("Day as YYYY-MM-DD").with_required(false);
        let trip = Prompt::new(TRIP, Some("What to pack for a trip"), Some(vec![city, date]));
        Ok(ListPromptsResult::with_all_items(vec![trip]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != TRIP {
            return Err(ErrorData::invalid_params(format!("no prompt {:?}: there is {TRIP}", request.name), None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| given(arguments.get(name).and_then(Value::as_str).map(str::to_owned));
        let city = argument("city").ok_or_else(|| ErrorData::invalid_params("\"city\" is missing", None))?;
        let when = argument("date").map_or_else(|| "today".to_owned(), |date| format!("on {date}"));
        let text = format!("I travel to {city} {when}. Look up the weather there and tell me what to pack.");
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    /// Cities, wherever one is asked for.
    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let of_city = matches!(request.argument.name.as_str(), "city" | "name");
        let begun = request.argument.value.to_lowercase();
        let names =
            CITIES.iter().map(|city| city.name).filter(|name| of_city && name.to_lowercase().starts_with(&begun));
        let values = CompletionInfo::with_all_values(names.map(str::to_owned).collect());
        values.map(CompleteResult::new).map_err(|why| ErrorData::internal_error(why, None))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cities = Resource::new(CITIES_URI, "cities")
            .with_description("The cities that location_query knows, one a line")
            .with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![cities]))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let city = ResourceTemplate::new(format!("{CITY_URI}{{name}}"), "city")
            .with_description("One of these cities: country and coordinates, as JSON")
            .with_mime_type("application/json");
        Ok(ListResourceTemplatesResult::with_all_items(vec![city]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let city = uri.strip_prefix(CITY_URI).map(|name| name.replace("%20", " "));
        let (text, kind) = if uri == CITIES_URI {
            (CITIES.iter().map(describe).collect::<Vec<_>>().join("\n"), "text/plain")
        } else if let Some(city) = city.as_deref().and_then(places::city) {
            (place(city).to_string(), "application/json")
        } else {
            let message =
                format!("no resource {uri:?}: there are {CITIES_URI} and {CITY_URI}{{name}}, for {}", names());
            return Err(ErrorData::resource_not_found(message, None));
        };
        let contents = ResourceContents::text(text, uri).with_mime_type(kind);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
