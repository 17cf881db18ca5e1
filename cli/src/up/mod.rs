//! `toolgraft up`: a conversation in the browser, on the loopback.
//!
//! ```text
//! browser ─▶ doors ─▶ web: /          the page, which holds all it needs
//!                          /events    one conversation: as it is, then what happens to it
//!                          /timeline, /share  a conversation as a page of its own
//!                          /ask …     what the person says, answers, stops, switches, changes
//!                           │
//!                           ▼
//!                 chats: those that are open ─▶ chat: a `Talk`, its turn, who looks at it
//!                                                │
//!                            person, view ◀──────┘  the front: events as steps that the page takes
//! ```
//!
//! The conversation itself, its settings, approvals and store are those of `toolgraft chat`.

mod chat;
mod chats;
mod common;
mod person;
mod web;

use std::sync::{Arc, Mutex, OnceLock, Weak};

use crate::base::{
    Failure, browser, output,
    signals::{self, Signals},
};
use crate::chat::{Endpoint, TalkArgs, warn_unmatched};
use crate::dialog::ask::Asker;
use crate::front::{Frontend, Terminal};
use crate::pages::doors::LocalServer;
use crate::servers;
use crate::servers::app::{App, see};
use crate::servers::{existing::Existing, starting};
use crate::sessions::Store;
use crate::settings::{Reader, Source};
use chats::Chats;
use common::Common;
use toolgraft::route::Toolbox;
use toolgraft_mcp::{Elicitor, Hub, InputRequest};

/// Options of `toolgraft up`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/up.txt").trim_end())]
pub(super) struct UpArgs {
    /// Only print the page's address, and open no browser
    #[arg(long)]
    no_open: bool,

    /// Port of 127.0.0.1 to listen on [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Keep no conversation (`toolgraft log --help` says how others are)
    #[arg(long)]
    no_session: bool,

    #[command(flatten)]
    talk: TalkArgs,
}

/// Runs `toolgraft up`.
pub(super) fn run(mut args: UpArgs) -> Result<(), Failure> {
    args.talk.take_options(&[Reader::Talk])?;
    args.talk.settings = args.talk.settings.resolve(&Source::ALL)?;
    let place = args.talk.endpoint.place(&args.talk.settings)?;
    let store = match args.talk.settings.sessions.unwrap_or(true) && !args.no_session {
        true => Store::open().ok(),
        false => None,
    };
    let config = args.talk.config()?;
    let app = App::start(Asker::at_terminal())?;
    let terminal = Arc::new(Terminal::without_turns(app.asker.clone()));
    let endpoint = app.wait(Endpoint::choose(&place, &*terminal))?;
    let (existing, secrets) = (Existing::of(&config), config.secrets());
    let windows = Windows::default();
    let hub = Hub::builder().config(config).trust(&place.trust).keep_media(true);
    let hub = hub.elicitor(answered_in(windows.clone(), terminal));
    let signals = app.signals.clone();
    app.with_hub_within(starting::PATIENCE, hub, async move |hub| {
        servers::refuse_strangers(&args.talk.settings.untrusted, &hub.servers())?;
        let goes_on = starting::goes_on(&hub);
        let there = {
            let (hub, settings) = (hub.clone(), args.talk.settings.clone());
            async move {
                hub.settled().await;
                // Servers that were there in time have been seen by `with_hub_within`.
                if goes_on {
                    see(&hub);
                }
                servers::report_failed(&hub.servers());
                warn_unmatched(&settings, &hub.catalog());
            }
        };
        if goes_on {
            output::note(&format!(
                "still starting: {}; a question waits for them, unless it is stopped",
                starting::still(&hub.servers())
            ));
            tokio::spawn(there);
        } else {
            there.await;
        }
        let common = Common {
            args: Mutex::new(args.talk),
            hub,
            home: endpoint.clone(),
            endpoint: Mutex::new(endpoint),
            existing,
            secrets,
            store,
        };
        let chats = Arc::new(Chats::new(common).await?);
        let _ = windows.set(Arc::downgrade(&chats));
        let server = LocalServer::bind(args.port, web::GUARDED).await?;
        let url = server.doors.url();
        let router = web::router(chats.clone(), server.doors.clone())?;
        output::note("the page is at this address, for one browser; Ctrl-C ends the program");
        output::emit(&format!("{url}\n"))?;
        // Held until the end: the browser may take its time.
        let way = if args.no_open { None } else { browser::open_privately(&url) };
        if way.is_none() && !args.no_open {
            output::note("no browser can be opened from here: open the address in one");
        }
        until_ended(server.serve(router, &web::policy()), &chats, &signals).await
    })
}

/// The open conversations, set after the hub was created. The reference is weak since the conversations own the hub.
type Windows = Arc<OnceLock<Weak<Chats>>>;

/// Returns the elicitor that shows a server's request for input in the pages with a running turn, else at the terminal.
fn answered_in(windows: Windows, terminal: Arc<Terminal>) -> impl Elicitor {
    move |asked: InputRequest| {
        let (chats, terminal) = (windows.get().and_then(Weak::upgrade), terminal.clone());
        async move {
            let answer = match &chats {
                Some(chats) => chats.input(&asked).await,
                None => None,
            };
            match answer {
                Some(answer) => answer,
                None => terminal.fill(&asked).await,
            }
        }
    }
}

/// Serves the page until a signal to end arrives, then waits until all conversations are stored. Another Ctrl-C ends
/// the wait.
async fn until_ended(page: impl Future<Output = ()>, chats: &Chats, signals: &Signals) -> Result<(), Failure> {
    let (ending, interrupts) = (signals.hold(), signals.take_interrupts());
    let ended = tokio::select! {
        () = page => Ok(()),
        () = ending.begins() => Ok(()),
        () = interrupts.next() => signals::ended(signals::INTERRUPT),
    };
    tokio::select! {
        () = chats.end() => {}
        () = interrupts.next() => {}
    }
    // This is how it ends where nothing is wrong.
    signals.forget();
    ended
}
