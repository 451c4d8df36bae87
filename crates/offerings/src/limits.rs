//! Bounds on what is read from files, of which who writes them is told, and on what callers of the broker meet.

use ucp_model::{Beyond, Limit, Most};

/// The maximum number of files.
pub(crate) const FILES_MAX: usize = 200;
/// The maximum size of a file, in bytes.
pub(crate) const FILE_MAX_BYTES: usize = 1 << 20;
/// The maximum depth of the values in a file. TOML's own reader goes no deeper than that into brackets.
pub(crate) const DEPTH_MAX: usize = 64;
/// The maximum number of resources of an offering, with those of bindings.
pub(crate) const RESOURCES_MAX: usize = 200;
/// The maximum number of plans of an offering.
pub(crate) const PLANS_MAX: usize = 100;
/// The maximum number of parameters of an offering, with those of bindings.
pub(crate) const PARAMETERS_MAX: usize = 200;
/// The maximum number of random texts that an offering names.
pub(crate) const RANDOMS_MAX: usize = 100;
/// The maximum size of the schema of all parameters of a plan, in bytes. It is that of the specification.
pub(crate) const SCHEMA_MAX_BYTES: usize = 64_000;
/// The maximum number of characters of ids and names.
pub(crate) const NAME_MAX_CHARS: usize = 50;
/// The maximum number of characters of the name of a resource, which is the end of an alias: before it are the ids of an
/// instance and a binding, of 50 characters each.
pub(crate) const RESOURCE_NAME_MAX_CHARS: usize = 26;
/// The maximum number of objections to the parameters of a request.
pub(crate) const OBJECTIONS_MAX: usize = 100;

/// What callers of the broker meet.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "service-parameters",
        what: "The schema of all parameters of a plan, in the catalog",
        most: Most::Bytes(SCHEMA_MAX_BYTES),
        beyond: Beyond::Told(
            "It is shown less deep, and AWS judges the rest. If that is not enough, `ucp catalog` and the start refuse the file.",
        ),
    },
    Limit {
        name: "service-objections",
        what: "The objections to the parameters of a request of the service broker",
        most: Most::Number(OBJECTIONS_MAX),
        beyond: Beyond::Told("The rest is not told."),
    },
];
