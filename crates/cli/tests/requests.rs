//! What commands send, to a server that notes it and answers as it is told.

use std::collections::VecDeque;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use clap::{CommandFactory, Parser, Subcommand};
use serde_json::{Value, json};
use ucp_cli::command::{self, Command};

#[path = "requests/refactors.rs"]
mod refactors;

const GROUP: &str = "/planes/radius/local/resourceGroups/demo";

#[derive(Debug, Parser)]
struct Ucp {
    #[command(subcommand)]
    command: Both,
}

#[derive(Debug, Subcommand)]
enum Both {
    #[command(flatten)]
    Daily(Command),
}

/// A request: method and path, authorization, and body.
#[derive(Clone, Debug, PartialEq)]
struct Asked(String, Option<String>, Value);

#[derive(Default)]
struct Scripted {
    asked: Mutex<Vec<Asked>>,
    answers: Mutex<VecDeque<Answer>>,
}

struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Value,
}

fn answer(status: u16, body: Value) -> Answer {
    Answer {
        status,
        headers: vec![("retry-after", "0".to_owned())],
        body,
    }
}

async fn serve(State(scripted): State<Arc<Scripted>>, request: Request) -> Response {
    let head = format!("{} {}", request.method(), request.uri());
    let authorization = request.headers().get("authorization");
    let authorization = authorization.map(|value| value.to_str().expect("text").to_owned());
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await;
    let body = serde_json::from_slice(&body.expect("a body")).unwrap_or_default();
    let asked = Asked(head, authorization, body);
    scripted.asked.lock().expect("a lock").push(asked);
    let next = scripted.answers.lock().expect("a lock").pop_front();
    let Answer {
        status,
        headers,
        body,
    } = next.expect("an answer for each request");
    let status = StatusCode::from_u16(status).expect("a status");
    let mut response = (status, axum::Json(body)).into_response();
    for (name, value) in headers {
        let value = value.parse().expect("a header");
        response.headers_mut().insert(name, value);
    }
    response
}

/// Runs `ucp` with these arguments against a server with these answers. Returns what came of it, and what was asked.
fn ucp(arguments: &[&str], answers: Vec<Answer>) -> (anyhow::Result<ExitCode>, Vec<Asked>) {
    let scripted = Arc::new(Scripted {
        asked: Mutex::default(),
        answers: Mutex::new(answers.into()),
    });
    let app = Router::new()
        .fallback(serve)
        .with_state(Arc::clone(&scripted));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
    let listener = listener.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    runtime.spawn(async { axum::serve(listener, app).await });
    let server = ["--server", &url, "--token", "secret"];
    let ucp = ["ucp"].iter().chain(arguments).chain(&server);
    let Both::Daily(command) = Ucp::try_parse_from(ucp).expect("a command").command;
    let outcome = command::run(command, Ucp::command());
    runtime.shutdown_background();
    let asked = scripted.asked.lock().expect("a lock").clone();
    (outcome, asked)
}

fn set() -> Value {
    json!({"scope": "/planes/aws/aws/accounts/1/regions/r", "resources": [{"alias": "a", "type": "AWS.EC2/VPC"}]})
}

fn file(folder: &Path) -> String {
    let path = folder.join("set.json");
    std::fs::write(&path, set().to_string()).expect("a file");
    path.display().to_string()
}

/// Runs `ucp apply --yes`.
fn apply(answers: Vec<Answer>) -> (anyhow::Result<ExitCode>, Vec<Asked>) {
    apply_with(&[], answers)
}

/// The same with more flags.
fn apply_with(more: &[&str], answers: Vec<Answer>) -> (anyhow::Result<ExitCode>, Vec<Asked>) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = file(folder.path());
    let arguments = ["apply", "--yes", "-g", "demo", "-f", &file];
    let arguments: Vec<&str> = arguments.iter().chain(more).copied().collect();
    ucp(&arguments, answers)
}

fn what_if(more: &Value) -> Answer {
    let mut properties = json!({"changes": [{"changeType": "Create", "trackedBy": format!("{GROUP}/providers/AWS.EC2/VPC:reference/a")}]});
    let members = properties.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("an object").clone());
    answer(
        200,
        json!({"status": "Succeeded", "properties": properties}),
    )
}

fn applied() -> Answer {
    answer(
        200,
        json!({"status": "Succeeded", "properties": {"resources": []}}),
    )
}

#[test]
fn what_is_applied_is_what_was_shown() {
    let plan = json!({"planId": "p-1", "fingerprint": "f"});
    let (outcome, asked) = apply(vec![what_if(&plan), applied()]);
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    let bearer = Some("Bearer secret".to_owned());
    let mut planned = set();
    planned["planId"] = json!("p-1");
    assert_eq!(
        asked,
        [
            Asked(format!("POST {GROUP}/:whatIf"), bearer.clone(), set()),
            Asked(format!("POST {GROUP}/:apply"), bearer, planned),
        ]
    );

    // Without a plan nothing tells that it is what was shown.
    let (outcome, asked) = apply(vec![what_if(&json!({}))]);
    let told = outcome.expect_err("it is refused").to_string();
    assert!(told.contains("nothing is applied; --unplanned"), "{told}");
    assert_eq!(asked.len(), 1, "{asked:?}");
    let (outcome, asked) = apply_with(&["--unplanned"], vec![what_if(&json!({})), applied()]);
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    assert_eq!(asked[1].2, set());

    // Where nothing changes, there is nothing to plan.
    let nothing = json!({"changes": [{"changeType": "NoChange", "trackedBy": GROUP}]});
    let (outcome, asked) = apply(vec![what_if(&nothing), applied()]);
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    assert_eq!(asked[1].2, set());
}

