//! The tokens that were read lately. A request with one of them reads nothing from the store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;
use ucp_access::{Grant, Principal, Source, Subject, TOKEN_PREFIX};
use ucp_model::{Beyond, Clock, ErrorCode, Limit, Most, Timestamp};
use ucp_store::{Error, TOKENS_MAX, Token, TokenState, Tokens};

use crate::failures::MOST;
use crate::names::GROUPS_MAX;
use crate::provider::Refused;
use crate::token_text::GivenToken;

/// How long a token is used as it was read. A token that was revoked since is refused after this time everywhere.
const FRESH: Duration = Duration::from_secs(5);
/// How often the use of a token is recorded.
const NOTED: Duration = Duration::from_secs(60);
/// How many tokens that are not known are looked up at once. Each takes a statement, and anybody can make one up.
const LOOKUPS_MAX: usize = 16;
/// How long a request waits for its turn to have its token looked up.
const TURN: Duration = Duration::from_secs(2);
/// How many tokens are kept at a time, those that were looked up in vain too. Those that exist stay before others.
const KNOWN_MAX: usize = 4_096;

/// What is limited of tokens.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "tokens",
        what: "The tokens that are valid at a time",
        most: Most::Number(TOKENS_MAX),
        beyond: Beyond::Told("`ucp token create` fails, and says so."),
    },
    Limit {
        name: "token-age",
        what: "The time that a token which was revoked is still accepted for",
        most: Most::Time(FRESH),
        beyond: Beyond::refused(401, ErrorCode::AuthenticationFailed),
    },
    Limit {
        name: "token-lookups",
        what: "The tokens that are looked up at a time, other than those that were valid lately; a request waits for its turn \
               for up to 2 seconds",
        most: Most::Number(LOOKUPS_MAX),
        beyond: Beyond::refused(503, ErrorCode::ServiceUnavailable),
    },
    Limit {
        name: "failed-logins",
        what: "The logins of one address, or of one network of IPv6, that fail within a minute; from the sixth on each reply \
               waits longer, up to 2 seconds",
        most: Most::Number(MOST as usize),
        beyond: Beyond::refused(429, ErrorCode::TooManyRequests),
    },
    Limit {
        name: "caller-groups",
        what: "The groups of a caller, by a certificate, a proxy or an identity provider",
        most: Most::Number(GROUPS_MAX),
        beyond: Beyond::refused(401, ErrorCode::AuthenticationFailed),
    },
];

/// Knows the callers of tokens.
pub(crate) struct KnownTokens {
    store: Arc<dyn Tokens>,
    clock: Arc<dyn Clock>,
    read: Mutex<HashMap<String, Arc<Reading>>>,
    lookups: Semaphore,
}

/// A token that was read, or is being read for all who wait for it.
struct Reading {
    began: Timestamp,
    /// Whether it existed when it was read before.
    was_known: bool,
    /// `None` if it does not exist.
    found: OnceCell<Option<Known>>,
}

struct Known {
    token: Token,
    principal: Arc<Principal>,
    /// Whether this use of the token has been recorded, or need not be.
    is_noted: AtomicBool,
}

impl Reading {
    fn is_fresh(&self, now: Timestamp) -> bool {
        // A clock that was set back must not keep what was read for longer.
        self.began <= now && now.since(self.began) < FRESH
    }

    /// Returns whether it exists, or did when it was read before.
    fn is_known(&self) -> bool {
        self.found.get().map_or(self.was_known, Option::is_some)
    }

    fn is_in_vain(&self) -> bool {
        self.found.get().is_some_and(Option::is_none)
    }
}

