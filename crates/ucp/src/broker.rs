//! The service broker: its section of the configuration, and what it reads at the start.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde::Deserialize;
use toml::Spanned;
use ucp_app::Platform;
use ucp_broker::{PlatformAccount, Platforms};
use ucp_model::Scope;
use ucp_offerings::{Offerings, Problem, SourceFile};
use ucp_schema::Catalogue;
use zeroize::Zeroizing;

use crate::wrong::{Wrong, wrong};

/// How long a platform that does not poll waits for the end of a change, unless the configuration says it.
const SYNC_WAIT: Duration = Duration::from_secs(50);
/// The shortest and the longest time that it may wait.
const SYNC_WAIT_MIN: Duration = Duration::from_secs(1);
const SYNC_WAIT_MAX: Duration = Duration::from_secs(600);
/// The plane of the resources of instances.
const PLANE: &str = "aws";
/// The maximum length of the name of a platform, in characters. A group's name has it besides the id of a space.
const NAME_MAX_CHARS: usize = 39;
/// The maximum number of platforms.
const PLATFORMS_MAX: usize = 100;
/// The maximum number of files of offerings.
const FILES_MAX: usize = 1_000;
/// The maximum size of a file of passwords, in bytes.
const PASSWORDS_MAX_BYTES: u64 = 64 * 1024;

/// The section `[broker]`, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Section {
    offerings: Spanned<PathBuf>,
    sync_wait: Option<Spanned<String>>,
    platforms: BTreeMap<Spanned<String>, PlatformEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlatformEntry {
    username: Spanned<String>,
    password_file: PathBuf,
    account: Spanned<String>,
    region: Spanned<String>,
    offerings: Option<BTreeSet<String>>,
}

/// A valid section `[broker]`. Paths are those of the file.
#[derive(Debug, PartialEq)]
pub(crate) struct BrokerConfig {
    offerings: PathBuf,
    sync_wait: Duration,
    platforms: Vec<PlatformConfig>,
}

#[derive(Debug, PartialEq)]
struct PlatformConfig {
    name: String,
    username: String,
    password_file: PathBuf,
    scope: Scope,
    offerings: Option<BTreeSet<String>>,
}

/// What a broker is started with.
pub(crate) struct Broker {
    pub(crate) offerings: Arc<Offerings>,
    pub(crate) platforms: Arc<Platforms>,
    pub(crate) sync_wait: Duration,
}

impl Section {
    pub(crate) fn checked(self) -> Result<BrokerConfig, Wrong> {
        let sync_wait = match &self.sync_wait {
            None => SYNC_WAIT,
            Some(given) => match humantime::parse_duration(given.get_ref()) {
                Ok(wait) if (SYNC_WAIT_MIN..=SYNC_WAIT_MAX).contains(&wait) => wait,
                Ok(_) => {
                    let (least, most) = (SYNC_WAIT_MIN.as_secs(), SYNC_WAIT_MAX.as_secs());
                    let message = format!("sync_wait: at least {least} s and at most {most} s");
                    return wrong(given.span(), message);
                }
                Err(error) => return wrong(given.span(), format!("sync_wait: {error}")),
            },
        };
        if self.platforms.is_empty() || self.platforms.len() > PLATFORMS_MAX {
            let message = format!(
                "a broker has 1 to {PLATFORMS_MAX} platforms: write [broker.platforms.NAME]"
            );
            return wrong(self.offerings.span(), message);
        }
        let mut platforms: Vec<PlatformConfig> = Vec::new();
        for (name, entry) in self.platforms {
            let span = name.span();
            let name = name.into_inner();
            let is_permitted =
                |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
            if name.is_empty() || name.len() > NAME_MAX_CHARS || !name.chars().all(is_permitted) {
                let message = format!(
                    "the name of a platform has 1 to {NAME_MAX_CHARS} letters, digits, `-` or `_`"
                );
                return wrong(span, message);
            }
            // A group's name would not tell whose it is.
            let begins = |one: &str, other: &str| {
                let (one, other) = (one.to_lowercase(), other.to_lowercase());
                one == other || one.starts_with(&format!("{other}-"))
            };
            let others = platforms.iter().map(|other| other.name.as_str());
            let mut alike = others.filter(|other| begins(&name, other) || begins(other, &name));
            if let Some(other) = alike.next() {
                let message = format!(
                    "the groups of `{name}` could be those of `{other}`: no platform's name may begin with that of another and a hyphen"
                );
                return wrong(span, message);
            }
            let platform = entry.checked(name)?;
            platforms.push(platform);
        }
        Ok(BrokerConfig {
            offerings: self.offerings.into_inner(),
            sync_wait,
            platforms,
        })
    }
}

