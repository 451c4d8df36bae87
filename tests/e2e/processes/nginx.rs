//! Debian's nginx in front, with the configuration of docs/how-to/behind-a-proxy.md.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::certificates::Files;
use super::client::eventually;
use super::process::Process;

const PAGE: &str = include_str!("../../../docs/how-to/behind-a-proxy.md");
const ACCOUNT: &str = "123456789012";
const GROUP: &str = "/planes/radius/local/resourceGroups/rg?api-version=2023-10-01-preview";

/// Clients, proxies and servers have an authority each.
fn files() -> Files {
    let files = Files::new();
    for (authority, name) in [("ca", "ucp"), ("clients", "Ada"), ("proxies", "proxy")] {
        files.issue(authority, &[(name, name)]);
    }
    files
}

/// A running nginx. It ends with this value.
struct Nginx {
    child: Child,
    url: String,
}

impl Nginx {
    /// Starts it with a configuration of the page, in front of a server. `None` if it is not installed.
    async fn start(files: &Files, configuration: &str, ucp: &str) -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let (_, address) = ucp.split_once("://").expect("a URL");
        let configuration = configuration
            .replace("listen 443 ssl", &format!("listen 127.0.0.1:{port} ssl"))
            .replace("127.0.0.1:8787", address)
            .replace("/etc/ssl", &files.path(""));
        let folder = files.path("");
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let temporary = temporary.map(|kind| format!("{kind}_temp_path {folder}/{kind};\n"));
        let configuration = format!(
            "daemon off;\npid {folder}/nginx.pid;\nerror_log stderr;\nevents {{}}\n\
             http {{\naccess_log off;\n{}{configuration}}}\n",
            temporary.concat()
        );
        let file = files.path("nginx.conf");
        fs::write(&file, configuration).expect("a file");
        let child = Command::new(program())
            .args(["-p", &folder, "-e", "stderr", "-c", &file])
            .stdin(Stdio::null())
            .spawn()
            .expect("nginx starts");
        let url = format!("https://127.0.0.1:{port}");
        let nginx = Self { child, url };
        let health = format!("{}/healthz", nginx.url);
        let certificate = files.path("Ada.crt");
        let key = files.path("Ada.key");
        let who = ["--cert", &certificate, "--key", &key, &health];
        eventually(async || (files.curl(&who).await.0 == 200).then_some(())).await;
        Some(nginx)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // SIGTERM, so that it ends its workers too.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.child.wait();
    }
}

/// Returns the configurations of the page.
fn configurations() -> Vec<&'static str> {
    let blocks = PAGE.split("```nginx\n").skip(1);
    let blocks = blocks.map(|block| block.split_once("```").expect("an end").0);
    blocks.collect()
}

fn program() -> &'static str {
    if Path::new("/usr/sbin/nginx").exists() {
        "/usr/sbin/nginx"
    } else {
        "nginx"
    }
}

fn is_installed() -> bool {
    let version = Command::new(program()).arg("-v").output();
    let is_installed = version.is_ok_and(|output| output.status.success());
    let required = std::env::var("UCP_REQUIRE_NGINX").is_ok_and(|required| required == "1");
    assert!(
        is_installed || !required,
        "UCP_REQUIRE_NGINX is set, but nginx was not found"
    );
    if !is_installed {
        eprintln!("skipped: apt-get install nginx");
    }
    is_installed
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_passes_on_who_calls_and_where() {
    let files = files();
    let (_simulator, aws) = Process::simulator("20ms").await;
    let database = files.database();
    let arguments = ["--verdict-wait=0s", "--allowed-host=ucp.example.com"];
    let (_server, url) = Process::serve_with(&arguments, &database, &aws, ACCOUNT).await;
    let Some(nginx) = Nginx::start(&files, configurations()[0], &url).await else {
        return;
    };
    let group = format!("{}{GROUP}", nginx.url);
    let put = ["-X", "PUT", "--json", r#"{"location":"global"}"#, &group];
    let (status, body) = files.curl(&put).await;
    assert_eq!(status, 200, "{body}");
    // A slash in a name stays part of the name.
    let headers = files.path("headers");
    let logs = format!(
        "{}/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2/providers/AWS.Logs/LogGroup/a%2Fb",
        nginx.url
    );
    let put = [
        "-D",
        &headers,
        "-X",
        "PUT",
        "--json",
        r#"{"properties":{}}"#,
        &logs,
    ];
    let (status, body) = files.curl(&put).await;
    assert_eq!(status, 201, "{body}");
    let headers = fs::read_to_string(headers).expect("headers");
    let polling = headers.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_it = name.eq_ignore_ascii_case("azure-asyncoperation");
        is_it.then(|| value.trim().to_owned())
    });
    let polling = polling.expect("a polling URL");
    assert!(polling.starts_with(&nginx.url), "{polling}");
    eventually(async || {
        let (status, body) = files.curl(&[&polling]).await;
        assert_eq!(status, 200, "{body}");
        (body["status"] == "Succeeded").then_some(())
    })
    .await;
    let (status, _) = files.curl(&[&logs]).await;
    assert_eq!(status, 200);
    // The header with the token reaches the server, which has none like it.
    let (status, body) = files.curl(&["--oauth2-bearer", "wrong", &group]).await;
    assert_eq!(status, 401, "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_says_who_calls() {
    let files = files();
    let database = files.database();
    let arguments = [
        files.argument("--tls-cert", "ucp.crt"),
        files.argument("--tls-key", "ucp.key"),
        files.argument("--request-header-client-ca", "proxies.crt"),
        "--request-header-allowed-name=proxy".to_owned(),
        "--admin=Ada".to_owned(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let nowhere = "http://127.0.0.1:9";
    let (server, url) = Process::serve_with(&arguments, &database, nowhere, ACCOUNT).await;
    let Some(nginx) = Nginx::start(&files, configurations()[1], &url).await else {
        return;
    };
    let (certificate, key) = (files.path("Ada.crt"), files.path("Ada.key"));
    let ada = ["--cert", &certificate, "--key", &key];
    let forged = ["-H", "X-Remote-User: root", "-H", "X-Remote-Group: admins"];
    let group = format!("{}{GROUP}", nginx.url);
    let put = ["-X", "PUT", "--json", r#"{"location":"global"}"#, &group];
    let (status, body) = files.curl(&[&ada[..], &forged, &put].concat()).await;
    assert_eq!(status, 200, "{body}");
    server.line(r#""caller.name":"Ada""#).await;
    let output = server.output();
    assert!(!output.contains("root"), "{output}");
    // Not past the proxy, nor through it without a certificate.
    let direct = group.replace(&nginx.url, &url.replace("http://", "https://"));
    let (status, body) = files.curl(&[&forged[..], &[&direct]].concat()).await;
    assert_eq!(status, 401, "{body}");
    let (status, _) = files.curl(&[&group]).await;
    assert_eq!(status, 400);
}
