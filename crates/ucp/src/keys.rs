//! The sources of encryption keys.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use ucp_app::RingCipher;
use ucp_model::Entropy;
use ucp_seal::{Keyring, SealingKey};
use ucp_store::Cipher;
use zeroize::Zeroizing;

use crate::ambient::OsEntropy;
use crate::cli::EncryptionKeys;

const VARIABLE: &str = "UCP_ENCRYPTION_KEY";
const PREVIOUS_VARIABLE: &str = "UCP_PREVIOUS_ENCRYPTION_KEYS";

/// Reads the keys from the arguments and the environment.
pub(crate) fn given(arguments: &EncryptionKeys) -> anyhow::Result<Keyring> {
    let current = match (&arguments.encryption_key_file, of_variable(VARIABLE)) {
        (Some(file), _) => of_file(file)?,
        (None, Some(text)) => SealingKey::parse(&text).context(VARIABLE)?,
        (None, None) => bail!(
            "no encryption key: set {VARIABLE} or --encryption-key-file to 32 bytes in hexadecimal (`openssl rand -hex 32` generates one), and keep it: the database is unreadable without it"
        ),
    };
    let mut previous = Vec::new();
    for file in &arguments.previous_encryption_key_files {
        previous.push(of_file(file)?);
    }
    let texts = of_variable(PREVIOUS_VARIABLE).unwrap_or_default();
    for text in texts.split(',').filter(|text| !text.trim().is_empty()) {
        previous.push(SealingKey::parse(text).context(PREVIOUS_VARIABLE)?);
    }
    Ok(Keyring::new(current, previous))
}

/// Returns the cipher with which the database is sealed.
pub(crate) fn cipher(ring: &Keyring) -> Arc<dyn Cipher> {
    Arc::new(RingCipher::new(ring.clone(), Arc::new(OsEntropy)))
}

/// Returns the text of an environment variable. The environment of the process keeps its own.
fn of_variable(name: &str) -> Option<Zeroizing<String>> {
    std::env::var(name).ok().map(Zeroizing::new)
}

fn of_file(file: &Path) -> anyhow::Result<SealingKey> {
    let source = || file.display().to_string();
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", source()))?;
    let text = Zeroizing::new(text);
    SealingKey::parse(&text).with_context(source)
}

/// Reads the key from the data directory of `dev`, or creates it.
pub(crate) fn of_data_dir(data_dir: &Path, entropy: &dyn Entropy) -> anyhow::Result<Keyring> {
    let path = data_dir.join("encryption.key");
    if !path.exists() {
        let halves = Zeroizing::new([
            entropy.draw("encryption-key"),
            entropy.draw("encryption-key"),
        ]);
        let key = Zeroizing::new(halves.concat());
        let text = Zeroizing::new(hex::encode(&*key));
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        writeln!(file, "{}", *text)?;
        file.sync_all()?;
    }
    Ok(Keyring::from(of_file(&path)?))
}
