//! An OpenID Connect issuer in a process of its own: `oauth2-mock-server`, unmodified.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use serde_json::{Value, json};

const CLIENTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/clients/javascript"
);

/// The certificate of servers on this machine, and that of its authority.
pub(super) struct Files(tempfile::TempDir);

impl Files {
    pub(super) fn new() -> Self {
        let files = Self(tempfile::tempdir().expect("a folder"));
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        // With the name of the server it would count as one that has signed itself.
        let name = &mut authority.distinguished_name;
        name.push(DnType::CommonName, "Authority");
        let key = KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(authority, key).expect("a certificate");
        let key = KeyPair::generate().expect("a key");
        let names = ["localhost", "127.0.0.1"].map(str::to_owned);
        let mut server = CertificateParams::new(names).expect("names");
        // Python asks for it.
        server.use_authority_key_identifier_extension = true;
        let server = server.signed_by(&key, &authority).expect("a certificate");
        for (name, pem) in [
            ("ca.crt", authority.pem()),
            ("server.crt", server.pem()),
            ("server.key", key.serialize_pem()),
        ] {
            fs::write(files.path(name), pem).expect("a file");
        }
        files
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// The issuer. It ends with this value.
pub(super) struct Issuer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pub(super) url: String,
}

impl Issuer {
    /// Starts it on a port; 0 for any. `None` if it is not installed.
    pub(super) fn start(files: &Files, port: u16) -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let mut child = Command::new("node")
            .arg("issuer.js")
            .args([files.path("server.crt"), files.path("server.key")])
            .arg(port.to_string())
            .current_dir(CLIENTS)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut issuer = Self {
            child,
            input,
            output,
            url: String::new(),
        };
        issuer.url = issuer.line();
        Some(issuer)
    }

    /// Signs tokens with a new key from now on.
    pub(super) fn rotate(&mut self, algorithm: &str) {
        self.ask(&json!({"key": algorithm}));
    }

    /// Returns a token of a user for `ucp`, with these claims besides or instead.
    pub(super) fn token(&mut self, user: &str, others: &Value) -> String {
        self.ask(&json!({"claims": claims(user, others)}))
    }

    /// Returns a token that is signed by an algorithm that anybody could use.
    pub(super) fn forged(&mut self, algorithm: &str) -> String {
        self.ask(&json!({"claims": claims("mallory", &json!({})), "forged": algorithm}))
    }

    fn ask(&mut self, question: &Value) -> String {
        writeln!(self.input, "{question}").expect("it reads");
        self.line()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        assert!(!line.is_empty(), "the issuer has ended");
        line.trim_end().to_owned()
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn claims(user: &str, others: &Value) -> Value {
    let mut claims = json!({"sub": user, "aud": "ucp"});
    let members = claims.as_object_mut().expect("an object");
    members.extend(others.as_object().expect("an object").clone());
    claims
}

fn is_installed() -> bool {
    let is_installed = Path::new(CLIENTS)
        .join("node_modules/oauth2-mock-server")
        .exists();
    let required =
        std::env::var("UCP_REQUIRE_JAVASCRIPT_CLIENTS").is_ok_and(|required| required == "1");
    assert!(
        is_installed || !required,
        "UCP_REQUIRE_JAVASCRIPT_CLIENTS is set, but tests/clients/javascript has no node_modules"
    );
    if !is_installed {
        eprintln!("skipped: npm ci --ignore-scripts in tests/clients/javascript");
    }
    is_installed
}
