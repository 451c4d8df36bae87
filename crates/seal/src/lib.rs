//! Protection of secrets at rest: sealed documents and keyed digests.
//!
//! Declarations, documents to be sent to AWS, and what AWS shows of a resource are sealed with XChaCha20-Poly1305. The
//! row and the column are associated data, so a sealed document cannot be opened in another place. For write-only values, which must be compared later
//! but never stored, an HMAC-SHA-256 under a second key is kept. That key is itself stored sealed, so that all replicas
//! share it.
//!
//! Every sealed value begins with the id of its key. A [`Keyring`] can therefore hold the current key together with
//! previous ones, until everything is sealed under the current key.
//!
//! This crate stores nothing and draws no random numbers: nonces come from the caller's [`Entropy`].

mod digest;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest as _, Sha256};
use ucp_model::{CredentialId, Entropy, Lineage, OperationId, PlanId};
use zeroize::Zeroizing;

pub use digest::DigestKey;

const VERSION: u8 = 1;
const KEY_ID_BYTES: usize = 8;
const NONCE_BYTES: usize = 24;
const HEADER_BYTES: usize = 1 + KEY_ID_BYTES + NONCE_BYTES;

/// Why a key cannot be parsed or sealed bytes cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not a key.
    #[error(
        "an encryption key is 32 bytes, written as 64 hexadecimal digits or as base64; `openssl rand -hex 32` makes one"
    )]
    NotAKey,
    /// The bytes were sealed under another key.
    #[error(
        "sealed under the encryption key {sealed_under}, but the configured keys are {configured}; configure that key too, as the current one or as a previous one"
    )]
    OtherKey {
        /// The id of the key that sealed the bytes.
        sealed_under: String,
        /// The ids of the configured keys.
        configured: String,
    },
    /// The bytes were modified, or belong to another row or column.
    #[error("the sealed bytes were modified or moved")]
    Corrupt,
}

