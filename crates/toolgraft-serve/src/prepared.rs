//! What requests with the same tools share: prompt, parser, schemas. Kept for a while.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::config::Config;
use super::fault::Fault;
use super::named::Named;
use super::way::Way;
use toolgraft::budget::{Budget, Permit};
use toolgraft::dialect::{DialectSet, Profile, SystemPlacement};
use toolgraft::route::Invocation;
use toolgraft::tools::{DefaultDecision, Server, ToolChoice};
use toolgraft::turn::{KnownWays, ModelNote, PromptWording, Setup, TurnConfig};
use toolgraft::validate::{Validator, takes_long};
use toolgraft::{Catalog, Dialect, Policy, Tool};

/// Lists of tools that are kept.
pub const CACHED_LISTS: usize = 64;

/// The part of the budget that lists take at most which are kept and not in use.
const CACHED_PART: usize = 8;

/// What requests with the same tools share.
pub(super) struct Prepared {
    pub(super) setup: Arc<Setup>,
    /// Where the model's profile wants the system text.
    pub(super) placement: SystemPlacement,
    /// Call syntax of the prompt.
    pub(super) dialect: Dialect,
    /// The toolbox's tools are among them.
    with_own: bool,
    /// Checking a call may take long.
    pub(super) is_heavy: bool,
    /// Bytes of the tools as they were read, about: the client's and the toolbox's.
    read_bytes: usize,
    /// Names of the client's tools.
    client: Vec<String>,
    /// As it was then.
    pub(super) config: Config,
    pub(super) choice: ToolChoice,
    /// What the client calls its tools.
    pub(super) named: Named,
    /// Listed tools whose description is cut, before anything was said, of how many.
    pub(super) cut: (usize, usize),
    /// The client's tools whose schema is set aside, by its names.
    pub(super) set_aside: Vec<String>,
    /// Types of tools that the client's own service would run, and that are left out.
    pub(super) left_out: String,
    /// The hash of all beside them that what messages became depends on.
    pub(super) identity: [u64; 2],
    /// Its part of the budget: not what the tools were sent as, but what they became.
    room: Option<Permit>,
}

/// The tools that a client offers.
#[derive(Default)]
pub(super) struct Offered {
    /// By the prompt's names.
    pub(super) tools: Vec<Tool>,
    /// What the client calls them.
    pub(super) named: Named,
    /// Those whose schema is set aside.
    pub(super) set_aside: Vec<String>,
    /// Types of those that the client's own service would run.
    pub(super) left_out: String,
}

/// What a list of tools is prepared for.
pub(super) struct Wanted {
    /// The model's profile.
    pub(super) profile: &'static Profile,
    /// How the model is asked.
    pub(super) way: Way,
    /// The client's tools.
    pub(super) offered: Offered,
    /// The toolbox's tools, where this request may use them.
    pub(super) own: Option<Arc<Catalog>>,
    pub(super) choice: ToolChoice,
    pub(super) max_calls: Option<usize>,
    /// What the endpoint is known not to give.
    pub(super) ways: Arc<KnownWays>,
}

/// What the same lists of tools have in common: the request's own text.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) way: Way,
    pub(super) tools: String,
    pub(super) choice: String,
    pub(super) with_tools: bool,
    pub(super) max_calls: Option<usize>,
}

