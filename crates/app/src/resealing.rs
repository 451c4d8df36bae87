//! A change of the encryption key: everything is sealed anew while servers run.
//!
//! Nothing is remembered between the pages of a walk. Each value says under which key it is, and is replaced only while
//! it is still what was read, so a walk may break off anywhere, run twice at once, or begin again.

use std::collections::BTreeMap;

use ucp_model::{Entropy, Timestamp};
use ucp_seal::{AssociatedData, DigestKey, Keyring, sealed_under};
use ucp_store::{Error, Sealed, SealedKey, SealedPlace, SealedValues};

/// How many values are read at once.
const PAGE: usize = 64;
/// Under which key a value is counted that does not say so.
const UNREADABLE: &str = "unreadable";

/// How many values are sealed under each encryption key, by the key's id.
pub async fn count_sealed(store: &dyn SealedValues) -> Result<BTreeMap<String, u64>, Error> {
    let mut counts = BTreeMap::new();
    let mut page = store.list_sealed(None, PAGE).await?;
    while let Some((reached, _)) = page.last() {
        for (_, sealed) in &page {
            *counts.entry(key_of(sealed)).or_default() += 1;
        }
        page = store.list_sealed(Some(reached), PAGE).await?;
    }
    Ok(counts)
}

/// Seals under the ring's current key what its other keys have sealed, and tells how many values that were. What does
/// not open, and what changes meanwhile, stays as it is.
pub async fn reseal(
    store: &dyn SealedValues,
    ring: &Keyring,
    entropy: &dyn Entropy,
) -> Result<u64, Error> {
    let current = ring.current_id();
    let mut resealed = 0;
    let mut page = store.list_sealed(None, PAGE).await?;
    while let Some((reached, _)) = page.last() {
        for (at, old) in page.iter().filter(|(_, old)| key_of(old) != current) {
            let data = associated_data(at);
            let plaintext = match ring.open(data, &old.0) {
                Ok(plaintext) => plaintext,
                Err(error) => {
                    tracing::warn!(place = %data, error = %error, "a sealed value does not open");
                    continue;
                }
            };
            let new = Sealed(ring.seal(data, &plaintext, entropy));
            resealed += u64::from(store.reseal(at, old, new).await?);
        }
        page = store.list_sealed(Some(reached), PAGE).await?;
    }
    Ok(resealed)
}

/// Starts a new digest key, and tells its id. What was digested under the old one can be compared with nothing any more,
/// so the next put of an alias with write-only values sends them again.
pub async fn start_digest_key(
    store: &dyn SealedValues,
    ring: &Keyring,
    entropy: &dyn Entropy,
    now: Timestamp,
) -> Result<String, Error> {
    let fresh = DigestKey::generate(entropy);
    let new = SealedKey {
        id: fresh.id().to_owned(),
        key: Sealed(fresh.seal(ring, entropy)),
    };
    store.replace_digest_key(new, now).await?;
    Ok(fresh.id().to_owned())
}

fn key_of(sealed: &Sealed) -> String {
    sealed_under(&sealed.0).unwrap_or_else(|_| UNREADABLE.to_owned())
}

fn associated_data(place: &SealedPlace) -> AssociatedData<'_> {
    match place {
        SealedPlace::Credential(id) => AssociatedData::Credential(id),
        SealedPlace::Desired(id) => AssociatedData::Desired(*id),
        SealedPlace::DigestKey(id) => AssociatedData::DigestKey(id),
        SealedPlace::Document(id) => AssociatedData::Document(*id),
    }
}
