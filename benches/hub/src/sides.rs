//! The two sides that are compared: toolgraft's hub, and rmcp alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, ContentBlock, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use toolgraft_mcp::{Hub, Config, MAX_CALLS, ServerConfig};
use toolgraft::route::{Invocation, Toolbox};

use crate::Failure;
use crate::server::{ARGUMENT, TOOL};

/// The text that each call carries there and back.
const TEXT: &str = "What does it cost to ask somebody to ask?";

/// A version of the protocol, and how rmcp is told to begin with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Initialize,
    Discover,
}

impl Era {
    pub(crate) fn version(self) -> ProtocolVersion {
        match self {
            Era::Initialize => ProtocolVersion::V_2025_11_25,
            Era::Discover => ProtocolVersion::V_2026_07_28,
        }
    }

    pub(crate) fn parse(version: &str) -> Result<Self, Failure> {
        let eras = [Era::Initialize, Era::Discover];
        let found = eras.into_iter().find(|era| era.version().as_str() == version);
        found.ok_or_else(|| format!("no such version: {version:?}").into())
    }

    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Era::Initialize => ClientLifecycleMode::Initialize,
            Era::Discover => ClientLifecycleMode::Discover { preferred_versions: vec![self.version()] },
        }
    }
}

/// Program and arguments of an echo server.
fn program(era: Era, delay: Duration) -> Result<(String, [String; 3]), Failure> {
    let me = std::env::current_exe()?.into_os_string().into_string().map_err(|_| "its path is no UTF-8")?;
    Ok((me, ["serve".to_owned(), era.version().to_string(), delay.as_millis().to_string()]))
}

/// A hub whose servers need these times to start; fails unless all are there.
pub(crate) async fn hub(era: Era, delays: &[Duration]) -> Result<Hub, Failure> {
    let servers = delays.iter().enumerate().map(|(index, delay)| {
        let (command, args) = program(era, *delay)?;
        Ok(ServerConfig::stdio(format!("echo-{index}"), command, args))
    });
    let config: Config = servers.collect::<Result<Vec<_>, Failure>>()?.into_iter().collect();
    Ok(Hub::builder().config(config).inherit_env().require_all().connect().await?)
}

/// A connection that calls can be sent over.
#[derive(Clone)]
pub(crate) enum Side {
    Hub(Arc<Hub>),
    /// With the calls that may be under way at once.
    Bare(Arc<RunningService<RoleClient, ()>>, Arc<Semaphore>),
}

impl Side {
    pub(crate) async fn hub(era: Era) -> Result<Self, Failure> {
        Ok(Side::Hub(Arc::new(hub(era, &[Duration::ZERO]).await?)))
    }

    pub(crate) async fn bare(era: Era) -> Result<Self, Failure> {
        let (program, args) = program(era, Duration::ZERO)?;
        let mut command = Command::new(program);
        command.args(args);
        let service = ().serve_with_lifecycle(TokioChildProcess::new(command)?, era.lifecycle()).await?;
        Ok(Side::Bare(Arc::new(service), Arc::new(Semaphore::new(Semaphore::MAX_PERMITS))))
    }

    /// The same connection, held to as many calls at once as the hub.
    pub(crate) fn held(&self) -> Self {
        match self {
            Side::Hub(hub) => Side::Hub(hub.clone()),
            Side::Bare(service, _) => Side::Bare(service.clone(), Arc::new(Semaphore::new(MAX_CALLS.get()))),
        }
    }

    /// One call; whether the text came back.
    async fn call(&self) -> bool {
        let arguments = Map::from_iter([(ARGUMENT.to_owned(), Value::from(TEXT))]);
        match self {
            Side::Hub(hub) => {
                let call = Invocation::new(TOOL).with_server("echo-0").with_arguments(arguments);
                hub.call(call).await.text == TEXT
            }
            Side::Bare(service, permits) => {
                let _permit = permits.acquire().await;
                let answer = service.call_tool(CallToolRequestParams::new(TOOL).with_arguments(arguments)).await;
                let content = answer.map(|answer| answer.content).unwrap_or_default();
                matches!(content.as_slice(), [ContentBlock::Text(text)] if text.text == TEXT)
            }
        }
    }

    /// The time of each of so many calls, one after another.
    pub(crate) async fn times(&self, calls: usize) -> Result<Vec<Duration>, Failure> {
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let started = Instant::now();
            let came_back = self.call().await;
            times.push(started.elapsed());
            if !came_back {
                return Err("a call has another result".into());
            }
        }
        Ok(times)
    }

    /// The time of so many calls at once, each a task of its own.
    pub(crate) async fn at_once(&self, calls: usize) -> Result<Duration, Failure> {
        let started = Instant::now();
        let mut running = JoinSet::new();
        for _ in 0..calls {
            let side = self.clone();
            running.spawn(async move { side.call().await });
        }
        let came_back = running.join_all().await;
        let took = started.elapsed();
        if came_back.contains(&false) { Err("a call has another result".into()) } else { Ok(took) }
    }

    pub(crate) async fn close(self) {
        match self {
            Side::Hub(hub) => hub.shutdown().await,
            // Dropped as the last of its clones, it ends its child.
            Side::Bare(service, _) => drop(service),
        }
    }
}
