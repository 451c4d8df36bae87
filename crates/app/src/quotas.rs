//! The refusal of requests that would leave behind more than the quotas allow.

use ucp_model::operation::Kind;
use ucp_model::{ErrorCode, Failure, GroupId, ReferenceId};

use crate::{App, Rejection};

/// What is counted.
#[derive(Clone, Copy, Debug)]
enum Counted<'a> {
    /// The groups of the plane of that name.
    Groups(&'a str),
    /// The references of a group.
    References(&'a GroupId),
    /// The operations under way in a group.
    GroupOperations(&'a GroupId),
    /// The operations under way.
    Operations,
}

impl Counted<'_> {
    /// Returns a text that no other has.
    fn key(self) -> String {
        match self {
            Self::Groups(plane) => format!("groups {}", plane.to_lowercase()),
            Self::References(group) => format!("references {}", group.key()),
            Self::GroupOperations(group) => format!("operations {}", group.key()),
            Self::Operations => "operations".to_owned(),
        }
    }
}

impl App {
    /// Refuses a new group beyond the quota of its plane.
    pub(crate) async fn admit_group(&self, id: &GroupId) -> Result<(), Rejection> {
        let quota = self.parts.quotas.groups;
        if self.admit(Counted::Groups(&id.plane), 1, quota).await? {
            return Ok(());
        }
        match self.parts.store.get_resource_group(id).await {
            Ok(_) => Ok(()),
            Err(ucp_store::Error::NoSuchGroup) => {
                let message = format!(
                    "The plane '{}' has {quota} resource groups, which is its quota. Delete one, or raise --quota-groups.",
                    id.plane
                );
                Err(Rejection::QuotaExceeded(exceeded(message, id.plane_id())))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Refuses an operation that is one too many under way, or that would make a reference beyond the quota of its group.
    pub(crate) async fn admit_operation(
        &self,
        kind: Kind,
        reference: Option<&ReferenceId>,
    ) -> Result<(), Rejection> {
        // What is deleted makes room, so there is a reserve for it.
        let times = match kind {
            Kind::Delete => 2,
            Kind::Put | Kind::Import | Kind::Resolve => 1,
        };
        self.admit_under_way(reference.map(|id| &id.group), times)
            .await?;
        match (kind, reference) {
            (Kind::Put | Kind::Import, Some(id)) => self.admit_reference(id).await,
            (Kind::Put | Kind::Import, None) | (Kind::Delete | Kind::Resolve, _) => Ok(()),
        }
    }

    /// Refuses a new reference beyond the quota of its group.
    pub(crate) async fn admit_reference(&self, id: &ReferenceId) -> Result<(), Rejection> {
        let (of, quota) = (Counted::References(&id.group), self.parts.quotas.references);
        // Before anything is counted: in a full group, most puts are of aliases that it has.
        if self.estimates.admit(&of.key(), 1, quota, self.now())
            || self.parts.store.get_reference(id).await?.is_some()
            || self.admit(of, 1, quota).await?
        {
            return Ok(());
        }
        Err(self.too_many_references(&id.group))
    }

    /// Refuses an import of `more` resources that does not fit into the group.
    pub(crate) async fn admit_import(&self, group: &GroupId, more: usize) -> Result<(), Rejection> {
        self.admit_under_way(Some(group), 1).await?;
        let quota = self.parts.quotas.references;
        match self.admit(Counted::References(group), more, quota).await? {
            true => Ok(()),
            false => Err(self.too_many_references(group)),
        }
    }

    fn too_many_references(&self, group: &GroupId) -> Rejection {
        let message = format!(
            "The resource group '{}' may have {} references, which is its quota, and would have more. Use another group, delete references, or raise --quota-references.",
            group.name, self.parts.quotas.references
        );
        Rejection::QuotaExceeded(exceeded(message, group))
    }

    /// Refuses an operation beyond so many times the quotas.
    async fn admit_under_way(
        &self,
        group: Option<&GroupId>,
        times: usize,
    ) -> Result<(), Rejection> {
        if let Some(group) = group {
            let quota = self.parts.quotas.group_operations.saturating_mul(times);
            if !self
                .admit(Counted::GroupOperations(group), 1, quota)
                .await?
            {
                let message = format!(
                    "{quota} operations are under way in the resource group '{}', and no more may be. Try again when some have ended, or raise --quota-group-operations.",
                    group.name
                );
                return Err(Rejection::TooMany(exceeded(message, group)));
            }
        }
        let quota = self.parts.quotas.operations.saturating_mul(times);
        if self.admit(Counted::Operations, 1, quota).await? {
            return Ok(());
        }
        let message = format!(
            "{quota} operations are under way, and no more may be. Try again when some have ended, or raise --quota-operations."
        );
        Err(Rejection::TooMany(Failure::new(
            ErrorCode::QuotaExceeded,
            message,
        )))
    }

    /// Returns whether `more` fit into the quota.
    async fn admit(&self, of: Counted<'_>, more: usize, quota: usize) -> Result<bool, Rejection> {
        let (key, now) = (of.key(), self.now());
        if self.estimates.admit(&key, more, quota, now) {
            return Ok(true);
        }
        let store = &self.parts.store;
        let counted = match of {
            Counted::Groups(plane) => store.count_resource_groups(plane, quota).await,
            Counted::References(group) => store.count_references(group, quota).await,
            Counted::GroupOperations(group) => {
                store.count_live_operations(Some(group), quota).await
            }
            Counted::Operations => store.count_live_operations(None, quota).await,
        }?;
        let fits = counted + more <= quota;
        let admitted = if fits { more } else { 0 };
        self.estimates.note(key, counted, admitted, now);
        Ok(fits)
    }
}

fn exceeded(message: String, what: impl ToString) -> Failure {
    Failure::new(ErrorCode::QuotaExceeded, message).with_target(what.to_string())
}
