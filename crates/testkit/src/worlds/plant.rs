//! Defects that are planted, to see that the worlds find them.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use ucp_model::{CallClass, Identifier, OperationId, PlanId};
use ucp_schema::holds_unknown;
use ucp_store::{Claimed, LeaseTerm, SealedPlace, Store};

use crate::stores::cipher;

tokio::task_local! {
    /// The operation that a worker steps.
    pub(super) static OPERATION: OperationId;
}

/// A defect to plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// A claim does not remember its lease: another worker gets the same operation under the same lease, as long as nothing was
    /// written.
    ForgottenLease,
    /// A look believes one "not found": what an operation has not found once, no later look of that operation finds, and no list
    /// shows to it, until it has created something.
    BelievedAbsence,
    /// Processes do not know what the operator allows of a class of calls.
    ForgottenCeiling(CallClass),
    /// What a refused create names is taken for its half-made resource, and deleted.
    TakenForHalfMade,
    /// What a complete set lists under another alias is deleted under the old one.
    DeletedWithItsAlias,
    /// A set that lists one resource under two aliases is taken.
    DoubleDeclaration,
    /// What is not owned is deleted where it is to be forgotten.
    DeletedThoughForeign,
    /// A create-only value that AWS shows otherwise from the start is compared with another form of it at each look.
    ForgottenForm,
    /// A plan has the canonical form of a document that is not known yet.
    TakenForKnown,
    /// The deletion of an instance deletes all that is listed for it, whoever has made it and whoever else needs it.
    DeletedWithItsInstance,
    /// A role is deleted under its alias in one region, whoever declares it from another one.
    DeletedInOneRegion,
}

/// The defects, by their names.
const PLANTS: [(&str, Plant); 12] = [
    ("forgotten-lease", Plant::ForgottenLease),
    ("believed-absence", Plant::BelievedAbsence),
    (
        "forgotten-ceiling-on-mutations",
        Plant::ForgottenCeiling(CallClass::Mutations),
    ),
    (
        "forgotten-ceiling-on-reads",
        Plant::ForgottenCeiling(CallClass::Reads),
    ),
    ("taken-for-half-made", Plant::TakenForHalfMade),
    ("deleted-with-its-alias", Plant::DeletedWithItsAlias),
    ("double-declaration", Plant::DoubleDeclaration),
    ("deleted-though-foreign", Plant::DeletedThoughForeign),
    ("forgotten-form", Plant::ForgottenForm),
    ("taken-for-known", Plant::TakenForKnown),
    ("deleted-with-its-instance", Plant::DeletedWithItsInstance),
    ("deleted-in-one-region", Plant::DeletedInOneRegion),
];

impl FromStr for Plant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = PLANTS.iter().find(|(name, _)| *name == text);
        found.map(|(_, plant)| *plant).ok_or_else(|| {
            let names: Vec<&str> = PLANTS.iter().map(|(name, _)| *name).collect();
            format!("'{text}' is none of {}", names.join(", "))
        })
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

/// What operations have not found.
#[derive(Default)]
pub(super) struct BelievedAbsences(Mutex<BTreeSet<(OperationId, Identifier)>>);

impl BelievedAbsences {
    /// Believes that the operation at work has not found it, and never will.
    pub(super) fn believe(&self, identifier: &Identifier) {
        if let Ok(id) = OPERATION.try_with(|id| *id) {
            self.absent().insert((id, identifier.clone()));
        }
    }

    /// Whether the operation at work has not found it.
    pub(super) fn has(&self, identifier: &Identifier) -> bool {
        let id = OPERATION.try_with(|id| *id);
        id.is_ok_and(|id| self.absent().contains(&(id, identifier.clone())))
    }

    /// The operation at work creates something, perhaps under the same identifier.
    pub(super) fn created(&self) {
        if let Ok(own) = OPERATION.try_with(|id| *id) {
            self.absent().retain(|(id, _)| *id != own);
        }
    }

    fn absent(&self) -> MutexGuard<'_, BTreeSet<(OperationId, Identifier)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives the documents of a plan that are not known yet the form of those that are known: a text.
pub(super) async fn take_for_known(store: &dyn Store, id: PlanId) {
    let place = SealedPlace::PlanContent(id);
    let stored = store.get_plan(id).await.expect("the store answers");
    let content = stored.expect("it is kept").content;
    let text = cipher().open(&place, &content).expect("it opens");
    let text = ucp_look::unpack(text.into()).expect("it is as it was written");
    let mut shown: Value = serde_json::from_slice(&text).expect("it is JSON");
    for member in shown["members"].as_array_mut().into_iter().flatten() {
        let planned = member["planned"].as_object_mut().into_iter().flatten();
        for (_, value) in planned {
            if value.get("Statement").is_some() && holds_unknown(value) {
                *value = Value::String(value.to_string());
            }
        }
    }
    let packed = ucp_look::pack(&shown.to_string()).expect("it is compressed");
    let sealed = cipher().seal(&place, &packed);
    let sealed = sealed.expect("it is sealed");
    let resealed = store.reseal(&place, &content.into(), sealed).await;
    assert!(resealed.expect("the store answers"), "it is as it was");
}
