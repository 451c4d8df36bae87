//! Bodies of replies.

use std::io::{Error, ErrorKind, Write};

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use ucp_cpu_pool::in_place;

/// What is longer is written anew by a thread that keeps nobody else waiting.
const QUICK_BYTES: usize = 64 << 10;

/// A reply that is JSON.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut quick = Quick(Vec::new());
        match serde_json::to_writer(&mut quick, &self.0) {
            Ok(()) => ([(CONTENT_TYPE, "application/json")], quick.0).into_response(),
            Err(_) => in_place(|| axum::Json(self.0).into_response()),
        }
    }
}

/// What is written as long as it is short.
struct Quick(Vec<u8>);

impl Write for Quick {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        if self.0.len() + bytes.len() > QUICK_BYTES {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use serde_json::{Value, json};

    use super::*;

    async fn written(value: Value) -> Vec<u8> {
        let response = Json(value).into_response();
        assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
        let body = response.into_body().collect().await.unwrap();
        body.to_bytes().to_vec()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_reply_is_the_same_however_long_it_is() {
        for length in [0, QUICK_BYTES - 2, QUICK_BYTES - 1, 4 * QUICK_BYTES] {
            let value = json!("x".repeat(length));
            assert_eq!(written(value.clone()).await, value.to_string().into_bytes());
        }
    }
}