impl Prepared {
    pub(super) fn new(config: &Config, wanted: Wanted) -> Result<Self, Fault> {
        let profile = wanted.profile;
        let Offered { tools, named, set_aside, left_out } = wanted.offered;
        let client = tools.iter().map(|tool| tool.name.clone()).collect();
        // The client runs its calls, in an order of its own, once it has them all.
        let mut servers = vec![Server::default().with_tools(tools).with_parallel(true)];
        servers.extend(wanted.own.iter().flat_map(|catalog| catalog.servers().iter().cloned()));
        servers.retain(|server| server.name.is_some() || !server.tools.is_empty());
        let options = wanted.way.options(config, profile);
        // Without tools a call in the text is none, not even one that is refused.
        let all = wanted.way.derived.map_or(DialectSet::AUTO, |derived| DialectSet::AUTO.with(derived));
        let dialects = if servers.is_empty() { DialectSet::NONE } else { all };
        let catalog = options.callable(Arc::new(Catalog::new(servers)));
        let mut turn = TurnConfig::for_profile(profile);
        turn.dialects = dialects;
        // The text is put into the client's messages here.
        turn.placement = SystemPlacement::System;
        (turn.tools_mode, turn.tool_choice) = (wanted.way.tools, wanted.choice.clone());
        turn.max_calls = wanted.max_calls;
        (turn.constrain, turn.way) = (wanted.way.constrain, wanted.way.calls);
        turn.call_threshold = wanted.way.threshold.map(f64::from_bits);
        // The client's calls are handed out from any round, the last one too.
        turn.max_rounds = config.max_rounds.saturating_add(1);
        turn.max_corrections = config.max_corrections;
        turn.max_repeats = config.max_repeats;
        turn.max_same_results = config.max_same_results;
        // Which of them run is decided here and by the client.
        turn.policy = Policy::new(DefaultDecision::Allow);
        (turn.unattended, turn.hands_out) = (true, true);
        turn.reads = wanted.way.reads;
        let wording = PromptWording::new(catalog.clone(), &options, &turn)
            .map_err(|error| Fault::field("tools", format!("the tools cannot be described: {error}")))?;
        // The client sent its descriptions to an endpoint that takes tools.
        let wording = wording.with_whole_descriptions();
        let cut = wording.cut_descriptions().unwrap_or(0);
        let cut = (cut, catalog.offered().count());
        let wording = match profile.system {
            SystemPlacement::User => wording.with_examples_in_text(),
            _ => wording,
        };
        let tools: Vec<_> = catalog.tools().map(|tool| (&tool.server, &tool.name, &tool.input_schema)).collect();
        let templates = format!("{:?}", options.templates);
        let identity = config.told.hash((wanted.way, tools, templates, options.lang, options.result_bytes));
        let is_heavy = catalog.tools().filter_map(|tool| tool.input_schema.as_ref()).any(takes_long);
        let described = |tool: &Tool| tool.description.as_ref().map_or(0, String::len) + size_of::<Tool>();
        let read_bytes =
            catalog.tools().map(|tool| described(tool) + tool.input_schema.as_ref().map_or(0, bytes_of)).sum();
        let validator = Arc::new(Validator::new(catalog));
        let setup = Arc::new(Setup::new(turn, validator, Arc::new(wording)).knowing(wanted.ways));
        let config = config.clone();
        wanted.own.iter().for_each(|own| config.policy.see(own));
        Ok(Prepared {
            setup,
            placement: profile.system,
            dialect: options.dialect,
            with_own: wanted.own.is_some(),
            is_heavy,
            read_bytes,
            client,
            config,
            choice: wanted.choice,
            named,
            cut,
            set_aside,
            left_out,
            identity,
            room: None,
        })
    }

    /// Bytes that it takes, about: more once schemas were compiled.
    fn weight(&self) -> usize {
        // The catalog has the schemas, and so do the definitions and structures made of it.
        3 * self.read_bytes + self.setup.validator_weight()
    }

    /// Whether this is one of the client's own tools.
    pub(super) fn is_clients(&self, server: Option<&str>, tool: &str) -> bool {
        server.is_none() && self.client.iter().any(|name| name == tool)
    }

    /// Whether results of some server may be anybody's words, so that it counts what came before.
    pub(super) fn watches(&self) -> bool {
        self.with_own && !self.config.untrusted.is_empty()
    }

    /// Returns `true` if the prompt itself has words that may be anybody's: instructions or descriptions of a server
    /// whose words are.
    pub(super) fn hears_untrusted(&self) -> bool {
        let servers = self.setup.catalog().servers();
        servers.iter().any(|server| self.is_untrusted(server.name.as_deref()) && server.has_words())
    }

    /// Whether a result of this server may be anybody's words.
    pub(super) fn is_untrusted(&self, server: Option<&str>) -> bool {
        server.is_some_and(|server| self.config.untrusted.iter().any(|name| name == server))
    }

