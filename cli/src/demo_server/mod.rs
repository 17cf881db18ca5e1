//! `toolgraft demo-server`: a small MCP server over stdio, for the demo and for
//! tests that need a real server without a network.
//!
//! Places, times and kinds of days are real; the weather is made up, always the
//! same for a place and date, and the answers say so.

mod calendar;
mod places;

use std::time::Duration;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
};
use rmcp::schemars::JsonSchema;
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde::Deserialize;
use serde_json::{Value, json};

use self::calendar::{Day, Kind};
use self::places::{CITIES, City, HERE};
use super::{Failure, runner};

const INSTRUCTIONS: &str = "Where, when and what weather, for demonstrations. Ask location_query for the place before \
                            weather_query when the user does not name one. The weather is made up.";

const MADE_UP: &str = "(made-up figures of a demonstration server)";

const TRIP: &str = "trip";

const CITIES_URI: &str = "demo://cities";
const CITY_URI: &str = "demo://city/";

/// Options of `toolgraft demo-server`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Wait so long before a tool answers
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    delay: u64,
}

/// Serves until standard input ends.
pub(super) fn run(args: Args) -> Result<(), Failure> {
    let delay = Duration::from_secs(args.delay);
    runner::runtime()?.block_on(async {
        let server = DemoServer { tool_router: DemoServer::tool_router(), delay };
        let running = server.serve(stdio()).await.map_err(|e| {
            Failure::job(format!("no MCP client on standard input ({e}); this command is started by one"))
        })?;
        running.waiting().await.map(|_| ()).map_err(|e| Failure::job(format!("the server ended: {e}")))
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct LocationQuery {
    /// Name of a city; leave it out for the user's own place
    query: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct WeatherQuery {
    /// City, such as "Hangzhou"
    city: String,
    /// Day as YYYY-MM-DD; leave it out for now
    date: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct TimeQuery {
    /// Day as YYYY-MM-DD; leave it out for today
    date: Option<String>,
    /// Ask for the first day of this kind, from that day on
    kind: Option<Kind>,
}

struct DemoServer {
    tool_router: ToolRouter<Self>,
    delay: Duration,
}

#[tool_router]
impl DemoServer {
    #[tool(description = "Finds a place: the user's own, or a city by its name", annotations(read_only_hint = true))]
    async fn location_query(&self, Parameters(asked): Parameters<LocationQuery>) -> CallToolResult {
        tokio::time::sleep(self.delay).await;
        let query = given(asked.query).filter(|q| !matches!(q.to_lowercase().as_str(), "here" | "这里" | "me"));
        match query.as_deref().map_or(Some(HERE), places::city) {
            Some(city) => answer(describe(city), place(city)),
            None => refuse(format!("no city {:?}; known are: {}", query.unwrap_or_default(), names())),
        }
    }

    #[tool(description = "Tells the weather of a city, now or on a day", annotations(read_only_hint = true))]
    async fn weather_query(&self, Parameters(asked): Parameters<WeatherQuery>) -> CallToolResult {
        tokio::time::sleep(self.delay).await;
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

    #[tool(
        description = "Tells the date (UTC), its weekday and what kind of day it is: weekday, weekend or holiday",
        annotations(read_only_hint = true)
    )]
    async fn time_query(&self, Parameters(asked): Parameters<TimeQuery>) -> CallToolResult {
        tokio::time::sleep(self.delay).await;
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

#[tool_handler(router = self.tool_router)]
impl ServerHandler for DemoServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("toolgraft-demo", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
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
