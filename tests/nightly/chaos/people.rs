//! People who change aliases, through whichever server answers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::replicas::Replicas;
use super::{Over, draw};
use crate::client::Answer;
use ucp_testkit::Draw;

/// How many people there are, and how many aliases. Each changes aliases of their own, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Crowd {
    pub(super) people: u64,
    pub(super) aliases: usize,
}

/// How long they wait before they ask again what has become of an operation.
const AGAIN: Duration = Duration::from_secs(1);
/// How long they wait before they repeat a request.
const ANOTHER: Duration = Duration::from_millis(100);
/// How long they follow an operation, and how long they repeat a request.
const PATIENCE: Duration = Duration::from_secs(90);

/// What was declared for each alias, if it was not deleted.
pub(super) type Declared = BTreeMap<String, Option<Value>>;

/// What happened in a campaign.
pub(super) struct Story {
    began: Instant,
    /// The final reply of each operation, by the path of its status.
    pub(super) ended: BTreeMap<String, Value>,
    ends: Vec<Instant>,
    pub(super) declared: Declared,
    /// What should not have happened to a request or an operation.
    pub(super) lost: Vec<String>,
}

impl Story {
    pub(super) fn operations(&self) -> usize {
        self.ended.len()
    }

    /// When the last operation ended.
    pub(super) fn last_end(&self) -> Instant {
        self.ends.iter().copied().max().unwrap_or(self.began)
    }

    /// The longest time in which no operation ended.
    pub(super) fn longest_pause(&self) -> Duration {
        let mut ends = self.ends.clone();
        ends.push(self.began);
        ends.sort_unstable();
        let pauses = ends.windows(2).map(|pair| pair[1] - pair[0]);
        pauses.max().unwrap_or_default()
    }
}

/// All of them.
pub(super) struct People {
    crowd: Crowd,
    acting: JoinSet<Declared>,
    story: Arc<Mutex<Story>>,
    /// The aliases whose first put has begun.
    begun: Arc<Semaphore>,
}

impl People {
    /// They begin, and go on until the campaign is over.
    pub(super) fn come(crowd: Crowd, replicas: &Arc<Replicas>, over: Over) -> Self {
        let story = Arc::new(Mutex::new(Story {
            began: Instant::now(),
            ended: BTreeMap::new(),
            ends: Vec::new(),
            declared: Declared::new(),
            lost: Vec::new(),
        }));
        let (next, begun) = (Arc::default(), Arc::new(Semaphore::new(0)));
        let mut acting = JoinSet::new();
        for number in 0..crowd.people {
            let person = Person {
                draw: draw(100 + number),
                replicas: Arc::clone(replicas),
                story: Arc::clone(&story),
                next: Arc::clone(&next),
                aliases: crowd.aliases,
                begun: Arc::clone(&begun),
            };
            acting.spawn(person.act(over.clone()));
        }
        Self {
            crowd,
            acting,
            story,
            begun,
        }
    }

    /// Waits until the first put of each alias has begun. What is still open then has to end in time.
    pub(super) async fn all_aliases_are_begun(&self) {
        let all = u32::try_from(self.crowd.aliases).expect("a small number");
        let all = self.begun.acquire_many(all);
        drop(all.await.expect("it is open"));
    }

    /// Waits until all of them have seen the end of what they began.
    pub(super) async fn leave(mut self) -> Story {
        let mut declared = Declared::new();
        while let Some(person) = self.acting.join_next().await {
            declared.extend(person.expect("a person does not panic"));
        }
        let story = Arc::into_inner(self.story).expect("all have left");
        let mut story = story.into_inner().expect("no panic holds the lock");
        story.declared = declared;
        story
    }
}

struct Person {
    draw: Draw,
    replicas: Arc<Replicas>,
    story: Arc<Mutex<Story>>,
    /// The first alias that nobody has taken.
    next: Arc<AtomicUsize>,
    /// How many there are.
    aliases: usize,
    begun: Arc<Semaphore>,
}

impl Person {
    async fn act(self, over: Over) -> Declared {
        let mut declared = Declared::new();
        let mut mine = Vec::new();
        loop {
            // Whoever is free takes the next alias.
            let index = self.next.fetch_add(1, Ordering::SeqCst);
            if index >= self.aliases {
                break;
            }
            self.begun.add_permits(1);
            self.change(index, &mut declared).await;
            mine.push(index);
            if self.draw.below(4) == 0 {
                let index = mine[self.draw.below(mine.len())];
                self.change(index, &mut declared).await;
            }
        }
        while !mine.is_empty() && !*over.borrow() {
            let index = mine[self.draw.below(mine.len())];
            self.change(index, &mut declared).await;
        }
        declared
    }

