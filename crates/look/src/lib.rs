//! A look: reads of the resource that an operation is about, and the plan against what they find.
//!
//! Requests and workers look in the same way, each by a [`Reader`] of its own. What follows from a look is decided by
//! [`ucp_model::operation::decide`].

mod departure;
mod limits;
mod listing;
mod packed;
mod plan_basis;
mod planner;
mod search;
mod seen;
mod sharing;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;
use ucp_cpu_pool::{CpuPool, Undone};
use ucp_model::operation::{Kind, PlanOutcome, Presence, ResourceWork};
use ucp_model::{
    Baseline, ErrorCode, Failure, Fault, FaultClass, Identifier, Mark, Ownership,
    ResourceDescription,
};
use ucp_plan::Desired;
use ucp_schema::ResourceSchema;

pub use departure::departure;
pub use limits::LIMITS;
pub use listing::{Lister, list};
pub use packed::{PLAN_MAX_BYTES, pack, unpack};
pub use plan_basis::{
    LiveBasis, Mapping, PlanBasis, PlanContent, PlanRead, PlannedMember, PlannedStep,
    planned_members, stale,
};
pub use planner::{Planned, desired};
pub use search::{Accounts, search};
pub use seen::Seen;
pub use sharing::{compared_with, contradicted};

/// Reads resources from AWS.
pub trait Reader: Send {
    /// Why the reader could not even ask.
    type Error;

    /// Returns the resource as AWS describes it. A missing resource is [`FaultClass::Missing`].
    fn read(
        &mut self,
        identifier: &Identifier,
    ) -> impl Future<Output = Result<Result<ResourceDescription, Fault>, Self::Error>> + Send;

    /// Called before a plan that takes so long that it needs a thread of its own.
    fn before_long_plan(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        async { Ok(()) }
    }

    /// Returns the digest of live properties that an intent is recorded with.
    fn digest(&self, live: &Value) -> String {
        planner::live_digest(live)
    }
}

/// An operation that is about to look.
#[derive(Debug)]
pub struct Look<'a> {
    /// Its work.
    pub work: &'a ResourceWork,
    /// The schema of its type; `None` if the type is no longer known.
    pub schema: Option<&'a Arc<ResourceSchema>>,
    /// The declaration of a put, or why it cannot be read.
    pub declared: Result<Option<&'a Desired>, &'a Failure>,
    /// The declaration of the last successful put under its alias.
    pub baseline: Option<&'a Baseline>,
    /// Whether a create gets the mark of the reference.
    pub ownership_tags: OwnershipTags,
    /// Where it is planned.
    pub pool: &'a CpuPool,
}

/// Whether what is created gets the mark of its reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnershipTags {
    /// It does, if its type has tags.
    #[default]
    On,
    /// It does not. Marks that are there count nevertheless.
    Off,
}

