//! How the acts of writers are performed on a stage.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use ucp_model::operation::group::Task;
use ucp_model::operation::{
    Kind, ReferenceChange, ReplacementPolicy, Replacing, Resolve, WhenShared,
};
use ucp_model::{
    Access, Change, ChangeKind, CredentialKind, Ended, Identifier, LeftoverReason, NewCredential,
    NewLeftover, Operation, Reference, ResourceGroup, Scope, ServiceInstance, Target,
};
use ucp_store::{
    Adoption, ApplyRefactor, Claimed, Error, FinishOperation, GroupUpdate, LeaseTerm, NewLook,
    NewOperation, NewResourceWork, PlaceOrder, PlansOf, Precondition, ReferenceUpdate, Release,
    Sealed, SealedKey, SealedPlace, TagsUpdate, TypeSchema, rules,
};

use super::act::Act;
use super::broker::{binding, done, instance, order, ordering};
use super::deploying::deploying;
use super::fixture::*;
use super::kept_plans::{giving_up, plan, review, under};
use super::moving::{applying, moving, relocation};
use super::refactors::planned;
use super::resolving::{losing_track, resolved, unknown_create, unresolved};
use super::respelling::respelled;
use super::stage::Stage;

impl Stage {
    /// Performs the acts one after the other and returns the replies.
    pub(super) async fn perform_all(&self, acts: &[Act]) -> Vec<String> {
        let mut replies = Vec::new();
        for act in acts {
            replies.push(self.perform(*act).await);
        }
        replies
    }

    /// Moves aliases as they were read.
    async fn move_all(&self, number: u64, aliases: &[(&'static str, &'static str)]) -> String {
        match self.moving(number, aliases).await {
            Some(new) => format!("{:?}", self.store.apply_refactor(new).await),
            None => "not read".to_owned(),
        }
    }

