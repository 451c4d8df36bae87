//! Honest clients: each changes its own aliases, one after the other, and follows each change to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Over;
use crate::client::{AGAIN, Client};

const PEOPLE: usize = 8;
const ALIASES: usize = 10;

/// The honest clients.
pub(super) struct Honest {
    ended: Arc<AtomicUsize>,
    people: JoinSet<Vec<String>>,
}

impl Honest {
    pub(super) fn come(client: &Client, over: &Over) -> Self {
        let ended = Arc::new(AtomicUsize::new(0));
        let mut people = JoinSet::new();
        for person in 0..PEOPLE {
            let (client, over, ended) = (client.clone(), over.clone(), Arc::clone(&ended));
            people.spawn(async move {
                let mut wrong = Vec::new();
                let mut round = 0;
                while !*over.borrow() {
                    match put(&client, person, round).await {
                        Ok(()) => {
                            ended.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => wrong.push(error),
                    }
                    round += 1;
                }
                wrong
            });
        }
        Self { ended, people }
    }

    /// How many puts have ended.
    pub(super) fn ended(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }

    /// Waits until each alias has been put once.
    pub(super) async fn have_begun(&self) {
        while self.ended() < PEOPLE * ALIASES {
            sleep(AGAIN).await;
        }
    }

    /// Waits until all have left, and returns what went wrong.
    pub(super) async fn leave(self) -> Vec<String> {
        let all = self.people.join_all().await;
        let mut wrong: Vec<String> = all.into_iter().flatten().collect();
        let count = wrong.len();
        wrong.truncate(5);
        if count > wrong.len() {
            wrong.push(format!("{count} honest puts failed"));
        }
        wrong
    }
}

/// Puts an alias with a tag that it does not have yet.
async fn put(client: &Client, person: usize, round: usize) -> Result<(), String> {
    let alias = format!("honest-{person}-{}", round % ALIASES);
    let tags = json!([{"Key": "round", "Value": round.to_string()}]);
    let properties = json!({"CidrBlock": "10.0.0.0/16", "Tags": tags});
    let (path, body) = client.action("put", "AWS.EC2/VPC", &alias, &properties);
    let answer = client.try_call("POST", &path, &body).await?;
    let Some(status_url) = answer.status_url else {
        sleep(Duration::from_millis(100)).await;
        return Err(format!("{alias}: {} {}", answer.status, answer.text));
    };
    let ended = client.follow(&status_url).await;
    if ended["status"] == "Succeeded" {
        Ok(())
    } else {
        Err(format!("{alias}: {ended}"))
    }
}
