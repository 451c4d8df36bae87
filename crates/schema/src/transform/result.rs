use jsonata_core::value::JValue;
use serde_json::{Number, Value};
use ucp_model::json;

use super::pattern::LastPattern;

/// Returns whether a live value is the result of an expression. Null and undefined match nothing.
pub(super) fn is(result: &JValue, live: &Value, last: &LastPattern) -> bool {
    match (result, live) {
        (JValue::Array(results), Value::Array(items)) => {
            let mut pairs = results.iter().zip(items);
            results.len() == items.len() && pairs.all(|(result, item)| is(result, item, last))
        }
        // JSONata does not distinguish a sequence of one from its item.
        (_, Value::Array(items)) => matches!(items.as_slice(), [item] if is(result, item, last)),
        (JValue::Object(results), Value::Object(members)) => {
            let mut results = results.iter();
            let is_member = |(name, result): (&String, &JValue)| {
                members
                    .get(name)
                    .is_some_and(|member| is(result, member, last))
            };
            results.len() == members.len() && results.all(is_member)
        }
        (JValue::Bool(result), Value::Bool(live)) => result == live,
        (JValue::String(result), Value::String(live)) => last.is_text(result, live),
        (JValue::String(result), Value::Number(live)) => **result == *live.to_string(),
        (JValue::Number(_), Value::String(live)) => result.to_string() == *live,
        (JValue::Number(result), Value::Number(_)) => {
            decimal(*result).is_some_and(|result| json::equal(&Value::Number(result), live))
        }
        _ => false,
    }
}

/// Converts a float. A fraction is rounded to the digits that JSONata shows, which hides rounding errors.
fn decimal(number: f64) -> Option<Number> {
    if number.fract() == 0.0 {
        return Number::from_f64(number);
    }
    format!("{number:.14e}").parse().ok()
}
