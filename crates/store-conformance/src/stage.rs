//! A stage for the acts of writers: names of its own in a store that many share, what it has come to, and the rules that
//! hold there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use ucp_model::operation::group::Task;
use ucp_model::operation::{Header, Kind};
use ucp_model::{
    BindingId, CredentialId, GroupId, InstanceId, LeftoverId, OperationId, PlanId, PlaneId,
    PlaneKind, RefactorId, Reference, ReferenceId, Register, RoleAssignmentId, Scope,
};
use ucp_store::{
    Basis, Claimed, Error, Limit, NewOperation, RecordedAlias, RecordedTarget, RoleAssignment,
    SealedPlace, Store, Stored,
};

use super::fixture::*;
use super::leased::Leased;

const GROUP: &str = "rg";
const ALIASES: [&str; 16] = [
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "late", "s:r",
];
const BINDINGS: [&str; 2] = ["b", "gone"];
const PLANS: u64 = 3;
const REFACTORS: u64 = 2;
const OPERATIONS: u64 = 24;
/// When nobody claims anything any more.
const FAR: i64 = 1 << 30;
const FINGERPRINTS: [&str; 4] = ["fingerprint", "1", "2", "3"];

/// A part of a store with names of its own.
pub(super) struct Stage {
    pub(super) store: Engine,
    /// Its number, as it is in all its names and ids.
    name: String,
    pub(super) leased: Leased,
    pub(super) aliases: Mutex<BTreeMap<&'static str, RecordedAlias>>,
    pub(super) targets: Mutex<BTreeMap<&'static str, RecordedTarget>>,
    /// The role assignment as it was read.
    pub(super) judged: Mutex<Option<RoleAssignment>>,
}

impl Stage {
    pub(super) fn new(store: Engine, number: u64) -> Self {
        Self {
            store,
            // These digits occur nowhere else.
            name: format!("{:08}", 70_000_000 + number),
            leased: Leased::default(),
            aliases: Mutex::default(),
            targets: Mutex::default(),
            judged: Mutex::default(),
        }
    }

    /// Everything that the stage has come to.
    pub(super) async fn state(&self) -> Vec<String> {
        let store: &dyn Store = self.store.as_ref();
        let (plane, group, assignment) = (self.plane(), self.group(), self.assignment());
        let plane = told(async || store.get_plane(&plane).await).await;
        let of_group = told(async || store.get_resource_group(&group).await).await;
        let assignment = told(async || store.get_role_assignment(&assignment).await).await;
        let mut state = vec![
            format!("{plane:?}"),
            format!("{of_group:?}"),
            format!("{assignment:?}"),
        ];
        for number in 1..=PLANS {
            let plan = answered(async || store.get_plan(self.plan(number)).await).await;
            state.push(format!("{plan:?}"));
        }
        for number in 1..=REFACTORS {
            let refactor = told(async || store.get_refactor(self.refactor(number)).await).await;
            state.push(format!("{refactor:?}"));
        }
        let id = self.instance();
        let instance = answered(async || store.get_service_instance(&id).await).await;
        state.push(format!("{instance:?}"));
        for name in BINDINGS {
            let id = BindingId {
                instance: id.clone(),
                binding: name.to_owned(),
            };
            let binding = answered(async || store.get_service_binding(&id).await).await;
            let access = binding.as_ref().and_then(|it| it.access.as_ref());
            let credentials = access.map(|access| &access.credentials);
            state.push(format!("{binding:?} {credentials:?}"));
        }
        match self.references().await {
            Ok(references) => state.extend(references.iter().map(|it| format!("{it:?}"))),
            Err(error) => state.push(format!("{error:?}")),
        }
        for register in [Register::Group(self.group()), Register::Place(self.scope())] {
            let list = async || store.list_leftovers(&register, None, usize::MAX).await;
            state.push(format!("{:?}", told(list).await));
        }
        let credential = answered(async || store.get_credential(&self.credential()).await).await;
        let secret = credential.as_ref().and_then(|it| it.secret.as_ref());
        state.push(format!("{credential:?} {:?}", secret.map(text)));
        let (scope, type_name) = (self.scope(), type_name());
        for fingerprint in FINGERPRINTS {
            let get = async || {
                let schema = store.get_type_schema(&scope, &type_name, Some(fingerprint));
                schema.await
            };
            state.push(format!("{:?}", told(get).await));
        }
        for name in ALIASES {
            let events = answered(async || store.list_events(&self.alias(name)).await).await;
            state.extend(events.iter().map(|event| format!("{event:?}")));
        }
        let mut operations = answered(async || store.get_operations(&self.ids()).await).await;
        operations.sort_unstable_by_key(|operation| operation.header.id);
        state.extend(operations.iter().map(|operation| format!("{operation:?}")));
        state.extend(self.leased.drain(&self.store).await);
        let after = SealedPlace::DigestKey(String::new());
        let keys = answered(async || store.list_sealed(Some(&after), 1).await).await;
        for (place, key) in &keys {
            if let (SealedPlace::DigestKey(_), Stored::Sealed(key)) = (place, key) {
                state.push(format!("{place:?} {}", text(key)));
            }
        }
        state
    }

