//! Which deployed resource each declared one is: rules 1 to 3.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use ucp_model::json;

use crate::body::Declared;
use crate::check::{Checked, Step};
use crate::content::{Content, Reader, Sha, Slot, sha};
use crate::deployed::{Deployed, LastSecrets};
use crate::history::Course;
use crate::partition::{By, Colour, Graph, Partition};
use crate::refactor::Reason;
use crate::resources::{Resources, Side};
use crate::secrets::{DIGEST_CHARS, Secrets, Told};
use crate::settled::Settled;

/// How often everything is looked at for what follows from what was found, at least. Each time, all that follows from contents
/// is found at once, so more than a few times is only needed for declarations that are made for it.
const ROUNDS_MIN: usize = 20;

/// How many resources are looked at in all these rounds, about. What is left then is not guessed.
const LOOKS_MAX: usize = 200_000;

/// What is known of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing yet.
    Open,
    /// It is the same as this one of the other side, for this reason; `None` if both have the same address.
    Same(usize, Option<Reason>),
    /// It is left as it is: excluded, or named by what is refused or ambiguous.
    Aside,
}

/// A move that the user asks for and that cannot be, by its addresses.
#[derive(Clone, Debug)]
pub(crate) enum Unmappable {
    /// Nothing is deployed at either address.
    Missing(Step),
    /// What is at the old address is to be deleted.
    Deleted { deployed: usize, declared: usize },
    /// Another resource is to move to the same address.
    Taken { deployed: usize, declared: usize },
    /// Nothing tells whether these, which are a circle, were made already.
    Unclear(Vec<Step>),
}

/// Whether the write-only values of a declaration, with these properties, are those of the last put of a deployed resource.
pub(crate) type HasSameSecrets<'a> = &'a dyn Fn(&Deployed, &Declared, &Value) -> bool;

/// Which resources are the same.
pub(crate) struct Pairing<'a> {
    resources: &'a Resources<'a>,
    reader: Reader<'a>,
    is_excluded: &'a [bool],
    standing: Vec<Standing>,
    contents: Vec<Option<Content>>,
    /// The digests of the contents, with their references open, and of the write-only values.
    digests: Vec<Option<Sha>>,
    has_same_secrets: HasSameSecrets<'a>,
    secrets: Secrets,
    /// What each has to know before its write-only values are known.
    awaited: Vec<Vec<usize>>,
    /// Those of which all that they refer to is known.
    settled: Settled,
    /// Those that refer to something that has become known since they were read.
    stale: BTreeSet<usize>,
    /// Whether more could be found, and it would take too long.
    pub(crate) is_unfinished: bool,
    /// What was mapped, and cannot be.
    pub(crate) unmappable: Vec<Unmappable>,
    /// What has an identifier that several resources have.
    pub(crate) same_identity: Vec<(Vec<usize>, Vec<usize>)>,
}

/// Two resources that may be the same: a deployed and a declared one.
type Candidate = (usize, usize, Option<Reason>);

impl<'a> Pairing<'a> {
    pub(crate) fn new(
        resources: &'a Resources<'a>,
        reader: Reader<'a>,
        is_excluded: &'a [bool],
        has_same_secrets: HasSameSecrets<'a>,
    ) -> Self {
        Self {
            resources,
            reader,
            is_excluded,
            standing: vec![Standing::Open; resources.count()],
            contents: Vec::new(),
            digests: Vec::new(),
            has_same_secrets,
            secrets: Secrets::default(),
            awaited: vec![Vec::new(); resources.count()],
            settled: Settled::of(resources.count()),
            stale: BTreeSet::new(),
            is_unfinished: false,
            unmappable: Vec::new(),
            same_identity: Vec::new(),
        }
    }

    /// Finds what is the same.
    pub(crate) fn find(&mut self, checked: &Checked, course: Course) {
        for deployed in self.resources.all_deployed() {
            if checked.is_outside[deployed] || checked.deleted.contains(&deployed) {
                self.standing[deployed] = Standing::Aside;
            }
        }
        self.map(checked, course);
        self.identify();
        self.set_excluded_aside();
        self.contents.resize(self.resources.count(), None);
        self.digests.resize(self.resources.count(), None);
        let count = self.resources.count();
        for resource in 0..count {
            self.read(resource);
        }
        for resource in 0..count {
            let targets = self.targets(resource);
            targets.for_each(|target| self.settled.refers(resource, target));
            self.classify(resource);
        }
        // The first round looks at all of them.
        self.settled.take_pairs();
        for _ in 0..ROUNDS_MIN.max(LOOKS_MAX / count.max(1)) {
            let found = self.next();
            if found.is_empty() {
                return;
            }
            self.settle(found);
        }
        let classes = self.classes(&self.graph());
        let in_place = self.in_place(&classes);
        self.settle(in_place);
        self.is_unfinished = !self.next().is_empty();
    }