impl PlatformEntry {
    fn checked(self, name: String) -> Result<PlatformConfig, Wrong> {
        let username = self.username.get_ref();
        if username.is_empty() || username.contains(':') {
            let message =
                "username: it must not be empty, and basic authentication has no `:` in it";
            return wrong(self.username.span(), message);
        }
        let account = self.account.get_ref();
        if account.len() != 12 || !account.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("`{account}` is not an AWS account id: write its 12 digits");
            return wrong(self.account.span(), message);
        }
        let scope = Scope::new(PLANE, account, self.region.get_ref());
        let scope = scope.or_else(|invalid| wrong(self.region.span(), invalid.to_string()))?;
        Ok(PlatformConfig {
            name,
            username: self.username.into_inner(),
            password_file: self.password_file,
            scope,
            offerings: self.offerings,
        })
    }
}

impl BrokerConfig {
    /// Reads the offerings and the passwords. Relative paths begin in `folder`.
    pub(crate) fn read(self, folder: &Path, catalogue: &Catalogue) -> anyhow::Result<Broker> {
        let offerings = read_offerings(&folder.join(&self.offerings), catalogue)?;
        let offerings = offerings.map_err(|problems| {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            anyhow!("the offerings cannot be used:\n{}", lines.join("\n"))
        })?;
        let mut accounts: Vec<PlatformAccount> = Vec::with_capacity(self.platforms.len());
        for platform in self.platforms {
            let name = &platform.name;
            for offering in platform.offerings.iter().flatten() {
                if !offerings.iter().any(|known| known.name() == offering) {
                    bail!("[broker.platforms.{name}]: there is no offering `{offering}`");
                }
            }
            let passwords = read_passwords(&folder.join(&platform.password_file))
                .with_context(|| format!("[broker.platforms.{name}]"))?;
            if let Some(same) = accounts.iter().find(|it| it.username == platform.username) {
                bail!(
                    "[broker.platforms.{name}]: `{}` has the same username",
                    same.platform.name
                );
            }
            accounts.push(PlatformAccount {
                platform: Platform {
                    name: platform.name,
                    scope: platform.scope,
                    offerings: platform.offerings,
                },
                username: platform.username,
                passwords,
            });
        }
        Ok(Broker {
            offerings: Arc::new(offerings),
            platforms: Arc::new(Platforms::new(accounts)),
            sync_wait: self.sync_wait,
        })
    }
}

/// Reads the offerings in a folder: its files `*.toml`. Returns all that is wrong with them.
pub(crate) fn read_offerings(
    folder: &Path,
    catalogue: &Catalogue,
) -> anyhow::Result<Result<Offerings, Vec<Problem>>> {
    let cannot = || format!("cannot read the offerings in {}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        if files.len() == FILES_MAX {
            bail!(
                "{}: at most {FILES_MAX} files of offerings",
                folder.display()
            );
        }
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.display().to_string();
        files.push(SourceFile { name, text });
    }
    if files.is_empty() {
        bail!(
            "{}: there is no file of offerings, *.toml",
            folder.display()
        );
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Offerings::read(&files, catalogue))
}

/// Reads the passwords in a file, one a line.
fn read_passwords(file: &Path) -> anyhow::Result<Vec<Zeroizing<String>>> {
    let cannot = || format!("cannot read {}", file.display());
    let size = fs::metadata(file).with_context(cannot)?.len();
    if size > PASSWORDS_MAX_BYTES {
        bail!(
            "{} has more than {PASSWORDS_MAX_BYTES} bytes",
            file.display()
        );
    }
    let text = Zeroizing::new(fs::read_to_string(file).with_context(cannot)?);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let passwords: Vec<_> = lines.map(|line| Zeroizing::new(line.to_owned())).collect();
    if passwords.is_empty() {
        bail!("{} has no password: write one a line", file.display());
    }
    Ok(passwords)
}

/// Reads what the configuration in `file` names.
pub(crate) fn started(
    config: Option<BrokerConfig>,
    file: Option<&Path>,
    catalogue: &Catalogue,
) -> anyhow::Result<Option<Broker>> {
    let Some(config) = config else {
        return Ok(None);
    };
    let folder = file.and_then(Path::parent).unwrap_or_else(|| Path::new(""));
    config.read(folder, catalogue).map(Some)
}