    /// Returns what the model is told where a call of the toolbox does not run, after words that may be anybody's
    /// or not.
    pub(super) fn refusal(&self, call: &Invocation, after_untrusted: bool) -> Option<ModelNote<'static>> {
        let led_by = if after_untrusted { self.config.untrusted.as_slice() } else { &[] };
        let name = (call.server.as_deref(), call.tool.as_str());
        self.config.policy.refusal(name, &call.arguments, self.setup.catalog(), led_by)
    }
}

/// Bytes that a value takes in memory, about.
fn bytes_of(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    const VALUE: usize = size_of::<Value>();
    VALUE
        + match value {
            Value::String(text) => text.len(),
            // As many may still come as have room: a list that was read takes up to twice its items.
            Value::Array(items) => VALUE * (items.capacity() - items.len()) + items.iter().map(bytes_of).sum::<usize>(),
            // A key is kept with its hash and its place.
            Value::Object(members) => members.iter().map(|(key, value)| 3 * VALUE + key.len() + bytes_of(value)).sum(),
            _ => 0,
        }
}

/// Lists that were prepared, the last used in front.
pub(super) struct Cache {
    budget: Budget,
    kept: Mutex<VecDeque<Entry>>,
    hasher: RandomState,
    ways: Arc<KnownWays>,
}

struct Entry {
    hash: u64,
    key: Key,
    own: Option<Arc<Catalog>>,
    prepared: Arc<Prepared>,
}

impl Entry {
    /// Bytes that it takes, about: its tools as they are written, as the prompt lists them, and
    /// what was made of them.
    fn weight(&self) -> usize {
        2 * self.key.tools.len() + self.prepared.weight()
    }
}

impl Cache {
    /// An empty one for an endpoint of which this is known, whose lists share this budget.
    pub(super) fn knowing(budget: Budget, ways: KnownWays) -> Self {
        Cache { budget, kept: Mutex::default(), hasher: RandomState::new(), ways: Arc::new(ways) }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes room for so many bytes of the client's part, for which kept lists go, those first that were not used for
    /// longest.
    ///
    /// # Errors
    /// Requests that are being answered have it.
    fn room(&self, client: Option<&str>, bytes: usize) -> Result<Permit, Fault> {
        let limit = if client.is_some() { self.budget.share() } else { self.budget.amount() };
        while bytes <= limit && bytes > self.budget.free_for(client) && self.kept().pop_back().is_some() {}
        Ok(self.budget.take(client, bytes)?)
    }

    /// What the endpoint is known not to give.
    pub(super) fn ways(&self) -> Arc<KnownWays> {
        self.ways.clone()
    }

    /// Whether something is prepared for these tools, in these very words.
    pub(super) fn knows(&self, tools: &str) -> bool {
        self.kept().iter().any(|entry| entry.key.tools == tools)
    }

    /// What is prepared for this key and the toolbox's tools, or is now, of this client's part of the budget: `prepare`
    /// gets the tools as they are written, and the toolbox's.
    pub(super) fn get(
        &self,
        key: Key,
        own: Option<Arc<Catalog>>,
        client: Option<&str>,
        prepare: impl FnOnce(&str, Option<Arc<Catalog>>) -> Result<Prepared, Fault>,
    ) -> Result<Arc<Prepared>, Fault> {
        let hash = self.hasher.hash_one(&key);
        let same_tools = |entry: &Entry| match (&entry.own, &own) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        {
            let mut kept = self.kept();
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
        // A toolbox's earlier list never comes again: what was prepared with it goes with it.
        kept.retain(|entry| entry.own.is_none() || own.is_none() || same_tools(entry));
        kept.push_front(Entry { hash, key, own, prepared: prepared.clone() });
        let mut bytes = 0;
        let mut lists = 0;
        // One that is too large for all of it puts none of the others out.
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
        let config = Config::new("http://127.0.0.1:1/v1").unwrap();
        let profile = config.profile_of("m");
        let way = Way::of(&config, "m", None, profile);
        let choice = String::new();
        let key = Key { way, tools: text.to_owned(), choice, with_tools: own.is_some(), max_calls: None };
        let prepare = |_: &str, own| {
            let choice = ToolChoice::Auto;
            let (offered, ways) = (Offered::default(), cache.ways());
            Prepared::new(&config, Wanted { profile, way, offered, own, choice, max_calls: None, ways })
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
