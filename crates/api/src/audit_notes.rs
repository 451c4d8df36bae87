//! What the audit learns of a request on its way.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ucp_access::Scope;
use ucp_model::operation::Work;
use ucp_model::operation::group::Task;
use ucp_model::{Operation, OperationId, TypeName};

use crate::action::{Action, Effect};

/// The id of a request, in its extensions.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

/// In the extensions of a reply: what came of the request, as far as the status does not say it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CameOf {
    /// The operation goes on.
    Accepted(OperationId),
    /// There was nothing to do.
    Unchanged,
}

/// In the extensions of a reply: there are too many like it, so that the audit only counts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneOfMany;

/// What a request turns out to be on its way in. It outlives a request that is given up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The name of the caller, once it is known.
    pub(crate) caller: Option<String>,
    /// What is asked for, if a route serves it.
    pub(crate) action: Option<Action>,
    /// What the body says that it is about.
    pub(crate) id: Option<String>,
    /// The AWS resource types in accounts and regions whose resources it changes, if that is not what its path names alone.
    pub(crate) changes: BTreeSet<String>,
    /// Whether what it shows of the caller is not valid. Its reply waits.
    pub(crate) login_failed: bool,
}

impl Noted {
    /// Notes what the request is about, if that is not what its path names.
    pub(crate) fn about(&self, id: impl ToString) {
        self.notes().id = Some(id.to_string());
    }

    /// Notes that the request changes resources of an AWS type, by an alias.
    pub(crate) fn changes_type(&self, scope: &ucp_model::Scope, type_name: &TypeName) {
        let changed = Scope::resource_type(scope, type_name);
        self.notes().changes.insert(changed.to_string());
    }

    /// Notes which AWS types an operation changes resources of. What a group owns is not known when its deletion is accepted.
    pub(crate) fn changes(&self, operation: &Operation) {
        match &operation.work {
            Work::Resource(work) => self.changes_type(&work.scope, &work.type_name),
            Work::Group(work) => match &work.task {
                Task::Delete | Task::DeleteUnshared => {}
                Task::Import(items) => items
                    .iter()
                    .for_each(|item| self.changes_type(&item.scope, &item.reference.type_name)),
                Task::Apply(application) => application.members.iter().for_each(|member| {
                    self.changes_type(&member.scope, &member.reference.type_name);
                }),
            },
        }
    }

    /// Notes that the request only shows what it would do, as a what-if does.
    pub(crate) fn changes_nothing(&self) {
        if let Some(action) = &mut self.notes().action {
            action.effect = Effect::Read;
            if let Some(name) = action.name.strip_suffix("/action") {
                action.name = format!("{name}/whatIf/action");
            }
        }
    }

    /// Returns what the action does, if a route serves it.
    pub(crate) fn effect(&self) -> Option<Effect> {
        self.notes().action.as_ref().map(|action| action.effect)
    }

    pub(crate) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
