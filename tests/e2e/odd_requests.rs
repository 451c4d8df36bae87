//! Odd requests, drawn from seeds: whatever is sent to whichever route, the reply is no 5xx, and an error is ARM's and
//! short. Some are odd and legal; what they start ends, and not by a defect of ours.
//!
//! `UCP_CASES=20000` draws more than a normal run. A case that fails prints its request, and the number of its world.
//! The same worlds draw the same requests.

mod legal;
mod requests;

use std::collections::BTreeMap;

use axum::http::Method;
use serde_json::Value;
use ucp_model::ErrorCode;
use ucp_testkit::{Reply, World};

use requests::Routes;
use ucp_testkit::Draw;

/// The cases of a normal run.
const CASES: usize = 400;
/// The cases of a world, each of which finds what those before it have left.
const OF_A_WORLD: usize = 100;
/// One in this many cases is legal.
const LEGAL: usize = 6;
/// At least one in this many cases starts an operation.
const STARTS: usize = 20;
/// How many findings are told.
const TOLD: usize = 10;
/// The longest error: a hundred details, each with what is wrong and where.
const ERROR_MAX: usize = 128 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn odd_requests_are_refused_in_arms_form() {
    let cases = std::env::var("UCP_CASES").ok();
    let cases = cases.map(|cases| cases.parse().expect("UCP_CASES is a number"));
    let worlds: usize = cases.unwrap_or(CASES).div_ceil(OF_A_WORLD);
    let cases = worlds * OF_A_WORLD;
    let routes = Routes::of_the_document();
    let mut statuses = BTreeMap::new();
    let mut started = BTreeMap::new();
    let mut found = Vec::new();
    for number in 0..worlds {
        let world = World::builder().seeded(number as u64).build().await;
        // What is made up is looked for, and warned of. An ERROR would be a defect.
        world.tolerate_log("WARN ");
        legal::prepare(&world).await;
        let draw = Draw::new(number as u64);
        for _ in 0..OF_A_WORLD {
            let odd = if draw.one_in(LEGAL) {
                legal::draw(&draw)
            } else {
                routes.draw(&draw)
            };
            let told = odd.to_string();
            let method = odd.method.clone();
            let reply = world.send_until_settled(odd.into_request()).await;
            *statuses.entry(reply.status).or_insert(0) += 1;
            let mut verdict = judge(&method, &reply);
            if reply.header("azure-asyncoperation").is_some() {
                *started.entry(method.to_string()).or_insert(0) += 1;
                world.settle().await;
                verdict = verdict.and(ended(&world.status(&reply).await));
            }
            if let Err(wrong) = verdict {
                let text: String = reply.text.chars().take(1_000).collect();
                let status = reply.status;
                found.push(format!("world {number}: {wrong}\n{told}\n{status} {text}"));
            }
        }
    }
    println!("{statuses:?}, started: {started:?}");
    let told = found.iter().take(TOLD).cloned().collect::<Vec<_>>();
    assert!(found.is_empty(), "{}: {}", found.len(), told.join("\n\n"));
    for status in [200, 400, 404, 405] {
        assert!(statuses.contains_key(&status), "no case is {status}");
    }
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        assert!(started.contains_key(method), "no {method} starts anything");
    }
    let started: usize = started.values().sum();
    assert!(started * STARTS >= cases, "{started} of {cases}");
}

/// What was started ends, for a reason that somebody can do something about.
fn ended(status: &Value) -> Result<(), String> {
    match status["status"].as_str() {
        Some("Succeeded" | "Canceled") => Ok(()),
        Some("Failed") if status["error"]["code"] != ErrorCode::InternalFailure.as_str() => {
            is_error(&status["error"])
        }
        _ => Err(format!("it has not ended well: {status}")),
    }
}

fn judge(method: &Method, reply: &Reply) -> Result<(), String> {
    let waits = reply.header("retry-after").is_some();
    if reply.status >= 500 && !(matches!(reply.status, 501 | 503) && waits) {
        return Err("a 5xx".to_owned());
    }
    if reply.status < 400 {
        return Ok(());
    }
    if *method == Method::HEAD {
        let is_empty = reply.text.is_empty();
        return is_empty
            .then_some(())
            .ok_or_else(|| "HEAD has a body".to_owned());
    }
    if reply.text.len() > ERROR_MAX {
        return Err(format!("an error of {} bytes", reply.text.len()));
    }
    if reply.header("content-type") != Some("application/json") {
        return Err("an error that is not JSON".to_owned());
    }
    let error = &reply.body["error"];
    is_error(error)?;
    let mut details = error["details"].as_array().into_iter().flatten();
    details.try_for_each(is_error)
}

/// Every error and every detail has a code and a sentence.
fn is_error(error: &Value) -> Result<(), String> {
    let text = |member: &str| error[member].as_str().unwrap_or_default();
    let (code, message) = (text("code"), text("message"));
    if code.is_empty() || !code.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return Err(format!("the code '{code}'"));
    }
    if message.is_empty() {
        return Err("no message".to_owned());
    }
    if let Some(letter) = message.chars().find(|letter| misleads(*letter)) {
        return Err(format!("the message has {letter:?}"));
    }
    Ok(())
}

/// Whether a terminal would act on the letter, or show what follows it in another order.
fn misleads(letter: char) -> bool {
    let is_control = letter.is_control() && !matches!(letter, '\n' | '\t');
    is_control || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