    pub(crate) fn standing(&self, resource: usize) -> Standing {
        self.standing[resource]
    }

    pub(crate) fn is_open(&self, resource: usize) -> bool {
        self.standing[resource] == Standing::Open
    }

    /// Returns whether two resources that are the same stay apart, since one of them is excluded.
    pub(crate) fn is_kept(&self, one: usize, other: usize) -> bool {
        self.is_excluded[one] || self.is_excluded[other]
    }

    pub(crate) fn content(&self, resource: usize) -> Option<&Content> {
        self.contents[resource].as_ref()
    }

    fn is_at_one_address(&self, one: usize, other: usize) -> bool {
        self.resources.address(one) == self.resources.address(other)
    }

    fn same_as(&self, resource: usize) -> Option<usize> {
        match self.standing[resource] {
            Standing::Same(other, _) => Some(other),
            Standing::Open | Standing::Aside => None,
        }
    }

    /// Reads a resource. Returns the deployed ones that have another digest by that.
    fn read(&mut self, resource: usize) -> Vec<usize> {
        let same_as = |declared| self.same_as(declared);
        self.contents[resource] = self.reader.content(resource, &same_as);
        let environment = self.resources.scope(resource).key();
        let content = self.digest_in(resource, environment.as_bytes());
        let (digest, same) = match (content, self.resources.side(resource)) {
            (Some(content), Side::Deployed(deployed)) => match deployed.secrets {
                LastSecrets::None => (Some(content), Vec::new()),
                LastSecrets::Known => (Some(self.secrets.add(content, resource)), Vec::new()),
                LastSecrets::Unknown => {
                    self.secrets.add_unknown(content, resource);
                    (None, Vec::new())
                }
            },
            (Some(content), Side::Declared(declared)) if !declared.write_only.is_empty() => {
                self.read_secrets(resource, declared, content)
            }
            (content, _) => (content, Vec::new()),
        };
        self.digests[resource] = digest;
        for deployed in &same {
            self.digests[*deployed] = digest;
        }
        same
    }

    /// Returns the digest of a declared resource with its write-only values, and the deployed ones of that digest that are new.
    fn read_secrets(
        &mut self,
        resource: usize,
        declared: &'a Declared,
        content: Sha,
    ) -> (Option<Sha>, Vec<usize>) {
        let same_as = |declared| self.same_as(declared);
        let properties = match self.reader.with_secrets(resource, declared, &same_as) {
            Ok(properties) => properties,
            Err(awaited) => {
                if awaited.is_empty() {
                    self.secrets.cannot_tell(content, resource);
                }
                self.awaited[resource] = awaited;
                return (None, Vec::new());
            }
        };
        self.awaited[resource].clear();
        let (mut values, mut cost) = (Vec::new(), 0);
        for place in &declared.write_only {
            let value = properties.pointer(place).map(json::canonical);
            let value = value.unwrap_or_default();
            cost += 1 + value.len() / DIGEST_CHARS;
            values.push((place, value));
        }
        let values = values
            .iter()
            .flat_map(|(place, value)| [place.as_bytes(), value.as_bytes()]);
        let values = sha(values);
        let resources = self.resources;
        let has_same = |deployed: usize| match resources.side(deployed) {
            Side::Deployed(deployed) => (self.has_same_secrets)(deployed, declared, &properties),
            Side::Declared(_) => false,
        };
        let told = self
            .secrets
            .tell(content, (resource, values), cost, has_same);
        match told {
            Told::Digest(digest, same) => (Some(digest), same),
            Told::Nothing => (None, Vec::new()),
        }
    }

