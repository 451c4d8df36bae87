//! The current keys of an issuer: when they are read again, and how long they are used if that fails.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use hyper::Uri;
use jsonwebtoken::DecodingKey;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, timeout};

use crate::discovery;
use crate::fetch::{Source, Unread};
use crate::keys::{self, Keys};
use crate::token::{Header, Refused};

/// Keys of this age are read again, so that the issuer can withdraw one.
const FRESH: Duration = Duration::from_secs(5 * 60);
/// Keys of this age are not used any more.
const STALE: Duration = Duration::from_secs(60 * 60);
/// The time between two readings, whatever tokens are sent.
const PAUSE: Duration = Duration::from_secs(10);
/// The time that a reading may take, with the discovery document.
const READING: Duration = Duration::from_secs(5);

/// The keys of an issuer, kept.
pub(crate) struct KeyCache {
    issuer: String,
    source: Box<dyn Source>,
    known: RwLock<Option<Known>>,
    /// When the keys were last asked for. Locked meanwhile.
    asked: Arc<Mutex<Option<Instant>>>,
}

#[derive(Clone)]
struct Known {
    keys: Arc<Keys>,
    at: Instant,
}

/// Why the keys could not be read.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("the URL of its discovery document cannot be used")]
    NoUrl(#[source] hyper::http::uri::InvalidUri),
    #[error("the issuer cannot be asked")]
    Unread(#[from] Unread),
    #[error("the issuer is not the one that is configured")]
    Discovery(#[from] discovery::Wrong),
    #[error("the issuer has no keys")]
    Keys(#[from] keys::Wrong),
    #[error("the issuer has not answered within {} seconds", READING.as_secs())]
    Late(#[from] tokio::time::error::Elapsed),
}

impl KeyCache {
    pub(crate) fn new(issuer: String, source: Box<dyn Source>) -> Self {
        Self {
            issuer,
            source,
            known: RwLock::new(None),
            asked: Arc::default(),
        }
    }

    /// Returns the key with which a token is said to be signed. An unknown one is looked for once more, since the issuer
    /// may have just begun to use it.
    pub(crate) async fn find(
        self: &Arc<Self>,
        header: &Header,
    ) -> Result<Arc<DecodingKey>, Refused> {
        let known = self.usable();
        let key_in = |known: &Known| known.keys.of(header.key.as_deref(), header.algorithm);
        if let Some(known) = &known
            && let Some(key) = key_in(known)
        {
            if known.at.elapsed() >= FRESH {
                self.read_soon();
            }
            return Ok(key);
        }
        self.read_since(known.map(|known| known.at)).await;
        let known = self.usable().ok_or(Refused::Unavailable)?;
        key_in(&known).ok_or(Refused::UnknownKey)
    }

    /// Reads the keys in the background, unless that has just been tried.
    pub(crate) fn read_soon(self: &Arc<Self>) {
        if let Ok(asked) = Arc::clone(&self.asked).try_lock_owned()
            && is_due(&asked)
        {
            tokio::spawn(Arc::clone(self).read(asked));
        }
    }

    /// Waits until the keys have been read since `before`, unless that has just been tried.
    async fn read_since(self: &Arc<Self>, before: Option<Instant>) {
        let asked = Arc::clone(&self.asked).lock_owned().await;
        let has_been_read = self.usable().map(|known| known.at) != before;
        if !has_been_read && is_due(&asked) {
            // Goes on for others if the client that has caused it goes away.
            let reading = tokio::spawn(Arc::clone(self).read(asked));
            // A panic has been reported, and the keys are as before.
            let _ = reading.await;
        }
    }

    async fn read(self: Arc<Self>, mut asked: OwnedMutexGuard<Option<Instant>>) {
        *asked = Some(Instant::now());
        let read = match timeout(READING, self.fetch()).await {
            Ok(read) => read,
            Err(late) => Err(late.into()),
        };
        match read {
            Ok(keys) => {
                tracing::debug!("the keys of the OIDC issuer have been read");
                let keys = Arc::new(keys);
                let at = Instant::now();
                let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
                *known = Some(Known { keys, at });
            }
            Err(error) => tracing::warn!(
                error = %ucp_model::chain(&error),
                "the keys of the OIDC issuer cannot be read; those of before are used on, for an hour at most"
            ),
        }
    }

    async fn fetch(&self) -> Result<Keys, Failed> {
        let url: Uri = discovery::url(&self.issuer)
            .parse()
            .map_err(Failed::NoUrl)?;
        let document = self.source.read(url).await?;
        let url = discovery::keys(&document, &self.issuer)?;
        let document = self.source.read(url).await?;
        Ok(Keys::read(&document)?)
    }

    fn usable(&self) -> Option<Known> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.clone().filter(|known| known.at.elapsed() < STALE)
    }
}

fn is_due(asked: &Option<Instant>) -> bool {
    asked.is_none_or(|asked| asked.elapsed() >= PAUSE)
}

#[cfg(test)]
mod tests;
