//! Sealed values: bytes that only the holder of the encryption key can read.
//!
//! Callers seal what the store has no business with: documents, secrets, the digest key. An engine that writes to disk
//! seals the rest of what is secret, which its transactions work on, with a [`Cipher`].

use std::fmt;

use async_trait::async_trait;
use ucp_model::{CredentialId, Lineage, OperationId, PlanId, Timestamp};

use crate::Error;

/// Bytes that only the holder of the encryption key can read.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(pub Vec<u8>);

/// The sealed documents of a live operation. They are erased when it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    /// The declared properties of a put, or the declarations of a set.
    pub desired: Option<Sealed>,
    /// The exact bytes of the recorded intent.
    pub document: Option<Sealed>,
    /// What the request has seen in AWS, until the first step.
    pub look: Option<Sealed>,
}

/// A digest key, sealed under the encryption key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedKey {
    /// Its public id, stored beside every digest made with it.
    pub id: String,
    /// The sealed key.
    pub key: Sealed,
}

/// Where a sealed value is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealedPlace {
    /// The secret of a credential.
    Credential(CredentialId),
    /// The declared properties of a live operation, or the declarations of a set that is being applied.
    Desired(OperationId),
    /// The current digest key, with its id.
    DigestKey(String),
    /// The bytes of the recorded intent of a live operation.
    Document(OperationId),
    /// The look that a live operation was accepted with.
    Look(OperationId),
    /// What a plan shows and was made for.
    PlanContent(PlanId),
    /// What was declared for a plan that may still be used.
    PlanDeclared(PlanId),
    /// The declaration of the last successful put of a reference, which keeps its lineage when it is moved. Sealed by the
    /// engine.
    Baseline(Lineage),
    /// The properties of a reference as last observed. Sealed by the engine.
    Observed(Lineage),
    /// What an operation does and has done, with its result. Sealed by the engine.
    Body(OperationId),
    /// The record of a service instance, with its key. Sealed by the engine.
    ServiceInstance(String),
    /// The record of a service binding, with its key. Sealed by the engine.
    ServiceBinding(String),
}

impl SealedPlace {
    /// Returns whether the engine seals what is there. An engine that keeps nothing on disk has no such places.
    pub fn is_of_engine(&self) -> bool {
        match self {
            SealedPlace::Baseline(_)
            | SealedPlace::Observed(_)
            | SealedPlace::Body(_)
            | SealedPlace::ServiceInstance(_)
            | SealedPlace::ServiceBinding(_) => true,
            SealedPlace::Credential(_)
            | SealedPlace::Desired(_)
            | SealedPlace::DigestKey(_)
            | SealedPlace::Document(_)
            | SealedPlace::Look(_)
            | SealedPlace::PlanContent(_)
            | SealedPlace::PlanDeclared(_) => false,
        }
    }
}

/// What is stored at a [`SealedPlace`].
#[derive(Clone, PartialEq, Eq)]
pub enum Stored {
    /// A sealed value.
    Sealed(Sealed),
    /// A value in clear: an earlier version wrote it, and it has not been written since.
    Clear(String),
}

/// Seals and opens what an engine writes to disk. A value opens only in the place that it was sealed for.
pub trait Cipher: fmt::Debug + Send + Sync {
    /// Seals `plaintext` for `place`.
    fn seal(&self, place: &SealedPlace, plaintext: &[u8]) -> Result<Sealed, Error>;

    /// Opens what was sealed for `place`. [`Error::OtherKey`] if the key is missing.
    fn open(&self, place: &SealedPlace, sealed: &Sealed) -> Result<Vec<u8>, Error>;
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({} bytes)", self.0.len())
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stored::Sealed(sealed) => sealed.fmt(f),
            Stored::Clear(text) => write!(f, "Clear({} bytes)", text.len()),
        }
    }
}

impl From<Sealed> for Stored {
    fn from(sealed: Sealed) -> Self {
        Stored::Sealed(sealed)
    }
}

/// Access to the sealed values of all tables, and to the digest key.
#[async_trait]
pub trait SealedValues: Send + Sync {
    /// Returns up to `limit` sealed values in a stable order, starting after `after`, which need not exist any more, or
    /// with the first one. Values that should be sealed, and are in clear, are among them.
    async fn list_sealed(
        &self,
        after: Option<&SealedPlace>,
        limit: usize,
    ) -> Result<Vec<(SealedPlace, Stored)>, Error>;

    /// Replaces `old` by `new`. Returns whether it did: not if the value has changed or is gone. The plaintext stays
    /// the same, so no revision increases and no lease is needed.
    async fn reseal(&self, place: &SealedPlace, old: &Stored, new: Sealed) -> Result<bool, Error>;

    /// Returns the current digest key. If there is none, stores `candidate` and returns it.
    async fn ensure_digest_key(
        &self,
        candidate: SealedKey,
        now: Timestamp,
    ) -> Result<SealedKey, Error>;

    /// Makes `new` the current digest key and removes the previous one, if any.
    async fn replace_digest_key(&self, new: SealedKey, now: Timestamp) -> Result<(), Error>;
}
