//! The refusal of requests that would leave behind more than the quotas allow.

use std::collections::BTreeMap;

use ucp_access::Scope;
use ucp_model::operation::Kind;
use ucp_model::{
    ANONYMOUS, CredentialId, ErrorCode, Failure, GroupId, PlaneId, PlaneKind, ReferenceId,
    Register, Timestamp, excerpt,
};
use ucp_store::{LiveOperations, PLAN_UNIT, PlansOf, RoleAssignment};

use crate::{Allowances, Quotas, Rejection};

/// How many role assignments are read at once.
pub(crate) const LOOKED_AT: usize = 1_000;
/// The role assignments that name one scope.
pub(crate) const SCOPE_MAX: usize = 100;

/// Returns how much a plan of so many bytes counts.
pub(crate) fn plan_units(bytes: usize) -> usize {
    bytes / PLAN_UNIT + 1
}

/// What is counted.
#[derive(Clone, Copy, Debug)]
enum Counted<'a> {
    /// The planes.
    Planes,
    /// The credentials of the aws plane.
    Credentials(&'a PlaneId),
    /// The role assignments, as they count for an owner of the plane or of everything, or for somebody else.
    RoleAssignments(bool),
    /// The role assignments that the caller has given first.
    CallerRoleAssignments(&'a str),
    /// The groups of the plane of that name.
    Groups(&'a str),
    /// The references of a group.
    References(&'a GroupId),
    /// The leftovers in a register.
    Leftovers(&'a Register),
    /// The operations under way in a group.
    GroupOperations(&'a GroupId),
    /// The operations under way that the caller has requested.
    CallerOperations(&'a str),
    /// The operations under way.
    Operations,
    /// Plans that a caller has asked for, by their size.
    Plans(PlansOf<'a>),
}

impl Counted<'_> {
    /// Returns a text that no other has.
    fn key(self) -> String {
        match self {
            Self::Planes => "planes".to_owned(),
            Self::Credentials(plane) => format!("credentials {}", plane.key()),
            Self::RoleAssignments(is_of_owner) => format!("role assignments {is_of_owner}"),
            Self::CallerRoleAssignments(caller) => format!("role assignments of {caller}"),
            Self::Groups(plane) => format!("groups {}", plane.to_lowercase()),
            Self::References(group) => format!("references {}", group.key()),
            Self::Leftovers(register) => format!("leftovers {}", register.key()),
            Self::GroupOperations(group) => format!("operations {}", group.key()),
            Self::CallerOperations(caller) => format!("operations of {caller}"),
            Self::Operations => "operations".to_owned(),
            Self::Plans(PlansOf { caller, group }) => {
                let about = group.map(GroupId::key).unwrap_or_default();
                format!("plans about {about} of {caller}")
            }
        }
    }
}

impl Allowances {
    /// Refuses a new plane beyond the quota.
    pub(crate) async fn admit_plane(&self, id: &PlaneId) -> Result<(), Rejection> {
        let quota = self.quotas.planes;
        if self.admit(Counted::Planes, 1, quota).await?
            || self.ground.store.get_plane(id).await?.is_some()
        {
            return Ok(());
        }
        let message = format!(
            "There are {quota} planes, which is the quota. Delete one, or raise --quota-planes."
        );
        Err(Rejection::QuotaExceeded(exceeded(message, "/planes")))
    }

    /// Refuses a new credential beyond the quota of its plane.
    pub(crate) async fn admit_credential(&self, id: &CredentialId) -> Result<(), Rejection> {
        let quota = self.quotas.credentials;
        let plane = PlaneId {
            kind: PlaneKind::Aws,
            name: id.plane.clone(),
        };
        if self.admit(Counted::Credentials(&plane), 1, quota).await?
            || self.ground.store.get_credential(id).await?.is_some()
        {
            return Ok(());
        }
        let message = format!(
            "The plane '{}' has {quota} credentials, which is its quota. Delete one, or raise --quota-credentials.",
            id.plane
        );
        Err(Rejection::QuotaExceeded(exceeded(message, plane)))
    }

    /// Refuses a role assignment that gives one role too many over a scope.
    pub(crate) async fn admit_to_scopes<'a>(
        &self,
        scopes: impl Iterator<Item = &'a Scope>,
    ) -> Result<(), Rejection> {
        let mut counts: BTreeMap<&str, (usize, &Scope)> =
            scopes.map(|scope| (scope.key(), (0, scope))).collect();
        if counts.is_empty() {
            return Ok(());
        }
        self.each_role_assignment(|listed| {
            for scope in &listed.body.grant.scopes {
                if let Some((count, _)) = counts.get_mut(scope.key()) {
                    *count += 1;
                }
            }
        })
        .await?;
        let full = counts.into_values().find(|(count, _)| *count >= SCOPE_MAX);
        let Some((_, scope)) = full else {
            return Ok(());
        };
        let message = format!(
            "{SCOPE_MAX} role assignments name the scope '{scope}', and no more may. Give roles to groups instead of users, or delete one of them."
        );
        Err(Rejection::QuotaExceeded(exceeded(message, scope)))
    }

    /// Refuses a new role assignment beyond the quota of the caller, so that others can still give roles, and beyond that of
    /// all. Each process remembers all of them, whatever their plane. The last tenth is for owners of the plane or of everything:
    /// they can still give roles if owners of groups have given all others.
    pub(crate) async fn admit_role_assignment(
        &self,
        caller: &str,
        is_of_owner: bool,
    ) -> Result<(), Rejection> {
        let quota = self.quotas.caller_role_assignments;
        let theirs = Counted::CallerRoleAssignments(caller);
        if !self.admit(theirs, 1, quota).await? {
            let message = format!(
                "{quota} role assignments are yours, and no more may be: you are '{}'. Give roles to groups instead of users, delete one, or raise --quota-caller-role-assignments.",
                excerpt(caller)
            );
            let failure = Failure::new(ErrorCode::QuotaExceeded, message);
            return Err(Rejection::QuotaExceeded(failure));
        }
        let all = self.quotas.role_assignments;
        let (quota, whose) = if is_of_owner {
            (all, "")
        } else {
            (
                all - all / 10,
                ", but for those by owners of the plane or of everything",
            )
        };
        if self
            .admit(Counted::RoleAssignments(is_of_owner), 1, quota)
            .await?
        {
            return Ok(());
        }
        let message = format!(
            "There are {quota} role assignments, which is the quota{whose}. Give roles to groups instead of users, delete a role assignment, or raise --quota-role-assignments."
        );
        Err(Rejection::QuotaExceeded(exceeded(message, "/planes")))
    }

    /// Refuses a new group beyond the quota of its plane.
    pub(crate) async fn admit_group(&self, id: &GroupId) -> Result<(), Rejection> {
        let quota = self.quotas.groups;
        if self.admit(Counted::Groups(&id.plane), 1, quota).await? {
            return Ok(());
        }
        match self.ground.store.get_resource_group(id).await {
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

    /// Refuses `more` new groups beyond the quota of their plane.
    pub(crate) async fn admit_groups(&self, plane: &PlaneId, more: usize) -> Result<(), Rejection> {
        let quota = self.quotas.groups;
        if self
            .admit(Counted::Groups(&plane.name), more, quota)
            .await?
        {
            return Ok(());
        }
        let message = format!(
            "The plane '{}' may have {quota} resource groups, which is its quota, and would have more. Delete one, or raise --quota-groups.",
            plane.name
        );
        Err(Rejection::QuotaExceeded(exceeded(message, plane)))
    }

    /// Makes room for a plan within the quotas of the caller: those of their plans go that they asked for first. Those that somebody
    /// has relied on do not count. Who is not authenticated could have the plans of others removed, so of those only what has
    /// expired goes, and beyond that a plan is refused.
    pub(crate) async fn admit_plan(
        &self,
        caller: &str,
        group: Option<&GroupId>,
        units: usize,
    ) -> Result<(), Rejection> {
        let Quotas {
            caller_plan_bytes,
            group_plan_bytes,
            ..
        } = self.quotas;
        let group = group.map(|group| (Some(group), group_plan_bytes));
        for (group, quota) in group.into_iter().chain([(None, caller_plan_bytes)]) {
            let of = PlansOf { caller, group };
            if !self.makes_room(of, units, quota / PLAN_UNIT).await? {
                if caller != ANONYMOUS {
                    // Others are being reviewed or removed at the moment, or not even one fits.
                    let message = format!(
                        "There is no room for the plan within the {quota} bytes of your plans. Try again, or ask for fewer resources at once."
                    );
                    let failure = Failure::new(ErrorCode::QuotaExceeded, message);
                    return Err(Rejection::TooMany(failure));
                }
                let (about, flag) = match group {
                    Some(_) => (" about the resource group", "--quota-group-plan-bytes"),
                    None => ("", "--quota-caller-plan-bytes"),
                };
                let message = format!(
                    "The plans{about} that were asked for by callers who are not authenticated have {quota} bytes, and no more may be kept. Those that expire make room. Wait until some do, sign in, ask for plans with a shorter whatIfSettings.planLifetime, or raise {flag}."
                );
                let failure = Failure::new(ErrorCode::QuotaExceeded, message);
                return Err(Rejection::TooMany(failure));
            }
        }
        Ok(())
    }

    /// Returns whether a plan that counts so much can be kept beside those.
    async fn makes_room(
        &self,
        of: PlansOf<'_>,
        units: usize,
        quota: usize,
    ) -> Result<bool, Rejection> {
        let (counted, now) = (Counted::Plans(of), self.ground.now());
        let key = counted.key();
        let was_full = self.estimates.was_full(&key, units, quota, now);
        if was_full {
            return Ok(false);
        }
        if self.admit(counted, units, quota).await? {
            return Ok(true);
        }
        let Some(room) = quota.checked_sub(units) else {
            return Ok(false);
        };
        // More than is needed, so that not each plan has to make room.
        let most = (quota - quota / 10).min(room);
        let until = match of.caller {
            ANONYMOUS => now,
            _ => Timestamp::from_millis(i64::MAX),
        };
        self.ground.store.remove_plans_of(of, until, most).await?;
        // Another request may have taken the room meanwhile.
        let is_admitted = self.admit(counted, units, quota).await?;
        if !is_admitted {
            self.estimates.note_full(&key, self.ground.now());
        }
        Ok(is_admitted)
    }

    /// Refuses an operation that is one too many under way, or that would make a reference beyond the quota of its group.
    pub(crate) async fn admit_operation(
        &self,
        kind: Kind,
        caller: &str,
        scope: &ucp_model::Scope,
        reference: Option<&ReferenceId>,
    ) -> Result<(), Rejection> {
        // What is deleted makes room, so there is a reserve for it.
        let times = match kind {
            Kind::Delete => 2,
            Kind::Put | Kind::Import | Kind::Resolve => 1,
        };
        let group = reference.map(|id| &id.group);
        self.admit_under_way(caller, group, times).await?;
        match kind {
            Kind::Put => {
                let register = match group {
                    Some(group) => Register::Group(group.clone()),
                    None => Register::Place(scope.clone()),
                };
                self.admit_leftover(&register).await?;
            }
            Kind::Import => {}
            Kind::Delete | Kind::Resolve => return Ok(()),
        }
        match reference {
            Some(id) => self.admit_reference(id).await,
            None => Ok(()),
        }
    }

    /// Refuses what could leave another resource behind where so many are already.
    async fn admit_leftover(&self, register: &Register) -> Result<(), Rejection> {
        let quota = self.quotas.leftovers;
        if self.admit(Counted::Leftovers(register), 1, quota).await? {
            return Ok(());
        }
        let (message, target) = match register {
            Register::Group(group) => (
                format!(
                    "The resource group '{}' has {quota} leftovers, which is its quota, and a put could leave more. Decide some of those at {group}/leftovers, or raise --quota-leftovers.",
                    group.name
                ),
                group.to_string(),
            ),
            Register::Place(scope) => (
                format!(
                    "The account and region have {quota} leftovers, which is their quota, and a put could leave more. Decide some of those at {scope}/leftovers, or raise --quota-leftovers."
                ),
                scope.to_string(),
            ),
        };
        Err(Rejection::QuotaExceeded(exceeded(message, target)))
    }

    /// Refuses a new reference beyond the quota of its group.
    pub(crate) async fn admit_reference(&self, id: &ReferenceId) -> Result<(), Rejection> {
        let (of, quota) = (Counted::References(&id.group), self.quotas.references);
        // Before anything is counted: in a full group, most puts are of aliases that it has.
        if self.estimates.admit(&of.key(), 1, quota, self.ground.now())
            || self.ground.store.get_reference(id).await?.is_some()
            || self.admit(of, 1, quota).await?
        {
            return Ok(());
        }
        Err(self.too_many_references(&id.group))
    }

    /// Refuses an import of `more` resources that does not fit into the group.
    pub(crate) async fn admit_import(
        &self,
        group: &GroupId,
        caller: &str,
        more: usize,
    ) -> Result<(), Rejection> {
        self.admit_under_way(caller, Some(group), 1).await?;
        self.admit_references(group, more).await
    }

    /// Refuses a set that makes so many references, if these do not fit into the group, or if it has too many leftovers.
    pub(crate) async fn admit_set(
        &self,
        group: &GroupId,
        caller: &str,
        more: usize,
    ) -> Result<(), Rejection> {
        self.admit_leftover(&Register::Group(group.clone())).await?;
        self.admit_import(group, caller, more).await
    }

    /// Refuses `more` references beyond the quota of their group.
    pub(crate) async fn admit_references(
        &self,
        group: &GroupId,
        more: usize,
    ) -> Result<(), Rejection> {
        let quota = self.quotas.references;
        if self.admit(Counted::References(group), more, quota).await? {
            Ok(())
        } else {
            Err(self.too_many_references(group))
        }
    }

    fn too_many_references(&self, group: &GroupId) -> Rejection {
        let message = format!(
            "The resource group '{}' may have {} references, which is its quota, and would have more. Use another group, delete references, or raise --quota-references.",
            group.name, self.quotas.references
        );
        Rejection::QuotaExceeded(exceeded(message, group))
    }

    /// Refuses an operation beyond so many times the quotas.
    async fn admit_under_way(
        &self,
        caller: &str,
        group: Option<&GroupId>,
        times: usize,
    ) -> Result<(), Rejection> {
        if let Some(group) = group {
            let quota = self.quotas.group_operations.saturating_mul(times);
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
        let quota = self.quotas.caller_operations.saturating_mul(times);
        if !self
            .admit(Counted::CallerOperations(caller), 1, quota)
            .await?
        {
            let message = format!(
                "{quota} operations of yours are under way, and no more may be: you are '{}'. Try again when some have ended, or raise --quota-caller-operations.",
                excerpt(caller)
            );
            return Err(Rejection::TooMany(Failure::new(
                ErrorCode::QuotaExceeded,
                message,
            )));
        }
        let quota = self.quotas.operations.saturating_mul(times);
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
        let (key, now) = (of.key(), self.ground.now());
        if self.estimates.admit(&key, more, quota, now) {
            return Ok(true);
        }
        let store = &self.ground.store;
        let counted = match of {
            Counted::Planes => store.list_planes(None, None, quota).await.map(length),
            Counted::Credentials(plane) => {
                let listed = store.list_credentials(&plane.name, None, quota);
                listed.await.map(length)
            }
            Counted::RoleAssignments(_) => {
                let listed = store.list_role_assignments(None, None, quota);
                listed.await.map(length)
            }
            Counted::CallerRoleAssignments(caller) => self.count_role_assignments(caller).await,
            Counted::Leftovers(register) => {
                match store.list_leftovers(register, None, quota).await {
                    // The operation is refused where the group is looked up.
                    Err(ucp_store::Error::NoSuchGroup) => Ok(0),
                    listed => listed.map(length),
                }
            }
            Counted::Groups(plane) => store.count_resource_groups(plane, quota).await,
            Counted::References(group) => store.count_references(group, quota).await,
            Counted::GroupOperations(group) => {
                let those = LiveOperations::InGroup(group);
                store.count_live_operations(those, quota).await
            }
            Counted::CallerOperations(caller) => {
                let those = LiveOperations::RequestedBy(caller);
                store.count_live_operations(those, quota).await
            }
            Counted::Plans(of) => store.count_plans(of, quota).await,
            Counted::Operations => {
                let those = LiveOperations::All;
                store.count_live_operations(those, quota).await
            }
        }?;
        let fits = counted + more <= quota;
        let admitted = if fits { more } else { 0 };
        self.estimates.note(key, counted, admitted, now);
        Ok(fits)
    }

    /// Counts the role assignments that a caller has given first.
    async fn count_role_assignments(&self, caller: &str) -> Result<usize, ucp_store::Error> {
        let mut count = 0;
        self.each_role_assignment(|listed| count += usize::from(listed.body.created_by == caller))
            .await?;
        Ok(count)
    }

    /// Looks at all role assignments. Their quota bounds how many there are.
    async fn each_role_assignment(
        &self,
        mut look: impl FnMut(&RoleAssignment),
    ) -> Result<(), ucp_store::Error> {
        let mut after = None;
        loop {
            let store = &self.ground.store;
            let page = store.list_role_assignments(None, after.as_ref(), LOOKED_AT);
            let page = page.await?;
            page.iter().for_each(&mut look);
            if page.len() < LOOKED_AT {
                return Ok(());
            }
            after = page.into_iter().last().map(|last| last.id);
        }
    }
}

fn length<T>(listed: Vec<T>) -> usize {
    listed.len()
}

fn exceeded(message: String, what: impl ToString) -> Failure {
    Failure::new(ErrorCode::QuotaExceeded, message).with_target(what.to_string())
}
