//! Readers who ask for as much as they may: whatever they send together, the server stays small, its probes are answered, and so is
//! everybody else.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::nice;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use ucp_schema::Catalogue;
use ucp_store_sql::testing::database;

use super::attacks::{Attacks, Request, collection};
use super::samples::Probes;
use super::{ACCOUNT, Over, is_over_within, length};
use crate::client::Client;
use crate::process::Process;

/// Each on a connection of its own.
const READERS: usize = 200;
/// From how many addresses they come. Callers who do not sign in are told apart by them.
const CALLERS: usize = 20;
/// How long a reply is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How large a text is that many refer to.
const TEXT: usize = 240_000;
const GROUP: &str = "/planes/radius/local/resourceGroups/rg";
const LOGS: &str = "AWS.Logs/LogGroup";
const API: &str = "api-version=2023-10-01-preview";

/// What the process takes at most.
const MEGABYTES: u64 = 1_024;
/// What one refactor of the largest body takes at most.
const REFACTOR_MEGABYTES: u64 = 250;
/// By how much the database grows at most for the plans that one caller keeps in a group. They are bounded to 64 MiB.
const KEPT_MEGABYTES: u64 = 100;
/// So many plans are more than that, and so many are fewer.
const PLANS: usize = 1_000;
const FEW_PLANS: usize = 20;
/// What must have got through, so that the server has had work: a validation that finds nothing or something, a what-if that would
/// take too much, and what is read. Of the others a few do, or none.
const AT_WORK: [(&str, &str); 7] = [
    (LISTS, "200"),
    (LISTS_SLOWLY, "200"),
    (SMALL_SETS, "200"),
    (TAGGED, "200"),
    (TAGGED, "400"),
    (EACH_TYPE, "400"),
    (OF_ONE_TEXT, "400"),
];
const LISTS: &str = "lists";
const LISTS_SLOWLY: &str = "lists, taken slowly";
const SMALL_SETS: &str = "validate 400 tags";
const TAGGED: &str = "validate 12,000 or 45,000 tags";
const EACH_TYPE: &str = "validate each type";
const OF_ONE_TEXT: &str = "what-if of one text";
/// 99 of 100 probes are answered within this time.
const PROBED: Duration = Duration::from_millis(200);
/// 99 of 100 reads of somebody else are answered within this time.
const SERVED: Duration = Duration::from_secs(1);
/// The interval between the reads of somebody else.
const EVERY: Duration = Duration::from_millis(100);

fn logs(alias: &str, text: Value) -> Value {
    json!({"alias": alias, "type": LOGS, "properties":
        {"LogGroupName": alias, "DataProtectionPolicy": {"Description": text}}})
}

fn set(resources: Vec<Value>) -> String {
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2");
    json!({"scope": scope, "resources": resources}).to_string()
}

fn post(path: impl Into<String>, body: String) -> Request {
    Request {
        method: "POST",
        path: path.into(),
        body,
    }
}

/// 500 members that refer to a text of `alias`, which the set declares too if it is given.
fn referring(alias: &str, declared: Option<Value>) -> Request {
    let text = json!({"$concat": [{"$reference": format!("{alias}#/DataProtectionPolicy/Description")}, "!"]});
    let members = (0..499).map(|number| logs(&format!("m-{number}"), text.clone()));
    post(
        format!("{GROUP}/:whatIf"),
        set(declared.into_iter().chain(members).collect()),
    )
}

/// A text that hardly gets shorter by compression.
fn noise(length: usize) -> Value {
    const CHARS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(CHARS[usize::try_from(state >> 58).expect("six bits")])
    };
    (0..length).map(|_| next()).collect::<String>().into()
}

/// The validation of a set of so many members, each with these tags.
fn set_of_tagged(members: usize, tags: &[Value]) -> Request {
    let member = |number| {
        let properties = json!({"CidrBlock": "10.0.0.0/16", "Tags": tags});
        json!({"alias": format!("t-{number}"), "type": "AWS.EC2/VPC", "properties": properties})
    };
    let members = (0..members).map(member);
    post(format!("{GROUP}/:validate"), set(members.collect()))
}

