//! Who calls.

use crate::grant::{Grant, Subject};

/// The name of callers without credentials.
pub use ucp_model::ANONYMOUS;

/// What the names of tokens begin with.
pub const TOKEN_PREFIX: &str = "token:";

/// What the names of the platforms of the service broker begin with.
pub const BROKER_PREFIX: &str = "broker:";

/// Who sends a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The name, with the prefix of its source, so that one source cannot make names of another.
    pub name: String,
    /// The groups of which the source says that the caller is a member.
    pub groups: Vec<String>,
    /// What vouches for the name.
    pub source: Source,
    /// The grants that come with the credential, such as those of a token. They are added to those that name the
    /// caller.
    pub grants: Vec<Grant>,
}

impl Principal {
    /// Returns the principal of requests without credentials.
    pub fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.to_owned(),
            groups: Vec::new(),
            source: Source::Anonymous,
            grants: Vec::new(),
        }
    }

    /// Returns whether this is the user, or a member of the group. Names compare exactly.
    pub fn is(&self, subject: &Subject) -> bool {
        match subject {
            Subject::User(name) => *name == self.name,
            Subject::Group(name) => self.groups.contains(name),
        }
    }
}

/// What vouches for the name of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Nothing.
    Anonymous,
    /// A token of this server.
    Token,
    /// A token of an OpenID Connect issuer.
    Oidc,
    /// The certificate of the client.
    Certificate,
    /// Headers of a proxy whose certificate is trusted with them.
    RequestHeader,
}

impl Source {
    /// Returns the name in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Anonymous => "anonymous",
            Source::Token => "token",
            Source::Oidc => "oidc",
            Source::Certificate => "certificate",
            Source::RequestHeader => "requestHeader",
        }
    }
}
