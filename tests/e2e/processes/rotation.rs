//! Changing the encryption key, and the digest key, while servers run.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::client::Client;
use super::process::{KEY, Process};

const ACCOUNT: &str = "123456789012";
const NEXT_KEY: &str = "0808080808080808080808080808080808080808080808080808080808080808";
const OTHER_KEY: &str = "0909090909090909090909090909090909090909090909090909090909090909";
const SECRET: &str = "AWS.SecretsManager/Secret";
const CREDENTIAL: &str =
    "/planes/aws/aws/providers/System.AWS/credentials/spare?api-version=2023-10-01-preview";

#[tokio::test(flavor = "multi_thread")]
async fn the_key_is_changed_under_running_servers_on_sqlite() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let url = format!("sqlite://{}", directory.path().join("ucp.db").display());
    change_keys(&url, Some(directory.path())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_is_changed_under_running_servers_on_postgres() {
    if let Some(database) = ucp_store_sql::testing::database().await {
        change_keys(&database.url(), None).await;
    }
}

/// `folder` has the files of a SQLite database.
async fn change_keys(database: &str, folder: Option<&Path>) {
    let (_simulator, aws) = Process::simulator("50ms").await;
    let declared = json!({"Name": "s", "SecretString": "as it was"});

    // An operation is paused with its declaration and its intent sealed under the first key.
    let paused = Some("before-create");
    let (first, url) = Process::serve(database, &aws, ACCOUNT, paused).await;
    let client = Client::new(&url, ACCOUNT);
    client.put_group().await;
    put_credential(&client).await;
    let (path, body) = client.action("put", SECRET, "s", &declared);
    let status_url = client.call("POST", &path, &body).await.status_url;
    let status_url = status_url.expect("polling headers");
    first.line("\"paused\"").await;

    let (done, told) = Process::rotate_key(&[NEXT_KEY], database, &[]).await;
    assert!(!done, "the first key is missing: {told}");
    assert!(told.contains("a key that was not given"), "{told}");
    let both = [NEXT_KEY, KEY];
    let (done, told) = Process::rotate_key(&both, database, &["--dry-run"]).await;
    assert!(done && told.contains("5 sealed under"), "{told}");
    assert!(told.contains("a previous key"), "{told}");
    let key_id = told.split("5 sealed under ").nth(1).expect("its id");
    let key_id = key_id.split(':').next().expect("its id").to_owned();
    assert!(folder.is_none_or(|folder| is_in_files(folder, &key_id)));
    let (done, told) = Process::rotate_key(&both, database, &[]).await;
    assert!(done, "{told}");
    assert!(told.contains(": 5. Remain under other keys: 0."), "{told}");
    assert!(
        folder.is_none_or(|folder| !is_in_files(folder, &key_id)),
        "a value sealed under the old key is left in a file"
    );
    let (done, told) = Process::rotate_key(&both, database, &[]).await;
    assert!(
        done && told.contains(": 0. Remain under other keys: 0."),
        "{told}"
    );
    first.kill();

    // A server with only the new key continues the operation.
    let (mut second, url) = Process::serve_under(&[NEXT_KEY], database, &aws, ACCOUNT, None).await;
    let client = Client::new(&url, ACCOUNT);
    let ended = client.follow(&status_url).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let again = client.insist("put", SECRET, "s", &declared).await;
    assert_eq!(again, Value::Null, "the digest key is still the same");

    let (done, told) = Process::rotate_key(&[NEXT_KEY], database, &["--new-digest-key"]).await;
    assert!(done && told.contains("Started the digest key"), "{told}");
    second.terminate();
    assert!(second.ended().await.success());
    let (_third, url) = Process::serve_under(&both, database, &aws, ACCOUNT, None).await;
    let client = Client::new(&url, ACCOUNT);
    let resent = client.insist("put", SECRET, "s", &declared).await;
    assert_eq!(
        resent["status"], "Succeeded",
        "an unknown digest is not an equal one"
    );
    let again = client.insist("put", SECRET, "s", &declared).await;
    assert_eq!(again, Value::Null, "and now it is known again");
    let updates = client.calls(&aws).await.into_iter();
    let updates = updates.filter(|call| call["operation"] == "UpdateResource");
    assert_eq!(updates.count(), 1);
    refuse_other_keys(database).await;
}

/// Whether a file of the database has a value sealed under the key.
fn is_in_files(folder: &Path, key_id: &str) -> bool {
    let key_id = hex::decode(key_id).expect("an id in hexadecimal");
    // In a column of text, a sealed value begins with the version and the key in base64.
    let in_text = STANDARD.encode([&[1], key_id.as_slice()].concat());
    let files = fs::read_dir(folder).expect("the folder is there");
    let contents: Vec<u8> = files
        .flat_map(|file| fs::read(file.expect("an entry").path()).expect("a file"))
        .collect();
    let mut forms = [key_id.as_slice(), in_text.as_bytes()].into_iter();
    forms.any(|form| contents.windows(form.len()).any(|window| window == form))
}

async fn put_credential(client: &Client) {
    let body = json!({"location": "global", "properties": {"kind": "AccessKey", "accessKeyId": "AKIA1",
        "secretAccessKey": "a secret", "storage": {"kind": "Internal"}}});
    let put = client.call("PUT", CREDENTIAL, &body.to_string()).await;
    assert_eq!(put.status, 200, "{}", put.text);
}

/// The error about an invalid key says where it was given, and does not contain the key.
async fn refuse_other_keys(database: &str) {
    let (done, told) = Process::rotate_key(&[OTHER_KEY, "not-a-key"], database, &[]).await;
    assert!(
        !done && told.contains("UCP_PREVIOUS_ENCRYPTION_KEYS"),
        "{told}"
    );
    assert!(!told.contains("not-a-key"), "{told}");
    let nowhere = "sqlite:///nonexistent/ucp.db";
    let (done, told) = Process::rotate_key(&[KEY], nowhere, &[]).await;
    assert!(!done && told.contains("/nonexistent/ucp.db"), "{told}");
}