fn forty_tags() -> Vec<Value> {
    let tags = (0..40).map(|tag| json!({"Key": tag.to_string(), "Value": ""}));
    tags.collect()
}

/// Members of so many tags, each with something wrong or with nothing.
fn tagged() -> Vec<Request> {
    let wrong = vec![json!({}); 90];
    vec![
        set_of_tagged(300, &forty_tags()),
        set_of_tagged(500, &wrong),
    ]
}

/// As many alternatives as a body has room for.
fn alternatives() -> Request {
    let nodes = vec![json!({}); 49_000];
    let properties = json!({"Name": "a", "Nodes": nodes});
    let path = format!(
        "{}/:validate",
        collection("us-west-2", "AWS.IoTFleetWise/SignalCatalog")
    );
    post(path, json!({ "properties": properties }).to_string())
}

/// A plan that is kept, of a large resource.
fn plan() -> Request {
    let path = format!("{}/:whatIf", collection("us-west-2", LOGS));
    let tracked_by = format!("{GROUP}/providers/{LOGS}:reference/large");
    let properties = json!({"LogGroupName": "large", "RetentionInDays": 7});
    let body = json!({"trackedBy": tracked_by, "properties": properties,
        "whatIfSettings": {"planLifetime": "P7D"}});
    post(path, body.to_string())
}

/// As large a body as is read, of as many values.
fn refactor() -> Request {
    let member = |number: usize| {
        let tags: Vec<Value> = (0..22)
            .map(|tag| json!({"Key": format!("{tag}"), "Value": "x".repeat(30)}))
            .collect();
        json!({"alias": format!("r-{number}"), "type": "AWS.EC2/VPC",
            "properties": {"CidrBlock": "10.0.0.0/16", "Tags": tags}})
    };
    let resources: Vec<Value> = (0..9_000).map(member).collect();
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2");
    let body = json!({"scope": scope, "mode": "plan", "resources": resources});
    post(format!("{GROUP}/:refactor"), body.to_string())
}

/// What is large of what is listed and shown.
fn lists() -> Vec<Request> {
    let below = |path: &str| format!("/planes/radius/local/{path}");
    let paths = [
        GROUP.to_owned(),
        format!("{GROUP}/operations"),
        below("resourceGroups"),
        below("providers/System.Resources/refactors"),
    ];
    let get = |path: String| Request {
        method: "GET",
        path: format!("{path}?{API}"),
        body: String::new(),
    };
    paths.map(get).into()
}

/// The declaration of every type, one after the other.
fn types() -> Vec<Request> {
    let catalogue = Catalogue::embedded();
    let names = catalogue.type_names();
    let request = |name: &ucp_model::TypeName| {
        let path = format!("{}/:validate", collection("us-west-2", &name.arm()));
        post(path, json!({"properties": {}}).to_string())
    };
    names.map(request).collect()
}

/// Keeps plans until one is refused. Returns how many were kept.
async fn keep_plans(address: SocketAddr) -> usize {
    let plan = plan();
    for kept in 0..PLANS {
        match plan.send(address, 1).await.expect("a reply").as_str() {
            "200" => {}
            "429" => return kept,
            other => panic!("a plan was answered with {other}"),
        }
    }
    panic!("{PLANS} plans were kept");
}

/// The readers, who ask until it is over.
struct Readers {
    readers: JoinSet<Attacks>,
    threads: Runtime,
}

/// The threads of the readers. In the field these are other machines: here they take what the server and those who measure it leave.
fn threads() -> Runtime {
    let yielding = || {
        nice(10).expect("a thread may give way");
    };
    let threads = Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(yielding)
        .enable_all()
        .build();
    threads.expect("threads")
}

