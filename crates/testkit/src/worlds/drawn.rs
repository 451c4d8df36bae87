//! Draws stories.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::alias::{ALIASES, Alias, LOG_GROUP, NAMES, SECRET, VPC};
use super::offered::Offered;
use super::story::{Act, Pace, Story, Way, Wish};
use super::weather;
use crate::Draw;

impl Story {
    /// Draws the story of a seed: some acts about a few aliases and names. Half of the puts repeat the last declaration.
    pub fn drawn(seed: u64) -> Self {
        let draw = Draw::new(seed);
        let processes = draw.pick(&[1, 1, 2, 2, 2, 3]);
        let ahead_ms = (0..processes).map(|_| ahead(&draw)).collect();
        let weave = draw.pick(&[0, 20, 50]);
        let mut faults = weather::drawn(&draw);
        // It is not drawn, so that the other worlds stay what they were.
        let theme = match seed % 12 {
            0 | 6 => Some(Theme::Orders(Offered::Net)),
            3 | 9 => Some(Theme::Orders(Offered::Logs)),
            4 => Some(Theme::Offers),
            7 => Some(Theme::Roles),
            11 => Some(Theme::Moves),
            _ => None,
        };
        let acts = Acts::drawn(&draw, processes, theme);
        if let Some(Theme::Moves | Theme::Offers) = theme {
            faults.extend(weather::refused_creates(&draw));
        }
        let pace = draw.pick(&[Pace::Unpaced, Pace::Learned, Pace::Ceilings]);
        Self {
            seed,
            ahead_ms,
            weave,
            pace,
            faults,
            acts,
        }
    }
}

/// The clocks of processes agree, except for what it takes to ask the database for the time.
fn ahead(draw: &Draw) -> i64 {
    if draw.one_in(3) {
        draw.below(1_001) as i64 - 500
    } else {
        0
    }
}

/// What a client names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Alias(Alias),
    LogGroup(&'static str),
}

/// What a world is about, besides what all are.
#[derive(Clone, Copy)]
enum Theme {
    /// What a platform orders.
    Orders(Offered),
    /// Orders of what some processes call otherwise in their files.
    Offers,
    /// Roles, which are one in all regions.
    Roles,
    /// Resources that come under another alias, whose creates AWS refuses.
    Moves,
}

struct Acts<'a> {
    draw: &'a Draw,
    processes: usize,
    subjects: Vec<Subject>,
    declared: BTreeMap<Subject, Value>,
    /// Whether persons do what has consequences of their own: import under another alias, and change what they do not own.
    has_persons: bool,
    /// Whether a topic is replaced.
    has_replacements: bool,
    theme: Option<Theme>,
    /// Whether sets list what others stand for, or leave out what they do not own.
    has_sharing: bool,
}

impl<'a> Acts<'a> {
    fn drawn(draw: &'a Draw, processes: usize, theme: Option<Theme>) -> Vec<Act> {
        let subjects = (0..2 + draw.below(3)).map(|_| subject(draw)).collect();
        let mut acts = Self {
            draw,
            processes,
            subjects,
            declared: BTreeMap::new(),
            has_persons: draw.one_in(2),
            has_replacements: draw.one_in(3),
            theme,
            has_sharing: draw.one_in(3),
        };
        // Most defects take few acts, and some take many.
        let count = if draw.one_in(4) {
            10 + draw.below(21)
        } else {
            3 + draw.below(8)
        };
        (0..count).map(|_| acts.one()).collect()
    }

