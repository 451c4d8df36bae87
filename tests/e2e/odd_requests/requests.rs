//! The requests: a route of the API's description, with something odd in its path, its query, its headers or its body.

use std::fmt;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, Request, Uri};
use serde_json::{Map, Value, json};
use ucp_testkit::{ACCOUNT, GROUP, REGION};

use ucp_testkit::Draw;

const METHODS: [&str; 9] = [
    "GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND",
];
/// Segments that are none.
const SEGMENTS: [&str; 22] = [
    "%00",
    "%2F",
    "%2e%2e",
    "..",
    ".",
    "%FF",
    "%E2%80%AE",
    "%25",
    "%",
    "a%0Ab",
    "~",
    "'",
    "%7C",
    "a|b",
    "%F0%9F%A6%80",
    ":put",
    ":reference",
    "*",
    "-",
    "%20",
    "{type}",
    "%E1%BA%9E",
];
const QUERIES: [&str; 16] = [
    "",
    "api-version=2023-10-01-preview&api-version=2023-10-01-preview",
    "api-version=1",
    "api-version=",
    "api-version=2023-10-01-preview&top=0",
    "api-version=2023-10-01-preview&top=99999999999999999999",
    "api-version=2023-10-01-preview&$top=-1",
    "api-version=2023-10-01-preview&top=1&$top=2",
    "api-version=2023-10-01-preview&skipToken=%00",
    "api-version=2023-10-01-preview&skipToken=eyJhIjoxfQ",
    "api-version=2023-10-01-preview&%24filter=a",
    "api-version=2023-10-01-preview&status=Running",
    "%FF=%FF",
    "a=b&&&=&c",
    "api-version=2023-10-01-preview&top=%E2%80%AE",
    "api-version=2023-10-01-preview&skipToken='\"",
];
const HEADERS: [(&str, &[u8]); 22] = [
    ("content-type", b"text/plain"),
    ("content-type", b"application/json; charset=utf-16"),
    ("content-type", b"multipart/form-data; boundary=x"),
    ("content-type", b"\xff"),
    ("content-encoding", b"gzip"),
    ("accept", b"text/html"),
    ("accept", b"\xff\xfe"),
    ("if-match", b"*"),
    ("if-match", b"\"a\", \"b\""),
    ("if-match", b"a"),
    ("if-none-match", b"*"),
    ("if-none-match", b"W/\"\xff\""),
    ("prefer", b"respond-async"),
    ("prefer", b"wait=99999999999999999999"),
    ("host", b"elsewhere.example"),
    ("host", b"localhost:99999"),
    ("origin", b"http://elsewhere.example"),
    ("referer", b"http://[::"),
    ("traceparent", b"00-\xff"),
    ("x-ms-correlation-request-id", b"\xe2\x80\xae"),
    ("x-ms-client-request-id", b"a b\tc"),
    ("expect", b"100-continue"),
];
/// Values that are odd anywhere.
const TEXTS: [&str; 14] = [
    "1e999",
    "-0",
    "123456789012345678901234567890",
    "0.1e-400",
    "null",
    "true",
    "\"\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\u{202e}\u{2066}\"",
    "\"\\u202e\"",
    "[]",
    "{}",
    "\"*\"",
];