    /// Returns whether the write-only values of a declared resource are those that were last put of a deployed one.
    pub(crate) fn has_same_secrets(&self, deployed: usize, declared: usize) -> bool {
        let (Side::Deployed(old), Side::Declared(new)) =
            (self.resources.side(deployed), self.resources.side(declared))
        else {
            return true;
        };
        match old.secrets {
            LastSecrets::Unknown => return false,
            LastSecrets::None if new.write_only.is_empty() => return true,
            LastSecrets::None | LastSecrets::Known => {}
        }
        let same_as = |declared| self.same_as(declared);
        let properties = self.reader.with_secrets(declared, new, &same_as);
        properties.is_ok_and(|properties| (self.has_same_secrets)(old, new, &properties))
    }

    /// Returns deployed and declared resources of equal contents whose write-only values were not compared.
    pub(crate) fn uncompared(&self) -> Vec<[Vec<usize>; 2]> {
        let open = |side: Vec<usize>| -> Vec<usize> {
            let open = side.into_iter().filter(|resource| self.is_open(*resource));
            open.collect::<BTreeSet<usize>>().into_iter().collect()
        };
        let sides = self.secrets.uncompared().map(|sides| sides.map(open));
        let mut sides: Vec<[Vec<usize>; 2]> = sides.collect();
        sides.retain(|sides| sides.iter().all(|side| !side.is_empty()));
        sides.sort_unstable();
        sides
    }

    /// Returns whether a resource has values that are not known yet, since what they refer to is not.
    pub(crate) fn is_unread(&self, resource: usize) -> bool {
        let has_parts = self
            .content(resource)
            .is_some_and(|content| content.is_open);
        has_parts || !self.awaited[resource].is_empty()
    }

    fn pair(&mut self, (deployed, declared, reason): Candidate) {
        self.standing[deployed] = Standing::Same(declared, reason);
        self.standing[declared] = Standing::Same(deployed, reason);
    }

    /// Pairs what was found, and what follows from that at once. Who refers to it is read again: AWS's values of it are known
    /// now.
    fn settle(&mut self, mut found: Vec<Candidate>) {
        while !found.is_empty() {
            found.iter().for_each(|candidate| self.pair(*candidate));
            let mut ready = BTreeSet::new();
            for (deployed, declared, _) in found {
                for end in [deployed, declared] {
                    self.classify(end);
                    for (user, is_ready) in self.settled.is_known(end) {
                        self.stale.insert(user);
                        ready.extend(is_ready.then_some(user));
                    }
                }
            }
            ready.into_iter().for_each(|user| self.refresh(user));
            let pairs = self.settled.take_pairs().into_iter();
            let pairs =
                pairs.map(|(deployed, declared)| (deployed, declared, Some(Reason::Digest)));
            found = self.without_reused_addresses(pairs.collect());
        }
        let stale = std::mem::take(&mut self.stale);
        stale.into_iter().for_each(|user| self.refresh(user));
    }

    /// Reads a resource again that refers to something that has become known. What is deployed has its values already.
    fn refresh(&mut self, user: usize) {
        self.stale.remove(&user);
        if self.resources.is_declared(user) {
            let same = self.read(user);
            same.into_iter()
                .for_each(|deployed| self.classify(deployed));
            let targets = self.targets(user);
            let deployed = targets.filter(|target| !self.resources.is_declared(*target));
            deployed.for_each(|target| self.settled.refers(user, target));
        }
        self.classify(user);
    }

    /// Returns what a resource refers to, but for its write-only values that are known.
    fn targets(&self, resource: usize) -> std::vec::IntoIter<usize> {
        let content = self.content(resource);
        let slots = content.map_or(&[][..], |content| &content.slots);
        let slots = slots.iter().map(|slot| slot.target);
        let targets: Vec<usize> = slots
            .chain(self.awaited[resource].iter().copied())
            .collect();
        targets.into_iter()
    }

    /// Puts a resource into its class, if it is open and all that it refers to is known.
    fn classify(&mut self, resource: usize) {
        let targets = self.targets(resource);
        let numbers = targets.map(|target| match self.colour(target) {
            Colour::Known { number, .. } => Some(number),
            Colour::Content(_) => None,
        });
        let (mut bytes, mut unknown) = (Vec::new(), 0);
        for number in numbers {
            match number {
                Some(number) => bytes.extend(number.to_be_bytes()),
                None => unknown += 1,
            }
        }
        let digest = self.digests[resource].filter(|_| self.is_open(resource) && unknown == 0);
        let class = digest.map(|digest| sha([&digest[..], &bytes]));
        self.settled.has_unknown(resource, unknown);
        let is_declared = self.resources.is_declared(resource);
        self.settled.classify(resource, is_declared, class);
    }