    /// Checks the rules that hold whatever the writers do.
    pub(super) async fn check(&self) {
        self.leased.check();
        let store: &dyn Store = self.store.as_ref();
        let mut owned = BTreeSet::new();
        for reference in self.references().await.unwrap_or_default() {
            let target = reference.target().map(|target| target.key());
            if let (true, Some(target)) = (reference.owned, target) {
                assert!(owned.insert(target), "{} has two owners", reference.id);
            }
        }
        let operations = answered(async || store.get_operations(&self.ids()).await).await;
        let live = || operations.iter().filter(|it| !it.is_terminal());
        let mut aliases = BTreeSet::new();
        for operation in live() {
            if let Some(id) = operation.work.reference() {
                assert!(aliases.insert(id.key()), "two operations work on {id}");
            }
            let Header { id, due_at, .. } = operation.header;
            if operation.header.cancel_requested_at.is_some() {
                assert!(due_at <= at(25), "{id} sleeps through a cancel request");
            }
            let Some(work) = operation.work.group() else {
                continue;
            };
            let children = operations.iter().filter(|it| it.header.parent == Some(id));
            if children.filter(|it| it.is_terminal()).count() > work.ended_children {
                assert!(due_at <= at(25), "{id} sleeps through the end of a child");
            }
        }
    }

    /// The references of the group. An error if there is no group.
    async fn references(&self) -> Result<Vec<Reference>, Error> {
        let group = self.group();
        let list = async || {
            let references =
                self.store
                    .list_references(&group, None, None, Limit::items(usize::MAX));
            Ok(references.await?.items)
        };
        told(list).await
    }

    /// Puts off what is left over, so that no later stage claims it. [`Stage::state`] has done so with the operations.
    pub(super) async fn clear(&self) {
        let (now, until) = (at(FAR - 1), at(FAR));
        let claim = async || self.store.claim_due_leftovers(now, until, 1_000).await;
        answered(claim).await;
    }

    /// Returns the text with the number of the stage left out.
    pub(super) fn without_number(&self, text: &str) -> String {
        text.replace(&self.name, "stage")
    }

    fn ids(&self) -> Vec<OperationId> {
        let ids = (1..=OPERATIONS).map(|number| self.id(number));
        ids.collect()
    }

    pub(super) fn claimed(&self, number: u64) -> Option<Claimed> {
        self.leased.claimed(self.id(number))
    }

    /// The reference of an alias as it was read.
    pub(super) fn read(&self, name: &str) -> Option<Reference> {
        let aliases = self.aliases.lock().unwrap();
        aliases.get(name)?.reference.clone()
    }

    /// What was read of an alias, and of the resource, if it was read by itself.
    pub(super) fn basis(&self, name: &str, resource: &str) -> Basis {
        let aliases = self.aliases.lock().unwrap();
        let alias = aliases.get(name);
        let target = self.targets.lock().unwrap().get(resource).copied();
        let target = target.or_else(|| alias.map(|alias| alias.target));
        let reference = alias.and_then(|alias| alias.reference.as_ref());
        Basis::new(reference, &target.unwrap_or_default())
    }

    pub(super) fn id(&self, number: u64) -> OperationId {
        format!("{}{number:024}", self.name).parse().unwrap()
    }

    pub(super) fn plan(&self, number: u64) -> PlanId {
        PlanId(self.id(90 + number).0)
    }

    /// A service instance, whose references are those of aliases that begin with `s:`.
    pub(super) fn instance(&self) -> InstanceId {
        InstanceId {
            platform: format!("cf{}", self.name),
            instance: "s".to_owned(),
        }
    }

    pub(super) fn refactor(&self, number: u64) -> RefactorId {
        RefactorId(self.id(80 + number).0)
    }

    pub(super) fn plane(&self) -> PlaneId {
        plane(PlaneKind::Aws, &format!("aws{}", self.name))
    }

    pub(super) fn group(&self) -> GroupId {
        group(&format!("{GROUP}{}", self.name))
    }

    pub(super) fn scope(&self) -> Scope {
        Scope::new("aws", &format!("{:0>12}", self.name), "us-west-2").unwrap()
    }

    /// Another scope than that of most operations.
    pub(super) fn elsewhere(&self) -> Scope {
        Scope::new("aws", &format!("{:0>12}", self.name), "eu-west-1").unwrap()
    }

    pub(super) fn assignment(&self) -> RoleAssignmentId {
        RoleAssignmentId::new("local", &self.name).unwrap()
    }

    /// The scopes of the role assignment: the group, and an account.
    pub(super) fn given_scopes(&self) -> Vec<ucp_access::Scope> {
        let Scope { plane, account, .. } = self.scope();
        let account = ucp_access::Scope::account(&plane, &account).unwrap();
        vec![ucp_access::Scope::group(&self.group()), account]
    }

    /// The role assignment as it was read.
    pub(super) fn judged(&self) -> Option<RoleAssignment> {
        self.judged.lock().unwrap().clone()
    }

    pub(super) fn credential(&self) -> CredentialId {
        CredentialId::new("aws", &format!("credential{}", self.name)).unwrap()
    }

    /// What the end of this operation left.
    pub(super) fn leftover(&self, number: u64) -> LeftoverId {
        LeftoverId {
            register: Register::Group(self.group()),
            name: self.id(number),
        }
    }

    pub(super) fn alias(&self, name: &str) -> ReferenceId {
        ReferenceId::new(self.group(), type_name(), name).unwrap()
    }

    pub(super) fn put(&self, number: u64, name: &str) -> NewOperation {
        let new = NewOperation {
            id: self.id(number),
            ..put(number, name)
        };
        with(new, |new| {
            new.reference = Some(self.alias(name));
            new.scope = self.scope();
        })
    }

    pub(super) fn delete(&self, number: u64, name: &str) -> NewOperation {
        with(self.put(number, name), |new| {
            new.kind = Kind::Delete;
            new.desired = None;
        })
    }

    pub(super) fn on_group(&self, number: u64, task: Task) -> NewOperation {
        let name = format!("{GROUP}{}", self.name);
        NewOperation {
            id: self.id(number),
            ..on_group(number, &name, task)
        }
    }
}
