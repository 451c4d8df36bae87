//! The credentials of Azure planes (contract D53).

use serde_json::json;
use ucp_testkit::{World, apply, on_every_store};

const API_VERSION: &str = "api-version=2023-10-01-preview";

#[apply(on_every_store)]
async fn d53_an_azure_plane_has_no_credentials(world: &World) {
    for plane in ["azurecloud", "Any.Name_1"] {
        let list = format!("/planes/Azure/{plane}/Providers/system.azure/Credentials");
        let listed = world
            .get(&format!("{list}?{API_VERSION}"))
            .await
            .expect(200);
        assert_eq!(listed.body, json!({"value": []}));
        let one = world.get(&format!("{list}/default?{API_VERSION}")).await;
        assert_eq!(one.expect(404).code(), "NotFound");
        world.get(&list).await.expect(400);
        for method in ["PUT", "DELETE"] {
            let path = format!("{list}/default?{API_VERSION}");
            let refused = world.call(method, &path, "{}").await.expect(405);
            assert_eq!(refused.header("allow"), Some("GET,HEAD"));
            assert!(
                refused.text.contains("It supports GET, HEAD."),
                "{}",
                refused.text
            );
        }
    }
    // Nothing else of an Azure plane is served.
    let plane = format!("/planes/azure/azurecloud?{API_VERSION}");
    assert_eq!(
        world.get(&plane).await.expect(400).code(),
        "InvalidPlaneType"
    );
}
