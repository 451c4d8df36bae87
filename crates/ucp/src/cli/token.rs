//! The arguments of `ucp token`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use ucp_access::{Role, Scope};

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Makes a token and prints it. It cannot be shown again.
    Create(CreateToken),
    /// Lists the tokens, without their secrets, until 90 days after their end.
    List(Database),
    /// Revokes a token. Every server refuses it within five seconds.
    Revoke(RevokeToken),
}

#[derive(Debug, Args)]
pub(crate) struct CreateToken {
    #[command(flatten)]
    pub(crate) database: Database,
    /// The name of the callers: `ci` makes them `token:ci`. Another token may have the same name, to take its place.
    #[arg(long)]
    pub(crate) name: String,
    /// What the callers may do: reader, contributor, approver, credentialsAdmin or owner.
    #[arg(long)]
    pub(crate) role: Role,
    /// Over what they may do it: `/`, a plane, a resource group, or a part of an aws plane. May be repeated.
    #[arg(long = "scope", value_name = "SCOPE", required = true)]
    pub(crate) scopes: Vec<Scope>,
    /// How long the token is valid, or `never` if it does not expire.
    #[arg(long, value_name = "DURATION", default_value = "90d", value_parser = expiry)]
    pub(crate) expires: Expiry,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeToken {
    #[command(flatten)]
    pub(crate) database: Database,
    /// The id of a token, or the name of tokens, which are all revoked then.
    pub(crate) token: String,
}

/// A database that servers may be using.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Database {
    /// `postgres://…` or `sqlite://…`. Servers may be using it.
    #[arg(long, env = "UCP_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,
    /// The data directory of `ucp dev`.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// When a token expires.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expiry {
    /// After this time.
    After(Duration),
    /// It does not.
    Never,
}

fn expiry(text: &str) -> anyhow::Result<Expiry> {
    if text == "never" {
        return Ok(Expiry::Never);
    }
    let lifetime = humantime::parse_duration(text)?;
    anyhow::ensure!(!lifetime.is_zero(), "the token would never be valid");
    Ok(Expiry::After(lifetime))
}
