//! Defects that are planted, to see that the worlds find them.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ucp_model::{Identifier, OperationId, TypeName};
use ucp_store::{Claimed, LeaseTerm, Store};

/// A defect to plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// A claim does not remember its lease: another worker gets the same operation under the same lease, as long as nothing was
    /// written.
    ForgottenLease,
    /// A look believes one "not found": what was not found once is not there for any later look, until something of its type is
    /// created.
    BelievedAbsence,
}

impl FromStr for Plant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "forgotten-lease" => Ok(Self::ForgottenLease),
            "believed-absence" => Ok(Self::BelievedAbsence),
            _ => Err(format!(
                "'{text}' is neither forgotten-lease nor believed-absence"
            )),
        }
    }
}

/// The leases that were forgotten. All processes of a world share them.
#[derive(Default)]
pub(super) struct ForgottenLeases(Mutex<BTreeMap<OperationId, Claimed>>);

impl ForgottenLeases {
    /// Adds what others have claimed to what a worker has.
    pub(super) async fn hand_out(
        &self,
        store: &Arc<dyn Store>,
        mut claimed: Vec<Claimed>,
    ) -> Vec<Claimed> {
        let own = claimed.clone();
        // Each is handed out once more.
        let forgotten = std::mem::take(&mut *self.leases());
        for (id, other) in forgotten {
            let current = store.get_operation(id).await;
            let is_unwritten = current.is_ok_and(|it| it.as_ref() == Some(&other.operation));
            let (lease, term) = (&other.lease, LeaseTerm(Duration::ZERO));
            let renewed = store.renew_lease(lease, lease.expires_at, term).await;
            if is_unwritten && renewed.is_ok() {
                claimed.push(other);
            }
        }
        let own = own.into_iter().map(|own| (own.operation.header.id, own));
        self.leases().extend(own);
        claimed
    }

    fn leases(&self) -> MutexGuard<'_, BTreeMap<OperationId, Claimed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was not found once.
#[derive(Default)]
pub(super) struct BelievedAbsences(Mutex<BTreeSet<(TypeName, Identifier)>>);

impl BelievedAbsences {
    pub(super) fn believe(&self, type_name: &TypeName, identifier: &Identifier) {
        self.absent()
            .insert((type_name.clone(), identifier.clone()));
    }

    pub(super) fn has(&self, type_name: &TypeName, identifier: &Identifier) -> bool {
        self.absent()
            .contains(&(type_name.clone(), identifier.clone()))
    }

    pub(super) fn created(&self, of_type: &TypeName) {
        self.absent().retain(|(type_name, _)| type_name != of_type);
    }

    fn absent(&self) -> MutexGuard<'_, BTreeSet<(TypeName, Identifier)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
