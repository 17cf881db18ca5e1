//! Prompt, parser and schemas that requests with the same tools share, with a cache for them.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ask_settings::AskSettings;
use crate::fault::Fault;
use crate::settings::Settings;
use crate::tool_names::ToolNames;
use toolgraft::budget::{Budget, Permit};
use toolgraft::dialect::{DialectSet, Profile, SystemPlacement};
use toolgraft::route::Invocation;
use toolgraft::tools::{Decision, Server, ToolChoice};
use toolgraft::turn::{KnownWays, ModelNote, PromptWording, Setup, TurnConfig};
use toolgraft::validate::{Validator, takes_long};
use toolgraft::{Catalog, Dialect, Policy, Tool};

/// Maximum number of prepared lists of tools in the cache.
pub const CACHED_LISTS: usize = 64;

/// Default budget, in bytes, for all prepared lists of tools together.
pub const PREPARED_BYTES: usize = 256 << 20;

/// Divisor of the budget: all lists in the cache together take at most one eighth of it.
const CACHED_PART: usize = 8;

/// Prompt, parser and schemas made from a list of tools, which requests with the same list share.
pub struct Prepared {
    /// Setup of the turns of all requests with these tools.
    pub setup: Arc<Setup>,
    /// Placement of the system text that the model's profile requires.
    pub(crate) placement: SystemPlacement,
    /// Dialect (call syntax) that the prompt teaches.
    pub(crate) dialect: Dialect,
    /// `true` if the toolbox's tools are included.
    with_own: bool,
    /// `true` if checking a call against the tools' schemas may take long.
    pub(crate) is_heavy: bool,
    /// Approximate memory of the parsed tools in bytes, the client's and the toolbox's.
    read_bytes: usize,
    /// Names of the client's tools in the prompt.
    client: Vec<String>,
    /// The server's settings with which the list of tools was prepared.
    pub(crate) settings: Settings,
    pub(crate) choice: ToolChoice,
    /// The facts about the client's tools, apart from the tools themselves.
    pub offered: Offered,
    /// Two counts: the listed tools whose description is cut at the start of a conversation, and all listed tools.
    pub cut: (usize, usize),
    /// Hash of the tools and settings on which rendered history messages depend, part of their cache keys.
    pub(crate) identity: [u64; 2],
    /// Reservation in the budget for the memory of the prepared list.
    room: Option<Permit>,
}

/// The tools that a client offers.
#[derive(Default)]
pub struct Offered {
    /// The tools, by their names in the prompt.
    pub(crate) tools: Vec<Tool>,
    /// Mapping between the client's names of the tools and their names in the prompt.
    pub(crate) named: ToolNames,
    /// Names of the tools whose schemas are ignored because nothing satisfies them.
    pub set_aside: Vec<String>,
    /// Types, separated by commas, of the tools that only the API vendor's service can run; they are not offered to
    /// the model.
    pub left_out: String,
}

/// The input from which a list of tools is prepared.
pub(crate) struct Wanted {
    /// Profile of the model that gets the tools.
    pub(crate) profile: &'static Profile,
    /// The settings of the requests to the model.
    pub(crate) way: AskSettings,
    /// The client's tools.
    pub(crate) offered: Offered,
    /// The toolbox's tools, if this request may use them.
    pub(crate) own: Option<Arc<Catalog>>,
    pub(crate) choice: ToolChoice,
    pub(crate) max_calls: Option<usize>,
    /// Features that the endpoint is known to lack.
    pub(crate) ways: Arc<KnownWays>,
}

/// Key of a prepared list in the cache; `tools` is the JSON text of the tools in the request.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) way: AskSettings,
    pub(crate) tools: String,
    pub(crate) choice: String,
    pub(crate) max_calls: Option<usize>,
}