    /// Rule 1: what the user says, the pending events of the history first.
    fn map(&mut self, checked: &Checked, course: Course) {
        // Where each deployed resource has come to, and what is at each address by then.
        let mut at: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut moved: BTreeMap<usize, usize> = BTreeMap::new();
        let within = |deployed: &usize| !checked.is_outside[*deployed];
        for deployed in self.resources.all_deployed().filter(within) {
            let address = self.resources.address(deployed);
            at.entry(address).or_default().push(deployed);
        }
        let mut make = |at: &mut HashMap<usize, Vec<usize>>, steps: &[Step]| -> Vec<Step> {
            let is_missing =
                |step: &&Step| !at.contains_key(&step.from) && !at.contains_key(&step.to);
            let missing = steps.iter().filter(is_missing).cloned().collect();
            let sources = steps.iter().map(|step| at.remove(&step.from));
            let sources: Vec<Option<Vec<usize>>> = sources.collect();
            for (step, sources) in steps.iter().zip(sources) {
                for deployed in sources.into_iter().flatten() {
                    at.entry(step.to).or_default().push(deployed);
                    moved.insert(deployed, step.to);
                }
            }
            missing
        };
        if let Course::From(first) = course {
            for steps in checked.events.iter().skip(first) {
                // Groups that never had a resource have no move of it to make.
                make(&mut at, steps);
            }
        }
        let moves = self.unmade(&checked.moves, &at);
        for missing in make(&mut at, &moves) {
            if let Some(declared) = self.resources.at(missing.to).declared {
                self.standing[declared] = Standing::Aside;
            }
            self.unmappable.push(Unmappable::Missing(missing));
        }
        for (deployed, address) in moved {
            let Some(declared) = self.resources.at(address).declared else {
                continue;
            };
            if checked.deleted.contains(&deployed) {
                self.standing[declared] = Standing::Aside;
                let gone = Unmappable::Deleted { deployed, declared };
                self.unmappable.push(gone);
                continue;
            }
            match self.standing[declared] {
                Standing::Open => self.pair((deployed, declared, Some(Reason::Mapping))),
                Standing::Same(..) | Standing::Aside => {
                    self.standing[deployed] = Standing::Aside;
                    let taken = Unmappable::Taken { deployed, declared };
                    self.unmappable.push(taken);
                }
            }
        }
    }

    /// Returns the moves that are to be made. Those that follow each other are judged together, by what is there before: what was
    /// made already is not made again.
    fn unmade(&mut self, moves: &[Step], at: &HashMap<usize, Vec<usize>>) -> Vec<Step> {
        let from: HashMap<usize, &Step> = moves.iter().map(|step| (step.from, step)).collect();
        let to: BTreeSet<usize> = moves.iter().map(|step| step.to).collect();
        let (first, rest): (Vec<&Step>, Vec<&Step>) =
            moves.iter().partition(|step| !to.contains(&step.from));
        let (mut is_seen, mut kept) = (BTreeSet::new(), Vec::new());
        for step in first.into_iter().chain(rest) {
            let mut way = Vec::new();
            let mut next = Some(step);
            while let Some(step) = next.filter(|step| is_seen.insert(step.from)) {
                way.push(step.clone());
                next = from.get(&step.to).copied();
            }
            let (Some(first), Some(last)) = (way.first(), way.last()) else {
                continue;
            };
            // What is said to stay is no circle.
            let is_circle = first.from == last.to && way.len() > 1;
            let stays = |step: &Step| self.is_as_declared(at.get(&step.to), step.to);
            let comes = |step: &Step| self.is_as_declared(at.get(&step.from), step.to);
            let is_made = if is_circle {
                way.iter().all(stays)
            } else {
                !at.contains_key(&first.from) && stays(last)
            };
            match is_made {
                true => {}
                false if is_circle && !way.iter().all(comes) => {
                    for step in &way {
                        let ends = [
                            self.resources.at(step.to).declared,
                            self.resources.at(step.from).deployed,
                        ];
                        for end in ends.into_iter().flatten() {
                            self.standing[end] = Standing::Aside;
                        }
                    }
                    self.unmappable.push(Unmappable::Unclear(way));
                }
                false => kept.extend(way),
            }
        }
        kept
    }

