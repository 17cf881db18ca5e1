//! Limits on the requests, memory and pixels that all of a program's work may take at once.
//!
//! Code that needs a part of a [`Budget`] takes a [`Permit`] for it and returns the part by dropping the permit.
//! Nothing is global: a program makes its budgets and passes them to the parts that share them.
//!
//! ```
//! use toolgraft::budget::Budget;
//!
//! let requests = Budget::new("max_requests", 4);
//! let first = requests.take(Some("client"), 3)?;
//! // One client gets at most three quarters, so that others find room.
//! let refused = requests.take(Some("client"), 1).unwrap_err();
//! assert_eq!(refused.to_string(), "one client's part (3) of the budget max_requests is in use");
//! assert!(requests.take(Some("another"), 1).is_ok());
//! drop(first);
//! assert_eq!(requests.used(), 0);
//! # Ok::<(), toolgraft::budget::Exhausted>(())
//! ```

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Default number of pixels of images that are decoded at once: enough for two of the largest images that are decoded,
/// each of which takes up to a hundred megabytes during that time.
pub const MAX_PIXELS_AT_ONCE: usize = 50_000_000;

/// A limited amount of a resource, such as requests or bytes, that several parts of a program share. A clone is the
/// same budget.
#[derive(Clone)]
pub struct Budget(Arc<BudgetState>);

struct BudgetState {
    name: &'static str,
    amount: usize,
    free: Arc<Semaphore>,
    hasher: RandomState,
    /// The amount that each client has in use, by the hash of its key.
    clients: Mutex<HashMap<u64, usize>>,
    refused: AtomicU64,
}

/// The reason why a budget refused an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Exhausted {
    /// Other permits use the amount; it may become free later.
    #[error("the budget {budget} ({amount}) is in use")]
    InUse {
        /// Name of the budget.
        budget: &'static str,
        /// Total amount of the budget.
        amount: usize,
    },
    /// Permits of the same client use its whole share; some of it may become free later.
    #[error("one client's part ({share}) of the budget {budget} is in use")]
    ShareInUse {
        /// Name of the budget.
        budget: &'static str,
        /// The maximum amount that one client may hold.
        share: usize,
    },
    /// The amount is larger than the maximum for one permit.
    #[error("{wanted} is more than the budget {budget} allows for one request ({limit})")]
    TooLarge {
        /// Name of the budget.
        budget: &'static str,
        /// The amount that was requested.
        wanted: usize,
        /// The maximum amount of one permit.
        limit: usize,
    },
}

impl Exhausted {
    /// Returns the name of the budget that refused.
    pub fn budget(&self) -> &'static str {
        match self {
            Exhausted::InUse { budget, .. }
            | Exhausted::ShareInUse { budget, .. }
            | Exhausted::TooLarge { budget, .. } => budget,
        }
    }
}

impl Budget {
    /// Creates a budget with this name and total amount, at least 1.
    pub fn new(name: &'static str, amount: usize) -> Self {
        // A semaphore panics above its limit, and with 0 nothing would ever be granted.
        let amount = amount.clamp(1, Semaphore::MAX_PERMITS);
        Budget(Arc::new(BudgetState {
            name,
            amount,
            free: Arc::new(Semaphore::new(amount)),
            hasher: RandomState::new(),
            clients: Mutex::default(),
            refused: AtomicU64::new(0),
        }))
    }

    /// Returns the name of the budget.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Returns the total amount of the budget.
    pub fn amount(&self) -> usize {
        self.0.amount
    }

    /// Returns the maximum amount that one client may use: three quarters of the total, and at least 1.
    pub fn share(&self) -> usize {
        self.0.amount - self.0.amount / 4
    }

    /// Returns the amount of the budget that permits use.
    pub fn used(&self) -> usize {
        self.0.amount - self.free()
    }

    /// Returns the amount of the budget that no permit uses.
    pub fn free(&self) -> usize {
        self.0.free.available_permits()
    }

    /// Returns the amount that the client with this key may still acquire; `None` counts towards no client's share.
    pub fn free_for(&self, client: Option<&str>) -> usize {
        let Some(client) = client.map(|key| self.0.hasher.hash_one(key)) else { return self.free() };
        let taken = self.clients().get(&client).copied().unwrap_or(0);
        self.free().min(self.share().saturating_sub(taken))
    }

    /// Returns how many requests for an amount the budget has refused.
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Acquires this amount without waiting, from the share of the client with this key; `None` counts towards no
    /// client's share.
    ///
    /// # Errors
    /// The amount is not free, or exceeds the client's share or the budget.
    pub fn take(&self, client: Option<&str>, amount: usize) -> Result<Permit, Exhausted> {
        let client = client.map(|key| self.0.hasher.hash_one(key));
        let mut permit = Permit { budget: self.clone(), client, held: None };
        permit.grow(amount)?;
        Ok(permit)
    }

