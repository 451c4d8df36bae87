//! TLS: the certificate of the server, which is read again when its files change, and the handshake.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::io::BufWriter;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::VerifierBuilderError;
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;
use zeroize::Zeroizing;

use crate::authorities::Authorities;
use crate::certificate::Authority;
use crate::replying::Replying;

/// How often the files are looked at. A file that is mounted from a Kubernetes secret changes without a notification.
const INTERVAL: Duration = Duration::from_secs(10);
/// The first byte of every TLS connection: a record that is part of a handshake (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;
/// The most that is kept of what is sent to a client until it is flushed, in bytes: an alert, encrypted or not, is shorter (RFC
/// 8446, sections 5.2 and 6).
const ALERT_BYTES: usize = 64;
/// The name of HTTP/2 in a handshake (RFC 9113, section 3.2).
pub(crate) const HTTP2: &[u8] = b"h2";

/// The files of a server, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate, followed by those between it and the root.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
    /// The certificates of the authorities of clients. A client may still have no certificate.
    pub client_ca: Option<PathBuf>,
    /// The certificates of the authorities of proxies that say who calls.
    pub request_header_ca: Option<PathBuf>,
}

/// Why TLS cannot be spoken.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file does not contain what it should.
    #[error("{} contains no {what} in PEM", path.display())]
    Nothing {
        /// The file.
        path: PathBuf,
        /// What it should contain.
        what: &'static str,
        /// What is wrong with its PEM.
        #[source]
        source: pem::Error,
    },
    /// The certificates cannot be used, for example since the key is that of another one.
    #[error("the certificate {} and its key cannot be used", path.display())]
    Unusable {
        /// The file of the certificate.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls::Error,
    },
    /// The certificates of the clients' authorities cannot be used.
    #[error("the certificates in {} cannot be used", path.display())]
    UnusableCa {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: VerifierBuilderError,
    },
}

/// TLS with the current certificate.
#[derive(Clone, Debug)]
pub struct Tls {
    files: TlsFiles,
    current: Arc<RwLock<Current>>,
    /// Told when the files have changed.
    changed: Arc<watch::Sender<()>>,
}

#[derive(Debug)]
struct Current {
    /// The hash of what was read last, whether it could be used or not. `None` if it could not be read.
    seen: Option<u64>,
    /// Makes the hash one of this process: it is made of a private key too.
    hasher: RandomState,
    config: Config,
}

/// How TLS is spoken.
#[derive(Clone, Debug)]
struct Config {
    server: Arc<ServerConfig>,
    authorities: Arc<Authorities>,
}

/// What stands in the files.
struct Contents {
    certificate: Vec<u8>,
    key: Zeroizing<Vec<u8>>,
    client_ca: Option<Vec<u8>>,
    request_header_ca: Option<Vec<u8>>,
}

/// What is below TLS. Records are flushed with what is written; the alert that a failure causes is not. The client gets that when
/// the connection is shut down, and nothing of it if the connection breaks off.
pub(crate) type Flushed = BufWriter<Replying>;

/// What a client that connects has begun with.
pub(crate) enum Begun {
    /// A connection over TLS, and the authorities that have verified the certificate of the client, if it has one.
    Tls(Box<TlsStream<Flushed>>, Arc<Authorities>),
    /// A handshake that came to nothing, and why. The client does not know it yet.
    Failed(std::io::Error, Flushed),
    /// Something else.
    Plain(TcpStream),
}

impl Tls {
    /// Reads the files.
    pub fn read(files: TlsFiles) -> Result<Self, TlsError> {
        let contents = Contents::read(&files)?;
        let config = contents.config(&files)?;
        let hasher = RandomState::new();
        let current = Current {
            seen: Some(contents.hash(&hasher)),
            hasher,
            config,
        };
        let current = Arc::new(RwLock::new(current));
        Ok(Self {
            files,
            current,
            changed: Arc::default(),
        })
    }

    /// Reads the files again and again. Connections that are open stay as they are, except those of clients whose authority
    /// was removed.
    pub async fn follow(&self) {
        loop {
            sleep(INTERVAL).await;
            let tls = self.clone();
            let refreshed = spawn_blocking(move || tls.refresh()).await;
            match refreshed.unwrap_or(Ok(false)) {
                Ok(false) => {}
                Ok(true) => tracing::info!(
                    file.path = %self.files.certificate.display(),
                    "the TLS certificate has changed"
                ),
                Err(error) => tracing::warn!(
                    error = %ucp_model::chain(&error),
                    "the TLS certificate has changed and cannot be used; the one before is used on"
                ),
            }
        }
    }

