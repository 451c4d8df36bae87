//! The resource types of an account and region, available without waiting for AWS whenever possible.
//!
//! Types from `--schema-dir` are fixed: the CloudFormation registry is not queried for them. Other types are cached in
//! this process and in the store, and fetched from the registry only if neither has them. A cached schema is used
//! whatever its age, and is refreshed in the background after its time to live. While the registry's schema of a public
//! type cannot be had, the embedded one is used. With `--schema-source embedded` embedded types are fixed too.

mod entry;
mod registry;

pub use registry::{Parts, Registry, SchemaSource, Settings};