impl Prepared {
    pub(crate) fn new(settings: &Settings, wanted: Wanted) -> Result<Self, Fault> {
        let profile = wanted.profile;
        let mut offered = wanted.offered;
        let tools = std::mem::take(&mut offered.tools);
        let client = tools.iter().map(|tool| tool.name.clone()).collect();
        // Parallel, since the client runs its calls after it has received all of them, in an order
        // of its own.
        let mut servers = vec![Server::default().with_tools(tools).with_parallel(true)];
        servers.extend(wanted.own.iter().flat_map(|catalog| catalog.servers().iter().cloned()));
        // The client's own list may be empty. A server of the toolbox may have resources without tools.
        servers.retain(|server| server.name.is_some() || !server.tools.is_empty());
        let options = wanted.way.options(settings, profile);
        // Without tools nothing in the text counts as a call, not even as one to be rejected.
        let all = wanted.way.derived.map_or(DialectSet::AUTO, |derived| DialectSet::AUTO.with(derived));
        let dialects = if servers.is_empty() { DialectSet::NONE } else { all };
        let catalog = options.callable(Arc::new(Catalog::new(servers)));
        let mut turn = TurnConfig::for_profile(profile);
        turn.dialects = dialects;
        // The text is inserted into the client's messages here instead.
        turn.placement = SystemPlacement::System;
        (turn.tools_mode, turn.tool_choice) = (wanted.way.tools, wanted.choice.clone());
        turn.max_calls = wanted.max_calls;
        (turn.constrain, turn.way) = (wanted.way.constrain, wanted.way.calls);
        turn.call_threshold = wanted.way.threshold.map(f64::from_bits);
        // One more, since a call of the client may be handed out in any round, including the last.
        turn.max_rounds = settings.max_rounds.saturating_add(1);
        turn.max_corrections = settings.max_corrections;
        turn.max_repeats = settings.max_repeats;
        turn.max_same_results = settings.max_same_results;
        // The permissions here and the client decide which calls run.
        turn.policy = Policy::new(Decision::Allow);
        (turn.unattended, turn.hands_out) = (true, true);
        turn.reads = wanted.way.reads;
        let wording = PromptWording::new(catalog.clone(), &options, &turn)
            .map_err(|error| Fault::field("tools", format!("the tools cannot be described: {error}")))?;
        // The client wrote its descriptions for an endpoint that takes tools, so they are not cut
        // where the request carries the tools.
        let wording = wording.with_whole_descriptions();
        let cut = (wording.cut_descriptions().unwrap_or(0), catalog.offered().count());
        let wording = match profile.system {
            SystemPlacement::User => wording.with_examples_in_text(),
            _ => wording,
        };
        let tools: Vec<_> = catalog.tools().map(|tool| (&tool.server, &tool.name, &tool.input_schema)).collect();
        let templates = format!("{:?}", options.templates);
        let identity = settings.told.hash((wanted.way, tools, templates, options.lang, options.result_bytes));
        let is_heavy = catalog.tools().filter_map(|tool| tool.input_schema.as_ref()).any(takes_long);
        let described = |tool: &Tool| tool.description.as_ref().map_or(0, String::len) + size_of::<Tool>();
        let read_bytes =
            catalog.tools().map(|tool| described(tool) + tool.input_schema.as_ref().map_or(0, bytes_of)).sum();
        let validator = Arc::new(Validator::new(catalog));
        let setup = Arc::new(Setup::new(turn, validator, Arc::new(wording)).knowing(wanted.ways));
        let settings = settings.clone();
        wanted.own.iter().for_each(|own| settings.policy.see(own));
        Ok(Prepared {
            setup,
            placement: profile.system,
            dialect: options.dialect,
            with_own: wanted.own.is_some(),
            is_heavy,
            read_bytes,
            client,
            settings,
            choice: wanted.choice,
            offered,
            cut,
            identity,
            room: None,
        })
    }

    /// Returns the approximate memory, in bytes, of the prepared list; it grows once schemas are compiled.
    fn weight(&self) -> usize {
        // Schemas are held three times: in the catalog, the definitions and the structures made of
        // them.
        3 * self.read_bytes + self.setup.validator_weight()
    }

    /// Returns `true` if this tool is one of the client's own.
    pub(crate) fn is_clients(&self, server: Option<&str>, tool: &str) -> bool {
        server.is_none() && self.client.iter().any(|name| name == tool)
    }

    /// Returns `true` if results of some server of the toolbox may be text of third parties, so
    /// that conversations have to be tracked.
    pub(crate) fn watches(&self) -> bool {
        self.with_own && !self.settings.untrusted.is_empty()
    }

    /// Returns `true` if the prompt itself may hold text of third parties: instructions or descriptions of an
    /// untrusted server.
    pub(crate) fn hears_untrusted(&self) -> bool {
        let servers = self.setup.catalog().servers();
        servers.iter().any(|server| self.is_untrusted(server.name.as_deref()) && server.has_words())
    }

    /// Returns `true` if a result of this server may be text of third parties.
    pub(crate) fn is_untrusted(&self, server: Option<&str>) -> bool {
        server.is_some_and(|server| self.settings.untrusted.iter().any(|name| name == server))
    }

    /// Returns the note for the model if a call of the toolbox must not run, else `None`.
    /// `after_untrusted` says whether the conversation holds possible text of third parties.
    pub(crate) fn refusal(&self, call: &Invocation, after_untrusted: bool) -> Option<ModelNote<'static>> {
        let led_by = if after_untrusted { self.settings.untrusted.as_slice() } else { &[] };
        let name = (call.server.as_deref(), call.tool.as_str());
        self.settings.policy.refusal(name, &call.arguments, self.setup.catalog(), led_by)
    }
}

