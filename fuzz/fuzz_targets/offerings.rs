//! Reads arbitrary text as the file of an offering. One that is accepted has a catalog, and compiles what it accepts.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::Map;
use ucp_offerings::{Context, Offerings, Plan, Randoms, SourceFile};
use ucp_schema::Catalogue;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::embedded);

fuzz_target!(|text: &str| {
    let file = SourceFile {
        name: "fuzz.toml".to_owned(),
        text: text.to_owned(),
    };
    let offerings = match Offerings::read(&[file], &CATALOGUE) {
        Ok(offerings) => offerings,
        Err(problems) => {
            assert!(!problems.is_empty(), "it says what is wrong");
            return;
        }
    };
    let _ = offerings.catalog(|_| true);
    for offering in offerings.iter() {
        let own = offering.instance_randoms().iter();
        let bound = offering.binding().into_iter().flat_map(|it| it.randoms());
        let randoms = own.chain(bound).map(|name| (name.clone(), "random".to_owned()));
        let randoms = Randoms(randoms.collect::<BTreeMap<_, _>>());
        for plan in offering.plans() {
            order(plan, &randoms, offering.binding().is_some());
        }
    }
});

/// Orders with defaults alone.
fn order(plan: &Plan, randoms: &Randoms, is_bindable: bool) {
    let none = Map::new();
    let Ok(parameters) = plan.judge_create(&none) else {
        return;
    };
    let same = plan.judge_update(plan, false, &parameters, &none);
    assert!(same.is_ok_and(|same| same.is_none()), "nothing changes");
    let _ = plan.shown(&parameters);
    let context = Context {
        instance_id: "i".to_owned(),
        binding_id: None,
        organization_guid: "o".to_owned(),
        space_guid: "s".to_owned(),
        platform: "p".to_owned(),
        account: "123456789012".to_owned(),
        region: "us-west-2".to_owned(),
        expires_at: None,
    };
    assert!(plan.instance(&context, &parameters, randoms).is_ok(), "all is filled");
    let Ok(of_binding) = plan.judge_binding(&none) else {
        return;
    };
    let context = Context {
        binding_id: Some("b".to_owned()),
        expires_at: Some("2027-01-01T00:00:00Z".to_owned()),
        ..context
    };
    let bound = plan.binding(&context, &parameters, &of_binding, randoms);
    assert!(bound.is_ok() || !is_bindable, "all is filled");
}
