//! The file of `--config`: settings too large for a command line. Errors name the line.

use std::collections::BTreeMap;
use std::fs;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, anyhow};
use serde::Deserialize;
use toml::Spanned;
use ucp_access::{DeniedType, Grant, Invalid, Subject, judge_name};
use ucp_cloud_aws::{Account, AssumedRole};
use ucp_engine::Pacing;
use ucp_model::{
    Beyond, DefaultTags, Limit, MAX_TAGS, Most, PlaneId, PlaneKind, TagError, valid_tag,
};

use crate::broker::{BrokerConfig, Section};
use crate::pacing;
use crate::wrong::{Wrong, wrong};

/// The default session name.
const SESSION_NAME: &str = "ucp";

/// The length of a session name, in characters. It is that of AWS.
const SESSION_NAME_CHARS: RangeInclusive<usize> = 2..=64;
/// The length of an external id, in characters. It is that of AWS.
const EXTERNAL_ID_CHARS: RangeInclusive<usize> = 2..=1_224;
/// The maximum length of the ARN of a role, in characters. It is that of AWS.
const ROLE_ARN_MAX_CHARS: usize = 2_048;

/// The maximum number of grants.
const GRANTS_MAX: usize = 1_000;

/// What is limited of the file. It is refused at the start.
pub(crate) const LIMITS: &[Limit] = &[
    Limit {
        name: "config-tags",
        what: "`default_tags` of the file of `--config`, of the server and of each account",
        most: Most::Number(MAX_TAGS),
        beyond: Beyond::Told("`ucp` does not start, and says why."),
    },
    Limit {
        name: "config-grants",
        what: "`[[grants]]` of the file of `--config`",
        most: Most::Number(GRANTS_MAX),
        beyond: Beyond::Told("`ucp` does not start, and says why."),
    },
];

/// A valid configuration.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Config {
    /// How accounts are accessed, by their 12-digit ids.
    pub(crate) accounts: BTreeMap<String, Account>,
    /// The default tags of resources.
    pub(crate) default_tags: DefaultTags,
    /// Who may do what.
    pub(crate) grants: Vec<Grant>,
    /// The types of which nobody may change resources.
    pub(crate) denied: Vec<DeniedType>,
    /// The service broker, if there is one.
    pub(crate) broker: Option<BrokerConfig>,
    /// The rates at which AWS is called.
    pub(crate) pacing: Pacing,
}

impl Config {
    /// Reads the configuration from `file`; empty without a file.
    pub(crate) fn read(file: Option<&Path>) -> anyhow::Result<Self> {
        let Some(file) = file else {
            return Ok(Self::default());
        };
        let text =
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        Self::parse(&text).map_err(|wrong| {
            let line = text[..wrong.at].matches('\n').count() + 1;
            anyhow!("{}:{line}: {}", file.display(), wrong.message)
        })
    }

    fn parse(text: &str) -> Result<Self, Wrong> {
        let document: Document = toml::from_str(text).map_err(|error| Wrong {
            at: error.span().map_or(0, |span| span.start.min(text.len())),
            message: error.message().replace('\n', ", "),
        })?;
        let mut config = Self::default();
        config.default_tags.everywhere = tags(document.default_tags)?;
        config.grants = grants(document.grants)?;
        for types in document.deny_types {
            config.denied.push(parsed(&types)?);
        }
        if let Some(section) = document.broker {
            config.broker = Some(section.checked()?);
        }
        for (key, rate) in document.aws_rates {
            let of = said(&key, pacing::rate_key(key.get_ref()))?;
            let rate = said(&rate, pacing::ceiling(*rate.get_ref()))?;
            if config.pacing.ceilings.insert(of, rate).is_some() {
                return wrong(key.span(), "these calls have a rate already");
            }
        }
        for (key, turns) in document.group_weights {
            let of = said(&key, pacing::group_key(key.get_ref()))?;
            let turns = said(&turns, pacing::weight(*turns.get_ref()))?;
            if config.pacing.weights.insert(of, turns).is_some() {
                return wrong(key.span(), "the group has a weight already");
            }
        }
        for (id, entry) in document.accounts {
            let at = id.span();
            let id = id.into_inner();
            if id.len() != 12 || !id.bytes().all(|byte| byte.is_ascii_digit()) {
                return wrong(
                    at,
                    format!("`{id}` is not an AWS account id: write its 12 digits"),
                );
            }
            let (account, tags) = entry.checked(&id)?;
            if !tags.is_empty() {
                config.default_tags.by_account.insert(id.clone(), tags);
            }
            config.accounts.insert(id, account);
        }
        Ok(config)
    }
}