    /// Returns whether one of these deployed resources has the content and the write-only values of what is declared at an address, as
    /// far as these are known before anything is paired.
    fn is_as_declared(&self, deployed: Option<&Vec<usize>>, address: usize) -> bool {
        let digest = |resource: usize| {
            let content = self.reader.content(resource, &|_| None);
            content.map(|content| content.digest)
        };
        let Some(declared) = self.resources.at(address).declared else {
            return false;
        };
        let content = digest(declared);
        let mut deployed = deployed.into_iter().flatten();
        content.is_some()
            && deployed.any(|deployed| {
                digest(*deployed) == content && self.has_same_secrets(*deployed, declared)
            })
    }

    /// Rule 2: who declares an identifier is the resource that has it.
    fn identify(&mut self) {
        let mut by_identity: BTreeMap<_, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for resource in 0..self.resources.count() {
            let identifier = self.resources.identifier(resource);
            if let (true, Some(identifier)) = (self.is_open(resource), identifier) {
                let environment = self.resources.environment(resource);
                let type_number = self.resources.type_of(resource);
                let key = (environment, type_number, identifier.as_str());
                let (deployed, declared) = by_identity.entry(key).or_default();
                if self.resources.is_declared(resource) {
                    declared.push(resource)
                } else {
                    deployed.push(resource)
                }
            }
        }
        for (mut deployed, mut declared) in by_identity.into_values() {
            for one in &deployed {
                let at = self.resources.at(self.resources.address(*one)).declared;
                if let Some(other) = at.filter(|other| declared.contains(other)) {
                    self.pair((*one, other, Some(Reason::Identity)));
                }
            }
            deployed.retain(|resource| self.is_open(*resource));
            declared.retain(|resource| self.is_open(*resource));
            match (&deployed[..], &declared[..]) {
                ([], _) | (_, []) => {}
                ([one], [other]) => self.pair((*one, *other, Some(Reason::Identity))),
                _ => {
                    for resource in deployed.iter().chain(&declared) {
                        self.standing[*resource] = Standing::Aside;
                    }
                    self.same_identity.push((deployed, declared));
                }
            }
        }
    }

    /// What is excluded stays: it is the same as what is declared at its address, and nothing else.
    fn set_excluded_aside(&mut self) {
        for resource in 0..self.resources.count() {
            if !self.is_excluded[resource] || !self.is_open(resource) {
                continue;
            }
            let at = self.resources.at(self.resources.address(resource));
            match (at.deployed, at.declared) {
                (Some(deployed), Some(declared))
                    if self.is_open(deployed) && self.is_open(declared) =>
                {
                    self.pair((deployed, declared, None));
                }
                _ => self.standing[resource] = Standing::Aside,
            }
        }
    }

    /// Rule 3: what follows from what is known so far.
    fn next(&self) -> Vec<Candidate> {
        let graph = self.graph();
        let classes = self.classes(&graph);
        let mut parts = classes.clone();
        parts.refine(&graph, By::TargetsAndUsers);
        let mut found = Vec::new();
        for (partition, reason) in [(&classes, Reason::Digest), (&parts, Reason::Structure)] {
            for members in partition.classes() {
                let [deployed, declared] = self.open_sides(members);
                if let ([deployed], [declared]) = (&deployed[..], &declared[..]) {
                    found.push((*deployed, *declared, Some(reason)));
                }
            }
        }
        // A class of one and one is a part too.
        found.sort_by_key(|(deployed, _, _)| *deployed);
        found.dedup_by_key(|(deployed, _, _)| *deployed);
        let found = self.without_reused_addresses(found);
        if !found.is_empty() {
            return found;
        }
        let found = self.at_equal_addresses(&parts);
        if !found.is_empty() {
            return found;
        }
        self.lowest(self.in_place(&classes), &graph)
    }

    /// Returns the open members of a class, the deployed ones and the declared ones, in their order.
    pub(crate) fn open_sides(&self, members: &[usize]) -> [Vec<usize>; 2] {
        let mut sides = [Vec::new(), Vec::new()];
        for member in members.iter().filter(|member| self.is_open(**member)) {
            sides[usize::from(self.resources.is_declared(*member))].push(*member);
        }
        sides.iter_mut().for_each(|side| side.sort_unstable());
        sides
    }

