//! The flags of `toolgraft chat`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;

use crate::base::Failure;
use crate::servers::{ListedArgs, ServerArgs};
use crate::settings::{
    self, CallDisplay, Images, Place, ReasoningDisplay, Slots, offer_args::OfferArgs, prompt_settings::PromptSettings,
    set_args::SetArgs, slots, trust_args::TrustArgs,
};
use toolgraft::conversation::User;
use toolgraft::dialect::Lang;
use toolgraft::message::{CarryReasoning, FencedCalls, ReasoningMode};
use toolgraft_mcp::Config;

/// Options of `toolgraft chat`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("../help/chat.txt").trim_end())]
pub(crate) struct Args {
    /// One question, in one word or several; without it, a conversation
    ///
    /// With --template: values of its names, NAME=VALUE; @FILE reads one from a file.
    pub(super) question: Vec<String>,

    /// Ask what a template says, with its model, servers and tools
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "continued"])]
    pub(super) template: Option<PathBuf>,

    /// The question of a template, in place of words. Resources that it names are not read.
    #[arg(skip)]
    pub(super) filled: Option<User>,

    /// Send a text file or an image with the first question
    ///
    /// May be given several times; in a conversation /file sends files with a later question. Images
    /// are PNG, JPEG, GIF or WebP, for a model that reads images.
    #[arg(long = "file", short = 'f', value_name = "FILE")]
    pub(super) attached: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) talk: TalkArgs,

    #[command(flatten)]
    pub(super) output: OutputArgs,

    #[command(flatten)]
    pub(super) conversation: ConversationArgs,

    #[command(flatten)]
    pub(super) files: FileArgs,
}

/// What a conversation is held with, wherever it is shown.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TalkArgs {
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,

    #[command(flatten)]
    pub(crate) servers: ServerArgs,

    #[command(flatten)]
    pub(crate) listed: ListedArgs,

    #[command(flatten)]
    pub(crate) calls: CallArgs,

    #[command(flatten)]
    pub(crate) model: ModelArgs,

    #[command(flatten)]
    pub(crate) set: SetArgs,

    #[arg(skip)]
    pub(crate) listing: PromptSettings,

    #[arg(skip)]
    pub(crate) limits: Limits,
}

impl TalkArgs {
    /// The MCP servers; `None` where none were named and no file is there.
    pub(crate) fn config(&self) -> Result<Option<Config>, Failure> {
        ServerArgs { listed_tools: self.listed.tools.clone(), ..self.servers.clone() }.load_if_any()
    }
}

impl EndpointArgs {
    /// The flags that have defaults.
    pub(crate) fn slots(&mut self) -> Slots<'_> {
        slots! { self => base_url model }
    }

    /// Where the model is, once the names of `config.toml` are resolved.
    ///
    /// # Errors
    /// A name that the file does not have; a key that cannot be had.
    pub(crate) fn place(&self) -> Result<Place, Failure> {
        let EndpointArgs { base_url, model, api_key, trust } = self.clone();
        settings::names()?.resolve(Place { called: None, url: base_url, model, key: api_key, trust: trust.trust() })
    }

    /// Takes the model that the flags name, and leaves its endpoint.
    ///
    /// # Errors
    /// As [`EndpointArgs::place`] has.
    pub(crate) fn take_model(&mut self) -> Result<Option<String>, Failure> {
        if self.model.is_none() {
            return Ok(None);
        }
        let place = self.place()?;
        (self.base_url, self.model) = (place.called.or(place.url), None);
        Ok(place.model)
    }

    /// Puts what the names of `config.toml` mean in their place, and the key that servers have for their endpoint.
    pub(crate) fn resolve(&mut self) -> Result<(), Failure> {
        let place = self.place()?;
        self.api_key = place.key_or("TOOLGRAFT_UPSTREAM_KEY");
        (self.base_url, self.model) = (place.url, place.model);
        Ok(())
    }

    /// Takes the key that servers have for their endpoint, where one was named and no other key.
    pub(crate) fn take_upstream_key(&mut self) -> Result<(), Failure> {
        self.api_key = self.place()?.key_or("TOOLGRAFT_UPSTREAM_KEY");
        Ok(())
    }
}

impl Args {
    /// The flags that have defaults.
    pub(crate) fn slots(&mut self) -> Slots<'_> {
        slots(&mut self.talk, &mut self.output)
    }
}

/// The flags that have defaults, of what is said and of how it is shown.
pub(super) fn slots<'a>(talk: &'a mut TalkArgs, output: &'a mut OutputArgs) -> Slots<'a> {
    slots! { output => reasoning_display call_display; ..talk.slots() }
}

impl TalkArgs {
    /// The flags that have defaults.
    pub(crate) fn slots(&mut self) -> Slots<'_> {
        slots! {
            self.endpoint => base_url model,
            self.model.offer => profile tools_mode constrain way call_threshold dialect,
            self.model => lang temperature carry_reasoning system reasoning fenced_calls stop round_model images,
            self.limits => max_rounds max_repeats max_same_results max_tokens context,
            self.calls => allow deny untrusted;
            ..self.listing.slots()
        }
    }
}

