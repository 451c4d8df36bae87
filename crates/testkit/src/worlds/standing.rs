//! What references stand for is deleted only by those who may: who names it, or what owns it and asks for that.

use ucp_model::{ProvisioningState, Reference};
use ucp_simulator::Action;

use super::alias::{ASIDE, LOG_GROUP, OTHER_GROUP, PARAMETER, REPLACED, ROLES, role};
use super::play::{Asked, Play, Standing, is_of};
use super::story::Wish;

impl Play<'_> {
    /// What stood before the last act, and was deleted since, was asked to be deleted.
    pub(super) async fn check_standing(&mut self) {
        let log = self.world().aws.log();
        for entry in log.iter().skip(self.standing.calls) {
            if entry.operation != Action::DeleteResource {
                continue;
            }
            let is_of = |reference: &&Reference| {
                let target = reference.target();
                target.is_some_and(|target| {
                    Some(target.identifier.as_str()) == entry.identifier.as_deref()
                })
            };
            let standing: Vec<_> = self.standing.references.iter().filter(is_of).collect();
            for reference in &standing {
                let may_delete = |asked: &Asked| asked.may_delete(reference);
                assert!(
                    self.asked().iter().any(may_delete),
                    "what stands was deleted: {reference:?}"
                );
            }
            // Nobody deletes a role by its name.
            let is_role = entry.type_name == Some(ROLES[0].type_name());
            assert!(
                !is_role || standing.len() < 2,
                "what stands was deleted: {standing:?}"
            );
        }
        let resources = self.world().aws.resources();
        let mut references = self.references().await;
        references.retain(|reference| {
            let is_there =
                |identifier: &str| resources.iter().any(|it| it.identifier == identifier);
            reference.provisioning_state == ProvisioningState::Succeeded
                && (reference.target()).is_some_and(|target| is_there(target.identifier.as_str()))
        });
        let calls = log.len();
        self.standing = Standing { references, calls };
    }
}

impl Asked {
    /// Whether it asks for the deletion of what a reference stands for.
    fn may_delete(&self, reference: &Reference) -> bool {
        let target = reference.target();
        let identifier = target.map(|target| target.identifier.to_string());
        let is_deleted = || self.deletes.is_some() && self.deletes == identifier;
        match &self.what {
            // It names the resource, whoever else stands for it.
            Wish::Delete(alias) => {
                let is_named = alias.mark.is_some() && identifier.as_deref() == alias.mark;
                is_of(reference, *alias) || is_named || is_deleted()
            }
            Wish::Forget(alias) => is_of(reference, *alias) && reference.owned,
            Wish::Rename { complete: true, .. } => {
                is_of(reference, ASIDE) && identifier.as_deref() == ASIDE.mark
            }
            // What nothing refers to any more leaves the set.
            Wish::Move {
                complete: true,
                referred: false,
                ..
            } => reference.id.type_name.arm() == PARAMETER,
            Wish::DropRole { elsewhere } => is_of(reference, role(*elsewhere)) && reference.owned,
            Wish::DeleteByName(name) => {
                identifier.as_ref() == Some(name)
                    && reference.id.type_name.arm().as_str() == LOG_GROUP
            }
            Wish::DeleteVpc(_) => is_deleted(),
            Wish::ChangePlan(of) | Wish::Deprovision { of, .. } => {
                of.has(reference) && reference.owned
            }
            Wish::DeleteGroup => reference.id.group.name == OTHER_GROUP && reference.owned,
            Wish::Replace {
                create_first: false,
                ..
            } => is_of(reference, REPLACED),
            _ => false,
        }
    }
}
