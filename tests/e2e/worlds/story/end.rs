//! The end of a world, and what must be true then.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use ucp_testkit::tracked_by;

use super::super::act::{self, ALIASES, Alias, NAMES, Subject, VPC};
use super::{Story, is_terminal};

impl Story<'_> {
    /// Lifts the faults, lets everything end, and checks what must be true then. Returns the replies to puts.
    pub(in super::super) async fn converge(mut self) -> BTreeMap<u16, usize> {
        let world = self.world;
        self.tell("the faults are lifted".to_owned());
        world.aws.clear_faults();
        world.clock.advance(Duration::from_secs(60));
        world.settle().await;
        self.resolve().await;
        self.check_references().await;
        let statuses = self.ended().await;
        self.check_deletes(&statuses);
        self.check_orphans(&statuses).await;
        for alias in ALIASES {
            let path = tracked_by(alias.resource_type, alias.name);
            let known = world.get(&path).await;
            if known.status == 200 && known.body["provisioningState"] != "Unknown" {
                self.put_once_more(alias).await;
            }
        }
        self.check_references().await;
        std::mem::take(&mut self.put_statuses)
    }

    /// What came of every create is found out, except for one of a name that somebody else may have used.
    async fn resolve(&self) {
        const DAY: u32 = 4;
        let world = self.world;
        for _ in 0..2 * DAY {
            world.clock.advance(Duration::from_secs(6 * 3600));
            world.keep().await;
            world.settle().await;
        }
        for reference in world.references().await {
            let is_unknown = reference["provisioningState"] == "Unknown";
            let identifier = reference["mapsTo"]["primaryIdentifier"].as_str();
            let is_decidable = !identifier.is_some_and(|name| NAMES.contains(&name));
            assert!(!is_unknown || !is_decidable, "undecided: {reference}");
        }
    }

    /// Every accepted operation ends. Returns their statuses.
    async fn ended(&self) -> Vec<Value> {
        let mut statuses = Vec::new();
        for accepted in &self.accepted {
            let status = self.world.status(&accepted.reply).await;
            assert!(is_terminal(&status), "does not end: {status}");
            statuses.push(status);
        }
        statuses
    }

    /// What a successful delete was of is gone.
    fn check_deletes(&self, statuses: &[Value]) {
        let resources = self.resources();
        for (accepted, status) in self.accepted.iter().zip(statuses) {
            let is_there = resources
                .iter()
                .any(|resource| accepted.deletes.as_deref() == resource["identifier"].as_str());
            let is_deleted = status["status"] == "Succeeded";
            assert!(!(is_there && is_deleted), "deleted, and there: {status}");
        }
    }

    /// What was created under an alias is referenced, or the error of an operation names it.
    async fn check_orphans(&self, statuses: &[Value]) {
        let references = self.world.references().await;
        let mut known: BTreeSet<&str> = references
            .iter()
            .filter_map(|reference| reference["mapsTo"]["primaryIdentifier"].as_str())
            .collect();
        // These are put by name too.
        known.extend(NAMES);
        let errors: Vec<String> = statuses
            .iter()
            .map(|status| status["error"].to_string())
            .collect();
        for resource in self.resources() {
            let identifier = resource["identifier"].as_str().expect("an identifier");
            let is_told = errors.iter().any(|error| error.contains(identifier));
            assert!(
                known.contains(identifier) || is_told,
                "an orphan: {resource}, {references:?}"
            );
        }
    }

    /// The last declaration of an alias can be put, and then nothing differs.
    async fn put_once_more(&mut self, alias: Alias) {
        let properties = match self.declared.get(&alias) {
            Some(properties) => properties.clone(),
            None => match alias.resource_type {
                VPC => json!({"EnableDnsSupport": true}),
                _ => json!({"LogGroupName": alias.mark}),
            },
        };
        self.tell(format!("once more {alias:?} {properties}"));
        let request = act::put(Subject::Alias(alias), &properties, false);
        let reply = self.ask(&request).await;
        self.tell(format!("  {} {}", reply.status, reply.text));
        if reply.status != 200 {
            let reply = reply.expect(201);
            self.world.settle().await;
            let status = self.world.status(&reply).await;
            assert_eq!(status["status"], "Succeeded", "{status}");
        }
        self.ask(&request).await.expect(200);
        let path = tracked_by(alias.resource_type, alias.name);
        let reference = self.world.get(&path).await.expect(200).body;
        let identifier = &reference["mapsTo"]["primaryIdentifier"];
        let resources = self.resources();
        let resource = resources
            .iter()
            .find(|resource| alias.is_of(resource) && resource["identifier"] == *identifier);
        let live = &resource.expect("it exists")["properties"];
        let declared = properties.as_object().expect("properties");
        for (name, value) in declared.iter().filter(|(name, _)| *name != "SecretString") {
            let mut live = live[name].clone();
            if let Some(tags) = live.as_array_mut() {
                tags.retain(|tag| tag["Key"] != "ucp:reference");
            }
            assert_eq!(live, *value, "{name} is not as declared");
        }
    }
}
