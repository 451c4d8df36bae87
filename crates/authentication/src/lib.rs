//! Who calls: tokens, certificates, and the word of proxies and of other identity providers.
//!
//! Start at [`Authenticator`]. What somebody may do is decided elsewhere.

#![warn(clippy::wildcard_enum_match_arm)]

mod authenticator;
mod failures;
mod known_tokens;
mod names;
mod presented;
mod provider;
mod token_text;

pub use authenticator::{Authenticator, Parts, Settings, Way};
pub use failures::{Delay, Failures};
pub use known_tokens::LIMITS;
pub use presented::Presented;
pub use provider::{IdentityProvider, Refused};
pub use token_text::{GivenToken, NewToken};