impl Readers {
    fn come(address: SocketAddr, over: &Over) -> Self {
        let one = |name, request| (name, Arc::new(vec![request]));
        let declared = one(
            OF_ONE_TEXT,
            referring("text", Some(logs("text", noise(TEXT)))),
        );
        let deployed = one("what-if of a deployed text", referring("large", None));
        let largest = one(TAGGED, set_of_tagged(500, &vec![json!({}); 90]));
        let tagged = (TAGGED, Arc::new(tagged()));
        let alternatives = one("validate 49,000 alternatives", alternatives());
        let plans = one("keep a plan", plan());
        let refactor = one("refactor", refactor());
        let types = (EACH_TYPE, Arc::new(types()));
        let small = one(SMALL_SETS, set_of_tagged(10, &forty_tags()));
        let lists = Arc::new(lists());
        let (mut readers, threads) = (JoinSet::new(), threads());
        for number in 0..=READERS {
            let (what, requests) = match (number * 7) % 20 {
                _ if number == READERS => largest.clone(),
                0 => refactor.clone(),
                1..=4 => declared.clone(),
                5 => (LISTS, lists.clone()),
                6 => (LISTS_SLOWLY, lists.clone()),
                7..=9 => deployed.clone(),
                10 => small.clone(),
                11..=14 => tagged.clone(),
                15..=16 => alternatives.clone(),
                17..=18 => plans.clone(),
                _ => types.clone(),
            };
            let mut over = over.clone();
            // Each caller has readers of several kinds, and one more has a single reader, who sends what takes most of a caller's part.
            let caller = number / (READERS / CALLERS);
            let from = 2 + u8::try_from(caller).expect("a few");
            let reads = async move {
                let mut attacks = Attacks::default();
                for at in (number..).step_by(7) {
                    let request = &requests[at % requests.len()];
                    let sent = async {
                        match what {
                            LISTS_SLOWLY => request.send_to_slow(address, from).await,
                            _ => request.send(address, from).await,
                        }
                    };
                    let status = timeout(PATIENCE, sent).await.ok().and_then(Result::ok);
                    let outcome = status.unwrap_or_else(|| "no reply".to_owned());
                    attacks.note(what, outcome);
                    // Who is refused does not wait as long as told.
                    if is_over_within(&mut over, Duration::from_millis(20)).await {
                        break;
                    }
                }
                attacks
            };
            readers.spawn_on(reads, threads.handle());
        }
        Self { readers, threads }
    }

    async fn leave(self) -> Attacks {
        let mut all = Attacks::default();
        for attacks in self.readers.join_all().await {
            all.add(attacks);
        }
        self.threads.shutdown_background();
        all
    }
}

/// How long somebody else waited for what stands in the store.
async fn served(client: Client, mut over: Over) -> Vec<Duration> {
    let reference = format!("{GROUP}/providers/{LOGS}:reference/large?{API}");
    // Its reply is weighed.
    let group = format!("{GROUP}?{API}");
    let mut took = Vec::new();
    for path in [&reference, &group].into_iter().cycle() {
        if is_over_within(&mut over, EVERY).await {
            break;
        }
        let asked = Instant::now();
        let answer = client.try_call("GET", path, "").await;
        let is_well = answer.is_ok_and(|answer| answer.status == 200);
        took.push(if is_well { asked.elapsed() } else { PATIENCE });
    }
    took
}

/// The largest size that the process has had, in megabytes.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|line| line.split_whitespace().next());
    let kilobytes: u64 = kilobytes.and_then(|it| it.parse().ok()).expect("a number");
    kilobytes / 1_024
}

/// The bound within which 99 of 100 requests to a route were answered, by the server's own count.
fn counted(metrics: &str, route: &str) -> Duration {
    let mut buckets: BTreeMap<u64, f64> = BTreeMap::new();
    let of_route = format!("route=\"{route}\",method=\"GET\"");
    for line in metrics.lines() {
        let Some(rest) = line.strip_prefix("ucp_http_request_duration_seconds_bucket{le=\"") else {
            continue;
        };
        if let (Some((bound, _)), true) = (rest.split_once('"'), rest.contains(&of_route)) {
            let seconds: f64 = bound.parse().unwrap_or(f64::INFINITY);
            let count = rest.rsplit(' ').next().and_then(|it| it.parse().ok());
            let millis = Duration::try_from_secs_f64(seconds)
                .unwrap_or(PATIENCE)
                .as_millis();
            buckets.insert(
                u64::try_from(millis).expect("a bound"),
                count.expect("a count"),
            );
        }
    }
    let all = buckets.values().copied().fold(0.0, f64::max);
    assert!(all > 100.0, "too few requests to {route} were counted");
    let bound = buckets.iter().find(|(_, count)| **count >= 0.99 * all);
    Duration::from_millis(*bound.expect("a bound").0)
}

