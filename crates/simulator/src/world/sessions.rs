//! GetCallerIdentity, AssumeRole and AssumeRoleWithWebIdentity: the identities of callers and the sessions of roles.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use ucp_model::Timestamp;

use super::moment::Moment;
use crate::chance::Chance;
use crate::exception::{Exception, ExceptionCode};
use crate::request::{
    Action, AssumeRole, AssumeRoleWithWebIdentity, Caller, GetCallerIdentity, Reply, Session,
};

/// The prefix of the access keys of sessions.
const SESSION_KEY: &str = "ASIA";
/// The allowed durations of a session, in seconds.
const DURATION_SECONDS: std::ops::RangeInclusive<i64> = 900..=43_200;
/// The default duration of a session, in seconds.
const DURATION_DEFAULT: i64 = 3_600;

/// Who may assume a role, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trust {
    /// The ARN of the role.
    pub role_arn: String,
    /// The external id that callers must give.
    #[serde(default)]
    pub external_id: Option<String>,
    /// The duration of sessions, in milliseconds, whatever was requested.
    #[serde(default)]
    pub session_millis: Option<u64>,
}

/// The sessions, and the trust settings of roles.
#[derive(Default)]
pub(super) struct Sessions {
    begun: BTreeMap<String, Session>,
    trusts: BTreeMap<String, Trust>,
}

impl Sessions {
    pub(super) fn trust(&mut self, trust: Trust) {
        self.trusts.insert(trust.role_arn.clone(), trust);
    }

    /// Returns the account of a session's access key; for other access keys, the key itself, which names its account.
    pub(super) fn account<'a>(
        &'a self,
        access_key_id: &'a str,
        now: Timestamp,
    ) -> Result<&'a str, Exception> {
        match self.begun.get(access_key_id) {
            Some(session) if session.expires_at <= now => Err(Exception::new(
                ExceptionCode::ExpiredToken,
                "The security token included in the request is expired",
            )),
            Some(session) => Ok(&session.account),
            None if access_key_id.is_empty() || Caller::is_key(access_key_id) => Ok(access_key_id),
            None => Err(Exception::new(
                ExceptionCode::UnrecognizedClient,
                "The security token included in the request is invalid. The access key id of a simulated AWS is an \
                 account, twelve digits, optionally after AKIA, or that of a session which it began since its start.",
            )),
        }
    }

    pub(super) fn identity(&self, input: &GetCallerIdentity, moment: &Moment<'_>) -> Reply {
        let account = moment.caller.account.clone();
        match self.begun.get(&input.access_key_id) {
            Some(session) => Reply::Identity {
                arn: session.arn.clone(),
                user_id: session.user_id.clone(),
                account,
            },
            None => Reply::Identity {
                arn: root(&account),
                user_id: account.clone(),
                account,
            },
        }
    }

    pub(super) fn assume_role(
        &mut self,
        input: &AssumeRole,
        lasts: Option<Duration>,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        let wanted = self.trusts.get(&input.role_arn);
        let wanted = wanted.and_then(|trust| trust.external_id.as_ref());
        if wanted.is_some() && wanted != input.external_id.as_ref() {
            return Err(Exception::new(
                ExceptionCode::AccessDenied,
                format!(
                    "User: {} is not authorized to perform: sts:AssumeRole on resource: {}",
                    root(&moment.caller.account),
                    input.role_arn
                ),
            ));
        }
        let session = self.begin(
            (&input.role_arn, &input.role_session_name),
            (input.duration_seconds, lasts),
            moment,
        )?;
        Ok(Reply::Session {
            action: Action::AssumeRole,
            session,
        })
    }

    pub(super) fn assume_role_with_web_identity(
        &mut self,
        input: &AssumeRoleWithWebIdentity,
        lasts: Option<Duration>,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        if input.web_identity_token.is_empty() {
            return Err(Exception::constraint(
                "''",
                "webIdentityToken",
                "Member must have length greater than or equal to 4",
            ));
        }
        let session = self.begin(
            (&input.role_arn, &input.role_session_name),
            (input.duration_seconds, lasts),
            moment,
        )?;
        Ok(Reply::Session {
            action: Action::AssumeRoleWithWebIdentity,
            session,
        })
    }

    fn begin(
        &mut self,
        (role_arn, name): (&str, &str),
        (duration_seconds, ordered): (Option<i64>, Option<Duration>),
        moment: &Moment<'_>,
    ) -> Result<Session, Exception> {
        let (account, role) = role(role_arn).ok_or_else(|| {
            Exception::new(ExceptionCode::Validation, format!("{role_arn} is invalid"))
        })?;
        if name.len() < 2 {
            return Err(Exception::constraint(
                &format!("'{name}'"),
                "roleSessionName",
                "Member must have length greater than or equal to 2",
            ));
        }
        let seconds = duration_seconds.unwrap_or(DURATION_DEFAULT);
        if !DURATION_SECONDS.contains(&seconds) {
            return Err(Exception::constraint(
                &format!("'{seconds}'"),
                "durationSeconds",
                "Member must have value between 900 and 43200",
            ));
        }
        let trusted = self.trusts.get(role_arn);
        let trusted = trusted.and_then(|trust| trust.session_millis);
        let lasts = ordered
            .or_else(|| trusted.map(Duration::from_millis))
            .unwrap_or_else(|| Duration::from_secs(seconds.unsigned_abs()));
        let chance = Chance::new(moment.entropy, "simulator.session");
        let session = Session {
            access_key_id: format!("{SESSION_KEY}{}", chance.upper(16)),
            account: account.to_owned(),
            arn: format!("arn:aws:sts::{account}:assumed-role/{role}/{name}"),
            user_id: format!("AROA{}:{name}", chance.upper(17)),
            expires_at: moment.now.after(lasts),
        };
        let id = session.access_key_id.clone();
        self.begun.insert(id, session.clone());
        Ok(session)
    }
}

fn root(account: &str) -> String {
    format!("arn:aws:iam::{account}:root")
}

/// Returns the account and the name in `arn:aws:iam::123456789012:role/path/name`.
fn role(arn: &str) -> Option<(&str, &str)> {
    let (_, rest) = arn.strip_prefix("arn:")?.split_once(":iam::")?;
    let (account, path) = rest.split_once(":role/")?;
    let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
    Caller::is_account(account).then_some((account, name))
}
