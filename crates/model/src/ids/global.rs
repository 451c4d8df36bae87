//! The services that are the same in every region of an account.

/// The services whose resources have no region: the global services of "AWS Fault Isolation Boundaries", appendices A to C, that have
/// resource types.
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
