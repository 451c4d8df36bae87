/// A kind of store that scenarios run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// The in-memory store.
    Memory,
    /// SQLite in a temporary directory.
    Sqlite,
    /// A temporary Postgres database.
    Postgres,
}

impl StoreKind {
    /// Returns its name in variables of the environment.
    pub(crate) fn name(self) -> &'static str {
        match self {
            StoreKind::Memory => "memory",
            StoreKind::Sqlite => "sqlite",
            StoreKind::Postgres => "postgres",
        }
    }
}
