//! The order in which resources are deleted: in waves, each after those that refer to it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::persistence::{DELETE_TRIES_MAX, Persistence, delete_again_after, persistence};
use super::super::record::Operation;
use super::naming::Names;
use super::step::BUSY_RETRY;
use super::survey::{Child, ChildGoal, Refusal, Survey};
use crate::{Ended, Failure, Reference, Timestamp};

/// The maximum total number of tries of one delete. Clock skew must not lead to endless tries.
const TRIES_IN_ALL_MAX: usize = 50;

/// How far the deletion of one resource is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Standing {
    /// Its delete is in progress.
    Running,
    /// Its delete can start.
    Ready,
    /// Its delete can start at this time.
    Later(Timestamp),
    /// Its delete failed for this reason, and is not tried again.
    Settled(Failure),
}

impl Standing {
    fn until(&self) -> Option<Timestamp> {
        match self {
            Standing::Later(until) => Some(*until),
            Standing::Running | Standing::Ready | Standing::Settled(_) => None,
        }
    }
}

/// A reference whose resource is to be deleted, and is not yet.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) reference: &'a Reference,
    pub(super) standing: Standing,
    /// Whether it stays because `ucp` refuses its delete, or because somebody has cancelled that. AWS has refused nothing.
    is_kept: bool,
    /// The other members that refer to it.
    named_by: BTreeSet<usize>,
}

impl Member<'_> {
    fn delete(&self) -> Child {
        Child {
            reference: self.reference.id.clone(),
            scope: self.reference.scope.clone(),
            goal: ChildGoal::Delete,
        }
    }
}

/// The resources to delete, in the order of the references' keys.
#[derive(Debug)]
pub(super) struct Members<'a>(pub(super) Vec<Member<'a>>);

