//! What happens in a world, as data: a story can be drawn, shortened, printed and told again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ucp_engine::Pacing;
use ucp_model::{CallClass, RateKey};
use ucp_simulator::faults::Fault;

use super::alias::{Alias, ELSEWHERE, OTHER_GROUP, id_of};
use super::offered::Offered;
use crate::place::{ACCOUNT, REGION};

/// A world, and what happens in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Story {
    /// The seed of all that the story does not say.
    pub seed: u64,
    /// By how many milliseconds the clock of each process is ahead of the world's. There is a process for each number.
    pub ahead_ms: Vec<i64>,
    /// At how many of a hundred crash points others go first.
    pub weave: u8,
    /// How calls to AWS are paced.
    #[serde(default)]
    pub pace: Pace,
    /// The faults of AWS.
    pub faults: Vec<Fault>,
    /// What happens, in order.
    pub acts: Vec<Act>,
}

/// How calls to AWS are paced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Pace {
    /// Not at all.
    #[default]
    Unpaced,
    /// As AWS takes them.
    Learned,
    /// No faster than an operator says, and one group has more turns than the other.
    Ceilings,
}

impl Pace {
    /// The most calls of each class per second, if the operator says so.
    pub(super) fn ceilings(self) -> BTreeMap<CallClass, f64> {
        match self {
            Self::Unpaced | Self::Learned => BTreeMap::new(),
            Self::Ceilings => [(CallClass::Mutations, 1.0), (CallClass::Reads, 4.0)].into(),
        }
    }

