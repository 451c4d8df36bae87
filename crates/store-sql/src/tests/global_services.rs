//! Rows of an earlier version, which compared the resources of global services by region.

use std::fmt::Write as _;

use ucp_model::{GLOBAL_SERVICES, Identifier, Scope, Target};

use super::{column, upgraded};
use crate::Sql;

/// A group, operations and leftovers as in version 47.
const OLD_ROWS: &str = "INSERT INTO resource_groups (key, id, location, tags, body, created_at, updated_at, revision, parent_key)
    VALUES ('group', '', 'global', '{}', '{}', 1, 1, 1, '');
    INSERT INTO operations (id, kind, status, schema_fingerprint, accepted_at, due_at, ended_at, body, generation,
        held_target_key, target_key)
    VALUES ('second', 'put', 'Accepted', '', 2, 2, NULL, '{}', 1, '1234/eu-west-1/AWS::IAM::Role/r', NULL),
        ('first', 'put', 'Accepted', '', 1, 1, NULL, '{}', 1, '1234/us-east-1/AWS::IAM::Role/r', NULL),
        ('other', 'put', 'Accepted', '', 3, 3, NULL, '{}', 1, '1234/us-east-1/AWS::S3::Bucket/r', NULL),
        ('unknown', 'put', 'Accepted', '', 4, 4, NULL, '{}', 1, NULL, NULL),
        ('ended', 'put', 'Succeeded', '', 1, 1, 5, '{}', 1, NULL, '1234/eu-west-1/AWS::IAM::Role/r');
    INSERT INTO leftovers (key, register_key, subject_key, target_key, name, plane, account, region, type_name, reason, operation,
        since, tries, next_try_at)
    VALUES ('later', 'group', '1234/us-east-1/AWS::IAM::Role/r', '1234/us-east-1/AWS::IAM::Role/r', '', '', '', '', '', '', '', 2, 0, 1),
        ('sooner', 'group', '1234/eu-west-1/AWS::IAM::Role/r', '1234/eu-west-1/AWS::IAM::Role/r', '', '', '', '', '', '', '', 1, 0, 1),
        ('undecided', 'group', '/planes/radius/local/resourcegroups/g/providers/aws.iam/role:reference/a', NULL,
            '', '', '', '', '', '', '', 1, 0, 1);";

/// References by their keys: the keys of their resources, whether they own these, whether these bear their marks, and when they were
/// claimed.
const OLD_REFERENCES: [(&str, &str, u8, u8, u8); 8] = [
    ("claimed first", "1234/us-east-1/AWS::IAM::Role/r", 1, 0, 1),
    ("marked", "1234/eu-west-1/AWS::IAM::Role/r", 1, 1, 2),
    ("no owner", "1234/us-west-2/AWS::IAM::Role/r", 0, 1, 1),
    (
        "first",
        "1234/us-west-2/AWS::IAM::Role/s/AWS::EC2::VPC/x",
        1,
        0,
        1,
    ),
    (
        "second",
        "1234/us-east-1/AWS::IAM::Role/s/AWS::EC2::VPC/x",
        1,
        0,
        2,
    ),
    (
        "of another account",
        "5678/us-east-1/AWS::IAM::Role/r",
        1,
        0,
        1,
    ),
    (
        "of a region",
        "1234/us-east-1/AWS::SQS::Queue/x/AWS::IAM::Role/r",
        1,
        0,
        1,
    ),
    (
        "of a private type",
        "1234/us-east-1/Other::IAM::Role/r",
        1,
        0,
        1,
    ),
];

fn rows() -> String {
    let mut rows = OLD_ROWS.to_owned();
    let mut reference = |key: &str, target: &str, owned: u8, marked: u8, created_at: u8| {
        write!(
            rows,
            "INSERT INTO resource_references (key, id, group_key, plane, account, region, owned, told_to_own, marked, target_key,
                provisioning_state, created_at, updated_at, revision, tags)
            VALUES ('{key}', '', 'group', '', '', '', {owned}, {owned}, {marked}, '{target}', '', {created_at}, 1, 7, '{{}}');"
        )
        .unwrap();
    };
    for (key, target, owned, marked, created_at) in OLD_REFERENCES {
        reference(key, target, owned, marked, created_at);
    }
    for service in GLOBAL_SERVICES {
        let target = format!("1234/us-west-2/AWS::{service}::Thing/x");
        reference(service, &target, 0, 0, 1);
    }
    rows
}

#[tokio::test]
async fn what_has_no_region_is_compared_without_one() {
    let (sqlite, _folder, postgres) = upgraded(47, &rows()).await;
    keys_have_no_region(sqlite).await;
    if let Some((postgres, _database)) = postgres {
        keys_have_no_region(postgres).await;
    }
}

async fn keys_have_no_region(store: Sql) {
    let role = "1234/aws-global/AWS::IAM::Role/r";
    let references = column::<String>(
        &store,
        "SELECT key || ': ' || target_key || ' ' || owned || told_to_own || ' ' || revision FROM resource_references
            WHERE key NOT IN (SELECT key FROM resource_references WHERE target_key LIKE '%::Thing/x') ORDER BY key",
    );
    assert_eq!(
        references.await,
        [
            &format!("claimed first: {role} 00 8"),
            "first: 1234/aws-global/AWS::IAM::Role/s/AWS::EC2::VPC/x 11 7",
            &format!("marked: {role} 11 7"),
            &format!("no owner: {role} 00 7"),
            "of a private type: 1234/us-east-1/Other::IAM::Role/r 11 7",
            "of a region: 1234/us-east-1/AWS::SQS::Queue/x/AWS::IAM::Role/r 11 7",
            "of another account: 5678/aws-global/AWS::IAM::Role/r 11 7",
            "second: 1234/aws-global/AWS::IAM::Role/s/AWS::EC2::VPC/x 00 8",
        ]
    );
    let operations = column::<String>(
        &store,
        "SELECT id || ': ' || COALESCE(held_target_key, '-') || ' ' || COALESCE(target_key, '-') FROM operations ORDER BY id",
    );
    assert_eq!(
        operations.await,
        [
            &format!("ended: - {role}"),
            &format!("first: {role} -"),
            "other: 1234/us-east-1/AWS::S3::Bucket/r -",
            "second: - -",
            "unknown: - -",
        ]
    );
    let leftovers = column::<String>(
        &store,
        "SELECT key || ': ' || subject_key || ' ' || COALESCE(target_key, '-') FROM leftovers ORDER BY key",
    );
    assert_eq!(
        leftovers.await,
        [
            &format!("later: 1234/us-east-1/AWS::IAM::Role/r {role}"),
            &format!("sooner: {role} {role}"),
            "undecided: /planes/radius/local/resourcegroups/g/providers/aws.iam/role:reference/a -",
        ]
    );
    for service in GLOBAL_SERVICES {
        let key = Target {
            scope: &Scope::new("aws", "1234", "us-west-2").unwrap(),
            type_name: &format!("AWS::{service}::Thing").parse().unwrap(),
            identifier: &Identifier::new("x"),
        }
        .key();
        let target = format!("SELECT target_key FROM resource_references WHERE key = '{service}'");
        assert_eq!(column::<String>(&store, &target).await, [key], "{service}");
    }
}
