//! `toolgraft doctor`: what an endpoint and its model take, and what goes round their faults.
//!
//! In: an endpoint and a model. Out: what it says of itself, what came of a call asked for in the
//! request and by the prompt, the known fault that its words tell, and what to do. The tool is made
//! up: nothing is run.

mod report;
mod trial;

use crate::base::{Failure, output};
use crate::chat::{Endpoint, EndpointOrUrl};
use crate::dialog::ask::Asker;
use crate::servers::runner::Runner;
use crate::settings::{self, profiles::known_profile, saved_profiles, slots};
use report::Report;
use toolgraft::dialect::Profile;
use trial::Trials;

/// Options of `toolgraft doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/doctor.txt").trim_end())]
pub(crate) struct Args {
    #[command(flatten)]
    endpoint: EndpointOrUrl,

    /// Profile to take instead of the one for the model's name
    #[arg(long, value_name = "NAME", value_parser = known_profile)]
    profile: Option<&'static Profile>,

    /// Print one JSON object: what the endpoint says, the trials, faults, what was learned, advice
    #[arg(long)]
    json: bool,
}

/// Runs `toolgraft doctor`.
pub(crate) fn run(mut args: Args) -> Result<(), Failure> {
    let mut endpoint = args.endpoint.flags();
    endpoint.trust.hold()?;
    settings::defaults()?.fill(slots! { args => profile; ..endpoint.slots() });
    let asker = Asker::at_terminal();
    let runner = Runner::start()?;
    let endpoint = runner.wait(Endpoint::choose(&endpoint, asker.as_ref()))?;
    let profile = args.profile.unwrap_or_else(|| Profile::for_model(endpoint.model()));
    let saved = saved_profiles::find(Some(endpoint.url()), endpoint.model())?;
    let client = endpoint.client();
    let (info, trials) = runner.wait(async {
        let info = client.model_info().await.unwrap_or_default();
        Ok((info, Trials::run(&client, profile).await))
    })?;
    let report = Report::new(&endpoint, (profile, saved.as_ref()), info, trials, client.does_without());
    match args.json {
        true => output::emit_json(&report)?,
        false => output::emit(&report.text())?,
    }
    if report.works() {
        Ok(())
    } else {
        Err(Failure::job("no call came, neither from the request's tools nor by the prompt"))
    }
}
