//! Schemas that are narrowed by keywords.

use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_schema::Patterns;

use super::judge::Judge;
use super::keywords::Keyword;
use crate::problem::Problems;

/// Returns a schema that accepts less: what both it and the keywords accept. Tells of keywords that do not fit it.
pub(crate) fn narrowed(
    base: &Value,
    keywords: &[Keyword],
    patterns: &Arc<Patterns>,
    problems: &mut Problems,
) -> Value {
    let mut narrow = base.as_object().cloned().unwrap_or_default();
    let lists = keywords.iter().any(|keyword| keyword.name == "enum");
    let judge = lists.then(|| Judge::of(base, patterns)).flatten();
    for Keyword { name, line, value } in keywords {
        let before = base.get(*name);
        let told = fits(name, value, before, base, judge.as_ref());
        if let Some(why) = told {
            problems.add(*line, format!("`{name}` {why}"));
            continue;
        }
        if let ("pattern", Some(before)) = (*name, before) {
            let all = narrow
                .entry("allOf")
                .or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(all) = all {
                all.push(Value::Object(Map::from_iter([(
                    "pattern".to_owned(),
                    before.clone(),
                )])));
            }
        }
        narrow.insert((*name).to_owned(), value.clone());
    }
    for (bound, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        // A stricter bound is as exclusive as the keywords say.
        let says = |name: &str| keywords.iter().find(|keyword| keyword.name == name);
        if says(bound).is_some_and(|keyword| Some(&keyword.value) != base.get(bound))
            && says(exclusive).is_none()
        {
            narrow.shift_remove(exclusive);
        }
        if let Some(keyword) = says(exclusive)
            && !narrow.contains_key(bound)
        {
            problems.add(keyword.line, format!("`{exclusive}` needs `{bound}`"));
            narrow.shift_remove(exclusive);
        }
    }
    for (least, most) in [
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    ] {
        let bound = |name: &str| narrow.get(name).and_then(Value::as_f64);
        if let (Some(low), Some(high)) = (bound(least), bound(most))
            && low > high
        {
            let keyword = keywords
                .iter()
                .find(|one| one.name == least || one.name == most);
            if let Some(Keyword { line, .. }) = keyword {
                let message = format!("no value fits: `{least}` is more than `{most}`");
                problems.add(*line, message);
            }
        }
    }
    Value::Object(narrow)
}

/// Returns why a keyword does not narrow a schema.
fn fits(
    name: &str,
    value: &Value,
    before: Option<&Value>,
    base: &Value,
    judge: Option<&Judge>,
) -> Option<String> {
    let types = types(base);
    if let Some(kind) = kind(name)
        && !types.is_empty()
        && !types.iter().any(|known| kind.contains(known))
    {
        return Some(format!(
            "is of no use here: the value is {}",
            types.join(" or ")
        ));
    }
    match name {
        "enum" => {
            let options = value.as_array().into_iter().flatten();
            let refused =
                options.filter(|option| judge.is_some_and(|judge| !judge.accepts(option)));
            let refused: Vec<String> = refused
                .map(|option| format!("`{option}`"))
                .take(5)
                .collect();
            let refused = (!refused.is_empty()).then(|| refused.join(", "))?;
            Some(format!("has values that are not allowed here: {refused}"))
        }
        "type" => {
            let wanted = Value::Object(Map::from_iter([("type".to_owned(), value.clone())]));
            let wanted = self::types(&wanted);
            let is_allowed = |wanted: &&str| {
                types.is_empty()
                    || types.contains(wanted)
                    || *wanted == "integer" && types.contains(&"number")
            };
            let refused: Vec<&str> = wanted.into_iter().filter(|one| !is_allowed(one)).collect();
            (!refused.is_empty()).then(|| {
                format!(
                    "cannot be {}: the value is {}",
                    refused.join(" or "),
                    types.join(" or ")
                )
            })
        }
        "minimum" | "minLength" | "minItems" | "minProperties" => {
            let (new, old) = (value.as_f64()?, before?.as_f64()?);
            (new < old).then(|| format!("only narrows: it is {old} or more"))
        }
        "maximum" | "maxLength" | "maxItems" | "maxProperties" => {
            let (new, old) = (value.as_f64()?, before?.as_f64()?);
            (new > old).then(|| format!("only narrows: it is {old} or less"))
        }
        "multipleOf" => {
            let (new, old) = (value.as_f64()?, before?.as_f64()?);
            let ratio = new / old;
            let is_multiple = (ratio - ratio.round()).abs() < 1e-9;
            (!is_multiple).then(|| format!("only narrows: it is a multiple of {old}"))
        }
        "uniqueItems" | "exclusiveMinimum" | "exclusiveMaximum" => {
            let is_wider = before == Some(&Value::Bool(true)) && value == &Value::Bool(false);
            is_wider.then(|| "only narrows: it is true".to_owned())
        }
        _ => None,
    }
}

/// Returns the types that a schema names.
fn types(schema: &Value) -> Vec<&str> {
    schema
        .as_object()
        .map(ucp_schema::subschema::types)
        .unwrap_or_default()
}

/// Returns the types of which a keyword says something.
fn kind(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "pattern" | "minLength" | "maxLength" => &["string"],
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            &["number", "integer"]
        }
        "minItems" | "maxItems" | "uniqueItems" | "items" => &["array"],
        "minProperties" | "maxProperties" | "properties" | "additionalProperties" => &["object"],
        _ => return None,
    })
}
