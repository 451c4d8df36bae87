use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;

use ucp_app::RingCipher;
use ucp_model::SeededEntropy;
use ucp_seal::{Keyring, SealingKey};
use ucp_store::{Cipher, Memory, Store};
use ucp_store_sql::Sql;
use ucp_store_sql::testing::{SqliteFolder, TestDatabase, migrated_database};

use crate::{StoreKind, World};

/// Where stores of a kind are opened.
pub(crate) enum Site {
    Memory,
    Sqlite,
    Postgres(TestDatabase),
}

/// An empty store, with a guard that must live as long as the store.
pub(crate) type Opened = (Arc<dyn Store>, Box<dyn Any + Send>);

impl StoreKind {
    /// Opens an empty store of this kind. `None` if Postgres is not available.
    pub(crate) async fn open(self) -> Option<Opened> {
        let site = self.site().await?;
        let (store, guard) = site.open().await;
        Some((store, Box::new((guard, site))))
    }

    /// Returns a place for stores that are opened one after the other. `None` if Postgres is not available.
    pub(crate) async fn site(self) -> Option<Site> {
        Some(match self {
            StoreKind::Memory => Site::Memory,
            StoreKind::Sqlite => Site::Sqlite,
            StoreKind::Postgres => Site::Postgres(migrated_database().await?),
        })
    }
}

impl Site {
    /// Opens an empty store. What the previous one holds is lost.
    pub(crate) async fn open(&self) -> Opened {
        match self {
            Site::Memory => (Arc::new(Memory::new()), Box::new(())),
            Site::Sqlite => {
                let folder = SqliteFolder::create().await;
                let sqlite = Sql::open_sqlite(folder.database()).await;
                let sqlite = sqlite.expect("SQLite opens").sealed_with(cipher());
                (Arc::new(sqlite), Box::new(folder))
            }
            Site::Postgres(database) => {
                database.clear().await;
                let postgres = Sql::connect_postgres(&database.url()).await;
                let postgres = postgres.expect("Postgres opens").sealed_with(cipher());
                (Arc::new(postgres), Box::new(()))
            }
        }
    }
}

/// Returns the encryption key of every world.
pub(crate) fn encryption_key() -> SealingKey {
    SealingKey::new([7; 32])
}

/// Returns the cipher of stores of worlds. Its nonces are streams of their own.
pub fn cipher() -> Arc<dyn Cipher> {
    let entropy = Arc::new(SeededEntropy::new(1));
    Arc::new(RingCipher::new(Keyring::from(encryption_key()), entropy))
}

/// A test that runs on the thread that started it.
pub type Test<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Runs `scenario` in a new world in memory, then checks the invariants of the world.
pub fn run(scenario: fn(&World) -> Test<'_>) {
    run_in(StoreKind::Memory, scenario);
}

/// Runs `scenario` in a new world on the database of this run, or on both.
pub fn run_on_database(name: &str, scenario: fn(&World) -> Test<'_>) {
    on_databases(name, |kind| run_in(kind, scenario));
}

/// Runs `test`, which builds its own worlds, in memory.
pub fn run_kind(test: fn(StoreKind) -> Test<'static>) {
    block_on(test(StoreKind::Memory));
}

/// Runs `test`, which builds its own worlds, on the database of this run, or on both.
pub fn run_kind_on_database(name: &str, test: fn(StoreKind) -> Test<'static>) {
    on_databases(name, |kind| block_on(test(kind)));
}

fn on_databases(name: &str, run: impl Fn(StoreKind)) {
    for kind in databases(name) {
        let store = kind.name();
        ucp_choice::note(store, name);
        // Shown when it fails.
        println!("UCP_STORES={store} runs this again");
        run(*kind);
    }
}

/// Returns the databases on which the scenario called `name` runs.
fn databases(name: &str) -> &'static [StoreKind] {
    const ALL: &[StoreKind] = &[StoreKind::Sqlite, StoreKind::Postgres];
    match std::env::var("UCP_STORES").as_deref() {
        Ok("all") => ALL,
        Ok("sqlite") => &ALL[..1],
        Ok("postgres") => &ALL[1..],
        Ok(other) => panic!("UCP_STORES={other}: all, sqlite or postgres"),
        Err(_) => {
            let chosen = ucp_choice::drawn(ALL.len(), name);
            &ALL[chosen..=chosen]
        }
    }
}

fn run_in(kind: StoreKind, scenario: fn(&World) -> Test<'_>) {
    block_on(async {
        if let Some(world) = World::builder().on(kind).await {
            let world = world.build().await;
            scenario(&world).await;
            world.finish().await;
        }
    });
}

/// Runs `test` on a single thread, since the log of a world is that of its thread.
fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test);
}

/// Turns a scenario into two tests, such as `puts::the_same_put_twice_makes_one_resource::memory` and `…::database`. The
/// latter runs on SQLite or on Postgres, as this commit has it, or on what `UCP_STORES` names. Use it as
/// `#[apply(on_every_store)]` on a scenario that takes a `&World`, or on one that takes a [`StoreKind`] and builds its
/// own worlds.
#[macro_export]
macro_rules! on_every_store {
    ($(#[$attribute:meta])* async fn $name:ident($world:ident: &$type:ty) $body:block) => {
        $crate::on_every_store!(@tests run run_on_database $name);
        $(#[$attribute])*
        #[cfg(test)]
        async fn $name($world: &$type) $body
    };
    ($(#[$attribute:meta])* async fn $name:ident($kind:ident: $type:ty) $body:block) => {
        $crate::on_every_store!(@tests run_kind run_kind_on_database $name);
        $(#[$attribute])*
        #[cfg(test)]
        async fn $name($kind: $type) $body
    };
    (@tests $in_memory:ident $on_database:ident $name:ident) => {
        mod $name {
            #[test]
            fn memory() {
                $crate::$in_memory(|on| Box::pin(super::$name(on)));
            }

            #[test]
            fn database() {
                $crate::$on_database(module_path!(), |on| Box::pin(super::$name(on)));
            }
        }
    };
}
