//! `ucp rotate-key`: re-encrypts the database under the current encryption key, while servers use it.

use std::collections::BTreeMap;

use anyhow::bail;
use ucp_app::resealing;
use ucp_model::Clock;
use ucp_seal::Keyring;
use ucp_store::Reachable;

use crate::ambient::{OsEntropy, SystemClock};
use crate::cli::RotateKey;
use crate::{keys, serve};

/// The maximum number of passes. Servers that have not been restarted yet may still seal under the old key meanwhile.
const WALKS_MAX: u32 = 10;

pub(crate) async fn run(arguments: RotateKey) -> anyhow::Result<()> {
    let ring = keys::given(&arguments.keys)?;
    let store = serve::join(&arguments.database_url).await?;
    let before = resealing::count_sealed(&store).await?;
    if arguments.dry_run {
        let mut said = format!("The current encryption key is {}.\n", ring.current_id());
        for (id, count) in &before {
            said += &format!("{count} sealed under {id}: {}\n", role(&ring, id));
        }
        ucp_cli::print(&format!("{said}Nothing was changed.\n"))?;
        return Ok(());
    }

    let mut resealed = 0;
    let mut left = others(&ring, before);
    for _ in 0..WALKS_MAX {
        if left.is_empty() {
            break;
        }
        let walked = resealing::reseal(&store, &ring, &OsEntropy).await?;
        resealed += walked;
        left = others(&ring, resealing::count_sealed(&store).await?);
        if walked == 0 {
            break;
        }
    }
    let remain: u64 = left.values().sum();
    ucp_cli::print(&format!(
        "Re-encrypted under the encryption key {}: {resealed}. Remain under other keys: {remain}.\n",
        ring.current_id()
    ))?;
    if arguments.new_digest_key {
        let now = store.time().await?;
        let now = now.unwrap_or_else(|| SystemClock.now());
        let id = resealing::start_digest_key(&store, &ring, &OsEntropy, now).await?;
        ucp_cli::print(&format!(
            "Started the digest key {id}. Restart the servers, which still use the old one.\n"
        ))?;
    }
    if !store.erase().await? {
        bail!(
            "the write-ahead log still has values sealed under other keys, because the database is being read all the time. Run this command again"
        );
    }
    if remain > 0 {
        let left: Vec<String> = left
            .iter()
            .map(|(id, count)| format!("{count} under {id} ({})", role(&ring, id)))
            .collect();
        bail!(
            "{remain} values remain: {}. Give the missing keys as previous ones, start every server with this encryption key, and run this command again",
            left.join(", ")
        );
    }
    Ok(())
}

/// The counts of values sealed under keys other than the current one.
fn others(ring: &Keyring, mut counts: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    counts.remove(&ring.current_id());
    counts
}

fn role(ring: &Keyring, id: &str) -> &'static str {
    if id == resealing::IN_CLEAR {
        "in clear, as an earlier version stored it"
    } else if id == ring.current_id() {
        "the current key"
    } else if ring.ids().any(|given| given == id) {
        "a previous key"
    } else {
        "a key that was not given"
    }
}
