//! The services that are the same in every region of an account.

/// The services whose resources have no region: the global services of "AWS Fault Isolation Boundaries", appendices A to C, that have
/// resource types. Keys of AWS resources are stored: another service needs a migration, as `0048_global_services.sql` is one.
pub const GLOBAL_SERVICES: [&str; 9] = [
    "CloudFront",
    "GlobalAccelerator",
    "IAM",
    "NetworkManager",
    "Organizations",
    "Route53",
    "Route53RecoveryControl",
    "Shield",
    "WAF",
];

/// What keys name in place of a region: AWS's name for the region of an endpoint that has none.
pub(super) const PLACE: &str = "aws-global";

/// Types under which AWS shows the same resources. The API references of `CreateGlobalTable` (DynamoDB), and of `DescribeDBClusters` and
/// `DescribeDBInstances` (RDS), which return those of Neptune and DocumentDB too.
pub(super) const SAME_RESOURCES: [&[&str]; 3] = [
    &["AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"],
    &[
        "AWS::RDS::DBCluster",
        "AWS::Neptune::DBCluster",
        "AWS::DocDB::DBCluster",
    ],
    &[
        "AWS::RDS::DBInstance",
        "AWS::Neptune::DBInstance",
        "AWS::DocDB::DBInstance",
    ],
];

/// Types whose names AWS has once for all regions, although each resource is in one. The S3 user guide, on the names of buckets.
pub(super) const NAMED_ONCE: [&str; 1] = ["AWS::S3::Bucket"];