type Tags = BTreeMap<Spanned<String>, Spanned<String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    default_tags: Tags,
    #[serde(default)]
    accounts: BTreeMap<Spanned<String>, Entry>,
    #[serde(default)]
    grants: Vec<Spanned<GrantEntry>>,
    #[serde(default)]
    deny_types: Vec<Spanned<String>>,
    broker: Option<Section>,
    #[serde(default)]
    aws_rates: BTreeMap<Spanned<String>, Spanned<f64>>,
    #[serde(default)]
    group_weights: BTreeMap<Spanned<String>, Spanned<u32>>,
}

/// The entry of a grant.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantEntry {
    user: Option<Spanned<String>>,
    group: Option<Spanned<String>>,
    role: Spanned<String>,
    scopes: Vec<Spanned<String>>,
}

impl GrantEntry {
    fn checked(self, at: Range<usize>) -> Result<Grant, Wrong> {
        let who = match (self.user, self.group) {
            (Some(user), None) => Subject::User(name(user)?),
            (None, Some(group)) => Subject::Group(name(group)?),
            (None, None) | (Some(_), Some(_)) => {
                return wrong(
                    at,
                    "a grant is for a user or for a group: give one of the two",
                );
            }
        };
        let role = parsed(&self.role)?;
        let scopes = self.scopes.iter().map(parsed).collect::<Result<_, _>>()?;
        Grant::new(who, role, scopes).or_else(|error| wrong(at, error.to_string()))
    }
}

/// The entry of an account.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    role_arn: Option<Spanned<String>>,
    external_id: Option<Spanned<String>>,
    plane: Option<Spanned<String>>,
    session_name: Option<Spanned<String>>,
    cloud_control_role_arn: Option<Spanned<String>>,
    #[serde(default)]
    default_tags: Tags,
}

impl Entry {
    fn checked(self, id: &str) -> Result<(Account, BTreeMap<String, String>), Wrong> {
        if let Some(name) = &self.session_name
            && !fits(name.get_ref(), SESSION_NAME_CHARS, "_+=,.@-")
        {
            let message = format!(
                "session_name must be {} to {} letters, digits or characters of `_+=,.@-`",
                SESSION_NAME_CHARS.start(),
                SESSION_NAME_CHARS.end()
            );
            return wrong(name.span(), message);
        }
        if let Some(external_id) = &self.external_id
            && !fits(external_id.get_ref(), EXTERNAL_ID_CHARS, "_+=,.@:/-")
        {
            let message = format!(
                "external_id must be {} to {} letters, digits or characters of `_+=,.@:/-`",
                EXTERNAL_ID_CHARS.start(),
                EXTERNAL_ID_CHARS.end()
            );
            return wrong(external_id.span(), message);
        }
        if let Some(plane) = &self.plane
            && let Err(invalid) = PlaneId::new(PlaneKind::Aws, plane.get_ref())
        {
            return wrong(plane.span(), invalid.to_string());
        }
        let role = match self.role_arn {
            Some(arn) => Some(AssumedRole {
                arn: role_of(arn, "role_arn", id)?,
                external_id: self.external_id.map(Spanned::into_inner),
                plane: self.plane.map(Spanned::into_inner),
                session_name: self
                    .session_name
                    .map_or_else(|| SESSION_NAME.to_owned(), Spanned::into_inner),
            }),
            None => {
                for (given, name) in [
                    (self.external_id, "external_id"),
                    (self.plane, "plane"),
                    (self.session_name, "session_name"),
                ] {
                    if let Some(given) = given {
                        let message = format!("{name} is for assuming a role: give role_arn too");
                        return wrong(given.span(), message);
                    }
                }
                None
            }
        };
        let cloud_control_role_arn = match self.cloud_control_role_arn {
            Some(arn) => Some(role_of(arn, "cloud_control_role_arn", id)?),
            None => None,
        };
        let account = Account {
            role,
            cloud_control_role_arn,
        };
        Ok((account, tags(self.default_tags)?))
    }
}

