//! Where the keys come from.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, bail};
use ucp_model::{Clock, Entropy};
use ucp_seal::{DigestKey, Keys, SealingKey};
use ucp_store::{Sealed, SealedKey, Store};

const VARIABLE: &str = "UCP_ENCRYPTION_KEY";

/// The key that `serve` was given.
pub(crate) fn given(file: Option<&Path>) -> anyhow::Result<SealingKey> {
    let (text, source) = match (file, std::env::var(VARIABLE)) {
        (Some(file), _) => {
            let text = fs::read_to_string(file)
                .with_context(|| format!("cannot read {}", file.display()))?;
            (text, file.display().to_string())
        }
        (None, Ok(text)) => (text, VARIABLE.to_owned()),
        (None, Err(_)) => bail!(
            "no encryption key: set {VARIABLE} or --encryption-key-file to 32 bytes in hexadecimal (`openssl rand -hex 32` makes one), and keep it: the database is unreadable without it"
        ),
    };
    SealingKey::parse(&text).with_context(|| source)
}

/// The key in `dev`'s data directory, made when there is none.
pub(crate) fn of_data_dir(data_dir: &Path, entropy: &dyn Entropy) -> anyhow::Result<SealingKey> {
    let path = data_dir.join("encryption.key");
    if !path.exists() {
        let halves = [
            entropy.draw("encryption-key"),
            entropy.draw("encryption-key"),
        ];
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        writeln!(file, "{}", hex::encode(halves.concat()))?;
        file.sync_all()?;
    }
    given(Some(&path))
}

/// Both keys: the digest key is the database's, and opens only under the encryption key that wrote it.
pub(crate) async fn of_store(
    sealing: SealingKey,
    store: &dyn Store,
    clock: &dyn Clock,
    entropy: &dyn Entropy,
) -> anyhow::Result<Keys> {
    let fresh = DigestKey::generate(entropy);
    let candidate = SealedKey {
        id: fresh.id().to_owned(),
        key: Sealed(fresh.seal(&sealing, entropy)),
    };
    let current = store.ensure_digest_key(candidate, clock.now()).await?;
    let digest = DigestKey::open(&current.id, &current.key.0, &sealing)
        .context("the database was written under another encryption key")?;
    Ok(Keys { sealing, digest })
}
