use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ucp_access::{Principal, Source};
use ucp_listen::{Authority, ClientCertificate};
use ucp_model::Clock;
use ucp_store::Tokens;

use crate::failures::{Delay, Failures};
use crate::known_tokens::KnownTokens;
use crate::names;
use crate::presented::Presented;
use crate::provider::{IdentityProvider, Refused};
use crate::token_text;

/// How callers are known.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether a caller that is not known is refused.
    pub required: bool,
    /// Whether clients may have certificates.
    pub certificates: bool,
    /// The common names of proxies that say who calls; none for any. `None` if no proxy is trusted with that.
    pub proxies: Option<Vec<String>>,
}

impl Settings {
    /// Returns whether the certificate is that of a proxy that says itself who calls.
    pub fn trust(&self, certificate: &ClientCertificate) -> bool {
        let Some(allowed) = &self.proxies else {
            return false;
        };
        let is_allowed = match &certificate.common_name {
            Some(name) => allowed.is_empty() || allowed.contains(name),
            None => allowed.is_empty(),
        };
        is_allowed && certificate.is_signed_by(Authority::OfProxies)
    }
}

/// What an [`Authenticator`] needs.
pub struct Parts {
    /// The tokens of this server.
    pub tokens: Arc<dyn Tokens>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Who vouches for users by other bearer tokens.
    pub provider: Option<Arc<dyn IdentityProvider>>,
    /// Counts failed logins, of whatever kind.
    pub failures: Arc<Failures>,
}

/// A way to authenticate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A token of this server.
    Token,
    /// A token of an identity provider.
    Oidc,
    /// The certificate of a client.
    Certificate,
    /// The headers of a proxy.
    RequestHeader,
}

/// Tells who calls.
pub struct Authenticator {
    tokens: KnownTokens,
    provider: Option<Arc<dyn IdentityProvider>>,
    settings: Settings,
    failures: Arc<Failures>,
    nobody: Arc<Principal>,
}

impl fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authenticator")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Authenticator {
    /// Creates an authenticator.
    pub fn new(parts: Parts, settings: Settings) -> Self {
        Self {
            tokens: KnownTokens::new(parts.tokens, parts.clock),
            provider: parts.provider,
            settings,
            failures: parts.failures,
            nobody: Arc::new(Principal::anonymous()),
        }
    }

    /// Returns whether a caller that is not known is refused.
    pub fn is_required(&self) -> bool {
        self.settings.required
    }

    /// Returns who calls where nobody has to be known.
    pub fn nobody(&self) -> Arc<Principal> {
        Arc::clone(&self.nobody)
    }

    /// Returns the ways in which callers may be known.
    pub fn ways(&self) -> Vec<Way> {
        let ways = [
            (Way::Token, true),
            (Way::Oidc, self.provider.is_some()),
            (Way::Certificate, self.settings.certificates),
            (Way::RequestHeader, self.settings.proxies.is_some()),
        ];
        let ways = ways.into_iter().filter(|(_, is_one)| *is_one);
        ways.map(|(way, _)| way).collect()
    }

    /// Returns whether the certificate is that of a proxy that says itself who calls.
    pub fn trusts(&self, certificate: &ClientCertificate) -> bool {
        self.settings.trust(certificate)
    }

    /// Counts a login that failed, and tells when it may be answered. An error says that there were too many, and after which
    /// time the peer can try again.
    pub fn login_failed(&self, peer: Option<IpAddr>) -> Result<Delay<'_>, Duration> {
        self.failures.failed(peer)
    }

    /// Returns who calls. `None` if nothing says so.
    pub async fn identify(&self, presented: Presented) -> Result<Option<Arc<Principal>>, Refused> {
        let principal = match presented {
            Presented::Nothing => return Ok(None),
            Presented::Unreadable(reason) => return Err(Refused::invalid(reason)),
            Presented::Bearer(token) if token.starts_with(token_text::START) => {
                return self.tokens.verify(&token).await.map(Some);
            }
            Presented::Bearer(token) => match &self.provider {
                Some(provider) => provider.verify(&token).await?,
                None => {
                    return Err(Refused::invalid(
                        "The token is not one of this server, which takes no others. `ucp token create` makes one; `--oidc-issuer` lets in those of an identity provider.",
                    ));
                }
            },
            Presented::Certificate(certificate) => {
                if certificate.signed_by.is_empty() {
                    let reason = "The certificate of the connection has expired, or its authority is not accepted any more. \
                                  Connect again with one that is valid.";
                    return Err(Refused::invalid(reason));
                }
                // A proxy is nobody itself.
                if !certificate.is_signed_by(Authority::OfClients) {
                    return Ok(None);
                }
                Principal {
                    name: certificate.name.clone(),
                    groups: certificate.groups.clone(),
                    source: Source::Certificate,
                    grants: Vec::new(),
                }
            }
            Presented::RequestHeader { user, groups } => Principal {
                name: user,
                groups,
                source: Source::RequestHeader,
                grants: Vec::new(),
            },
        };
        let prefix = self.provider.as_ref();
        let prefix = prefix.map(|provider| provider.prefix());
        names::judge(principal, prefix).map(|principal| Some(Arc::new(principal)))
    }
}
