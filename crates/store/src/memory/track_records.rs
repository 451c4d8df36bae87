use async_trait::async_trait;
use ucp_model::{TrackRecord, TypeName};

use super::Memory;
use super::tables::{Tables, page};
use crate::rules::{Predicted, track_record_key};
use crate::{Error, TrackRecords, track_record_keys};

#[async_trait]
impl TrackRecords for Memory {
    async fn list_track_records(
        &self,
        plane: &str,
        after: Option<&TypeName>,
        limit: usize,
    ) -> Result<Vec<TrackRecord>, Error> {
        let keys = track_record_keys(plane, after);
        Ok(page(&self.tables().track_records, keys, limit))
    }

    async fn get_track_records(
        &self,
        plane: &str,
        types: &[TypeName],
    ) -> Result<Vec<TrackRecord>, Error> {
        let tables = self.tables();
        let key = |type_name| track_record_key(plane, type_name);
        let mut keys: Vec<String> = types.iter().map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        let found = keys.iter().filter_map(|key| tables.track_records.get(key));
        Ok(found.cloned().collect())
    }

    async fn count_predictions(&self, _: usize) -> Result<u64, Error> {
        // They are added up when they are noted: here nobody waits for a row.
        Ok(0)
    }
}

impl Tables {
    /// Adds the prediction of an operation to the track record of its type.
    pub(super) fn predicted(&mut self, predicted: Predicted<'_>) {
        let record = self.track_records.entry(predicted.key);
        let record = record.or_insert_with(|| TrackRecord {
            type_name: predicted.type_name.clone(),
            applies: 0,
            exact: 0,
        });
        record.applies += 1;
        record.exact += u64::from(predicted.is_exact);
    }
}
