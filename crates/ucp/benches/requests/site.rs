//! What is measured: a `ucp` with its database and its AWS, and the requests to it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;
use ucp_store_sql::testing::{MeasuredDatabase, measured_database};

use crate::client::{Connection, Prepared, Script, request};
use crate::delay;
use crate::process::{self, ACCOUNT, Process};

const GROUP: &str = "/planes/radius/local/resourceGroups/rg";
/// The time from `ucp` to a distant AWS. The way back takes the same.
const ONE_WAY: Duration = Duration::from_millis(40);
/// How many resources a set has.
const SET: usize = 100;
/// How many resources are prepared at once.
const PREPARED_AT_ONCE: usize = 16;

/// The surroundings of a `ucp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Surroundings {
    Postgres,
    /// Postgres, and 80 ms to AWS and back.
    PostgresFarFromAws,
    Sqlite,
}

/// A kind of request. Each connection has resources of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    GetByName,
    /// A `:get` of what the other requests with an alias are about.
    GetByAlias,
    /// The status of an operation that has ended.
    Status,
    /// A PUT of what is there.
    PutAgainByName,
    /// A `:put` of what is there.
    PutAgainByAlias,
    /// The same with a token.
    PutAgainWithToken,
    /// A `:whatIf` of what is there.
    WhatIfByAlias,
    /// The `:whatIf` of a set of [`SET`] resources that are there.
    WhatIfSet,
    /// A PUT under a new name each time.
    CreateByName,
}

impl Kind {
    /// The status of the reply.
    pub(crate) fn expected(self) -> StatusCode {
        match self {
            Self::GetByName
            | Self::GetByAlias
            | Self::Status
            | Self::PutAgainByName
            | Self::PutAgainByAlias
            | Self::PutAgainWithToken
            | Self::WhatIfByAlias
            | Self::WhatIfSet => StatusCode::OK,
            Self::CreateByName => StatusCode::CREATED,
        }
    }
}

/// A running `ucp`.
pub(crate) struct Site {
    pub(crate) server: SocketAddr,
    pub(crate) ucp: Process,
    pub(crate) aws: Process,
    /// The database, if it is Postgres.
    pub(crate) postgres: Option<MeasuredDatabase>,
    scripts: BTreeMap<Kind, Script>,
    _directory: TempDir,
}

impl Site {
    /// Starts everything, and prepares resources for as many connections as each kind of request needs.
    pub(crate) async fn start(
        binary: &Path,
        surroundings: Surroundings,
        kinds: &BTreeMap<Kind, usize>,
    ) -> Self {
        let directory = TempDir::with_prefix("ucp-bench-").expect("a temporary directory");
        let at_once = ["--simulator-latency-min=0ms", "--simulator-latency-max=0ms"];
        let aws = Process::start(binary, "simulator", &at_once);
        let (postgres, endpoint) = match surroundings {
            Surroundings::Postgres => (true, aws.address),
            Surroundings::PostgresFarFromAws => (true, delay::proxy(aws.address, ONE_WAY).await),
            Surroundings::Sqlite => (false, aws.address),
        };
        let (postgres, database) = if postgres {
            let database = measured_database().await;
            let database = database.expect("Postgres is installed (initdb and pg_ctl)");
            let url = database.url().to_owned();
            (Some(database), url)
        } else {
            let file = directory.path().join("ucp.db");
            (None, format!("sqlite://{}", file.display()))
        };
        let endpoint = format!("http://{endpoint}");
        let arguments = [
            "--database-url",
            &database,
            "--aws-endpoint-url",
            &endpoint,
            // Each what-if keeps a plan. None makes room meanwhile.
            "--quota-caller-plan-bytes",
            "100000000000",
            "--quota-group-plan-bytes",
            "100000000000",
        ];
        let arguments = arguments.map(str::to_owned);
        let ucp = {
            let binary = binary.to_owned();
            let starting = tokio::task::spawn_blocking(move || {
                Process::start(&binary, "serve", &arguments.each_ref().map(String::as_str))
            });
            starting.await.expect("it starts")
        };
        let server = ucp.address;
        let token = process::create_token(binary, &database);
        let scripts = prepare(server, &token, kinds).await;
        Self {
            server,
            ucp,
            aws,
            postgres,
            scripts,
            _directory: directory,
        }
    }

    pub(crate) fn script(&self, kind: Kind) -> &Script {
        &self.scripts[&kind]
    }

