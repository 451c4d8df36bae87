//! Values in place of expressions.

use std::convert::Infallible;

use serde_json::Value;
use ucp_model::json;
use ucp_schema::{MAX_DECLARED_CHARS, is_unknown, unknown};

use crate::Link;
use crate::expression::{Address, Expression, Part, replaced, visit};

/// Why a value cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// What is referred to has no such value, or not yet.
    #[error("there is no value of {0}")]
    Missing(Box<Link>),
    /// What is referred to cannot be part of a text.
    #[error(
        "the value of {0} is neither a text nor a number nor a truth value, so it cannot be part of a text"
    )]
    NotText(Box<Link>),
    /// With the values it would be too long.
    #[error(
        "with the values that it refers to, it would have more than {MAX_DECLARED_CHARS} characters"
    )]
    TooLong,
    /// It was not linked.
    #[error("'{0}' is not the id of a reference")]
    NotLinked(String),
}

/// Returns the references in an expression, once it is linked.
pub fn links_of(expression: &Expression) -> impl Iterator<Item = Link> {
    expression.addresses().filter_map(Link::of)
}

/// Returns the references in a linked value.
pub fn links(value: &Value) -> Vec<Link> {
    let mut links = Vec::new();
    visit(value, |_, expression| {
        if let Ok(expression) = expression {
            links.extend(links_of(&expression));
        }
    });
    links
}

/// Returns the places of a linked value that its author leaves open, as JSON Pointers: unknown values, and those that refer to what
/// `is_open`.
pub fn left_open(value: &Value, is_open: impl Fn(&Link) -> bool) -> Vec<String> {
    let mut places = Vec::new();
    visit(value, |place, expression| {
        let is_left_open = match &expression {
            Ok(Expression::Unknown) => true,
            Ok(expression) => links_of(expression).any(|link| is_open(&link)),
            Err(_) => false,
        };
        if is_left_open {
            places.push(place.to_string());
        }
    });
    places
}

/// Returns `value` with unknown values in place of expressions.
pub fn with_unknown(value: &Value) -> Value {
    let known = replaced(value, &mut |_| Ok::<_, Infallible>(unknown()));
    match known {
        Ok(value) => value,
    }
}

/// Returns a linked value with the values that it refers to, which `value_of` returns. A text with an unknown part is
/// unknown.
pub fn resolve(
    value: &Value,
    value_of: impl Fn(&Link) -> Option<Value>,
) -> Result<Value, Unresolved> {
    let mut room = MAX_DECLARED_CHARS;
    replaced(value, &mut |expression| {
        let value = match expression {
            Expression::Reference(address) => {
                let link = link(address)?;
                value_of(&link).ok_or_else(|| Unresolved::Missing(Box::new(link)))?
            }
            Expression::Concat(parts) => text(parts, &value_of)?,
            Expression::Unknown => unknown(),
        };
        let length = json::length(&value);
        room = room.checked_sub(length).ok_or(Unresolved::TooLong)?;
        Ok(value)
    })
}

fn text(parts: &[Part], value_of: &impl Fn(&Link) -> Option<Value>) -> Result<Value, Unresolved> {
    let mut text = String::new();
    let mut is_known = true;
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Reference(address) => {
                let link = link(address)?;
                match value_of(&link) {
                    Some(Value::String(part)) => text.push_str(&part),
                    Some(value @ (Value::Number(_) | Value::Bool(_))) => {
                        text.push_str(&value.to_string());
                    }
                    Some(value) if is_unknown(&value) => is_known = false,
                    Some(Value::Null | Value::Array(_) | Value::Object(_)) => {
                        return Err(Unresolved::NotText(Box::new(link)));
                    }
                    None => return Err(Unresolved::Missing(Box::new(link))),
                }
            }
        }
        if text.len() > MAX_DECLARED_CHARS {
            return Err(Unresolved::TooLong);
        }
    }
    Ok(if is_known {
        Value::String(text)
    } else {
        unknown()
    })
}

fn link(address: &Address) -> Result<Link, Unresolved> {
    Link::of(address).ok_or_else(|| Unresolved::NotLinked(address.name.clone()))
}
