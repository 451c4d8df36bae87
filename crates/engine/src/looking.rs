//! Looks and reads under the lease of an operation.

use std::collections::BTreeSet;
use std::sync::Arc;
use ucp_cloud::Fault;
use ucp_look::{Accounts, Lister, Look, Planned, Reader, Seen, contradicted, departure};
use ucp_model::operation::{
    Kind, Listing, Observation, Presence, ResourceWork, Search, State, Work,
};
use ucp_model::{Failure, Identifier, ReferenceId, ResourceDescription, ResourcePage, Target};
use ucp_seal::AssociatedData;
use ucp_store::Lease;

use crate::Engine;
use crate::abandoned::Abandoned;
use crate::set_values::REFERENCES_MAX;
use crate::stepper::{Stepper, work};
use crate::turn::Turn;

impl Stepper<'_> {
    /// Reads the resource and plans against it. The first look starts with what the request has seen, if that is recent.
    pub(crate) async fn look(
        &mut self,
        identifier: Option<Identifier>,
    ) -> Result<Observation, Abandoned> {
        let seen = self.seen();
        let declared = self.declared();
        let work = work(&self.claimed.operation.work)?;
        let look = Look {
            work,
            schema: self.schema.as_ref(),
            declared: declared.as_ref().map(Option::as_ref),
            baseline: self.claimed.baseline.as_ref(),
            ownership_tags: self.engine.settings.ownership_tags,
            pool: &self.engine.parts().pool,
        };
        let mut reader = Leased {
            engine: self.engine,
            turn: &mut self.turn,
            lease: &mut self.claimed.lease,
            work,
            seen,
        };
        let (presence, planned) = look.at(identifier, &mut reader).await?;
        let refused = match self.departs(&presence, &planned).await? {
            None => self.contradicts(&presence).await?,
            departed => departed,
        };
        let planned = match refused {
            Some(failure) => failure.into(),
            None => {
                self.note(&planned);
                planned
            }
        };
        let outcome = planned.outcome.clone();
        self.planned = Some(planned);
        Ok(Observation::Looked(presence, outcome))
    }

    /// Returns why the operation must not go on, if it carries out a plan that was made for something else.
    async fn departs(
        &mut self,
        presence: &Presence,
        planned: &Planned,
    ) -> Result<Option<Failure>, Abandoned> {
        let Some(used) = work(&self.claimed.operation.work)?.plan else {
            return Ok(None);
        };
        let member = self.planned_member(used).await?;
        let work = work(&self.claimed.operation.work)?;
        let Some(schema) = &self.schema else {
            return Ok(None);
        };
        let baseline = self.claimed.baseline.as_ref();
        Ok(match &member {
            Some(member) => member.departed(work, baseline, schema, presence, planned),
            None => Some(departure(work, Vec::new())),
        })
    }

    /// Returns why a put must not make its reference, if AWS spells the resource otherwise: it was compared with the references under
    /// the spelling of the declaration alone.
    async fn contradicts(&self, presence: &Presence) -> Result<Option<Failure>, Abandoned> {
        let work = work(&self.claimed.operation.work)?;
        let (Some(own), Some(schema), Presence::Present { identifier, .. }) =
            (&work.reference, &self.schema, presence)
        else {
            return Ok(None);
        };
        let is_new = work.kind == Kind::Put && !work.was_referenced && !work.created;
        if !is_new || work.subject() == Some(identifier) {
            return Ok(None);
        }
        let Ok(Some(desired)) = self.declared() else {
            return Ok(None);
        };
        let target = Target {
            scope: &work.scope,
            type_name: &work.type_name,
            identifier,
        };
        let store = &self.engine.parts().store;
        let others = store.references_to(&[target.key()], REFERENCES_MAX).await?;
        let is_of_group = |other: &ReferenceId| other.group.key() == own.group.key();
        let declared = desired.declaration.properties();
        Ok(contradicted(own, declared, &others, schema, is_of_group))
    }

    /// Reads the resource from AWS. Without an identifier the resource counts as absent.
    pub(crate) async fn read(
        &mut self,
        identifier: Option<Identifier>,
    ) -> Result<Presence, Abandoned> {
        let work = work(&self.claimed.operation.work)?;
        let mut reader = Leased {
            engine: self.engine,
            turn: &mut self.turn,
            lease: &mut self.claimed.lease,
            work,
            seen: None,
        };
        ucp_look::read(work, self.schema.as_deref(), identifier, &mut reader).await
    }

    /// Lists the type, to see whether the resource exists.
    pub(crate) async fn list(&mut self, identifier: &Identifier) -> Result<Listing, Abandoned> {
        let mut lister = Leased {
            engine: self.engine,
            turn: &mut self.turn,
            lease: &mut self.claimed.lease,
            work: work(&self.claimed.operation.work)?,
            seen: None,
        };
        ucp_look::list(self.schema.as_deref(), identifier, &mut lister).await
    }

    /// Searches a page of the resources of the type for one that bears the mark of the reference. How far the search has
    /// come is noted with the operation.
    pub(crate) async fn search(&mut self) -> Result<Search, Abandoned> {
        let now = self.engine.now();
        let work = work(&self.claimed.operation.work)?;
        let mut searcher = Leased {
            engine: self.engine,
            turn: &mut self.turn,
            lease: &mut self.claimed.lease,
            work,
            seen: None,
        };
        let search = ucp_look::search(work, self.schema.as_deref(), now, &mut searcher);
        let (search, searched) = search.await?;
        if let Work::Resource(work) = &mut self.claimed.operation.work {
            work.searched = searched;
        }
        Ok(search)
    }

    /// Notes with a put that AWS reports as successful what the resource proves of it.
    pub(crate) async fn prove(&mut self, presence: &Presence) -> Result<(), Abandoned> {
        let Ok(Some(desired)) = self.declared() else {
            return Ok(());
        };
        let baseline = self.claimed.baseline.as_ref();
        if let Some(schema) = &self.schema
            && let Work::Resource(work) = &mut self.claimed.operation.work
            && matches!(work.state, State::Observing(_))
        {
            let is_quick = match presence {
                Presence::Present { live, .. } => schema.is_quick_for([live]),
                Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_) => true,
            };
            let proven = if is_quick {
                ucp_look::proven(work, schema, &desired, baseline, presence)
            } else {
                self.turn.arm(&mut self.claimed.lease).await?;
                let (work, schema) = (work.clone(), Arc::clone(schema));
                let (baseline, presence) = (baseline.cloned(), presence.clone());
                let proving = move || {
                    ucp_look::proven(&work, &schema, &desired, baseline.as_ref(), &presence)
                };
                self.engine.parts().pool.run(proving).await?
            };
            if let Some(proven) = proven {
                **work = proven;
            }
        }
        Ok(())
    }

    /// Takes what the request has seen. One that cannot be opened is as good as none: the worker looks itself.
    fn seen(&mut self) -> Option<Seen> {
        let sealed = self.claimed.documents.look.take()?;
        let operation = &self.claimed.operation;
        if operation.work.resource()?.state != State::Accepted {
            return None;
        }
        let place = AssociatedData::Look(operation.header.id);
        let opened = self.engine.parts().keys.sealing.open(place, &sealed.0);
        let seen: Seen = serde_json::from_slice(&opened.ok()?).ok()?;
        seen.is_fresh(self.engine.now()).then_some(seen)
    }
}

