//! Generates a sample of every type that can be created, and a change to it.

use serde_json::Value;
use ucp_schema::{Catalogue, Classes, ResourceSchema};

fn provisionable() -> Vec<std::sync::Arc<ResourceSchema>> {
    let catalogue = Catalogue::embedded();
    let schemas = catalogue
        .type_names()
        .filter_map(|name| catalogue.get(name));
    schemas.filter(|schema| schema.is_provisionable()).collect()
}

fn check(seed: u64) {
    let mut changeable = 0;
    for schema in provisionable() {
        let name = schema.type_name();
        let model = ucp_sample::declaration(&schema, seed);
        assert_eq!(schema.validate_model(&model), [], "{name}: {model}");
        let mut settable = model.clone();
        schema.remove_listed(Classes::READ_ONLY, &mut settable);
        assert_eq!(model, settable, "{name} gives what is read-only");

        let Some(changed) = ucp_sample::changed(&schema, &model, seed) else {
            continue;
        };
        changeable += 1;
        assert_ne!(model, changed, "{name}");
        assert_eq!(schema.validate_model(&changed), [], "{name}: {changed}");
        assert_eq!(
            schema.identifier(&model),
            schema.identifier(&changed),
            "{name}"
        );
        for class in [Classes::CREATE_ONLY, Classes::WRITE_ONLY] {
            assert_eq!(
                only(&schema, class, &model),
                only(&schema, class, &changed),
                "{name}: {model} {changed}"
            );
        }
    }
    // The others have no update handler, or no property that an update could change.
    assert!(changeable > 1_450, "{changeable}");
}

/// Returns the values of a class, for paths without `*`.
fn only<'a>(schema: &ResourceSchema, class: Classes, model: &'a Value) -> Vec<&'a Value> {
    let paths = schema.listed(class);
    paths.filter_map(|path| path.get(model)).collect()
}

#[test]
fn every_provisionable_type_has_a_valid_declaration() {
    check(7);
}

#[test]
fn another_seed_makes_other_declarations() {
    check(u64::MAX);
    let schema = &provisionable()[0];
    let samples = |seed| ucp_sample::declaration(schema, seed);
    assert_eq!(samples(1), samples(1));
    assert!((2..6).any(|seed| samples(seed) != samples(1)));
}
