use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;

use ucp_store::{Memory, Store};
use ucp_store_sql::Sql;

use crate::World;

/// A store that scenarios run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// The one in memory.
    Memory,
    /// SQLite in a directory of its own.
    Sqlite,
    /// A Postgres database of its own.
    Postgres,
}

impl StoreKind {
    /// An empty store of this kind, with what has to live as long as it; none where there is no Postgres.
    pub async fn open(self) -> Option<(Arc<dyn Store>, Box<dyn Any + Send>)> {
        match self {
            StoreKind::Memory => Some((Arc::new(Memory::new()), Box::new(()))),
            StoreKind::Sqlite => {
                let directory = tempfile::tempdir().expect("a temporary directory");
                let sqlite = Sql::open_sqlite(directory.path().join("ucp.db")).await;
                let sqlite = sqlite.expect("SQLite opens");
                Some((Arc::new(sqlite), Box::new(directory)))
            }
            StoreKind::Postgres => {
                let database = ucp_store_sql::testing::database().await?;
                let postgres = Sql::connect_postgres(&database.url()).await;
                let postgres = postgres.expect("Postgres opens");
                Some((Arc::new(postgres), Box::new(database)))
            }
        }
    }
}

/// A test that runs on the thread that began it.
pub type Test<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Runs `scenario` in a fresh world on a store of this kind, and checks afterwards that the world is in order.
pub fn run(kind: StoreKind, scenario: fn(&World) -> Test<'_>) {
    block_on(async {
        if let Some(world) = World::builder().on(kind).await {
            let world = world.build().await;
            scenario(&world).await;
            world.finish().await;
        }
    });
}

/// Runs `test`, which makes its worlds by itself, for a store of this kind.
pub fn run_on(kind: StoreKind, test: fn(StoreKind) -> Test<'static>) {
    block_on(test(kind));
}

/// On one thread, as the log of a world is that of its thread.
fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test);
}

/// Makes a scenario one test a store, as in `puts::the_same_put_twice_makes_one_resource::sqlite`. To be used as
/// `#[apply(on_every_store)]` on a scenario that takes a `&World`, or on one that takes a [`StoreKind`] and makes its
/// worlds by itself.
#[macro_export]
macro_rules! on_every_store {
    ($(#[$attribute:meta])* async fn $name:ident($world:ident: &$type:ty) $body:block) => {
        $crate::on_every_store!(@tests run $name);
        $(#[$attribute])*
        #[cfg(test)]
        async fn $name($world: &$type) $body
    };
    ($(#[$attribute:meta])* async fn $name:ident($kind:ident: $type:ty) $body:block) => {
        $crate::on_every_store!(@tests run_on $name);
        $(#[$attribute])*
        #[cfg(test)]
        async fn $name($kind: $type) $body
    };
    (@tests $run:ident $name:ident) => {
        mod $name {
            #[test]
            fn memory() {
                $crate::$run($crate::StoreKind::Memory, |on| Box::pin(super::$name(on)));
            }

            #[test]
            fn sqlite() {
                $crate::$run($crate::StoreKind::Sqlite, |on| Box::pin(super::$name(on)));
            }

            #[test]
            fn postgres() {
                $crate::$run($crate::StoreKind::Postgres, |on| Box::pin(super::$name(on)));
            }
        }
    };
}
