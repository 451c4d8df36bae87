//! An issuer whose tokens are believed.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use ucp_access::Principal;
use ucp_authentication::IdentityProvider;
use ucp_model::Clock;

use crate::fetch::Web;
use crate::key_cache::KeyCache;
use crate::settings::{Settings, Unusable};
use crate::token::{self, Refused};
use crate::verified::{TokenDigest, VerifiedTokens};

/// An issuer whose tokens are believed.
pub struct Issuer {
    settings: Settings,
    keys: Arc<KeyCache>,
    verified: VerifiedTokens,
    clock: Arc<dyn Clock>,
}

impl Issuer {
    /// Checks the settings. The issuer is not asked yet, so that a process starts while it is away.
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, Unusable> {
        settings.checked()?;
        let web = Web::trusting(settings.ca.as_deref())?;
        Ok(Self {
            keys: Arc::new(KeyCache::new(settings.issuer.clone(), Box::new(web))),
            settings,
            verified: VerifiedTokens::default(),
            clock,
        })
    }

    /// Begins to read the keys, so that the first request does not wait for them, and the log says early if they cannot
    /// be read.
    pub fn prepare(&self) {
        self.keys.read_soon();
    }

    async fn principal(&self, token: &str) -> Result<Principal, Refused> {
        let header = token::header(token)?;
        let digest = TokenDigest::of(token);
        if let Some(principal) = self.verified.find(digest, self.clock.now()) {
            return Ok(principal);
        }
        let key = self.keys.find(&header).await?;
        let now = self.clock.now();
        let verified = token::verify(token, header.algorithm, &key, &self.settings, now)?;
        let principal = verified.principal.clone();
        self.verified.keep(digest, verified, now);
        Ok(principal)
    }
}

#[async_trait]
impl IdentityProvider for Issuer {
    async fn verify(&self, token: &str) -> Result<Principal, ucp_authentication::Refused> {
        let principal = self.principal(token).await;
        principal.map_err(|refused| match refused {
            refused @ Refused::Unavailable => {
                ucp_authentication::Refused::Unavailable(Box::new(refused))
            }
            refused => ucp_authentication::Refused::invalid(refused.to_string()),
        })
    }

    fn prefix(&self) -> &str {
        &self.settings.prefix
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Issuer({})", self.settings.issuer)
    }
}