/// Checks that `arn` is the ARN of a role of the account `id`.
fn role_of(arn: Spanned<String>, name: &str, id: &str) -> Result<String, Wrong> {
    let span = arn.span();
    let arn = arn.into_inner();
    let account = arn
        .strip_prefix("arn:")
        .and_then(|rest| rest.split_once(":iam::"))
        .and_then(|(_, rest)| rest.split_once(":role/"))
        .filter(|(_, role)| !role.is_empty() && arn.len() <= ROLE_ARN_MAX_CHARS);
    match account {
        Some((account, _)) if account == id => Ok(arn),
        Some((account, _)) => wrong(
            span,
            format!(
                "{name} is a role of {account}, so calls for {id} would go to {account}: give a role of {id}"
            ),
        ),
        None => wrong(
            span,
            format!("{name} is not the ARN of a role: write arn:aws:iam::{id}:role/NAME"),
        ),
    }
}

fn grants(entries: Vec<Spanned<GrantEntry>>) -> Result<Vec<Grant>, Wrong> {
    if let Some(entry) = entries.get(GRANTS_MAX) {
        let message =
            format!("there are more than {GRANTS_MAX} grants: store some as role assignments");
        return wrong(entry.span(), message);
    }
    let checked = entries.into_iter().map(|entry| {
        let at = entry.span();
        entry.into_inner().checked(at)
    });
    checked.collect()
}

fn name(given: Spanned<String>) -> Result<String, Wrong> {
    let at = given.span();
    let name = given.into_inner();
    judge_name(&name).or_else(|error| wrong(at, error.to_string()))?;
    Ok(name)
}

fn parsed<T: FromStr<Err = Invalid>>(given: &Spanned<String>) -> Result<T, Wrong> {
    let parsed = given.get_ref().parse();
    parsed.or_else(|error: Invalid| wrong(given.span(), error.to_string()))
}

fn said<T, U>(given: &Spanned<T>, judged: Result<U, String>) -> Result<U, Wrong> {
    judged.or_else(|message| wrong(given.span(), message))
}

fn tags(tags: Tags) -> Result<BTreeMap<String, String>, Wrong> {
    let given = tags.len();
    if let Some((key, _)) = tags.iter().nth(MAX_TAGS) {
        let message = format!(
            "{given} default tags are given here, and AWS accepts at most {MAX_TAGS} on a resource: remove some"
        );
        return wrong(key.span(), message);
    }
    let mut checked = BTreeMap::new();
    for (key, value) in tags {
        match valid_tag(key.get_ref(), value.get_ref()) {
            Ok(()) => checked.insert(key.into_inner(), value.into_inner()),
            Err(error @ (TagError::Key(_) | TagError::Mark(_) | TagError::Letters(_))) => {
                return wrong(key.span(), error.to_string());
            }
            Err(error @ TagError::Value(_)) => return wrong(value.span(), error.to_string()),
        };
    }
    Ok(checked)
}

fn fits(text: &str, length: RangeInclusive<usize>, others: &str) -> bool {
    length.contains(&text.len())
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || others.contains(letter))
}

#[cfg(test)]
mod tests {
    use ucp_access::Role;

    use super::*;

    /// Returns the line and the message of the error.
    fn refused(text: &str) -> (usize, String) {
        let wrong = Config::parse(text).expect_err("it is wrong");
        (text[..wrong.at].matches('\n').count() + 1, wrong.message)
    }

    fn refused_account(entry: &str) -> (usize, String) {
        refused(&format!("[accounts.012345678901]\n{entry}"))
    }

