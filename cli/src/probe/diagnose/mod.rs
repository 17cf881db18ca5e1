//! `toolgraft probe --diagnose`: what an endpoint and its model take, and what goes round their faults.
//!
//! In: an endpoint and a model. Out: what it says of itself, what came of a call asked for in the
//! request and by the prompt, the known fault that its words tell, and what to do. The tool is made
//! up: nothing is run.

mod report;
mod trial;

use crate::base::{Failure, output};
use crate::chat::Endpoint;
use crate::servers::app::App;
use crate::settings::saved_profiles;
use report::Diagnosis;
use toolgraft::dialect::Profile;
use trial::DiagnosisTrials;

/// Runs `toolgraft probe --diagnose`.
pub(super) fn run(endpoint: &Endpoint, app: &App, profile: &'static Profile, as_json: bool) -> Result<(), Failure> {
    let saved = saved_profiles::find(Some(&endpoint.url), &endpoint.model)?;
    let client = endpoint.client();
    let trials = app.wait(async { Ok(DiagnosisTrials::run(&client, profile).await) })?;
    let report = Diagnosis::new(endpoint, (profile, saved.as_ref()), trials, client.does_without());
    match as_json {
        true => output::emit_json(&report)?,
        false => output::emit(&report.text())?,
    }
    report.fault().map_or(Ok(()), |fault| Err(Failure::job(fault)))
}
