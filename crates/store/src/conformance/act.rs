//! Acts of writers on a stage of their own, for the cases that set writers against each other.

use std::collections::{BTreeMap, BTreeSet};

use ucp_model::operation::group::Task;
use ucp_model::operation::{Kind, ReferenceChange};
use ucp_model::{
    CredentialKind, Ended, Identifier, LeftoverReason, NewCredential, NewLeftover, Reference,
    Target,
};

use super::fixture::*;
use super::respelling::respelled;
use super::stage::Stage;
use crate::{
    Adoption, Claimed, FinishOperation, GroupUpdate, NewLook, NewOperation, Precondition,
    ReferenceUpdate, SealedPlace, TagsUpdate, TypeSchema, rules,
};

/// What a writer does in one call, or, for [`Act::CarryOut`], in a few. Numbers name operations, texts name aliases and
/// resources.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    PutPlane,
    DeletePlane,
    /// A schema of a type, and when it was fetched.
    PutSchema(&'static str, i64),
    PutCredential(&'static str),
    DeleteCredential,
    PutGroup,
    DeleteGroup(u64),
    Import(u64),
    Put(u64, &'static str),
    /// A put under an alias, whose declaration names the resource.
    PutNamed(u64, &'static str, &'static str),
    Delete(u64, &'static str),
    DeleteByName(u64, &'static str),
    /// A delete under an alias, as a child of another operation.
    DeleteAsChild(u64, u64, &'static str),
    /// Claims what is due, for the acts below.
    Claim,
    /// A step that reveals the resource.
    Reveal(u64, &'static str),
    /// A step that learns that AWS spells the resource in lower case.
    Respell(u64),
    /// The end of a put that has learned so.
    ApplyRespelled(u64),
    /// A step of an operation on a group, which has seen this many children end and waits for the others.
    Await(u64, usize),
    Apply(u64, &'static str),
    /// The end of a put whose create failed.
    Fail(u64),
    /// The end of a put that leaves another resource.
    Leave(u64, &'static str, &'static str),
    /// Accepts a delete of what the end of another operation left.
    Retry(u64, u64, &'static str),
    ForgetLeftover(u64),
    FailDelete(u64),
    FinishDelete(u64),
    /// The same of a delete that has learned how AWS spells the resource.
    FinishDeleteRespelled(u64),
    FinishOnGroup(u64),
    /// Claims a put and applies it.
    CarryOut(u64, &'static str),
    /// Renews, releases or hands back the lease of a claimed operation.
    Renew(u64),
    Release(u64),
    HandBack(u64),
    /// Claims what is due in other scopes than this one.
    ClaimElsewhere,
    /// Seals the declaration of an operation anew.
    Reseal(u64),
    /// The same of the secret of a credential.
    ResealCredential(&'static str),
    UpdateGroup,
    Cancel(u64),
    Forget(&'static str),
    Own(&'static str),
    /// Reads what is recorded of an alias, for the acts below.
    Read(&'static str),
    /// The same of a resource.
    ReadTarget(&'static str),
    /// Remembers what a put has learned that changed nothing.
    Remember(&'static str),
    /// Lets an alias stand for a resource, and own it or not.
    Adopt(&'static str, &'static str, bool),
    /// [`Act::PutNamed`] with a look.
    PutLooked(u64, &'static str, &'static str),
    RemoveEnded,
}

impl Stage {
    /// Performs the acts one after the other and returns the replies.
    pub(super) async fn perform_all(&self, acts: &[Act]) -> Vec<String> {
        let mut replies = Vec::new();
        for act in acts {
            replies.push(self.perform(*act).await);
        }
        replies
    }

    pub(super) async fn perform(&self, act: Act) -> String {
        let Self { store, .. } = self;
        match act {
            Act::PutPlane => {
                let put = put_plane(self.plane(), "global", "");
                let put = store.put_plane(put, &Precondition::NONE, at(1));
                format!("{:?}", put.await)
            }
            Act::DeletePlane => {
                let id = self.plane();
                format!("{:?}", store.delete_plane(&id, &Precondition::NONE).await)
            }
            Act::PutSchema(fingerprint, second) => {
                let schema = TypeSchema {
                    fingerprint: fingerprint.to_owned(),
                    text: fingerprint.to_owned(),
                    is_provisioned: true,
                    fetched_at: at(second),
                };
                let (scope, type_name) = (self.scope(), type_name());
                let put = store.put_type_schema(&scope, &type_name, schema);
                format!("{:?}", put.await)
            }
            Act::PutCredential(secret) => {
                let new = NewCredential {
                    id: self.credential(),
                    location: "global".to_owned(),
                    tags: BTreeMap::new(),
                    body: CredentialKind::AccessKey {
                        access_key_id: secret.to_owned(),
                    },
                };
                let secret = Some(sealed(secret));
                let put = store.put_credential(new, secret, &Precondition::NONE, at(1));
                format!("{:?}", put.await)
            }
            Act::DeleteCredential => {
                let id = self.credential();
                let delete = store.delete_credential(&id, &Precondition::NONE);
                format!("{:?}", delete.await)
            }
            Act::PutGroup => {
                let put = put_group(self.group(), "global", "");
                let put = store.put_resource_group(put, &Precondition::NONE, at(1));
                format!("{:?}", put.await)
            }
            Act::DeleteGroup(number) => {
                let new = self.on_group(number, Task::Delete);
                let deletion = store.delete_resource_group(new, &Precondition::NONE);
                format!("{:?}", deletion.await)
            }
            Act::Import(number) => {
                let new = self.on_group(number, Task::Import(Vec::new()));
                format!("{:?}", store.accept_operation(new).await)
            }
            Act::Put(number, name) => self.accept(self.put(number, name)).await,
            Act::PutNamed(number, name, resource) => {
                self.accept(named(self.put(number, name), resource)).await
            }
            Act::Delete(number, name) => self.accept(self.delete(number, name)).await,
            Act::DeleteByName(number, resource) => {
                let new = untracked(self.delete(number, "a"), resource);
                self.accept(new).await
            }
            Act::DeleteAsChild(number, parent, name) => {
                let Some(claimed) = self.claimed(parent) else {
                    return "not claimed".to_owned();
                };
                let new = NewOperation {
                    parent: Some(self.id(parent)),
                    ..self.delete(number, name)
                };
                format!("{:?}", store.accept_child(&claimed.lease, new).await)
            }
            Act::Claim => {
                for claimed in claim(store, at(20)).await {
                    let id = claimed.operation.header.id;
                    self.claimed.lock().unwrap().insert(id, claimed);
                }
                String::new()
            }
            Act::Reveal(number, resource) => {
                let Some(claimed) = self.claimed(number) else {
                    return "not claimed".to_owned();
                };
                let step = naming(&claimed.operation, resource);
                let step = store.commit_step(&claimed.lease, &step, None, at(21), TERM);
                format!("{:?}", step.await)
            }
            Act::Respell(number) => {
                let Some(claimed) = self.claimed(number) else {
                    return "not claimed".to_owned();
                };
                let step = respelled(&claimed.operation);
                let step = store.commit_step(&claimed.lease, &step, None, at(21), TERM);
                format!("{:?}", step.await)
            }
            Act::ApplyRespelled(number) => {
                self.finish(number, |claimed| {
                    applied(&respelled(&claimed.operation), "mydb", true)
                })
                .await
            }
            Act::Await(number, seen) => {
                let Some(claimed) = self.claimed(number) else {
                    return "not claimed".to_owned();
                };
                let step = due(&claimed.operation, at(900));
                let step = stepped_on_group(&step, |work| work.ended_children = seen);
                let step = store.commit_step(&claimed.lease, &step, None, at(21), TERM);
                format!("{:?}", step.await)
            }
            Act::Apply(number, resource) => {
                self.finish(number, |claimed| {
                    applied(&claimed.operation, resource, true)
                })
                .await
            }
            Act::Fail(number) => {
                self.finish(number, |claimed| {
                    end(&claimed.operation, failed(), ReferenceChange::Removed, None)
                })
                .await
            }
            Act::Leave(number, resource, old) => {
                self.finish(number, |claimed| FinishOperation {
                    leftover: Some(NewLeftover {
                        identifier: identifier(old),
                        reason: LeftoverReason::Undeleted,
                        error: None,
                    }),
                    ..applied(&claimed.operation, resource, true)
                })
                .await
            }
            Act::Retry(number, left, resource) => {
                let new = untracked(self.delete(number, "a"), resource);
                let id = self.leftover(left);
                let retried = store.retry_leftover(&id, new);
                format!("{:?}", retried.await)
            }
            Act::ForgetLeftover(left) => {
                let (id, correlation) = (self.leftover(left), correlation());
                let forget = store.forget_leftover(&id, "caller", &correlation, at(23));
                format!("{:?}", forget.await)
            }
            Act::FailDelete(number) => {
                self.finish(number, |claimed| {
                    let identifier = &resource_work(&claimed.operation).identifier;
                    let name = identifier.as_ref().map(Identifier::as_str);
                    end(
                        &claimed.operation,
                        failed(),
                        ReferenceChange::Untouched,
                        name,
                    )
                })
                .await
            }
            Act::FinishDelete(number) => {
                // Later than all that was due before, as in life.
                self.finish(number, |claimed| {
                    let end = deleted(&claimed.operation);
                    FinishOperation {
                        operation: ended_at(&claimed.operation, end.operation.work, at(25)),
                        ..end
                    }
                })
                .await
            }
            Act::FinishDeleteRespelled(number) => {
                self.finish(number, |claimed| deleted(&respelled(&claimed.operation)))
                    .await
            }
            Act::FinishOnGroup(number) => {
                self.finish(number, |claimed| {
                    end_on_group(&claimed.operation, Ended::Succeeded, at(30))
                })
                .await
            }
            Act::CarryOut(number, resource) => self.carry_out(number, resource).await,
            Act::Renew(number) => match self.claimed(number) {
                Some(claimed) => {
                    let renewed = store.renew_lease(&claimed.lease, at(22), TERM);
                    format!("{:?}", renewed.await)
                }
                None => "not claimed".to_owned(),
            },
            Act::Release(number) => match self.claimed(number) {
                Some(claimed) => format!("{:?}", store.release_lease(&claimed.lease).await),
                None => "not claimed".to_owned(),
            },
            Act::HandBack(number) => match self.claimed(number) {
                Some(claimed) => {
                    format!("{:?}", store.hand_back(&claimed.lease, at(30)).await)
                }
                None => "not claimed".to_owned(),
            },
            Act::ClaimElsewhere => {
                let crowded = BTreeSet::from([self.scope().key()]);
                let claim = store.claim_elsewhere("worker", at(20), TERM, 9, &crowded);
                for claimed in claim.await.unwrap() {
                    store.release_lease(&claimed.lease).await.unwrap();
                }
                String::new()
            }
            Act::Reseal(number) => {
                let place = SealedPlace::Desired(self.id(number));
                let old = sealed("desired");
                let reseal = store.reseal(&place, &old, sealed("anew"));
                format!("{:?}", reseal.await)
            }
            Act::ResealCredential(secret) => {
                let place = SealedPlace::Credential(self.credential());
                let old = sealed(secret);
                let reseal = store.reseal(&place, &old, sealed("anew"));
                format!("{:?}", reseal.await)
            }
            Act::UpdateGroup => {
                let added = BTreeMap::from([("added".to_owned(), Some("1".to_owned()))]);
                let update = GroupUpdate {
                    tags: TagsUpdate::Merge(added),
                    default_tags: TagsUpdate::default(),
                };
                let (id, any) = (self.group(), Precondition::NONE);
                let update = store.update_resource_group(&id, update, &any, at(22));
                format!("{:?}", update.await)
            }
            Act::Cancel(number) => {
                let cancel = store.request_cancel(self.id(number), at(22));
                format!("{:?}", cancel.await)
            }
            Act::Forget(name) => {
                let (id, correlation) = (self.alias(name), correlation());
                let forget = store.forget_reference(&id, "caller", &correlation, at(23));
                format!("{:?}", forget.await)
            }
            Act::Own(name) => {
                let (id, correlation) = (self.alias(name), correlation());
                let update = ReferenceUpdate {
                    owned: Some(true),
                    tags: None,
                };
                let update = store.update_reference(&id, update, "caller", &correlation, at(23));
                format!("{:?}", update.await)
            }
            Act::Read(name) => {
                let recorded = store.recorded_alias(&self.alias(name)).await;
                let reply = format!("{recorded:?}");
                if let Ok(recorded) = recorded {
                    self.aliases.lock().unwrap().insert(name, recorded);
                }
                reply
            }
            Act::ReadTarget(resource) => {
                let target = Target {
                    scope: &self.scope(),
                    type_name: &type_name(),
                    identifier: &Identifier::new(resource),
                };
                let recorded = store.recorded_target(&target).await.unwrap();
                self.targets.lock().unwrap().insert(resource, recorded);
                format!("{recorded:?}")
            }
            Act::Remember(name) => match self.read(name) {
                Some(reference) => {
                    let resource = reference.identifier.as_ref().map_or("", Identifier::as_str);
                    let basis = self.basis(name, resource);
                    let learned = remembering(&reference, at(24));
                    format!("{:?}", store.remember(&learned, &basis).await)
                }
                None => "not read".to_owned(),
            },
            Act::Adopt(name, resource, owned) => {
                let before = self.read(name);
                let new = adopting(before.as_ref(), self.alias(name), self.scope(), resource);
                let adoption = Adoption {
                    basis: self.basis(name, resource),
                    event: rules::adopted(Kind::Put, &new, "caller", &correlation(), at(24)),
                    reference: Reference { owned, ..new },
                };
                format!("{:?}", store.adopt(adoption).await)
            }
            Act::PutLooked(number, name, resource) => {
                let look = NewLook {
                    basis: self.basis(name, resource),
                    sealed: sealed("look"),
                };
                let put = named(self.put(number, name), resource);
                self.accept(with(put, |new| new.look = Some(look))).await
            }
            Act::RemoveEnded => {
                // How many there were depends on the other stages.
                let removed = store.remove_ended_operations(at(10), 10_000).await;
                format!("{:?}", removed.map(drop))
            }
        }
    }

    async fn accept(&self, new: NewOperation) -> String {
        format!("{:?}", self.store.accept_operation(new).await)
    }

    async fn finish(&self, number: u64, end: impl FnOnce(&Claimed) -> FinishOperation) -> String {
        let Some(claimed) = self.claimed(number) else {
            return "not claimed".to_owned();
        };
        let end = end(&claimed);
        format!(
            "{:?}",
            self.store.finish_operation(&claimed.lease, end).await
        )
    }

    async fn carry_out(&self, number: u64, resource: &str) -> String {
        let mut reply = "not due".to_owned();
        for claimed in claim(&self.store, at(20)).await {
            if claimed.operation.header.id == self.id(number) {
                let end = applied(&claimed.operation, resource, true);
                let finished = self.store.finish_operation(&claimed.lease, end).await;
                reply = format!("{finished:?}");
            } else {
                self.store.release_lease(&claimed.lease).await.unwrap();
            }
        }
        reply
    }
}