/// The place that a sealed value belongs to. A value opens only with the associated data it was sealed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssociatedData<'a> {
    /// The declared properties of an operation.
    Desired(OperationId),
    /// The bytes of an operation's recorded intent.
    Document(OperationId),
    /// The look that an operation was accepted with.
    Look(OperationId),
    /// What a plan shows and was made for.
    PlanContent(PlanId),
    /// What was declared for a plan.
    PlanDeclared(PlanId),
    /// What an operation does and has done, with its result.
    Body(OperationId),
    /// The declaration of the last successful put of a reference. It is bound to the lineage, so that it opens after a move,
    /// and for no other reference.
    Baseline(&'a Lineage),
    /// The properties of a reference as last observed, bound to the lineage too.
    Observed(&'a Lineage),
    /// The record of the service instance with this key.
    ServiceInstance(&'a str),
    /// The record of the service binding with this key.
    ServiceBinding(&'a str),
    /// The digest key with this id.
    DigestKey(&'a str),
    /// The secret of a credential. The casing of its name is ignored.
    Credential(&'a CredentialId),
}

impl fmt::Display for AssociatedData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssociatedData::Desired(id) => write!(f, "operations/{id}/desired"),
            AssociatedData::Document(id) => write!(f, "operations/{id}/document"),
            AssociatedData::Look(id) => write!(f, "operations/{id}/look"),
            AssociatedData::PlanContent(id) => write!(f, "plans/{id}/content"),
            AssociatedData::PlanDeclared(id) => write!(f, "plans/{id}/declared"),
            AssociatedData::Body(id) => write!(f, "operations/{id}/body"),
            AssociatedData::Baseline(lineage) => write!(f, "references{lineage}/baseline"),
            AssociatedData::Observed(lineage) => write!(f, "references{lineage}/observed"),
            AssociatedData::ServiceInstance(key) => write!(f, "broker_instances/{key}/record"),
            AssociatedData::ServiceBinding(key) => write!(f, "broker_bindings/{key}/record"),
            AssociatedData::DigestKey(id) => write!(f, "digest_keys/{id}/key"),
            AssociatedData::Credential(id) => write!(f, "credentials{}/secret", id.key()),
        }
    }
}

/// An encryption key.
#[derive(Clone)]
pub struct SealingKey {
    cipher: XChaCha20Poly1305,
    id: [u8; KEY_ID_BYTES],
}

impl SealingKey {
    /// Creates a key from its bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        let bytes = Zeroizing::new(bytes);
        let mut id = [0; KEY_ID_BYTES];
        let fingerprint = Sha256::new_with_prefix(b"ucp sealing key id")
            .chain_update(&bytes[..])
            .finalize();
        id.copy_from_slice(&fingerprint[..KEY_ID_BYTES]);
        Self {
            cipher: XChaCha20Poly1305::new(&(*bytes).into()),
            id,
        }
    }

    /// Parses a key written as 64 hexadecimal digits or as base64.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let bytes = Zeroizing::new(
            hex::decode(text)
                .or_else(|_| BASE64.decode(text))
                .map_err(|_| Error::NotAKey)?,
        );
        Ok(Self::new(
            bytes.as_slice().try_into().map_err(|_| Error::NotAKey)?,
        ))
    }

    /// Returns the public id of the key: a prefix of its hash.
    pub fn id(&self) -> String {
        hex::encode(self.id)
    }

    /// Seals `plaintext` for `data`. The result has version, key id, nonce, and the ciphertext with its tag.
    pub fn seal(
        &self,
        data: AssociatedData<'_>,
        plaintext: &[u8],
        entropy: &dyn Entropy,
    ) -> Vec<u8> {
        let mut nonce = [0; NONCE_BYTES];
        nonce[..16].copy_from_slice(&entropy.draw("seal.nonce"));
        nonce[16..].copy_from_slice(&entropy.draw("seal.nonce")[..8]);
        let aad = data.to_string();
        let payload = Payload {
            msg: plaintext,
            aad: aad.as_bytes(),
        };
        let ciphertext = self
            .cipher
            .encrypt(&XNonce::from(nonce), payload)
            .expect("documents are far below the cipher's limit of 256 GiB");
        let mut sealed = Vec::with_capacity(HEADER_BYTES + ciphertext.len());
        sealed.push(VERSION);
        sealed.extend_from_slice(&self.id);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(&ciphertext);
        sealed
    }

    /// Opens bytes that were sealed for `data`.
    pub fn open(
        &self,
        data: AssociatedData<'_>,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let Header { key_id, nonce } = Header::read(sealed)?;
        if key_id != self.id {
            return Err(Error::OtherKey {
                sealed_under: hex::encode(key_id),
                configured: self.id(),
            });
        }
        let aad = data.to_string();
        let payload = Payload {
            msg: sealed.get(HEADER_BYTES..).unwrap_or_default(),
            aad: aad.as_bytes(),
        };
        self.cipher
            .decrypt(&XNonce::from(nonce), payload)
            .map(Zeroizing::new)
            .map_err(|_| Error::Corrupt)
    }
}

/// The header in front of the ciphertext.
struct Header {
    key_id: [u8; KEY_ID_BYTES],
    nonce: [u8; NONCE_BYTES],
}

impl Header {
    fn read(sealed: &[u8]) -> Result<Self, Error> {
        let header = sealed.get(..HEADER_BYTES).ok_or(Error::Corrupt)?;
        let (version, rest) = header.split_first().ok_or(Error::Corrupt)?;
        let (key_id, nonce) = rest.split_at(KEY_ID_BYTES);
        if *version != VERSION {
            return Err(Error::Corrupt);
        }
        Ok(Self {
            key_id: key_id.try_into().map_err(|_| Error::Corrupt)?,
            nonce: nonce.try_into().map_err(|_| Error::Corrupt)?,
        })
    }
}

/// Returns the id of the key in the header of `sealed`.
pub fn sealed_under(sealed: &[u8]) -> Result<String, Error> {
    Ok(hex::encode(Header::read(sealed)?.key_id))
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealingKey({})", self.id())
    }
}

/// The encryption keys of a process: the current one, which seals, and previous ones, which only open.
#[derive(Clone, Debug)]
pub struct Keyring {
    current: SealingKey,
    previous: Vec<SealingKey>,
}

impl Keyring {
    /// Creates a keyring.
    pub fn new(current: SealingKey, previous: Vec<SealingKey>) -> Self {
        Self { current, previous }
    }

    /// Returns the id of the current key.
    pub fn current_id(&self) -> String {
        self.current.id()
    }

    /// Returns the ids of all keys, the current one first.
    pub fn ids(&self) -> impl Iterator<Item = String> {
        self.keys().map(SealingKey::id)
    }

