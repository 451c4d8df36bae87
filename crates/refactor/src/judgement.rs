//! What the pairs come to: moves, ambiguities, what is refused and what changes. Rules 4 and 5.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::address::in_words;
use crate::content::Sha;
use crate::history::{Compared, Course};
use crate::names::Names;
use crate::pairing::{Pairing, Standing, Unmappable};
use crate::partition::{By, Colour, Graph, Partition};
use crate::puts::{puts, users};
use crate::refactor::{
    Ambiguity, AmbiguityReason, Changes, Environment, Move, Refactor, RefusalCode, Refused,
};
use crate::resources::Resources;

/// Judges what was found. What changes is put if `deployed` has what names in references mean.
pub(crate) fn judge(
    resources: &Resources<'_>,
    pairing: &Pairing<'_>,
    compared: Compared,
    deleted: &BTreeSet<usize>,
    deployed: Option<&Names>,
) -> Refactor {
    let graph = pairing.graph();
    let mut judging = Judging {
        resources,
        pairing,
        classes: pairing.classes(&graph),
        graph,
        is_named: vec![false; resources.count()],
        refactor: Refactor {
            history: compared.history,
            environments: environments(resources),
            ..Refactor::default()
        },
    };
    if compared.course == Course::Diverged {
        judging.diverged();
    }
    judging.unmappable();
    judging.ambiguities();
    judging.left_over();
    judging.moves();
    let changed = judging.changes(deleted);
    if let Some(names) = deployed {
        let occupied = judging.occupied();
        let is_there = |resource: usize| occupied.contains(&resources.id(resource).key());
        let is_unchanged = |resource| judging.is_unchanged(resource);
        let mut put = users(resources, names, &changed, is_unchanged);
        put.extend(changed);
        put.sort_unstable();
        put.dedup();
        judging.refactor.puts = puts(resources, names, &put, is_there);
    }
    judging.refactor
}

fn environments(resources: &Resources<'_>) -> Vec<Environment> {
    let scopes = resources.environments().iter();
    let environment = |scope: &&ucp_model::Scope| Environment {
        scope: (*scope).clone(),
        moves: 0,
        ambiguities: 0,
        refused: 0,
    };
    scopes.map(environment).collect()
}

struct Judging<'a> {
    resources: &'a Resources<'a>,
    pairing: &'a Pairing<'a>,
    graph: Graph<'a>,
    classes: Partition,
    /// Whether an ambiguity or something that is refused names the resource.
    is_named: Vec<bool>,
    refactor: Refactor,
}

