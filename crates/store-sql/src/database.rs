//! The abstraction over both databases: statements, values, rows, transactions and errors.

use std::borrow::Cow;
use std::sync::Arc;

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Decode, Encode, Postgres, Row as _, Sqlite, SqlitePool, Type};
#[cfg(feature = "testing")]
use ucp_store::holding::before_statement;
use ucp_store::{Cipher, Error, KeyRange, SealedPlace};

use crate::connections::{Connections, Held};
use crate::sealed_json;

/// A statement in the dialect of each database. The dialects differ in locking clauses, which SQLite does not need: it
/// has a single writer. And Postgres may compare every row of a table with a list, unless the list is an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement {
    pub(crate) postgres: &'static str,
    pub(crate) sqlite: &'static str,
}

/// Defines statements, and `STATEMENTS` with all of them, so that tests can prepare and explain each. The text after
/// `lock` is for Postgres only, and those after `postgres` and `sqlite` for one of them each.
macro_rules! statements {
    ($(
        $(#[$doc:meta])*
        $name:ident =
            $([$($part:expr),+] $(lock $lock:literal)? $(postgres $postgres:literal sqlite $sqlite:literal)?)+;
    )+) => {
        $(
            $(#[$doc])*
            const $name: $crate::database::Statement = $crate::database::Statement {
                postgres: concat!($($($part,)+ $($lock,)? $($postgres,)?)+),
                sqlite: concat!($($($part,)+ $($sqlite,)?)+),
            };
        )+
        /// Every statement of this module.
        #[cfg(test)]
        pub(crate) const STATEMENTS: &[(&str, $crate::database::Statement)] =
            &[$((stringify!($name), $name)),+];
    };
}
pub(crate) use statements;

/// A value for one placeholder.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Integer(Some(value))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Integer(Some(value.into()))
    }
}

impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Self {
        Value::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(Some(value.to_owned()))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Value::Text(Some(value))
    }
}

impl From<Option<String>> for Value {
    fn from(value: Option<String>) -> Self {
        Value::Text(value)
    }
}

impl From<Option<&str>> for Value {
    fn from(value: Option<&str>) -> Self {
        Value::Text(value.map(str::to_owned))
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Value::Bytes(Some(value))
    }
}

impl From<Option<Vec<u8>>> for Value {
    fn from(value: Option<Vec<u8>>) -> Self {
        Value::Bytes(value)
    }
}

/// Makes the values for `$1`, `$2`, … of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::database::Value::from($value)),*]
    };
}
pub(crate) use values;

/// Makes the values of a statement for one page: the first key, the last key and the number of rows.
pub(crate) fn page(keys: KeyRange, limit: usize) -> Vec<Value> {
    values![
        keys.start,
        keys.end,
        i64::try_from(limit).unwrap_or(i64::MAX)
    ]
}

/// One row of a result.
pub(crate) struct Row {
    cells: Cells,
    /// Opens its sealed columns.
    cipher: Arc<dyn Cipher>,
}

enum Cells {
    Postgres(PgRow),
    Sqlite(SqliteRow),
}

impl Row {
    /// Returns the value of `column`.
    pub(crate) fn get<'r, T>(&'r self, column: &str) -> Result<T, Error>
    where
        T: Decode<'r, Postgres> + Type<Postgres> + Decode<'r, Sqlite> + Type<Sqlite>,
    {
        match &self.cells {
            Cells::Postgres(row) => row.try_get(column),
            Cells::Sqlite(row) => row.try_get(column),
        }
        .map_err(|error| Error::Corrupt(error.to_string()))
    }

    /// Returns the JSON that is sealed in `column`.
    pub(crate) fn open(
        &self,
        column: &str,
        place: &SealedPlace,
    ) -> Result<Option<Cow<'_, str>>, Error> {
        let text: Option<&str> = self.get(column)?;
        text.map(|text| sealed_json::open(self.cipher.as_ref(), place, text))
            .transpose()
    }

    /// Returns the 0 or 1 in `column` as a boolean.
    pub(crate) fn flag(&self, column: &str) -> Result<bool, Error> {
        Ok(self.get::<i64>(column)? != 0)
    }

    /// Returns the count in `column`.
    pub(crate) fn count<T: TryFrom<i64>>(&self, column: &str) -> Result<T, Error> {
        let count: i64 = self.get(column)?;
        T::try_from(count).map_err(|_| Error::Corrupt(format!("{column} is {count}")))
    }
}

/// The connections to the database.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    Postgres {
        /// The connections for transactions.
        writers: Connections,
        /// Those that read outside transactions.
        readers: Connections,
        cipher: Arc<dyn Cipher>,
    },
    /// SQLite lets one connection write at a time, so there is one.
    Sqlite {
        writer: SqlitePool,
        readers: SqlitePool,
        cipher: Arc<dyn Cipher>,
    },
}

