//! Looks: reads of the live resource, and the plan against it.

use ucp_model::operation::{Kind, Observation, PlanOutcome, Presence, ResourceWork};
use ucp_model::{ErrorCode, Failure, FaultClass, Identifier, ResourceDescription};

use crate::engine::{Abandoned, Stepper};
use crate::planner::{self, Planned};

impl Stepper<'_> {
    /// Reads the resource and plans against it. A replacement needs a free identifier, so that one is read too.
    pub(crate) async fn look(
        &mut self,
        identifier: Option<Identifier>,
    ) -> Result<Observation, Abandoned> {
        let mut presence = self.read(identifier.clone()).await?;
        let is_respelled = self.is_respelled(identifier.as_ref(), &presence).await?;
        let mut planned = self.plan(&presence, is_respelled)?;
        if let PlanOutcome::Replace {
            old,
            identifier: Some(new),
            ..
        } = &planned.outcome
            && new != old
        {
            let new = new.clone();
            match self.read(Some(new.clone())).await? {
                Presence::Absent | Presence::Unreadable(_) => {}
                Presence::Present { .. } => {
                    planned = planner::name_is_taken(self.work()?, &new);
                }
                unknown @ Presence::Unknown(_) => presence = unknown,
            }
        }
        let outcome = planned.outcome.clone();
        self.note_warnings(&planned);
        self.planned = Some(planned);
        Ok(Observation::Looked(presence, outcome))
    }

    /// Reads the resource from AWS. Without an identifier the resource counts as absent.
    pub(crate) async fn read(
        &mut self,
        identifier: Option<Identifier>,
    ) -> Result<Presence, Abandoned> {
        let Some(identifier) = identifier else {
            return Ok(Presence::Absent);
        };
        if self
            .schema
            .as_deref()
            .is_some_and(|schema| !schema.handlers().read)
        {
            return Ok(Presence::Unreadable(identifier));
        }
        self.hold_lease().await?;
        let ResourceWork {
            scope, type_name, ..
        } = self.work()?;
        let cloud = &self.engine.parts().cloud;
        let reply = cloud.get_resource(scope, type_name, &identifier).await;
        Ok(match reply {
            Ok(described) => {
                let ResourceDescription {
                    identifier,
                    properties: live,
                } = described;
                let schema = self.schema.as_deref();
                Presence::Present {
                    identifier: schema.map_or_else(
                        || identifier.clone(),
                        |schema| schema.answered(&identifier, &live),
                    ),
                    digest: planner::live_digest(&live),
                    live,
                }
            }
            Err(fault) if fault.class == FaultClass::Missing => Presence::Absent,
            Err(fault) => Presence::Unknown(fault),
        })
    }

    /// Returns whether the declaration names the resource, but spells its identifier otherwise than AWS. It does if the
    /// resource was looked up by that spelling now, or was put under it before. Other spellings that differ only in
    /// letter case are looked up.
    async fn is_respelled(
        &mut self,
        looked_up: Option<&Identifier>,
        presence: &Presence,
    ) -> Result<bool, Abandoned> {
        let Presence::Present { identifier, .. } = presence else {
            return Ok(false);
        };
        let Some(declared) = self.declared_identifier() else {
            return Ok(false);
        };
        if declared == *identifier {
            return Ok(false);
        }
        let work = self.work()?;
        let known = [
            looked_up.cloned(),
            work.spelled.clone(),
            self.last_spelling(),
        ];
        if known.contains(&Some(declared.clone())) {
            return Ok(true);
        }
        if declared.as_str().to_lowercase() != identifier.as_str().to_lowercase() {
            return Ok(false);
        }
        Ok(match self.read(Some(declared)).await? {
            Presence::Present {
                identifier: same, ..
            } => same == *identifier,
            Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_) => false,
        })
    }

    /// Returns the identifier that the declaration of a put contains.
    fn declared_identifier(&self) -> Option<Identifier> {
        let desired = self.declared().ok()??;
        planner::identifier_in(desired.declaration.properties(), self.schema.as_deref()?)
    }

    /// Returns the identifier that the last successful put under the alias declared.
    fn last_spelling(&self) -> Option<Identifier> {
        let baseline = self.claimed.baseline.as_ref()?;
        planner::identifier_in(&baseline.declared, self.schema.as_deref()?)
    }

    fn plan(&self, presence: &Presence, is_respelled: bool) -> Result<Planned, Abandoned> {
        let work = self.work()?;
        if work.deletes() {
            return Ok(planner::plan_delete(presence));
        }
        if work.kind == Kind::Import {
            return Ok(planner::plan_import(self.schema.as_deref()));
        }
        Ok(match (self.declared(), self.schema.as_deref()) {
            (Ok(Some(desired)), Some(schema)) => {
                let desired = match presence {
                    Presence::Present { identifier, .. } if is_respelled => {
                        planner::respelled(desired, identifier, schema)
                    }
                    Presence::Present { .. }
                    | Presence::Absent
                    | Presence::Unreadable(_)
                    | Presence::Unknown(_) => desired,
                };
                let baseline = self.claimed.baseline.as_ref();
                planner::plan_put(work, &desired, baseline, presence, schema)
            }
            (Err(failure), _) => failure.into(),
            (Ok(None), _) => {
                Failure::new(ErrorCode::InternalFailure, "The declaration is missing.").into()
            }
            (_, None) => Failure::new(
                ErrorCode::TypeNotFoundException,
                format!("{} is not a resource type that ucp knows.", work.type_name),
            )
            .into(),
        })
    }
}
