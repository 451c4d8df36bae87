//! Which server is meant, and who asks.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use ucp_client::{BaseUrl, Client, ClientSettings};

/// The name of the token in the data directory of `ucp dev`.
const TOKEN: &str = "token";
/// The name of the URL of that server there. Nobody else gets the token.
const SERVER: &str = "server";

/// Which server is meant, and who asks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct Server {
    /// The URL of the server, with its path base if it has one.
    #[arg(
        long,
        env = "UCP_SERVER",
        default_value = "http://127.0.0.1:8787",
        value_name = "URL"
    )]
    server: BaseUrl,
    /// The token by which the server knows you. Others on this machine may see arguments: better set the variable, or use
    /// --token-file.
    #[arg(long, env = "UCP_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// A file with the token.
    #[arg(long, env = "UCP_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The data directory of `ucp dev`. The server that runs on it gets the token in it, unless another is given.
    #[arg(long, env = "UCP_DATA_DIR", default_value = ".ucp", value_name = "DIR")]
    data_dir: PathBuf,
    /// The certificates of the authorities that may vouch for the server, in PEM. By default those of the machine.
    #[arg(long, env = "UCP_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// How long to wait for a reply.
    #[arg(long, env = "UCP_TIMEOUT", default_value = "2m", value_parser = humantime::parse_duration, value_name = "DURATION")]
    timeout: Duration,
}

impl Server {
    /// Returns a client of the server. Nothing is sent yet.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        let settings = ClientSettings {
            token: self.token()?,
            ca: self.ca.clone(),
            timeout: self.timeout,
        };
        Ok(Client::new(self.server.clone(), settings)?)
    }

    fn token(&self) -> anyhow::Result<Option<String>> {
        let read = |path: &PathBuf| {
            let text = std::fs::read_to_string(path);
            text.map(|text| text.trim().to_owned())
        };
        if let Some(token) = &self.token {
            return Ok(Some(token.trim().to_owned()));
        }
        if let Some(path) = &self.token_file {
            let token = read(path);
            let token = token.with_context(|| format!("cannot read {}", path.display()))?;
            return Ok(Some(token));
        }
        // Without a token, the server says whether it needs one.
        let [kept, of] = [TOKEN, SERVER].map(|name| self.data_dir.join(name));
        let is_its_own = read(&of).is_ok_and(|of| of.lines().any(|of| self.server.is_here_as(of)));
        Ok(if is_its_own { read(&kept).ok() } else { None })
    }
}
