//! The resource types of an account and region, found without making anyone wait for AWS where that can be helped.
//!
//! A type that `--schema-dir` gives or that is embedded is what it is, and the CloudFormation registry is not asked. The
//! others are remembered in this process, then in the store, and asked of the registry only when neither knows them. What
//! is remembered is used however old it is, and refreshed in the background once its time to live is over.

mod entry;
mod registry;

pub use registry::{Parts, Registry, Settings};
