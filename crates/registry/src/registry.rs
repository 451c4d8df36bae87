use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tracing::{info, warn};
use ucp_cloud::{Fault, FaultClass, TypeDescription, TypeRegistry};
use ucp_cpu_pool::{CpuPool, Undone, for_everybody};
use ucp_model::{Clock, Scope, TypeName};
use ucp_schema::{Catalogue, ResourceSchema, ResourceTypes, SchemaError, UnknownType};
use ucp_store::rules::type_key;
use ucp_store::{TypeSchema, TypeSchemas};

use crate::entry::{Entry, Known};

/// How long a refusal of the registry is cached, and the pause after a failed refresh.
const BELIEF: Duration = Duration::from_secs(60);
/// The pause before an unreachable registry is queried again. Also how long a type is believed not to exist: it may be
/// registered at any moment.
const RESPITE: Duration = Duration::from_secs(5);
/// How long the registry may take to describe a type that has an embedded schema.
const STAND_IN_AFTER: Duration = Duration::from_secs(3);
/// The number of cached types above which entries that are not in use are evicted.
const ENTRIES_MAX: usize = 1_000;
/// Only AWS registers types under this prefix.
const AWS_PREFIX: &str = "AWS::";

/// The dependencies of a [`Registry`].
pub struct Parts {
    /// The types that were added to it need no registry. Its embedded types need none or are the stand-ins, by
    /// [`Settings::source`].
    pub catalogue: Catalogue,
    /// The store.
    pub store: Arc<dyn TypeSchemas>,
    /// The CloudFormation registry.
    pub types: Arc<dyn TypeRegistry>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Where schemas are read and compiled.
    pub pool: CpuPool,
}

/// Where the schemas of public types come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaSource {
    /// From the registry of the account and region. The embedded schema is used while the registry's cannot be had.
    Registry,
    /// From the embedded set. The registry is asked only for types that are not in it.
    Embedded,
}

/// The settings of a [`Registry`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the schemas of public types come from.
    pub source: SchemaSource,
    /// How long a schema is used before it is refreshed.
    pub ttl: Duration,
    /// Time-out of a call to the registry.
    pub timeout: Duration,
}

/// All resource types. Clones share the cache.
#[derive(Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

/// The number of registries of this process. What they keep of schemas has one bound, and each knows its own.
static REGISTRIES: AtomicU64 = AtomicU64::new(0);

struct Shared {
    number: u64,
    parts: Parts,
    settings: Settings,
    entries: Mutex<BTreeMap<String, Arc<Entry>>>,
}

impl Registry {
    /// Creates a registry.
    pub fn new(parts: Parts, settings: Settings) -> Self {
        let entries = Mutex::default();
        Self {
            shared: Arc::new(Shared {
                number: REGISTRIES.fetch_add(1, Ordering::Relaxed),
                parts,
                settings,
                entries,
            }),
        }
    }
}

#[async_trait]
impl ResourceTypes for Registry {
    fn catalogue(&self) -> &Catalogue {
        &self.shared.parts.catalogue
    }

