//! The books of a world: whatever was accepted has ended, one change after the other, and whatever lives in AWS because of
//! ucp is referenced, or a leftover.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use ucp_model::{
    GroupId, Leftover, LeftoverReason, Mark, Operation, Ownership, PlaneKind, ProvisioningState,
    Reference, Register, Scope, Target,
};
use ucp_simulator::faults::Effect;
use ucp_simulator::{Action, LogEntry, ResourceSnapshot};
use ucp_store::{Error, Limit, SealedPlace, Stored};

use crate::World;
use crate::place::{ACCOUNT, REGION};

/// A resource in the simulated AWS: its account, its type and its identifier.
type Live = (String, String, String);

impl World {
    /// Ends the world and checks its invariants: nothing is in flight and whatever was accepted has ended, one change after the
    /// other; no sealed document is left behind, nothing that should be sealed is in clear, no AWS resource has two owners, and
    /// its [accounts](World::check_accounts) are in order.
    pub async fn finish(self) {
        let next = self
            .store
            .next_claimable_at()
            .await
            .expect("the store answers");
        assert_eq!(next, None, "operations are still in flight");
        let sealed = self.store.list_sealed(None, usize::MAX).await;
        for (place, stored) in sealed.expect("the store answers") {
            let is_kept = match place {
                SealedPlace::Credential(_)
                | SealedPlace::DigestKey(_)
                | SealedPlace::PlanContent(_) => true,
                SealedPlace::PlanDeclared(id) => {
                    let plan = self.store.get_plan(id).await.expect("the store answers");
                    // Whether it has expired is for the sweeper.
                    plan.is_some_and(|it| it.plan.is_open(it.plan.created_at))
                }
                SealedPlace::Desired(_)
                | SealedPlace::Document(_)
                | SealedPlace::Look(_)
                | SealedPlace::Baseline(_)
                | SealedPlace::Observed(_)
                | SealedPlace::Body(_)
                | SealedPlace::ServiceInstance(_)
                | SealedPlace::ServiceBinding(_) => false,
            };
            assert!(is_kept || place.is_of_engine(), "{place:?} is left behind");
            let is_sealed = matches!(stored, Stored::Sealed(_));
            assert!(is_sealed, "{place:?} is in clear");
        }
        let references = self.references_of(&self.groups().await).await;
        let mut owners: BTreeMap<String, u32> = BTreeMap::new();
        for reference in &references {
            let target = reference.target().as_ref().map(Target::key);
            if reference.provisioning_state == ProvisioningState::Unknown {
                continue;
            }
            let target = target.unwrap_or_else(|| panic!("{} stands for nothing", reference.id));
            if reference.owned {
                *owners.entry(target).or_default() += 1;
            }
        }
        assert!(
            owners.values().all(|count| *count == 1),
            "a resource has two owners: {owners:?}"
        );
        self.check_ends().await;
        self.check_turns();
        self.check_accounts().await;
    }

    /// Expects that nothing is lost and nothing is made up:
    ///
    /// - A resource that bears a mark is referenced, or the reference of its mark is undecided, or it is a leftover, or it was
    ///   [let go](Self::lets_go).
    /// - A mark is on one resource, unless another one is a leftover.
    /// - A reference stands for what lives, or for what was deleted.
    /// - A leftover lives in AWS, and no reference stands for it, unless it is a create of unknown outcome.
    pub async fn check_accounts(&self) {
        let groups = self.groups().await;
        let references = self.references_of(&groups).await;
        let leftovers = self.leftovers(groups).await;
        let mut live = BTreeSet::new();
        let mut needless = self.notes.noted().let_go.clone();
        let mut marked = BTreeSet::new();
        for resource in self.aws.resources() {
            let is_live = (resource.account, resource.type_name, resource.identifier);
            if let Some(mark) = mark(&resource.properties) {
                let marking = references.iter().find(|reference| {
                    Ownership::of(Some(mark), Some(&reference.lineage), None).is_ours()
                });
                let is_undecided = marking.is_some_and(|reference| {
                    reference.provisioning_state == ProvisioningState::Unknown
                });
                // It may have been imported under another alias.
                let mut standing = references.iter().filter_map(stands_for);
                let is_referenced =
                    is_undecided || standing.any(|referenced| referenced == is_live);
                let is_left = leftovers.iter().any(|left| {
                    left_of(left).as_ref() == Some(&is_live)
                        || is_unknown(left)
                            && Ownership::of(Some(mark), left.lineage.as_ref(), None).is_ours()
                });
                let is_let_go = needless.contains(&is_live.2);
                let is_first = is_let_go || marked.insert(mark.to_owned());
                assert!(is_first || is_left, "doubled: {is_live:?}, marked {mark}");
                assert!(
                    is_referenced || is_left || needless.remove(&is_live.2),
                    "an orphan: {is_live:?}, marked {mark}; {references:?}; {leftovers:?}"
                );
            }
            live.insert(is_live);
        }
        self.check_standing(&references, &live);
        assert!(
            needless.is_empty(),
            "let go, and accounted for: {needless:?}"
        );
        for leftover in &leftovers {
            // It may never have been made.
            if is_unknown(leftover) {
                continue;
            }
            let left = left_of(leftover).unwrap_or_else(|| panic!("nothing is left: {leftover:?}"));
            assert!(live.contains(&left), "it does not live: {leftover:?}");
            let mut standing = references.iter().filter_map(stands_for);
            assert!(
                standing.all(|referenced| referenced != left),
                "it is referenced: {leftover:?}"
            );
        }
    }