/// Returns the approximate memory, in bytes, of a JSON value.
fn bytes_of(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    const VALUE: usize = size_of::<Value>();
    VALUE
        + match value {
            Value::String(text) => text.len(),
            // The unused capacity counts: a parsed list may have room for twice its items.
            Value::Array(items) => VALUE * (items.capacity() - items.len()) + items.iter().map(bytes_of).sum::<usize>(),
            // Each member also stores its key, the key's hash and its position.
            Value::Object(members) => members.iter().map(|(key, value)| 3 * VALUE + key.len() + bytes_of(value)).sum(),
            _ => 0,
        }
}

/// Cache of prepared lists of tools, the last used first.
pub struct Cache {
    budget: Budget,
    kept: Mutex<VecDeque<CachedList>>,
    hasher: RandomState,
    ways: Arc<KnownWays>,
}

struct CachedList {
    hash: u64,
    key: Key,
    own: Option<Arc<Catalog>>,
    prepared: Arc<Prepared>,
}

impl CachedList {
    /// Returns the approximate memory, in bytes, of an entry: twice the JSON text of the tools, and the prepared
    /// list.
    fn weight(&self) -> usize {
        2 * self.key.tools.len() + self.prepared.weight()
    }
}

impl Cache {
    /// Makes an empty cache for an endpoint with these known features; the prepared lists share this budget.
    pub fn knowing(budget: Budget, ways: KnownWays) -> Self {
        Cache { budget, kept: Mutex::default(), hasher: RandomState::new(), ways: Arc::new(ways) }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<CachedList>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves bytes of the client's share of the budget; for them cached lists are dropped, the
    /// least recently used first.
    ///
    /// # Errors
    /// Fails if running requests use the budget, or if the bytes exceed the client's share.
    fn room(&self, client: Option<&str>, bytes: usize) -> Result<Permit, Fault> {
        let limit = if client.is_some() { self.budget.share() } else { self.budget.amount() };
        // Nothing is dropped for a list that exceeds the share in any case.
        while bytes <= limit && bytes > self.budget.free_for(client) && self.kept().pop_back().is_some() {}
        Ok(self.budget.take(client, bytes)?)
    }

    /// Returns the features that the endpoint is known to lack.
    pub fn ways(&self) -> Arc<KnownWays> {
        self.ways.clone()
    }

    /// Returns `true` if a list of tools with exactly this JSON text is cached.
    pub(crate) fn knows(&self, tools: &str) -> bool {
        self.kept().iter().any(|entry| entry.key.tools == tools)
    }

    /// Returns the prepared list for this key and the toolbox's tools. If it is not cached, `prepare` makes it from
    /// the JSON text of the tools and the toolbox's tools; its memory counts towards this client's share of the
    /// budget.
    pub(crate) fn get(
        &self,
        key: Key,
        own: Option<Arc<Catalog>>,
        client: Option<&str>,
        prepare: impl FnOnce(&str, Option<Arc<Catalog>>) -> Result<Prepared, Fault>,
    ) -> Result<Arc<Prepared>, Fault> {
        let hash = self.hasher.hash_one(&key);
        let same_tools = |entry: &CachedList| match (&entry.own, &own) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        {
            let mut kept = self.kept();
            // The hash saves most comparisons of long texts; two catalogs of the toolbox may have
            // equal keys.
            let found = kept.iter().position(|e| e.hash == hash && e.key == key && same_tools(e));
            if let Some(entry) = found.and_then(|at| kept.remove(at)) {
                let prepared = entry.prepared.clone();
                kept.push_front(entry);
                return Ok(prepared);
            }
        }
        let mut prepared = prepare(&key.tools, own.clone())?;
        prepared.room = Some(self.room(client, 2 * key.tools.len() + prepared.weight())?);
        let prepared = Arc::new(prepared);
        let mut kept = self.kept();
        // An earlier catalog of the toolbox does not come back, so lists made with it are dropped.
        kept.retain(|entry| entry.own.is_none() || own.is_none() || same_tools(entry));
        kept.push_front(CachedList { hash, key, own, prepared: prepared.clone() });
        let mut bytes = 0;
        let mut lists = 0;
        // A list that alone exceeds the limit is dropped without displacing the others.
        kept.retain(|entry| {
            let weight = entry.weight();
            let fits = lists < CACHED_LISTS && bytes + weight <= self.budget.amount() / CACHED_PART;
            if fits {
                bytes += weight;
                lists += 1;
            }
            fits
        });
        Ok(prepared)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ask_settings::ModelFacts;

    fn list(tools: usize) -> Arc<Catalog> {
        let schema =
            json!({"type": "object", "properties": {"path": {"type": "string", "description": "x".repeat(200)}}});
        let tools: Vec<Tool> = (0..tools).map(|n| Tool::new(format!("tool_{n}")).with_schema(schema.clone())).collect();
        Arc::new(Catalog::new([Server::new("files").with_tools(tools)]))
    }

    fn cache_of(bytes: usize) -> Cache {
        Cache::knowing(Budget::new("max_prepared_bytes", bytes), KnownWays::default())
    }

    fn get(cache: &Cache, text: &str, own: Option<Arc<Catalog>>) -> Arc<Prepared> {
        let settings = Settings::default();
        let profile = settings.profile_of("m");
        let way = AskSettings::of(&settings, "m", &ModelFacts::default(), profile);
        let choice = String::new();
        let key = Key { way, tools: text.to_owned(), choice, max_calls: None };
        let prepare = |_: &str, own| {
            let choice = ToolChoice::Auto;
            let (offered, ways) = (Offered::default(), cache.ways());
            Prepared::new(&settings, Wanted { profile, way, offered, own, choice, max_calls: None, ways })
        };
        cache.get(key, own, None, prepare).unwrap_or_else(|fault| panic!("{}", fault.message))
    }

    #[test]
    fn what_was_prepared_with_a_list_of_the_toolbox_goes_when_it_changes() {
        let cache = cache_of(1 << 20);
        let without = get(&cache, "[1]", None);
        let mut gone = Vec::new();
        for _ in 0..20 {
            let own = list(3);
            let both = [get(&cache, "[1]", Some(own.clone())), get(&cache, "[2]", Some(own.clone()))];
            assert!(Arc::ptr_eq(&both[0], &get(&cache, "[1]", Some(own))), "it is kept while it lasts");
            gone.extend(both.iter().map(Arc::downgrade));
        }
        let left = gone.iter().filter(|prepared| prepared.upgrade().is_some()).count();
        assert_eq!(left, 2, "of the last list");
        assert!(Arc::ptr_eq(&without, &get(&cache, "[1]", None)));
    }

    #[test]
    fn lists_of_one_client_leave_room_for_others() {
        let cache = cache_of(100_000);
        let first = cache.room(Some("one"), 70_000).unwrap_or_else(|fault| panic!("{}", fault.message));
        let more = cache.room(Some("one"), 10_000).map(|permit| permit.amount()).map_err(|fault| fault.message);
        assert_eq!(
            more,
            Err("one client's part (75000) of the budget max_prepared_bytes is in use: try again shortly".to_owned())
        );
        assert!(cache.room(Some("other"), 10_000).is_ok());
        drop(first);
        assert!(cache.room(Some("one"), 75_000).is_ok());
    }

    #[test]
    fn lists_that_nobody_uses_make_room_and_those_in_use_have_theirs() {
        let cache = cache_of(100_000);
        let listed = |n: usize| format!("[{}]", "1".repeat(20_000 + n));
        let in_use: Vec<_> = (0..2).map(|n| get(&cache, &listed(n), None)).collect();
        let used = cache.budget.used();
        assert!((80_000..100_000).contains(&used), "{used}");
        assert!(cache.kept().is_empty(), "each is more than the part that is kept");
        let third = cache.room(None, 40_000).map(|permit| permit.amount()).map_err(|fault| (fault.status, fault.code));
        assert_eq!(third, Err((503, Some("max_prepared_bytes"))));
        let never = cache.room(None, 100_001).map(|permit| permit.amount()).map_err(|fault| fault.status);
        assert_eq!(never, Err(413));
        drop(in_use);
        assert_eq!(cache.budget.used(), 0);
        for n in 0..9 {
            get(&cache, &format!("[{}]", "1".repeat(1_000 + n)), None);
        }
        let (lists, kept) = (cache.kept().len(), cache.budget.used());
        assert!(lists > 1 && kept <= 100_000 / CACHED_PART, "{lists} {kept}");
        assert!(cache.room(None, 99_000).is_ok() && cache.kept().len() < lists, "they went");
    }

    #[test]
    fn tools_of_the_toolbox_count_in_what_is_kept() {
        let cache = cache_of(1 << 20);
        let (small, large) = (get(&cache, "[1]", Some(list(1))), get(&cache, "[1]", Some(list(100))));
        assert!(large.weight() > 10 * small.weight().max(1_000), "{} {}", small.weight(), large.weight());
    }
}