    /// What a process is told about it.
    pub(super) fn pacing(self) -> Option<Pacing> {
        let key = |region, class| RateKey {
            scope: format!("{ACCOUNT}/{region}"),
            class,
        };
        let ceilings = [REGION, ELSEWHERE].into_iter().flat_map(|region| {
            let ceilings = self.ceilings().into_iter();
            ceilings.map(move |(class, rate)| (key(region, class), rate))
        });
        match self {
            Self::Unpaced => None,
            Self::Learned => Some(Pacing::default()),
            Self::Ceilings => Some(Pacing {
                ceilings: ceilings.collect(),
                weights: [(id_of(OTHER_GROUP).key(), 3)].into(),
            }),
        }
    }
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Act {
    /// A client asks a process for something.
    Ask {
        /// What it asks for.
        what: Wish,
        /// Which process.
        by: usize,
        /// How it waits.
        way: Way,
    },
    /// The resource at this place among those that exist is changed outside of `ucp`.
    Change(usize),
    /// It is deleted outside of `ucp`.
    Vanish(usize),
    /// So many milliseconds pass.
    Pass(u64),
    /// A process offers the files in which the log group of an instance is called so, or otherwise.
    Offer {
        /// The process.
        of: usize,
        /// Whether it is called otherwise.
        otherwise: bool,
    },
    /// A process steps what is due.
    Step(usize),
    /// A process looks after the leftovers that are due, and removes what is old enough.
    Keep(usize),
    /// A process looks at the requests in flight.
    Watch(usize),
    /// Everything goes on until nothing is in flight.
    Settle,
    /// A process dies at this one of its next crash points, and another one starts.
    Crash {
        /// The process.
        of: usize,
        /// How many crash points it passes before.
        after: u32,
    },
    /// A worker of a process stalls at this one of the next crash points.
    Stall {
        /// The process.
        of: usize,
        /// How many crash points are passed before.
        after: u32,
    },
    /// The workers go on that stall.
    Resume,
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Wish {
    /// A put under an alias.
    Put {
        /// The alias.
        alias: Alias,
        /// What it declares.
        properties: Value,
        /// Whether the resource is to be owned, whoever has made it.
        owned: bool,
    },
    /// A put of a log group by its name.
    PutByName {
        /// The name.
        name: String,
        /// What is declared.
        properties: Value,
    },
    /// A delete of what an alias stands for.
    Delete(Alias),
    /// A delete of a log group by its name.
    DeleteByName(String),
    /// A delete of the VPC at this place among those that exist.
    DeleteVpc(usize),
    /// An import of what the alias declares, or of the VPC at this place among those that exist.
    Import {
        /// The alias.
        alias: Alias,
        /// The place of the VPC.
        place: usize,
        /// Whether the resource is to be owned.
        owned: bool,
    },
    /// A delete of the reference.
    Forget(Alias),
    /// A cancel of what was accepted last.
    Cancel,
    /// An apply of a VPC and a subnet in it, with this tag.
    Apply {
        /// The tag.
        tag: String,
        /// Whether the set has the subnet.
        subnet: bool,
        /// Whether it has an endpoint, whose policy refers to the VPC.
        #[serde(default)]
        document: bool,
        /// Whether a what-if of the set is asked for first, and its plan is applied.
        #[serde(default)]
        planned: bool,
    },
    /// An apply of a set that lists one log group under this alias.
    Rename {
        /// The alias.
        to: String,
        /// Whether the set lists all that its group has.
        complete: bool,
        /// Whether what it deletes is given up where others stand for it.
        #[serde(default)]
        release: bool,
    },
    /// An apply of a set that lists that log group under two aliases.
    Twins,
    /// A put of another log group under an alias of the group of the renames.
    PutAside,
    /// A put of a topic, of which this value requires a replacement.
    Replace {
        /// The value.
        fifo: bool,
        /// Whether the new one is to be created before the old one is deleted. They have the same name.
        create_first: bool,
    },
    /// A put of the foreign log group by its name.
    PutForeign,
    /// An import of the foreign log group, which is not to be owned, into the group of the renames.
    Adopt,
    /// A delete of that reference.
    Release,
    /// An order of an instance.
    Provision(Offered),
    /// A change of its plan, which replaces what it has.
    ChangePlan(Offered),
    /// A change of how long the ordered log group keeps what is written, in days.
    Retain(u32),
    /// Its deletion.
    Deprovision {
        /// Of what.
        of: Offered,
        /// Whether it names the plan after the change.
        changed: bool,
    },
    /// An import of the foreign log group, which is not to be owned, as a resource of an instance.
    Intrude,
    /// An import of the log group that an order has made, which is not to be owned.
    Share,
    /// An apply of a set that lists a database and a log group of one name under this alias.
    Move {
        /// The alias.
        to: String,
        /// Whether the set lists all that its group has.
        complete: bool,
        /// Whether the name of the database has a capital letter, which AWS does not keep.
        capital: bool,
        /// For how many days the database keeps backups.
        days: u32,
        /// Whether the name of the log group is the value of another resource of the set.
        referred: bool,
        /// Whether what it deletes is given up where others stand for it.
        #[serde(default)]
        release: bool,
    },
    /// A put of a role.
    PutRole {
        /// Whether it comes from the other region.
        elsewhere: bool,
    },
    /// A delete of that reference.
    DropRole {
        /// Whether it is the one from the other region.
        elsewhere: bool,
    },
    /// An apply of a set that lists another role, under another alias from each region.
    MoveRole {
        /// Whether it comes from the other region.
        elsewhere: bool,
        /// Whether the set lists all that its group has.
        complete: bool,
        /// Whether what it deletes is given up where others stand for it.
        #[serde(default)]
        release: bool,
    },
    /// A delete of the other resource group.
    DeleteGroup,
    /// A put of the other resource group.
    PutGroup,
}

impl Wish {
    /// What is ordered, if it is an order.
    pub(super) fn ordered(&self) -> Option<Offered> {
        match self {
            Wish::Provision(of) | Wish::ChangePlan(of) | Wish::Deprovision { of, .. } => Some(*of),
            Wish::Retain(_) => Some(Offered::Logs),
            _ => None,
        }
    }
}

/// How a client waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Way {
    /// For the verdict, while workers step.
    Waiting,
    /// For the end of the operation.
    ToTheEnd,
    /// Not at all, and no worker steps.
    NotWaiting,
    /// Two clients send the same and wait, to two processes if there are several.
    Twice,
    /// For the verdict, while what follows happens.
    Meanwhile,
}

impl Story {
    /// Reads a story.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The story as text, with a line for each act.
    pub fn text(&self) -> String {
        let lines = |items: Vec<String>| {
            if items.is_empty() {
                "[]".to_owned()
            } else {
                format!("[\n    {}\n  ]", items.join(",\n    "))
            }
        };
        let faults = self.faults.iter().map(json).collect();
        let acts = self.acts.iter().map(json).collect();
        format!(
            "{{\n  \"seed\": {}, \"aheadMs\": {}, \"weave\": {}, \"pace\": {},\n  \"faults\": {},\n  \"acts\": {}\n}}",
            self.seed,
            json(&self.ahead_ms),
            self.weave,
            json(&self.pace),
            lines(faults),
            lines(acts)
        )
    }

    /// The story as a test to paste.
    pub fn test(&self) -> String {
        let text = self.text().replace('\n', "\n    ");
        format!(
            "#[test]\nfn the_world_of_seed_{}() {{\n    ucp_testkit::worlds::replay(\n    r#\"{text}\"#,\n    );\n}}\n",
            self.seed
        )
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it is JSON")
}
