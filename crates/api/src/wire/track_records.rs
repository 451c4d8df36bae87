use serde::Serialize;
use ucp_model::TrackRecord;
use utoipa::ToSchema;

/// How good the plans of the puts of a type were.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PredictionBody {
    /// The type.
    #[schema(example = "AWS::EC2::VPC")]
    name: String,
    /// How good they were.
    properties: TrackRecordBody,
}

/// How good the plans of the puts of a type were: each put that has sent something and can be read counts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TrackRecordBody {
    /// How many plans were compared with what AWS showed afterwards.
    #[schema(example = 120)]
    applies: u64,
    /// After how many of them AWS showed exactly what was planned.
    #[schema(example = 119)]
    exact: u64,
    /// The share of these, from 0 to 1.
    #[schema(example = 0.9917)]
    accuracy: f64,
}

impl From<TrackRecord> for PredictionBody {
    fn from(record: TrackRecord) -> Self {
        Self {
            name: record.type_name.to_string(),
            properties: TrackRecordBody::from(&record),
        }
    }
}

impl From<&TrackRecord> for TrackRecordBody {
    fn from(record: &TrackRecord) -> Self {
        Self {
            applies: record.applies,
            exact: record.exact,
            accuracy: record.accuracy(),
        }
    }
}