    /// Reads the files again. Returns whether they have changed. What cannot be used is an error once, and leaves the
    /// certificate that is used.
    pub fn refresh(&self) -> Result<bool, TlsError> {
        let read = Contents::read(&self.files);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let hash = read.as_ref().ok();
        let hash = hash.map(|contents| contents.hash(&current.hasher));
        if current.seen == hash {
            return Ok(false);
        }
        current.seen = hash;
        current.config = read?.config(&self.files)?;
        drop(current);
        self.changed.send_replace(());
        Ok(true)
    }

    /// Returns the current authorities of clients.
    pub(crate) fn authorities(&self) -> Arc<Authorities> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current.config.authorities)
    }

    /// Tells of changes of the files from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn config(&self) -> Config {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.config.clone()
    }

    /// Shakes hands, unless the client does not speak TLS.
    pub(crate) async fn begin(
        &self,
        stream: TcpStream,
        replying: impl FnOnce(TcpStream) -> Replying,
    ) -> std::io::Result<Begun> {
        let mut first = [0];
        if stream.peek(&mut first).await? == 1 && first != [HANDSHAKE] {
            return Ok(Begun::Plain(stream));
        }
        let Config {
            server,
            authorities,
        } = self.config();
        let stream = BufWriter::with_capacity(ALERT_BYTES, replying(stream));
        let accepting = TlsAcceptor::from(server).accept(stream).into_fallible();
        Ok(match accepting.await {
            Ok(stream) => Begun::Tls(Box::new(stream), authorities),
            Err((error, stream)) => Begun::Failed(error, stream),
        })
    }
}

impl Contents {
    fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        Ok(Self {
            certificate: bytes(&files.certificate)?,
            key: Zeroizing::new(bytes(&files.key)?),
            client_ca: files.client_ca.as_deref().map(bytes).transpose()?,
            request_header_ca: files.request_header_ca.as_deref().map(bytes).transpose()?,
        })
    }

    fn hash(&self, hasher: &RandomState) -> u64 {
        let Self {
            certificate,
            key,
            client_ca,
            request_header_ca,
        } = self;
        hasher.hash_one((certificate, key.as_slice(), client_ca, request_header_ca))
    }

    fn config(&self, files: &TlsFiles) -> Result<Config, TlsError> {
        let unusable = |source| TlsError::Unusable {
            path: files.certificate.clone(),
            source,
        };
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?;
        let given = [
            (Authority::OfClients, &self.client_ca, &files.client_ca),
            (
                Authority::OfProxies,
                &self.request_header_ca,
                &files.request_header_ca,
            ),
        ];
        let mut authorities = Authorities::new(provider);
        for (authority, pem, path) in given {
            if let (Some(pem), Some(path)) = (pem, path) {
                let roots = root_store(pem, path)?;
                let added = authorities.add(authority, roots);
                added.map_err(|source| TlsError::UnusableCa {
                    path: path.clone(),
                    source,
                })?;
            }
        }
        let builder = match authorities.verifier().map_err(unusable)? {
            Some(verifier) => builder.with_client_cert_verifier(verifier),
            None => builder.with_no_client_auth(),
        };
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|source| TlsError::Nothing {
            path: files.key.clone(),
            what: "private key",
            source,
        })?;
        let chain = certificates(&self.certificate, &files.certificate)?;
        let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
        config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
        Ok(Config {
            server: Arc::new(config),
            authorities: Arc::new(authorities),
        })
    }
}

/// Returns the certificates of authorities.
fn root_store(pem: &[u8], path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem, path)? {
        roots
            .add(certificate)
            .map_err(|source| TlsError::Unusable {
                path: path.to_owned(),
                source,
            })?;
    }
    Ok(roots)
}

/// Returns all certificates, of which there must be one.
fn certificates(pem: &[u8], path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let nothing = |source| TlsError::Nothing {
        path: path.to_owned(),
        what: "certificate",
        source,
    };
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all.map_err(nothing)? {
        all if all.is_empty() => Err(nothing(pem::Error::NoItemsFound)),
        all => Ok(all),
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|source| TlsError::Unreadable {
        path: path.to_owned(),
        source,
    })
}
