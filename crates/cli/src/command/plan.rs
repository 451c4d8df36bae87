use std::fmt;
use std::str::FromStr;

use crate::id::Group;

/// The id of a plan, as it was printed.
#[derive(Clone, Debug)]
pub(crate) struct PlanId(String);

impl FromStr for PlanId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let is_part = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        if !text.is_empty() && text.bytes().all(is_part) {
            Ok(Self(text.to_owned()))
        } else {
            Err("expected the UUID of a plan")
        }
    }
}

impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The path of a plan about a group.
pub(super) fn plan_path(plan: &str, group: &Group) -> String {
    let plane = group.plane();
    format!("/planes/radius/{plane}/providers/System.Resources/plans/{plan}")
}
