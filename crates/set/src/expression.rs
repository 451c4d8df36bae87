//! Expressions in values: `{"$reference": "NAME#POINTER"}` and `{"$concat": [...]}`.

use serde_json::{Map, Value, json};
use ucp_model::pointer::{Pointer, PointerBuf};
use ucp_schema::{reserved_member, unknown};

use crate::detail_code::DetailCode;
use crate::limits::CONCAT_PARTS_MAX;

const REFERENCE: &str = "$reference";
const CONCAT: &str = "$concat";

/// A value that depends on other resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// The value at an address.
    Reference(Address),
    /// A text of several parts.
    Concat(Vec<Part>),
    /// A value that is not known yet. Only a what-if may have one.
    Unknown,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A text.
    Text(String),
    /// The value at an address.
    Reference(Address),
}

/// The address of a value: `NAME`, or `NAME#POINTER`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The name of a resource.
    pub name: String,
    /// The place in its live properties; `None` for its primary identifier.
    pub pointer: Option<PointerBuf>,
}

/// Why an object is not an expression, although it has a member that only expressions have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// What kind of problem it is.
    pub code: DetailCode,
    /// What is wrong.
    pub message: String,
}

impl Expression {
    /// Reads a value. `None` if it is an ordinary one.
    pub fn read(value: &Value) -> Option<Result<Self, Misread>> {
        let members = value.as_object()?;
        let name = reserved_member(members)?;
        Some(Self::of_member(name, members))
    }

    fn of_member(name: &str, members: &Map<String, Value>) -> Result<Self, Misread> {
        if members.len() > 1 {
            return Err(invalid(format!(
                "{name} is the only member of its object. Take the others out."
            )));
        }
        match (name, &members[name]) {
            (REFERENCE, value) => Ok(Self::Reference(Address::read(value)?)),
            (CONCAT, Value::Array(parts)) => Self::concat(parts),
            (CONCAT, _) => Err(invalid(format!(
                "{CONCAT} takes a list of texts and references."
            ))),
            (_, Value::Bool(true)) => Ok(Self::Unknown),
            _ => Err(invalid(format!(
                "{name} takes true. Declare a value, or refer to one by {REFERENCE}."
            ))),
        }
    }

    fn concat(parts: &[Value]) -> Result<Self, Misread> {
        if parts.len() > CONCAT_PARTS_MAX {
            let message = format!(
                "{CONCAT} has {} parts, and may have {CONCAT_PARTS_MAX}. Use fewer.",
                parts.len()
            );
            let code = DetailCode::TooMany;
            return Err(Misread { code, message });
        }
        let parts = parts.iter().map(|part| match (part, Self::read(part)) {
            (Value::String(text), _) => Ok(Part::Text(text.clone())),
            (_, Some(Ok(Self::Reference(address)))) => Ok(Part::Reference(address)),
            (_, Some(Err(misread))) => Err(misread),
            (_, None | Some(Ok(Self::Concat(_) | Self::Unknown))) => Err(invalid(format!(
                "{CONCAT} takes texts, and objects with {REFERENCE}."
            ))),
        });
        Ok(Self::Concat(parts.collect::<Result<_, _>>()?))
    }

    /// Returns the addresses in it.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        let (one, parts) = match self {
            Self::Reference(address) => (Some(address), [].as_slice()),
            Self::Concat(parts) => (None, parts.as_slice()),
            Self::Unknown => (None, [].as_slice()),
        };
        let several = parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Reference(address) => Some(address),
        });
        one.into_iter().chain(several)
    }

    /// Returns it as JSON, with each name replaced.
    pub(crate) fn renamed(&self, rename: impl Fn(&Address) -> String) -> Value {
        let reference = |address: &Address| {
            let name = rename(address);
            json!({ REFERENCE: match &address.pointer {
                Some(pointer) => format!("{name}#{pointer}"),
                None => name,
            }})
        };
        match self {
            Self::Reference(address) => reference(address),
            Self::Concat(parts) => {
                let parts = parts.iter().map(|part| match part {
                    Part::Text(text) => Value::from(text.as_str()),
                    Part::Reference(address) => reference(address),
                });
                json!({ CONCAT: parts.collect::<Vec<Value>>() })
            }
            Self::Unknown => unknown(),
        }
    }
}

impl Address {
    fn read(value: &Value) -> Result<Self, Misread> {
        let text = value.as_str().unwrap_or_default();
        let (name, pointer) = match text.split_once('#') {
            Some((name, pointer)) => (name, Some(pointer)),
            None => (text, None),
        };
        if name.is_empty() {
            return Err(invalid(format!(
                "{REFERENCE} takes NAME or NAME#POINTER: a symbolic name, an alias or a tracking id, and the place of a property."
            )));
        }
        let pointer = pointer.filter(|pointer| !pointer.is_empty());
        let pointer = pointer.map(PointerBuf::parse).transpose();
        let pointer = pointer.map_err(|_| {
            invalid(format!(
                "what follows '#' in {REFERENCE} is not a JSON Pointer. One begins with '/', as in {name}#/VpcId."
            ))
        })?;
        Ok(Self {
            name: name.to_owned(),
            pointer,
        })
    }
}