impl Database {
    /// Returns what seals the columns that are sealed.
    pub(crate) fn cipher(&self) -> &Arc<dyn Cipher> {
        match self {
            Database::Postgres { cipher, .. } | Database::Sqlite { cipher, .. } => cipher,
        }
    }

    /// Seals and opens with `new` from now on.
    pub(crate) fn set_cipher(&mut self, new: Arc<dyn Cipher>) {
        match self {
            Database::Postgres { cipher, .. } | Database::Sqlite { cipher, .. } => *cipher = new,
        }
    }

    /// Runs a read-only statement and returns its rows.
    pub(crate) async fn read(
        &self,
        statement: Statement,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        let rows = match self {
            Database::Postgres { readers, .. } => {
                let query = bind::<Postgres, PgArguments>(statement.postgres, values);
                collect(readers.fetch(query).await, Cells::Postgres, self.cipher())
            }
            Database::Sqlite { readers, .. } => {
                let query = bind::<Sqlite, SqliteArguments>(statement.sqlite, values);
                collect(query.fetch_all(readers).await, Cells::Sqlite, self.cipher())
            }
        };
        rows.map_err(unavailable)
    }

    /// Runs a read-only statement that returns a number in the column `counted`.
    pub(crate) async fn count(
        &self,
        statement: Statement,
        values: Vec<Value>,
    ) -> Result<usize, Error> {
        let rows = self.read(statement, values).await?;
        rows.first().map_or(Ok(0), |row| row.count("counted"))
    }

    /// Runs a single statement that writes, without a transaction around it, and returns the number of rows it wrote.
    pub(crate) async fn write(
        &self,
        statement: Statement,
        values: Vec<Value>,
    ) -> Result<u64, Error> {
        before_statement().await;
        let written = match self {
            Database::Postgres { writers, .. } => {
                let query = bind::<Postgres, PgArguments>(statement.postgres, values);
                writers.execute(query).await
            }
            Database::Sqlite { writer, .. } => {
                let query = bind::<Sqlite, SqliteArguments>(statement.sqlite, values);
                query.execute(writer).await.map(|done| done.rows_affected())
            }
        };
        written.map_err(unavailable)
    }

    /// Looks for another server from now on, since this one only takes reads. Returns the error that says so.
    pub(crate) fn found_read_only(&self) -> Error {
        match self {
            Database::Postgres { readers, .. } => unavailable(readers.leave()),
            Database::Sqlite { .. } => unavailable(sqlx::Error::PoolClosed),
        }
    }

    /// Begins a transaction. Dropping it rolls it back.
    pub(crate) async fn begin(&self) -> Result<Transaction, Abort> {
        let connection = match self {
            Database::Postgres { writers, .. } => Connection::Postgres(writers.begin().await?),
            // A transaction that starts with a read could not be upgraded to a write without SQLITE_BUSY.
            Database::Sqlite { writer, .. } => {
                Connection::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?)
            }
        };
        Ok(Transaction {
            connection,
            wakes: false,
            cipher: Arc::clone(self.cipher()),
        })
    }
}

/// With the feature `testing`, a test can hold a writer here.
#[cfg(not(feature = "testing"))]
async fn before_statement() {}

/// A transaction on either database.
pub(crate) struct Transaction {
    connection: Connection,
    /// Whether it makes an operation due.
    wakes: bool,
    /// Seals the columns that are sealed.
    cipher: Arc<dyn Cipher>,
}

enum Connection {
    Postgres(Held),
    Sqlite(sqlx::Transaction<'static, Sqlite>),
}

impl Transaction {
    /// Returns what seals the columns that are sealed.
    pub(crate) fn cipher(&self) -> &dyn Cipher {
        self.cipher.as_ref()
    }

    /// Records that an operation becomes due with the commit, so that workers are woken then.
    pub(crate) fn wake(&mut self) {
        self.wakes = true;
    }