    #[test]
    fn a_file_says_how_accounts_are_reached() {
        let config = Config::parse(
            r#"
            [default_tags]
            team = "platform"
            [accounts.012345678901]
            role_arn = "arn:aws:iam::012345678901:role/team/ucp"
            external_id = "x:1"
            session_name = "deployments"
            cloud_control_role_arn = "arn:aws:iam::012345678901:role/service"
            [accounts.012345678901.default_tags]
            "cost center" = ""
            [accounts.222222222222]
            role_arn = "arn:aws-cn:iam::222222222222:role/ucp"
            [accounts.333333333333]
            "#,
        )
        .expect("it is right");
        let account = &config.accounts["012345678901"];
        let role = account.role.as_ref().expect("a role");
        assert_eq!(role.arn, "arn:aws:iam::012345678901:role/team/ucp");
        assert_eq!(role.external_id.as_deref(), Some("x:1"));
        assert_eq!(role.session_name, "deployments");
        assert!(account.cloud_control_role_arn.is_some());
        let tags = config.default_tags.in_account("012345678901");
        assert_eq!(tags.len(), 2);
        let role = config.accounts["222222222222"].role.as_ref();
        assert_eq!(role.expect("a role").session_name, "ucp");
        assert_eq!(config.accounts["333333333333"], Account::default());
        assert_eq!(Config::parse(""), Ok(Config::default()));
    }

    #[test]
    fn a_file_says_who_may_do_what() {
        let config = Config::parse(
            r#"
            deny_types = ["AWS.IAM/*"]
            [[grants]]
            user = "alice"
            role = "contributor"
            scopes = ["/planes/radius/local/resourcegroups/a", "/planes/aws/aws/accounts/1"]
            [[grants]]
            group = "oidc:auditors"
            role = "reader"
            scopes = ["/"]
            "#,
        )
        .expect("it is right");
        let scope = |text: &str| text.parse().expect("a scope");
        assert_eq!(
            config.grants,
            [
                Grant {
                    who: Subject::User("alice".to_owned()),
                    role: Role::Contributor,
                    scopes: vec![
                        scope("/planes/radius/local/resourcegroups/a"),
                        scope("/planes/aws/aws/accounts/1")
                    ],
                },
                Grant {
                    who: Subject::Group("oidc:auditors".to_owned()),
                    role: Role::Reader,
                    scopes: vec![scope("/")],
                },
            ]
        );
        assert_eq!(config.denied, ["AWS.IAM/*".parse().expect("types")]);
    }

    #[test]
    fn a_wrong_grant_is_named_with_its_line() {
        let whose = "user = \"a\"\nrole = \"reader\"\n";
        for (entry, line, why) in [
            (
                "role = \"reader\"\nscopes = [\"/\"]",
                1,
                "for a user or for a group",
            ),
            (
                &format!("{whose}group = \"b\"\nscopes = [\"/\"]"),
                1,
                "give one of the two",
            ),
            (&format!("{whose}scopes = []"), 1, "1 to 20 scopes"),
            (
                &format!("{whose}scopes = [\n\"/\",\n\"/planes/x/y\"]"),
                6,
                "'x' is not a plane type",
            ),
            (
                "user = \"a\"\nrole = \"king\"\nscopes = [\"/\"]",
                3,
                "'king' is not a role",
            ),
            (
                "group = \"\"\nrole = \"reader\"\nscopes = [\"/\"]",
                2,
                "1 to 256 characters",
            ),
        ] {
            let (at, message) = refused(&format!("[[grants]]\n{entry}"));
            assert_eq!(at, line, "{entry}: {message}");
            assert!(message.contains(why), "{message}");
        }
        let (line, message) = refused("\ndeny_types = [\"IAM\"]");
        assert_eq!((line, message.contains("does not name types")), (2, true));
        let grant = |_| format!("[[grants]]\n{whose}scopes = [\"/\"]\n");
        let file = |count: usize| (0..count).map(grant).collect::<String>();
        assert!(Config::parse(&file(GRANTS_MAX)).is_ok());
        let (_, message) = refused(&file(GRANTS_MAX + 1));
        assert!(message.contains("more than 1000 grants"), "{message}");
    }