fn invalid(message: impl Into<String>) -> Misread {
    Misread {
        code: DetailCode::InvalidReference,
        message: message.into(),
    }
}

/// Visits the expressions in `value`, each with its place.
pub fn visit(value: &Value, mut visit: impl FnMut(&Pointer, Result<Expression, Misread>)) {
    visit_below(value, &mut PointerBuf::root(), &mut visit);
}

fn visit_below(
    value: &Value,
    place: &mut PointerBuf,
    visit: &mut impl FnMut(&Pointer, Result<Expression, Misread>),
) {
    if let Some(expression) = Expression::read(value) {
        visit(place, expression);
        return;
    }
    for (step, child) in ucp_model::json::children(value) {
        place.push_back(step);
        visit_below(child, place, visit);
        place.pop_back();
    }
}

/// Returns `value` with each expression replaced. What cannot be read as one stays.
pub(crate) fn replaced<E>(
    value: &Value,
    replace: &mut impl FnMut(&Expression) -> Result<Value, E>,
) -> Result<Value, E> {
    match (Expression::read(value), value) {
        (Some(Ok(expression)), _) => replace(&expression),
        (Some(Err(_)), _) => Ok(value.clone()),
        (None, Value::Object(members)) => {
            let members = members.iter();
            let members = members
                .map(|(name, member)| Ok((name.clone(), replaced(member, replace)?)))
                .collect::<Result<Map<String, Value>, E>>()?;
            Ok(Value::Object(members))
        }
        (None, Value::Array(elements)) => {
            let elements = elements.iter().map(|element| replaced(element, replace));
            Ok(Value::Array(elements.collect::<Result<_, E>>()?))
        }
        (None, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            Ok(value.clone())
        }
    }
}

/// Returns `value` with each name in its references replaced.
pub fn renamed(value: &Value, rename: impl Fn(&Address) -> String) -> Value {
    let renamed = replaced(value, &mut |expression| {
        Ok::<_, std::convert::Infallible>(expression.renamed(&rename))
    });
    match renamed {
        Ok(value) => value,
    }
}

/// Returns the pointer of a place in a member of the body.
pub(crate) fn below(above: &str, place: &Pointer) -> String {
    format!("{above}{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Option<Result<Expression, Misread>> {
        Expression::read(&value)
    }

    #[test]
    fn only_the_members_of_expressions_make_one() {
        for ordinary in [
            json!({"$ref": "#/components/schemas/Pet"}),
            json!({"$schema": "x", "$id": 1}),
            json!("$reference"),
            json!({}),
            json!([{"$ref": "x"}]),
        ] {
            assert_eq!(read(ordinary.clone()), None, "{ordinary}");
        }
        assert_eq!(
            read(json!({"$reference": "net#/VpcId"})),
            Some(Ok(Expression::Reference(Address {
                name: "net".to_owned(),
                pointer: Some(PointerBuf::parse("/VpcId").unwrap()),
            })))
        );
        assert_eq!(
            read(json!({"$unknown": true})),
            Some(Ok(Expression::Unknown))
        );
        for wrong in [
            json!({"$reference": 1}),
            json!({"$reference": ""}),
            json!({"$reference": "#/VpcId"}),
            json!({"$reference": "net#VpcId"}),
            json!({"$reference": "net#/a~2"}),
            json!({"$reference": "net", "b": 1}),
            json!({"$concat": "net"}),
            json!({"$concat": [1]}),
            json!({"$concat": [{"$concat": []}]}),
            json!({"$concat": [{"a": "b"}]}),
            json!({"$concat": [{"$unknown": true}]}),
            json!({"$unknown": false}),
            json!({"$unknown": true, "b": 1}),
        ] {
            let read = read(wrong.clone());
            assert!(matches!(read, Some(Err(_))), "{wrong}: {read:?}");
        }
    }

    #[test]
    fn a_concat_has_so_many_parts_and_no_more() {
        let parts = |count| read(json!({"$concat": vec!["a"; count]})).unwrap();
        assert!(parts(CONCAT_PARTS_MAX).is_ok());
        assert_eq!(
            parts(CONCAT_PARTS_MAX + 1).unwrap_err().code,
            DetailCode::TooMany
        );
    }

    #[test]
    fn what_is_below_an_expression_is_not_visited() {
        let value =
            json!({"a": [{"$concat": ["x", {"$reference": "b"}]}], "c": {"$reference": "d"}});
        let mut places = Vec::new();
        visit(&value, |place, _| places.push(place.to_string()));
        assert_eq!(places, ["/a/0", "/c"]);
    }
}
