//! Which AWS resources are accounted for.

use ucp_model::{Identifier, LeftoverReason, Scope};

use super::fixture::*;
use super::leftovers::leave;

/// What a reference of any group stands for, and what the register has, is accounted for: of this type, in this place,
/// in this spelling.
pub async fn what_is_accounted_for_is_told(store: Engine) {
    with_group(&store, "rg").await;
    with_group(&store, "other").await;
    leave(&store, 1, "a", "new", Some("old"), LeftoverReason::Salvage).await;
    let put = with(put(2, "b"), |new| {
        new.reference = Some(alias_in("other", "b"));
    });
    let claimed = accept_and_claim(&store, put).await;
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "others", false),
    )
    .await;
    let names = ["new", "old", "others", "New", "unknown"];
    let asked: Vec<Identifier> = names.into_iter().map(Identifier::new).collect();
    let known = async |scope: &Scope, asked: &[Identifier]| {
        let known = store.accounted_for(scope, &type_name(), asked).await;
        let known = known.unwrap().into_iter();
        known
            .map(|known| known.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(known(&scope(), &asked).await, ["new", "old", "others"]);
    assert_eq!(known(&scope(), &[]).await, [""; 0]);
    let elsewhere = Scope::new("aws", "123456789012", "eu-west-1").unwrap();
    assert_eq!(known(&elsewhere, &asked).await, [""; 0]);
}
