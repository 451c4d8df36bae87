//! Hostile clients, from an address of their own: each attack at a pace that one machine can keep up for long.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{ACCOUNT, Over, SETTLING, is_over_within};

/// How long a reply is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a connection is held.
const HELD: Duration = Duration::from_secs(12);
/// What a slow reader takes of a reply at a time, and its pause.
const SLOW_PIECE: usize = 4 << 10;
const SLOW_PAUSE: Duration = Duration::from_millis(50);
/// The last part of the address of hostile clients.
const FROM: u8 = 2;
const SLOW_READERS: usize = 200;
const HALF_REQUESTS: usize = 150;
/// The length of a long body.
const BODY: usize = 1024 * 1024 - 2_048;
/// The requests of each turn have this many numbers of their own.
const NUMBERS: u64 = 1_000_000;
const API: &str = "api-version=2023-10-01-preview";

/// Who makes the requests of an attack: this many clients, each with a pause between requests.
type Pace = (usize, Duration);
/// Its name, its pace, and its requests, by their number.
type Attack = (&'static str, Pace, fn(u64) -> Request);
const LONG_BODIES: Pace = (1, Duration::from_millis(500));
const UNKNOWN_TYPES: Pace = (2, Duration::from_millis(100));
const MADE_UP_REGIONS: Pace = (2, Duration::from_millis(100));
const NEW_GROUPS: Pace = (2, Duration::from_millis(200));

/// How often each attack had which outcome: a status, or none.
#[derive(Default)]
pub(super) struct Attacks(BTreeMap<(&'static str, String), usize>);

impl Attacks {
    pub(super) fn note(&mut self, what: &'static str, outcome: String) {
        *self.0.entry((what, outcome)).or_default() += 1;
    }

    /// Returns how many requests of a kind came to this.
    pub(super) fn count(&self, what: &'static str, outcome: &str) -> usize {
        let count = self.0.get(&(what, outcome.to_owned()));
        count.copied().unwrap_or_default()
    }

    pub(super) fn add(&mut self, others: Self) {
        for (what, count) in others.0 {
            *self.0.entry(what).or_default() += count;
        }
    }
}

impl fmt::Display for Attacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attacks = self.0.iter();
        let told = attacks.map(|((what, outcome), count)| format!("{what}: {count} × {outcome}"));
        f.write_str(&told.collect::<Vec<_>>().join("\n"))
    }
}

/// The hostile clients.
pub(super) struct Attackers(JoinSet<Attacks>);

impl Attackers {
    pub(super) fn come(url: &str, round: u64, over: &Over) -> Self {
        let address = url.trim_start_matches("http://");
        let address: SocketAddr = address.parse().expect("an address");
        let mut attackers = JoinSet::new();
        for number in 0..SLOW_READERS + HALF_REQUESTS {
            let over = over.clone();
            attackers.spawn(holding(address, number, over));
        }
        let attacks: [Attack; 4] = [
            ("1 MiB bodies", LONG_BODIES, long_body),
            ("unknown types", UNKNOWN_TYPES, unknown_type),
            ("made-up regions", MADE_UP_REGIONS, made_up_region),
            ("new groups", NEW_GROUPS, new_group),
        ];
        for (what, (clients, pause), request) in attacks {
            for client in 0..clients as u64 {
                let mut over = over.clone();
                attackers.spawn(async move {
                    let mut attacks = Attacks::default();
                    let mut number = round * NUMBERS + client;
                    while !is_over_within(&mut over, pause).await {
                        let sent = timeout(PATIENCE, request(number).send(address, FROM)).await;
                        let status = sent.ok().and_then(Result::ok);
                        let outcome = status.unwrap_or_else(|| "no reply".to_owned());
                        attacks.note(what, outcome);
                        number += clients as u64;
                    }
                    attacks
                });
            }
        }
        Self(attackers)
    }

    /// Waits until all have left.
    pub(super) async fn leave(self) -> Attacks {
        let mut all = Attacks::default();
        for attacks in self.0.join_all().await {
            all.add(attacks);
        }
        all
    }
}

async fn connect(address: SocketAddr, from: u8) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 0, from], 0)))?;
    socket.connect(address).await
}

/// Holds a connection again and again: asks for a large file and reads nothing, or sends half a head or half a body.
async fn holding(address: SocketAddr, number: usize, mut over: Over) -> Attacks {
    let (what, head) = if number < SLOW_READERS {
        let head = format!("GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: {address}\r\n\r\n");
        ("slow readers", head)
    } else if number.is_multiple_of(2) {
        let head = format!("GET /planes?{API} HTTP/1.1\r\nHost: {address}\r\nX-Half: ");
        ("half heads", head)
    } else {
        let path = format!("/planes/radius/local/resourceGroups/half?{API}");
        let head = format!(
            "PUT {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{\"location\""
        );
        ("half bodies", head)
    };
    let mut attacks = Attacks::default();
    // Not all at once.
    let mut pause = SETTLING * u32::try_from(number % 100).unwrap_or(0) / 100;
    while !is_over_within(&mut over, pause).await {
        let held = async {
            let mut stream = connect(address, FROM).await?;
            stream.write_all(head.as_bytes()).await?;
            Ok::<_, std::io::Error>(stream)
        };
        let held = held.await;
        let outcome = if held.is_ok() { "held" } else { "refused" };
        *attacks.0.entry((what, outcome.to_owned())).or_default() += 1;
        is_over_within(&mut over, HELD).await;
        pause = Duration::from_millis(10);
    }
    attacks
}

