//! What `ucp refactor` sends.

use super::*;

const RECORD: &str = "/planes/radius/local/providers/System.Resources/refactors/1";

fn write(folder: &Path, name: &str, content: &Value) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content.to_string()).expect("a file");
    path.display().to_string()
}

fn id(alias: &str) -> String {
    format!("/planes/radius/local/resourcegroups/g/providers/AWS.EC2/VPC:reference/{alias}")
}

/// A record that moves something, and makes something.
fn told(status: &str) -> Value {
    json!({"id": RECORD, "name": "1", "type": "System.Resources/refactors", "status": status, "createdBy": "ann",
        "createdAt": "2026-01-02T03:04:05Z", "changedAt": "2026-01-02T03:04:05Z", "fingerprint": "f", "refused": [],
        "ambiguities": [], "groups": {"create": [], "remove": []}, "environments": [],
        "moves": [{"from": id("a"), "to": id("b"), "type": "AWS.EC2/VPC", "scope": "/s", "reason": "of a later server"}],
        "changes": {"create": [id("c")], "update": [], "undeclared": [], "later": 1},
        "history": {"environment": [], "common": null, "pending": []}, "later": {}})
}

/// The answer to a deployment that is under way.
fn accepted(record: Value) -> Answer {
    let mut accepted = answer(202, record);
    let status =
        "/planes/radius/local/providers/System.Resources/locations/global/operationStatuses/1";
    let polled = (
        "azure-asyncoperation",
        format!("http://elsewhere.invalid{status}"),
    );
    accepted.headers.push(polled);
    accepted
}

fn heads(asked: Vec<Asked>) -> Vec<String> {
    asked.into_iter().map(|Asked(head, ..)| head).collect()
}

/// Runs `ucp` to its end. Returns its exit status, and what was asked.
fn done(arguments: &[&str], answers: Vec<Answer>) -> (ExitCode, Vec<String>) {
    let (outcome, asked) = ucp(arguments, answers);
    (outcome.expect("it is done"), heads(asked))
}

/// Runs `ucp refactor --yes --deploy` with a mapping file that it records to. Returns the history in that, too.
fn deploy(end: &Value, record: &Value) -> (anyhow::Result<ExitCode>, Vec<Asked>, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let body = write(folder.path(), "body.json", &json!({"groups": []}));
    let maps = write(folder.path(), "maps.json", &json!({}));
    let answers = vec![
        answer(200, told("Planned")),
        answer(200, told("Planned")),
        accepted(told("Applied")),
        answer(200, end.clone()),
        answer(200, record.clone()),
    ];
    let arguments = [
        "refactor",
        "--yes",
        "--deploy",
        "-f",
        &body,
        "--mapping-file",
        &maps,
        "--record",
        "e1",
    ];
    let (outcome, asked) = ucp(&arguments, answers);
    let maps = std::fs::read_to_string(folder.path().join("maps.json")).expect("a file");
    let maps: Value = serde_json::from_str(&maps).expect("JSON");
    (outcome, asked, maps["history"].clone())
}

#[test]
fn a_deployment_is_sent_with_what_was_shown_and_followed() {
    let (outcome, asked, history) = deploy(&json!({"status": "Succeeded"}), &json!(null));
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    let [
        Asked(_, _, planned),
        _,
        Asked(_, _, sent),
        Asked(polled, ..),
    ] = &asked[..]
    else {
        panic!("{asked:?}");
    };
    assert_eq!(
        (&planned["mode"], &planned["deploy"]),
        (&json!("plan"), &json!(true))
    );
    let seen = (&sent["mode"], &sent["deploy"], &sent["fingerprint"]);
    assert_eq!(seen, (&json!("apply"), &json!(true), &json!("f")));
    assert!(polled.contains("operationStatuses"), "{polled}");
    assert_eq!(history[0]["id"], "e1");
}

/// What has moved back is no event of the file.
#[test]
fn a_deployment_that_fails_says_so_and_records_nothing() {
    let failed =
        json!({"status": "Failed", "error": {"code": "RefactorFailed", "message": "1 of 1."}});
    let (outcome, asked, history) = deploy(&failed, &told("Undone"));
    let told = outcome.expect_err("it has failed").to_string();
    assert!(told.starts_with("RefactorFailed"), "{told}");
    assert!(asked[4].0.ends_with("/refactors/1"), "{asked:?}");
    assert_eq!(history, json!(null));
}

