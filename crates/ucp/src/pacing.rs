//! The rates at which AWS is called, as the command line and the file of `--config` say them.

use ucp_model::{CallClass, GroupId, RateKey, Scope};

/// Parses `ACCOUNT/REGION/CLASS`.
pub(crate) fn rate_key(text: &str) -> Result<RateKey, String> {
    let known = text.parse::<RateKey>().ok().and_then(|key| {
        let (account, region) = key.scope.split_once('/')?;
        let scope = Scope::new("aws", account, region).ok()?;
        let (scope, class) = (scope.key(), key.class);
        Some(RateKey { scope, class })
    });
    let classes = CallClass::ALL.map(CallClass::as_str).join(", ");
    known.ok_or_else(|| {
        format!("expected ACCOUNT/REGION/CLASS as in 123456789012/us-west-2/mutations; the classes are: {classes}")
    })
}

/// Judges a ceiling.
pub(crate) fn ceiling(rate: f64) -> Result<f64, String> {
    if (0.1..=10_000.0).contains(&rate) {
        Ok(rate)
    } else {
        Err(not_a_rate())
    }
}

fn not_a_rate() -> String {
    "a rate is a number of calls per second from 0.1 to 10000".to_owned()
}

/// Parses `PLANE/GROUP`, and returns the key of the group.
pub(crate) fn group_key(text: &str) -> Result<String, String> {
    let group = text.split_once('/');
    match group.map(|(plane, group)| GroupId::new(plane, group)) {
        Some(Ok(group)) => Ok(group.key()),
        Some(Err(_)) | None => Err("expected PLANE/GROUP as in local/my-group".to_owned()),
    }
}

/// Judges a weight.
pub(crate) fn weight(turns: u32) -> Result<u32, String> {
    if (1..=1_000).contains(&turns) {
        Ok(turns)
    } else {
        Err(not_a_weight())
    }
}

fn not_a_weight() -> String {
    "a weight is a whole number from 1 to 1000".to_owned()
}

/// Parses `ACCOUNT/REGION/CLASS=N`.
pub(crate) fn aws_rate(text: &str) -> Result<(RateKey, f64), String> {
    let (name, rate) = text
        .split_once('=')
        .ok_or("expected ACCOUNT/REGION/CLASS=N")?;
    let rate = rate.parse().map_err(|_| not_a_rate());
    Ok((rate_key(name)?, ceiling(rate?)?))
}

/// Parses `PLANE/GROUP=N`.
pub(crate) fn group_weight(text: &str) -> Result<(String, u32), String> {
    let (name, turns) = text.split_once('=').ok_or("expected PLANE/GROUP=N")?;
    let turns = turns.parse().map_err(|_| not_a_weight());
    Ok((group_key(name)?, weight(turns?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of a scope is in lower case.
    #[test]
    fn a_place_is_known_in_any_letters() {
        let key = rate_key("Prod/us-west-2/reads").expect("a key");
        assert_eq!(key.to_string(), "prod/us-west-2/reads");
    }
}