    /// The move of what was read of these aliases; none if one was not.
    async fn moving(
        &self,
        number: u64,
        aliases: &[(&'static str, &'static str)],
    ) -> Option<ApplyRefactor> {
        let mut new = moving(&self.store, 1, &[]).await;
        new.record.id = self.refactor(number);
        for (from, to) in aliases {
            let read = self.read(from)?;
            new.record
                .content
                .moves
                .push(relocation(&read, self.alias(to)));
        }
        Some(new)
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
            Act::Assign(role) => {
                let judged = self.judged();
                let new = new_assignment(self.assignment(), role, self.given_scopes());
                let put = store.put_role_assignment(new, judged.as_ref(), &[], at(1));
                format!("{:?}", put.await)
            }
            Act::Unassign => match self.judged() {
                Some(judged) => format!("{:?}", store.delete_role_assignment(&judged).await),
                None => "not read".to_owned(),
            },
            Act::ReadAssignment => {
                let read = store.get_role_assignment(&self.assignment()).await;
                let reply = format!("{read:?}");
                if let Ok(read) = read {
                    *self.judged.lock().unwrap() = read;
                }
                reply
            }
            Act::PutGroup => {
                let put = put_group(self.group(), "global", "");
                let put = store.put_resource_group(put, &Precondition::NONE, at(1));
                format!("{:?}", put.await)
            }
            Act::ReadGroup => {
                let read = store.get_resource_group(&self.group()).await;
                format!("{:?}", read.map(|group| group.id))
            }
            Act::DeleteGroup(number) => {
                let new = self.on_group(number, Task::Delete);
                let deletion = store.delete_resource_group(new, &Precondition::NONE, None);
                format!("{:?}", deletion.await)
            }
            Act::Import(number) => {
                let new = self.on_group(number, Task::Import(Vec::new()));
                format!("{:?}", store.accept_operation(new).await)
            }
            Act::ApplySet(number) => {
                let new = self.on_group(number, Task::Apply(no_members()));
                format!("{:?}", store.accept_operation(new).await)
            }
            Act::Order(number, expected) => {
                let order = self.order(number, ChangeKind::Update, expected);
                format!("{:?}", store.place_order(order).await)
            }
            Act::OrderDeletion(number, expected) => {
                let order = self.order(number, ChangeKind::Delete, Some(expected));
                format!("{:?}", store.place_order(order).await)
            }
            Act::FinishOrder(number) => {
                self.finish(number, |claimed| {
                    let outputs = json!({ "b": { "credentials": { "number": number } } });
                    let end = end_on_group(&claimed.operation, Ended::Succeeded, at(30));
                    FinishOperation {
                        operation: stepped_on_group(&end.operation, |work| {
                            work.outputs = Some(outputs);
                        }),
                        ..end
                    }
                })
                .await
            }
            Act::DeleteService(expected) => {
                let mut order = self.order(0, ChangeKind::Delete, Some(expected));
                order.instance.delete(at(10));
                order.operation = None;
                format!("{:?}", store.place_order(order).await)
            }
            Act::RemoveGoneServices => {
                // How many there were depends on the other stages.
                let removed = store.remove_gone_services(at(2_000), usize::MAX).await;
                format!("{:?}", removed.map(drop))
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
            Act::PassOn(number, name, heir) => {
                let heir = Some(self.alias(heir));
                self.accept(with(self.delete(number, name), |new| {
                    new.when_shared = WhenShared::Forget;
                    new.heir = heir;
                }))
                .await
            }
            Act::GiveUp(name) => match self.read(name) {
                Some(reference) => {
                    let release = Release {
                        reference,
                        keeps_plan_policy: false,
                        heir: None,
                        caller: "caller".to_owned(),
                        correlation_id: correlation(),
                        at: at(23),
                    };
                    format!("{:?}", store.release_reference(release).await)
                }
                None => "not read".to_owned(),
            },
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
            Act::PutElsewhere(number, name, resource) => {
                let new = named(self.put(number, name), resource);
                let look = NewLook {
                    basis: self.basis(name, resource),
                    sealed: sealed("look"),
                };
                let elsewhere = |new: &mut NewResourceWork| {
                    new.scope = self.elsewhere();
                    new.look = Some(look);
                };
                self.accept(with(new, elsewhere)).await
            }
            Act::PutOwning(number, name, resource) => {
                let new = named(self.put(number, name), resource);
                self.accept(with(new, |new| new.options.take_ownership = true))
                    .await
            }
            Act::PutReplacing(number, name) => {
                let replacing = |new: &mut NewResourceWork| {
                    new.options.replacement_policy = ReplacementPolicy::DeleteBeforeCreate;
                };
                self.accept(with(self.put(number, name), replacing)).await
            }
            Act::Claim => self.claim(TERM, &[]).await,
            Act::ClaimBriefly => self.claim(LeaseTerm(Duration::ZERO), &[]).await,
            Act::ClaimHere => self.claim(TERM, &[self.elsewhere()]).await,
            Act::ClaimElsewhere => self.claim(TERM, &[self.scope()]).await,
            Act::ClaimNowhere => {
                let nowhere = [self.scope(), self.elsewhere()];
                self.claim(TERM, &nowhere).await
            }
            Act::Reveal(number, resource) => {
                self.step(number, None, |claimed| naming(claimed, resource))
                    .await
            }
            Act::Respell(number) => self.step(number, None, respelled).await,
            Act::Record(number) => {
                let document = sealed("document");
                self.step(number, Some(document), Operation::clone).await
            }
            Act::DeleteOld(number) => {
                self.step(number, None, |claimed| {
                    stepped(claimed, |work| work.replacing = Some(Replacing::OldFirst))
                })
                .await
            }
            Act::OldGone(number) => {
                self.step(number, None, |claimed| {
                    stepped(claimed, |work| work.identifier = None)
                })
                .await
            }
            Act::ApplyRespelled(number) => {
                self.finish(number, |claimed| {
                    applied(&respelled(&claimed.operation), "mydb", true)
                })
                .await
            }
            Act::Await(number, seen) => {
                self.step(number, None, |claimed| {
                    let step = due(claimed, at(900));
                    stepped_on_group(&step, |work| work.ended_children = seen)
                })
                .await
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
                        create: None,
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
            Act::LoseTrack(number) => {
                self.finish(number, |claimed| {
                    losing_track(&claimed.operation, None, unknown_create())
                })
                .await
            }
            Act::LoseTrackOf(number, made) => {
                self.finish(number, |claimed| {
                    losing_track(&claimed.operation, Some(made), unknown_create())
                })
                .await
            }
            Act::Resolve(number, left, name) => {
                let new = with(self.delete(number, name), |new| new.kind = Kind::Resolve);
                let id = self.leftover(left);
                format!("{:?}", store.retry_leftover(&id, new).await)
            }
            Act::FindOut(number, found) => {
                self.finish(number, |claimed| match found {
                    Some(_) => resolved(&claimed.operation, found),
                    None => unresolved(&claimed.operation),
                })
                .await
            }
            Act::Abandon(number, name) => {
                let new = with(self.put(number, name), |new| {
                    new.options.resolve = Resolve::Abandon;
                });
                self.accept(new).await
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
                Some(claimed) => self.leased.renew(store, &claimed.lease).await,
                None => "not claimed".to_owned(),
            },
            Act::Arm(number) => match self.claimed(number) {
                Some(claimed) => self
                    .leased
                    .renewed(store.arm(&claimed.lease, at(22), TERM).await),
                None => "not claimed".to_owned(),
            },
            Act::Disarm(number) => match self.claimed(number) {
                Some(claimed) => {
                    let disarmed = store.disarm(&claimed.lease, at(22), TERM).await;
                    self.leased.renewed(disarmed)
                }
                None => "not claimed".to_owned(),
            },
            Act::Release(number) => match self.claimed(number) {
                Some(claimed) => self.leased.release(store, &claimed.lease).await,
                None => "not claimed".to_owned(),
            },
            Act::HandBack(number) => match self.claimed(number) {
                Some(claimed) => self.leased.hand_back(store, &claimed.lease).await,
                None => "not claimed".to_owned(),
            },
            Act::Reseal(number) => {
                self.reseal(SealedPlace::Desired(self.id(number)), "desired")
                    .await
            }
            Act::ResealDocument(number) => {
                self.reseal(SealedPlace::Document(self.id(number)), "document")
                    .await
            }
            Act::ResealLook(number) => {
                self.reseal(SealedPlace::Look(self.id(number)), "look")
                    .await
            }
            Act::ResealCredential(secret) => {
                self.reseal(SealedPlace::Credential(self.credential()), secret)
                    .await
            }
            Act::ResealKey(key) => {
                self.reseal(SealedPlace::DigestKey(key.to_owned()), key)
                    .await
            }
            Act::EnsureKey(key) => {
                format!(
                    "{:?}",
                    store.ensure_digest_key(sealed_key(key), at(22)).await
                )
            }
            Act::ReplaceKey(key) => {
                format!(
                    "{:?}",
                    store.replace_digest_key(sealed_key(key), at(22)).await
                )
            }
            Act::ClaimLeftovers => {
                let claim = store.claim_due_leftovers(at(1_000), at(2_000), 100);
                format!("{:?}", claim.await)
            }
            Act::UpdateGroup => {
                let added = BTreeMap::from([("added".to_owned(), Some("1".to_owned()))]);
                let update = GroupUpdate {
                    tags: TagsUpdate::Merge(added),
                    ..GroupUpdate::default()
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
                let forget = store.forget_reference(&id, true, "caller", &correlation, at(23));
                format!("{:?}", forget.await)
            }
            Act::Own(name) => {
                let (id, correlation) = (self.alias(name), correlation());
                let update = ReferenceUpdate {
                    owned: Some(true),
                    tags: None,
                    place: None,
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
            Act::KeepPlan(number) => {
                let mut new = plan(1);
                new.plan.id = self.plan(number);
                // Other stages may remove it otherwise.
                new.plan.created_by = new.plan.id.to_string();
                format!("{:?}", store.keep_plan(new).await)
            }
            Act::Review(number, verdict) => {
                let review = review(verdict, 22);
                format!("{:?}", store.review_plan(self.plan(number), &review).await)
            }
            Act::PutPlanned(plan, number, name, member) => {
                let put = self.put(number, name);
                self.accept(under(put, self.plan(plan), member)).await
            }
            Act::GiveUpPlanned(plan, number, name) => {
                let put = under(self.put(number, name), self.plan(plan), None);
                let put = with(put, |new| new.options = giving_up());
                let keeps_plan_policy = true;
                self.accept(NewOperation {
                    keeps_plan_policy,
                    ..put
                })
                .await
            }
            Act::Move(number, from, to) => self.move_all(number, &[(from, to)]).await,
            Act::Deploy(number, operation, from, to) => {
                let named = vec![self.group()];
                let puts = vec![(self.alias(to), self.scope())];
                let task = deploying(self.refactor(number), named, puts);
                let Some(mut new) = self.moving(number, &[(from, to)]).await else {
                    return "not read".to_owned();
                };
                new.deploy = Some(self.on_group(operation, task));
                format!("{:?}", store.apply_refactor(new).await)
            }
            Act::TakeBack(number, refactor, operation) => {
                let applied = store.get_refactor(self.refactor(refactor)).await;
                let Ok(Some(applied)) = applied else {
                    return format!("{applied:?}");
                };
                let mut new = applying(number, applied.inverse(), 30);
                new.record.id = self.refactor(number);
                let Some(claimed) = self.claimed(operation) else {
                    return "not claimed".to_owned();
                };
                new.taken_back_by = Some(claimed.lease);
                format!("{:?}", store.apply_refactor(new).await)
            }
            Act::KeepRefactor(number) => {
                let mut kept = planned(number, &[], 12);
                kept.id = self.refactor(number);
                // Other stages may remove it otherwise.
                kept.created_by = kept.id.to_string();
                kept.content.named = vec![self.group()];
                format!("{:?}", store.keep_refactor(kept, 50).await)
            }
            Act::RemoveRefactors => {
                // How many there were depends on the other stages.
                let removed = store.remove_refactors(at(10), usize::MAX).await;
                format!("{:?}", removed.map(drop))
            }
            Act::Swap(number, one, other) => {
                self.move_all(number, &[(one, other), (other, one)]).await
            }
            Act::Require(policy) => {
                let update = GroupUpdate {
                    plan_policy: Some(policy),
                    ..GroupUpdate::default()
                };
                let (id, any) = (self.group(), Precondition::NONE);
                let update = store.update_resource_group(&id, update, &any, at(22));
                format!("{:?}", update.await)
            }
            Act::ErasePlans => {
                // How many there were depends on the other stages.
                let erased = store.erase_expired_plans(at(2_000), usize::MAX).await;
                format!("{:?}", erased.map(drop))
            }
            Act::RemovePlans => {
                let removed = store.remove_plans(at(2_000), usize::MAX).await;
                format!("{:?}", removed.map(drop))
            }
            Act::MakeRoom(number) => {
                let maker = self.plan(number).to_string();
                let removed = store
                    .remove_plans_of(
                        PlansOf {
                            caller: &maker,
                            group: None,
                        },
                        at(2_000),
                        0,
                    )
                    .await;
                format!("{:?}", removed.map(drop))
            }
            Act::RemoveNoPlans => {
                let removed = store.remove_plans(at(0), usize::MAX).await;
                format!("{:?}", removed.map(drop))
            }
            Act::RemoveEvents => {
                let removed = store.remove_events(at(1_000), usize::MAX).await;
                format!("{:?}", removed.map(drop))
            }
        }
    }

    /// An order of the service instance of the stage. The first one makes a binding that stands, and one that is gone, which each
    /// later one makes anew.
    fn order(&self, number: u64, kind: ChangeKind, expected: Option<u64>) -> PlaceOrder {
        let id = self.instance();
        let mut stands = binding("s", "b", done(ChangeKind::Create));
        stands.lay_over(Access::default());
        let mut anew = binding("s", "gone", done(ChangeKind::Create));
        if expected.is_none() {
            anew.delete(at(10));
        }
        let mut bindings = match expected {
            None => vec![stands, anew],
            Some(_) => vec![anew],
        };
        for binding in &mut bindings {
            binding.id.instance = id.clone();
        }
        let task = Task::Apply(ordering(id.clone(), None));
        PlaceOrder {
            bindings,
            group: Some(ResourceGroup::put(
                None,
                put_group(self.group(), "global", ""),
                at(10),
            )),
            tags: vec![("order".to_owned(), number.to_string())],
            cancels: Some(self.id(11)),
            operation: Some(self.on_group(number, task)),
            ..order(
                ServiceInstance {
                    id,
                    group: self.group(),
                    ..instance("s", Change::begun(kind, self.id(number), at(10)))
                },
                expected,
            )
        }
    }

    async fn accept(&self, new: NewOperation) -> String {
        format!("{:?}", self.store.accept_operation(new).await)
    }

    async fn claim(&self, term: LeaseTerm, crowded: &[Scope]) -> String {
        let crowded = crowded.iter().map(Scope::key).collect();
        self.leased.claim(&self.store, term, &crowded).await
    }

    async fn reseal(&self, place: SealedPlace, old: &str) -> String {
        let old = sealed(old).into();
        let reseal = self.store.reseal(&place, &old, sealed("anew"));
        format!("{:?}", reseal.await)
    }

    async fn step(
        &self,
        number: u64,
        document: Option<Sealed>,
        step: impl FnOnce(&Operation) -> Operation,
    ) -> String {
        let Some(claimed) = self.claimed(number) else {
            return "not claimed".to_owned();
        };
        let step = step(&claimed.operation);
        let commit = self
            .store
            .commit_step(&claimed.lease, &step, document, at(21), TERM);
        self.leased.renewed(commit.await)
    }

    async fn finish(&self, number: u64, end: impl FnOnce(&Claimed) -> FinishOperation) -> String {
        let Some(claimed) = self.claimed(number) else {
            return "not claimed".to_owned();
        };
        let end = end(&claimed);
        let finished = self.store.finish_operation(&claimed.lease, end).await;
        self.leased.ended(&claimed.lease, finished)
    }

    /// The others that are due are released. A claim that was not answered may have been made: another one would not show it.
    async fn carry_out(&self, number: u64, resource: &str) -> String {
        let claim = self.store.claim_due_operations("worker", at(20), TERM, 100);
        let claimed = match claim.await {
            Ok(claimed) => claimed,
            Err(error) => return format!("Err({error:?})"),
        };
        let mut reply = "not due".to_owned();
        for claimed in claimed {
            if claimed.operation.header.id == self.id(number) {
                let end = applied(&claimed.operation, resource, true);
                let finished = self.store.finish_operation(&claimed.lease, end).await;
                reply = format!("{finished:?}");
            } else {
                let released = self.store.release_lease(&claimed.lease).await;
                if let Err(Error::Unavailable(_)) = released {
                    return format!("{released:?}");
                }
                released.unwrap();
            }
        }
        reply
    }
}

/// A sealed digest key that is named like its bytes.
fn sealed_key(key: &str) -> SealedKey {
    SealedKey {
        id: key.to_owned(),
        key: sealed(key),
    }
}