    /// Seals `plaintext` for `data` under the current key.
    pub fn seal(
        &self,
        data: AssociatedData<'_>,
        plaintext: &[u8],
        entropy: &dyn Entropy,
    ) -> Vec<u8> {
        self.current.seal(data, plaintext, entropy)
    }

    /// Opens bytes that were sealed for `data` under any of the keys.
    pub fn open(
        &self,
        data: AssociatedData<'_>,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.key_of(sealed)?.open(data, sealed)
    }

    /// Returns [`Error::OtherKey`] if `sealed` was sealed under none of the keys.
    pub fn knows_key_of(&self, sealed: &[u8]) -> Result<(), Error> {
        self.key_of(sealed).map(drop)
    }

    fn key_of(&self, sealed: &[u8]) -> Result<&SealingKey, Error> {
        let key_id = Header::read(sealed)?.key_id;
        let key = self.keys().find(|key| key.id == key_id);
        key.ok_or_else(|| Error::OtherKey {
            sealed_under: hex::encode(key_id),
            configured: self.ids().collect::<Vec<String>>().join(", "),
        })
    }

    fn keys(&self) -> impl Iterator<Item = &SealingKey> {
        std::iter::once(&self.current).chain(&self.previous)
    }
}

impl From<SealingKey> for Keyring {
    fn from(current: SealingKey) -> Self {
        Self::new(current, Vec::new())
    }
}

/// The keys of a running process.
#[derive(Debug)]
pub struct Keys {
    /// Seals documents to be sent, and the secrets of credentials.
    pub sealing: Keyring,
    /// Digests values that must be compared later.
    pub digest: DigestKey,
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    #[derive(Default)]
    struct Counting(AtomicU8);

    impl Entropy for Counting {
        fn draw(&self, _: &'static str) -> [u8; 16] {
            [self.0.fetch_add(1, Ordering::Relaxed); 16]
        }
    }

    fn operation(last: u8) -> OperationId {
        format!("00000000-0000-4000-8000-0000000000{last:02x}")
            .parse()
            .unwrap()
    }