/// A request with a body.
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) body: String,
}

impl Request {
    /// Sends it from an address of loopback, the last part of which is given. Returns the status of the reply.
    pub(super) async fn send(&self, address: SocketAddr, from: u8) -> std::io::Result<String> {
        let (mut stream, written) = self.begin(address, from).await?;
        let mut reply = Vec::new();
        let read = stream.read_to_end(&mut reply).await;
        if reply.is_empty() {
            written?;
            read?;
        }
        Ok(status_of(&reply))
    }

    /// The same, by who takes the reply in small pieces, with a pause before each, for as long as a connection is held.
    pub(super) async fn send_to_slow(
        &self,
        address: SocketAddr,
        from: u8,
    ) -> std::io::Result<String> {
        let (mut stream, _) = self.begin(address, from).await?;
        let mut reply = Vec::new();
        let mut piece = vec![0; SLOW_PIECE];
        let reading = async {
            while let Ok(1..) = stream.read(&mut piece).await {
                if reply.is_empty() {
                    reply.extend_from_slice(&piece);
                }
                tokio::time::sleep(SLOW_PAUSE).await;
            }
        };
        // Who is cut off has had the status.
        timeout(HELD, reading).await.ok();
        Ok(status_of(&reply))
    }

    /// Connects and writes it. Who is refused at once may find the connection closed, and the reply all the same.
    async fn begin(
        &self,
        address: SocketAddr,
        from: u8,
    ) -> std::io::Result<(TcpStream, std::io::Result<()>)> {
        let Self { method, path, body } = self;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        let mut stream = connect(address, from).await?;
        stream.write_all(head.as_bytes()).await?;
        let written = stream.write_all(body.as_bytes()).await;
        Ok((stream, written))
    }
}

fn status_of(reply: &[u8]) -> String {
    let status = reply.get(9..12);
    let status = status.and_then(|status| std::str::from_utf8(status).ok());
    status.unwrap_or("a closed connection").to_owned()
}

pub(super) fn collection(region: &str, resource_type: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{region}/providers/{resource_type}")
}

fn put(resource_type: &str, alias: &str, properties: Value) -> Request {
    let group = "/planes/radius/local/resourceGroups/rg";
    let tracked_by = format!("{group}/providers/{resource_type}:reference/{alias}");
    Request {
        method: "POST",
        path: format!("{}/:put", collection("us-west-2", resource_type)),
        body: json!({"trackedBy": tracked_by, "properties": properties}).to_string(),
    }
}

/// The shapes that once took minutes.
fn long_body(number: u64) -> Request {
    match number % 4 {
        0 => {
            let attributes = vec![""; BODY / 3];
            put(
                "AWS.Cognito/UserPool",
                "pool",
                json!({"AliasAttributes": attributes}),
            )
        }
        1 => {
            let name = " ".repeat(BODY);
            put(
                "AWS.SageMaker/Cluster",
                "cluster",
                json!({"ClusterName": name}),
            )
        }
        2 => Request {
            method: "POST",
            path: format!("{}/:put", collection("us-west-2", "AWS.EC2/VPC")),
            body: format!("{}1{}", "[".repeat(BODY / 2), "]".repeat(BODY / 2)),
        },
        _ => {
            let tags = (0..BODY / 16).map(|tag| (format!("k{tag}"), json!("v")));
            let tags: serde_json::Map<String, Value> = tags.collect();
            let body = json!({"location": "global", "properties": {"defaultTags": tags}});
            Request {
                method: "PUT",
                path: format!("/planes/radius/local/resourceGroups/tags?{API}"),
                body: body.to_string(),
            }
        }
    }
}

fn unknown_type(number: u64) -> Request {
    let name = format!("Made.Up{number}/Thing");
    put(&name, "thing", json!({"Name": "thing"}))
}

fn made_up_region(number: u64) -> Request {
    Request {
        method: "GET",
        path: collection(&format!("us-made-{number}"), "AWS.EC2/VPC"),
        body: String::new(),
    }
}

fn new_group(number: u64) -> Request {
    Request {
        method: "PUT",
        path: format!("/planes/radius/local/resourceGroups/hostile-{number}?{API}"),
        body: r#"{"location":"global","tags":{"a":"b"}}"#.to_owned(),
    }
}
