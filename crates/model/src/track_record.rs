use serde::{Deserialize, Serialize};

use crate::TypeName;

/// How good the plans of the puts of a type were, on one plane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrackRecord {
    /// The type.
    pub type_name: TypeName,
    /// How many puts have sent something and were compared with what AWS showed afterwards.
    pub applies: u64,
    /// How many of them came out exactly as planned.
    pub exact: u64,
}

impl TrackRecord {
    /// Returns the share of exact plans, from 0 to 1, with four decimals.
    pub fn accuracy(&self) -> f64 {
        if self.applies == 0 {
            return 1.0;
        }
        // Beyond 2^53 puts the fifth decimal is not needed either.
        #[expect(clippy::cast_precision_loss, reason = "four decimals are told")]
        let share = self.exact as f64 / self.applies as f64;
        (share * 10_000.0).round() / 10_000.0
    }
}
