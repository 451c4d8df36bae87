//! The sealed values of all tables, one column after the other, and the digest keys.

use async_trait::async_trait;
use ucp_model::{Lineage, Timestamp};
use ucp_store::{Error, Sealed, SealedKey, SealedPlace, SealedValues, Stored};

use crate::database::{Row, Statement, Value, statements, transaction, values};
use crate::json::parsed;
use crate::{Sql, sealed_json};

statements! {
    /// What is sealed of references is bound to their lineages, which do not change while this goes on.
    BASELINES = ["SELECT COALESCE(lineage, key) AS id, baseline AS sealed FROM resource_references
        WHERE baseline IS NOT NULL AND COALESCE(lineage, key) > $1 ORDER BY COALESCE(lineage, key) LIMIT $2"];
    BODIES = ["SELECT id, body AS sealed FROM operations WHERE id > $1 ORDER BY id LIMIT $2"];
    OBSERVED = ["SELECT COALESCE(lineage, key) AS id, observed AS sealed FROM resource_references
        WHERE observed IS NOT NULL AND COALESCE(lineage, key) > $1 ORDER BY COALESCE(lineage, key) LIMIT $2"];
    CREDENTIALS = ["SELECT id, secret AS sealed FROM credentials
        WHERE secret IS NOT NULL AND key > $1 ORDER BY key LIMIT $2"];
    /// Ended operations have none; for live ones there is an index.
    DESIRED = ["SELECT id, desired AS sealed FROM operations
        WHERE ended_at IS NULL AND desired IS NOT NULL AND id > $1 ORDER BY id LIMIT $2"];
    DIGEST_KEYS = ["SELECT id, key AS sealed FROM digest_keys WHERE id > $1 ORDER BY id LIMIT $2"];
    DOCUMENTS = ["SELECT id, document AS sealed FROM operations
        WHERE ended_at IS NULL AND document IS NOT NULL AND id > $1 ORDER BY id LIMIT $2"];
    LOOKS = ["SELECT id, look AS sealed FROM operations
        WHERE ended_at IS NULL AND look IS NOT NULL AND id > $1 ORDER BY id LIMIT $2"];
    PLAN_CONTENTS = ["SELECT id, content AS sealed FROM plans WHERE id > $1 ORDER BY id LIMIT $2"];
    PLAN_DECLARATIONS = ["SELECT id, declared AS sealed FROM plans
        WHERE declared IS NOT NULL AND id > $1 ORDER BY id LIMIT $2"];
    SERVICE_INSTANCES = ["SELECT key AS id, record AS sealed FROM broker_instances
        WHERE key > $1 ORDER BY key LIMIT $2"];
    SERVICE_BINDINGS = ["SELECT key AS id, record AS sealed FROM broker_bindings
        WHERE key > $1 ORDER BY key LIMIT $2"];
    INSERT_KEY = ["INSERT INTO digest_keys (id, key, is_current, created_at) VALUES ($1, $2, 1, $3)"];
    /// Does nothing if there is a current key, even one that another transaction is about to commit.
    OFFER_KEY = ["INSERT INTO digest_keys (id, key, is_current, created_at) VALUES ($1, $2, 1, $3)
        ON CONFLICT DO NOTHING"];
    CURRENT_KEY = ["SELECT id, key FROM digest_keys WHERE is_current = 1"];
    DELETE_KEYS = ["DELETE FROM digest_keys"];
    RESEAL_BASELINE = ["UPDATE resource_references SET baseline = $3
        WHERE COALESCE(lineage, key) = $1 AND baseline = $2"];
    RESEAL_BODY = ["UPDATE operations SET body = $3 WHERE id = $1 AND body = $2"];
    RESEAL_OBSERVED = ["UPDATE resource_references SET observed = $3
        WHERE COALESCE(lineage, key) = $1 AND observed = $2"];
    RESEAL_CREDENTIAL = ["UPDATE credentials SET secret = $3 WHERE key = $1 AND secret = $2"];
    RESEAL_DESIRED = ["UPDATE operations SET desired = $3 WHERE id = $1 AND desired = $2"];
    RESEAL_DIGEST_KEY = ["UPDATE digest_keys SET key = $3 WHERE id = $1 AND key = $2"];
    RESEAL_DOCUMENT = ["UPDATE operations SET document = $3 WHERE id = $1 AND document = $2"];
    RESEAL_LOOK = ["UPDATE operations SET look = $3 WHERE id = $1 AND look = $2"];
    RESEAL_PLAN_CONTENT = ["UPDATE plans SET content = $3 WHERE id = $1 AND content = $2"];
    RESEAL_PLAN_DECLARATION = ["UPDATE plans SET declared = $3 WHERE id = $1 AND declared = $2"];
    RESEAL_SERVICE_INSTANCE = ["UPDATE broker_instances SET record = $3 WHERE key = $1 AND record = $2"];
    RESEAL_SERVICE_BINDING = ["UPDATE broker_bindings SET record = $3 WHERE key = $1 AND record = $2"];
}

/// A column of sealed values, in the order in which they are listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    Baselines,
    Bodies,
    Observed,
    Credentials,
    Desired,
    DigestKeys,
    Documents,
    Looks,
    PlanContents,
    PlanDeclarations,
    ServiceInstances,
    ServiceBindings,
}

impl Column {
    const ALL: [Self; 12] = [
        Column::Baselines,
        Column::Bodies,
        Column::Observed,
        Column::Credentials,
        Column::Desired,
        Column::DigestKeys,
        Column::Documents,
        Column::Looks,
        Column::PlanContents,
        Column::PlanDeclarations,
        Column::ServiceInstances,
        Column::ServiceBindings,
    ];

    /// Returns the column of a place and the key of its row.
    fn of(place: &SealedPlace) -> (Self, String) {
        match place {
            SealedPlace::Baseline(lineage) => (Column::Baselines, lineage.to_string()),
            SealedPlace::Body(id) => (Column::Bodies, id.to_string()),
            SealedPlace::Observed(lineage) => (Column::Observed, lineage.to_string()),
            SealedPlace::Credential(id) => (Column::Credentials, id.key()),
            SealedPlace::Desired(id) => (Column::Desired, id.to_string()),
            SealedPlace::DigestKey(id) => (Column::DigestKeys, id.clone()),
            SealedPlace::Document(id) => (Column::Documents, id.to_string()),
            SealedPlace::Look(id) => (Column::Looks, id.to_string()),
            SealedPlace::PlanContent(id) => (Column::PlanContents, id.to_string()),
            SealedPlace::PlanDeclared(id) => (Column::PlanDeclarations, id.to_string()),
            SealedPlace::ServiceInstance(key) => (Column::ServiceInstances, key.clone()),
            SealedPlace::ServiceBinding(key) => (Column::ServiceBindings, key.clone()),
        }
    }

    fn list(self) -> Statement {
        match self {
            Column::Baselines => BASELINES,
            Column::Bodies => BODIES,
            Column::Observed => OBSERVED,
            Column::Credentials => CREDENTIALS,
            Column::Desired => DESIRED,
            Column::DigestKeys => DIGEST_KEYS,
            Column::Documents => DOCUMENTS,
            Column::Looks => LOOKS,
            Column::PlanContents => PLAN_CONTENTS,
            Column::PlanDeclarations => PLAN_DECLARATIONS,
            Column::ServiceInstances => SERVICE_INSTANCES,
            Column::ServiceBindings => SERVICE_BINDINGS,
        }
    }

    fn reseal(self) -> Statement {
        match self {
            Column::Baselines => RESEAL_BASELINE,
            Column::Bodies => RESEAL_BODY,
            Column::Observed => RESEAL_OBSERVED,
            Column::Credentials => RESEAL_CREDENTIAL,
            Column::Desired => RESEAL_DESIRED,
            Column::DigestKeys => RESEAL_DIGEST_KEY,
            Column::Documents => RESEAL_DOCUMENT,
            Column::Looks => RESEAL_LOOK,
            Column::PlanContents => RESEAL_PLAN_CONTENT,
            Column::PlanDeclarations => RESEAL_PLAN_DECLARATION,
            Column::ServiceInstances => RESEAL_SERVICE_INSTANCE,
            Column::ServiceBindings => RESEAL_SERVICE_BINDING,
        }
    }

    fn read(self, row: &Row) -> Result<(SealedPlace, Stored), Error> {
        let place = match self {
            Column::Baselines => SealedPlace::Baseline(Lineage::stored(row.get("id")?)),
            Column::Bodies => SealedPlace::Body(parsed(row.get("id")?)?),
            Column::Observed => SealedPlace::Observed(Lineage::stored(row.get("id")?)),
            Column::Credentials => SealedPlace::Credential(parsed(row.get("id")?)?),
            Column::Desired => SealedPlace::Desired(parsed(row.get("id")?)?),
            Column::DigestKeys => SealedPlace::DigestKey(row.get("id")?),
            Column::Documents => SealedPlace::Document(parsed(row.get("id")?)?),
            Column::Looks => SealedPlace::Look(parsed(row.get("id")?)?),
            Column::PlanContents => SealedPlace::PlanContent(parsed(row.get("id")?)?),
            Column::PlanDeclarations => SealedPlace::PlanDeclared(parsed(row.get("id")?)?),
            Column::ServiceInstances => SealedPlace::ServiceInstance(row.get("id")?),
            Column::ServiceBindings => SealedPlace::ServiceBinding(row.get("id")?),
        };
        let stored = if place.is_of_engine() {
            sealed_json::stored(row.get("sealed")?)?
        } else {
            Stored::Sealed(Sealed(row.get("sealed")?))
        };
        Ok((place, stored))
    }
}

/// Returns a value of the column of `place`.
fn value(place: &SealedPlace, stored: &Stored) -> Value {
    match stored {
        Stored::Sealed(sealed) if place.is_of_engine() => sealed_json::to_text(sealed).into(),
        Stored::Sealed(sealed) => sealed.0.clone().into(),
        Stored::Clear(text) => text.as_str().into(),
    }
}

#[async_trait]
impl SealedValues for Sql {
    async fn list_sealed(
        &self,
        after: Option<&SealedPlace>,
        limit: usize,
    ) -> Result<Vec<(SealedPlace, Stored)>, Error> {
        let after = after.map(Column::of);
        let mut found = Vec::new();
        for column in Column::ALL {
            let behind = match &after {
                Some((reached, _)) if *reached > column => continue,
                Some((reached, key)) if *reached == column => key.as_str(),
                Some(_) | None => "",
            };
            let rest = i64::try_from(limit - found.len()).unwrap_or(i64::MAX);
            let values = values![behind, rest];
            for row in &self.database.read(column.list(), values).await? {
                found.push(column.read(row)?);
            }
        }
        Ok(found)
    }

    async fn reseal(&self, place: &SealedPlace, old: &Stored, new: Sealed) -> Result<bool, Error> {
        if matches!(old, Stored::Clear(_)) && !place.is_of_engine() {
            return Ok(false);
        }
        let (column, key) = Column::of(place);
        let (old, new) = (value(place, old), value(place, &new.into()));
        transaction!(self, |tx| async {
            let values = vec![key.as_str().into(), old.clone(), new.clone()];
            Ok(tx.execute(column.reseal(), values).await? > 0)
        })
    }

    async fn ensure_digest_key(
        &self,
        candidate: SealedKey,
        now: Timestamp,
    ) -> Result<SealedKey, Error> {
        transaction!(self, |tx| async {
            tx.execute(OFFER_KEY, digest_key(&candidate, now)).await?;
            let row = tx.fetch_optional(CURRENT_KEY, values![]).await?;
            let row = row.ok_or_else(|| Error::Corrupt("no digest key is current".to_owned()))?;
            Ok(SealedKey {
                id: row.get("id")?,
                key: Sealed(row.get("key")?),
            })
        })
    }

    /// Of two concurrent replacements one fails to insert. Its retry then replaces the key of the other.
    async fn replace_digest_key(&self, new: SealedKey, now: Timestamp) -> Result<(), Error> {
        let replaced = transaction!(self, |tx| async {
            tx.execute(DELETE_KEYS, values![]).await?;
            tx.execute(INSERT_KEY, digest_key(&new, now)).await?;
            Ok(())
        });
        self.erase_deleted().await;
        replaced
    }
}

/// Returns the values of a row of `digest_keys`.
fn digest_key(key: &SealedKey, now: Timestamp) -> Vec<Value> {
    values![key.id.as_str(), key.key.0.clone(), now.as_millis()]
}