    /// Runs a statement and returns its rows.
    pub(crate) async fn fetch(
        &mut self,
        statement: Statement,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Abort> {
        before_statement().await;
        let rows = match &mut self.connection {
            Connection::Postgres(held) => {
                let query = bind::<Postgres, PgArguments>(statement.postgres, values);
                collect(held.fetch(query).await, Cells::Postgres, &self.cipher)
            }
            Connection::Sqlite(transaction) => {
                let query = bind::<Sqlite, SqliteArguments>(statement.sqlite, values);
                collect(
                    query.fetch_all(&mut **transaction).await,
                    Cells::Sqlite,
                    &self.cipher,
                )
            }
        };
        Ok(rows?)
    }

    /// Runs a statement and returns its only row, if any.
    pub(crate) async fn fetch_optional(
        &mut self,
        statement: Statement,
        values: Vec<Value>,
    ) -> Result<Option<Row>, Abort> {
        Ok(self.fetch(statement, values).await?.into_iter().next())
    }

    /// Runs a statement and returns the number of rows it wrote.
    pub(crate) async fn execute(
        &mut self,
        statement: Statement,
        values: Vec<Value>,
    ) -> Result<u64, Abort> {
        before_statement().await;
        Ok(match &mut self.connection {
            Connection::Postgres(held) => {
                let query = bind::<Postgres, PgArguments>(statement.postgres, values);
                held.execute(query).await?
            }
            Connection::Sqlite(transaction) => {
                let query = bind::<Sqlite, SqliteArguments>(statement.sqlite, values);
                query.execute(&mut **transaction).await?.rows_affected()
            }
        })
    }

    /// Commits. Returns whether the transaction makes an operation due.
    pub(crate) async fn commit(self) -> Result<bool, Abort> {
        before_statement().await;
        match self.connection {
            Connection::Postgres(mut held) => held.end(true).await?,
            Connection::Sqlite(transaction) => transaction.commit().await?,
        }
        Ok(self.wakes)
    }

    /// Rolls back, which dropping it does too, by closing the connection to Postgres.
    pub(crate) async fn roll_back(self) {
        // A transaction whose connection is lost is rolled back too.
        let _ = match self.connection {
            Connection::Postgres(mut held) => held.end(false).await,
            Connection::Sqlite(transaction) => transaction.rollback().await,
        };
    }
}

fn bind<DB, A>(sql: &'static str, values: Vec<Value>) -> Query<'static, DB, A>
where
    DB: sqlx::Database<Arguments = A>,
    Option<i64>: Encode<'static, DB> + Type<DB>,
    Option<String>: Encode<'static, DB> + Type<DB>,
    Option<Vec<u8>>: Encode<'static, DB> + Type<DB>,
{
    values
        .into_iter()
        .fold(sqlx::query(sql), |query, value| match value {
            Value::Integer(value) => query.bind(value),
            Value::Text(value) => query.bind(value),
            Value::Bytes(value) => query.bind(value),
        })
}

fn collect<R>(
    rows: Result<Vec<R>, sqlx::Error>,
    wrap: fn(R) -> Cells,
    cipher: &Arc<dyn Cipher>,
) -> Result<Vec<Row>, sqlx::Error> {
    let rows = rows?.into_iter().map(|row| Row {
        cells: wrap(row),
        cipher: Arc::clone(cipher),
    });
    Ok(rows.collect())
}

/// The reason why a transaction ended without a commit.
#[derive(Debug)]
pub(crate) enum Abort {
    /// It lost a race against another transaction. A retry will see what that one wrote. The error is the final one if
    /// every retry loses too.
    Raced(Error),
    /// The final error.
    Answer(Error),
}

impl Abort {
    /// What the transaction has read of the row `key` is no longer so.
    pub(crate) fn changed(key: &str) -> Self {
        let message = format!("{key} changes faster than it can be written");
        Abort::Raced(Error::Unavailable(message.into()))
    }
}

impl From<Error> for Abort {
    fn from(error: Error) -> Self {
        Abort::Answer(error)
    }
}

impl From<sqlx::Error> for Abort {
    fn from(error: sqlx::Error) -> Self {
        /// `serialization_failure` and `deadlock_detected` of Postgres.
        const RACES: [&str; 2] = ["40001", "40P01"];
        let raced = error.as_database_error().is_some_and(|error| {
            error.is_unique_violation()
                || error
                    .code()
                    .is_some_and(|code| RACES.contains(&code.as_ref()))
        });
        if raced {
            Abort::Raced(unavailable(error))
        } else {
            Abort::Answer(unavailable(error))
        }
    }
}

impl From<Abort> for Error {
    fn from(abort: Abort) -> Self {
        match abort {
            Abort::Raced(error) | Abort::Answer(error) => error,
        }
    }
}

pub(crate) fn unavailable(error: sqlx::Error) -> Error {
    Error::Unavailable(Box::new(error))
}

/// The number of attempts before a transaction that loses races fails with [`Error::Unavailable`]. Each lost race means
/// that another transaction was committed, so even a few in a row are rare.
pub(crate) const TRIES: u32 = 10;

/// Runs `$work` in a transaction of `$store` and commits it, with a retry after a lost race. If an operation becomes
/// due, the workers of every process are woken.
macro_rules! transaction {
    ($store:expr, |$transaction:ident| $work:expr) => {{
        let mut tries = 1;
        loop {
            let mut $transaction = $store.database.begin().await?;
            let outcome = match $work.await {
                Ok(answer) => $transaction.commit().await.map(|wakes| (answer, wakes)),
                Err(abort) => {
                    $transaction.roll_back().await;
                    Err(abort)
                }
            };
            match outcome {
                Ok((answer, wakes)) => {
                    if wakes {
                        $store.nudge($crate::nudges::Topic::Operations);
                    }
                    break Ok(answer);
                }
                Err($crate::database::Abort::Raced(_)) if tries < $crate::database::TRIES => {
                    tries += 1;
                }
                Err(abort) => break Err(ucp_store::Error::from(abort)),
            }
        }
    }};
}
pub(crate) use transaction;
