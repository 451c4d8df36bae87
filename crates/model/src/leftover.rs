use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Creation, Failure, GroupId, Identifier, Lineage, OperationId, ReferenceId, Scope, Target,
    Timestamp, TypeName, retry,
};

/// How long after its entry a leftover is tried for the first time.
const FIRST_TRY: Duration = Duration::from_secs(60);
/// The longest delay between two tries.
const LONGEST_TRY: Duration = Duration::from_secs(6 * 3600);

/// An AWS resource that lives because of `ucp`, or may, although no alias stands for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Leftover {
    /// Its id. The name is that of the operation whose end entered it first.
    pub id: LeftoverId,
    /// The account and region of the resource.
    pub scope: Scope,
    /// The type of the resource.
    pub type_name: TypeName,
    /// The primary identifier, as AWS spells it. `None` if it is not known which resource there may be.
    pub identifier: Option<Identifier>,
    /// Why it was entered.
    pub reason: LeftoverReason,
    /// The reference that stood for it, or should have.
    pub reference: Option<ReferenceId>,
    /// The lineage of that reference. Entries of earlier versions lack it.
    pub lineage: Option<Lineage>,
    /// The operation whose end entered it last.
    pub operation: OperationId,
    /// When it was entered first.
    pub since: Timestamp,
    /// How often `ucp` has tried to settle it.
    pub tries: u32,
    /// Why the latest try failed, or the delete before its entry.
    pub last_error: Option<Failure>,
    /// When it is tried next.
    pub next_try_at: Timestamp,
    /// What is known of the create whose outcome is not, if that is why it was entered.
    pub create: Option<UnknownCreate>,
    /// Whether the alias of that create has gone on without what it may have made.
    pub abandoned: bool,
}

/// What is known of a create whose outcome is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnknownCreate {
    /// Until when AWS may still be making the resource, or may not show it yet.
    pub may_show_until: Timestamp,
    /// Whether it was to put the mark of the reference on the resource.
    pub marked: bool,
    /// Whether AWS has named the resource in an event of it.
    pub named: bool,
    /// What the mark names it by.
    pub creation: Option<Creation>,
}

/// A leftover to enter when an operation ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewLeftover {
    /// The primary identifier, if known.
    pub identifier: Option<Identifier>,
    /// Why it is left.
    pub reason: LeftoverReason,
    /// Why deleting it failed, if that was tried.
    pub error: Option<Failure>,
    /// What is known of the create whose outcome is not, if it is left by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create: Option<UnknownCreate>,
}

/// Why a resource is left over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeftoverReason {
    /// It is ours, and deleting it failed: the old resource of a replacement, or what a failed create made.
    Undeleted,
    /// A failed create may have left it. It may not be ours.
    Salvage,
    /// AWS created it under another identifier than the request asked for.
    Misnamed,
    /// The outcome of its create cannot be determined.
    OutcomeUnknown,
}

impl LeftoverReason {
    /// All reasons.
    pub const ALL: [Self; 4] = [
        Self::Undeleted,
        Self::Salvage,
        Self::Misnamed,
        Self::OutcomeUnknown,
    ];

    /// Returns its name in replies and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            LeftoverReason::Undeleted => "Undeleted",
            LeftoverReason::Salvage => "Salvage",
            LeftoverReason::Misnamed => "Misnamed",
            LeftoverReason::OutcomeUnknown => "OutcomeUnknown",
        }
    }

    /// Parses the name of a reason.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }

    /// Returns whether the resource is certainly ours and unwanted, so that it may be deleted.
    pub fn is_ours(self) -> bool {
        match self {
            LeftoverReason::Undeleted => true,
            LeftoverReason::Salvage | LeftoverReason::Misnamed | LeftoverReason::OutcomeUnknown => {
                false
            }
        }
    }
}

