use async_trait::async_trait;
use ucp_model::Timestamp;

use super::Memory;
use crate::{Error, Sealed, SealedKey, SealedPlace, SealedValues, Stored};

#[async_trait]
impl SealedValues for Memory {
    async fn list_sealed(
        &self,
        after: Option<&SealedPlace>,
        limit: usize,
    ) -> Result<Vec<(SealedPlace, Stored)>, Error> {
        let mut tables = self.tables();
        let after = after.map(order);
        let mut values: Vec<(SealedPlace, Stored)> = tables
            .sealed()
            .map(|(place, sealed)| (place, sealed.clone().into()))
            .filter(|(place, _)| after.as_ref().is_none_or(|after| order(place) > *after))
            .collect();
        values.sort_by_key(|(place, _)| order(place));
        values.truncate(limit);
        Ok(values)
    }

    async fn reseal(&self, place: &SealedPlace, old: &Stored, new: Sealed) -> Result<bool, Error> {
        let mut tables = self.tables();
        let found = tables
            .sealed()
            .find(|(found, _)| order(found) == order(place));
        let unchanged = found
            .map(|(_, sealed)| sealed)
            .filter(|sealed| Stored::Sealed((**sealed).clone()) == *old);
        let resealed = unchanged.is_some();
        if let Some(sealed) = unchanged {
            *sealed = new;
        }
        Ok(resealed)
    }

    async fn ensure_digest_key(
        &self,
        candidate: SealedKey,
        _now: Timestamp,
    ) -> Result<SealedKey, Error> {
        Ok(self.tables().digest_key.get_or_insert(candidate).clone())
    }

    async fn replace_digest_key(&self, new: SealedKey, _now: Timestamp) -> Result<(), Error> {
        self.tables().digest_key = Some(new);
        Ok(())
    }
}

/// The order in which sealed values are listed: one kind after the other.
fn order(place: &SealedPlace) -> (u8, String) {
    match place {
        SealedPlace::Credential(id) => (0, id.key()),
        SealedPlace::Desired(id) => (1, id.to_string()),
        SealedPlace::DigestKey(id) => (2, id.clone()),
        SealedPlace::Document(id) => (3, id.to_string()),
        SealedPlace::Look(id) => (4, id.to_string()),
        SealedPlace::PlanContent(id) => (8, id.to_string()),
        SealedPlace::PlanDeclared(id) => (9, id.to_string()),
        // It has no such places: what it works on does not leave the process.
        SealedPlace::Baseline(lineage) => (5, lineage.to_string()),
        SealedPlace::Observed(lineage) => (6, lineage.to_string()),
        SealedPlace::Body(id) => (7, id.to_string()),
        SealedPlace::ServiceInstance(key) => (10, key.clone()),
        SealedPlace::ServiceBinding(key) => (11, key.clone()),
    }
}
