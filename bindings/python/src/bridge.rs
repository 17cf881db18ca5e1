//! Between tokio and asyncio: work of this library that Python awaits, and coroutines of Python
//! that this library awaits. Either ends the other when it is dropped.
//!
//! The Python half is `_bridge.py`. An own bridge, since in that of pyo3-async-runtimes a
//! coroutine runs on where the future that awaits it is dropped.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::task::futures::TaskLocalFuture;

/// The threads that all work runs on, of the process with this identifier: a forked one has none.
static RUNTIME: Mutex<Option<(u32, Arc<Runtime>)>> = Mutex::new(None);

tokio::task_local! {
    /// The event loop that coroutines of the work at hand run on: a Python function of a coroutine
    /// function's name, its arguments and what is called with its end, that gives what cancels it.
    /// The functions themselves are Python's alone, so that its collector sees all that holds them.
    static LOOP: Arc<Py<PyAny>>;
}

fn runtime() -> PyResult<Arc<Runtime>> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((of, runtime)) = &*runtime
        && *of == process
    {
        return Ok(Arc::clone(runtime));
    }
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().thread_name("toolgraft").build();
    let built = Arc::new(built.map_err(|error| PyRuntimeError::new_err(error.to_string()))?);
    // Its threads are not here, and would be waited for.
    std::mem::forget(runtime.replace((process, Arc::clone(&built))));
    Ok(built)
}

/// Work that goes on beside Python's threads.
#[pyclass(frozen, module = "toolgraft")]
pub(crate) struct Work(AbortHandle);

#[pymethods]
impl Work {
    /// Ends it, unless it is over.
    fn cancel(&self) {
        self.0.abort();
    }
}

/// Work whose coroutines run on this loop.
pub(crate) fn on<W: Future>(on: &Arc<Py<PyAny>>, work: W) -> TaskLocalFuture<Arc<Py<PyAny>>, W> {
    LOOP.scope(Arc::clone(on), work)
}

/// Begins work, at whose end `done` is called with an exception or `None`, and what came of it.
pub(crate) fn begin(
    done: Py<PyAny>,
    work: impl Future<Output = PyResult<Py<PyAny>>> + Send + 'static,
) -> PyResult<Work> {
    let task = runtime()?.spawn(async move {
        let over = work.await;
        // Without an interpreter nobody waits.
        Python::try_attach(|py| {
            let (error, value) = match over {
                Ok(value) => (py.None(), value),
                Err(error) => (error.into_value(py).into_any(), py.None()),
            };
            if let Err(error) = done.call1(py, (error, value)) {
                error.write_unraisable(py, None);
            }
        });
    });
    Ok(Work(task.abort_handle()))
}

/// Drops on a thread that may do so for as long as it takes.
pub(crate) fn discard(value: impl Send + 'static) {
    if let Ok(runtime) = runtime() {
        runtime.spawn(async move { drop(value) });
    }
}

type Over = Box<dyn FnOnce(PyResult<Py<PyAny>>) + Send>;

/// What is called with an exception or `None`, and a value, once a coroutine is over.
#[pyclass(frozen, module = "toolgraft")]
pub(crate) struct Settle(Mutex<Option<Over>>);

#[pymethods]
impl Settle {
    fn __call__(&self, error: Option<Bound<'_, PyAny>>, value: Py<PyAny>) {
        let over = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(over) = over {
            over(error.map_or(Ok(value), |error| Err(PyErr::from_value(error))));
        }
    }
}

/// A coroutine on its way. It is cancelled where this is dropped before its end.
pub(crate) struct Running(Py<PyAny>);

impl Drop for Running {
    fn drop(&mut self) {
        Python::try_attach(|py| {
            if let Err(error) = self.0.call0(py) {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// Runs the coroutine function of this name on the loop of the work at hand.
pub(crate) fn start<A>(
    function: &str,
    arguments: A,
    over: impl FnOnce(PyResult<Py<PyAny>>) + Send + 'static,
) -> PyResult<Running>
where
    A: for<'py> IntoPyObject<'py, Target = PyTuple>,
{
    let on = LOOP.try_with(Arc::clone).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Python::attach(|py| {
        let settle = Bound::new(py, Settle(Mutex::new(Some(Box::new(over)))))?;
        let arguments = arguments.into_bound_py_any(py)?;
        Ok(Running(on.call1(py, (function, arguments, settle))?))
    })
}

/// What the coroutine function of this name gives.
pub(crate) async fn call<A>(function: &str, arguments: A) -> PyResult<Py<PyAny>>
where
    A: for<'py> IntoPyObject<'py, Target = PyTuple>,
{
    let (tell, told) = oneshot::channel();
    let _running = start(function, arguments, move |over| drop(tell.send(over)))?;
    told.await.unwrap_or_else(|_| Err(PyRuntimeError::new_err("the event loop ended before the call was over")))
}
