use std::sync::{Arc, Mutex, PoisonError};

use hashlink::LruCache;

use crate::ResourceSchema;

/// What compiled schemas take together, in bytes, as far as nobody uses them.
pub(crate) const RECENT_MAX_BYTES: usize = 64 << 20;
/// How often the text of a schema is in its compiled form. All embedded types have 7.5 million bytes of text, and took 348 million
/// when they were compiled.
const COPIES: usize = 46;

/// The compiled schemas that were used last. Others are compiled again when they are needed; what somebody uses stays until then.
#[derive(Debug)]
pub struct RecentSchemas {
    most: usize,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    bytes: usize,
    /// Each with what it weighed when it was used last.
    schemas: LruCache<String, (Arc<ResourceSchema>, usize)>,
}

impl Default for RecentSchemas {
    fn default() -> Self {
        Self::of_at_most(RECENT_MAX_BYTES)
    }
}

impl RecentSchemas {
    fn of_at_most(most: usize) -> Self {
        Self {
            most,
            held: Mutex::new(Held {
                bytes: 0,
                schemas: LruCache::new_unbounded(),
            }),
        }
    }

    /// Returns the schema that is known under this key, if it was used lately.
    pub fn get(&self, key: &str) -> Option<Arc<ResourceSchema>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (schema, _) = held.schemas.get(key)?;
        Some(Arc::clone(schema))
    }

    /// Notes that a schema is used now, which is known under this key.
    pub fn used(&self, key: &str, schema: &Arc<ResourceSchema>) {
        let weighs = schema.weight();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let known = held.schemas.get(key);
        if known.is_some_and(|(known, before)| Arc::ptr_eq(known, schema) && *before == weighs) {
            return;
        }
        let replaced = held
            .schemas
            .insert(key.to_owned(), (Arc::clone(schema), weighs));
        held.bytes += weighs;
        held.bytes -= replaced.as_ref().map_or(0, |(_, before)| *before);
        let mut dropped = Vec::new();
        while held.bytes > self.most && held.schemas.len() > 1 {
            let Some((_, (oldest, before))) = held.schemas.remove_lru() else {
                break;
            };
            held.bytes -= before;
            dropped.push(oldest);
        }
        // To free one takes a while.
        drop(held);
        drop((replaced, dropped));
    }
}

impl ResourceSchema {
    /// Returns about how many bytes it takes: compiled, and with the patterns that were matched.
    fn weight(&self) -> usize {
        let compiled = self.text_bytes().saturating_mul(COPIES);
        compiled.saturating_add(self.patterns().bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;

    fn schema(name: &str) -> Arc<ResourceSchema> {
        let text = format!(
            r#"{{"typeName":"Acme::Test::{name}","properties":{{"Id":{{"type":"string"}}}},"primaryIdentifier":["/properties/Id"]}}"#
        );
        Arc::new(ResourceSchema::parse(&text).unwrap())
    }

    #[test]
    fn what_was_used_last_stays() {
        let [a, b, c] = ["A", "B", "C"].map(schema);
        let recent = RecentSchemas::of_at_most(2 * a.weight());
        for (key, schema) in [("a", &a), ("b", &b), ("a", &a), ("c", &c)] {
            recent.used(key, schema);
        }
        let weak = [&a, &b, &c].map(Arc::downgrade);
        drop((a, b, c));
        let stays = weak.each_ref().map(|weak| weak.upgrade().is_some());
        assert_eq!(stays, [true, false, true]);
        assert_eq!(recent.held.lock().unwrap().bytes, recent.most);
    }

    #[test]
    fn what_is_in_use_stays_with_its_user() {
        let [a, b] = ["A", "B"].map(schema);
        let recent = RecentSchemas::of_at_most(1);
        recent.used("a", &a);
        recent.used("b", &b);
        let [weak_a, weak_b] = [&a, &b].map(Arc::downgrade);
        drop(b);
        assert!(weak_a.upgrade().is_some());
        // One stays, however large it is.
        assert!(weak_b.upgrade().is_some());
        drop(a);
        assert!(weak_a.upgrade().is_none());
    }

    #[test]
    fn another_version_takes_the_place_of_the_first() {
        let [a, b] = ["A", "B"].map(schema);
        let recent = RecentSchemas::default();
        recent.used("a", &a);
        recent.used("a", &b);
        let weak: Weak<ResourceSchema> = Arc::downgrade(&a);
        drop(a);
        assert!(weak.upgrade().is_none());
        assert_eq!(recent.held.lock().unwrap().bytes, b.weight());
    }
}