impl<'a> Members<'a> {
    /// Returns the resources of `references`, and how far their deletion is.
    pub(super) fn of(references: &[&'a Reference], survey: &Survey, now: Timestamp) -> Self {
        let mut tries_of: BTreeMap<String, Vec<&Operation>> = BTreeMap::new();
        for child in &survey.children {
            if let Some(reference) = child.work.reference() {
                tries_of.entry(reference.key()).or_default().push(child);
            }
        }
        let names = Names::of(references.iter().copied());
        let last_gone = survey
            .children
            .iter()
            .filter(|child| child.ended() == Some(&Ended::Succeeded))
            .filter_map(|child| child.header.ended_at)
            .max();
        let mut members = Self(
            references
                .iter()
                .copied()
                .map(|reference| {
                    let key = reference.id.key();
                    let tries = tries_of.get(&key).map(Vec::as_slice).unwrap_or_default();
                    let standing = standing(tries, last_gone, now);
                    let last = tries.iter().max_by_key(|child| child.header.ended_at);
                    let last = last.and_then(|last| last.ended());
                    let is_refused = matches!(
                        (&standing, survey.refused.get(&key)),
                        (Standing::Ready, Some(Refusal::Lasting(_)))
                    );
                    let is_cancelled = matches!(
                        (&standing, last),
                        (Standing::Settled(_), Some(Ended::Canceled(_)))
                    );
                    let standing = match (standing, survey.refused.get(&key)) {
                        (Standing::Ready, Some(Refusal::Lasting(failure))) => {
                            Standing::Settled(failure.clone())
                        }
                        (Standing::Ready, Some(Refusal::Busy | Refusal::Later(_))) => {
                            Standing::Later(now.after(BUSY_RETRY))
                        }
                        (standing, _) => standing,
                    };
                    Member {
                        reference,
                        standing,
                        is_kept: is_refused || is_cancelled,
                        named_by: BTreeSet::new(),
                    }
                })
                .collect(),
        );
        for (index, reference) in references.iter().enumerate() {
            // One that stays needs what it uses, whoever has declared that.
            let named = if members.0[index].is_kept {
                names.named_in(reference)
            } else {
                names.declared_in(reference)
            };
            for other in named.into_iter().filter(|other| *other != index) {
                members.put_after(other, index);
            }
        }
        members
    }

    /// Lets one be deleted only after another one.
    pub(super) fn put_after(&mut self, member: usize, first: usize) {
        self.0[member].named_by.insert(first);
    }

    /// Keeps one that is not being deleted yet, and with it what it refers to.
    pub(super) fn settle(&mut self, member: usize, failure: Failure) {
        let member = &mut self.0[member];
        if member.standing != Standing::Running {
            member.standing = Standing::Settled(failure);
            member.is_kept = true;
        }
    }

    /// Lets those that own nothing go before the one that owns what they stand for, or before the last of them if nobody owns it and
    /// `keeps_last`: they are only forgotten, and what nobody else stands for any more is deleted then. Returns them.
    pub(super) fn forget_first(&mut self, keeps_last: bool) -> BTreeSet<usize> {
        let target = |member: &Member<'_>| member.reference.target().map(|target| target.key());
        let members = self.0.iter().enumerate();
        let (owners, others): (Vec<_>, Vec<_>) =
            members.partition(|(_, member)| member.reference.owned);
        let others = others.into_iter().filter(|_| keeps_last);
        let last: BTreeMap<String, usize> = others
            .chain(owners)
            .filter_map(|(index, member)| Some((target(member)?, index)))
            .collect();
        let mut first = BTreeSet::new();
        for index in 0..self.0.len() {
            let member = &mut self.0[index];
            let last = target(member).and_then(|target| last.get(&target));
            if let Some(last) = last.filter(|last| **last != index) {
                member.named_by.clear();
                self.put_after(*last, index);
                first.insert(index);
            }
        }
        first
    }

    pub(super) fn running(&self) -> usize {
        self.count(|member| member.standing == Standing::Running)
    }

    fn count(&self, is_meant: impl Fn(&Member<'_>) -> bool) -> usize {
        self.0.iter().filter(|member| is_meant(member)).count()
    }

    /// The members that must be deleted before this one, directly or transitively.
    fn before(&self, index: usize) -> BTreeSet<usize> {
        let mut before = BTreeSet::new();
        let mut left: Vec<usize> = self.0[index].named_by.iter().copied().collect();
        while let Some(other) = left.pop() {
            if before.insert(other) {
                left.extend(&self.0[other].named_by);
            }
        }
        before
    }

    fn is_settled(&self, index: usize) -> bool {
        matches!(self.0[index].standing, Standing::Settled(_))
    }

    /// The first member that must precede this one but cannot be deleted.
    pub(super) fn held_by(&self, index: usize) -> Option<&Member<'a>> {
        let mut before = self.before(index).into_iter();
        before
            .find(|other| *other != index && self.is_settled(*other))
            .map(|other| &self.0[other])
    }

    /// The members whose delete may still succeed, and that no other member must precede but those of the same cycle.
    fn first(&self) -> Vec<&Member<'a>> {
        let cycle_of = self.cycles();
        let mut must_wait = vec![false; self.0.len()];
        for (index, member) in self.0.iter().enumerate() {
            let cycle = cycle_of[index];
            let mut named_by = member.named_by.iter();
            must_wait[cycle] |=
                self.is_settled(index) || named_by.any(|other| cycle_of[*other] != cycle);
        }
        let members = self.0.iter().zip(cycle_of);
        let first = members.filter(|(_, cycle)| !must_wait[*cycle]);
        first.map(|(member, _)| member).collect()
    }

    /// Returns the number of the cycle that each member is on, which may be its own alone: the strongly connected components of
    /// who names whom, by the algorithm of Kosaraju and Sharir.
    fn cycles(&self) -> Vec<usize> {
        let count = self.0.len();
        let mut names: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (index, member) in self.0.iter().enumerate() {
            for other in &member.named_by {
                names[*other].push(index);
            }
        }
        // Each after all that it names, directly or not, cycles aside.
        let (mut ended, mut is_seen) = (Vec::with_capacity(count), vec![false; count]);
        for start in 0..count {
            let mut way = vec![(start, 0)];
            while let Some((index, next)) = way.pop() {
                if next == 0 && std::mem::replace(&mut is_seen[index], true) {
                    continue;
                }
                match names[index].get(next) {
                    Some(other) => way.extend([(index, next + 1), (*other, 0)]),
                    None => ended.push(index),
                }
            }
        }
        let mut cycle_of = vec![usize::MAX; count];
        for start in ended.into_iter().rev() {
            let mut left = vec![start];
            while let Some(index) = left.pop() {
                if cycle_of[index] == usize::MAX {
                    cycle_of[index] = start;
                    left.extend(&self.0[index].named_by);
                }
            }
        }
        cycle_of
    }