/// Resources that a put can create: their namespace, their type, and their properties.
type Kind = (&'static str, &'static str, &'static str);
const KINDS: [Kind; 4] = [
    (
        "AWS.EC2",
        "VPC",
        r#"{"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true}"#,
    ),
    (
        "AWS.EC2",
        "VPC",
        r#"{"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "a", "Value": "b"}]}"#,
    ),
    ("AWS.S3", "Bucket", r#"{"BucketName": "one"}"#),
    (
        "AWS.Logs",
        "LogGroup",
        r#"{"LogGroupName": "one", "RetentionInDays": 7}"#,
    ),
];

/// The routes, and what their parameters may be.
pub(super) struct Routes(Vec<(String, Vec<Method>)>);

/// A request, before it is sent.
pub(super) struct Odd {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Vec<u8>,
}

impl Routes {
    pub(super) fn of_the_document() -> Self {
        let document: Value =
            serde_json::from_str(include_str!("../../../api/openapi.json")).expect("JSON");
        let paths = document["paths"].as_object().expect("paths");
        let methods = |of: &Value| {
            let members = of.as_object().expect("methods").keys();
            let methods = members.filter_map(|method| method.to_uppercase().parse().ok());
            methods
                .filter(|method: &Method| METHODS.contains(&method.as_str()))
                .collect()
        };
        Self(
            paths
                .iter()
                .map(|(path, of)| (path.clone(), methods(of)))
                .collect(),
        )
    }

    /// Draws a request that can be sent.
    pub(super) fn draw(&self, draw: &Draw) -> Odd {
        let (route, methods) = draw.pick(&self.0);
        let method = if draw.one_in(10) {
            draw.pick(&METHODS).parse().expect("a method")
        } else {
            draw.pick(&methods)
        };
        let kind = draw.pick(&KINDS);
        // What cannot be parsed does not reach a router.
        let uri = loop {
            let target = format!("{}{}", path(draw, &route, kind), query(draw));
            if let Ok(uri) = target.parse() {
                break uri;
            }
        };
        let mut headers = vec![
            ("host", b"localhost:8787".as_slice()),
            ("content-type", b"application/json"),
        ];
        for _ in 0..draw.below(3) {
            let (name, value) = draw.pick(&HEADERS);
            if draw.one_in(2) {
                headers.retain(|(given, _)| *given != name);
            }
            headers.push((name, value));
        }
        let header = |(name, value)| {
            let value = HeaderValue::from_bytes(value).expect("a value");
            (HeaderName::from_static(name), value)
        };
        Odd {
            method,
            uri,
            headers: headers.into_iter().map(header).collect(),
            body: body(draw, &route, kind),
        }
    }
}

impl Odd {
    pub(super) fn into_request(self) -> Request<Body> {
        let mut request = Request::new(Body::from(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        request.headers_mut().extend(
            self.headers
                .into_iter()
                .map(|(name, value)| (Some(name), value)),
        );
        request
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            method,
            uri,
            headers,
            body,
        } = self;
        let body = String::from_utf8_lossy(&body[..body.len().min(2_000)]);
        writeln!(f, "{method} {uri}\n{headers:?}\n{}", body.escape_debug())
    }
}

fn path(draw: &Draw, route: &str, kind: Kind) -> String {
    let mut path = String::new();
    for segment in route.split('/').skip(1) {
        path.push('/');
        path.push_str(&match segment.strip_prefix('{') {
            Some(name) if !draw.one_in(12) => {
                parameter(draw, name.trim_end_matches('}'), route, kind)
            }
            _ if draw.one_in(20) || segment.starts_with('{') => odd_segment(draw),
            _ => segment.to_owned(),
        });
    }
    match draw.below(40) {
        0 => path.push('/'),
        1 => path.insert(0, '/'),
        2 => path = path.to_uppercase(),
        3 => path.push_str("/more"),
        4 => path.truncate(draw.below(path.len()).max(1)),
        _ => {}
    }
    path
}

fn odd_segment(draw: &Draw) -> String {
    match draw.below(8) {
        0 => "x".repeat(1 + draw.below(3_000)),
        1 => String::new(),
        _ => draw.pick(&SEGMENTS).to_owned(),
    }
}

fn parameter(draw: &Draw, name: &str, route: &str, kind: Kind) -> String {
    let is_reference = route.contains("/resourcegroups/");
    let reference = format!("{}:reference", kind.1);
    let id = "0190d1f0-0000-4000-8000-000000000000";
    let values: &[&str] = match name {
        "plane" if route.contains("/planes/radius/") => &["local", "local", "other"],
        "plane" => &["aws", "aws", "other"],
        "account" => &[ACCOUNT, ACCOUNT, ACCOUNT, "999999999999"],
        "region" => &[REGION, REGION, REGION, "eu-west-1", "us-made-1"],
        "namespace" => &[kind.0, kind.0, kind.0, kind.0, "AWS.EC2", "Made.Up"],
        "type" if route == "/planes/{type}" || route == "/planes/{type}/{plane}" => {
            &["aws", "radius", "azure"]
        }
        "type" if is_reference => &[&reference, &reference, &reference, "VPC"],
        "type" => &[kind.1, kind.1, kind.1, kind.1, "Subnet"],
        "identifier" => &["one", "vpc-1", "a%7Cb", "%7B%22a%22:1%7D"],
        "group" => &["rg", "rg", "other", "%C3%A4"],
        "credential" => &["default", "other"],
        "alias" => &["one", "two"],
        "code" => &["BadRequest", "AlreadyExists.md", "Nothing"],
        _ => &[id, "1"],
    };
    draw.pick(values).to_owned()
}

fn query(draw: &Draw) -> String {
    let query = if draw.one_in(5) {
        draw.pick(&QUERIES)
    } else {
        "api-version=2023-10-01-preview"
    };
    match query {
        "" => String::new(),
        query => format!("?{query}"),
    }
}

/// A body that suits the route, with odd values in it, and odd bytes at times.
fn body(draw: &Draw, route: &str, kind: Kind) -> Vec<u8> {
    let mut value = suitable(draw, route, kind);
    for _ in 0..draw.below(3) {
        plant(draw, &mut value);
    }
    let mut text = value.to_string();
    if draw.one_in(4) {
        // As text, since not all of it could be a value.
        let odd = draw.pick(&TEXTS);
        text = match draw.below(5) {
            0 => odd.to_owned(),
            1 => text.replacen("true", odd, 1),
            2 => text.replacen("\"10.0.0.0/16\"", odd, 1),
            3 => text.replacen('{', &format!("{{\"properties\":{odd},"), 1),
            _ => format!("{text}{odd}"),
        };
    }
    let mut bytes = text.into_bytes();
    if draw.one_in(12) {
        match draw.below(6) {
            0 => bytes.truncate(draw.below(bytes.len().max(1))),
            1 => bytes.insert(draw.below(bytes.len().max(1)), 0),
            2 => bytes.insert(draw.below(bytes.len().max(1)), 0xff),
            3 => bytes.splice(0..0, *b"\xef\xbb\xbf").for_each(drop),
            4 => bytes = "[".repeat(1 + draw.below(100_000)).into_bytes(),
            _ => bytes.clear(),
        }
    }
    bytes
}

fn suitable(draw: &Draw, route: &str, kind: Kind) -> Value {
    let alias = draw.pick(&["one", "two"]);
    let (namespace, name, properties) = kind;
    let own = format!("{GROUP}/providers/{namespace}/{name}:reference/{alias}");
    let tracked_by = draw.pick(&[
        own.clone(),
        own.clone(),
        own,
        GROUP.to_owned(),
        format!("{GROUP}/providers/AWS.EC2/Subnet:reference/one"),
        "/planes/radius/local/resourceGroups/none/providers/AWS.EC2/VPC:reference/one".to_owned(),
    ]);
    let properties: Value = serde_json::from_str(properties).expect("JSON");
    if route.ends_with("/:import") && route.contains("resourcegroups") {
        let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
        let item = json!({"alias": alias, "type": "AWS.EC2/VPC", "scope": scope,
            "primaryIdentifier": "vpc-1", "owned": true});
        return json!({"resources": [item]});
    }
    if route.contains("/credentials/") {
        let secret = json!({"kind": "AccessKey", "accessKeyId": "AKIA1", "secretAccessKey": "s",
            "storage": {"kind": "Internal"}});
        return json!({"location": "global", "properties": secret});
    }
    if route.contains("/accounts/") {
        if route.ends_with("/{identifier}") {
            return json!({"properties": properties});
        }
        let mut body = json!({"alias": alias, "trackedBy": tracked_by});
        if route.ends_with("/:put") {
            body["properties"] = properties;
            body["ownedResource"] = json!(true);
            body["updateMode"] = json!("merge");
        } else if route.ends_with("/:import") {
            body["primaryIdentifier"] = json!("one");
        }
        return body;
    }
    if route.contains("/providers/") {
        return json!({"ownedResource": true, "tags": {"a": "b"}});
    }
    let settings = draw.pick(&[
        json!({"defaultTags": {"a": "b"}}),
        json!({"resourceProviders": {"A.B": "http://b"}}),
        json!({"credentials": "ambient"}),
    ]);
    json!({"location": "global", "tags": {"a": "b"}, "properties": settings})
}

/// Puts something odd in the place of a value, or beside it.
fn plant(draw: &Draw, value: &mut Value) {
    let odd = odd_value(draw, 0);
    match value {
        Value::Object(members) if !members.is_empty() => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = draw.pick(&names);
            match draw.below(6) {
                0 => drop(members.insert(name, odd)),
                1 => drop(members.insert(odd_text(draw), odd)),
                2 => drop(members.remove(&name)),
                _ => plant(draw, members.get_mut(&name).expect("a member")),
            }
        }
        Value::Array(elements) if !elements.is_empty() => match draw.below(3) {
            0 => elements.push(odd),
            1 => *elements = vec![elements[0].clone(); 1 + draw.below(300)],
            _ => plant(draw, &mut elements[0]),
        },
        _ => *value = odd,
    }
}

fn odd_value(draw: &Draw, depth: usize) -> Value {
    match draw.below(if depth < 4 { 10 } else { 7 }) {
        0 => Value::Null,
        1 => json!(draw.one_in(2)),
        2 => json!(draw.pick(&[0.0, -1.5, 1e300, 1e-300])),
        3 => json!(draw.pick(&[i64::MIN, -1, 0, i64::MAX])),
        4..=6 => json!(odd_text(draw)),
        7 => (0..draw.below(4))
            .map(|_| odd_value(draw, depth + 1))
            .collect(),
        8 => {
            let depth = 1 + draw.below(100);
            (0..depth).fold(Value::Null, |inner, _| json!([inner]))
        }
        _ => {
            let members = (0..draw.below(4)).map(|_| (odd_text(draw), odd_value(draw, depth + 1)));
            Value::Object(members.collect::<Map<String, Value>>())
        }
    }
}

fn odd_text(draw: &Draw) -> String {
    let text = draw.pick(&[
        "",
        "a",
        "\0",
        "\u{7}",
        "\u{202e}",
        "a\u{2066}b",
        "\u{feff}",
        "ß",
        "İ",
        "e\u{301}",
        "../../x",
        "a/b",
        "a|b",
        "$reference",
        "$concat",
        "$unknown",
        "ucp:reference",
        "aws:tag",
        "properties",
        "__proto__",
        "1",
        "10.0.0.0/16",
        "%00",
        "'\"<>&",
        "arn:aws:iam::1:role/x",
    ]);
    if draw.one_in(15) {
        text.repeat(1 + draw.below(20_000))
    } else {
        text.to_owned()
    }
}
