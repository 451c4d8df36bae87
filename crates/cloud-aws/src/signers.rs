//! The signers of calls: which principal signs for an aws plane. A warm one costs no query of the source.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use ucp_cloud::Fault;

use crate::credential::{BaseCredential, CredentialSource};
use crate::principal::Principal;

/// The number of cached planes above which some are evicted: callers can name any number of them.
const PLANES_MAX: usize = 1_000;
/// The shortest time between two queries that denied calls give rise to, for one plane.
const DOUBTS_APART: Duration = Duration::from_secs(1);

/// The signers of all planes.
pub(crate) struct Signers {
    source: Arc<dyn CredentialSource>,
    /// By the folded name of the plane.
    planes: Mutex<BTreeMap<String, Arc<Plane>>>,
}

/// The cache entry of one plane.
#[derive(Default)]
struct Plane {
    known: Mutex<Known>,
    /// Held by the task that queries the source.
    flight: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    signer: Option<Signer>,
    /// When the credential may last have changed. A query that began earlier may have missed that.
    changed_at: Option<Instant>,
    /// When a denied call last made a query necessary.
    doubted_at: Option<Instant>,
    /// When the last query failed, if it did.
    failed: Option<(Instant, Fault)>,
}

struct Signer {
    credential: Option<BaseCredential>,
    principal: Arc<Principal>,
    /// When the query of the source began.
    asked_at: Instant,
}

impl Signers {
    pub(crate) fn new(source: Arc<dyn CredentialSource>) -> Self {
        Self {
            source,
            planes: Mutex::default(),
        }
    }

    /// Returns the principal of a plane as the source had it at `since` or later; `None` means at any time. One task at a
    /// time queries the source for a plane. `make` makes the principal of a credential; one that has not changed keeps
    /// its principal.
    pub(crate) async fn principal(
        &self,
        plane: &str,
        since: Option<Instant>,
        make: impl FnOnce(Option<&BaseCredential>) -> Arc<Principal>,
    ) -> Result<Arc<Principal>, Fault> {
        let (entry, began) = (self.plane(plane), Instant::now());
        if let Some(principal) = entry.known().usable(since) {
            return Ok(principal);
        }
        let _flight = entry.flight.lock().await;
        // Another task may have asked in the meantime.
        if let Some(answer) = entry.known().answer(since, began) {
            return answer;
        }
        let asked_at = Instant::now();
        let credential = self.source.base_credential(plane).await;
        let mut known = entry.known();
        known.failed = match &credential {
            Ok(_) => None,
            Err(fault) => Some((Instant::now(), fault.clone())),
        };
        let credential = credential?;
        let unchanged = known.signer.take();
        let unchanged = unchanged.filter(|signer| signer.credential == credential);
        let principal = match unchanged {
            Some(signer) => signer.principal,
            None => make(credential.as_ref()),
        };
        known.signer = Some(Signer {
            credential,
            principal: Arc::clone(&principal),
            asked_at,
        });
        Ok(principal)
    }

    /// The credential of a plane may have changed.
    pub(crate) fn changed(&self, plane: &str) {
        if let Some(entry) = self.planes().get(&plane.to_ascii_lowercase()) {
            entry.known().changed(Instant::now());
        }
    }

    /// A call was denied, so the credential of the plane may have changed before `since` without notice. This is assumed
    /// at most once in [`DOUBTS_APART`]: a valid credential is denied whatever it has no permission for.
    pub(crate) fn doubt(&self, plane: &str, since: Instant) {
        if let Some(entry) = self.planes().get(&plane.to_ascii_lowercase()) {
            entry.known().doubt(since);
        }
    }

    /// Any credential may have changed.
    pub(crate) fn any_changed(&self) {
        let now = Instant::now();
        for entry in self.planes().values() {
            entry.known().changed(now);
        }
    }

