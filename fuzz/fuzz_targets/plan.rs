//! Plans arbitrary documents with arbitrary schemas. The patch must apply and produce the planned model, without the write-only
//! values that AWS does not show.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use ucp_model::{Digest, json};
use ucp_plan::{Action, Desired, Mode, plan};
use ucp_schema::{Declaration, ResourceSchema};

fuzz_target!(|text: &str| {
    let Ok(line) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let Ok(schema) = ResourceSchema::parse(&line["schema"].to_string()) else {
        return;
    };
    let desired = |properties: &Value| {
        Desired::new(Declaration::unjudged(properties.clone()), &schema, |_, value| Digest {
            key_id: "fuzz".to_owned(),
            hmac: json::canonical(value),
        })
    };
    let last = line.get("lastApplied").map(|last| desired(last).baseline);
    let live = line.get("current").map(|live| schema.without_write_only(live));
    for mode in [Mode::Merge, Mode::Replace] {
        let plan = plan(&desired(&line["desired"]), last.as_ref(), live.as_ref(), &schema, mode);
        if plan.action == Action::Update {
            assert!(!plan.patch.0.is_empty());
            let mut result = live.clone().unwrap_or_default();
            json_patch::patch(&mut result, &plan.patch).expect("the patch applies");
            assert!(json::equal(&result, &plan.planned), "the patch gives the planned model");
        }
    }
});
