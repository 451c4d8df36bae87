//! The connections to AWS. All clients share them: those of one client would be as many as there are clients, and each
//! client would read the certificates of the machine again. A connection that is idle is closed after 90 seconds.

use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::{Builder, Connector};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use http_body_util::Limited;

/// The longest reply of AWS that is read, in bytes. Who plays AWS may answer without an end.
pub const REPLY_MAX_BYTES: usize = 16 << 20;

/// Returns what the SDK would make for each client, with bounded replies.
pub(crate) fn shared() -> SharedHttpClient {
    let client = Builder::new().build_with_connector_fn(|settings, components| {
        let tls = Provider::Rustls(CryptoMode::AwsLc);
        let mut connector = Connector::builder().tls_provider(tls);
        connector.set_connector_settings(settings.cloned());
        connector.set_sleep_impl(components.and_then(|components| components.sleep_impl()));
        connector.set_proxy_config(Some(ProxyConfig::from_env()));
        connector.build()
    });
    http_client_fn(move |settings: &HttpConnectorSettings, components| {
        SharedHttpConnector::new(Bounded(client.http_connector(settings, components)))
    })
}

/// A connector whose replies end with an error beyond [`REPLY_MAX_BYTES`].
#[derive(Debug)]
struct Bounded(SharedHttpConnector);

impl HttpConnector for Bounded {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let reply = self.0.call(request);
        HttpConnectorFuture::new(async move { Ok(reply.await?.map(bounded)) })
    }
}

fn bounded(body: SdkBody) -> SdkBody {
    SdkBody::from_body_1_x(Limited::new(body, REPLY_MAX_BYTES))
}