/// Reads under a lease.
struct Leased<'a, 'e> {
    engine: &'a Engine,
    turn: &'a mut Turn<'e>,
    lease: &'a mut Lease,
    work: &'a ResourceWork,
    /// Stands in for the first read.
    seen: Option<Seen>,
}

impl Reader for Leased<'_, '_> {
    type Error = Abandoned;

    async fn read(
        &mut self,
        identifier: &Identifier,
    ) -> Result<Result<ResourceDescription, Fault>, Abandoned> {
        if let Some(seen) = self.seen.take()
            && seen.identifier == *identifier
        {
            return Ok(seen.reply());
        }
        let ResourceWork {
            scope, type_name, ..
        } = self.work;
        let cloud = &self.engine.parts().cloud;
        let call = cloud.get_resource(scope, type_name, identifier);
        self.turn.call(self.lease, call).await
    }

    async fn before_long_plan(&mut self) -> Result<(), Abandoned> {
        self.turn.arm(self.lease).await
    }
}

impl Lister for Leased<'_, '_> {
    type Error = Abandoned;

    async fn page(
        &mut self,
        next_token: Option<&str>,
    ) -> Result<Result<ResourcePage, Fault>, Abandoned> {
        let ResourceWork {
            scope, type_name, ..
        } = self.work;
        let cloud = &self.engine.parts().cloud;
        let call = cloud.list_resources(scope, type_name, next_token);
        self.turn.call(self.lease, call).await
    }
}

impl Accounts for Leased<'_, '_> {
    type Error = Abandoned;

    async fn accounted_for(
        &mut self,
        identifiers: &[Identifier],
    ) -> Result<BTreeSet<Identifier>, Abandoned> {
        let ResourceWork {
            scope, type_name, ..
        } = self.work;
        let store = self.engine.store();
        let accounted_for = store.accounted_for(scope, type_name, identifiers);
        Ok(accounted_for.await?)
    }
}
