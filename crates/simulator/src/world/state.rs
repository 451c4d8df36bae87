//! What a simulated AWS knows.

use std::collections::BTreeMap;

use ucp_schema::Catalogue;

use super::change::Change;
use super::moment::Moment;
use super::region::Region;
use super::sessions::{Sessions, Trust};
use crate::exception::{Exception, ExceptionCode};
use crate::faults::{Fault, Faults};
use crate::global;
use crate::log::{Log, LogEntry};
use crate::request::Caller;
use crate::resource_type::Types;
use crate::settings::Settings;

/// A simulated AWS. Its state is a function of its calls and of the time and randomness passed with them.
///
/// Time passes only with calls: each [`World::step`] first does everything that is due.
pub struct World {
    pub(super) types: Types,
    pub(super) settings: Settings,
    pub(super) regions: BTreeMap<Caller, Region>,
    /// The number of the next change.
    pub(super) next_change: u64,
    pub(super) sessions: Sessions,
    pub(super) faults: Faults,
    pub(super) log: Log,
}

impl World {
    /// Creates an empty AWS with the types of `catalogue`.
    pub fn new(catalogue: Catalogue, settings: Settings) -> Self {
        Self {
            types: Types::new(catalogue),
            settings,
            regions: BTreeMap::new(),
            next_change: 0,
            sessions: Sessions::default(),
            faults: Faults::default(),
            log: Log::default(),
        }
    }

    /// Sets who may assume a role, and for how long. Other roles may be assumed by everyone.
    pub fn trust(&mut self, trust: Trust) {
        self.sessions.trust(trust);
    }

    /// Returns the active faults.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.faults.list()
    }

    /// Adds a fault after the active ones.
    pub fn add_fault(&mut self, fault: Fault) {
        self.faults.add(fault);
    }

    /// Removes all faults. Changes in flight that are going to fail still do.
    pub fn clear_faults(&mut self) {
        self.faults.clear();
    }

    /// Returns the calls so far, oldest first.
    pub fn log(&self) -> impl DoubleEndedIterator<Item = &LogEntry> {
        self.log.entries()
    }

    /// Returns the region with the resources of a type, as a caller sees it.
    pub(super) fn region(&mut self, type_name: &str, moment: &Moment<'_>) -> &mut Region {
        self.regions
            .entry(place(type_name, moment.caller))
            .or_default()
    }

    /// Returns the request with this token, and where it is.
    pub(super) fn change(
        &self,
        request_token: &str,
        moment: &Moment<'_>,
    ) -> Result<(Caller, &Change), Exception> {
        let found = places(moment.caller).into_iter().find_map(|place| {
            let change = self.regions.get(&place)?.change(request_token)?;
            (change.asked_in == moment.caller.region).then_some((place, change))
        });
        found.ok_or_else(|| {
            Exception::new(
                ExceptionCode::RequestTokenNotFound,
                format!("Request with token {request_token} was not found"),
            )
        })
    }
}

/// Where the resources of a type are, as a caller sees them.
pub(super) fn place(type_name: &str, caller: &Caller) -> Caller {
    if global::is_global(type_name) {
        everywhere(caller)
    } else {
        caller.clone()
    }
}

/// Where all resources are that a caller sees.
pub(super) fn places(caller: &Caller) -> Vec<Caller> {
    let mut places = vec![caller.clone()];
    if caller.region != global::REGION {
        places.push(everywhere(caller));
    }
    places
}

/// Where the resources of global services are.
pub(super) fn everywhere(caller: &Caller) -> Caller {
    Caller {
        account: caller.account.clone(),
        region: global::REGION.to_owned(),
    }
}

/// The exception for a handler that the type does not have.
pub(super) fn unsupported(type_name: &str, action: &str) -> Exception {
    Exception::new(
        ExceptionCode::UnsupportedAction,
        format!("Resource type {type_name} does not support {action} action"),
    )
}
