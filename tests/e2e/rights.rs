//! Who may do what: each route with each role over each scope, and what others must not learn.

mod denied_types;
pub(crate) mod every_route;
mod hidden;
mod ownership;
mod role_assignments;
mod sets;
mod two_teams;

use ucp_access::{Grant, Role};

/// Gives a role over scopes to `who`.
pub(crate) fn grant(who: &str, role: Role, scopes: &[&str]) -> Grant {
    let scopes = scopes.iter().map(|scope| scope.parse().expect("a scope"));
    let who = who.parse().expect("a subject");
    Grant::new(who, role, scopes.collect()).expect("a grant")
}
