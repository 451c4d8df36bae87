//! Servers that listen on a port of this machine, with or without TLS.

use std::net::TcpListener;
use std::path::Path;

use sqlx::{Connection as _, PgConnection, Row as _};

use super::certificates::Certificates;
use super::pooler::Pooler;
use super::server::{Cluster, Place, Server};

const SETTINGS: &str = "-c max_connections=100 -c fsync=off -c full_page_writes=off";

/// A Postgres that listens on a port of loopback, besides its socket.
#[derive(Debug)]
pub struct Listening {
    cluster: Cluster,
    port: u16,
    certificates: Certificates,
}

impl Listening {
    /// Starts one that also speaks TLS, as `localhost`. Returns `None` if Postgres is not installed.
    pub async fn with_tls() -> Option<Self> {
        Self::start("on").await
    }

    /// Starts one that does not. Returns `None` if Postgres is not installed.
    pub async fn without_tls() -> Option<Self> {
        Self::start("off").await
    }

    async fn start(tls: &'static str) -> Option<Self> {
        let starting = tokio::task::spawn_blocking(move || {
            let cluster = Server::initialized(Place::Memory)?;
            let certificates = Certificates::new(&cluster.home);
            let port = free_port();
            let Certificates {
                certificate, key, ..
            } = &certificates;
            cluster.start(&format!(
                "{SETTINGS} -c listen_addresses=127.0.0.1 -c port={port} -c ssl={tls} \
                 -c ssl_cert_file='{}' -c ssl_key_file='{}'",
                certificate.display(),
                key.display()
            ));
            Some(Self {
                cluster,
                port,
                certificates,
            })
        });
        starting.await.unwrap()
    }

    /// Returns the URL of its database at a name of this machine.
    pub fn url(&self, host: &str, parameters: &str) -> String {
        url(host, self.port, parameters)
    }

    /// Returns the certificate of the authority that vouches for it.
    pub fn authority(&self) -> &Path {
        &self.certificates.authority
    }

    /// Returns which connections of `ucp` are encrypted.
    pub async fn encrypted(&self) -> Vec<bool> {
        let options = self.cluster.options().port(self.port);
        let mut connection = PgConnection::connect_with(&options).await.unwrap();
        let encrypted = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'ucp'";
        let rows = sqlx::query(encrypted).fetch_all(&mut connection).await;
        rows.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// Starts a PgBouncer in front of it that is reached over TLS only, and returns its URL at a name of this machine.
    /// Returns `None` if it is not installed.
    pub async fn pooler(&self, host: &str) -> Option<(Pooler, String)> {
        let port = free_port();
        let Certificates {
            certificate, key, ..
        } = &self.certificates;
        let settings = format!(
            "listen_addr = 127.0.0.1\nclient_tls_sslmode = require\n\
             client_tls_cert_file = {}\nclient_tls_key_file = {}\n",
            certificate.display(),
            key.display()
        );
        let server = self.cluster.options().port(self.port);
        let pooler = Pooler::start(&server, "postgres", port, &settings).await?;
        Some((pooler, url(host, port, "")))
    }
}

fn url(host: &str, port: u16, parameters: &str) -> String {
    format!("postgres://postgres@{host}:{port}/postgres?{parameters}")
}

/// Returns a port that nobody listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