    /// Returns the classes of what has one digest, with that of what it refers to.
    pub(crate) fn classes(&self, graph: &Graph<'_>) -> Partition {
        let resources = 0..self.resources.count();
        let colours: Vec<Colour<Sha>> = resources.map(|resource| self.colour(resource)).collect();
        let mut classes = Partition::of(&colours, graph);
        classes.refine(graph, By::Targets);
        classes
    }

    pub(crate) fn graph(&self) -> Graph<'_> {
        const NONE: &[Slot] = &[];
        let slots = self.contents.iter();
        let slots = slots.map(|content| content.as_ref().map_or(NONE, |content| &content.slots));
        Graph::new(self.resources, slots.collect())
    }

    fn colour(&self, resource: usize) -> Colour<Sha> {
        let known = |number, is_unchanged| Colour::Known {
            number,
            is_unchanged,
        };
        match self.standing[resource] {
            Standing::Same(other, _) => {
                let digest = |resource: usize| Some(self.content(resource)?.digest);
                let is_unchanged = digest(resource).is_some() && digest(resource) == digest(other);
                known(resource.min(other), is_unchanged)
            }
            Standing::Aside => known(resource, false),
            Standing::Open => match self.digests[resource] {
                Some(digest) => Colour::Content(digest),
                None => known(resource, false),
            },
        }
    }

    /// Returns the digest of a resource in an environment, with its references open. Who declares an identifier has none,
    /// nor has what was never put.
    pub(crate) fn digest_in(&self, resource: usize, environment: &[u8]) -> Option<Sha> {
        let is_declared = self.resources.is_declared(resource);
        if is_declared && self.resources.identifier(resource).is_some() {
            return None;
        }
        let content = self.content(resource)?;
        let type_name = self.resources.id(resource).type_name.as_str();
        let type_name = type_name.to_ascii_lowercase();
        Some(sha([environment, type_name.as_bytes(), &content.digest]))
    }

    /// Leaves out what would move away from, or onto, an address where another would stay without a counterpart: there
    /// the one may have been changed, and not moved.
    fn without_reused_addresses(&self, found: Vec<Candidate>) -> Vec<Candidate> {
        let mut candidate_of = HashMap::new();
        for (index, (deployed, declared, _)) in found.iter().enumerate() {
            candidate_of.insert(*deployed, index);
            candidate_of.insert(*declared, index);
        }
        let mut is_left_out = vec![false; found.len()];
        let mut left: Vec<usize> = (0..found.len()).rev().collect();
        while let Some(index) = left.pop() {
            if is_left_out[index] {
                continue;
            }
            let (deployed, declared, _) = found[index];
            let is_candidate = |resource: usize| {
                (candidate_of.get(&resource)).is_some_and(|other| !is_left_out[*other])
            };
            let [old, new] = self.others(deployed, declared);
            let goes = old.is_none_or(|old| is_candidate(old) || self.leaves(old));
            let comes = new.is_none_or(|new| is_candidate(new) || self.same_as(new).is_some());
            if goes && comes {
                continue;
            }
            is_left_out[index] = true;
            for resource in [deployed, declared] {
                let at = self.resources.at(self.resources.address(resource));
                let there = [at.deployed, at.declared].into_iter().flatten();
                left.extend(there.filter_map(|there| candidate_of.get(&there)));
            }
        }
        let found = found.into_iter().zip(is_left_out);
        let found = found.filter(|(_, is_left_out)| !is_left_out);
        found.map(|(candidate, _)| candidate).collect()
    }

    /// Returns the other resources at the addresses of a pair: what is deployed at the new address, and what is declared
    /// at the old one.
    pub(crate) fn others(&self, deployed: usize, declared: usize) -> [Option<usize>; 2] {
        if self.is_at_one_address(deployed, declared) {
            return [None, None];
        }
        let old = self.resources.at(self.resources.address(declared)).deployed;
        let new = self.resources.at(self.resources.address(deployed)).declared;
        [old, new]
    }

    /// Returns whether a deployed resource is known to move away from its address.
    fn leaves(&self, deployed: usize) -> bool {
        self.same_as(deployed).is_some_and(|declared| {
            !self.is_at_one_address(deployed, declared) && !self.is_kept(deployed, declared)
        })
    }

    /// Rule 3b: in parts of several, what has the same address on both sides is the same.
    fn at_equal_addresses(&self, parts: &Partition) -> Vec<Candidate> {
        let mut found = Vec::new();
        for deployed in self.resources.all_deployed() {
            let at = self.resources.at(self.resources.address(deployed));
            if let Some(declared) = at.declared
                && self.is_open(deployed)
                && self.is_open(declared)
                && parts.class_of(deployed) == parts.class_of(declared)
            {
                found.push((deployed, declared, None));
            }
        }
        found
    }

    /// Rule 3c: what has the same address on both sides, and a content that the other side has not, was changed there.
    fn in_place(&self, classes: &Partition) -> Vec<Candidate> {
        let classes_with = |side: std::ops::Range<usize>| {
            let mut is_there = HashMap::new();
            for resource in side.filter(|resource| self.is_open(*resource)) {
                is_there.insert(classes.class_of(resource), ());
            }
            is_there
        };
        let with_deployed = classes_with(self.resources.all_deployed());
        let with_declared = classes_with(self.resources.all_declared());
        let mut found = Vec::new();
        for deployed in self.resources.all_deployed() {
            let at = self.resources.at(self.resources.address(deployed));
            if let Some(declared) = at.declared
                && self.is_open(deployed)
                && self.is_open(declared)
                && self.resources.environment(deployed) == self.resources.environment(declared)
                && !with_declared.contains_key(&classes.class_of(deployed))
                && !with_deployed.contains_key(&classes.class_of(declared))
            {
                found.push((deployed, declared, None));
            }
        }
        found
    }

    /// Returns those of what was changed in place that nothing can turn out to be but each other; or else those that do
    /// not refer to others of them, since a reference to one is a change only as long as that one is not known. On a
    /// circle, all of them are left.
    fn lowest(&self, candidates: Vec<Candidate>, graph: &Graph<'_>) -> Vec<Candidate> {
        let only = self.only_each_other(&candidates);
        if !only.is_empty() {
            return only;
        }
        let mut is_above = vec![false; self.resources.count()];
        let ends = candidates.iter().flat_map(|(one, other, _)| [*one, *other]);
        let mut left: Vec<usize> = ends.collect();
        while let Some(resource) = left.pop() {
            for user in graph.users(resource) {
                if self.is_open(user) && !is_above[user] {
                    is_above[user] = true;
                    left.push(user);
                }
            }
        }
        let is_lowest = |(one, other, _): &Candidate| !is_above[*one] && !is_above[*other];
        if candidates.iter().any(is_lowest) {
            candidates.into_iter().filter(is_lowest).collect()
        } else {
            candidates
        }
    }

    /// Returns those of the candidates whose content, references aside, no other open resource of the other side has.
    fn only_each_other(&self, candidates: &[Candidate]) -> Vec<Candidate> {
        let kind = |resource: usize| {
            (
                self.resources.environment(resource),
                self.resources.type_of(resource),
            )
        };
        let mut with_digest: HashMap<(bool, Sha), usize> = HashMap::new();
        let mut unfinished: HashMap<(usize, usize), usize> = HashMap::new();
        for resource in (0..self.resources.count()).filter(|resource| self.is_open(*resource)) {
            if let Some(digest) = self.digests[resource] {
                let key = (self.resources.is_declared(resource), digest);
                *with_digest.entry(key).or_default() += 1;
            }
            if self.is_unread(resource) {
                *unfinished.entry(kind(resource)).or_default() += 1;
            }
        }
        let is_only = |(deployed, declared, _): &&Candidate| {
            let (old, new) = (self.digests[*deployed], self.digests[*declared]);
            let others = |is_declared: bool, digest: Option<Sha>| {
                let count = digest.and_then(|digest| with_digest.get(&(is_declared, digest)));
                count.copied().unwrap_or_default() - usize::from(digest.is_some() && old == new)
            };
            let open = unfinished.get(&kind(*deployed)).copied();
            others(true, old) == 0 && others(false, new) == 0 && open.unwrap_or_default() == 0
        };
        candidates.iter().filter(is_only).copied().collect()
    }
}
