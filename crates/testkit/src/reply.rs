use axum::body::Body;
use axum::http::Response;
use http_body_util::BodyExt;
use serde_json::{Value, json};

/// A reply of the API.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The headers, by lower-case name.
    pub headers: Vec<(String, String)>,
    /// The body; `null` when there is none.
    pub body: Value,
    /// The body as it was sent.
    pub text: String,
}

impl Reply {
    pub(crate) async fn read(response: Response<Body>) -> Self {
        let status = response.status().as_u16();
        let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
            (
                name.to_string(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        };
        let headers = response.headers().iter().map(header).collect();
        let bytes = response
            .into_body()
            .collect()
            .await
            .expect("the body is in memory")
            .to_bytes();
        let text = String::from_utf8(bytes.to_vec()).expect("replies are UTF-8");
        let body = if text.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(&text).unwrap_or(Value::Null)
        };
        Self {
            status,
            headers,
            body,
            text,
        }
    }

    /// Returns the header `name`, if present.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(given, _)| given == name)
            .map(|(_, value)| value.as_str())
    }

    /// Panics unless the status is `status`.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "unexpected reply: {}", self.text);
        self
    }

    /// Returns the error code.
    #[track_caller]
    pub fn code(&self) -> &str {
        self.body["error"]["code"]
            .as_str()
            .unwrap_or_else(|| panic!("no error code in {}", self.text))
    }

    /// Returns the code and the target of each detail of the error, but for links to its page.
    #[track_caller]
    pub fn details(&self) -> Vec<Value> {
        let details = self.body["error"]["details"].as_array();
        let details = details.unwrap_or_else(|| panic!("no details in {}", self.text));
        details
            .iter()
            .filter(|detail| detail["code"] != "Help")
            .map(|detail| json!([detail["code"], detail["target"]]))
            .collect()
    }

    /// Returns the URL of the operation's status.
    #[track_caller]
    pub fn status_url(&self) -> &str {
        self.header("azure-asyncoperation")
            .unwrap_or_else(|| panic!("no polling headers: {self:?}"))
    }
}