fn within(took: &[Duration], percent: usize) -> Duration {
    let mut took = took.to_vec();
    took.sort_unstable();
    took[(took.len() * percent / 100).min(took.len() - 1)]
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_take_no_more_than_their_part() {
    let database = database().await.expect("Postgres");
    let (_simulator, aws) = Process::simulator("20ms").await;
    let arguments = ["--probe-listen=127.0.0.1:0"];
    let (mut server, url) =
        Process::serve_quietly(&arguments, &database.url(), &aws, ACCOUNT).await;
    let line = server.line("listening for probes").await;
    let event: Value = serde_json::from_str(&line).expect("a JSON log");
    let probes = event["probe.address"].as_str().expect("an address");
    let probes = format!("http://{probes}");
    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    for alias in ["large", "larger", "largest"] {
        let large = logs(alias, noise(TEXT));
        let (path, body) = client.action("put", LOGS, alias, &large["properties"]);
        let put = client.call("POST", &path, &body).await;
        let ended = client.follow(&put.status_url.expect("an operation")).await;
        assert_eq!(ended["status"], "Succeeded", "{ended}");
    }
    let address = url
        .trim_start_matches("http://")
        .parse()
        .expect("an address");
    // The largest size since then.
    fs::write(format!("/proc/{}/clear_refs", server.id()), "5").expect("it runs");
    let first = peak(server.id());
    let refactored = refactor().send(address, 1).await.expect("a reply");
    assert_eq!(refactored, "200");
    let before = peak(server.id());
    let of_refactor = before - first;
    let empty = database.megabytes().await;
    let kept = keep_plans(address).await;
    let stored = database.megabytes().await - empty;

    let (over, until) = watch::channel(false);
    let readers = Readers::come(address, &until);
    let probing = [&probes, &url].map(|url| Probes::of(url, &until));
    let serving = tokio::spawn(served(client.clone(), until.clone()));
    tokio::time::sleep(length()).await;
    over.send_replace(true);
    let served = serving.await.expect("it does not panic");
    let [apart, beside] = probing;
    let (apart, beside) = (apart.end().await, beside.end().await);
    let attacks = readers.leave().await;
    let peak = peak(server.id());
    let metrics = Client::new(&probes, ACCOUNT)
        .call("GET", "/metrics", "")
        .await;
    let counted = counted(&metrics.text, "/healthz");
    let served_within = within(&served, 99);
    println!(
        "{attacks}\nat --probe-listen {apart}; by the server's own count 99 of 100 within {counted:?}\nat the API {beside}\n{} reads of somebody else: median {:.1?}, 99 of 100 within {served_within:.1?}\nmemory: {first} MB before, {of_refactor} MB for one refactor, {peak} MB at most\n{kept} plans kept before one was refused: {stored} MB on disk",
        served.len(),
        within(&served, 50),
    );
    server.terminate();
    let status = server.ended().await;
    let mut wrong = Vec::new();
    if !status.success() {
        wrong.push(format!("it ended with {status}"));
    }
    if peak > MEGABYTES {
        wrong.push(format!("it took {peak} MB"));
    }
    let idle = AT_WORK
        .iter()
        .filter(|(what, outcome)| attacks.count(what, outcome) == 0);
    wrong.extend(idle.map(|(what, outcome)| format!("no {what} came to {outcome}")));
    if kept < FEW_PLANS {
        wrong.push(format!("only {kept} plans were kept"));
    }
    if of_refactor > REFACTOR_MEGABYTES {
        wrong.push(format!("one refactor took {of_refactor} MB"));
    }
    if stored > KEPT_MEGABYTES {
        wrong.push(format!("the plans of one caller took {stored} MB on disk"));
    }
    let probed = counted.max(apart.most_within()).max(beside.most_within());
    if probed > PROBED {
        wrong.push(format!("probes took {probed:?}"));
    }
    if served_within > SERVED {
        wrong.push(format!("somebody else waited for {served_within:?}"));
    }
    assert!(
        wrong.is_empty(),
        "{}\n{}",
        wrong.join("\n"),
        server.output()
    );
}
