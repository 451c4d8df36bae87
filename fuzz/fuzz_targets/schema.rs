//! Parses arbitrary text as a schema. If it is accepted, it validates documents and generates samples.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use ucp_schema::ResourceSchema;

fuzz_target!(|text: &str| {
    let Ok(schema) = ResourceSchema::parse(text) else {
        return;
    };
    let _ = schema.warnings();
    let model = ucp_sample::declaration(&schema, 1);
    for document in [model, json!({"Id": "a", "Tags": [{"Key": "a"}]}), json!([])] {
        let _ = schema.validate_declaration(&document);
        let _ = schema.validate_model(&document);
        let _ = schema.identifier(&document);
        let _ = schema.without_write_only(&document);
    }
});
