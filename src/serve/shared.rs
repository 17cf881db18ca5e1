//! What the requests of a server share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::config::Config;
use super::kept::Store;
use super::metrics::Metrics;
use super::prepared::Cache;
use super::ready::Ready;
use super::upstream::Upstream;
use super::work::Work;
use crate::model::ClientError;

/// What the requests share.
pub(super) struct Shared {
    pub(super) config: Config,
    pub(super) upstream: Upstream,
    pub(super) cache: Cache,
    pub(super) kept: Arc<Store>,
    pub(super) work: Work,
    pub(super) metrics: Metrics,
    pub(super) ready: Ready,
    pub(super) draining: AtomicBool,
}

impl Shared {
    pub(super) fn new(config: Config) -> Result<Arc<Self>, ClientError> {
        let upstream = Upstream::new(&config)?;
        Ok(Arc::new(Shared {
            kept: Store::new(config.instance_key.as_deref()),
            work: Work::default(),
            config,
            upstream,
            cache: Cache::default(),
            metrics: Metrics::default(),
            ready: Ready::default(),
            draining: AtomicBool::new(false),
        }))
    }
}
