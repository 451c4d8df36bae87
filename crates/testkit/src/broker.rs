//! The service broker of every world.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ucp_app::Platform;
use ucp_broker::{PlatformAccount, Platforms, Settings};
use ucp_model::Scope;
use ucp_offerings::{Offerings, SourceFile};
use ucp_schema::Catalogue;
use zeroize::Zeroizing;

use crate::place::{ACCOUNT, REGION};

/// The platforms that sign in with their name and the password `password`. The second one may order buckets only.
const PLATFORMS: [&str; 2] = ["cf", "k8s"];
/// How long a platform that does not poll waits, unless a test says so.
pub(crate) const SYNC_WAIT: Duration = Duration::from_secs(20);

/// The files, with their names.
const FILES: [(&str, &str); 4] = [
    (
        "bucket.toml",
        include_str!("../../../api/examples/broker/offerings/bucket.toml"),
    ),
    ("logs.toml", include_str!("broker/logs.toml")),
    ("named.toml", include_str!("broker/named.toml")),
    ("net.toml", include_str!("broker/net.toml")),
];

static OFFERINGS: LazyLock<Arc<Offerings>> = LazyLock::new(|| Arc::new(edited(&[])));

/// Reads the files with edits: the name of a file, a text in it, and what stands there instead.
fn edited(edits: &[(&str, &str, &str)]) -> Offerings {
    let files = FILES.map(|(name, text)| {
        let mut text = text.to_owned();
        for (_, from, to) in edits.iter().filter(|(of, _, _)| *of == name) {
            assert!(text.contains(from), "{name} has no {from}");
            text = text.replace(from, to);
        }
        SourceFile {
            name: name.to_owned(),
            text,
        }
    });
    let read = Offerings::read(&files, &Catalogue::embedded());
    read.unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Returns the settings of the broker after edits of its files.
pub(crate) fn settings_with(edits: &[(&str, &str, &str)], sync_wait: Duration) -> Settings {
    Settings {
        offerings: Arc::new(edited(edits)),
        ..settings(sync_wait)
    }
}

pub(crate) fn settings(sync_wait: Duration) -> Settings {
    let platforms = PLATFORMS.into_iter().map(|name| PlatformAccount {
        platform: Platform {
            name: name.to_owned(),
            scope: Scope::new("aws", ACCOUNT, REGION).expect("a scope"),
            offerings: (name == "k8s").then(|| BTreeSet::from(["bucket".to_owned()])),
        },
        username: name.to_owned(),
        passwords: ["older", "password"]
            .map(|it| Zeroizing::new(it.to_owned()))
            .into(),
    });
    Settings {
        offerings: Arc::clone(&OFFERINGS),
        platforms: Arc::new(Platforms::new(platforms.collect())),
        sync_wait,
        retry_after: Duration::from_secs(1),
        request_timeout: Duration::from_secs(60),
    }
}
