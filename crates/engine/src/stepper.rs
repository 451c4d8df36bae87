//! One operation under its lease.

use std::collections::BTreeMap;
use std::sync::Arc;

use ucp_look::Planned;
use ucp_model::operation::group::Refusal;
use ucp_model::operation::{ResourceWork, Work};
use ucp_model::{ErrorCode, Failure, Operation, RateKey, Secrets};
use ucp_plan::Desired;
use ucp_schema::{Declaration, ResourceSchema};
use ucp_seal::AssociatedData;
use ucp_set::Declarations;
use ucp_store::Claimed;

use crate::abandoned::Abandoned;
use crate::engine::Engine;
use crate::turn::Turn;

/// One operation under its lease.
pub(crate) struct Stepper<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) turn: Turn<'a>,
    /// The bucket that has given a call, which was not made yet.
    pub(crate) permit: Option<RateKey>,
    /// Whether a step was written.
    pub(crate) has_written: bool,
    pub(crate) claimed: Claimed,
    /// `None` if the type is no longer known, or if the operation has no type.
    pub(crate) schema: Option<Arc<ResourceSchema>>,
    pub(crate) planned: Option<Planned>,
    /// What the set declares, once it is opened.
    pub(crate) set: Option<Arc<Declarations>>,
    /// How many bytes its members have taken so far of what they refer to.
    pub(crate) referred_bytes: usize,
    /// What is shown to nobody, once it is read.
    pub(crate) secrets: Option<Secrets>,
    /// The reasons why children could not be started, by the key of their reference.
    pub(crate) refused: BTreeMap<String, Refusal>,
}

impl Drop for Stepper<'_> {
    /// A call that was not needed is there for another operation. If nothing was written, the operation may still have it.
    fn drop(&mut self) {
        if let Some(key) = self.permit.take().filter(|_| self.has_written) {
            self.engine.give_back(&key);
        }
    }
}

impl Stepper<'_> {
    /// Keeps the warnings of a plan, and what is known of its document, with the operation. Those of a put stay while a
    /// replacement deletes a resource.
    pub(crate) fn note(&mut self, planned: &Planned) {
        if let Work::Resource(work) = &mut self.claimed.operation.work
            && !work.deletes()
        {
            work.warnings.clone_from(&planned.warnings);
            work.marked |= planned.marked;
            work.sent.clone_from(&planned.sent);
            work.planned.clone_from(&planned.model);
        }
    }

    /// Returns the declaration of a put.
    pub(crate) fn declared(&self) -> Result<Option<Desired>, Failure> {
        let Operation { header, work } = &self.claimed.operation;
        let (Work::Resource(work), Some(sealed), Some(schema)) = (
            work,
            &self.claimed.documents.desired,
            self.schema.as_deref(),
        ) else {
            return Ok(None);
        };
        let keys = &self.engine.parts.keys;
        let unreadable = |error: &dyn std::fmt::Display| {
            Failure::new(
                ErrorCode::InternalFailure,
                format!("The stored declaration cannot be read: {error}."),
            )
        };
        let bytes = keys
            .sealing
            .open(AssociatedData::Desired(header.id), &sealed.0)
            .map_err(|error| unreadable(&error))?;
        let properties = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
        let declaration = Declaration::stored(properties);
        let lineage = work.reference.as_ref().and_then(|_| work.lineage());
        Ok(Some(ucp_look::desired(
            declaration,
            lineage.as_ref(),
            schema,
            &keys.digest,
        )))
    }
}

pub(crate) fn work(work: &Work) -> Result<&ResourceWork, Abandoned> {
    Ok(work.resource().ok_or_else(|| {
        ucp_store::Error::Corrupt("an operation on a group has no resource".to_owned())
    })?)
}
