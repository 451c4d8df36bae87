//! The token in the data directory of `dev`, for commands on the same machine.

use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use ucp_access::{Role, Scope};
use ucp_authentication::GivenToken;
use ucp_model::{Clock, Timestamp};
use ucp_store::{TokenState, Tokens};
use ucp_store_sql::Sql;
use zeroize::Zeroizing;

use crate::ambient::SystemClock;
use crate::token::{self, For};

/// The name of the file, and of the token.
const NAME: &str = "token";
/// The name of the file with the URL of the server.
const SERVER: &str = "server";

/// Reads the token from the data directory. Makes one if there is none that is valid.
pub(crate) async fn of_data_dir(data_dir: &Path, store: &Sql) -> anyhow::Result<Zeroizing<String>> {
    let (path, now) = (data_dir.join(NAME), SystemClock.now());
    let written = fs::read_to_string(&path).unwrap_or_default();
    let written = Zeroizing::new(written);
    if is_valid(written.trim(), store, now).await? {
        return Ok(Zeroizing::new(written.trim().to_owned()));
    }
    let of = For {
        name: "dev".to_owned(),
        role: Role::Owner,
        scopes: vec![Scope::everything()],
        lifetime: None,
    };
    let new = token::make(store, of, now).await?;
    write(&path, &new.text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(new.text)
}

/// Writes which server the token is for, until what is returned is dropped: commands send it to no other.
pub(crate) fn note_server(data_dir: &Path, address: SocketAddr) -> anyhow::Result<Noted> {
    let (v4, v6) = (Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into());
    let reached: &[IpAddr] = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => &[v4],
        IpAddr::V6(ip) if ip.is_unspecified() => &[v4, v6],
        ip => &[ip],
    };
    let urls = reached.iter().map(|ip| {
        let address = SocketAddr::new(*ip, address.port());
        format!("http://{address}")
    });
    let noted = Noted(data_dir.join(SERVER));
    let written = write(&noted.0, &urls.collect::<Vec<_>>().join("\n"));
    written.with_context(|| format!("cannot write {}", noted.0.display()))?;
    Ok(noted)
}

/// The file that says which server a token is for. It goes with the server: another one may come to its address.
pub(crate) struct Noted(PathBuf);

impl Drop for Noted {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            tracing::debug!(%error, "the file of the server is not removed");
        }
    }
}

async fn is_valid(text: &str, store: &Sql, now: Timestamp) -> anyhow::Result<bool> {
    let Some(given) = GivenToken::split(text) else {
        return Ok(false);
    };
    let token = store.get_token(given.id).await?;
    Ok(token.is_some_and(|token| given.is_of(&token) && token.state(now) == TokenState::Valid))
}

/// Writes a file that only its owner can read.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if path.exists() {
        fs::remove_file(path)?;
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}
