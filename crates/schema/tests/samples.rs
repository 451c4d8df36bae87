//! A sample of every type that can be created.

use ucp_schema::{Catalogue, sample};

#[test]
fn every_provisionable_type_has_a_valid_declaration() {
    let catalogue = Catalogue::embedded();
    let mut wrong = Vec::new();
    let mut changeable = 0;
    for name in catalogue.type_names() {
        let schema = catalogue.get(name).unwrap();
        if !schema.is_provisionable() {
            continue;
        }
        let properties = sample::declaration(&schema, 7);
        let violations = schema.validate_model(&properties);
        if !violations.is_empty() {
            wrong.push(format!("{name}: {} {properties}", violations[0]));
            continue;
        }
        changeable += usize::from(sample::changed(&schema, &properties, 7).is_some());
    }
    println!("{changeable} can be changed");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