    #[test]
    fn opens_only_in_its_own_place_and_under_its_own_key() {
        let entropy = Counting::default();
        let key = SealingKey::new([7; 32]);
        let sealed = key.seal(AssociatedData::Desired(operation(1)), b"secret", &entropy);
        assert_eq!(
            &key.open(AssociatedData::Desired(operation(1)), &sealed)
                .unwrap()[..],
            b"secret"
        );
        assert_eq!(
            key.open(AssociatedData::Desired(operation(2)), &sealed),
            Err(Error::Corrupt)
        );
        assert_eq!(
            key.open(AssociatedData::Document(operation(1)), &sealed),
            Err(Error::Corrupt)
        );
        let other = SealingKey::new([8; 32]);
        assert!(matches!(
            other.open(AssociatedData::Desired(operation(1)), &sealed),
            Err(Error::OtherKey { .. })
        ));
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(
                key.open(AssociatedData::Desired(operation(1)), &changed)
                    .is_err(),
                "byte {at}"
            );
            assert!(
                key.open(AssociatedData::Desired(operation(1)), &sealed[..at])
                    .is_err(),
                "length {at}"
            );
        }
    }

    /// A value that an earlier version stored.
    #[test]
    fn what_is_stored_today_stays_readable() {
        let stored = "01515ef83423cbc586090909090909090909090909090909090909090909090909\
            cd1781f819deeff3bb587bd6d7d65a87e71d452c3d46";
        let ring = Keyring::from(SealingKey::new([7; 32]));
        let opened = ring.open(
            AssociatedData::Desired(operation(1)),
            &hex::decode(stored).unwrap(),
        );
        assert_eq!(&opened.unwrap()[..], b"secret");
    }

    #[test]
    fn a_ring_seals_under_its_current_key_and_opens_under_all() {
        let entropy = Counting::default();
        let key = |byte: u8| SealingKey::new([byte; 32]);
        let data = AssociatedData::Desired(operation(1));
        let before = Keyring::from(key(7)).seal(data, b"secret", &entropy);
        let ring = Keyring::new(key(8), vec![key(6), key(7)]);
        assert_eq!(&ring.open(data, &before).unwrap()[..], b"secret");
        assert_eq!(
            ring.open(AssociatedData::Desired(operation(2)), &before),
            Err(Error::Corrupt)
        );
        let after = ring.seal(data, b"secret", &entropy);
        assert_eq!(sealed_under(&before).unwrap(), key(7).id());
        assert_eq!(sealed_under(&after).unwrap(), ring.current_id());
        assert_eq!(
            Keyring::new(key(9), vec![key(6)]).open(data, &after),
            Err(Error::OtherKey {
                sealed_under: key(8).id(),
                configured: format!("{}, {}", key(9).id(), key(6).id()),
            })
        );
        assert_eq!(sealed_under(b"short"), Err(Error::Corrupt));
    }

    #[test]
    fn a_credential_opens_in_any_casing_and_under_no_other_name() {
        let entropy = Counting::default();
        let ring = Keyring::from(SealingKey::new([7; 32]));
        let id = |plane, name| CredentialId::new(plane, name).unwrap();
        let sealed = ring.seal(
            AssociatedData::Credential(&id("aws", "Default")),
            b"secret",
            &entropy,
        );
        let open = |id: &CredentialId| ring.open(AssociatedData::Credential(id), &sealed);
        assert!(open(&id("AWS", "default")).is_ok());
        assert_eq!(open(&id("aws", "other")), Err(Error::Corrupt));
        assert_eq!(open(&id("other", "default")), Err(Error::Corrupt));
    }

    #[test]
    fn the_same_text_never_seals_alike() {
        let entropy = Counting::default();
        let key = SealingKey::new([7; 32]);
        let seal = || key.seal(AssociatedData::Document(operation(1)), b"secret", &entropy);
        assert_ne!(seal(), seal());
        assert!(!seal().windows(6).any(|window| window == b"secret"));
    }

    #[test]
    fn keys_are_read_as_hexadecimal_or_base64() {
        let hexadecimal = "07".repeat(32);
        assert_eq!(
            SealingKey::parse(&format!("{hexadecimal}\n")).unwrap().id(),
            SealingKey::new([7; 32]).id()
        );
        assert_eq!(
            SealingKey::parse(&BASE64.encode([7; 32])).unwrap().id(),
            SealingKey::new([7; 32]).id()
        );
        for text in ["", "07", "not a key", &"07".repeat(31)] {
            assert_eq!(
                SealingKey::parse(text).unwrap_err(),
                Error::NotAKey,
                "{text}"
            );
        }
    }

    /// What earlier versions sealed and digested names the key of the reference.
    #[test]
    fn what_was_bound_to_a_reference_is_bound_to_its_first_lineage() {
        let id = "/planes/radius/Local/resourceGroups/RG/providers/AWS.EC2/VPC:reference/Main";
        let lineage = Lineage::of(&id.parse().unwrap());
        let key = "/planes/radius/local/resourcegroups/rg/providers/aws.ec2/vpc:reference/main";
        assert_eq!(lineage.as_str(), key);
        let place = |data: AssociatedData<'_>| data.to_string();
        assert_eq!(
            place(AssociatedData::Baseline(&lineage)),
            format!("references{key}/baseline")
        );
        assert_eq!(
            place(AssociatedData::Observed(&lineage)),
            format!("references{key}/observed")
        );
    }

    #[test]
    fn a_digest_depends_on_key_reference_place_and_value() {
        let entropy = Counting::default();
        let sealing = Keyring::from(SealingKey::new([7; 32]));
        let key = DigestKey::generate(&entropy);
        let again = DigestKey::open(key.id(), &key.seal(&sealing, &entropy), &sealing).unwrap();
        let reference = |alias: &str| {
            let id = format!(
                "/planes/radius/local/resourceGroups/rg/providers/AWS.RDS/DBInstance:reference/{alias}"
            );
            Lineage::of(&id.parse().unwrap())
        };
        let digest = key.digest(&reference("a"), "/Password", &"x".into());
        assert_eq!(
            digest,
            again.digest(&reference("A"), "/Password", &"x".into())
        );
        assert_ne!(
            digest,
            key.digest(&reference("b"), "/Password", &"x".into())
        );
        assert_ne!(
            digest,
            key.digest(&reference("a"), "/Passwords", &"x".into())
        );
        assert_ne!(
            digest,
            key.digest(&reference("a"), "/Password", &"y".into())
        );
        assert_ne!(
            digest,
            DigestKey::generate(&entropy).digest(&reference("a"), "/Password", &"x".into())
        );
    }
}
