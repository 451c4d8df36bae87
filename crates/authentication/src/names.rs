//! Names belong to the source that vouches for them.

use ucp_access::{ANONYMOUS, BROKER_PREFIX, Principal, Source, TOKEN_PREFIX, judge_name};

use crate::provider::Refused;

/// How many groups a caller may be a member of.
pub(crate) const GROUPS_MAX: usize = 200;

/// What names of users of other identity providers begin with, if nothing else is configured.
const OIDC_PREFIX: &str = "oidc:";

/// Refuses a principal whose name or groups are those of another source. `prefix` is that of the identity provider.
pub(crate) fn judge(principal: Principal, prefix: Option<&str>) -> Result<Principal, Refused> {
    let Principal {
        name,
        groups,
        source,
        grants: _,
    } = &principal;
    let reserved: &[&str] = match source {
        Source::Anonymous | Source::Token => return Ok(principal),
        Source::Oidc => &[TOKEN_PREFIX, BROKER_PREFIX],
        Source::Certificate | Source::RequestHeader => &[TOKEN_PREFIX, BROKER_PREFIX, OIDC_PREFIX],
    };
    let of_provider = match source {
        Source::Certificate | Source::RequestHeader => prefix.filter(|prefix| !prefix.is_empty()),
        Source::Anonymous | Source::Token | Source::Oidc => None,
    };
    if groups.len() > GROUPS_MAX {
        return Err(Refused::invalid(format!(
            "The caller is a member of {} groups; the maximum is {GROUPS_MAX}.",
            groups.len()
        )));
    }
    for name in [name].into_iter().chain(groups) {
        judge_name(name).map_err(|error| Refused::invalid(error.to_string()))?;
        let begins = |reserved: &&str| {
            let start = name.get(..reserved.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(reserved))
        };
        let taken = reserved.iter().copied().chain(of_provider).find(begins);
        if let Some(taken) = taken {
            return Err(Refused::invalid(format!(
                "A name that begins with '{taken}' belongs to another way to authenticate."
            )));
        }
        if name.trim().eq_ignore_ascii_case(ANONYMOUS) {
            return Err(Refused::invalid(format!(
                "'{ANONYMOUS}' is the name of callers that are not known."
            )));
        }
    }
    Ok(principal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: Source, name: &str, group: &str) -> Principal {
        Principal {
            name: name.to_owned(),
            groups: vec![group.to_owned()],
            source,
            grants: Vec::new(),
        }
    }

    fn is_refused(principal: Principal, prefix: Option<&str>) -> bool {
        judge(principal, prefix).is_err()
    }

    #[test]
    fn no_source_makes_names_of_another() {
        for source in [Source::Certificate, Source::RequestHeader] {
            assert!(!is_refused(of(source, "ada", "ops"), Some("corp:")));
            for name in [
                "token:ci",
                "TOKEN:ci",
                "broker:cf",
                "Broker:cf",
                "oidc:ada",
                "corp:ada",
                "anonymous",
                " Anonymous",
                "a\u{202e}da",
                "",
            ] {
                let prefix = Some("corp:");
                assert!(is_refused(of(source, name, "ops"), prefix), "{name}");
                assert!(is_refused(of(source, "ada", name), prefix), "{name}");
            }
            // An empty prefix does not reserve all names.
            assert!(!is_refused(of(source, "ada", "ops"), Some("")));
        }
        assert!(!is_refused(
            of(Source::Oidc, "corp:ada", "oidc:x"),
            Some("corp:")
        ));
        assert!(is_refused(of(Source::Oidc, "token:ci", "ops"), Some("")));
        assert!(is_refused(of(Source::Oidc, "broker:cf", "ops"), Some("")));
        assert!(is_refused(of(Source::Oidc, "anonymous", "ops"), Some("")));
        let mut many = of(Source::Oidc, "oidc:ada", "ops");
        many.groups = vec!["ops".to_owned(); GROUPS_MAX];
        assert!(!is_refused(many.clone(), None));
        many.groups = vec!["ops".to_owned(); GROUPS_MAX + 1];
        assert!(is_refused(many, None));
    }
}
