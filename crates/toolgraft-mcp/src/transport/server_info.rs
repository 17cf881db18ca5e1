//! The information in a server's first answer, or in its refusal.
//!
//! Only the protocol version is required: a fault in another member, for which rmcp refuses the server, does not fail
//! the handshake.

use rmcp::model::{
    ErrorCode, ErrorData, Implementation, InitializeResult, ProtocolVersion, ServerCapabilities, ServerPeerInfo,
};
use serde_json::Value;

use super::scan::{one_line, value};

/// Reads the result of `initialize`. Only the protocol version is required, so that a server is not refused for its
/// name.
pub(crate) fn initialize_result(text: &str) -> Result<InitializeResult, String> {
    let said = value(text)?;
    let version = said.get("protocolVersion").and_then(version_of);
    let version = version.ok_or_else(|| format!("it names no \"protocolVersion\": {}", one_line(text)))?;
    let mut result = InitializeResult::new(capabilities(&said)).with_protocol_version(version);
    result.server_info = said.get("serverInfo").map(implementation).unwrap_or_else(|| Implementation::new("", ""));
    result.instructions = said.get("instructions").and_then(Value::as_str).map(str::to_owned);
    Ok(result)
}

/// Converts the result of `initialize` into rmcp's form of a server's information.
pub(crate) fn peer_info(result: InitializeResult) -> ServerPeerInfo {
    let mut info: ServerPeerInfo = result.into();
    info.server_info = info.server_info.filter(|server| !server.name.is_empty() || !server.version.is_empty());
    info
}

/// Reads the result of `server/discover`. An `Err` has the reason, and the versions that the server supports if ours is
/// not one of them.
pub(crate) fn discovered(text: &str) -> Result<ServerPeerInfo, (String, Vec<ProtocolVersion>)> {
    const IDENTITY: &str = "io.modelcontextprotocol/serverInfo";
    let said = value(text).map_err(|why| (why, Vec::new()))?;
    let supported = said.get("supportedVersions").and_then(Value::as_array);
    let none = || (format!("it names no \"supportedVersions\": {}", one_line(text)), Vec::new());
    let supported = supported.ok_or_else(none)?;
    let supported: Vec<_> = supported.iter().filter_map(version_of).collect();
    if !supported.contains(&ProtocolVersion::V_2026_07_28) {
        return Err(("the server does not support 2026-07-28".to_owned(), supported));
    }
    let mut info = ServerPeerInfo::new(ProtocolVersion::V_2026_07_28, capabilities(&said));
    let identity = said.get("_meta").and_then(|meta| meta.get(IDENTITY));
    info.server_info = identity.or(said.get("serverInfo")).map(implementation);
    info.instructions = said.get("instructions").and_then(Value::as_str).map(str::to_owned);
    Ok(info)
}

fn version_of(value: &Value) -> Option<ProtocolVersion> {
    serde_json::from_value(value.clone()).ok()
}

/// Returns the protocol versions that a server names when it refuses ours (error -32022); empty for another error.
pub(crate) fn supported_versions(error: &ErrorData) -> Vec<ProtocolVersion> {
    let data = error.data.as_ref().filter(|_| error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION);
    let named = data.and_then(|data| data.get("supported").or(data.get("supportedVersions"))).and_then(Value::as_array);
    named.into_iter().flatten().filter_map(version_of).collect()
}

/// Reads the server's name and version from its `serverInfo`; one that is missing is empty.
fn implementation(said: &Value) -> Implementation {
    let field = |name: &str| match said.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    Implementation::new(field("name"), field("version"))
}

/// Reads the server's capabilities from a result of the handshake, without the malformed ones.
fn capabilities(said: &Value) -> ServerCapabilities {
    let Some(Value::Object(can)) = said.get("capabilities") else { return ServerCapabilities::default() };
    if let Ok(can) = serde_json::from_value(Value::Object(can.clone())) {
        return can;
    }
    let is_read = |name: &String, value: &Value| {
        let one = Value::Object([(name.clone(), value.clone())].into_iter().collect());
        serde_json::from_value::<ServerCapabilities>(one).is_ok()
    };
    let read =
        can.iter().filter(|(name, value)| is_read(name, value)).map(|(name, value)| (name.clone(), value.clone()));
    serde_json::from_value(Value::Object(read.collect())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_need_not_say_what_it_is() {
        let said = |info: &str| {
            let text =
                format!(r#"{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}},"prompts":true}}{info}}}"#);
            let result = initialize_result(&text).unwrap();
            assert!(result.capabilities.tools.is_some() && result.capabilities.prompts.is_none());
            assert_eq!(result.protocol_version, ProtocolVersion::V_2025_06_18);
            peer_info(result).server_info.map(|info| (info.name, info.version))
        };
        let named = |name: &str, version: &str| Some((name.to_owned(), version.to_owned()));
        assert_eq!(said(r#","serverInfo":{"name":"n"}"#), named("n", ""));
        assert_eq!(said(r#","serverInfo":{"name":"\ud83d","version":1.5}"#), named("\u{fffd}", "1.5"));
        assert_eq!(said(r#","serverInfo":{"version":null}"#), None);
        assert_eq!((said(r#","serverInfo":null"#), said("")), (None, None));
        for text in ["null", "{}", "\"text\"", r#"{"protocolVersion":5}"#, r#"{"protocolVersion":NaN}"#] {
            assert!(initialize_result(text).is_err(), "{text}");
        }
        let modern =
            r#"{"supportedVersions":["2026-07-28"],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m"}}}"#;
        let info = discovered(modern).unwrap().server_info.unwrap();
        assert_eq!((info.name.as_str(), info.version.as_str()), ("m", ""));
    }
}