/// Makes room for another token, if there is none. Whoever makes tokens up displaces what others have made up, and not what
/// exists.
fn make_room(read: &mut HashMap<String, Arc<Reading>>, now: Timestamp) {
    let kept: [fn(&Reading, Timestamp) -> bool; 4] = [
        |reading, now| reading.is_known() || reading.is_fresh(now),
        |reading, _| !reading.is_in_vain(),
        |reading, _| reading.is_known(),
        // Only so many are valid at a time. The others were revoked, or have expired.
        |reading, now| reading.is_fresh(now),
    ];
    for is_kept in kept {
        if read.len() < KNOWN_MAX {
            return;
        }
        read.retain(|_, reading| is_kept(reading, now));
    }
}

impl KnownTokens {
    pub(crate) fn new(store: Arc<dyn Tokens>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            read: Mutex::default(),
            lookups: Semaphore::new(LOOKUPS_MAX),
        }
    }

    /// Returns the caller who has the token.
    pub(crate) async fn verify(&self, text: &str) -> Result<Arc<Principal>, Refused> {
        let cut_off = || Refused::invalid("The token is not complete, or is misspelt.");
        let given = GivenToken::split(text).ok_or_else(cut_off)?;
        let now = self.clock.now();
        let reading = self.reading(given.id, now);
        let found = reading
            .found
            .get_or_try_init(|| self.look_up(given.id, reading.was_known, now))
            .await?;
        let known = found.as_ref().filter(|known| given.is_of(&known.token));
        let Some(known) = known else {
            return Err(Refused::invalid("The token is not valid."));
        };
        match known.token.state(now) {
            TokenState::Valid => {}
            TokenState::Expired => return Err(Refused::invalid("The token has expired.")),
            TokenState::Revoked => return Err(Refused::invalid("The token has been revoked.")),
        }
        if !known.is_noted.swap(true, Ordering::Relaxed) {
            self.note_use(given.id.to_owned(), now);
        }
        Ok(Arc::clone(&known.principal))
    }

    /// Returns what was read of the token, or what its next reader reads for all.
    fn reading(&self, id: &str, now: Timestamp) -> Arc<Reading> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reading) = read.get(id).filter(|reading| reading.is_fresh(now)) {
            return Arc::clone(reading);
        }
        let was_known = read.get(id).is_some_and(|before| before.is_known());
        make_room(&mut read, now);
        let reading = Arc::new(Reading {
            began: now,
            was_known,
            found: OnceCell::new(),
        });
        read.insert(id.to_owned(), Arc::clone(&reading));
        reading
    }

    /// Reads a token. One that is not known waits for its turn, so that made-up ones do not keep the store from those that
    /// exist.
    async fn look_up(
        &self,
        id: &str,
        is_known: bool,
        now: Timestamp,
    ) -> Result<Option<Known>, Refused> {
        let _turn = if is_known {
            None
        } else {
            match timeout(TURN, self.lookups.acquire()).await {
                Ok(turn) => Some(turn),
                Err(_) => return Err(Refused::Busy),
            }
        };
        let read = self.read(id, now).await;
        read.map_err(|error| Refused::Unavailable(Box::new(error)))
    }

    async fn read(&self, id: &str, now: Timestamp) -> Result<Option<Known>, Error> {
        let token = self.store.get_token(id).await?;
        Ok(token.map(|token| {
            let noted = token.last_used_at;
            let is_noted = noted.is_some_and(|noted| now.since(noted) < NOTED);
            Known {
                principal: Arc::new(principal(&token)),
                token,
                is_noted: AtomicBool::new(is_noted),
            }
        }))
    }

    /// Records the use. The reply does not wait for it, and does not fail with it.
    fn note_use(&self, id: String, at: Timestamp) {
        let store = Arc::clone(&self.store);
        tokio::spawn(async move {
            if let Err(error) = store.note_token_use(&id, at).await {
                tracing::debug!(
                    error = %ucp_model::chain(&error),
                    "the use of a token could not be recorded"
                );
            }
        });
    }
}

