//! Callers for whom an OpenID Connect issuer vouches.

use std::path::PathBuf;

use clap::Args;
use ucp_oidc::Settings;

/// The issuer, and what its tokens say.
#[derive(Debug, Args)]
pub(crate) struct Oidc {
    /// The URL of an OpenID Connect issuer, as its tokens spell it. A caller with one of its tokens is the user that the
    /// token names.
    #[arg(
        long,
        env = "UCP_OIDC_ISSUER",
        value_name = "URL",
        requires = "oidc_audiences"
    )]
    oidc_issuer: Option<String>,
    /// What the tokens must be for. Nothing else should have this audience. May be repeated.
    #[arg(
        long = "oidc-audience",
        env = "UCP_OIDC_AUDIENCE",
        value_name = "AUDIENCE",
        value_delimiter = ',',
        requires = "oidc_issuer"
    )]
    oidc_audiences: Vec<String>,
    /// The claim that names the user.
    #[arg(
        long,
        env = "UCP_OIDC_USERNAME_CLAIM",
        value_name = "CLAIM",
        default_value = "sub"
    )]
    oidc_username_claim: String,
    /// The claim that names the groups of the user: a string, or an array of strings.
    #[arg(
        long,
        env = "UCP_OIDC_GROUPS_CLAIM",
        value_name = "CLAIM",
        default_value = "groups"
    )]
    oidc_groups_claim: String,
    /// Put before the name of each user and of each group of the issuer, so that they are not those of others.
    #[arg(
        long,
        env = "UCP_OIDC_PREFIX",
        value_name = "PREFIX",
        default_value = "oidc:"
    )]
    oidc_prefix: String,
    /// Certificates of the authorities that may vouch for the issuer, in PEM. Without it, those that this machine trusts.
    #[arg(
        long,
        env = "UCP_OIDC_CA",
        value_name = "FILE",
        requires = "oidc_issuer"
    )]
    oidc_ca: Option<PathBuf>,
}

impl Oidc {
    /// Returns which tokens are good, if an issuer is given.
    pub(crate) fn settings(&self) -> Option<Settings> {
        let issuer = self.oidc_issuer.clone();
        let issuer = issuer.filter(|issuer| !issuer.is_empty())?;
        Some(Settings {
            issuer,
            audiences: self.oidc_audiences.clone(),
            username_claim: self.oidc_username_claim.clone(),
            groups_claim: self.oidc_groups_claim.clone(),
            prefix: self.oidc_prefix.clone(),
            ca: self.oidc_ca.clone(),
        })
    }
}
