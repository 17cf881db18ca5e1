//! A line on stderr for each request that `toolgraft serve` is done with.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use crate::base::output::tell_stderr;
use crate::screen::boxes::clean;
use toolgraft_serve::{PromptCost, Served};

/// Maximum number of log lines waiting to be written. Further ones are dropped, so that a stopped terminal never delays
/// a response.
const WAITING: usize = 1_000;

/// Maximum time to wait for the last log lines at the end.
const LAST: Duration = Duration::from_secs(1);

/// The log of a server's requests, written to stderr by its own thread.
pub(crate) struct RequestLog {
    ended: Receiver<()>,
}

impl RequestLog {
    /// Starts the log, and returns it with the function that logs a completed request.
    pub(crate) fn start() -> (Self, impl Fn(Served) + Send + Sync + 'static) {
        let (tell, told): (SyncSender<Served>, _) = sync_channel(WAITING);
        let (end, ended) = sync_channel(1);
        std::thread::spawn(move || {
            told.iter().for_each(|served| tell_stderr(line(&served)));
            let _ = end.send(());
        });
        let log = move |served| {
            let _ = tell.try_send(served);
        };
        (RequestLog { ended }, log)
    }

    /// Waits for the last log lines, after the logging function was dropped.
    pub(crate) fn end(self) {
        let _ = self.ended.recv_timeout(LAST);
    }
}

/// Returns the log line of a request, such as `chat_completions gemma3:12b 200 rounds=2 calls=1 prompt=3201 same=96%
/// cached=3072 1.243s`.
fn line(served: &Served) -> String {
    // The name is a client's: it makes neither a line nor a field of its own.
    let model = match served.model.as_str() {
        "" => "-".to_owned(),
        model if model.chars().all(|c| c.is_ascii_graphic()) => model.to_owned(),
        model => clean(&format!("{model:?}")),
    };
    let status = served.status.map_or("gone".to_owned(), |status| status.to_string());
    let code = served.code.map_or(String::new(), |code| format!(" {code}"));
    let own = if served.own_calls > 0 { format!(" run={}", served.own_calls) } else { String::new() };
    let way = served.way.map_or(String::new(), |way| format!(" way={way}"));
    let tools = served.tools_mode.map_or(String::new(), |mode| format!(" tools={mode}"));
    let prompt = prompt(served.prompt);
    let repeats = served.repeats.map_or(String::new(), |times| format!(" repeats={times} (stopped; see max_repeats)"));
    let left_out = match served.left_out.as_str() {
        "" => String::new(),
        types => format!(" (left out: {types})"),
    };
    let help = match (served.code, served.cut_descriptions) {
        (Some("host_refused"), _) => " (--host NAME adds a name)".to_owned(),
        (Some("origin_refused"), _) => " (--origin URL lets pages in)".to_owned(),
        (_, (1.., all)) => format!(" ({} of {all} descriptions cut)", served.cut_descriptions.0),
        _ => String::new(),
    };
    let aside = match served.set_aside.as_slice() {
        [] => String::new(),
        names => clean(&format!(" (schemas set aside: {})", names.join(", "))).replace('\n', " "),
    };
    format!(
        "{} {model} {status}{code} rounds={} calls={}{own}{way}{tools}{prompt}{repeats} {:.3}s{left_out}{help}{aside}",
        served.route,
        served.rounds,
        served.calls,
        served.took.as_secs_f64(),
    )
}

/// Returns the log fields on the prompt: its tokens, the percentage that earlier requests contained, the number that
/// the endpoint had cached, and a cut by the endpoint.
fn prompt(prompt: PromptCost) -> String {
    if prompt.bytes == 0 {
        return String::new();
    }
    let cached = prompt.cached_tokens.map_or(String::new(), |tokens| format!(" cached={tokens}"));
    let cut = prompt.cut.map_or(String::new(), |(sent, read)| {
        format!(" prompt_cut (the endpoint read {read} of about {sent} tokens: give the model a longer context)")
    });
    format!(" prompt={} same={}%{cached}{cut}", prompt.tokens, prompt.repeated_percent())
}
