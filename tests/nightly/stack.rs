//! A stack of forty resources of twenty-five types: applied, changed, renamed and deleted by somebody at a command line.

use super::desk::Desk;

const STACK: &str = include_str!("../../api/examples/stack.yaml");
const APPLY: [&str; 6] = ["apply", "--yes", "--mode", "complete", "-f", "stack.yaml"];

/// What is to move: AWS has assigned the identifiers, so a set alone does not tell that they are the same.
const MOVES: &str = r#"
groups:
  - name: daily
    resources:
      - alias: net
        type: AWS.EC2/VPC
        properties: {CidrBlock: 10.0.0.0/16, EnableDnsHostnames: true, Tags: [{Key: Name, Value: shop}]}
      - alias: inner-a
        type: AWS.EC2/Subnet
        properties: {VpcId: {$reference: AWS.EC2/VPC/net}, CidrBlock: 10.0.2.0/24, AvailabilityZone: us-west-2a}
      - alias: parcels
        type: AWS.SQS/Queue
        properties: {QueueName: shop-failed-jobs, MessageRetentionPeriod: 1209600}
moves:
  - {from: daily/AWS.EC2/Subnet/private-a, to: daily/AWS.EC2/Subnet/inner-a}
  - {from: daily/AWS.SQS/Queue/failed-jobs, to: daily/AWS.SQS/Queue/parcels}
"#;

/// Replaces each text, which must be there.
fn edited(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (before, after)| {
        assert!(text.contains(before), "no {before:?}");
        text.replace(before, after)
    })
}

async fn lives(profile: &str) {
    let desk = Desk::with(&["--profile", profile]).await;
    let apply = async |stack: &str, told: &[&str]| {
        desk.write("stack.yaml", stack);
        desk.ucp(&APPLY).await.prints(0, told)
    };
    let what_if = ["what-if", "--mode", "complete", "-f", "stack.yaml"];
    desk.write("stack.yaml", STACK);
    desk.ucp(&what_if)
        .await
        .prints(0, &["Resources: 40 to create."]);
    let made = apply(STACK, &["Resources: 40 to create.", "url: \"http://"]).await;
    assert_eq!(
        made.out.matches(": Succeeded after ").count(),
        40,
        "{}",
        made.out
    );
    apply(STACK, &["Nothing to do: 40 as declared."]).await;

    let changed = edited(
        STACK,
        &[
            ("DesiredCount: 2", "DesiredCount: 3"),
            ("VisibilityTimeout: 60", "VisibilityTimeout: 120"),
            ("maxReceiveCount: 5", "maxReceiveCount: 3"),
            ("HealthCheckPath: /health", "HealthCheckPath: /alive"),
        ],
    );
    apply(&changed, &["Resources: 3 to update, 37 as declared."]).await;

    // What has a declared identifier is found by the apply.
    let renamed = edited(
        &changed,
        &[
            ("alias: orders\n", "alias: order-table\n"),
            ("{$reference: orders}", "{$reference: order-table}"),
            ("\"orders#/", "\"order-table#/"),
            ("worker-logs", "logs-of-worker"),
        ],
    );
    let moved = apply(&renamed, &["Resources: 2 to move, 38 as declared."]).await;
    assert!(!moved.out.contains("Succeeded after"), "{}", moved.out);
    desk.write("moves.yaml", MOVES);
    let refactor = ["refactor", "--yes", "-f", "moves.yaml"];
    desk.ucp(&refactor).await.prints(0, &["MOVED"]);
    let renamed = edited(
        &renamed,
        &[
            ("alias: private-a\n", "alias: inner-a\n"),
            ("{$reference: private-a}", "{$reference: inner-a}"),
            ("alias: failed-jobs\n", "alias: parcels\n"),
            ("\"failed-jobs#/", "\"parcels#/"),
        ],
    );
    apply(&renamed, &["Nothing to do: 40 as declared."]).await;
    let group = "/planes/radius/local/resourceGroups/daily";
    let deleted = desk.ucp(&["delete", "--yes", group]).await;
    deleted.prints(0, &["daily: deleted"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_applied_changed_renamed_and_deleted_where_aws_is_honest() {
    lives("honest").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_applied_changed_renamed_and_deleted_where_aws_is_realistic() {
    lives("realistic").await;
}
