//! The cipher with which a database seals what its transactions work on.

use std::sync::Arc;

use ucp_model::Entropy;
use ucp_seal::{AssociatedData, Keyring};
use ucp_store::{Cipher, Error, Sealed, SealedPlace};

/// Seals under the current key of a ring, and opens under each of its keys.
pub struct RingCipher {
    ring: Keyring,
    entropy: Arc<dyn Entropy>,
}

impl RingCipher {
    /// Creates the cipher. Nonces come from `entropy`.
    pub fn new(ring: Keyring, entropy: Arc<dyn Entropy>) -> Self {
        Self { ring, entropy }
    }
}

impl std::fmt::Debug for RingCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RingCipher({:?})", self.ring)
    }
}

impl Cipher for RingCipher {
    fn seal(&self, place: &SealedPlace, plaintext: &[u8]) -> Result<Sealed, Error> {
        let data = associated_data(place);
        Ok(Sealed(self.ring.seal(
            data,
            plaintext,
            self.entropy.as_ref(),
        )))
    }

    fn open(&self, place: &SealedPlace, sealed: &Sealed) -> Result<Vec<u8>, Error> {
        let data = associated_data(place);
        let mut opened = self
            .ring
            .open(data, &sealed.0)
            .map_err(|error| match error {
                ucp_seal::Error::OtherKey {
                    sealed_under,
                    configured,
                } => Error::OtherKey {
                    sealed_under,
                    configured,
                },
                error @ (ucp_seal::Error::NotAKey | ucp_seal::Error::Corrupt) => {
                    Error::Corrupt(format!("{data}: {error}"))
                }
            })?;
        Ok(std::mem::take(&mut *opened))
    }
}

/// Returns what binds a sealed value to its place.
pub(crate) fn associated_data(place: &SealedPlace) -> AssociatedData<'_> {
    match place {
        SealedPlace::Credential(id) => AssociatedData::Credential(id),
        SealedPlace::Desired(id) => AssociatedData::Desired(*id),
        SealedPlace::DigestKey(id) => AssociatedData::DigestKey(id),
        SealedPlace::Document(id) => AssociatedData::Document(*id),
        SealedPlace::Look(id) => AssociatedData::Look(*id),
        SealedPlace::PlanContent(id) => AssociatedData::PlanContent(*id),
        SealedPlace::PlanDeclared(id) => AssociatedData::PlanDeclared(*id),
        SealedPlace::Baseline(lineage) => AssociatedData::Baseline(lineage),
        SealedPlace::Observed(lineage) => AssociatedData::Observed(lineage),
        SealedPlace::Body(id) => AssociatedData::Body(*id),
        SealedPlace::ServiceInstance(key) => AssociatedData::ServiceInstance(key),
        SealedPlace::ServiceBinding(key) => AssociatedData::ServiceBinding(key),
    }
}
