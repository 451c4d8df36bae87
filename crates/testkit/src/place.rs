//! Where scenarios are.

/// The account that scenarios use.
pub const ACCOUNT: &str = "123456789012";
/// The region that scenarios use.
pub const REGION: &str = "us-west-2";
