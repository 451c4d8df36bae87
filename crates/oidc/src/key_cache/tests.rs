use std::sync::Mutex as StdMutex;

use async_trait::async_trait;
use hyper::StatusCode;
use hyper::body::Bytes;
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::*;

const ISSUER: &str = "https://issuer.example.com";

/// An issuer that a test turns on and off.
#[derive(Clone)]
struct Fake(Arc<State>);

struct State {
    /// The ids of its keys; `None` while it is away.
    keys: StdMutex<Option<Vec<&'static str>>>,
    /// How often it was asked for its keys.
    asked: StdMutex<usize>,
    /// Its answers wait for these.
    permits: Semaphore,
}

#[async_trait]
impl Source for Fake {
    async fn read(&self, url: Uri) -> Result<Bytes, Unread> {
        if url.path() == "/.well-known/openid-configuration" {
            *self.0.asked.lock().unwrap() += 1;
            self.0.permits.acquire().await.unwrap().forget();
            let Some(_) = *self.0.keys.lock().unwrap() else {
                return Err(Unread::Status(url, StatusCode::BAD_GATEWAY));
            };
            let document = json!({"issuer": ISSUER, "jwks_uri": format!("{ISSUER}/jwks")});
            return Ok(document.to_string().into());
        }
        let keys = self.0.keys.lock().unwrap().clone().unwrap_or_default();
        let keys: Vec<Value> = keys.into_iter().map(key).collect();
        Ok(json!({ "keys": keys }).to_string().into())
    }
}

/// Any key of P-256: signatures are not verified here.
fn key(id: &str) -> Value {
    json!({
        "kid": id,
        "kty": "EC",
        "crv": "P-256",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    })
}

impl Fake {
    fn new(keys: Option<Vec<&'static str>>) -> (Self, Arc<KeyCache>) {
        let fake = Self(Arc::new(State {
            keys: StdMutex::new(keys),
            asked: StdMutex::new(0),
            permits: Semaphore::new(Semaphore::MAX_PERMITS),
        }));
        let cache = KeyCache::new(ISSUER.to_owned(), Box::new(fake.clone()));
        (fake, Arc::new(cache))
    }

    fn has(&self, keys: Option<Vec<&'static str>>) {
        *self.0.keys.lock().unwrap() = keys;
    }

    fn asked(&self) -> usize {
        *self.0.asked.lock().unwrap()
    }

    fn holds_answers(&self) {
        self.0.permits.forget_permits(Semaphore::MAX_PERMITS);
    }

    fn gives_answers(&self) {
        self.0.permits.add_permits(1_000);
    }
}

async fn found(cache: &Arc<KeyCache>, id: &str) -> Result<(), Refused> {
    let header = Header {
        algorithm: Algorithm::ES256,
        key: Some(id.to_owned()),
    };
    cache.find(&header).await.map(drop)
}

