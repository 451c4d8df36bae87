//! What must be true after a campaign.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tokio::task::JoinSet;
use ucp_model::{Lineage, Mark, Ownership, ReferenceId};

use super::people::{Story, is_terminal};
use super::replicas::Replicas;
use crate::client::{API_VERSION, Client, GROUP};

/// How many operations are read at the same time.
const AT_ONCE: usize = 16;

/// What was lost, and what there is twice.
pub(super) struct Verdict {
    pub(super) lost: Vec<String>,
    pub(super) doubled: Vec<String>,
}

/// Compares what people were told with what there is.
pub(super) async fn reach(replicas: &Replicas, aws: &str, story: &Story) -> Verdict {
    let client = replicas.any().expect("all are up");
    let mut verdict = Verdict {
        lost: story.lost.clone(),
        doubled: Vec::new(),
    };
    verdict.operations(&client, story).await;
    let references = client.references().await;
    let live = client.live(aws).await;
    verdict.aliases(story, &references, &live);
    verdict.resources(&references, &live);
    verdict
}

impl Verdict {
    /// Each operation has ended, whether anyone heard of it or not, and as was told before.
    async fn operations(&mut self, client: &Client, story: &Story) {
        let mut reading = JoinSet::new();
        let mut ended = story.ended.iter();
        loop {
            let room = AT_ONCE - reading.len();
            for (path, told) in ended.by_ref().take(room) {
                let (client, path, told) = (client.clone(), path.clone(), told.clone());
                reading.spawn(async move {
                    let now = client.call("GET", &path, "").await.body;
                    (now != told).then(|| format!("{path} was {told} and is {now}"))
                });
            }
            let Some(read) = reading.join_next().await else {
                break;
            };
            self.lost.extend(read.expect("no panic"));
        }
        let mut listed = BTreeSet::new();
        let mut next = Some(format!("{GROUP}/operations?{API_VERSION}&top=1000"));
        while let Some(page) = next {
            let page = client.call("GET", &page, "").await;
            assert_eq!(page.status, 200, "{}", page.text);
            for operation in page.body["value"].as_array().expect("a list") {
                if !is_terminal(operation) {
                    self.lost.push(format!("it has not ended: {operation}"));
                }
                listed.insert(operation["name"].to_string());
            }
            next = page.body["nextLink"].as_str().map(|link| {
                let at = link.find("/planes/").expect("a path");
                link[at..].to_owned()
            });
        }
        for (path, told) in &story.ended {
            if !listed.contains(&told["name"].to_string()) {
                self.lost.push(format!("{path} is not listed"));
            }
        }
    }

    /// Each alias stands for what was last declared for it, or is gone.
    fn aliases(&mut self, story: &Story, references: &[Value], live: &[Value]) {
        let references: BTreeMap<&str, &Value> = references
            .iter()
            .filter_map(|reference| Some((reference["name"].as_str()?, reference)))
            .collect();
        for (alias, declared) in &story.declared {
            let resource = references.get(alias.as_str()).and_then(|reference| {
                let identifier = &reference["mapsTo"]["primaryIdentifier"];
                live.iter().find(|live| live["identifier"] == *identifier)
            });
            let is_as_declared = match (declared, resource) {
                (None, None) => !references.contains_key(alias.as_str()),
                (Some(declared), Some(resource)) => {
                    let declared = declared.as_object().expect("an object");
                    declared
                        .iter()
                        .all(|(name, value)| resource["properties"][name] == *value)
                }
                (None, Some(_)) | (Some(_), None) => false,
            };
            if !is_as_declared {
                let reference = references.get(alias.as_str());
                self.lost.push(format!(
                    "{alias}: declared {declared:?}, there is {resource:?}, {reference:?}"
                ));
            }
        }
    }

    /// Each resource is that of one alias, and has its mark.
    fn resources(&mut self, references: &[Value], live: &[Value]) {
        for resource in live {
            let identifier = &resource["identifier"];
            let of: Vec<ReferenceId> = references
                .iter()
                .filter(|reference| reference["mapsTo"]["primaryIdentifier"] == *identifier)
                .filter_map(|reference| reference["id"].as_str())
                .filter_map(|id| id.parse::<ReferenceId>().ok())
                .collect();
            let tags = resource["properties"]["Tags"].as_array();
            let marks: Vec<&str> = tags
                .into_iter()
                .flatten()
                .filter(|tag| tag["Key"] == Mark::KEY)
                .filter_map(|tag| tag["Value"].as_str())
                .collect();
            let is_ours = match (&of[..], &marks[..]) {
                ([reference], [mark]) => {
                    Ownership::of(Some(*mark), Some(&Lineage::of(reference)), None).is_ours()
                }
                _ => false,
            };
            if !is_ours {
                self.doubled
                    .push(format!("{resource} should have the one mark of {of:?}"));
            }
        }
    }
}
