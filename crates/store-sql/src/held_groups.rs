//! The groups that deployments of refactors hold: nothing else works on one of them as a whole.

use ucp_model::{GroupId, OperationId};
use ucp_store::Error;

use crate::database::{Abort, Transaction, statements, values};
use crate::json::{parsed, to_json};

statements! {
    /// The groups are a JSON array of their keys.
    HOLD = ["INSERT INTO held_groups (group_key, operation) SELECT group_key, $2 FROM ("]
        postgres "SELECT json_array_elements_text($1::json) AS group_key"
        sqlite "SELECT value AS group_key FROM json_each($1)" [") AS named"];
    RELEASE = ["DELETE FROM held_groups WHERE operation = $1"];
    /// The first deployment that holds one of these groups, except for one.
    HOLDER = ["SELECT operation AS id FROM held_groups WHERE group_key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))" [" AND operation <> $2 ORDER BY group_key LIMIT 1"];
}

/// Lets a deployment hold groups. The caller has locked those that exist. Of two that hold one that does not, the second fails, and
/// its retry finds the first.
pub(crate) async fn hold(
    transaction: &mut Transaction,
    groups: &[GroupId],
    operation: OperationId,
) -> Result<(), Abort> {
    let values = values![keys(groups)?, operation.to_string()];
    transaction.execute(HOLD, values).await?;
    Ok(())
}

/// Ends what a deployment holds.
pub(crate) async fn release(
    transaction: &mut Transaction,
    operation: OperationId,
) -> Result<(), Abort> {
    let values = values![operation.to_string()];
    transaction.execute(RELEASE, values).await?;
    Ok(())
}

/// Returns the deployment that holds one of these groups, except for `but`.
pub(crate) async fn holder(
    transaction: &mut Transaction,
    groups: &[GroupId],
    but: Option<OperationId>,
) -> Result<Option<OperationId>, Abort> {
    let but = but.map(|operation| operation.to_string());
    let values = values![keys(groups)?, but.unwrap_or_default()];
    let row = transaction.fetch_optional(HOLDER, values).await?;
    let id = row.map(|row| parsed(row.get("id")?));
    Ok(id.transpose()?)
}

fn keys(groups: &[GroupId]) -> Result<String, Error> {
    let keys: std::collections::BTreeSet<String> = groups.iter().map(GroupId::key).collect();
    to_json(&keys)
}
