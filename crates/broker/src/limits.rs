//! What is limited of requests of platforms.

use ucp_model::{Beyond, Limit, Most};

/// The maximum size of a body.
pub(crate) const BODY_MAX_BYTES: usize = 256 * 1024;
/// The maximum length of an id, in characters. Aliases are made of them.
pub(crate) const ID_MAX_CHARS: usize = 50;

/// What is limited.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "service-body",
        what: "The body of a request of the service broker",
        most: Most::Bytes(BODY_MAX_BYTES),
        beyond: Beyond::Told("400 `BadRequest`, in the shape of the Open Service Broker API."),
    },
    Limit {
        name: "service-id",
        what: "The id of a service instance, a binding, an organization or a space",
        most: Most::Characters(ID_MAX_CHARS),
        beyond: Beyond::Told("400 `BadRequest`, in the shape of the Open Service Broker API."),
    },
];
