//! Tells who has sent a request by a JWT of an OpenID Connect issuer.
//!
//! [`Issuer`] takes a token, and returns the principal that it names. A token is good if the issuer has
//! signed it with a key of its current set, if it is for one of the audiences, and if now is within its time.
//!
//! The issuer is asked for its keys, never about a token. Everything that it or a caller can send has a bound: see
//! [`LIMITS`] and the constants of `keys.rs`, `fetch.rs` and `key_cache.rs`.
//!
//! Signatures are judged by `jsonwebtoken` on aws-lc, the cryptography of the TLS stack. Times are judged here, by the
//! [`Clock`](ucp_model::Clock) of the process: with `arbitrary_precision`, which this workspace needs, `serde_json` shows
//! numbers to `jsonwebtoken` in a form that it does not take. Keys are fetched by hyper-util and hyper-rustls, which the
//! AWS SDK has brought along.

mod discovery;
mod fetch;
mod issuer;
mod key_cache;
mod keys;
mod limits;
mod settings;
mod token;
mod verified;

pub use issuer::Issuer;
pub use limits::LIMITS;
pub use settings::{Settings, Unusable};
