//! How good the plans of the puts of each type were.

use async_trait::async_trait;
use ucp_model::{TrackRecord, TypeName};

use crate::rules::track_record_key;
use crate::{Error, KeyRange};

/// Storage of track records.
///
/// [`finish_operation`](crate::Operations::finish_operation) notes the [`Prediction`](ucp_model::operation::Prediction) of an
/// operation that has one. What is noted is part of the track record at once. It has a row of its own, so that operations of
/// one type that end at the same time never wait for each other, until [`count_predictions`](Self::count_predictions) adds
/// it up.
#[async_trait]
pub trait TrackRecords: Send + Sync {
    /// Returns up to `limit` track records of an aws plane in the order of their types' names in lower case, after `after`.
    async fn list_track_records(
        &self,
        plane: &str,
        after: Option<&TypeName>,
        limit: usize,
    ) -> Result<Vec<TrackRecord>, Error>;

    /// Returns the track records of these types on an aws plane, as far as there are any, in the same order.
    async fn get_track_records(
        &self,
        plane: &str,
        types: &[TypeName],
    ) -> Result<Vec<TrackRecord>, Error>;

    /// Adds up to `limit` of the predictions that were noted to the track records, and returns how many there were. That
    /// changes no track record.
    async fn count_predictions(&self, limit: usize) -> Result<u64, Error>;
}

/// Returns the keys of the track records of an aws plane after that of the type `after`.
pub fn track_record_keys(plane: &str, after: Option<&TypeName>) -> KeyRange {
    let parent = plane.to_ascii_lowercase();
    KeyRange::below(&parent, after.map(|after| track_record_key(plane, after)))
}