impl Judging<'_> {
    fn refuse(&mut self, code: RefusalCode, from: &[usize], to: &[usize], message: String) {
        let environments = self.named(from, to);
        for environment in environments {
            self.refactor.environments[environment].refused += 1;
        }
        let mut named = from.iter().chain(to);
        let scope = named.next().map(|one| self.resources.scope(*one).clone());
        self.refactor.refused.push(Refused {
            scope,
            from: self.resources.ids(from),
            to: self.resources.ids(to),
            code,
            message,
        });
    }

    fn is_ambiguous(&mut self, from: &[usize], to: &[usize], reason: AmbiguityReason) {
        let environments = self.named(from, to);
        for environment in environments {
            self.refactor.environments[environment].ambiguities += 1;
        }
        let Some(first) = from.first() else {
            return;
        };
        self.refactor.ambiguities.push(Ambiguity {
            scope: self.resources.scope(*first).clone(),
            from: self.resources.ids(from),
            to: self.resources.ids(to),
            reason,
        });
    }

    /// Notes that resources are named, and returns their environments.
    fn named(&mut self, from: &[usize], to: &[usize]) -> Vec<usize> {
        let all = from.iter().chain(to);
        let mut environments = Vec::new();
        for resource in all {
            self.is_named[*resource] = true;
            environments.push(self.resources.environment(*resource));
        }
        environments.sort_unstable();
        environments.dedup();
        environments
    }

    fn diverged(&mut self) {
        // It does not name the last event in common. The record keeps the message, and whoever reads it may perhaps not know of
        // that event.
        let message = "Since the last event that the groups and your `history` have in common, the groups have had others. Plan without `history`: its `history.environment` has those that you may see. Add them to yours.";
        let message = message.to_owned();
        self.refuse(RefusalCode::HistoryDiverged, &[], &[], message);
        let environments = self.refactor.environments.iter_mut();
        environments.for_each(|environment| environment.refused += 1);
    }

    fn unmappable(&mut self) {
        for unmappable in &self.pairing.unmappable {
            match unmappable {
                Unmappable::Missing(step) => {
                    let message = "Nothing is deployed at either address. Take the move out, or correct its `from`.";
                    let to = self.resources.at(step.to).declared;
                    let code = RefusalCode::SourceMissing;
                    self.refuse(code, &[], to.as_slice(), message.to_owned());
                    if let Some(refused) = self.refactor.refused.last_mut() {
                        refused.from = vec![step.from_id.clone()];
                    }
                }
                Unmappable::Deleted { deployed, declared } => {
                    let message = "What is there is to be deleted, so it does not move. Take out the move, or `delete`.";
                    let code = RefusalCode::SourceMissing;
                    self.refuse(code, &[*deployed], &[*declared], message.to_owned());
                }
                Unmappable::Taken { deployed, declared } => {
                    let other = match self.pairing.standing(*declared) {
                        Standing::Same(other, _) => Some(other),
                        Standing::Open | Standing::Aside => None,
                    };
                    self.taken(*deployed, *declared, other);
                }
                Unmappable::Unclear(steps) => {
                    let message = "These addresses change places, and nothing tells whether they have done so already: the resources are neither as declared where they are, nor where they are to be. Say it as an event in `history`, which is made once.";
                    let at = |address: usize| self.resources.at(address);
                    let from: Vec<usize> = steps
                        .iter()
                        .filter_map(|step| at(step.from).deployed)
                        .collect();
                    let to: Vec<usize> = steps
                        .iter()
                        .filter_map(|step| at(step.to).declared)
                        .collect();
                    self.refuse(RefusalCode::MovesUnclear, &from, &to, message.to_owned());
                }
            }
        }
    }

    /// Refuses a move to an address where another one stays, or comes to.
    fn taken(&mut self, deployed: usize, declared: usize, other: Option<usize>) {
        let other_name = match other {
            Some(other) => in_words(self.resources.id(other)),
            None => "another resource".to_owned(),
        };
        let message = format!(
            "The new address is that of {other_name}. Move that one too, or choose another address."
        );
        let code = RefusalCode::TargetTaken;
        self.refuse(code, &[deployed], &[declared], message);
        if let Some(other) = other {
            self.is_named[other] = true;
        }
    }

    /// Rule 4: a class that is left with both sides is an ambiguity.
    fn ambiguities(&mut self) {
        for (deployed, declared) in &self.pairing.same_identity {
            self.is_ambiguous(deployed, declared, AmbiguityReason::Identical);
        }
        let classes = self.classes.classes();
        let sides = classes.map(|members| self.pairing.open_sides(members));
        let mut left: Vec<[Vec<usize>; 2]> = sides
            .filter(|[deployed, declared]| !deployed.is_empty() && !declared.is_empty())
            .collect();
        left.sort_unstable();
        for [mut deployed, mut declared] in left {
            let reason = match (&deployed[..], &declared[..]) {
                ([one], [other]) => {
                    let [old, new] = self.pairing.others(*one, *other);
                    deployed.extend(old.filter(|old| self.pairing.is_open(*old)));
                    declared.extend(new.filter(|new| self.pairing.is_open(*new)));
                    AmbiguityReason::AddressReused
                }
                _ => AmbiguityReason::Identical,
            };
            self.is_ambiguous(&deployed, &declared, reason);
        }
        for [deployed, declared] in self.pairing.uncompared() {
            self.is_ambiguous(&deployed, &declared, AmbiguityReason::Identical);
        }
        if self.pairing.is_unfinished {
            self.unfinished();
        }
    }

    /// What was not looked at to the end is an ambiguity too: what has texts with parts that are not known yet may be anything
    /// that is left of its type, and so may be what refers to it.
    fn unfinished(&mut self) {
        let is_unread = self.unread();
        let mut kinds: BTreeMap<(usize, usize), [Vec<usize>; 2]> = BTreeMap::new();
        for (resource, is_unread) in is_unread.into_iter().enumerate() {
            let is_declared = self.resources.is_declared(resource);
            if self.is_left_over(resource) && (!is_declared || is_unread) {
                let environment = self.resources.environment(resource);
                let kind = (environment, self.resources.type_of(resource));
                kinds.entry(kind).or_default()[usize::from(is_declared)].push(resource);
            }
        }
        for [deployed, declared] in kinds.into_values() {
            if !deployed.is_empty() && !declared.is_empty() {
                self.is_ambiguous(&deployed, &declared, AmbiguityReason::Identical);
            }
        }
    }

    /// Returns which resources have texts with parts that are not known yet, or refer to such a one, if nothing is known of them.
    fn unread(&self) -> Vec<bool> {
        let mut is_unread = vec![false; self.resources.count()];
        let all = 0..is_unread.len();
        let mut left: Vec<usize> = all
            .filter(|resource| self.pairing.is_unread(*resource))
            .collect();
        while let Some(resource) = left.pop() {
            if self.pairing.is_open(resource) && !is_unread[resource] {
                is_unread[resource] = true;
                left.extend(self.graph.users(resource));
            }
        }
        is_unread
    }

    fn is_left_over(&self, resource: usize) -> bool {
        self.pairing.is_open(resource) && !self.is_named[resource]
    }

    /// Rule 5: what is left over in two environments, at one address or else of one content, cannot move between them.
    fn left_over(&mut self) {
        let resources = self.resources;
        for deployed in resources.all_deployed() {
            let at = resources.at(resources.address(deployed));
            if let Some(declared) = at.declared
                && self.is_left_over(deployed)
                && self.is_left_over(declared)
                && resources.environment(deployed) != resources.environment(declared)
            {
                self.between(&[deployed], &[declared]);
            }
        }
        let mut contents = Partition::of(&self.colours_anywhere(), &self.graph);
        contents.refine(&self.graph, By::Targets);
        let mut classes: Vec<[Vec<usize>; 2]> = contents
            .classes()
            .map(|members| self.pairing.open_sides(members))
            .collect();
        classes.sort_unstable();
        for mut sides in classes {
            sides
                .iter_mut()
                .for_each(|side| side.retain(|resource| self.is_left_over(*resource)));
            let [deployed, declared] = &self.elsewhere(sides);
            if !deployed.is_empty() && !declared.is_empty() {
                self.between(deployed, declared);
            }
        }
    }

    /// Leaves out what is in the environment of all that is on the other side: there, write-only values tell them apart.
    fn elsewhere(&self, sides: [Vec<usize>; 2]) -> [Vec<usize>; 2] {
        let environments = |side: &[usize]| -> BTreeSet<usize> {
            let side = side.iter();
            side.map(|resource| self.resources.environment(*resource))
                .collect()
        };
        let [old, new] = [environments(&sides[0]), environments(&sides[1])];
        let [deployed, declared] = sides;
        let kept = |side: Vec<usize>, others: &BTreeSet<usize>| {
            let is_alone = |resource: &usize| {
                let own = self.resources.environment(*resource);
                others.iter().all(|other| *other == own)
            };
            side.into_iter()
                .filter(|resource| !is_alone(resource))
                .collect()
        };
        [kept(deployed, &new), kept(declared, &old)]
    }

    /// Returns what is left over by its content in any environment. What was refused at one address is the same on both
    /// sides; everything else is what it is.
    fn colours_anywhere(&self) -> Vec<Colour<Sha>> {
        let colour = |resource: usize| {
            let number = match self.pairing.standing(resource) {
                Standing::Same(other, _) => resource.min(other),
                Standing::Open if self.is_named[resource] => {
                    let at = self.resources.at(self.resources.address(resource));
                    at.deployed.unwrap_or(resource)
                }
                Standing::Open => match self.pairing.digest_in(resource, b"") {
                    Some(digest) => return Colour::Content(digest),
                    None => resource,
                },
                Standing::Aside => resource,
            };
            Colour::Known {
                number,
                is_unchanged: false,
            }
        };
        (0..self.resources.count()).map(colour).collect()
    }

    /// Refuses a move between environments.
    fn between(&mut self, from: &[usize], to: &[usize]) {
        let account = |resource: &usize| &self.resources.scope(*resource).account;
        let mut accounts = from.iter().map(account);
        let is_within = accounts.any(|one| {
            to.iter()
                .any(|other| account(other).eq_ignore_ascii_case(one))
        });
        let (code, what) = if is_within {
            (RefusalCode::RegionChanges, "region")
        } else {
            (RefusalCode::AccountChanges, "account")
        };
        let message = format!(
            "No resource can move to another {what}. Declare it where it is, or under another address, to make a new one."
        );
        self.refuse(code, from, to, message);
    }

    /// Collects what moves, and refuses what is between environments, or onto an address where another stays.
    fn moves(&mut self) {
        let mut moves: BTreeMap<usize, (usize, Move)> = BTreeMap::new();
        for deployed in self.resources.all_deployed() {
            let Standing::Same(declared, reason) = self.pairing.standing(deployed) else {
                continue;
            };
            let is_between =
                self.resources.environment(deployed) != self.resources.environment(declared);
            let is_moved = self.resources.address(deployed) != self.resources.address(declared);
            let is_kept = self.pairing.is_kept(deployed, declared);
            if is_between && !is_kept {
                self.between(&[deployed], &[declared]);
            } else if let (true, false, Some(reason)) = (is_moved, is_kept, reason) {
                let found = Move {
                    from: self.resources.id(deployed).clone(),
                    to: self.resources.id(declared).clone(),
                    identifier: self.resources.identifier(deployed).cloned(),
                    reason,
                };
                moves.insert(deployed, (declared, found));
            }
        }
        // One that cannot move stays at an address that another may move to.
        let mut left: Vec<usize> = moves.keys().rev().copied().collect();
        while let Some(deployed) = left.pop() {
            let Some((declared, _)) = moves.get(&deployed) else {
                continue;
            };
            let declared = *declared;
            let there = self.resources.at(self.resources.address(declared)).deployed;
            let Some(there) = there.filter(|there| !moves.contains_key(there)) else {
                continue;
            };
            moves.remove(&deployed);
            self.taken(deployed, declared, Some(there));
            let comes = self.resources.at(self.resources.address(deployed)).declared;
            if let Some(Standing::Same(other, _)) = comes.map(|comes| self.pairing.standing(comes))
            {
                left.push(other);
            }
        }
        for (deployed, (_, found)) in moves {
            let environment = self.resources.environment(deployed);
            self.refactor.environments[environment].moves += 1;
            self.refactor.moves.push(found);
        }
    }

    /// Whether a declared resource is deployed, and neither excluded nor named by what is ambiguous or refused.
    fn is_unchanged(&self, declared: usize) -> bool {
        match self.pairing.standing(declared) {
            Standing::Same(deployed, _) => {
                !self.is_named[declared] && !self.pairing.is_kept(deployed, declared)
            }
            Standing::Open | Standing::Aside => false,
        }
    }

    /// Returns the keys of the addresses that a resource is at once everything has moved.
    fn occupied(&self) -> HashSet<String> {
        let deployed = self.resources.all_deployed();
        let mut occupied: HashSet<String> = deployed
            .map(|deployed| self.resources.id(deployed).key())
            .collect();
        let moves = &self.refactor.moves;
        for it in moves {
            occupied.remove(&it.from.key());
        }
        occupied.extend(moves.iter().map(|it| it.to.key()));
        occupied
    }

    /// Collects what changes, and returns the declared resources that a deployment puts.
    fn changes(&mut self, deleted: &BTreeSet<usize>) -> Vec<usize> {
        let mut changes = Changes::default();
        let mut changed = Vec::new();
        for deployed in self.resources.all_deployed() {
            let is_deleted = deleted.contains(&deployed)
                && !self.is_named[deployed]
                && !self.pairing.is_kept(deployed, deployed);
            if is_deleted || self.is_left_over(deployed) {
                changes.undeclared.push(self.resources.id(deployed).clone());
            }
        }
        for declared in self.resources.all_declared() {
            let id = self.resources.id(declared);
            if self.is_left_over(declared) {
                changes.create.push(id.clone());
                changed.push(declared);
            } else if let Standing::Same(deployed, _) = self.pairing.standing(declared)
                && !self.is_named[declared]
                && !self.pairing.is_kept(deployed, declared)
                && self.is_changed(deployed, declared)
            {
                changes.update.push(id.clone());
                changed.push(declared);
            }
        }
        self.refactor.changes = changes;
        changed
    }

    fn is_changed(&self, deployed: usize, declared: usize) -> bool {
        let (Some(old), Some(new)) = (
            self.pairing.content(deployed),
            self.pairing.content(declared),
        ) else {
            return true;
        };
        let refers_to_the_same = || {
            let slots = old.slots.iter().zip(&new.slots);
            let class = |target| self.classes.class_of(target);
            slots
                .into_iter()
                .all(|(old, new)| class(old.target) == class(new.target))
        };
        old.digest != new.digest
            || !refers_to_the_same()
            || !self.pairing.has_same_secrets(deployed, declared)
    }
}
