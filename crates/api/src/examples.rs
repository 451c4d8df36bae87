//! The examples of the document. Together they are a story that works against `ucp dev`, click by click: a group, a VPC
//! under an alias, a log group by its name. None changes anything that it does not name, and none has options that a
//! reader has not asked for.

use serde_json::{Value, json};

/// The example of a parameter of an operation, if it differs from that of the same parameter elsewhere.
pub(crate) fn of_parameter(operation: &str, name: &str) -> Option<&'static str> {
    Some(match (operation, name) {
        // Not a plane that is in use.
        ("put_plane" | "delete_plane", "plane") => "example",
        (
            "get_named_aws_resource"
            | "put_named_aws_resource"
            | "update_named_aws_resource"
            | "what_if_named_aws_resource"
            | "delete_named_aws_resource"
            | "import_aws_resource",
            "namespace",
        ) => "AWS.Logs",
        (
            "get_named_aws_resource"
            | "put_named_aws_resource"
            | "update_named_aws_resource"
            | "what_if_named_aws_resource"
            | "delete_named_aws_resource"
            | "import_aws_resource",
            "type",
        ) => "LogGroup",
        _ => return None,
    })
}

/// The example of the body of an operation.
pub(crate) fn of_body(operation: &str) -> Option<Value> {
    let vpc = "/planes/radius/local/resourceGroups/demo/providers/AWS.EC2/VPC:reference/my-vpc";
    let renamed = json!({
        "alias": "network", "type": "AWS.EC2/VPC", "properties": {"CidrBlock": "10.0.0.0/16"},
    });
    let tags = json!({"team": "net"});
    Some(match operation {
        "put_plane" => json!({"location": "global", "properties": {"resourceProviders": {}}}),
        "put_resource_group" => json!({"location": "global", "tags": tags}),
        "put_credential" => json!({"location": "global", "properties": {
            "kind": "AccessKey", "accessKeyId": "AKIAIOSFODNN7EXAMPLE",
            "secretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "storage": {"kind": "Internal"},
        }}),
        "put_role_assignment" => json!({"properties": {
            "group": "net", "role": "contributor",
            "scopes": ["/planes/radius/local/resourcegroups/demo", "/planes/aws/aws/accounts/123456789012"],
        }}),
        "approve_plan" | "reject_plan" => json!({
            "fingerprint": "5d41402abc4b2a76b9719d911017c592ae2f1c3d0b6e4a8f9c7d5e3b1a2f4c6d",
            "comment": "Looked at with the network team.",
        }),
        "refactor_plane" => json!({
            "mode": "plan", "scope": "/planes/aws/aws/accounts/123456789012/regions/us-west-2",
            "groups": [{"name": "demo", "resources": []}, {"name": "web", "resources": [renamed]}],
        }),
        "refactor_resource_group" => json!({
            "mode": "plan", "scope": "/planes/aws/aws/accounts/123456789012/regions/us-west-2",
            "resources": [renamed],
        }),
        "apply_refactor" | "undo_refactor" => json!({
            "fingerprint": "5d41402abc4b2a76b9719d911017c592ae2f1c3d0b6e4a8f9c7d5e3b1a2f4c6d",
        }),
        "apply_resource_group" | "validate_resource_group" | "what_if_resource_group" => json!({
            "scope": "/planes/aws/aws/accounts/123456789012/regions/us-west-2",
            "resources": [
                {"alias": "my-net", "type": "AWS.EC2/VPC", "properties": {"CidrBlock": "10.0.0.0/16"}},
                {"alias": "my-net-logs", "type": "AWS.Logs/LogGroup",
                    "properties": {"LogGroupName": {"$concat": ["of-", {"$reference": "my-net#/VpcId"}]}}},
            ],
            "outputs": {"vpc": {"$reference": "my-net"}},
        }),
        "put_aws_resource" | "validate_aws_resource" | "what_if_aws_resource" => json!({
            "alias": "my-vpc", "trackedBy": vpc, "properties": {"CidrBlock": "10.0.0.0/16"},
        }),
        "get_aws_resource" | "delete_aws_resource" => json!({"trackedBy": vpc}),
        "put_named_aws_resource" | "what_if_named_aws_resource" => {
            json!({"properties": {"RetentionInDays": 7}})
        }
        "import_aws_resource" => json!({
            "alias": "my-logs",
            "trackedBy": "/planes/radius/local/resourceGroups/demo/providers/AWS.Logs/LogGroup:reference/my-logs",
            "primaryIdentifier": "my-group",
        }),
        "import_resource_group_resources" => json!({"resources": [{
            "alias": "my-other-logs", "type": "AWS.Logs/LogGroup",
            "scope": "/planes/aws/aws/accounts/123456789012/regions/us-west-2",
            "primaryIdentifier": "my-group",
        }]}),
        "update_resource_group" | "update_reference" => json!({"tags": tags}),
        "delete_resource_group_as_said" => json!({"onShared": "release"}),
        "update_named_aws_resource" => json!({"properties": {"RetentionInDays": 14}}),
        _ => return None,
    })
}
