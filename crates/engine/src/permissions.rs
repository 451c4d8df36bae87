//! Whether a permission may be lacking only because it was given a moment ago.

use ucp_model::TypeName;
use ucp_model::operation::{PERMISSIONS_SETTLE, Work};
use ucp_store::{Error, Limit};

use crate::abandoned::Abandoned;
use crate::stepper::{Stepper, work};

/// The types whose changes give and take permissions.
const TYPES: [&str; 5] = [
    "AWS::IAM::InstanceProfile",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::IAM::RolePolicy",
];

/// How many references of a type are read. A denial must not cost more than a page.
const READ_MAX: usize = 1_000;

impl Stepper<'_> {
    /// Finds out when a role or a policy of the account was last changed under the same group, if that was a moment ago.
    pub(crate) async fn note_permissions(&mut self) -> Result<(), Abandoned> {
        let now = self.engine.now();
        let work = work(&self.claimed.operation.work)?;
        let (Some(reference), None) = (&work.reference, work.permissions_changed_at) else {
            return Ok(());
        };
        let store = &self.engine.parts().store;
        let mut changed_at = None;
        for name in TYPES {
            let Ok(type_name) = TypeName::from_cloudformation(name) else {
                continue;
            };
            let group = &reference.group;
            let references =
                store.list_references(group, Some(&type_name), None, Limit::items(READ_MAX));
            let references = match references.await {
                Ok(references) => references.items,
                Err(Error::NoSuchGroup) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let of_account = references.iter().filter(|reference| {
                reference.scope.account == work.scope.account
                    && now.since(reference.updated_at) < PERMISSIONS_SETTLE
            });
            changed_at = changed_at.max(of_account.map(|reference| reference.updated_at).max());
        }
        if let Work::Resource(work) = &mut self.claimed.operation.work {
            work.permissions_changed_at = changed_at;
        }
        Ok(())
    }
}
