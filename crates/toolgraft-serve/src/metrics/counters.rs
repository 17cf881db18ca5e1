//! The counters of `/metrics`, in Prometheus' text format. Labels are constants of the program,
//! never a client's text.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::prompt_cost::PromptCost;
use crate::access::budgets::Budgets;
use toolgraft::budget::Budget;

/// A function that returns one of the numbers of a budget, such as its usage.
type Count = fn(&Budget) -> u64;

/// Counters of requests, calls and prompts since the start of the server.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Number of requests by route and first digit of the HTTP status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    rounds: AtomicU64,
    calls: AtomicU64,
    failed: AtomicU64,
    /// Number of requests at which this program panicked.
    pub(crate) broken: AtomicU64,
    prompt_bytes: AtomicU64,
    repeated_bytes: AtomicU64,
    prompt_tokens: AtomicU64,
    cached_tokens: AtomicU64,
}

impl Metrics {
    /// Counts a request to this route with the status of its answer.
    pub(crate) fn answered(&self, route: &'static str, status: u16) {
        // An endpoint may answer with any number, which must not become a label of its own.
        let class = (status / 100).clamp(2, 5);
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner).entry((route, class)).or_default() += 1;
    }

    /// Counts a finished answer that was not passed through: its rounds, its calls for the client, its failure, and
    /// its prompt cost.
    pub(crate) fn ended(&self, rounds: u32, calls: u64, failed: bool, prompt: PromptCost) {
        self.rounds.fetch_add(rounds.into(), Ordering::Relaxed);
        self.calls.fetch_add(calls, Ordering::Relaxed);
        self.failed.fetch_add(failed.into(), Ordering::Relaxed);
        for (counter, more) in [
            (&self.prompt_bytes, prompt.bytes),
            (&self.repeated_bytes, prompt.repeated),
            (&self.prompt_tokens, prompt.tokens),
            (&self.cached_tokens, prompt.cached_tokens.unwrap_or(0)),
        ] {
            counter.fetch_add(more, Ordering::Relaxed);
        }
    }

    /// Returns the text of `/metrics`: all counters and budgets in Prometheus' format.
    pub(crate) fn page(&self, budgets: &Budgets) -> String {
        let mut page = String::new();
        let head = |page: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(page, "# HELP toolgraft_{name} {help}\n# TYPE toolgraft_{name} {kind}");
        };
        head(&mut page, "requests_total", "counter", "Requests by route and status.");
        for ((route, class), count) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(page, "toolgraft_requests_total{{route=\"{route}\",status=\"{class}xx\"}} {count}");
        }
        for (name, kind, help, value) in [
            ("rounds_total", "counter", "Requests to the model, corrections included.", &self.rounds),
            ("tool_calls_total", "counter", "Calls that were handed to clients.", &self.calls),
            ("failed_answers_total", "counter", "Answers that ended with an error.", &self.failed),
            ("panics_total", "counter", "Requests at which the server itself failed.", &self.broken),
            ("prompt_bytes_total", "counter", "Bytes of all prompts.", &self.prompt_bytes),
            (
                "prompt_repeated_bytes_total",
                "counter",
                "Bytes that prompts share with the beginning of an earlier one.",
                &self.repeated_bytes,
            ),
            ("prompt_tokens_total", "counter", "Tokens of all prompts.", &self.prompt_tokens),
            ("cached_tokens_total", "counter", "Tokens that the endpoint says it had cached.", &self.cached_tokens),
        ] {
            head(&mut page, name, kind, help);
            let _ = writeln!(page, "toolgraft_{name} {}", value.load(Ordering::Relaxed));
        }
        for (name, kind, help, value) in [
            (
                "budget",
                "gauge",
                "Limit of the budget, for all requests together.",
                (|budget| budget.amount() as u64) as Count,
            ),
            ("budget_used", "gauge", "Usage of the budget.", |budget| budget.used() as u64),
            ("budget_refused_total", "counter", "Requests that a budget refused.", Budget::refused),
        ] {
            head(&mut page, name, kind, help);
            for (budget, unit) in budgets.rows() {
                let (of, value) = (budget.name(), value(budget));
                let _ = writeln!(page, "toolgraft_{name}{{budget=\"{of}\",unit=\"{unit}\"}} {value}");
            }
        }
        page
    }
}