    /// Waits until this amount is free and acquires it; an amount above the total counts as the total. Waiting permits
    /// are served in order.
    pub async fn wait(&self, amount: usize) -> Permit {
        let amount = u32::try_from(amount.min(self.0.amount)).unwrap_or(u32::MAX);
        // The semaphore is never closed, so acquiring never fails.
        let held = self.0.free.clone().acquire_many_owned(amount).await.ok();
        Permit { budget: self.clone(), client: None, held }
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<u64, usize>> {
        self.0.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acquires `more` of the free amount and counts it for the client. `had` is the amount that the permit has
    /// already.
    fn acquire(&self, client: Option<u64>, more: usize, had: usize) -> Result<OwnedSemaphorePermit, Exhausted> {
        let BudgetState { name: budget, amount, .. } = *self.0;
        let limit = if client.is_some() { self.share() } else { amount };
        let wanted = had.saturating_add(more);
        let number = u32::try_from(more).ok().filter(|_| wanted <= limit);
        let number = number.ok_or(Exhausted::TooLarge { budget, wanted, limit })?;
        let mut clients = self.clients();
        // Under the lock until the amount is taken, so that two requests of one client do not find the same
        // room.
        let taken = client.and_then(|client| clients.get(&client).copied()).unwrap_or(0);
        if client.is_some() && taken.saturating_add(more) > limit {
            return Err(Exhausted::ShareInUse { budget, share: limit });
        }
        let held = self.0.free.clone().try_acquire_many_owned(number);
        let held = held.map_err(|_| Exhausted::InUse { budget, amount })?;
        if let Some(client) = client {
            *clients.entry(client).or_default() += more;
        }
        Ok(held)
    }
}

crate::message::opaque_debug!(Budget, self => name: self.name(), amount: self.amount(), used: self.used());

/// An acquired amount of a [`Budget`], which becomes free when the permit is dropped.
#[derive(Debug)]
#[must_use = "the part is given back as soon as this is dropped"]
pub struct Permit {
    budget: Budget,
    client: Option<u64>,
    held: Option<OwnedSemaphorePermit>,
}

impl Permit {
    /// Acquires a further amount from the same budget for this permit.
    ///
    /// # Errors
    /// The amount is not free, or exceeds the client's share; the permit is unchanged.
    pub fn grow(&mut self, more: usize) -> Result<(), Exhausted> {
        let taken = self.budget.acquire(self.client, more, self.amount());
        let taken = taken.inspect_err(|_| _ = self.budget.0.refused.fetch_add(1, Ordering::Relaxed))?;
        match &mut self.held {
            Some(held) => held.merge(taken),
            None => self.held = Some(taken),
        }
        Ok(())
    }

    /// Returns the amount that the permit has acquired.
    pub fn amount(&self) -> usize {
        self.held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(client) = self.client else { return };
        let amount = self.amount();
        let mut clients = self.budget.clients();
        let left = clients.get(&client).map_or(0, |taken| taken.saturating_sub(amount));
        match left {
            0 => _ = clients.remove(&client),
            left => _ = clients.insert(client, left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_free_again_and_refusals_are_counted() {
        let budget = Budget::new("max_requests", 8);
        let mut one = budget.take(Some("one"), 2).unwrap();
        one.grow(4).unwrap();
        assert_eq!((one.amount(), budget.used()), (6, 6));
        assert_eq!(one.grow(1), Err(Exhausted::TooLarge { budget: "max_requests", wanted: 7, limit: 6 }));
        assert_eq!(one.amount(), 6, "what is held stays");
        let refused = budget.take(Some("one"), 1).unwrap_err();
        assert_eq!(refused, Exhausted::ShareInUse { budget: "max_requests", share: 6 });
        let other = budget.take(Some("other"), 2).unwrap();
        assert_eq!(budget.take(None, 1).unwrap_err(), Exhausted::InUse { budget: "max_requests", amount: 8 });
        assert_eq!(budget.refused(), 3);
        drop((one, other));
        assert_eq!((budget.used(), budget.clients().len()), (0, 0), "no client is remembered");
        assert!(budget.take(None, 8).is_ok(), "nobody's part may be all");
    }

    #[test]
    fn the_smallest_budget_gives_one() {
        let budget = Budget::new("max_requests", 0);
        let held = budget.take(Some("one"), 1).unwrap();
        assert!(budget.take(Some("other"), 1).is_err());
        drop(held);
        assert!(budget.take(Some("other"), 1).is_ok());
    }

    #[tokio::test]
    async fn who_waits_gets_what_is_given_back() {
        let budget = Budget::new("max_pixels", 4);
        let held = budget.wait(9).await;
        assert_eq!((held.amount(), budget.free()), (4, 0), "more than all is all");
        let waiting = tokio::spawn({
            let budget = budget.clone();
            async move { budget.wait(3).await.amount() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(held);
        assert_eq!(waiting.await.unwrap(), 3);
        assert_eq!((budget.used(), budget.refused()), (0, 0));
    }
}
