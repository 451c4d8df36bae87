use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

/// What a client is told whose request is not even read.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// The status of the reply.
    pub status: StatusCode,
    /// Its body, in JSON. It may be empty.
    pub body: &'static str,
}

impl Refusal {
    /// Returns the reply over HTTP/1.1, on a connection that is closed after it.
    pub(crate) fn text(self) -> String {
        let Self { status, body } = self;
        let headers = self.headers().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            format!("{name}: {value}\r\n")
        });
        let headers = headers.collect::<String>();
        format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n{body}")
    }

    /// Returns the reply to a request.
    pub(crate) fn reply(self) -> Response<Full<Bytes>> {
        let mut reply = Response::new(Full::new(Bytes::from_static(self.body.as_bytes())));
        *reply.status_mut() = self.status;
        reply.headers_mut().extend(self.headers());
        reply
    }

    fn headers(self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let is_json = !self.body.is_empty();
        let content_type = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let later = self.status == StatusCode::SERVICE_UNAVAILABLE;
        let uncached = (CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let after_a_second = (RETRY_AFTER, HeaderValue::from_static("1"));
        let content_type = is_json.then_some(content_type);
        let retry_after = later.then_some(after_a_second);
        content_type
            .into_iter()
            .chain([uncached])
            .chain(retry_after)
    }
}