    fn planes(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Plane>>> {
        self.planes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plane(&self, name: &str) -> Arc<Plane> {
        let key = name.to_ascii_lowercase();
        let mut planes = self.planes();
        if planes.len() >= PLANES_MAX && !planes.contains_key(&key) {
            make_room(&mut planes);
        }
        Arc::clone(planes.entry(key).or_default())
    }
}

/// Evicts the planes without a credential, which are cheap to cache again, or else the one that was asked for longest
/// ago. What is in use stays.
fn make_room(planes: &mut BTreeMap<String, Arc<Plane>>) {
    let is_idle = |entry: &Arc<Plane>| Arc::strong_count(entry) == 1;
    planes.retain(|_, entry| !is_idle(entry) || entry.known().has_credential());
    if planes.len() < PLANES_MAX {
        return;
    }
    let idle = planes.iter().filter(|(_, entry)| is_idle(entry));
    let oldest = idle.min_by_key(|(_, entry)| entry.known().asked_at());
    if let Some(key) = oldest.map(|(key, _)| key.clone()) {
        planes.remove(&key);
    }
}

impl Plane {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn changed(&mut self, at: Instant) {
        self.changed_at = self.changed_at.max(Some(at));
    }

    fn doubt(&mut self, since: Instant) {
        let now = Instant::now();
        let is_due = |at: Instant| now.duration_since(at) >= DOUBTS_APART;
        if self.doubted_at.is_none_or(is_due) {
            self.doubted_at = Some(now);
            self.changed(since);
        }
    }

    fn usable(&self, since: Option<Instant>) -> Option<Arc<Principal>> {
        let signer = self.signer.as_ref()?;
        let asked_at = Some(signer.asked_at);
        (asked_at >= since && asked_at >= self.changed_at).then(|| Arc::clone(&signer.principal))
    }

    /// Returns the result of another task's query, for one that has waited since `began`. A failure is that of all who
    /// wait: otherwise each would wait for the failures of all before it.
    fn answer(
        &self,
        since: Option<Instant>,
        began: Instant,
    ) -> Option<Result<Arc<Principal>, Fault>> {
        let failed = self.failed.as_ref().filter(|(at, _)| *at >= began);
        let fault = failed.map(|(_, fault)| Err(fault.clone()));
        self.usable(since).map(Ok).or(fault)
    }

    fn has_credential(&self) -> bool {
        let credential = self.signer.as_ref().map(|signer| &signer.credential);
        credential.is_some_and(Option::is_some)
    }

    fn asked_at(&self) -> Option<Instant> {
        self.signer.as_ref().map(|signer| signer.asked_at)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use aws_config::SdkConfig;
    use tokio::sync::Semaphore;
    use ucp_cloud::FaultClass;

    use super::*;

    /// The plane `mine` has a credential, `broken` cannot be read, others have none. A query ends when it may.
    struct Source {
        queries: AtomicUsize,
        may_end: Semaphore,
    }

    #[async_trait]
    impl CredentialSource for Arc<Source> {
        async fn base_credential(&self, plane: &str) -> Result<Option<BaseCredential>, Fault> {
            self.queries.fetch_add(1, Ordering::SeqCst);
            drop(self.may_end.acquire().await);
            if plane == "broken" {
                return Err(Fault::new(
                    FaultClass::Transient,
                    "ServiceUnavailable",
                    "down",
                ));
            }
            let role_arn = plane.to_owned();
            let credential = BaseCredential::WebIdentity { role_arn };
            Ok(Some(credential).filter(|_| plane == "mine"))
        }
    }

    fn signers(permits: usize) -> (Signers, Arc<Source>) {
        let source = Arc::new(Source {
            queries: AtomicUsize::new(0),
            may_end: Semaphore::new(permits),
        });
        (Signers::new(Arc::new(Arc::clone(&source))), source)
    }

    async fn asked(signers: &Signers, plane: &str) -> Result<Arc<Principal>, Fault> {
        let config = SdkConfig::builder().build();
        let clients = Arc::default();
        let make = |_: Option<&BaseCredential>| Arc::new(Principal::new(&config, &clients));
        signers.principal(plane, None, make).await
    }

    async fn principal(signers: &Signers, plane: &str) -> Arc<Principal> {
        asked(signers, plane).await.unwrap()
    }

    #[tokio::test]
    async fn a_failure_is_that_of_all_who_wait_but_not_of_the_next() {
        let (signers, source) = signers(0);
        let (one, two) = (asked(&signers, "broken"), asked(&signers, "broken"));
        let failing = async {
            while source.queries.load(Ordering::SeqCst) == 0 {
                tokio::task::yield_now().await;
            }
            source.may_end.add_permits(1);
        };
        let (one, two, ()) = tokio::join!(one, two, failing);
        assert!(one.is_err() && two.is_err());
        assert_eq!(source.queries.load(Ordering::SeqCst), 1);
        assert!(asked(&signers, "broken").await.is_err());
        assert_eq!(source.queries.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn planes_without_a_credential_do_not_fill_the_memory() {
        let (signers, source) = signers(1);
        let mine = principal(&signers, "mine").await;
        for number in 0..2 * PLANES_MAX {
            principal(&signers, &number.to_string()).await;
        }
        assert!(signers.planes().len() <= PLANES_MAX);
        let queries = source.queries.load(Ordering::SeqCst);
        assert!(Arc::ptr_eq(&principal(&signers, "MINE").await, &mine));
        assert_eq!(source.queries.load(Ordering::SeqCst), queries);
    }

    /// What the query returns may be older than the change.
    #[tokio::test]
    async fn a_change_during_a_query_is_not_lost() {
        let (signers, source) = signers(0);
        let asking = principal(&signers, "mine");
        let changing = async {
            while source.queries.load(Ordering::SeqCst) == 0 {
                tokio::task::yield_now().await;
            }
            signers.any_changed();
            source.may_end.add_permits(1);
        };
        tokio::join!(asking, changing);
        principal(&signers, "mine").await;
        assert_eq!(source.queries.load(Ordering::SeqCst), 2);
        principal(&signers, "mine").await;
        assert_eq!(source.queries.load(Ordering::SeqCst), 2);
    }
}