    /// Creates, updates, replaces or deletes what an alias stands for.
    async fn change(&self, index: usize, declared: &mut Declared) {
        let alias = format!("alias-{index}");
        let resource_type = ["AWS.EC2/VPC", "AWS.Logs/LogGroup"][index % 2];
        let before = declared.get(&alias).cloned().flatten();
        let is_deleted = before.is_some() && self.draw.below(4) == 0;
        let after = (!is_deleted).then(|| self.declaration(index, before.as_ref()));
        let action = if is_deleted { "delete" } else { "put" };
        let body = after.clone().unwrap_or_else(|| json!({}));
        self.insist(action, resource_type, &alias, &body).await;
        declared.insert(alias, after);
    }

    /// Returns what to declare next.
    fn declaration(&self, index: usize, before: Option<&Value>) -> Value {
        if index % 2 == 1 {
            let days = [1, 3, 5, 7, 14, 30][self.draw.below(6)];
            return json!({"LogGroupName": format!("group-{index}"), "RetentionInDays": days});
        }
        let replaced = before.is_none() || self.draw.below(4) == 0;
        let block = match before {
            Some(before) if !replaced => before["CidrBlock"].clone(),
            _ => json!(format!("10.{}.0.0/16", self.draw.below(200))),
        };
        json!({"CidrBlock": block, "EnableDnsSupport": self.draw.below(2) == 0})
    }

    /// Repeats a request until it is done.
    async fn insist(&self, action: &str, resource_type: &str, alias: &str, properties: &Value) {
        let deadline = Instant::now() + PATIENCE;
        let mut last = None;
        while Instant::now() < deadline {
            let Some(client) = self.replicas.client(self.draw.below(self.replicas.count())) else {
                sleep(ANOTHER).await;
                continue;
            };
            let policy = Some("createBeforeDelete").filter(|_| action == "put");
            let (path, body) =
                client.action_with_policy(action, resource_type, alias, properties, policy);
            match client.try_call("POST", &path, &body).await {
                Err(_) => {}
                Ok(answer) => match answer.status {
                    200 | 204 => return,
                    201 | 202 => {
                        self.follow(&answer.status_url.expect("polling headers"))
                            .await;
                        return;
                    }
                    // The reply to an earlier request was lost.
                    409 => match running(&answer) {
                        Some(url) => self.follow(url).await,
                        None => return self.lose(format!("{action} {alias}: {answer:?}")),
                    },
                    503 => last = Some(answer),
                    _ => return self.lose(format!("{action} {alias}: {answer:?}")),
                },
            }
            sleep(ANOTHER).await;
        }
        self.lose(format!("{action} {alias} was never accepted: {last:?}"));
    }

    /// Polls a status until it is terminal.
    async fn follow(&self, url: &str) {
        let path = url.find("/planes/").map_or(url, |at| &url[at..]);
        let deadline = Instant::now() + PATIENCE;
        let mut last = None;
        while Instant::now() < deadline {
            if let Some(client) = self.replicas.client(self.draw.below(self.replicas.count()))
                && let Ok(answer) = client.try_call("GET", path, "").await
            {
                match answer.status {
                    200 if is_terminal(&answer.body) => {
                        return self.end(path, answer.body);
                    }
                    200 | 503 => last = Some(answer),
                    _ => return self.lose(format!("{path}: {answer:?}")),
                }
            }
            sleep(AGAIN).await;
        }
        self.lose(format!("{path} did not end: {last:?}"));
    }

    fn end(&self, path: &str, body: Value) {
        if body["status"] != "Succeeded" {
            self.lose(format!("{path}: {body}"));
        }
        let mut story = self.story.lock().expect("no panic holds the lock");
        story.ends.push(Instant::now());
        story.ended.insert(path.to_owned(), body);
    }

    fn lose(&self, what: String) {
        let mut story = self.story.lock().expect("no panic holds the lock");
        story.lost.push(what);
    }
}

/// Returns whether an operation has this status for ever.
pub(super) fn is_terminal(status: &Value) -> bool {
    matches!(
        status["status"].as_str(),
        Some("Succeeded" | "Failed" | "Canceled")
    )
}

/// Returns the status URL of the operation that is in the way.
fn running(answer: &Answer) -> Option<&str> {
    answer.body["error"]["details"][0]["target"].as_str()
}