/// It is made once the server says that it is not there: after the consent.
#[test]
fn a_group_that_is_not_there_is_made_before_the_apply() {
    let gone = json!({"error": {"code": "ResourceGroupNotFound", "message": "There is none."}});
    let answers = vec![
        what_if(&json!({"planId": "p-1"})),
        answer(404, gone),
        answer(201, json!({"id": GROUP})),
        applied(),
    ];
    let (outcome, asked) = apply(answers);
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    let heads: Vec<&str> = asked.iter().map(|it| it.0.as_str()).collect();
    let apply = format!("POST {GROUP}/:apply");
    let put = format!("PUT {GROUP}?api-version=2023-10-01-preview");
    assert_eq!(heads[1..], [apply.as_str(), &put, &apply]);
}

#[test]
fn a_plan_that_was_kept_is_applied_as_it_was_shown() {
    let path = "/planes/radius/local/providers/System.Resources/plans/0a-1";
    let shown = json!({"status": "Approved", "expiresAt": "2026-01-02T04:04:05Z",
        "changes": [{"changeType": "Delete", "trackedBy": GROUP}]});
    let plan = answer(200, json!({"id": path, "properties": shown}));
    let arguments = ["apply", "--yes", "-g", "demo", "--plan", "0a-1"];
    let (outcome, asked) = ucp(&arguments, vec![plan, applied()]);
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    let asked: Vec<(String, Value)> = asked.into_iter().map(|it| (it.0, it.2)).collect();
    let expected = [
        (format!("GET {path}"), Value::Null),
        (format!("POST {GROUP}/:apply"), json!({"planId": "0a-1"})),
    ];
    assert_eq!(asked, expected);
    // It has its own declaration.
    for more in [["-f", "set.json"], ["--mode", "complete"]] {
        let arguments = ["ucp"].iter().chain(&arguments).chain(&more);
        assert!(Ucp::try_parse_from(arguments).is_err());
    }
    assert!(Ucp::try_parse_from(["ucp", "apply", "-g", "demo"]).is_err());
}

