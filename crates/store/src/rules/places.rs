//! The places that callers were judged on: a write to others must not happen.

use std::collections::BTreeSet;

use ucp_model::Reference;

use crate::{Error, OwnedPlace, ReferenceUpdate};

/// Returns how many of the places that a group owns are read, to see whether it owns another one than those that are
/// `deletable`. They are more than these, so that there is one if that many are found, and so many more that a caller who may
/// delete at all of them learns of them in a few rounds.
pub fn places_to_judge(deletable: &BTreeSet<OwnedPlace>) -> usize {
    2 * deletable.len() + 100
}

/// Returns [`Error::ReferencedElsewhere`] if the resource is not where the update says.
pub fn refuse_elsewhere(reference: &Reference, update: &ReferenceUpdate) -> Result<(), Error> {
    match &update.place {
        Some(place) if *place != reference.scope => {
            Err(Error::ReferencedElsewhere(reference.scope.clone()))
        }
        Some(_) | None => Ok(()),
    }
}
