//! A request over HTTP, and how its answer is handed to rmcp.

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorData, JsonRpcMessage, ListToolsResult, MetaObject,
    RequestId, ServerResult,
};
use serde_json::{Map, Value};

use super::Message;
use crate::route::mcp::answer::{self, IN_HEADER, TEXT};
use crate::route::mcp::message::UNREADABLE;
use crate::route::mcp::scan::{self, Huge};
use crate::route::mcp::shake::initialize_result;

/// What was asked, and is to be answered.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) id: RequestId,
    pub(super) what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Initialize,
    Discover,
    Tools,
    Other,
}

impl Asked {
    /// `None` for a message that has no answer.
    pub(super) fn of(message: &ClientJsonRpcMessage) -> Option<Self> {
        let JsonRpcMessage::Request(request) = message else { return None };
        let what = match &request.request {
            ClientRequest::InitializeRequest(_) => What::Initialize,
            ClientRequest::DiscoverRequest(_) => What::Discover,
            ClientRequest::ListToolsRequest(_) => What::Tools,
            _ => What::Other,
        };
        Some(Asked { id: request.id.clone(), what })
    }

    /// A message as rmcp needs it. It looks for itself into the answer to `initialize`,
    /// for the version that it names in headers from then on, and into lists of tools, for
    /// arguments that are to be in headers too.
    pub(super) fn fitted(&self, mut message: Message) -> Message {
        if let JsonRpcMessage::Response(response) = &mut message
            && let ServerResult::CustomResult(CustomResult(Value::String(text))) = &mut response.result
        {
            match self.what {
                What::Initialize => {
                    if let Ok(result) = initialize_result(text) {
                        response.result = ServerResult::InitializeResult(result);
                    }
                }
                What::Tools if text.contains(IN_HEADER) => {
                    response.result = ServerResult::ListToolsResult(annotated(std::mem::take(text)));
                }
                _ => {}
            }
        }
        message
    }

    /// An answer to nobody is the answer to this request: it is in this request's body.
    pub(super) fn claimed(&self, mut message: Message) -> Message {
        if let JsonRpcMessage::Error(error) = &mut message {
            error.id.get_or_insert_with(|| self.id.clone());
        }
        message
    }

    pub(super) fn is_answered_by(&self, message: &Message) -> bool {
        match message {
            JsonRpcMessage::Response(response) => response.id == self.id,
            JsonRpcMessage::Error(error) => error.id.as_ref() == Some(&self.id),
            _ => false,
        }
    }

    /// The error that stands for its answer.
    pub(super) fn failed(&self, what: &str) -> Message {
        let error = ErrorData::new(UNREADABLE, format!("it sent {what}"), None);
        JsonRpcMessage::error(error, Some(self.id.clone()))
    }
}

/// The tools of a list whose annotations rmcp can read, with the list's text beside them.
fn annotated(text: String) -> ListToolsResult {
    let tools = scan::parts(&text).and_then(|parts| scan::parts(parts.get("tools")?)).map(|tools| tools.all);
    let annotated = tools.iter().flatten().filter(|(_, tool)| tool.contains(IN_HEADER));
    let tool = |tool: &str| serde_json::from_value(answer::value(tool, Huge::Stay).ok()?).ok();
    let mut list = ListToolsResult::with_all_items(annotated.filter_map(|(_, text)| tool(text)).collect());
    list.meta = Some(MetaObject(Map::from_iter([(TEXT.to_owned(), Value::String(text))])));
    list
}
