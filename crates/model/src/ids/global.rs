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
