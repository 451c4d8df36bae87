//! The profiles of the simulated AWS.

use serde_json::Value;

use super::client::Client;
use super::process::Process;

async fn kinds(arguments: &[&str]) -> Vec<String> {
    let (_aws, url) = Process::simulator_with(arguments).await;
    let client = Client::new(&url, "123456789012");
    let faults = client.call("GET", "/_simulator/faults", "").await.body;
    let faults = faults.as_array().expect("faults").iter();
    let kind = |fault: &Value| fault["effect"]["kind"].as_str().expect("a kind").to_owned();
    faults.map(kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aws_is_honest_unless_it_is_told_otherwise() {
    assert!(kinds(&[]).await.is_empty());
    let own = r#"{"effect":{"kind":"throttle","rate":2.5,"burst":1}}"#;
    let realistic = kinds(&["--profile=realistic", "--simulator-fault", own]).await;
    assert_eq!(realistic[0], "throttle", "one's own come first");
    assert!(realistic.contains(&"noRetryAfter".to_owned()));
    assert!(!realistic.contains(&"stayPending".to_owned()));
    let bad = kinds(&["--profile=bad-day"]).await;
    assert_eq!(bad[..realistic.len() - 1], realistic[1..]);
    assert!(bad.contains(&"stayPending".to_owned()));
}