#[test]
fn who_needs_an_approval_learns_how_to_go_on() {
    let refused =
        json!({"error": {"code": "ApprovalRequired", "message": "The plan was not approved."}});
    let answers = vec![what_if(&json!({"planId": "0a-1"})), answer(409, refused)];
    let (outcome, _) = apply(answers);
    let told = outcome.expect_err("it is refused").to_string();
    let next = format!("ucp apply --group {GROUP} --plan 0a-1");
    for part in ["ApprovalRequired", "/plans/0a-1/:approve", next.as_str()] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn a_planned_delete_names_its_plan() {
    let id = format!("{GROUP}/providers/AWS.EC2/VPC:reference/a");
    let arguments = ["delete", "--yes", "--plan", "0a-1", &id];
    let (outcome, asked) = ucp(&arguments, vec![answer(200, json!({}))]);
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    assert_eq!(asked[0].0, format!("DELETE {id}?planId=0a-1"));
    let (outcome, asked) = ucp(&["delete", "--yes", "--plan", "0a-1", GROUP], Vec::new());
    let told = outcome.expect_err("it is refused").to_string();
    assert!(
        told.contains("no plan shows the deletion of a group"),
        "{told}"
    );
    assert_eq!(asked, []);
}

#[test]
fn whether_something_was_changed_has_its_own_exit_status() {
    for (state, status) in [
        ("Unchanged", ExitCode::SUCCESS),
        ("Succeeded", ExitCode::from(2)),
    ] {
        let ended =
            json!({"status": "Succeeded", "properties": {"resources": [{"status": state}]}});
        let answers = vec![what_if(&json!({"planId": "0a-1"})), answer(200, ended)];
        let (outcome, _) = apply_with(&["--detailed-exitcode"], answers);
        assert_eq!(outcome.expect("it is done"), status, "{state}");
    }
}

#[test]
fn a_stale_plan_says_what_has_changed_and_what_to_do() {
    let stale = json!({"error": {"code": "StalePlan", "message": "The plan p-1 is stale.", "details": [
        {"code": "LiveStateChanged", "message": "It is another one.", "target": "/resources/0/properties/CidrBlock"}]}});
    let answers = vec![what_if(&json!({"planId": "p-1"})), answer(412, stale)];
    let (outcome, asked) = apply(answers);
    let told = outcome.expect_err("it is refused").to_string();
    for part in [
        "StalePlan: The plan p-1 is stale.",
        "\n  /resources/0/properties/CidrBlock: LiveStateChanged: It is another one.\n",
        "Run the command again",
        "/docs/errors/StalePlan",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(asked.len(), 2, "{asked:?}");
}

#[test]
fn a_busy_server_is_asked_again() {
    let busy = |status| {
        answer(
            status,
            json!({"error": {"code": "TooManyRequests", "message": "Later."}}),
        )
    };
    let answers = vec![
        busy(429),
        busy(503),
        what_if(&json!({"planId": "0a-1"})),
        applied(),
    ];
    let (outcome, asked) = apply(answers);
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    assert_eq!(asked[0], asked[1]);
    assert_eq!(asked[0], asked[2]);

    // Without a time to wait, it is not.
    let mut busy = busy(503);
    busy.headers
        .retain(|(name, _)| *name != RETRY_AFTER.as_str());
    let (outcome, asked) = apply(vec![busy]);
    assert!(outcome.is_err());
    assert_eq!(asked.len(), 1, "{asked:?}");
}

#[test]
fn an_operation_is_followed_on_the_server_that_was_named() {
    let status = |status: &str| {
        json!({"status": status, "properties": {"resources": []},
            "error": {"code": "ApplyFailed", "message": "1 of 1 resources failed."}})
    };
    let path =
        "/planes/radius/local/providers/System.Resources/locations/global/operationStatuses/1";
    let mut accepted = answer(202, json!({}));
    let elsewhere = format!("http://elsewhere.invalid/base{path}");
    accepted.headers.push(("azure-asyncoperation", elsewhere));
    let answers = vec![
        what_if(&json!({"planId": "0a-1"})),
        accepted,
        answer(200, status("Running")),
        // The server is away for a moment.
        answer(500, json!({})),
        answer(200, status("Failed")),
    ];
    let (outcome, asked) = apply(answers);
    let told = outcome.expect_err("it has failed").to_string();
    assert!(
        told.starts_with("ApplyFailed: 1 of 1 resources failed."),
        "{told}"
    );
    let polls = asked[2..].iter().map(|Asked(head, ..)| head.clone());
    assert_eq!(polls.collect::<Vec<_>>(), vec![format!("GET {path}"); 3]);
}

#[test]
fn an_operation_that_is_not_there_is_not_going_on() {
    let watch = ["watch", "7"];
    let missing = answer(
        404,
        json!({"error": {"code": "NotFound", "message": "There is none."}}),
    );
    let (ended, asked) = ucp(&watch, vec![missing]);
    let told = format!("{:#}", ended.expect_err("it is refused"));
    assert!(
        told.contains("There is none.") && !told.contains("going on"),
        "{told}"
    );
    assert_eq!(asked.len(), 1);
}

#[test]
fn an_operation_without_a_status_is_followed_by_its_result() {
    let mut accepted = answer(202, json!({}));
    accepted
        .headers
        .push(("location", "/planes/x/operationResults/1".to_owned()));
    let answers = vec![
        what_if(&json!({"planId": "0a-1"})),
        accepted,
        answer(202, json!({})),
        answer(200, json!({"outputs": {"a": 1}})),
    ];
    let (outcome, asked) = apply(answers);
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    assert_eq!(asked[2].0, "GET /planes/x/operationResults/1");
}

#[test]
fn what_cannot_be_told_has_its_own_exit_status() {
    let folder = tempfile::tempdir().expect("a folder");
    let asking = |changes: Value| {
        let reply = json!({"status": "Succeeded", "properties": {"changes": changes}});
        let file = file(folder.path());
        let arguments = ["what-if", "--detailed-exitcode", "-g", "demo", "-f", &file];
        ucp(&arguments, vec![answer(200, reply)])
            .0
            .expect("it is told")
    };
    let of = |kind: &str| json!({"changeType": kind, "trackedBy": GROUP});
    assert_eq!(
        asking(json!([of("NoChange"), of("Ignore")])),
        ExitCode::SUCCESS
    );
    assert_eq!(
        asking(json!([of("NoChange"), of("Create")])),
        ExitCode::from(2)
    );
    assert_eq!(
        asking(json!([of("Unsupported"), of("Create")])),
        ExitCode::from(3)
    );
}

#[test]
fn a_list_is_read_to_its_last_page() {
    let page = |name: &str, next: Option<&str>| {
        let next = next.map(|path| format!("http://elsewhere.invalid{path}"));
        answer(200, json!({"value": [{"name": name}], "nextLink": next}))
    };
    let second = format!("{GROUP}/resources?skipToken=2");
    let answers = vec![page("a", Some(&second)), page("b", None)];
    let (outcome, asked) = ucp(&["get", "-g", "demo"], answers);
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    let first = format!("GET {GROUP}/resources?api-version=2023-10-01-preview&top=1000");
    let heads: Vec<String> = asked.into_iter().map(|Asked(head, ..)| head).collect();
    assert_eq!(heads, [first, format!("GET {second}")]);

    // One that leads to itself would never end.
    let answers = vec![page("a", Some(&second)), page("b", Some(&second))];
    let (outcome, _) = ucp(&["get", "-g", "demo"], answers);
    assert!(outcome.is_err());
}