impl Look<'_> {
    /// Reads the resource and plans against it. A replacement needs a free identifier, so that one is read too. Without
    /// an identifier, nothing is read.
    pub async fn at<R: Reader>(
        &self,
        identifier: Option<Identifier>,
        reader: &mut R,
    ) -> Result<(Presence, Planned), R::Error>
    where
        R::Error: From<Undone>,
    {
        let presence = self.read(identifier.clone(), reader).await?;
        let is_respelled = self
            .is_respelled(identifier.as_ref(), &presence, reader)
            .await?;
        // Boxed, so that a step is not as large as all that a plan depends on.
        let planning = Box::pin(self.plan(presence, is_respelled, reader));
        let (mut presence, mut planned) = planning.await?;
        if let PlanOutcome::Replace {
            old,
            identifier: Some(new),
            ..
        } = &planned.outcome
            && new != old
        {
            let new = new.clone();
            match self.read(Some(new.clone()), reader).await? {
                Presence::Absent | Presence::Unreadable(_) => {}
                Presence::Present { .. } => planned = planner::name_is_taken(self.work, &new),
                unknown @ Presence::Unknown(_) => presence = unknown,
            }
        }
        Ok((presence, planned))
    }

    async fn read<R: Reader>(
        &self,
        identifier: Option<Identifier>,
        reader: &mut R,
    ) -> Result<Presence, R::Error> {
        let schema = self.schema.map(Arc::as_ref);
        read(self.work, schema, identifier, reader).await
    }

    /// Returns whether the declaration names the resource, but spells its identifier otherwise than AWS. It does if the
    /// resource was looked up by that spelling now, or was put under it before. Other spellings that differ only in
    /// letter case are looked up.
    async fn is_respelled<R: Reader>(
        &self,
        looked_up: Option<&Identifier>,
        presence: &Presence,
        reader: &mut R,
    ) -> Result<bool, R::Error> {
        let Presence::Present { identifier, .. } = presence else {
            return Ok(false);
        };
        let Some(declared) = self.declared_identifier() else {
            return Ok(false);
        };
        if declared == *identifier {
            return Ok(false);
        }
        let known = [
            looked_up.cloned(),
            self.work.spelled.clone(),
            self.last_spelling(),
        ];
        if known.contains(&Some(declared.clone())) {
            return Ok(true);
        }
        if declared.as_str().to_lowercase() != identifier.as_str().to_lowercase() {
            return Ok(false);
        }
        Ok(match self.read(Some(declared), reader).await? {
            Presence::Present {
                identifier: same, ..
            } => same == *identifier,
            Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_) => false,
        })
    }

    /// Returns the identifier that the declaration of a put contains.
    fn declared_identifier(&self) -> Option<Identifier> {
        let desired = self.declared.ok()??;
        planner::identifier_in(desired.declaration.properties(), self.schema?)
    }

    /// Returns the identifier that the last successful put under the alias declared.
    fn last_spelling(&self) -> Option<Identifier> {
        planner::identifier_in(&self.baseline?.declared, self.schema?)
    }

    /// Plans against what was found. Returns that too.
    async fn plan<R: Reader>(
        &self,
        presence: Presence,
        is_respelled: bool,
        reader: &mut R,
    ) -> Result<(Presence, Planned), R::Error>
    where
        R::Error: From<Undone>,
    {
        let work = self.work;
        if work.deletes() {
            let planned = planner::plan_delete(&presence);
            return Ok((presence, planned));
        }
        match work.kind {
            // A resolve only reads.
            Kind::Import | Kind::Resolve => {
                let planned = planner::plan_import(self.schema.map(Arc::as_ref));
                return Ok((presence, planned));
            }
            Kind::Put | Kind::Delete => {}
        }
        let put = Put {
            work: Cow::Borrowed(work),
            schema: self.schema.cloned(),
            declared: match self.declared {
                Ok(desired) => Ok(desired.map(Cow::Borrowed)),
                Err(failure) => Err(Cow::Borrowed(failure)),
            },
            baseline: self.baseline.map(Cow::Borrowed),
            mark: match self.ownership_tags {
                OwnershipTags::On => mark_of(work),
                OwnershipTags::Off => None,
            },
            is_respelled,
        };
        if put.is_quick(&presence) {
            let planned = put.plan(&presence);
            return Ok((presence, planned));
        }
        let put = put.into_owned();
        let plan = move || {
            let planned = put.plan(&presence);
            (presence, planned)
        };
        reader.before_long_plan().await?;
        Ok(self.pool.run(plan).await?)
    }
}

/// All that the plan of a put depends on, except for what was found.
struct Put<'a> {
    work: Cow<'a, ResourceWork>,
    schema: Option<Arc<ResourceSchema>>,
    declared: Result<Option<Cow<'a, Desired>>, Cow<'a, Failure>>,
    baseline: Option<Cow<'a, Baseline>>,
    /// What a create is marked with.
    mark: Option<Mark>,
    /// Whether the declaration spells the identifier of the resource otherwise than AWS.
    is_respelled: bool,
}

impl Put<'_> {
    fn into_owned(self) -> Put<'static> {
        Put {
            work: Cow::Owned(self.work.into_owned()),
            schema: self.schema,
            declared: match self.declared {
                Ok(desired) => Ok(desired.map(|desired| Cow::Owned(desired.into_owned()))),
                Err(failure) => Err(Cow::Owned(failure.into_owned())),
            },
            baseline: self.baseline.map(|it| Cow::Owned(it.into_owned())),
            mark: self.mark,
            is_respelled: self.is_respelled,
        }
    }

    fn is_quick(&self, presence: &Presence) -> bool {
        let Some(schema) = &self.schema else {
            return true;
        };
        let desired = self.declared.as_ref().ok().and_then(Option::as_ref);
        let live = match presence {
            Presence::Present { live, .. } => Some(live),
            Presence::Absent | Presence::Unreadable(_) | Presence::Unknown(_) => None,
        };
        let declared = desired.map(|desired| desired.declaration.properties());
        let last = self.baseline.as_ref().map(|baseline| &baseline.declared);
        schema.is_quick_for([declared, last, live].into_iter().flatten())
    }

    fn plan(&self, presence: &Presence) -> Planned {
        let work = self.work.as_ref();
        match (&self.declared, &self.schema) {
            (Ok(Some(desired)), Some(schema)) => {
                let desired = match presence {
                    Presence::Present { identifier, .. } if self.is_respelled => {
                        Cow::Owned(planner::respelled(desired, identifier, schema))
                    }
                    Presence::Present { .. }
                    | Presence::Absent
                    | Presence::Unreadable(_)
                    | Presence::Unknown(_) => Cow::Borrowed(desired.as_ref()),
                };
                let baseline = self.baseline.as_deref();
                let baseline = baseline.map(|last| baseline_at(last, presence, schema));
                let (baseline, mark) = (baseline.as_deref(), self.mark.as_ref());
                planner::plan_put(work, &desired, baseline, presence, schema, mark)
            }
            (Err(failure), _) => failure.as_ref().clone().into(),
            (Ok(None), _) => {
                Failure::new(ErrorCode::InternalFailure, "The declaration is missing.").into()
            }
            (_, None) => Failure::new(
                ErrorCode::TypeNotFoundException,
                format!("{} is not a resource type that ucp knows.", work.type_name),
            )
            .into(),
        }
    }
}

