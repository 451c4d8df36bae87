//! The simulator behind a socket, and without a network behind the traits of `ucp`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod aws;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use ucp_cloud::{CloudControl, Fault, FaultClass};
use ucp_model::{
    ClientToken, Clock, Identifier, ProgressStatus, RequestToken, Scope, Timestamp, TypeName,
};
use ucp_schema::Catalogue;
use ucp_simulator::faults::{Effect, fault};
use ucp_simulator::{Action, Settings, Simulator};

use aws::Seeded;

/// The controls that take a body want this header.
const JSON: &str = "content-type: application/json\r\n";

/// A manual clock.
#[derive(Default)]
struct Hand(AtomicI64);

impl Hand {
    fn pass(&self, duration: Duration) {
        let millis = i64::try_from(duration.as_millis()).unwrap();
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

fn simulator() -> (Simulator, Arc<Hand>) {
    let clock = Arc::new(Hand::default());
    let simulator = Simulator::new(
        Catalogue::embedded(),
        Settings::default(),
        clock.clone(),
        Arc::new(Seeded::new(1)),
    );
    (simulator, clock)
}

struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A simulator that is served on a socket.
struct Served {
    simulator: Simulator,
    clock: Arc<Hand>,
    address: std::net::SocketAddr,
    stop: Arc<Notify>,
    server: tokio::task::JoinHandle<()>,
}

impl Served {
    async fn start() -> Self {
        let (simulator, clock) = simulator();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(Notify::new());
        let stopped = stop.clone().notified_owned();
        let server = tokio::spawn(simulator.clone().serve(listener, stopped));
        Self {
            simulator,
            clock,
            address,
            stop,
            server,
        }
    }

    /// Sends a request. Returns `None` if the connection is closed without a reply.
    async fn send(&self, start: &str, headers: &str, body: &str) -> Option<Reply> {
        self.send_to("localhost", start, headers, body).await
    }

    /// The same with another `Host`.
    async fn send_to(&self, host: &str, start: &str, headers: &str, body: &str) -> Option<Reply> {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let length = body.len();
        let request = format!(
            "{start} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        // A server that refuses a body may close the connection before it has read the body.
        stream.write_all(request.as_bytes()).await.ok();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).await.ok();
        let reply = String::from_utf8(reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n")?;
        Some(Reply {
            status: head.split(' ').nth(1)?.parse().unwrap(),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        })
    }

    /// Sends a Cloud Control call, signed by account 111122223333 in eu-north-1.
    async fn call(&self, operation: &str, input: &str) -> Option<Reply> {
        let headers = format!(
            "content-type: application/x-amz-json-1.0\r\n\
             x-amz-target: CloudApiService.{operation}\r\n\
             authorization: AWS4-HMAC-SHA256 Credential=111122223333/20260101/eu-north-1/cloudcontrolapi/aws4_request, SignedHeaders=host, Signature=0\r\n"
        );
        self.send("POST /", &headers, input).await
    }

    async fn query(&self, form: &str) -> Reply {
        let headers = "content-type: application/x-www-form-urlencoded; charset=utf-8\r\n";
        self.send("POST /", headers, form).await.unwrap()
    }

    async fn finish(self) {
        self.stop.notify_one();
        self.server.await.unwrap();
    }
}

fn create_group(name: &str) -> String {
    json!({
        "TypeName": "AWS::Logs::LogGroup",
        "DesiredState": json!({"LogGroupName": name}).to_string(),
        "ClientToken": "t",
        "RoleArn": "arn:aws:iam::111122223333:role/any",
        "TypeVersionId": "00000001",
    })
    .to_string()
}

#[tokio::test]
async fn calls_are_answered_as_aws_answers_them() {
    let aws = Served::start().await;
    let reply = aws
        .call("CreateResource", &create_group("a/b"))
        .await
        .unwrap();
    assert_eq!(reply.status, 200);
    assert!(
        reply
            .head
            .contains("content-type: application/x-amz-json-1.0")
    );
    assert!(reply.head.contains("x-amzn-requestid: "));
    let event = &reply.json()["ProgressEvent"];
    assert_eq!(event["OperationStatus"], "PENDING");
    assert_eq!(event["EventTime"].to_string(), "0.000");
    assert_eq!(event.get("Identifier"), None);

    aws.clock.pass(Duration::from_secs(1));
    let input = json!({"TypeName": "AWS::Logs::LogGroup", "Identifier": "a/b"}).to_string();
    let reply = aws.call("GetResource", &input).await.unwrap();
    let properties = reply.json()["ResourceDescription"]["Properties"].to_string();
    assert!(properties.contains("arn:aws:logs:eu-north-1:111122223333:log-group:a/b:*"));

    let reply = aws
        .call("GetResource", &input.replace("a/b", "c"))
        .await
        .unwrap();
    assert_eq!(reply.status, 400);
    assert!(
        reply
            .head
            .contains("x-amzn-errortype: resourcenotfoundexception")
    );
    let kind = reply.json()["__type"].to_string();
    assert!(kind.ends_with("#ResourceNotFoundException\""));
    assert!(reply.json()["Message"].is_string());
    aws.finish().await;
}

#[tokio::test]
async fn the_registry_speaks_xml() {
    let aws = Served::start().await;
    let form =
        "Action=DescribeType&Version=2010-05-15&Type=RESOURCE&TypeName=AWS%3A%3AEC2%3A%3AVPC";
    let reply = aws.query(form).await;
    assert_eq!(reply.status, 200);
    assert!(reply.head.contains("content-type: text/xml"));
    assert!(
        reply
            .body
            .contains("<ProvisioningType>FULLY_MUTABLE</ProvisioningType>")
    );
    let reply = aws.query(&form.replace("VPC", "No")).await;
    assert_eq!(reply.status, 404);
    assert!(reply.body.contains("<Code>TypeNotFoundException</Code>"));
    let reply = aws
        .query("Action=ListTypes&Visibility=PUBLIC&MaxResults=2")
        .await;
    assert_eq!(reply.body.matches("<member>").count(), 2);
    assert!(reply.body.contains("<NextToken>"));
    for nonsense in [
        "Action=CreateStack",
        "",
        "%ff=%00&&=",
        "Action=ListTypes&MaxResults=x",
    ] {
        assert_eq!(aws.query(nonsense).await.status, 400, "{nonsense}");
    }
    aws.finish().await;
}

#[tokio::test]
async fn nonsense_is_refused() {
    let aws = Served::start().await;
    for (operation, input, exception) in [
        ("DropTables", "{}", "UnknownOperationException"),
        ("DescribeType", "{}", "UnknownOperationException"),
        ("CreateResource", "{", "SerializationException"),
        ("CreateResource", "[]", "ValidationException"),
        ("CreateResource", "\u{0}", "SerializationException"),
        (
            "CreateResource",
            r#"{"TypeName": 7}"#,
            "SerializationException",
        ),
        ("CreateResource", "{}", "ValidationException"),
        ("UpdateResource", "", "ValidationException"),
        (
            "GetResource",
            r#"{"TypeName": "AWS::EC2::VPC"}"#,
            "ValidationException",
        ),
        (
            "ListResourceRequests",
            r#"{"NextToken": "é"}"#,
            "InvalidRequestException",
        ),
        (
            "ListResourceRequests",
            r#"{"MaxResults": 1000}"#,
            "ValidationException",
        ),
        (
            "GetResourceRequestStatus",
            "{}",
            "RequestTokenNotFoundException",
        ),
    ] {
        let reply = aws.call(operation, input).await.unwrap();
        assert_eq!(reply.status, 400, "{operation} {input}");
        assert!(
            reply.body.contains(exception),
            "{operation} {input}: {}",
            reply.body
        );
    }
    let deep = format!(r#"{{"TypeName": {}"#, "[".repeat(100_000));
    assert_eq!(aws.call("CreateResource", &deep).await.unwrap().status, 400);
    let long = create_group(&"a".repeat(9 * 1024 * 1024));
    if let Some(reply) = aws.call("CreateResource", &long).await {
        assert_eq!(reply.status, 413);
    }
    assert_eq!(aws.send("POST /", "", "").await.unwrap().status, 400);
    assert_eq!(aws.send("GET /", "", "").await.unwrap().status, 405);
    aws.finish().await;
}

#[tokio::test]
async fn a_dropped_reply_closes_the_connection_after_the_change() {
    let aws = Served::start().await;
    let dropped = fault(Effect::DropReply {}).on(Action::CreateResource);
    let dropped = json!([dropped.times(1)]);
    let reply = aws
        .send("POST /_simulator/faults", JSON, &dropped.to_string())
        .await;
    assert_eq!(reply.unwrap().status, 201);
    assert!(
        aws.call("CreateResource", &create_group("a"))
            .await
            .is_none()
    );
    aws.clock.pass(Duration::from_secs(1));
    let repeated = aws
        .call("CreateResource", &create_group("a"))
        .await
        .unwrap();
    assert_eq!(
        repeated.json()["ProgressEvent"]["OperationStatus"],
        "SUCCESS"
    );
    assert_eq!(aws.simulator.resources().len(), 1);

    let log = aws
        .send("GET /_simulator/log", "", "")
        .await
        .unwrap()
        .json();
    assert_eq!(log[0]["operation"], "CreateResource");
    assert_eq!(log[0]["typeName"], "AWS::Logs::LogGroup");
    assert_eq!(log[0]["clientToken"], "t");
    assert_eq!(log[0]["outcome"], "dropped");
    assert_eq!(log[1]["time"], "1970-01-01T00:00:01Z");
    aws.finish().await;
}

#[tokio::test]
async fn a_call_hangs_until_the_client_gives_up_the_faults_are_removed_or_the_server_stops() {
    let aws = Served::start().await;
    let hang = json!({"match": {"operation": "GetResource"}, "effect": {"kind": "hang"}});
    let set = async || {
        let hang = hang.to_string();
        let reply = aws.send("POST /_simulator/faults", JSON, &hang).await;
        assert_eq!(reply.unwrap().status, 201);
    };
    set().await;
    let input = json!({"TypeName": "AWS::Logs::LogGroup", "Identifier": "a"}).to_string();
    let mut hanging = Box::pin(aws.call("GetResource", &input));
    let is_logged = async |count: usize| {
        while aws.simulator.log().len() < count {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = &mut hanging => panic!("the call is answered"),
        () = is_logged(1) => {}
    }
    // Other calls are answered meanwhile.
    let created = aws.call("CreateResource", &create_group("a")).await;
    assert_eq!(created.unwrap().status, 200);
    let cleared = aws.send("DELETE /_simulator/faults", "", "").await;
    assert_eq!(cleared.unwrap().status, 204);
    assert!(hanging.await.is_none());

    set().await;
    let stopping = async {
        is_logged(3).await;
        aws.stop.notify_one();
    };
    let (hung, ()) = tokio::join!(aws.call("GetResource", &input), stopping);
    assert!(hung.is_none());
    aws.server.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_takes_its_time() {
    let (simulator, clock) = simulator();
    simulator.add_fault(
        fault(Effect::Delay {
            least_millis: 80,
            most_millis: 300,
        })
        .on(Action::GetResource),
    );
    let scope = Scope::new("aws", "111122223333", "eu-north-1").unwrap();
    let vpc = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    let mut took = Vec::new();
    for _ in 0..20 {
        let began = tokio::time::Instant::now();
        let id = Identifier::new("vpc-0");
        let read = simulator.get_resource(&scope, &vpc, &id).await;
        read.unwrap_err();
        took.push(began.elapsed());
    }
    took.sort();
    let (least, most) = (took[0], took[19]);
    assert!(least >= Duration::from_millis(80), "{least:?}");
    assert!(most <= Duration::from_millis(301), "{most:?}");
    assert!(most > least + Duration::from_millis(50), "{took:?}");
    let began = tokio::time::Instant::now();
    let listed = simulator.list_resources(&scope, &vpc, None).await;
    assert!(listed.is_ok() && began.elapsed().is_zero());

    // The log tells when it was received.
    let received = clock.now();
    let id = Identifier::new("vpc-1");
    let meanwhile = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        clock.pass(Duration::from_secs(1));
    };
    let (read, ()) = tokio::join!(simulator.get_resource(&scope, &vpc, &id), meanwhile);
    read.unwrap_err();
    let logged = simulator.latest(|entry| entry.identifier.as_deref() == Some("vpc-1"));
    assert_eq!(logged.unwrap().time, received);
}

#[tokio::test]
async fn the_world_is_changed_out_of_band() {
    let aws = Served::start().await;
    aws.call("CreateResource", &create_group("a/b"))
        .await
        .unwrap();
    aws.clock.pass(Duration::from_secs(1));
    let group = "/_simulator/resources/AWS::Logs::LogGroup/a%2Fb";
    let patch = r#"{"RetentionInDays": 7}"#;
    let patched = aws
        .send(&format!("PATCH {group}?region=eu-north-1"), JSON, patch)
        .await
        .unwrap();
    assert_eq!(patched.json()["properties"]["RetentionInDays"], 7);
    let all = aws
        .send("GET /_simulator/resources", "", "")
        .await
        .unwrap()
        .json();
    assert_eq!(all[0]["account"], "111122223333");
    assert_eq!(all[0]["identifier"], "a/b");
    for (status, query) in [
        (404, "?account=000000000000"),
        (400, "?acount=1"),
        (204, ""),
        (404, ""),
    ] {
        let reply = aws
            .send(&format!("DELETE {group}{query}"), "", "")
            .await
            .unwrap();
        assert_eq!(reply.status, status, "{query}");
    }
    for nonsense in ["", "{}", "[1]", r#"{"effect": {"kind": "explode"}}"#] {
        let reply = aws
            .send("POST /_simulator/faults", JSON, nonsense)
            .await
            .unwrap();
        assert_eq!(reply.status, 400, "{nonsense}");
    }
    assert_eq!(
        aws.send("DELETE /_simulator/faults", "", "")
            .await
            .unwrap()
            .status,
        204
    );
    assert_eq!(
        aws.send("GET /_simulator/faults", "", "")
            .await
            .unwrap()
            .json(),
        json!([])
    );
    aws.finish().await;
}

#[tokio::test]
async fn types_are_registered_while_it_runs() {
    let aws = Served::start().await;
    let schema = r#"{"typeName": "Initech::TPS::Report", "properties": {"Name": {"type": "string"}},
        "primaryIdentifier": ["/properties/Name"], "handlers": {"create": {}}}"#;
    let describe =
        "Action=DescribeType&Version=2010-05-15&Type=RESOURCE&TypeName=Initech::TPS::Report";
    let unknown = aws.query(describe).await;
    assert!(
        unknown.body.contains("TypeNotFoundException"),
        "{}",
        unknown.body
    );
    let registered = aws
        .send("POST /_simulator/types", JSON, schema)
        .await
        .unwrap();
    assert_eq!(registered.json()["typeName"], "Initech::TPS::Report");
    let known = aws.query(describe).await;
    assert!(known.body.contains("IMMUTABLE"), "{}", known.body);
    let refused = aws
        .send("POST /_simulator/types", JSON, "{}")
        .await
        .unwrap();
    assert_eq!(refused.status, 400);
    aws.finish().await;
}

#[tokio::test]
async fn without_a_network_it_is_the_cloud() {
    let (simulator, clock) = simulator();
    let scope = Scope::new("aws", "111122223333", "eu-north-1").unwrap();
    let vpc = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    let token = || ClientToken(uuid_of(1));
    let accepted = simulator
        .create_resource(&scope, &vpc, r#"{"CidrBlock":"10.0.0.0/16"}"#, token())
        .await
        .unwrap();
    assert_eq!(accepted.status, ProgressStatus::Running);
    clock.pass(Duration::from_secs(1));
    let done = simulator
        .get_resource_request_status(&scope, &accepted.request_token)
        .await
        .unwrap();
    assert_eq!(done.status, ProgressStatus::Success);
    let id = done.identifier.unwrap();
    let live = simulator.get_resource(&scope, &vpc, &id).await.unwrap();
    assert_eq!(live.properties["VpcId"], id.as_str());

    let conflict = simulator.create_resource(&scope, &vpc, "{}", token()).await;
    assert!(matches!(
        conflict,
        Err(Fault {
            class: FaultClass::TokenConflict,
            ..
        })
    ));
    let missing = simulator
        .get_resource(&scope, &vpc, &Identifier::new("vpc-0"))
        .await;
    assert!(matches!(
        missing,
        Err(Fault {
            class: FaultClass::Missing,
            ..
        })
    ));
    let unknown = RequestToken::new("nope");
    let unknown = simulator
        .get_resource_request_status(&scope, &unknown)
        .await;
    assert!(matches!(
        unknown,
        Err(Fault {
            class: FaultClass::TokenUnknown,
            ..
        })
    ));
    let patch = r#"[{"op":"replace","path":"/CidrBlock","value":"10.1.0.0/16"}]"#;
    let refused = simulator
        .update_resource(&scope, &vpc, &id, patch, ClientToken(uuid_of(2)))
        .await;
    assert!(
        matches!(refused, Err(Fault { class: FaultClass::Rejected, code, .. }) if code == "NotUpdatableException")
    );

    simulator.add_fault(fault(Effect::DropReply {}));
    let lost = simulator.get_resource(&scope, &vpc, &id).await;
    assert!(matches!(
        lost,
        Err(Fault {
            class: FaultClass::Transient,
            ..
        })
    ));
    let lost = simulator
        .delete_resource(&scope, &vpc, &id, ClientToken(uuid_of(3)))
        .await;
    assert!(matches!(
        lost,
        Err(Fault {
            class: FaultClass::OutcomeUnknown,
            ..
        })
    ));
    simulator.clear_faults();
    simulator.add_fault(fault(Effect::Throttle {
        rate: 0.0,
        burst: 0,
    }));
    let throttled = simulator.get_resource(&scope, &vpc, &id).await;
    assert!(matches!(
        throttled,
        Err(Fault {
            class: FaultClass::Throttled,
            ..
        })
    ));
    simulator.clear_faults();
    clock.pass(Duration::from_secs(1));
    assert!(simulator.resources().is_empty());
}

fn uuid_of(byte: u8) -> uuid::Uuid {
    uuid::Uuid::from_bytes([byte; 16])
}

/// A page of another site cannot order faults, register types or read the log, nor call Cloud Control: not by a form or a script of
/// its own, and not under a name of its own that leads to loopback.
#[tokio::test]
async fn web_pages_have_no_controls() {
    let aws = Served::start().await;
    let hang = r#"{"effect":{"kind":"hang"}}"#;
    let address = aws.address.to_string();
    for (host, headers) in [
        ("evil.example", JSON),
        (
            &*address,
            "content-type: application/json\r\norigin: https://evil.example\r\n",
        ),
        (
            &*address,
            "content-type: application/json\r\nsec-fetch-site: cross-site\r\n",
        ),
        (
            &*address,
            "content-type: application/json\r\norigin: null\r\n",
        ),
    ] {
        for (start, body) in [
            ("POST /", "{}"),
            ("POST /_simulator/faults", hang),
            ("POST /_simulator/types", "{}"),
            ("POST /_simulator/roles", "{}"),
            ("PATCH /_simulator/resources/AWS::EC2::VPC/vpc-1", "{}"),
            ("DELETE /_simulator/resources/AWS::EC2::VPC/vpc-1", ""),
            ("DELETE /_simulator/faults", ""),
            ("GET /_simulator/faults", ""),
            ("GET /_simulator/log", ""),
            ("GET /_simulator/resources", ""),
        ] {
            let reply = aws.send_to(host, start, headers, body).await.unwrap();
            assert_eq!(reply.status, 403, "{start} {host} {headers}");
            assert!(reply.json()["message"].is_string(), "{}", reply.body);
        }
    }
    for media_type in [
        "",
        "content-type: text/plain\r\n",
        "content-type: text/plain; application/json\r\n",
    ] {
        for start in [
            "POST /_simulator/faults",
            "POST /_simulator/types",
            "POST /_simulator/roles",
            "PATCH /_simulator/resources/AWS::EC2::VPC/vpc-1",
        ] {
            let reply = aws.send(start, media_type, hang).await.unwrap();
            assert_eq!(reply.status, 415, "{start} {media_type}");
        }
    }
    let faults = aws.send("GET /_simulator/faults", "", "").await.unwrap();
    assert_eq!(faults.json(), json!([]));
    let same = format!("{JSON}origin: http://{address}\r\n");
    let reply = aws
        .send_to(&address, "POST /_simulator/faults", &same, hang)
        .await;
    assert_eq!(reply.unwrap().status, 201);
    aws.finish().await;
}