/// Lets tasks in the background get on.
async fn settled() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_key_is_found_and_unknown_ones_are_looked_for_once_in_a_while() {
    let (fake, cache) = Fake::new(Some(vec!["a"]));
    assert_eq!(found(&cache, "a").await, Ok(()));
    assert_eq!(found(&cache, "a").await, Ok(()));
    assert_eq!(fake.asked(), 1);
    // The issuer rotates its keys.
    fake.has(Some(vec!["a", "b"]));
    tokio::time::advance(PAUSE).await;
    assert_eq!(found(&cache, "b").await, Ok(()));
    assert_eq!(found(&cache, "a").await, Ok(()));
    assert_eq!(fake.asked(), 2);
    for _ in 0..100 {
        assert_eq!(found(&cache, "unknown").await, Err(Refused::UnknownKey));
    }
    assert_eq!(fake.asked(), 2);
    tokio::time::advance(PAUSE).await;
    for _ in 0..100 {
        assert_eq!(found(&cache, "unknown").await, Err(Refused::UnknownKey));
    }
    assert_eq!(fake.asked(), 3);
    assert_eq!(found(&cache, "a").await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn many_who_need_the_keys_ask_once() {
    let (fake, cache) = Fake::new(Some(vec!["a"]));
    fake.holds_answers();
    let mut requests = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let cache = Arc::clone(&cache);
        requests.spawn(async move { found(&cache, "a").await });
    }
    settled().await;
    fake.gives_answers();
    for found in requests.join_all().await {
        assert_eq!(found, Ok(()));
    }
    assert_eq!(fake.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_does_not_keep_others_from_the_keys() {
    let (fake, cache) = Fake::new(Some(vec!["a"]));
    fake.holds_answers();
    let gone = tokio::spawn({
        let cache = Arc::clone(&cache);
        async move { found(&cache, "a").await }
    });
    settled().await;
    assert_eq!(fake.asked(), 1);
    gone.abort();
    fake.gives_answers();
    assert_eq!(found(&cache, "a").await, Ok(()));
    assert_eq!(fake.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_withdrawn_is_forgotten() {
    let (fake, cache) = Fake::new(Some(vec!["a", "b"]));
    assert_eq!(found(&cache, "a").await, Ok(()));
    fake.has(Some(vec!["b"]));
    tokio::time::advance(FRESH - Duration::from_millis(1)).await;
    assert_eq!(found(&cache, "a").await, Ok(()));
    settled().await;
    assert_eq!(fake.asked(), 1);
    tokio::time::advance(Duration::from_millis(1)).await;
    // Nobody waits for the issuer: the keys are read in the background.
    assert_eq!(found(&cache, "a").await, Ok(()));
    settled().await;
    assert_eq!(fake.asked(), 2);
    assert_eq!(found(&cache, "a").await, Err(Refused::UnknownKey));
    assert_eq!(found(&cache, "b").await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn keys_are_used_on_while_the_issuer_is_away_for_an_hour_at_most() {
    let (fake, cache) = Fake::new(Some(vec!["a"]));
    assert_eq!(found(&cache, "a").await, Ok(()));
    fake.has(None);
    let mut asked = 1;
    for _ in 0..11 {
        tokio::time::advance(FRESH).await;
        for _ in 0..10 {
            assert_eq!(found(&cache, "a").await, Ok(()));
            settled().await;
        }
        asked += 1;
        assert_eq!(fake.asked(), asked);
    }
    assert_eq!(found(&cache, "unknown").await, Err(Refused::UnknownKey));
    tokio::time::advance(FRESH).await;
    assert_eq!(found(&cache, "a").await, Err(Refused::Unavailable));
    fake.has(Some(vec!["a"]));
    // Whoever comes meanwhile does not wait.
    assert_eq!(found(&cache, "a").await, Err(Refused::Unavailable));
    tokio::time::advance(PAUSE).await;
    assert_eq!(found(&cache, "a").await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn an_issuer_without_keys_is_as_one_that_is_away() {
    let (fake, cache) = Fake::new(Some(vec!["a"]));
    assert_eq!(found(&cache, "a").await, Ok(()));
    fake.has(Some(Vec::new()));
    tokio::time::advance(FRESH).await;
    assert_eq!(found(&cache, "a").await, Ok(()));
    settled().await;
    assert_eq!(fake.asked(), 2);
    assert_eq!(found(&cache, "a").await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_does_not_answer_is_waited_for_only_so_long() {
    let (fake, cache) = Fake::new(Some(vec!["a"]));
    fake.holds_answers();
    let began = Instant::now();
    assert_eq!(found(&cache, "a").await, Err(Refused::Unavailable));
    assert_eq!(began.elapsed(), READING);
    assert_eq!(found(&cache, "a").await, Err(Refused::Unavailable));
    assert_eq!(began.elapsed(), READING);
    fake.gives_answers();
    tokio::time::advance(PAUSE).await;
    assert_eq!(found(&cache, "a").await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn keys_can_be_read_before_they_are_needed() {
    let (fake, cache) = Fake::new(Some(vec!["a"]));
    cache.read_soon();
    settled().await;
    assert_eq!(fake.asked(), 1);
    assert_eq!(found(&cache, "a").await, Ok(()));
    assert_eq!(fake.asked(), 1);
}