    async fn get(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, UnknownType> {
        let shared = &self.shared;
        if let Some(schema) = shared.fixed(type_name).await? {
            return Ok(schema);
        }
        // The registry knows one casing only.
        let type_name = shared.parts.catalogue.canonical(type_name);
        shared.answer(scope, type_name).await
    }

    async fn get_version(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        fingerprint: &str,
    ) -> Result<Arc<ResourceSchema>, UnknownType> {
        let Parts {
            catalogue, store, ..
        } = &self.shared.parts;
        if let Some(schema) = self.shared.catalogued(type_name).await?
            && schema.fingerprint() == fingerprint
        {
            return Ok(schema);
        }
        let type_name = catalogue.canonical(type_name);
        let entry = self.shared.entry(scope, type_name);
        if let Some(Known::Schema { schema, .. }) = entry.known()
            && let Some(schema) = schema.upgrade()
            && schema.fingerprint() == fingerprint
        {
            return Ok(schema);
        }
        let key = format!("{} {fingerprint}", self.shared.key(scope, type_name));
        if let Some(schema) = catalogue.recent().get(&key) {
            return Ok(schema);
        }
        let stored = store.get_type_schema(scope, type_name, Some(fingerprint));
        let stored = stored.await.map_err(unavailable)?;
        if let Some(stored) = stored
            && let Ok(schema) = self.shared.parsed(&stored, type_name).await?
        {
            let schema = Arc::new(schema);
            catalogue.recent().used(&key, &schema);
            return Ok(schema);
        }
        self.get(scope, type_name).await
    }
}

impl Shared {
    /// Returns the schema of a type that needs no registry.
    async fn fixed(
        &self,
        type_name: &TypeName,
    ) -> Result<Option<Arc<ResourceSchema>>, UnknownType> {
        let is_fixed = match self.settings.source {
            SchemaSource::Registry => self.parts.catalogue.added(type_name).is_some(),
            SchemaSource::Embedded => true,
        };
        if is_fixed {
            self.catalogued(type_name).await
        } else {
            Ok(None)
        }
    }

    /// Returns the catalogue's schema of a type, compiled. What has to be compiled is left to a thread that keeps nobody waiting: a
    /// request may name hundreds of types.
    async fn catalogued(
        &self,
        type_name: &TypeName,
    ) -> Result<Option<Arc<ResourceSchema>>, UnknownType> {
        let Parts {
            catalogue, pool, ..
        } = &self.parts;
        if let Some(schema) = catalogue.at_hand(type_name) {
            return Ok(Some(schema));
        }
        if !catalogue.has(type_name) {
            return Ok(None);
        }
        let (catalogue, type_name) = (catalogue.clone(), type_name.clone());
        let compile = move || {
            let schema = catalogue.get(&type_name)?;
            schema.compile();
            Some(schema)
        };
        match pool.run(compile).await {
            Ok(schema) => Ok(schema),
            Err(Undone::Busy | Undone::TooLong) => Err(UnknownType::Busy),
        }
    }

    /// Returns the key by which a schema is kept.
    fn key(&self, scope: &Scope, type_name: &TypeName) -> String {
        format!("{} {}", self.number, type_key(scope, type_name))
    }

    fn entry(&self, scope: &Scope, type_name: &TypeName) -> Arc<Entry> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let key = type_key(scope, type_name);
        if entries.len() >= ENTRIES_MAX && !entries.contains_key(&key) {
            entries.retain(|_, entry| Arc::strong_count(entry) > 1);
        }
        Arc::clone(entries.entry(key).or_default())
    }