/// As `--deploy` does, also if nothing moves.
#[test]
fn a_file_may_say_that_it_is_deployed() {
    let folder = tempfile::tempdir().expect("a folder");
    let body = json!({"groups": [], "deploy": true, "onFailure": "keep"});
    let body = write(folder.path(), "body.json", &body);
    let mut record = told("Planned");
    record["moves"] = json!([]);
    let answers = vec![
        answer(200, record.clone()),
        accepted(record),
        answer(200, json!({"status": "Succeeded"})),
    ];
    let (outcome, asked) = ucp(&["refactor", "--yes", "-f", &body], answers);
    assert_eq!(outcome.expect("it is done"), ExitCode::SUCCESS);
    let [_, Asked(path, _, sent), _] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert!(path.ends_with("/:refactor"), "{path}");
    let sent = (&sent["mode"], &sent["deploy"], &sent["onFailure"]);
    assert_eq!(sent, (&json!("apply"), &json!(true), &json!("keep")));
}

#[test]
fn that_something_moves_is_told_by_the_exit_status() {
    let folder = tempfile::tempdir().expect("a folder");
    let body = write(folder.path(), "body.json", &json!({"groups": []}));
    let plan = || answer(200, told("Planned"));
    let file = ["refactor", "--yes", "-f", &body, "--detailed-exitcode"];
    let moves = ExitCode::from(2);
    let refactor = "POST /planes/radius/local/:refactor".to_owned();
    let apply = format!("POST {RECORD}/:apply");
    let applied = done(&file, vec![plan(), answer(200, told("Applied"))]);
    assert_eq!(applied, (moves, vec![refactor.clone(), apply]));

    let shown = [&file[..], &["--dry-run"]].concat();
    assert_eq!(done(&shown, vec![plan()]), (moves, vec![refactor]));
}

#[test]
fn an_undo_is_of_the_plane_of_the_group() {
    const ELSEWHERE: &str = "/planes/radius/x/providers/System.Resources/refactors/1";
    let group = "/planes/radius/x/resourceGroups/g";
    let undo = ["refactor", "--yes", "--undo", "1", "-g", group];
    let applied = || answer(200, told("Applied"));
    let get = format!("GET {ELSEWHERE}");
    let both = vec![get.clone(), format!("POST {ELSEWHERE}/:undo")];
    let undone = done(&undo, vec![applied(), applied()]);
    assert_eq!(undone, (ExitCode::SUCCESS, both.clone()));

    let moves = ExitCode::from(2);
    let detailed = [&undo[..], &["--detailed-exitcode"]].concat();
    let undone = done(&detailed, vec![applied(), applied()]);
    assert_eq!(undone, (moves, both));
    let shown = [&detailed[..], &["--dry-run"]].concat();
    assert_eq!(done(&shown, vec![applied()]), (moves, vec![get]));
}

/// Or the next run would find two.
#[test]
fn a_history_is_recorded_where_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let body = json!({"groups": [], "history": [{"id": "e0", "moves": []}]});
    let body = write(folder.path(), "body.json", &body);
    let maps = write(folder.path(), "maps.json", &json!({}));
    let arguments = [
        "refactor",
        "--yes",
        "-f",
        &body,
        "--mapping-file",
        &maps,
        "--record",
        "e1",
    ];
    let (outcome, asked) = ucp(&arguments, Vec::new());
    let told = outcome.expect_err("it is refused").to_string();
    assert!(told.contains("move it to the mapping file"), "{told}");
    assert_eq!(heads(asked), [""; 0]);
    let maps = std::fs::read_to_string(maps).expect("a file");
    assert_eq!(maps, "{}");
}

/// Without a server: what cannot be, and what nothing tells apart.
#[test]
fn files_that_cannot_be_applied_are_told_by_the_exit_status() {
    let folder = tempfile::tempdir().expect("a folder");
    let queues = |region: &str, aliases: &[&str]| {
        let queue = |alias: &&str| json!({"alias": alias, "type": "AWS.SQS/Queue"});
        let queues: Vec<Value> = aliases.iter().map(queue).collect();
        json!({"scope": format!("/planes/aws/aws/accounts/1/regions/{region}"),
            "groups": [{"name": "g", "resources": queues}]})
    };
    let from = write(folder.path(), "from.json", &queues("r", &["a", "b"]));
    let compared = |to: &Value| {
        let to = write(folder.path(), "to.json", to);
        let arguments = ["refactor", "--offline", "--from", &from, "-f", &to];
        ucp(&arguments, Vec::new()).0
    };
    let told = compared(&queues("s", &["a", "b"])).expect_err("other regions");
    assert!(told.to_string().contains("refused"), "{told}");
    let ambiguous = compared(&queues("r", &["c", "d"])).expect("it is compared");
    assert_eq!(ambiguous, ExitCode::from(3));
    let moved = compared(&queues("r", &["a", "c"])).expect("it is compared");
    assert_eq!(moved, ExitCode::SUCCESS);
}
