//! Tests the replies of a CloudFormation registry and their effects.
#![expect(clippy::unwrap_used, reason = "a test may panic on unexpected results")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use ucp_cloud::{Fault, TypeDescription, TypeRegistry};
use ucp_cpu_pool::CpuPool;
use ucp_model::{Clock, Scope, Timestamp, TypeName};
use ucp_observe::{CrashPoint, Crashed, Observer, Process};
use ucp_registry::{Parts, Registry, SchemaSource, Settings};
use ucp_schema::{Catalogue, ResourceTypes, UnknownType};
use ucp_store::{Memory, Store};

/// A registry that always gives the same reply.
struct Told {
    answer: Option<TypeDescription>,
    calls: AtomicUsize,
}

#[async_trait]
impl TypeRegistry for Told {
    async fn describe_type(&self, _: &Scope, _: &TypeName) -> Result<TypeDescription, Fault> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        match &self.answer {
            Some(answer) => Ok(answer.clone()),
            None => std::future::pending().await,
        }
    }
}

#[derive(Default)]
struct Now(AtomicI64);

impl Clock for Now {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

struct Setting {
    registry: Registry,
    told: Arc<Told>,
    store: Arc<dyn Store>,
    now: Arc<Now>,
}

fn setting(answer: Option<TypeDescription>) -> Setting {
    setting_with(SchemaSource::Registry, answer)
}

fn setting_with(source: SchemaSource, answer: Option<TypeDescription>) -> Setting {
    setting_over(Catalogue::embedded(), source, answer)
}

fn setting_over(
    catalogue: Catalogue,
    source: SchemaSource,
    answer: Option<TypeDescription>,
) -> Setting {
    setting_on(Arc::new(Memory::new()), catalogue, source, answer)
}

fn setting_on(
    store: Arc<dyn Store>,
    catalogue: Catalogue,
    source: SchemaSource,
    answer: Option<TypeDescription>,
) -> Setting {
    setting_in(CpuPool::new(), store, catalogue, source, answer)
}

fn setting_in(
    pool: CpuPool,
    store: Arc<dyn Store>,
    catalogue: Catalogue,
    source: SchemaSource,
    answer: Option<TypeDescription>,
) -> Setting {
    let told = Arc::new(Told {
        answer,
        calls: AtomicUsize::new(0),
    });
    let now = Arc::new(Now::default());
    let parts = Parts {
        catalogue,
        store: store.clone(),
        types: Arc::clone(&told) as _,
        clock: Arc::clone(&now) as _,
        pool,
    };
    let settings = Settings {
        source,
        ttl: Duration::from_secs(3_600),
        timeout: Duration::from_millis(1),
    };
    Setting {
        registry: Registry::new(parts, settings),
        told,
        store,
        now,
    }
}

fn told(schema: impl ToString) -> Option<TypeDescription> {
    Some(TypeDescription {
        schema: schema.to_string(),
        is_provisioned: true,
    })
}

fn schema(type_name: &str) -> Value {
    json!({
        "typeName": type_name,
        "properties": {"Name": {"type": "string"}},
        "primaryIdentifier": ["/properties/Name"],
        "propertyTransform": {"/properties/Name": "$lowercase(Name)"},
        "handlers": {"create": {}, "read": {}, "delete": {}},
    })
}

fn scope() -> Scope {
    Scope::new("aws", "123456789012", "us-west-2").unwrap()
}

fn named(name: &str) -> TypeName {
    TypeName::from_cloudformation(name).unwrap()
}

#[tokio::test]
async fn what_is_not_a_schema_of_the_type_is_refused_and_not_kept() {
    let deep = "[".repeat(100_000);
    let long = format!("\"{}\"", "x".repeat(3 * 1024 * 1024));
    let mut circular = schema("Initech::TPS::Report");
    circular["allOf"] = json!([{"$ref": "#"}]);
    for text in [
        String::new(),
        deep,
        long,
        "{}".to_owned(),
        circular.to_string(),
        schema("Initech::TPS::Other").to_string(),
        schema("AWS::EC2::VPC").to_string(),
    ] {
        let Setting {
            registry,
            told,
            store,
            ..
        } = setting(told(&text));
        let name = named("Initech::TPS::Report");
        for _ in 0..3 {
            let unknown = registry.get(&scope(), &name).await.unwrap_err();
            assert!(matches!(unknown, UnknownType::Unusable(_)), "{unknown:?}");
        }
        assert_eq!(told.calls.load(Ordering::SeqCst), 1);
        let kept = store.get_type_schema(&scope(), &name, None).await.unwrap();
        assert_eq!(kept, None);
    }
}

#[tokio::test]
async fn a_registry_that_does_not_answer_in_time_is_unreachable() {
    let registry = setting(None).registry;
    let unknown = registry.get(&scope(), &named("Initech::TPS::Report")).await;
    let unknown = unknown.unwrap_err();
    assert!(
        matches!(unknown, UnknownType::Unreachable(_)),
        "{unknown:?}"
    );
}

#[tokio::test]
async fn the_registry_is_not_asked_for_embedded_types_if_they_are_the_source() {
    let Setting { registry, told, .. } = setting_with(SchemaSource::Embedded, None);
    let vpc = registry
        .get(&scope(), &named("aws::ec2::vpc"))
        .await
        .unwrap();
    assert_eq!(vpc.type_name().as_str(), "AWS::EC2::VPC");
    assert_eq!(told.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_registry_comes_before_the_embedded_schema() {
    let mut newer = schema("AWS::EC2::VPC");
    newer["properties"]["AddedLastWeek"] = json!({"type": "string"});
    let Setting { registry, told, .. } = setting(told(&newer));
    // It knows one casing only.
    let vpc = registry.get(&scope(), &named("aws::ec2::vpc")).await;
    let vpc = vpc.unwrap();
    assert_eq!(vpc.document()["properties"], newer["properties"]);
    registry
        .get(&scope(), &named("AWS::EC2::VPC"))
        .await
        .unwrap();
    assert_eq!(told.calls.load(Ordering::SeqCst), 1);
    let version = registry
        .get_version(&scope(), &named("AWS::EC2::VPC"), vpc.fingerprint())
        .await;
    assert_eq!(version.unwrap().fingerprint(), vpc.fingerprint());
}

#[tokio::test]
async fn the_embedded_schema_stands_in_until_the_registry_is_asked_again() {
    let Setting {
        registry,
        told,
        now,
        ..
    } = setting(None);
    let name = named("AWS::EC2::VPC");
    let embedded = Catalogue::embedded().get(&name).unwrap();
    for _ in 0..3 {
        let vpc = registry.get(&scope(), &name).await.unwrap();
        assert_eq!(vpc.fingerprint(), embedded.fingerprint());
    }
    assert_eq!(told.calls.load(Ordering::SeqCst), 1);
    now.0.fetch_add(5_000, Ordering::SeqCst);
    registry.get(&scope(), &name).await.unwrap();
    // The refresh runs in the background.
    while told.calls.load(Ordering::SeqCst) == 1 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_schema_that_was_added_is_not_refreshed() {
    let mut catalogue = Catalogue::embedded();
    let added = schema("AWS::EC2::VPC").to_string();
    catalogue.with_schema(&added).unwrap();
    let Setting { registry, told, .. } = setting_over(catalogue, SchemaSource::Registry, None);
    let vpc = registry.get(&scope(), &named("AWS::EC2::VPC")).await;
    assert!(vpc.unwrap().document()["properties"]["Name"].is_object());
    assert_eq!(told.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn only_expressions_of_aws_are_kept() {
    for (name, kept) in [("AWS::Newer::Thing", true), ("Initech::TPS::Report", false)] {
        let registry = setting(told(schema(name))).registry;
        let schema = registry.get(&scope(), &named(name)).await.unwrap();
        let transforms = schema.document().get("propertyTransform");
        assert_eq!(transforms.is_some(), kept, "{name}");
    }
}

#[tokio::test]
async fn a_type_that_is_not_provisionable_can_be_read_and_deleted() {
    let name = "Initech::TPS::Report";
    let answer = told(schema(name)).map(|told| TypeDescription {
        is_provisioned: false,
        ..told
    });
    let Setting {
        registry, store, ..
    } = setting(answer);
    let schema = registry.get(&scope(), &named(name)).await.unwrap();
    assert!(!schema.is_provisionable());
    let handlers = schema.handlers();
    assert!(handlers.read && handlers.delete);
    let kept = store.get_type_schema(&scope(), &named(name), None).await;
    assert!(!kept.unwrap().unwrap().is_provisioned);
}

#[tokio::test]
async fn an_operation_finds_the_schema_that_it_was_validated_with() {
    let name = named("Initech::TPS::Report");
    let Setting {
        registry, store, ..
    } = setting(told(schema(name.as_str())));
    let current = registry.get(&scope(), &name).await.unwrap();
    let mut older = schema(name.as_str());
    older["description"] = json!("older");
    let older = ucp_store::TypeSchema {
        text: older.to_string(),
        fingerprint: "older".to_owned(),
        is_provisioned: true,
        fetched_at: Timestamp::from_millis(-1),
    };
    store.put_type_schema(&scope(), &name, older).await.unwrap();
    let version = |fingerprint: &'static str| {
        let (registry, name) = (registry.clone(), name.clone());
        async move {
            registry
                .get_version(&scope(), &name, fingerprint)
                .await
                .unwrap()
        }
    };
    assert_eq!(version("older").await.document()["description"], "older");
    assert_eq!(
        version("forgotten").await.fingerprint(),
        current.fingerprint()
    );
}

/// Counts the calls to the store.
#[derive(Default)]
struct Asked(AtomicUsize);

#[async_trait]
impl Observer for Asked {
    async fn reached(&self, _: CrashPoint) -> Result<(), Crashed> {
        Ok(())
    }

    fn asked_store(&self, _: &'static str) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Neither a request nor a worker asks the store or the registry for a schema that is known, until it is too old. Then
/// one task refreshes it, and nobody waits.
#[tokio::test]
async fn a_warm_schema_costs_no_statement() {
    let asked = Arc::new(Asked::default());
    let memory: Arc<dyn Store> = Arc::new(Memory::new());
    let store = Process::observed_by(asked.clone()).store(memory);
    let name = named("Initech::TPS::Report");
    let Setting {
        registry,
        told,
        now,
        ..
    } = setting_on(
        store,
        Catalogue::embedded(),
        SchemaSource::Registry,
        told(schema(name.as_str())),
    );
    let asked = || {
        (
            asked.0.load(Ordering::SeqCst),
            told.calls.load(Ordering::SeqCst),
        )
    };
    let cold = async || registry.get(&scope(), &name).await.unwrap();
    let (one, two) = tokio::join!(cold(), cold());
    assert_eq!(one.fingerprint(), two.fingerprint());
    assert_eq!(asked(), (2, 1), "it is read, described and put");
    let warm = async || {
        for _ in 0..100 {
            let scope = scope();
            registry.get(&scope, &name).await.unwrap();
            let version = registry.get_version(&scope, &name, one.fingerprint());
            version.await.unwrap();
        }
    };
    warm().await;
    assert_eq!(asked(), (2, 1));

    now.0.store(3_600_001, Ordering::SeqCst);
    warm().await;
    assert_eq!(asked(), (2, 1), "nobody waits for the refresh");
    while asked() != (4, 2) {
        tokio::task::yield_now().await;
    }
    warm().await;
    tokio::task::yield_now().await;
    assert_eq!(asked(), (4, 2));
}

/// A request may name hundreds of types, each of which takes milliseconds to compile.
#[tokio::test]
async fn what_has_to_be_compiled_waits_for_a_thread_of_the_pool() {
    for (source, type_name) in [
        (SchemaSource::Embedded, "AWS::CE::CostCategory"),
        (SchemaSource::Registry, "Acme::Test::Added"),
    ] {
        let mut catalogue = Catalogue::embedded();
        catalogue
            .with_schema(&schema("Acme::Test::Added").to_string())
            .unwrap();
        let pool = CpuPool::with_threads(1);
        let store = Arc::new(Memory::new());
        let Setting { registry, .. } = setting_in(pool.clone(), store, catalogue, source, None);
        let (scope, type_name) = (scope(), named(type_name));
        let at_once = async || {
            let got = registry.get(&scope, &type_name);
            let got = tokio::time::timeout(Duration::ZERO, got).await.ok()?;
            assert!(got.unwrap().is_compiled());
            Some(())
        };

        let (release, held) = std::sync::mpsc::channel::<()>();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let other = tokio::spawn(async move {
            let work = move || {
                begun.send(()).unwrap();
                held.recv().unwrap_err();
            };
            pool.run(work).await.unwrap();
        });
        has_begun.await.unwrap();
        assert_eq!(at_once().await, None, "{type_name}");
        drop(release);
        other.await.unwrap();

        let compiled = registry.get(&scope, &type_name).await.unwrap();
        assert!(compiled.is_compiled());
        assert_eq!(at_once().await, Some(()), "{type_name}");
    }
}
