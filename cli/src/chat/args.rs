//! The flags of `toolgraft chat`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;

use crate::base::Failure;
use crate::servers::ListedArgs;
use crate::settings::{self, Place, Reader, Settings, offer_args::OfferArgs, set_args::SetArgs, trust_args::TrustArgs};
use toolgraft::conversation::User;
use toolgraft::dialect::Lang;
use toolgraft_mcp::Config;

/// Options of `toolgraft chat`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("../help/chat.txt").trim_end())]
pub(crate) struct ChatArgs {
    /// One question, in one word or several; without it, a conversation
    ///
    /// With --template: values of its names, NAME=VALUE; @FILE reads one from a file.
    pub(super) question: Vec<String>,

    /// Ask the question of a template, with its model, servers and tools
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

/// The endpoint, the servers and the settings of a conversation.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TalkArgs {
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,

    #[command(flatten)]
    pub(crate) listed: ListedArgs,

    #[command(flatten)]
    pub(crate) calls: CallArgs,

    #[command(flatten)]
    pub(crate) model: ModelArgs,

    #[command(flatten)]
    pub(crate) set: SetArgs,

    /// The settings of the options and of all sources, from [`TalkArgs::take_options`] on.
    #[arg(skip)]
    pub(crate) settings: Settings,
}

impl TalkArgs {
    /// Returns the configuration of MCP servers; empty if no file was named and none exists.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        Ok(self.listed.servers().load_if_any()?.unwrap_or_default())
    }

    /// Stores the settings of the options and of `--set` in `settings`.
    ///
    /// # Errors
    /// `--set` has a key that none of these readers uses.
    pub(crate) fn take_options(&mut self, readers: &[Reader]) -> Result<(), Failure> {
        let (EndpointArgs { base_url, model, .. }, ModelArgs { offer, lang, system }) = (&self.endpoint, &self.model);
        let CallArgs { allow, deny, untrusted, .. } = self.calls.clone();
        let (base_url, model, system) = (base_url.clone(), model.clone(), system.clone());
        let (profile, lang) = (offer.profile, *lang);
        let options =
            Settings { base_url, model, profile, lang, system, allow, deny, untrusted, ..Settings::default() };
        self.settings = self.set.under(options, readers)?;
        Ok(())
    }
}

impl EndpointArgs {
    /// Returns the endpoint, model and API key of the options or else the settings, with the names of `config.toml`
    /// resolved.
    ///
    /// # Errors
    /// The file does not define a name; an API key or certificates cannot be read.
    pub(crate) fn place(&self, settings: &Settings) -> Result<Place, Failure> {
        let EndpointArgs { base_url, model, api_key: key, trust } = self.clone();
        let (url, model) = (base_url.or(settings.base_url.clone()), model.or(settings.model.clone()));
        settings::file()?.names.resolve(Place { called: None, url, model, key, trust: trust.read()? })
    }
}

/// The endpoint, the model and the key.
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
    /// Returns the endpoint options, with the URL argument in place of `--base-url`.
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

    /// Treat this server's output as untrusted: once the model has read some, each call is asked about
    ///
    /// Output is its results, and its instructions and descriptions in the prompt.
    /// May be given several times. It holds for the rest of the conversation, also when it is
    /// continued, with --yes too; but not for tools of other servers that call themselves
    /// read-only, and for those that --allow names in full.
    #[arg(long, value_name = "SERVER", hide_short_help = true)]
    pub(crate) untrusted: Vec<String>,

    /// Run all calls without asking, those that may only be drafts or examples too
    #[arg(long)]
    pub(super) yes: bool,
}

/// Overrides of the model's profile.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub(super) offer: OfferArgs,

    /// Language of the prompt: en, zh [default: its profile's]
    #[arg(long, hide_short_help = true)]
    pub(crate) lang: Option<Lang>,

    /// Your own system text, which comes first
    #[arg(long, value_name = "TEXT|@FILE", hide_short_help = true)]
    pub(super) system: Option<String>,
}

/// Files for diagnosis.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Seeing why")]
pub(crate) struct FileArgs {
    /// Record the conversation; `toolgraft replay FILE` shows it
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) record: Option<PathBuf>,

    /// Trace requests and the bytes of the answers to a file, without keys
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) trace: Option<PathBuf>,
}

/// The form of the output.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
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

/// The conversation to continue, and if it is kept.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Conversation")]
pub(crate) struct ConversationArgs {
    /// Continue a saved conversation
    ///
    /// With its model, if its endpoint is the one that is asked anyway: the file may be somebody else's.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) resume: Option<PathBuf>,

    /// Continue the latest conversation, or the one with this ID
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
}
