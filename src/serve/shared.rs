//! What the requests of a server share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::config::Config;
use super::kept::Kept;
use super::metrics::Metrics;
use super::prepared::Cache;
use super::ready::Ready;
use super::upstream::Upstream;
use crate::model::ClientError;

/// What the requests share.
pub(super) struct Shared {
    pub(super) config: Config,
    pub(super) upstream: Upstream,
    pub(super) cache: Cache,
    pub(super) kept: Kept,
    pub(super) metrics: Metrics,
    pub(super) ready: Ready,
    pub(super) draining: AtomicBool,
}

impl Shared {
    pub(super) fn new(config: Config) -> Result<Arc<Self>, ClientError> {
        let upstream = Upstream::new(&config)?;
        Ok(Arc::new(Shared {
            config,
            upstream,
            cache: Cache::default(),
            kept: Kept::default(),
            metrics: Metrics::default(),
            ready: Ready::default(),
            draining: AtomicBool::new(false),
        }))
    }
}