/// Where the model is.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Endpoint")]
pub(crate) struct EndpointArgs {
    /// OpenAI-compatible endpoint, or its name in config.toml
    ///
    /// Such as http://localhost:11434/v1; where only that lists models /v1 is added, with a warning.
    /// Without it: OPENAI_BASE_URL, else the one of config.toml, else LM Studio (port 1234),
    /// Ollama (11434) and llama.cpp (8080, 9931) on this machine; the models of all that run.
    /// A server that still loads its model is waited for.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// Model to ask, by its name or that of config.toml
    ///
    /// Without it, the only one that there is, or a choice of all.
    /// ENDPOINT:MODEL is a model of an endpoint that config.toml names (`toolgraft config --help`).
    #[arg(long, short, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,

    /// API key; better in OPENAI_API_KEY, since other users can see a command line
    ///
    /// The variable's key goes only to an endpoint that was named.
    #[arg(long, value_name = "KEY", hide_default_value = true, hide_short_help = true)]
    pub(crate) api_key: Option<String>,

    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// The same where a command is about the endpoint, so that its URL may stand alone.
#[derive(Debug, clap::Args)]
pub(crate) struct EndpointOrUrl {
    /// OpenAI-compatible endpoint, in place of --base-url
    #[arg(value_name = "URL", conflicts_with = "base_url")]
    url: Option<String>,

    #[command(flatten)]
    flags: EndpointArgs,
}

impl EndpointOrUrl {
    /// The flags, with the URL among them.
    pub(crate) fn flags(&self) -> EndpointArgs {
        let flags = self.flags.clone();
        EndpointArgs { base_url: self.url.clone().or(flags.base_url), ..flags }
    }
}

/// Which calls run.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Calls")]
pub(crate) struct CallArgs {
    /// Run calls of these tools without asking; a glob over SERVER.TOOL
    ///
    /// May be given several times, as --deny may. A tool that calls itself
    /// destructive is asked about all the same, unless it is named in full.
    #[arg(long, value_name = "GLOB")]
    pub(super) allow: Vec<String>,

    /// Never run calls of these tools, whatever else allows them
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    pub(super) deny: Vec<String>,

    /// Server whose words may be anybody's: once the model has read some, each call is asked about
    ///
    /// Words are its results, and its instructions and descriptions in the prompt.
    /// May be given several times. It holds for the rest of the conversation, also when it is gone on with, with --yes
    /// too; but not for tools of other servers that call themselves read-only, and for those that
    /// --allow names in full.
    #[arg(long, value_name = "SERVER", hide_short_help = true)]
    pub(crate) untrusted: Vec<String>,

    /// Run all calls without asking, those that may only be drafts or examples too
    #[arg(long)]
    pub(super) yes: bool,
}

/// What the model's profile decides, unless it is said here.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(super) offer: OfferArgs,

    /// Language of the prompt: en, zh [default: its profile's]
    #[arg(long, hide_short_help = true)]
    pub(crate) lang: Option<Lang>,

    #[arg(skip)]
    pub(super) reasoning: Option<ReasoningMode>,

    #[arg(skip)]
    pub(super) fenced_calls: Option<FencedCalls>,

    #[arg(skip)]
    pub(super) stop: Vec<String>,

    #[arg(skip)]
    pub(super) carry_reasoning: Option<CarryReasoning>,

    #[arg(skip)]
    pub(super) round_model: Option<String>,

    #[arg(skip)]
    pub(super) images: Option<Images>,

    #[arg(skip)]
    pub(super) temperature: Option<f64>,

    /// Your own system text, which comes first
    #[arg(long, value_name = "TEXT|@FILE", hide_short_help = true)]
    pub(super) system: Option<String>,
}

/// How much: keys of the table alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits {
    pub(super) max_rounds: Option<NonZeroU32>,
    pub(super) max_repeats: Option<u32>,
    pub(super) max_same_results: Option<u32>,
    pub(super) max_tokens: Option<NonZeroU32>,
    pub(super) context: Option<NonZeroUsize>,
}

/// What is written down, to see why.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Seeing why")]
pub(crate) struct FileArgs {
    /// Record the conversation; `toolgraft replay FILE` shows it
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) record: Option<PathBuf>,

    /// Write down requests and the bytes of the answers, without keys
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) trace: Option<PathBuf>,
}

/// What is shown.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    #[arg(skip)]
    pub(super) reasoning_display: Option<ReasoningDisplay>,

    #[arg(skip)]
    pub(super) call_display: Option<CallDisplay>,

    /// Show the answer, questions and warnings only
    #[arg(long, short, hide_short_help = true)]
    pub(super) quiet: bool,

    /// Have the answer match a JSON Schema; on a pipe, standard output is the JSON value
    ///
    /// The model is taught the schema and corrected with what does not match.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) schema: Option<PathBuf>,

    /// Print one JSON object per event instead, for scripts; takes one question
    #[arg(long, hide_short_help = true)]
    pub(super) json: bool,
}

/// What is kept.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Conversation")]
pub(crate) struct ConversationArgs {
    /// Go on with a saved conversation
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) resume: Option<PathBuf>,

    /// Go on with the latest conversation, or with that of an ID
    ///
    /// With its model and endpoint, unless others are named. `toolgraft log`
    /// lists what was kept.
    #[arg(
        long = "continue", short = 'c', value_name = "ID", num_args = 0..=1, require_equals = true,
        default_missing_value = "", conflicts_with = "resume"
    )]
    pub(super) continued: Option<String>,

    /// Do not keep this conversation (`toolgraft log --help` says how others are)
    #[arg(long, hide_short_help = true)]
    pub(super) no_session: bool,

    /// Save the conversation after every answer
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) save: Option<PathBuf>,
}
