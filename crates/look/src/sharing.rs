//! The first put of a reference to what another one stands for.

use serde_json::Value;
use ucp_model::{Detail, ErrorCode, Failure, ProvisioningState, Reference, ReferenceId};
use ucp_plan::declared_otherwise;
use ucp_schema::ResourceSchema;

/// Refuses the put that makes a second reference to a resource, if it declares a place otherwise than what one of `others`, the
/// references to the resource, was last put with: each would undo what the other one declares, for ever. What may not be read is
/// not named. References that stand already are left alone; one whose create has an unknown outcome stands for nothing known.
pub fn contradicted(
    own: &ReferenceId,
    declared: &Value,
    others: &[Reference],
    schema: &ResourceSchema,
    may_be_named: impl Fn(&ReferenceId) -> bool,
) -> Option<Failure> {
    let (own, others) = parted(own, others);
    if own.is_some_and(|own| own.provisioning_state != ProvisioningState::Unknown) {
        return None;
    }
    let details: Vec<Detail> = others
        .into_iter()
        .filter_map(|other| Some((other, &other.last_put()?.declared)))
        .take(COMPARED_MAX)
        .filter_map(|(other, last)| {
            let place = declared_otherwise(declared, last, schema)?;
            Some(if may_be_named(&other.id) {
                Detail::at(
                    CODE,
                    format!("{} was put with another value.", other.id),
                    format!("/properties{place}"),
                )
            } else {
                Detail {
                    code: CODE.to_owned(),
                    message: "A reference of another resource group was put with another value."
                        .to_owned(),
                    target: None,
                }
            })
        })
        .collect();
    if details.is_empty() {
        return None;
    }
    let message = "Another reference stands for the resource and declares it otherwise, so each put would undo the other one. Nothing was sent to AWS. Declare the same, or leave out what the details name; or give the resource up under the other alias first.";
    Some(Failure::new(ErrorCode::Conflict, message).with_details(details))
}

/// Returns how many references a declaration was compared with, of those that were `read`, at most `limit`: all that there are, if so
/// many were.
pub fn compared_with(own: &ReferenceId, read: &[Reference], limit: usize) -> usize {
    if read.len() < limit {
        parted(own, read).1.len()
    } else {
        usize::MAX
    }
}

/// Returns the reference that is put, if it is among those to the resource, and the others.
fn parted<'a>(
    own: &ReferenceId,
    references: &'a [Reference],
) -> (Option<&'a Reference>, Vec<&'a Reference>) {
    let key = own.key();
    let (own, others): (Vec<_>, Vec<_>) = references.iter().partition(|it| it.id.key() == key);
    (own.first().copied(), others)
}

const CODE: &str = "DeclaredOtherwise";
/// How many other references are compared.
const COMPARED_MAX: usize = 20;
