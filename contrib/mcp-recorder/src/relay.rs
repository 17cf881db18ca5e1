//! A server that another program uses through this one: what either side writes goes on as it came.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, stdout};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;
use toolgraft::secrets::Secrets;
use toolgraft_mcp::{Config, ProcessMark, ServerConfig, TransportConfig, WireMessage, is_inherited};

use crate::wire::Wire;
use crate::{Failure, clean, failed};

/// The time that the server has to end after its standard input was closed, and again after TERM.
const GRACE: Duration = Duration::from_secs(2);

/// The variable that marks the server and all that it starts.
const MARK: &str = "MCP_RECORDER_SERVER";

/// Carries lines from the client to the only server of this configuration, and the server's output back, until
/// one of them has ended. Both are shown to `wire`.
pub(crate) async fn carry(config: &Config, mut lines: Receiver<String>, wire: &Wire) -> Result<(), Failure> {
    let [server] = config.servers() else { return Err(Failure::Usage("name one server".into())) };
    let tap = Tap { server, secrets: config.secrets(), wire };
    let mark = ProcessMark::new(MARK);
    let mut child = spawn(server, &mark)?;
    let (Some(mut stdin), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(failed("its pipes could not be opened"));
    };
    let errors = tokio::spawn(show_errors(errors, tap.secrets.clone()));
    let has_client = AtomicBool::new(true);
    let to_server = async {
        while let Some(line) = lines.recv().await {
            tap.message("client", &line);
            // A server that has gone is known by the end of its output.
            let _ = send(&mut stdin, &line).await;
        }
        has_client.store(false, Relaxed);
        drop(stdin);
        std::future::pending::<()>().await;
    };
    let mut noise = None;
    // Side by side: a client may write on while it does not read.
    tokio::select! {
        () = to_server => {}
        heard = to_client(output, &tap) => noise = heard,
    }
    let status = end(&mut child, &mark).await;
    let _ = timeout(GRACE, errors).await;
    let noise = noise.map(|line| format!("it wrote to stdout what is no MCP; the last was {line:?}"));
    let ended = has_client.into_inner().then(|| format!("it has ended{status}"));
    match ended.into_iter().chain(noise).collect::<Vec<_>>().join("; ") {
        why if why.is_empty() => Ok(()),
        why => Err(Failure::Failed(tap.secrets.hide(&format!("server {:?}: {why}", server.name)).into_owned())),
    }
}

/// Starts the program of a server with the variables that each server gets, and its own.
fn spawn(server: &ServerConfig, mark: &ProcessMark) -> Result<Child, Failure> {
    let Ok(TransportConfig::Stdio { command, args, env, cwd, .. }) = &server.transport else {
        return Err(Failure::Failed(format!(
            "server {:?} is reached over HTTP; only a server over stdio can be relayed",
            server.name
        )));
    };
    let mut process = Command::new(command);
    process.args(args).env_clear().envs(std::env::vars_os().filter(|(name, value)| is_inherited(name, value)));
    process.envs(env).env(MARK, mark.value()).kill_on_drop(true);
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(cwd) = cwd {
        process.current_dir(cwd);
    }
    process.spawn().map_err(|error| Failure::Failed(format!("server {:?} cannot be started: {error}", server.name)))
}

async fn send(stdin: &mut ChildStdin, line: &str) -> std::io::Result<()> {
    stdin.write_all(format!("{line}\n").as_bytes()).await?;
    stdin.flush().await
}

/// Hands on the bytes of the server until it has written all that it will, or the client reads no more. Returns
/// the last line that was no message.
async fn to_client(mut output: ChildStdout, tap: &Tap<'_>) -> Option<String> {
    let (mut chunk, mut begun, mut noise) = (vec![0; 64 * 1024], Vec::new(), None);
    let mut out = stdout();
    let mut told = |line: &[u8]| {
        let line = String::from_utf8_lossy(line).trim().to_owned();
        if !line.is_empty() && !tap.message("server", &line) {
            noise = Some(line);
        }
    };
    while let Ok(read @ 1..) = output.read(&mut chunk).await {
        // Shown first: what was read is known, whatever becomes of the client.
        begun.extend_from_slice(&chunk[..read]);
        while let Some(end) = begun.iter().position(|byte| *byte == b'\n') {
            told(&begun.drain(..=end).collect::<Vec<u8>>());
        }
        if out.write_all(&chunk[..read]).await.is_err() || out.flush().await.is_err() {
            return noise;
        }
    }
    told(&begun);
    noise
}

/// Shows the lines of standard error without secrets.
async fn show_errors(errors: ChildStderr, secrets: Secrets) {
    let mut lines = BufReader::new(errors).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        eprintln!("{}", clean(secrets.hide(&String::from_utf8_lossy(&line)).trim_end()));
    }
}

/// Ends the server and all that it has started; how it ended.
async fn end(child: &mut Child, mark: &ProcessMark) -> String {
    let status = timeout(GRACE, child.wait()).await.ok().and_then(Result::ok);
    mark.end(GRACE).await;
    // One that has ended is killed in vain.
    let _ = child.start_kill();
    status.map(|status| format!(" ({status})")).unwrap_or_default()
}

/// Who is told of the messages that pass.
struct Tap<'a> {
    server: &'a ServerConfig,
    secrets: Secrets,
    wire: &'a Wire,
}

impl Tap<'_> {
    /// Tells of a message without secrets; `false` for a text that is not JSON.
    fn message(&self, from: &str, text: &str) -> bool {
        let hidden = self.secrets.hide(text);
        let message = self.made(from, &hidden).or_else(|| {
            // A secret may be more than the text of a string: a whole object, or a number.
            let mut value: Value = serde_json::from_str(text).ok()?;
            self.secrets.hide_in(&mut value);
            self.made(from, &value.to_string())
        });
        message.inspect(|message| self.wire.pass(message)).is_some()
    }

    fn made(&self, from: &str, message: &str) -> Option<WireMessage> {
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        let server = Value::from(self.server.name.as_str());
        serde_json::from_str(&format!(r#"{{"at_ms":{at},"server":{server},"from":"{from}","message":{message}}}"#)).ok()
    }
}