    fn one(&mut self) -> Act {
        let draw = self.draw;
        let subject = draw.pick(&self.subjects);
        let place = || draw.below(10);
        match draw.below(100) {
            0..60 if let Some(Theme::Moves) = self.theme => {
                let asked = self.ask(Wish::Move {
                    to: draw.pick(&["a", "b"]).to_owned(),
                    complete: !draw.one_in(4),
                    capital: draw.one_in(2),
                    days: draw.pick(&[7, 7, 14]),
                    referred: draw.one_in(2),
                    release: draw.one_in(4),
                });
                if draw.one_in(4) {
                    asked
                } else {
                    to_the_end(asked)
                }
            }
            0..60 if let Some(Theme::Offers) = self.theme => match draw.below(9) {
                0..3 => to_the_end(self.ask(Wish::Provision(Offered::Logs))),
                3..6 => to_the_end(self.ask(Wish::Retain(draw.pick(&[7, 14])))),
                _ => Act::Offer {
                    of: self.process(),
                    otherwise: !draw.one_in(3),
                },
            },
            0..12 if self.has_replacements => self.ask(Wish::Replace {
                fifo: draw.one_in(2),
                create_first: draw.one_in(2),
            }),
            12..24 if self.has_sharing => self.ask(match draw.below(10) {
                0 => Wish::Twins,
                1 | 2 => Wish::PutForeign,
                3 | 4 => Wish::Adopt,
                5 => Wish::Release,
                6 => Wish::PutAside,
                _ => Wish::Rename {
                    to: draw.pick(&["a", "b", "c"]).to_owned(),
                    complete: true,
                    release: draw.one_in(2),
                },
            }),
            24..47 if let Some(Theme::Orders(of)) = self.theme => self.ask(match draw.below(12) {
                0..4 => Wish::Provision(of),
                4..7 => Wish::ChangePlan(of),
                7 => Wish::Deprovision {
                    of,
                    changed: draw.one_in(2),
                },
                8 if of == Offered::Logs => Wish::PutForeign,
                9 if of == Offered::Logs => Wish::Intrude,
                10 if of == Offered::Logs => Wish::Share,
                _ => Wish::Provision(of),
            }),
            24..47 if let Some(Theme::Roles) = self.theme => {
                let elsewhere = draw.one_in(2);
                self.ask(match draw.below(8) {
                    0..3 => Wish::PutRole { elsewhere },
                    3..5 => Wish::DropRole { elsewhere },
                    _ => Wish::MoveRole {
                        elsewhere,
                        complete: !draw.one_in(4),
                        release: draw.one_in(4),
                    },
                })
            }
            0..47 => {
                let put = put(draw, subject, &mut self.declared);
                self.ask(put)
            }
            47..54 => self.ask(match subject {
                Subject::Alias(alias) => Wish::Delete(alias),
                Subject::LogGroup(name) => Wish::DeleteByName(name.to_owned()),
            }),
            54..56 => self.ask(Wish::DeleteVpc(place())),
            56..60 => match subject {
                Subject::Alias(alias) if self.has_persons && alias.may_import() => {
                    self.ask(Wish::Import {
                        alias,
                        place: place(),
                        owned: draw.one_in(3),
                    })
                }
                _ => Act::Settle,
            },
            60..62 => match subject {
                Subject::Alias(alias) => self.ask(Wish::Forget(alias)),
                Subject::LogGroup(_) => Act::Settle,
            },
            62..64 => self.ask(Wish::Cancel),
            64..67 => self.ask(Wish::Apply {
                tag: draw.pick(&["a", "b"]).to_owned(),
                subnet: !draw.one_in(3),
                document: draw.one_in(2),
                planned: draw.one_in(2),
            }),
            67 if draw.one_in(2) => self.ask(Wish::DeleteGroup),
            67 => self.ask(Wish::Rename {
                to: draw.pick(&["a", "b"]).to_owned(),
                complete: !draw.one_in(4),
                release: false,
            }),
            68 => self.ask(Wish::PutGroup),
            69..73 if self.has_persons => Act::Change(place()),
            73..76 if self.has_persons => Act::Vanish(place()),
            69..80 => Act::Pass(100 << draw.below(12)),
            80..83 => Act::Step(self.process()),
            83..85 => Act::Keep(self.process()),
            85..89 => Act::Crash {
                of: self.process(),
                after: draw.below(12) as u32,
            },
            89..93 => Act::Stall {
                of: self.process(),
                after: draw.below(12) as u32,
            },
            93 => Act::Resume,
            94 => self.ask(Wish::Rename {
                to: draw.pick(&["a", "b"]).to_owned(),
                complete: !draw.one_in(4),
                release: false,
            }),
            95..97 => Act::Watch(self.process()),
            _ => Act::Settle,
        }
    }

    fn process(&self) -> usize {
        self.draw.below(self.processes)
    }

    fn ask(&self, what: Wish) -> Act {
        let way = match self.draw.below(10) {
            0..3 => Way::ToTheEnd,
            3..5 => Way::Waiting,
            5..6 => Way::NotWaiting,
            6..9 => Way::Meanwhile,
            _ => Way::Twice,
        };
        Act::Ask {
            what,
            by: self.process(),
            way,
        }
    }
}

/// The same by somebody who waits for the end: changes that meet refuse each other.
fn to_the_end(act: Act) -> Act {
    match act {
        Act::Ask { what, by, .. } => Act::Ask {
            what,
            by,
            way: Way::ToTheEnd,
        },
        other => other,
    }
}

fn subject(draw: &Draw) -> Subject {
    if draw.one_in(5) {
        Subject::LogGroup(draw.pick(&NAMES))
    } else {
        Subject::Alias(draw.pick(&ALIASES))
    }
}

fn put(draw: &Draw, subject: Subject, declared: &mut BTreeMap<Subject, Value>) -> Wish {
    let repeated = declared.get(&subject).filter(|_| draw.one_in(2)).cloned();
    let properties = repeated.unwrap_or_else(|| declaration(draw, subject));
    declared.insert(subject, properties.clone());
    match subject {
        Subject::Alias(alias) => Wish::Put {
            alias,
            properties,
            owned: draw.one_in(10),
        },
        Subject::LogGroup(name) => Wish::PutByName {
            name: name.to_owned(),
            properties,
        },
    }
}

/// Draws a declaration. Its create-only properties are always the same, so none requires a replacement.
fn declaration(draw: &Draw, subject: Subject) -> Value {
    let (of, mark) = match subject {
        Subject::Alias(alias) => (alias.resource_type, alias.mark),
        Subject::LogGroup(_) => (LOG_GROUP, None),
    };
    let flags = [json!(null), json!(true), json!(false)];
    let mut properties = match of {
        VPC => json!({
            "CidrBlock": mark,
            "EnableDnsSupport": draw.pick(&flags),
            "Tags": draw.pick(&[json!(null), json!([{"Key": "team", "Value": "net"}])]),
        }),
        SECRET => json!({"Name": mark, "SecretString": draw.pick(&["a", "b"])}),
        _ => json!({
            "LogGroupName": mark,
            "RetentionInDays": draw.pick(&[json!(null), json!(7), json!(14)]),
        }),
    };
    if let Some(members) = properties.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    properties
}
