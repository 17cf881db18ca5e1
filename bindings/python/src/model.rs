//! A model that is implemented in Python.

use futures::stream::{self, BoxStream, StreamExt};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use toolgraft::Model;
use toolgraft::message::{Delta, FinishReason};
use toolgraft::model::{ModelError, ModelEvent, Request};

use crate::bridge;
use crate::value;

/// A model that calls Python's coroutine function `model` with messages and a callback for the pieces of its answer.
pub(crate) struct PythonModel;

/// An output of the Python function `model`: a piece of its answer, or its end.
enum Came {
    Piece(ModelEvent),
    Over(PyResult<()>),
}

/// The callback with which a model in Python passes on the pieces of its answer. Its arguments are a kind (`text`,
/// `reasoning` or `finish`) and a text, which for `finish` is the finish reason.
#[pyclass(frozen, module = "toolgraft")]
pub(crate) struct Emit(UnboundedSender<Came>);

#[pymethods]
impl Emit {
    fn __call__(&self, kind: &str, text: &str) -> PyResult<()> {
        let piece = match kind {
            "text" => ModelEvent::Delta(Delta::content(text)),
            "reasoning" => ModelEvent::Delta(Delta::reasoning(text)),
            "finish" => ModelEvent::Finish(FinishReason::from(text)),
            _ => {
                let message = format!("a piece of an answer is text, reasoning or finish, not {kind:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        // If the rest of the answer is not needed, nobody receives it.
        let _ = self.0.send(Came::Piece(piece));
        Ok(())
    }
}

impl Model for PythonModel {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let answer = async move {
            let (tell, told) = unbounded_channel();
            let over = tell.clone();
            let begun = Python::attach(|py| {
                let messages: Value = request.messages.iter().map(|message| message.chat(false)).collect();
                let messages = value::to_python(py, &messages)?.unbind();
                Ok((messages, Py::new(py, Emit(tell))?))
            });
            let begun = begun.and_then(|arguments| {
                bridge::start("model", arguments, move |end| drop(over.send(Came::Over(end.map(drop)))))
            });
            let running = match begun {
                Ok(running) => running,
                Err(error) => return stream::iter([Err(ModelError::caused(error))]).boxed(),
            };
            // The end of the coroutine ends the answer, unless it has reported a finish reason.
            stream::unfold((told, Some(running), false), |(mut told, running, finished)| async move {
                // A piece after the end of the coroutine does not count.
                running.as_ref()?;
                match told.recv().await? {
                    Came::Piece(piece) => {
                        let finished = finished || matches!(piece, ModelEvent::Finish(_));
                        Some((Some(Ok(piece)), (told, running, finished)))
                    }
                    Came::Over(Err(error)) => Some((Some(Err(ModelError::caused(error))), (told, None, true))),
                    Came::Over(Ok(())) => {
                        let end = (!finished).then_some(Ok(ModelEvent::Finish(FinishReason::Stop)));
                        Some((end, (told, None, true)))
                    }
                }
            })
            .filter_map(std::future::ready)
            .boxed()
        };
        stream::once(answer).flatten().boxed()
    }
}