impl fmt::Display for LeftoverReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Leftover {
    /// Returns the AWS resource, if it is known which one it is.
    pub fn target(&self) -> Option<Target<'_>> {
        let identifier = self.identifier.as_ref()?;
        Some(Target {
            scope: &self.scope,
            type_name: &self.type_name,
            identifier,
        })
    }

    /// Returns the key of what it is about: one register has one entry for each. It is that of the reference that waits for
    /// the decision, of the operation whose create has an unknown outcome, or else of the AWS resource.
    pub fn subject_key(&self) -> String {
        let operation = || self.operation.to_string();
        if let Some(reference) = self.undecided() {
            return reference.key();
        }
        match self.reason {
            // Two creates may have made different things.
            LeftoverReason::OutcomeUnknown => operation(),
            LeftoverReason::Undeleted | LeftoverReason::Salvage | LeftoverReason::Misnamed => {
                self.target().map_or_else(operation, |target| target.key())
            }
        }
    }

    /// Returns the reference that waits for what comes of its create, if it is about that.
    pub fn undecided(&self) -> Option<&ReferenceId> {
        let is_undecided = self.reason == LeftoverReason::OutcomeUnknown && !self.abandoned;
        self.reference.as_ref().filter(|_| is_undecided)
    }

    /// Returns whether `ucp` tries to settle it: deletes it, sees whether it is still there, or finds out what came of its
    /// create.
    pub fn is_tried(&self) -> bool {
        !self.abandoned && (self.identifier.is_some() || self.undecided().is_some())
    }

    /// Returns when a leftover is tried again that was tried `tries` times, the last time at `now`.
    pub fn tried_again_at(tries: u32, now: Timestamp) -> Timestamp {
        now.after(retry::backoff(tries, FIRST_TRY, LONGEST_TRY, 1.0))
    }

    /// Returns the leftover after a try that failed at `now`.
    #[must_use]
    pub fn tried(self, error: Option<Failure>, now: Timestamp) -> Self {
        let tries = self.tries.saturating_add(1);
        Self {
            tries,
            last_error: error,
            next_try_at: Self::tried_again_at(tries, now),
            ..self
        }
    }
}

/// The list that a leftover is entered in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    /// That of a resource group, for what came from one of its references.
    Group(GroupId),
    /// That of an account and region, for what no reference had to do with.
    Place(Scope),
}

impl Register {
    /// Returns the key that the store compares.
    pub fn key(&self) -> String {
        match self {
            Register::Group(group) => group.key(),
            Register::Place(scope) => scope.to_string().to_ascii_lowercase(),
        }
    }

    /// Returns what the ids of its leftovers begin with, before a slash.
    pub fn keys(&self) -> String {
        format!("{}/leftovers", self.key())
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Register::Group(group) => group.fmt(f),
            Register::Place(scope) => scope.fmt(f),
        }
    }
}

/// The id of a leftover: `{group}/leftovers/{name}`, or the same below an account and region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftoverId {
    /// The list that it is entered in.
    pub register: Register,
    /// Its name.
    pub name: OperationId,
}

impl LeftoverId {
    /// Returns the key that the store compares.
    pub fn key(&self) -> String {
        format!("{}/{}", self.register.keys(), self.name)
    }
}

impl fmt::Display for LeftoverId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/leftovers/{}", self.register, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_come_back_as_they_were_stored() {
        for reason in LeftoverReason::ALL {
            assert_eq!(LeftoverReason::parse(reason.as_str()), Some(reason));
        }
        assert_eq!(LeftoverReason::parse("undeleted"), None);
    }

    #[test]
    fn tries_are_a_minute_to_six_hours_apart() {
        let start = Timestamp::from_millis(0);
        let wait = |tries| {
            Leftover::tried_again_at(tries, start)
                .since(start)
                .as_secs()
        };
        let waits: Vec<u64> = (0..11).map(wait).collect();
        assert_eq!(
            waits,
            [
                60, 120, 240, 480, 960, 1_920, 3_840, 7_680, 15_360, 21_600, 21_600
            ]
        );
        assert_eq!(wait(u32::MAX), 21_600);
    }
}