    /// Waits until no operation is live.
    pub(crate) async fn settle(&mut self) {
        if let Some(postgres) = &mut self.postgres {
            while !postgres.is_idle().await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

/// Creates resources, and returns what the connections send.
async fn prepare(
    server: SocketAddr,
    token: &str,
    kinds: &BTreeMap<Kind, usize>,
) -> BTreeMap<Kind, Script> {
    let group = format!("{GROUP}?api-version=2023-10-01-preview");
    let group = request(server, Method::PUT, &group, r#"{"location":"global"}"#);
    let made = Connection::open(server).await.send(group).await;
    assert!(made.status.is_success(), "{:?}", made.body);

    let most = |kind| kinds.get(&kind).copied().unwrap_or_default();
    let by_name = [Kind::GetByName, Kind::Status, Kind::PutAgainByName];
    let names = by_name.into_iter().map(most).max().unwrap_or_default();
    let puts = (0..names).map(|number| put_by_name(server, &format!("name-{number}")));
    let statuses = make(server, puts.collect()).await;
    let by_alias = [
        Kind::GetByAlias,
        Kind::PutAgainByAlias,
        Kind::PutAgainWithToken,
        Kind::WhatIfByAlias,
    ];
    let aliases = by_alias.into_iter().map(most).max().unwrap_or_default();
    let aliases = if kinds.contains_key(&Kind::WhatIfSet) {
        aliases.max(SET)
    } else {
        aliases
    };
    let puts = (0..aliases).map(|number| put_by_alias(server, number));
    make(server, puts.collect()).await;

    let each = |count: usize, request: &dyn Fn(usize) -> Prepared| -> Script {
        let requests: Vec<Prepared> = (0..count).map(request).collect();
        Arc::new(move |connection, _| requests[connection].clone())
    };
    let script = |kind, count| match kind {
        Kind::GetByName => each(count, &|number| {
            request(
                server,
                Method::GET,
                &resource(&format!("name-{number}")),
                "",
            )
        }),
        Kind::GetByAlias => each(count, &|number| get_by_alias(server, number)),
        Kind::Status => each(count, &|number| {
            request(server, Method::GET, &statuses[number], "")
        }),
        Kind::PutAgainByName => each(count, &|number| {
            put_by_name(server, &format!("name-{number}"))
        }),
        Kind::PutAgainByAlias => each(count, &|number| put_by_alias(server, number)),
        Kind::PutAgainWithToken => each(count, &|number| {
            let mut put = put_by_alias(server, number);
            let bearer = format!("Bearer {token}").parse().expect("a value");
            put.headers_mut().insert("authorization", bearer);
            put
        }),
        Kind::WhatIfByAlias => each(count, &|number| by_alias_to(server, "whatIf", number)),
        Kind::WhatIfSet => each(count, &|_| what_if_set(server)),
        Kind::CreateByName => {
            let next = AtomicUsize::new(0);
            let script = move |_, _| {
                let number = next.fetch_add(1, Ordering::Relaxed);
                put_by_name(server, &format!("new-{number}"))
            };
            Arc::new(script) as Script
        }
    };
    kinds
        .iter()
        .map(|(kind, count)| (*kind, script(*kind, *count)))
        .collect()
}

/// Sends puts that create, waits for the end of their operations, and demands that the same puts then change nothing.
/// Returns the paths of the operations.
async fn make(server: SocketAddr, puts: Vec<Prepared>) -> Vec<String> {
    let puts = Arc::new(puts);
    let mut makers = JoinSet::new();
    for maker in 0..PREPARED_AT_ONCE {
        let puts = Arc::clone(&puts);
        makers.spawn(async move {
            let mut connection = Connection::open(server).await;
            let mut made = Vec::new();
            for number in (maker..puts.len()).step_by(PREPARED_AT_ONCE) {
                let reply = connection.send(puts[number].clone()).await;
                let path = reply.status_path;
                let path = path.unwrap_or_else(|| panic!("not accepted: {:?}", reply.body));
                connection.follow(server, &path).await;
                let again = connection.send(puts[number].clone()).await;
                assert_eq!(again.status, StatusCode::OK, "{:?}", again.body);
                made.push((number, path));
            }
            made
        });
    }
    let mut made: Vec<(usize, String)> = makers.join_all().await.into_iter().flatten().collect();
    made.sort_unstable();
    made.into_iter().map(|(_, path)| path).collect()
}

fn providers() -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2/providers")
}

/// The path of a resource whose name is its identifier.
fn resource(name: &str) -> String {
    format!("{}/AWS.Logs/LogGroup/{name}", providers())
}

fn put_by_name(server: SocketAddr, name: &str) -> Prepared {
    let body = json!({"properties": {"RetentionInDays": 7}});
    request(server, Method::PUT, &resource(name), &body.to_string())
}

/// A put of a resource whose identifier AWS assigns.
fn put_by_alias(server: SocketAddr, number: usize) -> Prepared {
    by_alias_to(server, "put", number)
}

fn get_by_alias(server: SocketAddr, number: usize) -> Prepared {
    let path = format!("{}/AWS.EC2/VPC/:get", providers());
    request(server, Method::POST, &path, &of_alias(number).to_string())
}

fn of_alias(number: usize) -> Value {
    let alias = format!("vpc-{number}");
    let tracked_by = format!("{GROUP}/providers/AWS.EC2/VPC:reference/{alias}");
    json!({"alias": alias, "trackedBy": tracked_by})
}

fn by_alias_to(server: SocketAddr, action: &str, number: usize) -> Prepared {
    let mut body = of_alias(number);
    body["properties"] = vpc();
    let path = format!("{}/AWS.EC2/VPC/:{action}", providers());
    request(server, Method::POST, &path, &body.to_string())
}

fn vpc() -> Value {
    json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true})
}

fn what_if_set(server: SocketAddr) -> Prepared {
    let member = |number| {
        let alias = format!("vpc-{number}");
        json!({"alias": alias, "type": "AWS.EC2/VPC", "properties": vpc()})
    };
    let resources: Vec<Value> = (0..SET).map(member).collect();
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2");
    let body = json!({"scope": scope, "resources": resources});
    let path = format!("{GROUP}/:whatIf");
    request(server, Method::POST, &path, &body.to_string())
}