    /// Expects that no two changes were made to the same reference or resource at the same time.
    pub(crate) fn check_turns(&self) {
        let clash = self.notes.noted().clash.clone();
        assert!(clash.is_none(), "{}", clash.unwrap_or_default());
    }

    /// Expects that every accepted operation has ended.
    pub(crate) async fn check_ends(&self) {
        for operation in self.accepted().await {
            let has_ended = operation.is_terminal();
            assert!(has_ended, "accepted, and has not ended: {operation:?}");
        }
    }

    /// The operations that were accepted, as far as ended ones were not removed.
    pub(crate) async fn accepted(&self) -> Vec<Operation> {
        let (accepted, is_swept) = {
            let noted = self.notes.noted();
            (noted.accepted.clone(), noted.is_swept)
        };
        let mut operations = Vec::new();
        for id in accepted {
            let operation = self.store.get_operation(id).await;
            let operation = operation.expect("the store answers");
            assert!(
                operation.is_some() || is_swept,
                "an operation is lost: {id}"
            );
            operations.extend(operation);
        }
        operations
    }

    /// A reference stands for what lives, or for what was deleted: outside of `ucp`, by name or under another alias.
    fn check_standing(&self, references: &[Reference], live: &BTreeSet<Live>) {
        for reference in references {
            let Some(target) = stands_for(reference) else {
                continue;
            };
            let is_known =
                live.contains(&target) || self.notes.noted().vanished.contains(&target.2);
            let is_undecided = reference.provisioning_state == ProvisioningState::Unknown;
            let is_deleted = || {
                // What conflicts with its own token was carried out.
                let is_carried_out = |entry: &LogEntry| {
                    matches!(entry.outcome, "replied" | "dropped" | "hung")
                        || entry.faults.contains(&Effect::ConflictToken {})
                };
                let deletes = |entry: &LogEntry| {
                    entry.operation == Action::DeleteResource
                        && entry.identifier.as_ref() == Some(&target.2)
                        && is_carried_out(entry)
                };
                self.aws.latest(deletes).is_some()
            };
            assert!(
                is_known || is_undecided || is_deleted(),
                "it stands for nothing: {reference:?}"
            );
        }
    }

    /// Says that a client has let go of a resource that bears a mark, so that nothing accounts for it at the end.
    pub fn lets_go(&self, identifier: &str) {
        self.notes.noted().let_go.insert(identifier.to_owned());
    }

    /// The groups of all radius planes.
    pub(crate) async fn groups(&self) -> Vec<GroupId> {
        let planes = self
            .store
            .list_planes(Some(PlaneKind::Radius), None, usize::MAX);
        let planes = planes.await.expect("the store answers").into_iter();
        let mut names: BTreeSet<String> = planes.map(|plane| plane.id.name).collect();
        // What lies below a plane stays when that is deleted, and a plane need not be there.
        names.extend(["local", "other"].map(str::to_owned));
        let mut all = Vec::new();
        for name in names {
            let groups = self.store.list_resource_groups(&name, None, usize::MAX);
            let groups = groups.await.expect("the store answers");
            all.extend(groups.into_iter().map(|group| group.id));
        }
        all
    }

    /// The references of groups.
    pub(crate) async fn references_of(&self, groups: &[GroupId]) -> Vec<Reference> {
        let mut all = Vec::new();
        for group in groups {
            let listed = self
                .store
                .list_references(group, None, None, Limit::items(usize::MAX));
            match listed.await {
                // It was deleted meanwhile.
                Err(Error::NoSuchGroup) => {}
                listed => all.extend(listed.expect("the store answers").items),
            }
        }
        all
    }

    async fn leftovers(&self, groups: Vec<GroupId>) -> Vec<Leftover> {
        let place = |resource: &ResourceSnapshot| {
            Scope::new("aws", &resource.account, &resource.region).expect("a scope")
        };
        let resources = self.aws.resources();
        let mut places: Vec<Scope> = resources.iter().map(place).collect();
        places.push(Scope::new("aws", ACCOUNT, REGION).expect("a scope"));
        places.sort();
        places.dedup();
        let registers = groups.into_iter().map(Register::Group);
        let mut all = Vec::new();
        for register in registers.chain(places.into_iter().map(Register::Place)) {
            match self.store.list_leftovers(&register, None, usize::MAX).await {
                Err(Error::NoSuchGroup) => {}
                listed => all.extend(listed.expect("the store answers")),
            }
        }
        all
    }
}

fn is_unknown(leftover: &Leftover) -> bool {
    leftover.reason == LeftoverReason::OutcomeUnknown
}

fn named(target: &Target<'_>) -> Live {
    let type_name = target.type_name.as_str().to_owned();
    let identifier = target.identifier.as_str().to_owned();
    (target.scope.account.clone(), type_name, identifier)
}

fn stands_for(reference: &Reference) -> Option<Live> {
    reference.target().as_ref().map(named)
}

fn left_of(leftover: &Leftover) -> Option<Live> {
    leftover.target().as_ref().map(named)
}

/// The mark on a resource, whatever the form of its tags.
fn mark(properties: &Value) -> Option<&str> {
    match properties {
        Value::Object(members) => {
            let own = members.get(Mark::KEY).and_then(Value::as_str);
            let is_tag = members.get("Key").and_then(Value::as_str) == Some(Mark::KEY);
            let tagged = members.get("Value").filter(|_| is_tag);
            own.or_else(|| tagged.and_then(Value::as_str))
                .or_else(|| members.values().find_map(mark))
        }
        Value::Array(elements) => elements.iter().find_map(mark),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
