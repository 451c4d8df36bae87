//! A simulator of Cloud Control, the CloudFormation registry and STS sessions: the same calls, rules and texts, driven
//! by the schemas of the real resource types, with configurable latencies and faults.
//!
//! [`World`] is the pure core: its state is a function of the calls and of the time and randomness passed with them.
//! [`Simulator`] shares one world between callers. It speaks AWS's wire protocols ([`Simulator::router`],
//! [`Simulator::serve`]) and is a [`ucp_cloud::CloudControl`] itself, for tests that need no network.
//!
//! The services behind Cloud Control are not simulated: a simulated VPC routes nothing, and a type has only the rules
//! that its schema states.

mod chance;
mod direct;
mod exception;
pub mod faults;
mod formats;
mod global;
mod http;
mod identifiers;
mod log;
mod occurrences;
mod profile;
mod progress;
mod read_only;
mod request;
mod resource_type;
mod settings;
mod simulator;
mod vocabulary;
mod world;

pub use exception::{Exception, ExceptionCode};
pub use log::LogEntry;
pub use profile::Profile;
pub use progress::{
    FailureMode, HandlerErrorCode, HookProgressEvent, HookStatus, Operation, OperationStatus,
    ProgressEvent,
};
pub use request::{
    Action, AssumeRole, AssumeRoleWithWebIdentity, Caller, CreateResource, DeleteResource,
    DescribeType, GetCallerIdentity, GetResource, ListResourceRequests, ListResources, ListTypes,
    Reply, Request, RequestToken, ResourceDescription, Session, StatusFilter, TypeDescription,
    UpdateResource,
};
pub use settings::Settings;
pub use simulator::Simulator;
pub use world::{NotInWorld, Outcome, ResourceSnapshot, Trust, World};
