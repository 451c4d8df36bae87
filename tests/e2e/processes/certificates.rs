//! Certificates of servers, clients and proxies, and an unmodified curl that trusts those of servers.

use std::fs;
use std::process::Command;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::Value;

/// A folder with what a test has issued. It goes with this value.
pub(super) struct Files(tempfile::TempDir);

impl Files {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// Makes an authority, whose certificate is `AUTHORITY.crt`. It certifies each common name in `FILE.crt`, with `FILE.key`.
    pub(super) fn issue(&self, authority: &str, names: &[(&str, &str)]) {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("a certificate");
        self.write(&format!("{authority}.crt"), &issuer.pem());
        for (file, name) in names {
            let hosts = ["ucp.example.com", "127.0.0.1"].map(str::to_owned);
            let mut params = CertificateParams::new(hosts).expect("names");
            params.distinguished_name.push(DnType::CommonName, *name);
            let key = KeyPair::generate().expect("a key");
            let certificate = params.signed_by(&key, &issuer).expect("a certificate");
            self.write(&format!("{file}.key"), &key.serialize_pem());
            self.write(&format!("{file}.crt"), &certificate.pem());
        }
    }

    fn write(&self, name: &str, pem: &str) {
        fs::write(self.path(name), pem).expect("a file");
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    pub(super) fn argument(&self, flag: &str, name: &str) -> String {
        format!("{flag}={}", self.path(name))
    }

    pub(super) fn database(&self) -> String {
        format!("sqlite://{}", self.path("ucp.db"))
    }

    /// Returns the status and the body of a reply; the status is 0 without one. The authority of servers is `ca`.
    pub(super) async fn curl(&self, arguments: &[&str]) -> (u16, Value) {
        let (status, body) = self.curl_text(arguments).await;
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    /// The same with any body.
    pub(super) async fn curl_text(&self, arguments: &[&str]) -> (u16, String) {
        let mut command = Command::new("curl");
        command
            .args(["--silent", "--show-error", "--max-time", "60"])
            .args(["--write-out", "\n%{http_code}"])
            .args(["--cacert", &self.path("ca.crt")])
            .args(arguments);
        let run = tokio::task::spawn_blocking(move || command.output()).await;
        let output = run.expect("it ends").expect("curl runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (body, status) = text.rsplit_once('\n').expect("a status");
        (status.parse().expect("a number"), body.to_owned())
    }
}
