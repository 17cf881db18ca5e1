//! The bridge between tokio and asyncio: work of this library that Python awaits, and coroutines of
//! Python that this library awaits. Each is cancelled when the future of the other side is dropped.
//!
//! The Python half is `_bridge.py`. This is not pyo3-async-runtimes, because there a coroutine runs
//! on after the future that awaits it is dropped.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::task::futures::TaskLocalFuture;

/// The tokio runtime and the id of the process that created it: a forked process does not have its threads.
static RUNTIME: Mutex<Option<(u32, Arc<Runtime>)>> = Mutex::new(None);

tokio::task_local! {
    /// The event loop for coroutines of the current work, as a Python function: its arguments are the name of a
    /// coroutine function, that function's arguments and a callback for its end, and it returns a function that
    /// cancels. Only Python refers to the coroutine functions, so that its garbage collector sees all references.
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
    // While one thread waits for Python's lock, the other one goes on with the connections.
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().thread_name("toolgraft").build();
    let built = Arc::new(built.map_err(|error| PyRuntimeError::new_err(error.to_string()))?);
    // After a fork the old runtime's threads do not exist here, and dropping it would wait for
    // them.
    std::mem::forget(runtime.replace((process, Arc::clone(&built))));
    Ok(built)
}

/// Work of the library that runs in the background, and can be cancelled.
#[pyclass(frozen, module = "toolgraft")]
pub(crate) struct Work(AbortHandle);

#[pymethods]
impl Work {
    /// Cancels the work; does nothing if the work is finished.
    fn cancel(&self) {
        self.0.abort();
    }
}

/// Sets the event loop for the coroutines of `work`.
pub(crate) fn on<W: Future>(on: &Arc<Py<PyAny>>, work: W) -> TaskLocalFuture<Arc<Py<PyAny>>, W> {
    LOOP.scope(Arc::clone(on), work)
}

/// Starts work in the background. At its end `done` is called with an exception or `None`, and the result.
pub(crate) fn begin(
    done: Py<PyAny>,
    work: impl Future<Output = PyResult<Py<PyAny>>> + Send + 'static,
) -> PyResult<Work> {
    let task = runtime()?.spawn(async move {
        let over = work.await;
        // After the interpreter's end nobody waits for the result.
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

/// Drops a value on a background thread, since that may take time.
pub(crate) fn discard(value: impl Send + 'static) {
    if let Ok(runtime) = runtime() {
        runtime.spawn(async move { drop(value) });
    }
}

type Over = Box<dyn FnOnce(PyResult<Py<PyAny>>) + Send>;

/// The callback that Python calls at the end of a coroutine, with an exception or `None`, and the coroutine's result.
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

/// A running coroutine. It is cancelled when this is dropped before its end.
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

/// Starts the coroutine function of this name on the current event loop.
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

/// Calls the coroutine function of this name, and returns its result.
pub(crate) async fn call<A>(function: &str, arguments: A) -> PyResult<Py<PyAny>>
where
    A: for<'py> IntoPyObject<'py, Target = PyTuple>,
{
    let (tell, told) = oneshot::channel();
    let _running = start(function, arguments, move |over| drop(tell.send(over)))?;
    told.await.unwrap_or_else(|_| Err(PyRuntimeError::new_err("the event loop ended before the call was over")))
}
