use ucp_model::{InstanceId, Reference, ReferenceId, Secrets};

use crate::rules::instance_of;
use crate::{Error, Store};

/// Returns the random values of an instance and its bindings. None are left once it is gone.
pub async fn secrets_of(store: &dyn Store, instance: &InstanceId) -> Result<Secrets, Error> {
    let Some(row) = store.get_service_instance(instance).await? else {
        return Ok(Secrets::default());
    };
    let bindings = store.list_service_bindings(&row.id).await?;
    let of_bindings = bindings.into_iter().flat_map(|it| it.randoms.into_values());
    Ok(Secrets::new(row.randoms.into_values().chain(of_bindings)))
}

/// Returns the reference and the instance that it belongs to, if it does. The aliases of these have a colon.
pub async fn of_an_instance(
    store: &dyn Store,
    id: &ReferenceId,
) -> Result<Option<(Reference, InstanceId)>, Error> {
    if !id.alias.contains(':') {
        return Ok(None);
    }
    let reference = store.get_reference(id).await?;
    Ok(reference.and_then(|it| Some((it.clone(), instance_of(&it.id, &it.tags)?))))
}
