//! One server, used by another program through this one.

use std::ffi::OsString;
use std::sync::Arc;

use futures::Stream;
use rmcp::transport::Transport;
use tokio::io::AsyncWrite;

use crate::config::{ServerConfig, TransportConfig};
use crate::transport::log::{Log, LogLine};
use crate::transport::stdio::{self, Program};
use crate::transport::wire::{Tap, Wire};

/// Starts a server and hands on what goes between it and a client; says how it ended where it did
/// so while the client was there, and what it wrote that is no MCP.
pub(crate) async fn relayed(
    config: &ServerConfig,
    environment: &[(OsString, OsString)],
    wire: Option<Wire>,
    (lines, out): (impl Stream<Item = String> + Unpin, impl AsyncWrite + Unpin),
    errors: impl Fn(&LogLine) + Send + Sync + 'static,
) -> Result<(), String> {
    let program = match &config.transport {
        Ok(TransportConfig::Stdio { command, args, env, cwd }) => Program { command, args, env, cwd: cwd.as_deref() },
        Ok(TransportConfig::Http { .. }) => {
            return Err("is reached over HTTP; only one over stdio can stand behind another program".to_owned());
        }
        Err(problem) => return Err(format!("cannot be started: {problem}")),
    };
    let secrets = config.hidden().in_errors;
    let log = Arc::new(Log::new(secrets.clone()).shown(errors));
    let wire = wire.unwrap_or_else(|| Wire::new(|_| {}));
    let tap = Tap { wire, server: config.name.clone(), secrets: secrets.clone() };
    let hidden = |why: String| secrets.hide(&why).into_owned();
    let (mut transport, state) = stdio::spawn(program, environment, &log).map_err(hidden)?;
    let is_waited_for = stdio::carry((&mut transport, &state), &tap, lines, out).await;
    let _ = transport.close().await;
    match is_waited_for {
        true => Err(hidden(format!("has ended{}", state.last_words().await))),
        false => state.noise.after(0).map_or(Ok(()), |noise| Err(hidden(format!("does not keep to MCP: {noise}")))),
    }
}
