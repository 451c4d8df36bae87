//! What is good to know of a file: which plan changes leave an instance without a resource for a while.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers are test code too, which panics on failure"
)]

use ucp_offerings::{Offerings, SourceFile};
use ucp_schema::Catalogue;

/// Reads a file with two plans, and returns what is noted of it. `resources` has 12 lines or fewer.
fn noted(resources: &str, edge: &str, presets: &str) -> Vec<String> {
    let text = format!(
        r#"name = "mail"
id = "s-1"
description = "Mail"

[[plans]]
id = "p-1"
name = "plain"
description = "Plain"
{edge} = ["fifo"]
parameters = {{}}

[[plans]]
id = "p-2"
name = "fifo"
description = "In order"
{presets}

{resources}
"#
    );
    let name = "a.toml".to_owned();
    let offerings = Offerings::read(&[SourceFile { name, text }], &Catalogue::embedded()).unwrap();
    offerings.notes().iter().map(ToString::to_string).collect()
}

fn note(name: &str) -> String {
    format!(
        "a.toml:9: `{name}` has a name of its own: a change of the plan deletes the old one first, with what is in it, and until the new one stands there is none"
    )
}

const FIFO: &str = "presets.queue.FifoQueue = true";

#[test]
fn what_is_replaced_and_has_a_name_of_its_own_goes_first() {
    let names = [
        r#""m-((instance_id)).fifo""#,
        r#""((random/name))""#,
        r#""m-((topic/TopicName))""#,
        r#""((topic/TopicName))""#,
    ];
    for name in names {
        let resources = format!(
            "[resources]\ntopic = {{ type = \"AWS::SNS::Topic\" }}\n[resources.queue]\ntype = \"AWS::SQS::Queue\"\nproperties.QueueName = {name}"
        );
        assert_eq!(noted(&resources, "replaces_to", FIFO), [note("queue")]);
    }
    let parameter = "[resources.queue]\ntype = \"AWS::SQS::Queue\"\n[parameters.name]\nat = \"queue/QueueName\"";
    assert_eq!(noted(parameter, "replaces_to", FIFO), [note("queue")]);
    // The name is the identifier.
    let bucket = "[resources.bucket]\ntype = \"AWS::S3::Bucket\"\nproperties.BucketName = \"b-((instance_id))\"";
    let locked = "presets.bucket.BucketNamePrefix = \"b\"";
    assert_eq!(noted(bucket, "replaces_to", locked), [note("bucket")]);
}

#[test]
fn what_refers_to_a_replaced_one_at_a_fixed_place_is_replaced_too() {
    let resources = r#"[resources.queue]
type = "AWS::SQS::Queue"
[resources.role]
type = "AWS::IAM::Role"
properties.RoleName = "r-((queue/QueueName))"
properties.AssumeRolePolicyDocument = { Statement = [] }
[resources.topic]
type = "AWS::SNS::Topic"
properties.TopicName = "t-((instance_id))"
properties.DisplayName = "((role/Arn))""#;
    assert_eq!(noted(resources, "replaces_to", FIFO), [note("role")]);
}

#[test]
fn nothing_is_noted_of_what_stays_or_is_made_first() {
    let nameless = "[resources.queue]\ntype = \"AWS::SQS::Queue\"";
    assert_eq!(noted(nameless, "replaces_to", FIFO), [""; 0]);
    let named = "[resources.queue]\ntype = \"AWS::SQS::Queue\"\nproperties.QueueName = \"q\"";
    let updated = "presets.queue.VisibilityTimeout = 60";
    assert_eq!(noted(named, "replaces_to", updated), [""; 0]);
    assert_eq!(noted(named, "updates_to", updated), [""; 0]);
}
