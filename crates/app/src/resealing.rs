//! Rotation of the encryption key: seals everything again while servers run.
//!
//! No state is kept between the pages of a run. Each value names its key, and is replaced only if it is still the value
//! that was read. So a run may be interrupted, run twice concurrently, or start again.

use std::collections::BTreeMap;

use ucp_model::{Entropy, Timestamp};
use ucp_seal::{DigestKey, Keyring, sealed_under};
use ucp_store::{Error, Sealed, SealedKey, SealedValues, Stored};
use zeroize::Zeroizing;

use crate::cipher::associated_data;

/// The page size.
const PAGE: usize = 64;
/// The name under which values that do not name a key are counted.
const UNREADABLE: &str = "unreadable";
/// The name under which values are counted that an earlier version has stored in clear.
pub const IN_CLEAR: &str = "no key";

/// Returns the number of values sealed under each encryption key, by key id. Those that are not sealed yet are counted
/// as [`IN_CLEAR`].
pub async fn count_sealed(store: &dyn SealedValues) -> Result<BTreeMap<String, u64>, Error> {
    let mut counts = BTreeMap::new();
    let mut page = store.list_sealed(None, PAGE).await?;
    while let Some((reached, _)) = page.last() {
        for (_, stored) in &page {
            *counts.entry(key_of(stored)).or_default() += 1;
        }
        page = store.list_sealed(Some(reached), PAGE).await?;
    }
    Ok(counts)
}

/// Seals under the ring's current key every value that is in clear or sealed under another key of the ring, and returns
/// how many it replaced. A value that cannot be opened, or that changes in between, is left unchanged.
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
            let opened = match old {
                Stored::Sealed(sealed) => ring.open(data, &sealed.0),
                Stored::Clear(text) => Ok(Zeroizing::new(text.clone().into_bytes())),
            };
            let plaintext = match opened {
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

/// Starts a new digest key and returns its id. Digests made with the old one are no longer comparable, so the next put
/// of an alias with write-only values sends them again.
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

fn key_of(stored: &Stored) -> String {
    match stored {
        Stored::Sealed(sealed) => sealed_under(&sealed.0).unwrap_or_else(|_| UNREADABLE.to_owned()),
        Stored::Clear(_) => IN_CLEAR.to_owned(),
    }
}