    /// Decides what to delete next, as long as no more than `at_once` deletes are under way. Members that refer to each other go
    /// at the same time: AWS refuses those that are in use, and they come again when something has gone. What stays behind one
    /// that cannot be deleted is kept, or tried last if `tries_all`: then nothing is said to be blocked that AWS was not asked
    /// about. What stays behind one that AWS was not asked about is kept in any case: that one needs it.
    pub(super) fn wave(&self, at_once: usize, tries_all: bool) -> Wave {
        let running = self.running();
        let room = at_once.saturating_sub(running);
        let is_ready = |member: &&Member<'a>| member.standing == Standing::Ready;
        let delete = |members: Vec<&Member<'a>>| -> Vec<Child> {
            let ready = members.into_iter().filter(is_ready);
            ready.take(room).map(Member::delete).collect()
        };
        let first = self.first();
        let until = first.iter().filter_map(|member| member.standing.until());
        let until = until.min();
        let start = delete(first);
        if !start.is_empty() {
            return Wave::Start(start, "nothing that is left has to go before them");
        }
        if running > 0 {
            return Wave::UnderWay(until);
        }
        if let Some(until) = until {
            return Wave::Later(until);
        }
        if !tries_all {
            return Wave::Over;
        }
        let is_needed = |index: usize| {
            let mut before = self.before(index).into_iter();
            before.any(|other| self.0[other].is_kept)
        };
        let held = (0..self.0.len()).filter(|index| !is_needed(*index));
        let held: Vec<&Member<'a>> = held.map(|index| &self.0[index]).collect();
        let until = held.iter().filter_map(|member| member.standing.until());
        let until = until.min();
        let start = delete(held);
        match (start.is_empty(), until) {
            (false, _) => Wave::Start(start, "what refers to them cannot be deleted"),
            (true, Some(until)) => Wave::Later(until),
            (true, None) => Wave::Over,
        }
    }
}

/// What to delete next.
#[derive(Debug)]
pub(super) enum Wave {
    /// These, for this reason.
    Start(Vec<Child>, &'static str),
    /// Nothing until a delete has ended, or until this time.
    UnderWay(Option<Timestamp>),
    /// Nothing before this time.
    Later(Timestamp),
    /// Nothing any more. What is left cannot be deleted.
    Over,
}

/// The status of a reference after these tries of its delete. Those that began before another resource was last deleted count no
/// more.
fn standing(tries: &[&Operation], last_gone: Option<Timestamp>, now: Timestamp) -> Standing {
    let failed_since =
        |child: &&&Operation| last_gone.is_none_or(|gone| child.header.accepted_at >= gone);
    let count = u32::try_from(tries.iter().filter(failed_since).count()).unwrap_or(u32::MAX);
    if tries.iter().any(|child| child.header.ended_at.is_none()) {
        return Standing::Running;
    }
    let last = tries.iter().max_by_key(|child| child.header.ended_at);
    let Some((ended, ended_at)) = last.and_then(|last| last.ended().zip(last.header.ended_at))
    else {
        return Standing::Ready;
    };
    let (failure, persistence) = match ended {
        Ended::Succeeded => return Standing::Ready,
        Ended::Failed(failure) => (failure, persistence(failure)),
        Ended::Canceled(failure) => (failure, Persistence::Lasting),
    };
    match persistence {
        Persistence::Lasting => Standing::Settled(failure.clone()),
        Persistence::Passing | Persistence::OfThisMoment if tries.len() >= TRIES_IN_ALL_MAX => {
            Standing::Settled(failure.clone())
        }
        Persistence::Passing | Persistence::OfThisMoment if count == 0 => Standing::Ready,
        Persistence::Passing if count < DELETE_TRIES_MAX => {
            match ended_at.after(delete_again_after(count)) {
                until if until <= now => Standing::Ready,
                until => Standing::Later(until),
            }
        }
        Persistence::Passing | Persistence::OfThisMoment => Standing::Settled(failure.clone()),
    }
}