    /// Returns what is known of a type that the catalogue has no fixed schema of.
    async fn answer(
        self: &Arc<Self>,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, UnknownType> {
        let entry = self.entry(scope, type_name);
        if entry.known().is_some_and(|known| known.is_embedded()) {
            self.catalogued(type_name).await?;
        }
        if let Some(answer) = self.remembered(&entry, scope, type_name) {
            return answer;
        }
        let _flight = entry.flight.lock().await;
        // Another task may have fetched it in the meantime.
        match self.remembered(&entry, scope, type_name) {
            Some(answer) => answer,
            None => self.look_up(&entry, scope, type_name).await,
        }
    }

    /// Returns the cached result, if any. If it is too old, one background task refreshes it.
    fn remembered(
        self: &Arc<Self>,
        entry: &Arc<Entry>,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Option<Result<Arc<ResourceSchema>, UnknownType>> {
        let now = self.parts.clock.now();
        match entry.known()? {
            Known::Schema {
                schema,
                is_embedded,
                refresh_at,
            } => {
                let catalogue = &self.parts.catalogue;
                let schema = if is_embedded {
                    catalogue.get(type_name)?
                } else {
                    schema.upgrade()?
                };
                if !is_embedded {
                    let recent = catalogue.recent();
                    recent.used(&self.key(scope, type_name), &schema);
                }
                if now >= refresh_at
                    && let Ok(flight) = Arc::clone(&entry.flight).try_lock_owned()
                {
                    let (shared, entry) = (Arc::clone(self), Arc::clone(entry));
                    let (scope, schema) = (scope.clone(), Arc::clone(&schema));
                    tokio::spawn(async move {
                        let _flight = flight;
                        shared.refresh(&entry, &scope, &schema).await;
                    });
                }
                Some(Ok(schema))
            }
            Known::Nothing { asked, why, until } => {
                (now < until && asked == *type_name).then_some(Err(why))
            }
        }
    }

    /// Gets a type's schema from the store, or else from the registry. If neither has it, uses the embedded one until
    /// the next refresh.
    async fn look_up(
        &self,
        entry: &Entry,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, UnknownType> {
        let stored = self
            .parts
            .store
            .get_type_schema(scope, type_name, None)
            .await
            .map_err(unavailable)?;
        if let Some(stored) = stored
            && let Ok(schema) = self.parsed(&stored, type_name).await?
        {
            return Ok(self.remember(scope, entry, schema, &stored));
        }
        let fetched = self.fetch(entry, scope, type_name).await;
        let Err(why) = &fetched else {
            return fetched;
        };
        let belief = match why {
            UnknownType::Unreachable(_) | UnknownType::Missing { .. } | UnknownType::Busy => {
                RESPITE
            }
            UnknownType::Refused(_) | UnknownType::Unusable(_) => BELIEF,
            UnknownType::Store(_) => return fetched,
        };
        let until = self.parts.clock.now().after(belief);
        if let Some(schema) = self.catalogued(type_name).await? {
            entry.set_schema(&schema, true, until);
            return Ok(schema);
        }
        if let UnknownType::Busy = why {
            return fetched;
        }
        entry.set(Known::Nothing {
            asked: type_name.clone(),
            why: why.clone(),
            until,
        });
        fetched
    }

    /// Takes a newer schema from the store, if another process has fetched one, or queries the registry. If that fails,
    /// `schema` is kept.
    async fn refresh(&self, entry: &Entry, scope: &Scope, schema: &Arc<ResourceSchema>) {
        let Parts { store, clock, .. } = &self.parts;
        let type_name = schema.type_name();
        if let Ok(Some(stored)) = store.get_type_schema(scope, type_name, None).await
            && stored.fetched_at.after(self.settings.ttl) > clock.now()
            && let Ok(Ok(schema)) = self.parsed(&stored, type_name).await
        {
            self.remember(scope, entry, schema, &stored);
            return;
        }
        if self.fetch(entry, scope, type_name).await.is_err() {
            let embedded = self.catalogued(type_name).await.ok().flatten();
            let is_embedded = embedded.is_some_and(|embedded| Arc::ptr_eq(&embedded, schema));
            entry.set_schema(schema, is_embedded, clock.now().after(BELIEF));
        }
    }

    /// Queries the registry and stores the result.
    async fn fetch(
        &self,
        entry: &Entry,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, UnknownType> {
        let fetched = self.describe(scope, type_name).await;
        let (account, region) = (&scope.account, &scope.region);
        match &fetched {
            Ok((schema, _)) => {
                let fingerprint = schema.fingerprint();
                info!(type.name = %type_name, account, region, fingerprint, "schema fetched");
            }
            Err(why) => {
                warn!(type.name = %type_name, account, region, error = %ucp_model::chain(why), "no schema")
            }
        }
        let (schema, stored) = fetched?;
        let put = self
            .parts
            .store
            .put_type_schema(scope, type_name, stored.clone());
        put.await.map_err(unavailable)?;
        Ok(self.remember(scope, entry, schema, &stored))
    }

    async fn describe(
        &self,
        scope: &Scope,
        type_name: &TypeName,
    ) -> Result<(ResourceSchema, TypeSchema), UnknownType> {
        let Parts {
            types,
            clock,
            catalogue,
            ..
        } = &self.parts;
        let timeout = if catalogue.has(type_name) {
            self.settings.timeout.min(STAND_IN_AFTER)
        } else {
            self.settings.timeout
        };
        let description = tokio::time::timeout(timeout, types.describe_type(scope, type_name));
        let TypeDescription {
            schema: text,
            is_provisioned,
        } = description
            .await
            .unwrap_or_else(|_| Err(too_late(timeout)))
            .map_err(|fault| self.unknown(type_name, fault))?;
        let mut stored = TypeSchema {
            text,
            fingerprint: String::new(),
            is_provisioned,
            fetched_at: clock.now(),
        };
        let schema = self.parsed(&stored, type_name).await?;
        let schema = schema.map_err(|error| UnknownType::Unusable(Arc::new(error)))?;
        schema.fingerprint().clone_into(&mut stored.fingerprint);
        Ok((schema, stored))
    }

    /// Parses and compiles a stored schema. Anyone can register a type, so that may take its time.
    async fn parsed(
        &self,
        stored: &TypeSchema,
        type_name: &TypeName,
    ) -> Result<Result<ResourceSchema, SchemaError>, UnknownType> {
        let (stored, type_name) = (stored.clone(), type_name.clone());
        let parse = move || {
            let schema = parsed(&stored, &type_name)?;
            schema.compile();
            Ok(schema)
        };
        match for_everybody(self.parts.pool.run(parse)).await {
            Ok(parsed) => Ok(parsed),
            // It takes long only on a machine without time left: what a schema can cost has bounds.
            Err(Undone::Busy | Undone::TooLong) => Err(UnknownType::Busy),
        }
    }

    fn remember(
        &self,
        scope: &Scope,
        entry: &Entry,
        schema: ResourceSchema,
        stored: &TypeSchema,
    ) -> Arc<ResourceSchema> {
        let schema = Arc::new(schema);
        entry.set_schema(&schema, false, stored.fetched_at.after(self.settings.ttl));
        let recent = self.parts.catalogue.recent();
        recent.used(&self.key(scope, schema.type_name()), &schema);
        schema
    }

    fn unknown(&self, type_name: &TypeName, fault: Fault) -> UnknownType {
        match fault.class {
            FaultClass::Missing => self.missing(type_name),
            FaultClass::Rejected if fault.code == "TypeNotFoundException" => {
                self.missing(type_name)
            }
            FaultClass::Throttled
            | FaultClass::TokenConflict
            | FaultClass::TokenUnknown
            | FaultClass::AlreadyExists
            | FaultClass::Denied
            | FaultClass::Rejected => UnknownType::Refused(fault),
            FaultClass::Transient | FaultClass::OutcomeUnknown | FaultClass::Concurrent => {
                UnknownType::Unreachable(fault)
            }
        }
    }

    fn missing(&self, type_name: &TypeName) -> UnknownType {
        UnknownType::Missing {
            nearest: self.parts.catalogue.suggest(type_name),
        }
    }
}

/// Parses the stored schema of `type_name`. Only AWS's own schemas keep their expressions: one from another publisher
/// could exhaust the memory.
fn parsed(stored: &TypeSchema, type_name: &TypeName) -> Result<ResourceSchema, SchemaError> {
    let mut schema = ResourceSchema::parse(&stored.text)?;
    let told = schema.type_name().as_str();
    if !told.eq_ignore_ascii_case(type_name.as_str()) {
        let message = format!("the schema of {type_name} describes {told}");
        return Err(SchemaError::Malformed(message));
    }
    if !told.starts_with(AWS_PREFIX) {
        schema = schema.without_transforms();
    }
    Ok(schema.provisioned(stored.is_provisioned))
}

fn unavailable(error: ucp_store::Error) -> UnknownType {
    UnknownType::Store(Arc::new(error))
}

fn too_late(timeout: Duration) -> Fault {
    Fault::new(
        FaultClass::Transient,
        "NetworkFailure",
        format!("no answer within {}", humantime::format_duration(timeout)),
    )
}
