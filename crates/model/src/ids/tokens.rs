//! Ids that are random, or that others assign.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::invalid::InvalidId;

macro_rules! uuid_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Uuid::try_parse(text).map(Self).map_err(|_| InvalidId(format!("'{text}' is not a UUID")))
            }
        }
    };
}

macro_rules! text_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text without checks.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

uuid_newtype! {
    /// The id of an operation, as in the URLs of `operationStatuses` and `operationResults`.
    OperationId
}
uuid_newtype! {
    /// The id of a plan that is kept.
    PlanId
}
uuid_newtype! {
    /// The id of a refactor.
    RefactorId
}
uuid_newtype! {
    /// The idempotency key of a Cloud Control mutation, honoured by AWS for 36 hours.
    ClientToken
}
text_newtype! {
    /// Cloud Control's id of a request, kept by AWS for 7 days.
    RequestToken
}
text_newtype! {
    /// `x-ms-correlation-request-id`, which correlates the requests of one deployment.
    CorrelationId
}
