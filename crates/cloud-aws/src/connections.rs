//! The connections to AWS. All clients share them: those of one client would be as many as there are clients, and each
//! client would read the certificates of the machine again. A connection that is idle is closed after 90 seconds.

use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::{Builder, Connector};
use aws_smithy_runtime_api::client::http::SharedHttpClient;

/// Returns what the SDK would make for each client.
pub(crate) fn shared() -> SharedHttpClient {
    Builder::new().build_with_connector_fn(|settings, components| {
        let tls = Provider::Rustls(CryptoMode::AwsLc);
        let mut connector = Connector::builder().tls_provider(tls);
        connector.set_connector_settings(settings.cloned());
        connector.set_sleep_impl(components.and_then(|components| components.sleep_impl()));
        connector.set_proxy_config(Some(ProxyConfig::from_env()));
        connector.build()
    })
}
