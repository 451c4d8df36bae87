use std::fs::File;
use std::sync::Arc;

use async_trait::async_trait;
use ucp_model::{ReferenceId, Timestamp};
use ucp_store::{Cipher, Error, Reachable};

use crate::database::{Database, Row, statements, values};
use crate::gathering::Gathering;
use crate::nudges::{Nudges, Topic};
use crate::unreadable::Unreadable;

/// A store in a SQL database. The trait of each noun is implemented in the file of that name.
#[derive(Debug)]
pub struct Sql {
    pub(crate) database: Database,
    /// With Postgres: nudges other processes.
    pub(crate) nudges: Option<Nudges>,
    /// The operations that could not be read.
    pub(crate) unreadable: Unreadable,
    /// The plans that are written together.
    pub(crate) new_plans: Gathering<Arc<str>, ()>,
    /// The aliases that are read together.
    pub(crate) asked_aliases: Gathering<ReferenceId, Option<Row>>,
    /// With SQLite: keeps other processes out for the lifetime of the store.
    pub(crate) _lock: Option<File>,
}

statements! {
    PING = ["SELECT COUNT(*) AS planes"]
        postgres ", current_setting('transaction_read_only') AS read_only" sqlite ", 'off' AS read_only" [" FROM planes"];
    TIME = ["SELECT CAST("]
        postgres "EXTRACT(EPOCH FROM clock_timestamp()) * 1000"
        sqlite "unixepoch('subsec') * 1000" [" AS BIGINT) AS now"];
}

#[async_trait]
impl Reachable for Sql {
    /// Runs a query on a table, so it also fails if the schema is missing. It fails, too, if the server only takes reads:
    /// a process that only reads would not notice otherwise.
    async fn ping(&self) -> Result<(), Error> {
        let rows = self.database.read(PING, values![]).await?;
        match rows.first().map(|row| row.get("read_only")).transpose()? {
            Some("on") => Err(self.database.found_read_only()),
            Some(_) | None => Ok(()),
        }
    }

    async fn time(&self) -> Result<Option<Timestamp>, Error> {
        match &self.database {
            Database::Postgres { .. } => {
                let rows = self.database.read(TIME, values![]).await?;
                let now = rows.first().map(|row| row.get("now"));
                Ok(now.transpose()?.map(Timestamp::from_millis))
            }
            Database::Sqlite { .. } => Ok(None),
        }
    }
}

impl Sql {
    /// Seals references and operations with `cipher`. Without one, they can neither be written nor, unless an earlier
    /// version has written them, be read.
    #[must_use]
    pub fn sealed_with(mut self, cipher: Arc<dyn Cipher>) -> Self {
        self.database.set_cipher(cipher);
        self
    }

    /// Nudges other processes.
    pub(crate) fn nudge(&self, topic: Topic) {
        if let Some(nudges) = &self.nudges {
            nudges.send(topic);
        }
    }

    /// Resolves once a nudge may have arrived since the last call resolved.
    pub(crate) async fn nudged_about(&self, topic: Topic) {
        match &self.nudges {
            Some(nudges) => nudges.received(topic).await,
            None => std::future::pending().await,
        }
    }
}
