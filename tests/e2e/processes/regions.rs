//! What a process keeps of AWS: nothing for regions that are made up, and few connections for all that there are.

use std::fs;

use serde_json::json;
use ucp_app::Regions;

use super::client::Client;
use super::process::Process;

const ACCOUNTS: u64 = 8;
/// The connections that there may be, each with two ends in the process.
const DESCRIPTORS: usize = 40;

fn list(account: u64, region: &str) -> String {
    format!("/planes/aws/aws/accounts/{account:012}/regions/{region}/providers/AWS.EC2/VPC")
}

fn descriptors(process: &Process) -> usize {
    let open = fs::read_dir(format!("/proc/{}/fd", process.id()));
    open.expect("it runs").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn regions_do_not_fill_the_memory() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (process, url) = Process::dev(directory.path(), &[]).await;
    let line = process.line("a simulated AWS listens on").await;
    let aws = line.rsplit(' ').next().expect("a URL");
    let client = Client::new(&url, "123456789012");
    client.put_group().await;
    let before = descriptors(&process);
    for number in 0..3_000 {
        let path = list(number % ACCOUNTS, &format!("us-made-{number}"));
        let answer = client.call("GET", &path, "").await;
        assert_eq!(answer.status, 400, "{}", answer.text);
    }
    let log = format!("{aws}/_simulator/log");
    let log = client.call("GET", &log, "").await.body;
    assert_eq!(log, json!([]), "AWS was called");

    let all = Regions::default();
    for region in all.names() {
        for account in 0..ACCOUNTS {
            let answer = client.call("GET", &list(account, region), "").await;
            assert_eq!(answer.status, 200, "{}", answer.text);
        }
    }
    let after = descriptors(&process);
    assert!(after < before + DESCRIPTORS, "{before}, then {after}");
}
