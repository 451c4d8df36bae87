//! The places in a model that a property path of a schema names.

use serde_json::{Map, Value};
use ucp_schema::{Classes, ResourceSchema, Segment};

/// The steps from a model to a value: names, and indexes as text.
pub(crate) type Place = Vec<String>;

/// Returns every place in `model` that `path` names, with its value. Arrays are entered even where the path lacks the
/// `*`, as in some schemas.
pub(crate) fn of<'a>(path: &[Segment], model: &'a Value) -> Vec<(Place, &'a Value)> {
    let mut found = Vec::new();
    collect(path, model, &mut Vec::new(), &mut found);
    found
}

/// Like [`of`], for every path of a class.
pub(crate) fn of_class<'a>(
    schema: &ResourceSchema,
    class: Classes,
    model: &'a Value,
) -> Vec<(Place, &'a Value)> {
    schema
        .listed(class)
        .flat_map(|path| of(path.segments(), model))
        .collect()
}

fn collect<'a>(
    path: &[Segment],
    value: &'a Value,
    place: &mut Place,
    found: &mut Vec<(Place, &'a Value)>,
) {
    let mut step = |rest: &[Segment], name: String, child: &'a Value| {
        place.push(name);
        collect(rest, child, place, found);
        place.pop();
    };
    match (path, value) {
        ([], value) => found.push((place.clone(), value)),
        ([Segment::Key(name), rest @ ..], Value::Object(members)) => {
            if let Some(child) = members.get(name) {
                step(rest, name.clone(), child);
            }
        }
        ([Segment::Any, rest @ ..], Value::Object(members)) => {
            for (name, child) in members {
                step(rest, name.clone(), child);
            }
        }
        ([first, rest @ ..], Value::Array(items)) => {
            let rest = match first {
                Segment::Any => rest,
                Segment::Key(_) => path,
            };
            for (index, child) in items.iter().enumerate() {
                step(rest, index.to_string(), child);
            }
        }
        _ => {}
    }
}

/// Returns the value at `place`.
pub(crate) fn get<'a>(model: &'a Value, place: &[String]) -> Option<&'a Value> {
    place.iter().try_fold(model, |value, step| match value {
        Value::Object(members) => members.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Like [`get`], to change the value.
pub(crate) fn get_mut<'a>(model: &'a mut Value, place: &[String]) -> Option<&'a mut Value> {
    place.iter().try_fold(model, |value, step| match value {
        Value::Object(members) => members.get_mut(step),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Puts `value` at `place`, creating objects on the way. Elements of arrays are not created: without the element, the
/// value would belong to nothing.
pub(crate) fn insert(model: &mut Value, place: &[String], value: Value) {
    let Some((step, rest)) = place.split_first() else {
        *model = value;
        return;
    };
    match model {
        Value::Object(members) => {
            let child = members
                .entry(step)
                .or_insert_with(|| Value::Object(Map::new()));
            insert(child, rest, value);
        }
        Value::Array(items) => {
            let index = step.parse::<usize>().ok();
            if let Some(child) = index.and_then(|index| items.get_mut(index)) {
                insert(child, rest, value);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use ucp_schema::PropertyPath;

    fn places(path: &str, model: &Value) -> Vec<String> {
        let Ok(path) = path.parse::<PropertyPath>();
        let found = of(path.segments(), model).into_iter();
        found.map(|(place, _)| place.join("/")).collect()
    }

    #[test]
    fn stars_stand_for_elements_and_may_be_left_out() {
        let model =
            json!({"Rules": [{"Id": 1}, {"Name": "b"}, {"Id": 3}], "Map": {"a": {"Id": 4}}});
        assert_eq!(
            places("/properties/Rules/*/Id", &model),
            ["Rules/0/Id", "Rules/2/Id"]
        );
        assert_eq!(
            places("/properties/Rules/Id", &model),
            ["Rules/0/Id", "Rules/2/Id"]
        );
        assert_eq!(places("/properties/Map/*/Id", &model), ["Map/a/Id"]);
        assert!(places("/properties/Other/Id", &model).is_empty());
    }

    #[test]
    fn what_is_found_can_be_put_back() {
        let model = json!({"Rules": [{"Id": 1}], "A": {"B": 2}});
        let mut bare = json!({"Rules": [{}]});
        for path in ["/properties/Rules/*/Id", "/properties/A/B"] {
            let Ok(path) = path.parse::<PropertyPath>();
            for (place, value) in of(path.segments(), &model) {
                assert_eq!(get(&model, &place), Some(value));
                insert(&mut bare, &place, value.clone());
            }
        }
        assert_eq!(bare, model);
    }
}