    #[test]
    fn a_file_says_how_fast_aws_is_called() {
        let config = Config::parse(
            "[aws_rates]\n\"123456789012/us-west-2/mutations\" = 5\n\"123456789012/us-west-2/reads\" = 12.5\n[group_weights]\n\"local/Shop\" = 3\n",
        );
        let Pacing { ceilings, weights } = config.unwrap().pacing;
        let ceilings = ceilings.iter().map(|(key, rate)| format!("{key}={rate}"));
        assert_eq!(
            ceilings.collect::<Vec<_>>(),
            [
                "123456789012/us-west-2/mutations=5",
                "123456789012/us-west-2/reads=12.5"
            ]
        );
        assert_eq!(weights.len(), 1);
        for (wrong, line) in [
            ("[aws_rates]\n\"123456789012/us-west-2/writes\" = 5\n", 2),
            ("[aws_rates]\n\"123456789012/us-west-2/reads\" = 0\n", 2),
            ("\n[group_weights]\nshop = 3\n", 3),
            ("\n[group_weights]\n\"local/shop\" = 0\n", 3),
            (
                "[group_weights]\n\"local/Shop\" = 2\n\"local/shop\" = 3\n",
                3,
            ),
        ] {
            assert_eq!(refused(wrong).0, line, "{wrong}");
        }
    }

    #[test]
    fn default_tags_are_as_many_as_a_resource_can_have() {
        let tags = |count: usize| -> String {
            let tags = (0..count).map(|number| format!("k{number:02} = \"v\"\n"));
            tags.collect()
        };
        for table in ["default_tags", "accounts.012345678901.default_tags"] {
            let file = |count| format!("[{table}]\n{}", tags(count));
            assert!(Config::parse(&file(MAX_TAGS)).is_ok());
            let (line, message) = refused(&file(MAX_TAGS + 1));
            assert_eq!(line, MAX_TAGS + 2);
            assert!(message.starts_with("51 default tags"), "{message}");
        }
    }

    #[test]
    fn a_role_must_be_of_the_account_that_it_leads_to() {
        for name in ["role_arn", "cloud_control_role_arn"] {
            let entry = format!("{name} = \"arn:aws:iam::222222222222:role/ucp\"");
            let (line, message) = refused_account(&entry);
            assert_eq!(line, 2);
            assert!(message.contains("222222222222"), "{message}");
            assert!(message.contains("012345678901"), "{message}");
            for no_role in ["arn:aws:iam::012345678901:user/u", "ucp", ""] {
                let (_, message) = refused_account(&format!("{name} = \"{no_role}\""));
                assert!(
                    message.contains("arn:aws:iam::012345678901:role/NAME"),
                    "{message}"
                );
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let (line, message) = refused("[default_tags]\nteam = \"a\"\n[account.1]\n");
        assert_eq!(line, 3);
        assert!(message.contains("unknown field `account`"), "{message}");
        let (line, message) = refused_account("\nrolearn = \"x\"");
        assert_eq!(line, 3);
        assert!(message.contains("role_arn"), "{message}");
        for id in ["1234", "12345678901x"] {
            let (line, message) = refused(&format!("\n[accounts.{id}]"));
            assert_eq!(line, 2);
            assert!(message.contains("12 digits"), "{message}");
        }
        let (line, message) = refused_account("\nexternal_id = \"x-1\"");
        assert_eq!((line, message.contains("give role_arn too")), (3, true));
        let (line, message) = refused_account("session_name = \"a b\"");
        assert_eq!((line, message.contains("2 to 64")), (2, true));
        let (line, message) = refused("[default_tags]\n\n\"aws:x\" = \"y\"");
        assert_eq!((line, message.contains("`aws:x`")), (3, true));
        let (line, message) = refused("[default_tags]\nteam = 7");
        assert_eq!((line, message.contains("string")), (2, true));
        assert_eq!(refused("[default_tags]\nteam = ").0, 2);
        assert_eq!(refused("a = 1\na = 2").0, 2);
    }
}
