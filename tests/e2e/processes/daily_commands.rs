//! The commands for every day, as people and pipelines run them: the real binary against a running `ucp dev`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::certificates::Files;
use super::client::Client;
use super::desk::{ACCOUNT, Desk, LOGS, NET, Run, run};
use super::process::Process;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_applied_is_shown_and_applying_it_again_does_nothing() {
    let desk = Desk::new().await;
    let files = ["-f", "sub.json", "net.yaml"];
    let with = |command: &[&'static str]| [command, &files].concat();
    let made = desk.ucp(&with(&["apply", "--yes"])).await.prints(
        0,
        &[
            "Made the resource group /planes/radius/local/resourceGroups/daily.\n",
            "+ AWS.EC2/VPC net will be created\n\n  + /CidrBlock: \"10.0.0.0/16\"\n",
            "+ AWS.EC2/Subnet sub will be created\n",
            "  + /VpcId: (known after apply)\n",
            "Resources: 2 to create.\n",
            "AWS.EC2/VPC net: Succeeded after ",
            "AWS.EC2/Subnet sub: Succeeded after ",
            "\nOutputs:\n    vpc: \"vpc-",
        ],
    );
    assert!(!made.out.contains('\u{1b}'), "{:?}", made.out);

    let again = desk.ucp(&with(&["apply", "--yes"])).await;
    let again = again.prints(0, &["Nothing to do: 2 as declared.\n", "vpc: \"vpc-"]);
    assert!(!again.out.contains("Operation"), "{}", again.out);
    let unchanged = with(&["what-if", "--detailed-exitcode"]);
    desk.ucp(&unchanged).await.prints(0, &["Nothing to do"]);

    desk.write(
        "net.yaml",
        &NET.replace("/16}", "/16, EnableDnsSupport: false}"),
    );
    let update = "  + /EnableDnsSupport: false\n";
    desk.ucp(&unchanged)
        .await
        .prints(2, &["will be updated\n", update]);
    let told = desk.ucp(&with(&["what-if", "-o", "json"])).await;
    let told = told.prints(0, &[]).json();
    assert_eq!(told["properties"]["changes"][0]["changeType"], "Modify");
    let applied = desk.ucp(&with(&["apply", "-y", "-o", "json"])).await;
    let applied = applied.prints(0, &[]);
    assert!(applied.err.contains(update), "{}", applied.err);
    assert_eq!(applied.json()["status"], "Succeeded");

    let complete = ["apply", "-y", "--mode", "complete", "-f", "net.yaml"];
    let gone = [
        "- AWS.EC2/Subnet sub (subnet-",
        "AWS.EC2/Subnet sub: Succeeded",
    ];
    desk.ucp(&complete).await.prints(0, &gone);
}

/// A log group `daily` under an alias, as the body of a refactor.
fn renamed(alias: &str) -> String {
    format!(
        "groups:\n- name: daily\n  resources:\n  - alias: {alias}\n    type: AWS.Logs/LogGroup\n    \
         properties: {{LogGroupName: daily, RetentionInDays: 7}}\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_renamed_is_shown_moved_and_taken_back() {
    let desk = Desk::new().await;
    let logs = ["apply", "-y", "-f", "logs.yaml"];
    desk.ucp(&logs).await.prints(0, &[]);
    desk.write("body.yaml", &renamed("audit"));
    let moves = "aws://123456789012/us-west-2\n\
                 Resource Type        Old Alias   New Alias\n\
                 AWS::Logs::LogGroup  daily/logs  daily/audit\n";
    let shown = ["refactor", "-f", "body.yaml", "--dry-run"];
    desk.ucp(&shown).await.prints(0, &[moves]);
    let detailed = [&shown[..], &["--detailed-exitcode"]].concat();
    desk.ucp(&detailed).await.prints(2, &[moves]);
    let told = desk.ucp(&[&shown[..], &["--json"]].concat()).await;
    assert_eq!(told.prints(0, &[]).json()["status"], "Planned");
    let unasked = ["refactor", "-f", "body.yaml"];
    desk.ucp(&unasked).await.fails(&["no terminal to ask on"]);
    let declined = desk.ucp_on_a_terminal("n", "refactor -f body.yaml").await;
    declined.prints(1, &["[y/N]", "Nothing moves."]);

    let all = ["refactor", "-y", "-f", "body.yaml"];
    let line = " | MOVED | AWS::Logs::LogGroup | daily/logs | daily/audit\n";
    desk.ucp(&all).await.prints(0, &[moves, "\n1/1 | ", line]);
    desk.ucp(&all).await.prints(0, &["Nothing to refactor.\n"]);
    desk.ucp(&detailed).await.prints(0, &[]);

    desk.write("body.yaml", &renamed("logs"));
    let json = [&all[..], &["--json"]].concat();
    let applied = desk.ucp(&json).await.prints(0, &[]);
    let back = "| MOVED | AWS::Logs::LogGroup | daily/audit | daily/logs\n";
    assert!(applied.err.contains(back), "{}", applied.err);
    let name = applied.json()["name"].as_str().expect("a name").to_owned();
    let declined = format!("refactor --undo {name}");
    let declined = desk.ucp_on_a_terminal("n", &declined).await;
    declined.prints(1, &["[y/N]", "Nothing moves."]);
    let undo = ["refactor", "-y", "--undo", &name];
    let shown = [&undo[..], &["--dry-run", "--json"]].concat();
    let told = desk.ucp(&shown).await.prints(0, &[]).json();
    assert_eq!(told["status"], "Applied");
    let detailed = [&undo[..], &["--detailed-exitcode"]].concat();
    desk.ucp(&detailed).await.prints(2, &[line]);
}

/// Others who have the file move the same.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_renamed_is_recorded_for_others() {
    let desk = Desk::new().await;
    let logs = ["apply", "-y", "-f", "logs.yaml"];
    desk.ucp(&logs).await.prints(0, &[]);
    desk.write("maps.json", "{}");
    desk.write("body.yaml", &renamed("main"));
    let mapped = [
        "refactor",
        "-y",
        "-f",
        "body.yaml",
        "--mapping-file",
        "maps.json",
    ];
    let recorded = [&mapped[..], &["--record", "to-main", "--json"]].concat();
    let applied = desk.ucp(&recorded).await.prints(0, &[]).json();
    assert_eq!(applied["moves"][0]["reason"], "Mapping");
    let event = "\"from\": \"daily/AWS.Logs/LogGroup/logs\"";
    let mut cat = desk.command("cat");
    cat.arg("maps.json");
    let kept = run(cat, "").await;
    kept.prints(0, &["\"id\": \"to-main\"", event]);
    let again = desk.ucp(&mapped).await;
    again.prints(0, &["Nothing to refactor.\n"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_is_put_once_it_has_moved() {
    let desk = Desk::new().await;
    let logs = ["apply", "-y", "-f", "logs.yaml"];
    desk.ucp(&logs).await.prints(0, &[]);
    let changed = renamed("audit").replace("RetentionInDays: 7", "RetentionInDays: 14");
    desk.write("body.yaml", &changed);
    let deploy = ["refactor", "-y", "--deploy", "-f", "body.yaml"];
    let shown = [
        "Changed:\n  daily/AWS.Logs/LogGroup/audit\n",
        "| MOVED |",
        "Operation ",
    ];
    desk.ucp(&deploy).await.prints(0, &shown);
    let again = desk.ucp(&deploy).await;
    again.prints(0, &["Nothing to refactor.\n"]);
    let changed = changed.replace("Days: 14", "Days: 30");
    desk.write("body.yaml", &changed);
    // Also if nothing moves.
    desk.ucp(&deploy)
        .await
        .prints(0, &["Changed:", "Operation "]);
    desk.write("body.yaml", &changed.replace("Days: 30", "Days: nope"));
    desk.ucp(&deploy).await.fails(&["RetentionInDays"]);
}

/// Nothing is asked but the files: there is no server.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_compared_without_a_server() {
    let desk = Desk::new().await;
    desk.write("old.yaml", &renamed("logs"));
    desk.write("new.yaml", &renamed("audit"));
    desk.write("maps.json", "{}");
    let offline = async |more: &[&str]| {
        let mut ucp = desk.command(env!("CARGO_BIN_EXE_ucp"));
        ucp.env("UCP_SERVER", "http://127.0.0.1:9");
        let files = [
            "refactor",
            "--offline",
            "--from",
            "old.yaml",
            "-f",
            "new.yaml",
        ];
        ucp.args(files).args(more);
        run(ucp, "").await
    };
    let moves = "AWS::Logs::LogGroup  daily/logs  daily/audit\n";
    offline(&[]).await.prints(0, &[moves]);
    offline(&["--detailed-exitcode"]).await.prints(2, &[moves]);
    let told = offline(&["--json"]).await.prints(0, &[]).json();
    assert_eq!(told["moves"][0]["reason"], "Identity");
    let recorded = ["--mapping-file", "maps.json", "--record", "to-audit"];
    offline(&recorded).await.prints(0, &[moves]);
    let mut cat = desk.command("cat");
    cat.arg("maps.json");
    run(cat, "").await.prints(0, &["\"id\": \"to-audit\""]);
    desk.write("old.yaml", "groups: [{name: daily}]");
    offline(&[])
        .await
        .fails(&["old.yaml", "resources is required"]);
}

/// What `ucp apply` takes, `ucp refactor` takes too.
#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_a_set_is_refactored() {
    let desk = Desk::new().await;
    let logs = |alias: &str| {
        let name = "{$concat: [of-, {$reference: base/AWS.SQS/Queue/jobs#/QueueName}]}";
        format!(
            "- {{alias: {alias}, type: AWS.Logs/LogGroup, properties: {{LogGroupName: {name}}}}}\n"
        )
    };
    let base = "- {alias: jobs, type: AWS.SQS/Queue, properties: {QueueName: jobs}}\n";
    desk.write("base.yaml", base);
    let apply = ["apply", "-y", "-g", "base", "-f", "base.yaml"];
    desk.ucp(&apply).await.prints(0, &[]);
    let gone = "- {alias: gone, type: AWS.SQS/Queue, delete: true}\n";
    let set = "mode: Complete\noutputs: {name: {$reference: logs}}\nresources:\n";
    desk.write("old.yaml", &format!("{set}{}{gone}", logs("logs")));
    desk.write("new.yaml", &format!("{}---\n{gone}", logs("audit")));
    let apply = ["apply", "-y", "-f", "old.yaml"];
    desk.ucp(&apply).await.prints(0, &[]);
    let moves = "AWS::Logs::LogGroup  daily/logs  daily/audit\n";
    let new = ["refactor", "-y", "-g", "daily", "-f", "new.yaml"];
    let offline = [&new[..], &["--offline", "--from", "old.yaml"]].concat();
    desk.ucp(&offline).await.prints(0, &[moves]);
    let old = ["refactor", "-y", "-g", "daily", "-f", "old.yaml"];
    desk.ucp(&old).await.prints(0, &["Nothing to refactor."]);
    desk.ucp(&new).await.prints(0, &[moves]);
    desk.write(
        "new.yaml",
        &format!(
            "{}---\n- {{alias: x, type: A.B/C, nope: 1}}\n",
            logs("audit")
        ),
    );
    let refused = desk.ucp(&new).await;
    refused.fails(&["new.yaml (document 2)", "nope"]);
}

/// Nothing tells which of two is which.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_ambiguous_or_refused_is_told_and_moves_nothing() {
    let desk = Desk::new().await;
    let vpcs = |names: [&str; 2]| {
        let vpc = |name| {
            format!(
                "- alias: {name}\n  type: AWS.EC2/VPC\n  properties: {{CidrBlock: 10.0.0.0/16}}\n"
            )
        };
        format!("resources:\n{}", names.map(vpc).concat())
    };
    desk.write("vpcs.yaml", &vpcs(["a", "b"]));
    let apply = ["apply", "-y", "-f", "vpcs.yaml"];
    desk.ucp(&apply).await.prints(0, &[]);
    desk.write("body.yaml", &vpcs(["c", "d"]));
    let all = ["refactor", "-y", "-g", "daily", "-f", "body.yaml"];
    let told = desk.ucp(&all).await;
    let told = told.prints(
        3,
        &["Detected ambiguities:\n  - daily/AWS.EC2/VPC/a\n  - daily/AWS.EC2/VPC/b\n  + daily/AWS.EC2/VPC/c\n  \
           + daily/AWS.EC2/VPC/d\n    Identical\n"],
    );
    assert!(told.err.contains("onAmbiguity"), "{}", told.err);
    let mapping =
        "{\"moves\": [{\"from\": \"daily/AWS.EC2/VPC/x\", \"to\": \"daily/AWS.EC2/VPC/c\"}]}";
    desk.write("maps.json", mapping);
    let mapped = [&all[..], &["--mapping-file", "maps.json"]].concat();
    let refused = desk.ucp(&mapped).await;
    let refused = refused.fails(&["nothing moves"]);
    assert!(refused.out.contains("SourceMissing"), "{}", refused.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_may_come_from_standard_input_and_its_place_from_flags() {
    let desk = Desk::new().await;
    let several = format!(
        "{LOGS}---\n{}",
        LOGS.replace("logs", "more").replace("daily", "other")
    );
    let run = desk
        .ucp_reading(&several, &["apply", "-y", "-f", "-"])
        .await;
    run.prints(0, &["Resources: 2 to create."]);
    desk.ucp(&["what-if", "--detailed-exitcode", "-f", "logs.yaml"])
        .await
        .prints(0, &["Nothing to do: 1 as declared.\n"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_applied_unless_somebody_agrees() {
    let desk = Desk::new().await;
    let unasked = desk.ucp(&["apply", "-f", "logs.yaml"]).await;
    unasked.fails(&["there is no terminal to ask on", "--yes"]);
    // Where there is no group, all is new.
    let first = desk.ucp(&["what-if", "-f", "logs.yaml"]).await;
    first.prints(0, &["will be created", "1 to create"]);

    let refused = desk.ucp_on_a_terminal("n", "apply -f logs.yaml").await;
    refused.prints(
        1,
        &[
            "will be created",
            "Apply these changes?",
            "Nothing is applied.",
        ],
    );
    // Not even the group was made.
    let group = "/planes/radius/local/resourceGroups/daily";
    let missing = desk.ucp(&["get", group]).await;
    missing.fails(&["The resource group 'daily' does not exist."]);
    let still = ["what-if", "--detailed-exitcode", "-f", "logs.yaml"];
    desk.ucp(&still).await.prints(2, &["1 to create"]);
    let agreed = desk.ucp_on_a_terminal("y", "apply -f logs.yaml").await;
    agreed.prints(0, &["Succeeded after"]);
    desk.ucp(&still).await.prints(0, &[]);
}

/// The server closes a connection on which no request begins for ten seconds, and the command does not fail for that. Time is what
/// is tried here.
#[tokio::test(flavor = "multi_thread")]
async fn who_reads_a_plan_for_long_can_still_agree() {
    let desk = Desk::new().await;
    let reading = || tokio::time::sleep(Duration::from_secs(12));
    let question = "Apply these changes?";
    let agreed = desk
        .ucp_asking(question, "apply -f logs.yaml", reading())
        .await;
    agreed.prints(0, &["Succeeded after"]);
    desk.write("body.yaml", &renamed("audit"));
    let question = "Do you want to refactor these resources?";
    let agreed = desk
        .ucp_asking(question, "refactor -f body.yaml", reading())
        .await;
    agreed.prints(0, &["MOVED"]);
}

/// Somebody else changes the resource while the question is on the screen.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_shown_is_not_applied() {
    let Some(database) = ucp_store_sql::testing::migrated_database().await else {
        return;
    };
    let desk = Desk::over(&database.url()).await;
    let made = desk.ucp(&["apply", "-y", "-f", "logs.yaml"]).await;
    made.prints(0, &["AWS.Logs/LogGroup logs: Succeeded after "]);
    desk.write(
        "logs.yaml",
        &LOGS.replace("RetentionInDays: 7", "RetentionInDays: 14"),
    );
    let client = Client::new(&desk.url, ACCOUNT);
    let path =
        "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/daily";
    let hot_fix = async {
        let body = r#"{"properties":{"RetentionInDays":30}}"#;
        let fixed = client.call("PUT", path, body).await;
        client.follow(&fixed.status_url.expect("a status")).await;
    };
    let question = "Apply these changes?";
    let stale = desk
        .ucp_asking(question, "apply -f logs.yaml", hot_fix)
        .await;
    let told = [
        "/RetentionInDays: 7 -> 14",
        "StalePlan",
        "Something has changed since the changes were shown, so nothing is applied.",
    ];
    stale.prints(1, &told);
    let live = client.call("GET", path, "").await;
    assert_eq!(
        live.body["properties"]["RetentionInDays"], 30,
        "{}",
        live.text
    );
    let again = desk.ucp_on_a_terminal("y", "apply -f logs.yaml").await;
    again.prints(0, &["/RetentionInDays: 30 -> 14", "Succeeded after"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_told_where_they_were_written() {
    let desk = Desk::new().await;
    desk.ucp(&["apply", "-y", "-f", "logs.yaml"])
        .await
        .prints(0, &[]);
    desk.write(
        "wrong.yaml",
        "- {alias: a, type: AWS.EC2/VPC, properties: {CidrBlock: 5}}\n",
    );
    desk.write(
        "too.json",
        r#"{"alias": "b", "type": "AWS.EC2/VPC", "properties": {"Cidr": "x"}}"#,
    );
    let wrong = ["what-if", "-f", "wrong.yaml", "too.json"];
    let wrong = desk.ucp(&wrong).await.fails(&[
        "ucp: InvalidRequest: ",
        "\n  wrong.yaml /0/properties/CidrBlock: ",
        "\n  too.json /properties/Cidr: ",
        &format!("\nSee {}/docs/errors/InvalidRequest\n", desk.url),
    ]);
    assert_eq!(wrong.out, "");

    // What only the look shows is told with the changes.
    desk.write("logs.yaml", &LOGS.replace("daily", "other"));
    let replaced = desk.ucp(&["what-if", "--detailed-exitcode", "-f", "logs.yaml"]);
    let replaced = replaced.await.fails(&["RequiresReplacement"]);
    assert!(
        replaced.out.contains("# forces replacement"),
        "{}",
        replaced.out
    );

    // A mistake in the command is not taken for a change.
    for arguments in [
        &["apply"][..],
        &["what-if", "--no"],
        &["apply", "-f", "missing"],
    ] {
        assert_eq!(desk.ucp(arguments).await.code, Some(1), "{arguments:?}");
    }
    let nobody = [
        "what-if",
        "-f",
        "logs.yaml",
        "--server",
        "http://127.0.0.1:9",
    ];
    let nobody = desk.ucp(&nobody).await;
    nobody.fails(&["ucp: cannot reach the server at http://127.0.0.1:9; does it run"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_there_can_be_listed_and_deleted() {
    let desk = Desk::new().await;
    let apply = ["apply", "-y", "-f", "net.yaml", "logs.yaml"];
    desk.ucp(&apply).await.prints(0, &[]);
    let group = "/planes/radius/local/resourcegroups/daily";
    let groups = desk.ucp(&["get"]).await;
    groups.prints(
        0,
        &[
            "NAME   TYPE",
            "daily  System.Resources/resourceGroups  ",
            group,
        ],
    );

    let listed = ["get", "-g", "daily"];
    let table = desk.ucp(&listed).await.prints(0, &[]).out;
    let table: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(table[0], ["NAME", "TYPE", "IDENTIFIER", "STATE", "OWNED"]);
    assert_eq!(table[1][..2], ["net", "AWS.EC2/VPC"]);
    assert_eq!(
        table[2],
        ["logs", "AWS.Logs/LogGroup", "daily", "Succeeded", "yes"]
    );
    let json = desk.ucp(&["get", "-g", "daily", "-o", "json"]).await.json();
    let reference = json[1]["id"].as_str().expect("an id");
    let one = desk.ucp(&["get", reference, "-o", "json"]).await.json();
    assert_eq!(one["id"], json[1]["id"]);
    let logs =
        "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup";
    let live = format!("{logs}/daily");
    let live = desk.ucp(&["get", &live]).await;
    live.prints(0, &["daily  AWS.Logs/LogGroup  /planes/aws/"]);
    let all = desk.ucp(&["get", logs, "-o", "table"]).await;
    all.prints(0, &["NAME   TYPE", "daily  AWS.Logs/LogGroup  "]);

    let nowhere = format!("{logs}/nowhere");
    desk.ucp(&["get", &nowhere])
        .await
        .fails(&["ucp: NotFound: "]);
    desk.ucp(&["delete", reference])
        .await
        .fails(&["no terminal to ask on"]);
    let both = format!("delete {reference} {nowhere}");
    let refused = desk.ucp_on_a_terminal("n", &both);
    refused
        .await
        .prints(1, &["Delete these 2?", "Nothing is deleted."]);
    // What is not there stops nothing.
    let deleted = desk.ucp(&["delete", "--yes", &nowhere, reference]).await;
    let told = [
        "nowhere: there is nothing to delete\n",
        "AWS.Logs/LogGroup logs: deleted\n",
    ];
    deleted.prints(0, &told);
    desk.ucp(&["get", reference]).await.fails(&["NotFound"]);
    let gone = desk.ucp(&["delete", "-y", group]).await;
    gone.prints(0, &["daily: deleted\n"]);
    desk.ucp(&listed)
        .await
        .fails(&["The resource group 'daily' does not exist."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_exists_is_imported_under_an_alias() {
    let desk = Desk::new().await;
    desk.ucp(&["apply", "-y", "-f", "logs.yaml"])
        .await
        .prints(0, &[]);
    let import = [
        "import",
        "AWS::Logs::LogGroup",
        "daily",
        "--alias",
        "second",
    ];
    let imported = desk.ucp(&import).await;
    imported.prints(
        0,
        &["second  AWS.Logs/LogGroup  daily       Succeeded  no\n"],
    );
    let json = desk
        .ucp(&[&import[..4], &["third", "-o", "json"]].concat())
        .await
        .json();
    assert_eq!(json["mapsTo"]["primaryIdentifier"], "daily");
    let missing = [
        "import",
        "AWS.Logs/LogGroup",
        "nowhere",
        "--alias",
        "fourth",
    ];
    desk.ucp(&missing).await.fails(&["NotFound"]);
    // Only the first one owns it.
    let tracked =
        "/planes/radius/local/resourcegroups/daily/providers/AWS.Logs/LogGroup:reference/second";
    let forgotten = desk.ucp(&["delete", "-y", tracked]).await;
    forgotten.prints(
        0,
        &["second: forgotten; what it stood for is kept in AWS\n"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_is_watched_until_it_ends() {
    let no_queue = r#"{"match":{"operation":"CreateResource","typeName":"AWS::SQS::Queue"},"effect":{"kind":"refuse","exception":"ValidationException"}}"#;
    let desk = Desk::with(&["--simulator-fault", no_queue]).await;
    desk.ucp(&["apply", "-y", "-f", "logs.yaml"])
        .await
        .prints(0, &[]);
    let client = Client::new(&desk.url, ACCOUNT);
    let group = "/planes/radius/local/resourceGroups/daily";
    let body = r#"{"scope":"/planes/aws/aws/accounts/123456789012/regions/us-west-2","resources":[
        {"alias":"vpc","type":"AWS.EC2/VPC","properties":{"CidrBlock":"10.1.0.0/16"}}],"outputs":{"a":[1]}}"#;
    let accepted = client.call("POST", &format!("{group}/:apply"), body).await;
    let url = accepted.status_url.expect("a status");
    let uuid = url.rsplit('/').next().expect("a UUID");
    let watched = desk.ucp(&["watch", uuid]).await;
    let told = [
        "AWS.EC2/VPC vpc: Succeeded after ",
        "applyGroup: Succeeded\n",
        "\nOutputs:\n    a: [1]\n",
    ];
    watched.prints(0, &told);
    let json = desk.ucp(&["watch", &url, "-o", "json"]).await.json();
    assert_eq!(json["name"], uuid);

    // One resource tells its phases.
    let queues = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.SQS/Queue";
    let put = r#"{"properties":{"QueueName":"jobs"}}"#;
    let accepted = client.call("POST", &format!("{queues}/:put"), put).await;
    let url = accepted.status_url.expect("a status");
    let vpcs = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC";
    let put =
        r#"{"properties":{"CidrBlock":"10.2.0.0/16","Tags":[{"Key":"aws:mine","Value":"x"}]}}"#;
    let tagged = client.call("POST", &format!("{vpcs}/:put"), put).await;
    let watched = desk
        .ucp(&["watch", &tagged.status_url.expect("a status")])
        .await;
    let watched = watched.prints(0, &["put: Succeeded\n"]);
    assert!(
        watched.err.contains("Warning: AWS.EC2/VPC vpc-"),
        "{}",
        watched.err
    );
    let failed = desk
        .ucp(&["watch", &url])
        .await
        .prints(1, &["put: Failed\n"]);
    failed.fails(&["ValidationException", "/docs/errors/ValidationException"]);

    desk.write(
        "queue.yaml",
        "alias: jobs\ntype: AWS.SQS/Queue\nproperties: {QueueName: jobs}\n",
    );
    let applied = desk.ucp(&["apply", "-y", "-f", "queue.yaml"]).await;
    let applied = applied.prints(1, &["AWS.SQS/Queue jobs: Failed after "]);
    applied.fails(&["ucp: ApplyFailed: ", "ValidationException"]);
    desk.ucp(&["watch", "/planes/radius/local"])
        .await
        .fails(&["is not the status of an operation"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn types_are_listed_and_explained() {
    // A type that only the server knows.
    let schemas = tempfile::tempdir().expect("a folder");
    let schema = r#"{"typeName": "Ours::Team::Thing", "description": "A thing of ours.", "primaryIdentifier": ["/properties/Name"],
        "properties": {"Name": {"type": "string"}, "Secret": {"type": "object", "properties": {"Key": {"type": "string"}}}},
        "required": ["Name"], "createOnlyProperties": ["/properties/Name"], "writeOnlyProperties": ["/properties/Secret/Key"],
        "handlers": {"create": {}, "read": {}, "delete": {}}, "additionalProperties": false}"#;
    fs::write(schemas.path().join("thing.json"), schema).expect("a file");
    let path = schemas.path().to_str().expect("text");
    let desk = Desk::with(&["--schema-dir", path]).await;
    let things = desk.ucp(&["types", "team::th"]).await.prints(0, &[]);
    assert_eq!(things.out, "Ours.Team/Thing\n");
    let vpcs = desk.ucp(&["types", "EC2/VPC", "-o", "json"]).await.json();
    assert!(
        vpcs.as_array()
            .expect("a list")
            .contains(&"AWS.EC2/VPC".into())
    );
    let thing = desk.ucp(&["explain", "Ours.Team/Thing"]).await;
    thing.prints(0, &[
        "Ours.Team/Thing\nA thing of ours.\nHandlers: create, read, delete\nIdentifier: /Name\n\n",
        "/Name        string  required, createOnly\n",
        "/Secret/Key  string  writeOnly\n",
    ]);
    let inside = desk.ucp(&["explain", "AWS.EC2/VPC/Tags"]).await;
    inside.prints(0, &["/Tags/*/Key    string  required\n"]);
    let other = desk.ucp(&["explain", "AWS.EC2/VCP"]).await;
    other.fails(&["TypeNotFoundException"]);

    // Without an account, what is built in.
    let alone = async |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ucp"));
        command
            .args(arguments)
            .env_remove("UCP_ACCOUNT")
            .env_remove("UCP_REGION");
        run(command, "").await
    };
    let built_in = alone(&["types", "ec2/vpc"])
        .await
        .prints(0, &["AWS.EC2/VPC\n"]);
    assert!(
        built_in.err.starts_with("This is built into this ucp."),
        "{}",
        built_in.err
    );
    let told = alone(&["explain", "AWS.EC2/Subnet/VpcId"]).await;
    told.prints(0, &["/VpcId    string  required, createOnly\n"]);
    alone(&["explain", "AWS.EC2/VCP"])
        .await
        .fails(&["Did you mean AWS.EC2/VPC?"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn shells_complete_and_manuals_describe_the_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let ucp = async |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ucp"));
        command.args(arguments).current_dir(folder.path());
        run(command, "").await
    };
    for (shell, part) in [
        ("bash", "complete -F _ucp"),
        ("zsh", "#compdef ucp"),
        ("fish", "complete -c ucp"),
    ] {
        ucp(&["completions", shell])
            .await
            .prints(0, &[part, "what-if"]);
    }
    // The shell itself reads it.
    let script = ucp(&["completions", "bash"]).await.out;
    let mut bash = Command::new("bash");
    bash.args(["-c", "source /dev/stdin && complete -p ucp"]);
    run(bash, &script).await.prints(0, &["-F _ucp"]);

    ucp(&["man", "pages"]).await.prints(0, &[]);
    let page =
        |name: &str| fs::read_to_string(folder.path().join("pages").join(name)).expect("a page");
    assert!(
        page("ucp.1").contains("ucp\\-apply(1)"),
        "{}",
        page("ucp.1")
    );
    assert!(page("ucp-what-if.1").contains("detailed\\-exitcode"));
    fs::write(folder.path().join("file"), "").expect("a file");
    ucp(&["man", "file"])
        .await
        .fails(&["ucp: cannot write to file"]);
}

/// Over TLS, with a token, as to a server on another machine.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_knows_the_caller_by_a_token_over_tls() {
    let files = Files::new();
    files.issue("ca", &[("server", "127.0.0.1")]);
    let (_simulator, aws) = Process::simulator("50ms").await;
    let database = files.database();
    let tls = [
        files.argument("--tls-cert", "server.crt"),
        files.argument("--tls-key", "server.key"),
    ];
    let arguments = [&tls[0], &tls[1], "--require-authentication"];
    let (_server, url) = Process::serve_with(&arguments, &database, &aws, ACCOUNT).await;
    let url = url.replace("http://", "https://");
    let made = Command::new(env!("CARGO_BIN_EXE_ucp"))
        .args(["token", "create", "--name=ci", "--role=owner", "--scope=/"])
        .args(["--database-url", &database])
        .output();
    let token = Run::of(made.expect("the binary starts")).prints(0, &[]).out;
    let (folder, ca) = (tempfile::tempdir().expect("a folder"), files.path("ca.crt"));
    let logs = folder.path().join("logs.yaml");
    fs::write(&logs, LOGS).expect("a file");
    fs::write(folder.path().join("token"), &token).expect("a file");
    let apply = async |more: &[&str], variable: (&str, &str)| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ucp"));
        command
            .args([
                "apply",
                "-y",
                "-g",
                "daily",
                "--account",
                ACCOUNT,
                "--region",
                "us-west-2",
            ])
            .args(["--server", &url, "-f"])
            .arg(&logs)
            .args(more)
            .env(variable.0, variable.1)
            .current_dir(folder.path());
        run(command, "").await
    };
    let (trusting, path) = (["--ca", &ca[..]], Path::new("token"));
    let unknown = apply(&trusting, ("TERM", "xterm")).await;
    unknown.fails(&["AuthenticationFailed"]);
    let stranger = apply(&[], ("UCP_TOKEN", token.trim())).await;
    stranger.fails(&["cannot reach the server", "certificate"]);
    let known = apply(&trusting, ("UCP_TOKEN", token.trim())).await;
    known.prints(0, &["1 to create"]);
    let kept = apply(&trusting, ("UCP_TOKEN_FILE", path.to_str().expect("text"))).await;
    kept.prints(0, &["Nothing to do"]);
    // The token of the data directory is for the server that runs on it, and for no other.
    let lost = apply(&trusting, ("UCP_DATA_DIR", ".")).await;
    lost.fails(&["AuthenticationFailed"]);
    std::fs::write(folder.path().join("server"), &url).expect("it is written");
    let found = apply(&trusting, ("UCP_DATA_DIR", ".")).await;
    found.prints(0, &["Nothing to do"]);
}

/// What lives on is not said to be deleted, and who owns it is told.
#[tokio::test(flavor = "multi_thread")]
async fn what_others_stand_for_is_told_to_be_forgotten() {
    let desk = Desk::new().await;
    let apply = ["apply", "-y", "-f", "logs.yaml"];
    desk.ucp(&apply).await.prints(0, &[]);
    let import = ["import", "AWS.Logs/LogGroup", "daily", "--alias", "second"];
    desk.ucp(&import).await.prints(0, &[]);
    desk.write(
        "gone.yaml",
        "{alias: logs, type: AWS.Logs/LogGroup, delete: true, onShared: release}\n",
    );
    let told = desk
        .ucp(&["what-if", "-o", "json", "-f", "gone.yaml"])
        .await;
    let told = told.json();
    let plan = told["properties"]["planId"].as_str().expect("a plan");
    let logs =
        "/planes/radius/local/resourcegroups/daily/providers/AWS.Logs/LogGroup:reference/logs";
    let forgotten = desk.ucp(&["delete", "-y", "--plan", plan, logs]).await;
    let text = "AWS.Logs/LogGroup logs: forgotten; what it stood for is kept in AWS\n";
    let forgotten = forgotten.prints(0, &[text]);
    let warning = "Warning: AWS.Logs/LogGroup logs: Other references stand for the resource";
    let warns = |err: &str| err.contains(warning) && err.contains("nobody does from now on");
    assert!(warns(&forgotten.err), "{}", forgotten.err);

    // By a set.
    desk.ucp(&apply).await.prints(0, &[]);
    let gone = desk.ucp(&["apply", "-y", "-f", "gone.yaml"]).await;
    let gone = gone.prints(0, &["logs: Succeeded"]);
    assert!(warns(&gone.err), "{}", gone.err);
    let live =
        "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/daily";
    desk.ucp(&["get", live]).await.prints(0, &["daily"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_released_is_kept_in_aws() {
    let desk = Desk::new().await;
    let apply = ["apply", "-y", "-f", "logs.yaml"];
    desk.ucp(&apply).await.prints(0, &[]);
    desk.write("second.yaml", &LOGS.replace("alias: logs", "alias: second"));
    let second = ["apply", "-y", "-f", "second.yaml"];
    desk.ucp(&second).await.prints(0, &[]);
    let group = "/planes/radius/local/resourcegroups/daily";
    let id = |alias: &str| format!("{group}/providers/AWS.Logs/LogGroup:reference/{alias}");
    let (logs, second, gone) = (id("logs"), id("second"), id("gone"));
    desk.ucp(&["release", &logs])
        .await
        .fails(&["no terminal to ask on"]);
    desk.ucp(&["release", "-y", group])
        .await
        .fails(&["not the id of a reference, so nothing is released"]);
    let released = desk.ucp(&["release", "-y", &logs]).await;
    let kept = "forgotten; what it stood for is kept in AWS.";
    let told = format!("AWS.Logs/LogGroup logs: {kept} 'second' owns the resource from now on.\n");
    released.prints(0, &[&told]);
    // One that is not there stops nothing.
    let released = desk.ucp(&["release", "-y", &gone, &second]).await;
    let told = format!("AWS.Logs/LogGroup second: {kept} Nobody owns the resource from now on.");
    released.prints(1, &[&told]);
    let live =
        "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/daily";
    desk.ucp(&["get", live]).await.prints(0, &["daily"]);
}