/// Returns the baseline that a look is compared with. If the look is the first to show the resource, it has AWS's form of what was
/// declared. The mark proves that it is the one which was put, or its identifier, if that is AWS's own, or that AWS has [reported the
/// success](Baseline::is_made) of a create without a mark.
pub fn baseline_at<'a>(
    last: &'a Baseline,
    presence: &Presence,
    schema: &ResourceSchema,
) -> Cow<'a, Baseline> {
    match presence {
        Presence::Present {
            live, ownership, ..
        } if !last.is_seen
            && (ownership.is_ours()
                || last.is_made && *ownership == Ownership::Unmarked
                || !schema.is_named_in(&last.declared)) =>
        {
            Cow::Owned(ucp_plan::first_seen(last, live, schema))
        }
        Presence::Present { .. }
        | Presence::Absent
        | Presence::Unreadable(_)
        | Presence::Unknown(_) => Cow::Borrowed(last),
    }
}

/// Returns the mark that the creates of an operation put on.
fn mark_of(work: &ResourceWork) -> Option<Mark> {
    work.reference.as_ref()?;
    let lineage = work.lineage()?;
    Some(match work.creation {
        Some(creation) => Mark::of_create(&lineage, creation),
        None => Mark::of(&lineage),
    })
}

/// Returns the work of a put with proof of its change, if the read that follows its success shows any.
pub fn proven(
    work: &ResourceWork,
    schema: &ResourceSchema,
    desired: &Desired,
    baseline: Option<&Baseline>,
    presence: &Presence,
) -> Option<ResourceWork> {
    let live = match presence {
        Presence::Present { live, .. } => Some(live),
        Presence::Unreadable(_) => None,
        // What an earlier look has shown counts.
        Presence::Unknown(_) if work.proof.is_none() => None,
        Presence::Absent | Presence::Unknown(_) => return None,
    };
    let mode = work.options.update_mode;
    let ucp_plan::Proven { proof, prediction } = ucp_plan::prove(
        &work.sent,
        work.planned.as_ref(),
        desired,
        baseline,
        live,
        schema,
        mode,
    );
    let told = ucp_plan::unproven(&proof);
    let mut warnings = work.warnings.clone();
    if let Some(before) = &work.proof {
        let before = ucp_plan::unproven(before);
        warnings.retain(|warning| !before.contains(warning));
    }
    warnings.extend(told);
    Some(ResourceWork {
        proof: Some(proof),
        prediction,
        warnings,
        ..work.clone()
    })
}

/// Reads the resource of an operation from AWS. Without an identifier the resource counts as absent.
pub async fn read<R: Reader>(
    work: &ResourceWork,
    schema: Option<&ResourceSchema>,
    identifier: Option<Identifier>,
    reader: &mut R,
) -> Result<Presence, R::Error> {
    let Some(identifier) = identifier else {
        return Ok(Presence::Absent);
    };
    if schema.is_some_and(|schema| !schema.handlers().read) {
        return Ok(Presence::Unreadable(identifier));
    }
    Ok(match reader.read(&identifier).await? {
        Ok(ResourceDescription {
            identifier,
            properties: live,
        }) => Presence::Present {
            identifier: match schema {
                Some(schema) => schema.answered(&identifier, &live),
                None => identifier,
            },
            digest: reader.digest(&live),
            ownership: {
                let mark = schema.and_then(|schema| schema.mark_in(&live));
                Ownership::of(mark, work.lineage().as_ref(), work.creation)
            },
            live,
        },
        Err(fault) if fault.class == FaultClass::Missing => Presence::Absent,
        Err(fault) => Presence::Unknown(fault),
    })
}