fn principal(token: &Token) -> Principal {
    let name = format!("{TOKEN_PREFIX}{}", token.name);
    Principal {
        groups: Vec::new(),
        source: Source::Token,
        grants: vec![Grant {
            who: Subject::User(name.clone()),
            role: token.role,
            scopes: token.scopes.clone(),
        }],
        name,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use async_trait::async_trait;
    use tokio::sync::watch;
    use tokio::task::JoinSet;
    use ucp_access::{Role, Scope};
    use ucp_model::SeededEntropy;
    use ucp_store::Memory;

    use super::*;
    use crate::NewToken;

    /// A clock that stands still until it is moved.
    #[derive(Default)]
    struct Still(AtomicI64);

    impl Clock for Still {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(1_767_225_600_000 + self.0.load(Ordering::Relaxed))
        }
    }

    /// Counts what is read, and lets others go on meanwhile. Reads may be held up.
    struct Counting {
        memory: Memory,
        reads: Mutex<usize>,
        gate: watch::Sender<bool>,
    }

    #[async_trait]
    impl Tokens for Counting {
        async fn create_token(&self, token: Token) -> Result<bool, Error> {
            self.memory.create_token(token).await
        }

        async fn get_token(&self, id: &str) -> Result<Option<Token>, Error> {
            *self.reads.lock().unwrap() += 1;
            tokio::task::yield_now().await;
            let mut gate = self.gate.subscribe();
            gate.wait_for(|is_shut| !is_shut).await.unwrap();
            self.memory.get_token(id).await
        }

        async fn list_tokens(
            &self,
            after: Option<&str>,
            limit: usize,
        ) -> Result<Vec<Token>, Error> {
            self.memory.list_tokens(after, limit).await
        }

        async fn revoke_token(&self, id: &str, now: Timestamp) -> Result<bool, Error> {
            self.memory.revoke_token(id, now).await
        }

        async fn note_token_use(&self, id: &str, at: Timestamp) -> Result<(), Error> {
            self.memory.note_token_use(id, at).await
        }
    }

    fn counting() -> (Arc<Counting>, KnownTokens) {
        let store = Arc::new(Counting {
            memory: Memory::new(),
            reads: Mutex::new(0),
            gate: watch::Sender::new(false),
        });
        let known = KnownTokens::new(store.clone(), Arc::new(Still::default()));
        (store, known)
    }

    async fn create(store: &Counting, entropy: &SeededEntropy) -> NewToken {
        let new = NewToken::draw(entropy);
        let token = Token {
            id: new.id.clone(),
            name: "ci".to_owned(),
            digest: new.digest,
            role: Role::Reader,
            scopes: vec![Scope::everything()],
            created_at: Still::default().now(),
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        };
        assert!(store.create_token(token).await.unwrap());
        new
    }

    #[tokio::test]
    async fn requests_at_the_same_time_read_a_token_once() {
        let (store, known) = counting();
        let new = create(&store, &SeededEntropy::new(1)).await;
        let (one, other) = tokio::join!(known.verify(&new.text), known.verify(&new.text));
        assert_eq!(one.unwrap().name, "token:ci");
        assert_eq!(other.unwrap().name, "token:ci");
        assert_eq!(*store.reads.lock().unwrap(), 1);
    }

    #[tokio::test]
    async fn what_is_made_up_takes_no_room_from_what_exists() {
        let (store, known) = counting();
        let entropy = SeededEntropy::new(1);
        let new = create(&store, &entropy).await;
        known.verify(&new.text).await.unwrap();
        for _ in 0..2 * KNOWN_MAX {
            let made_up = NewToken::draw(&entropy);
            known.verify(&made_up.text).await.unwrap_err();
            known.verify(&made_up.text).await.unwrap_err();
        }
        let reads = *store.reads.lock().unwrap();
        assert_eq!(reads, 1 + 2 * KNOWN_MAX, "what is made up is read once");
        assert!(known.read.lock().unwrap().len() <= KNOWN_MAX);
        known.verify(&new.text).await.unwrap();
        assert_eq!(*store.reads.lock().unwrap(), reads);
    }

    /// One that was read some time ago stays known, so that it does not wait among those that are made up.
    #[tokio::test(start_paused = true)]
    async fn a_flood_of_made_up_tokens_does_not_make_a_known_one_unknown() {
        let (store, _) = counting();
        let clock = Arc::new(Still::default());
        let known = Arc::new(KnownTokens::new(store.clone(), clock.clone()));
        let entropy = SeededEntropy::new(1);
        let new = create(&store, &entropy).await;
        known.verify(&new.text).await.unwrap();
        clock.0.store(6_000, Ordering::Relaxed);
        for _ in 0..2 * KNOWN_MAX {
            let made_up = NewToken::draw(&entropy);
            known.verify(&made_up.text).await.unwrap_err();
        }
        assert!(known.read.lock().unwrap().len() <= KNOWN_MAX);
        store.gate.send_replace(true);
        let mut flood = JoinSet::new();
        let before = *store.reads.lock().unwrap();
        for _ in 0..LOOKUPS_MAX {
            let (known, made_up) = (Arc::clone(&known), NewToken::draw(&entropy));
            flood.spawn(async move { known.verify(&made_up.text).await });
        }
        while *store.reads.lock().unwrap() < before + LOOKUPS_MAX {
            tokio::task::yield_now().await;
        }
        let again = tokio::spawn(async move { known.verify(&new.text).await });
        tokio::time::sleep(2 * TURN).await;
        store.gate.send_replace(false);
        assert_eq!(again.await.unwrap().unwrap().name, "token:ci");
    }

    /// More tokens than can be valid have been known: those that were read lately stay.
    #[tokio::test]
    async fn there_is_room_when_all_are_known() {
        let now = Still::default().now();
        let reading = |began| {
            Arc::new(Reading {
                began,
                was_known: true,
                found: OnceCell::new(),
            })
        };
        let mut read: HashMap<_, _> = (0..KNOWN_MAX)
            .map(|number| (number.to_string(), reading(Timestamp::default())))
            .collect();
        read.insert("fresh".to_owned(), reading(now));
        make_room(&mut read, now);
        assert_eq!(read.keys().collect::<Vec<_>>(), ["fresh"]);
    }

    /// While the store is slow, made-up tokens take a bounded number of statements, and known ones are read again.
    #[tokio::test(start_paused = true)]
    async fn tokens_that_are_made_up_do_not_crowd_out_known_ones() {
        let (store, _) = counting();
        let clock = Arc::new(Still::default());
        let known = Arc::new(KnownTokens::new(store.clone(), clock.clone()));
        let entropy = SeededEntropy::new(1);
        let new = create(&store, &entropy).await;
        known.verify(&new.text).await.unwrap();
        clock.0.store(6_000, Ordering::Relaxed);
        store.gate.send_replace(true);
        let mut flood = JoinSet::new();
        for _ in 0..200 {
            let (known, made_up) = (Arc::clone(&known), NewToken::draw(&entropy));
            flood.spawn(async move { known.verify(&made_up.text).await.unwrap_err() });
        }
        let again = tokio::spawn(async move { known.verify(&new.text).await });
        let mut busy = 0;
        while busy < 200 - LOOKUPS_MAX {
            let refused = flood.join_next().await.unwrap().unwrap();
            assert!(matches!(refused, Refused::Busy), "{refused:?}");
            busy += 1;
        }
        // That of the known token, twice, and those of the others that are looked up.
        assert_eq!(*store.reads.lock().unwrap(), 2 + LOOKUPS_MAX);
        store.gate.send_replace(false);
        assert_eq!(again.await.unwrap().unwrap().name, "token:ci");
        while let Some(refused) = flood.join_next().await {
            assert!(matches!(refused, Ok(Refused::Invalid(_))), "{refused:?}");
        }
    }
}
