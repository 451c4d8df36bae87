//! The decorator of Cloud Control.

use async_trait::async_trait;
use ucp_cloud::{CloudControl, Fault};
use ucp_model::{
    ClientToken, Identifier, Progress, RequestPage, RequestToken, ResourceDescription,
    ResourcePage, Scope, TypeName,
};

use crate::process::Observed;
use crate::{CrashPoint, Moment};

impl Observed<dyn CloudControl> {
    /// Makes the call. The reply is lost if the process crashes after it.
    async fn at<R>(
        &self,
        moment: Option<Moment>,
        call: impl Future<Output = Result<R, Fault>>,
    ) -> Result<R, Fault> {
        let Some(moment) = moment else {
            self.process.living()?;
            return call.await;
        };
        self.process.reached(CrashPoint::before(moment)).await?;
        let reply = call.await;
        self.process.reached(CrashPoint::after(moment)).await?;
        reply
    }
}

/// Implements [`CloudControl`], given its methods without `&self` and `scope`, each with its success type and its moment.
macro_rules! observed {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $reply:ty = $moment:expr;)*) => {
        #[async_trait]
        impl CloudControl for Observed<dyn CloudControl> {
            $(async fn $name(&self, scope: &Scope, $($argument: $type),*) -> Result<$reply, Fault> {
                self.at($moment, self.inner.$name(scope, $($argument),*)).await
            })*
        }
    };
}

observed! {
    fn create_resource(name: &TypeName, desired: &str, token: ClientToken) -> Progress = Some(Moment::Create);
    fn update_resource(name: &TypeName, id: &Identifier, patch: &str, token: ClientToken) -> Progress
        = Some(Moment::Update);
    fn delete_resource(name: &TypeName, id: &Identifier, token: ClientToken) -> Progress = Some(Moment::Delete);
    fn get_resource(name: &TypeName, id: &Identifier) -> ResourceDescription = Some(Moment::Look);
    fn list_resources(name: &TypeName, next: Option<&str>) -> ResourcePage = None;
    fn get_resource_request_status(token: &RequestToken) -> Progress = Some(Moment::Poll);
    fn list_resource_requests(next: Option<&str>) -> RequestPage = None;
    fn cancel_resource_request(token: &RequestToken) -> Progress = Some(Moment::Cancel);
}
