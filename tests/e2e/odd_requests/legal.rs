//! Requests that are legal, and odd in all that may be odd: names of groups and aliases, texts, numbers, depth, width and
//! spelling. Most of them start an operation.

use axum::http::{HeaderName, HeaderValue, Method};
use serde_json::{Map, Value, json};
use ucp_testkit::{ACCOUNT, REGION, World};

use super::requests::Odd;
use ucp_testkit::Draw;

/// Groups beside the one that each world has.
const GROUPS: [&str; 4] = ["ä(ö)-ü_.x", "группа", "組-1", "2"];
const QUERY: &str = "api-version=2023-10-01-preview";
const ALIASES: [&str; 14] = [
    "one",
    "ß",
    "İstanbul",
    "e\u{301}",
    "🦀",
    "名前",
    "a b",
    "a|b",
    "*",
    "'\"<>&",
    "$reference",
    "{alias}",
    "...",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];
const TEXTS: [&str; 19] = [
    "",
    "a",
    "ß",
    "İ",
    "e\u{301}",
    "\u{feff}",
    "\u{200d}",
    "\u{10ffff}",
    "🦀",
    "a/b",
    "~1~0",
    "\\",
    "\n\t\r",
    "'\"<>&",
    "%00",
    "../../x",
    "__proto__",
    "properties",
    "arn:aws:iam::1:role/x",
];
/// Letters, digits and what else tags may have.
const TAG_TEXTS: [&str; 6] = ["", "ß", "İ", "名前", "a/b", "a = b"];
/// What is put, patched and deleted by its name. Each world has it at first.
const NAMES: [&str; 2] = ["one", "-_/#.A"];
/// Numbers as they may be written. Not all of them could be a value.
const NUMBERS: [&str; 10] = [
    "0",
    "-0",
    "-0.0",
    "1E+2",
    "0.10",
    "1e300",
    "5e-324",
    "-9223372036854775808",
    "18446744073709551615",
    "9007199254740993",
];
/// What stands for a number until the body is written.
const NUMBER: &str = "the number ";
/// The headers that a legal request may have.
const HEADERS: [(&str, &str); 5] = [
    ("content-type", "application/json; charset=utf-8"),
    ("accept", "*/*, text/html;q=0.1"),
    ("prefer", "respond-async"),
    ("prefer", "wait=0, return=minimal"),
    ("x-ms-client-request-id", "~!@#$%^&*()"),
];

/// A type: its namespace and its name, the property that names a resource if the caller names it, and properties that
/// a put may set.
struct Kind {
    namespace: &'static str,
    name: &'static str,
    named_by: Option<&'static str>,
    properties: fn(&Draw) -> Value,
}

const KINDS: [Kind; 5] = [
    Kind {
        namespace: "AWS.Logs",
        name: "LogGroup",
        named_by: Some("LogGroupName"),
        properties: |draw| {
            json!({"DataProtectionPolicy": tree(draw), "ResourcePolicyDocument": tree(draw),
                "RetentionInDays": draw.pick(&[1, 3653]), "Tags": tags(draw)})
        },
    },
    Kind {
        namespace: "AWS.SSM",
        name: "Parameter",
        named_by: Some("Name"),
        properties: |draw| {
            json!({"Type": "String", "Value": long_text(draw), "Description": text(draw),
                "Tags": {"ß": tag_text(draw), "名": tag_text(draw)}})
        },
    },
    Kind {
        namespace: "AWS.SQS",
        name: "Queue",
        named_by: None,
        properties: |draw| {
            json!({"RedriveAllowPolicy": tree(draw), "DelaySeconds": draw.pick(&[0, 900]),
                "Tags": tags(draw)})
        },
    },
    Kind {
        namespace: "AWS.Events",
        name: "Rule",
        named_by: None,
        properties: |draw| {
            json!({"EventPattern": tree(draw), "Description": text(draw), "Targets": [],
                "Tags": tags(draw)})
        },
    },
    Kind {
        namespace: "AWS.SecretsManager",
        name: "Secret",
        named_by: None,
        properties: |draw| json!({"Description": long_text(draw), "Tags": tags(draw)}),
    },
];

/// Makes what legal requests need.
pub(super) async fn prepare(world: &World) {
    for group in GROUPS {
        world.put_group(&encoded(group)).await;
    }
    for name in NAMES {
        let path = format!("{}/AWS.Logs/LogGroup/{}?{QUERY}", scope(), encoded(name));
        let made = world.call("PUT", &path, r#"{"properties": {}}"#).await;
        made.expect(201);
    }
    world.settle().await;
}

/// Draws a put, a delete or a patch.
pub(super) fn draw(draw: &Draw) -> Odd {
    let kind = &KINDS[draw.below(KINDS.len())];
    let alias = draw.pick(&ALIASES);
    let properties = |name: Option<&str>| {
        let mut properties = (kind.properties)(draw);
        if let (Some(name), Some(member)) = (name, kind.named_by) {
            properties[member] = json!(name);
        }
        properties
    };
    let of_type = format!("{}/{}/{}", scope(), kind.namespace, kind.name);
    let by_name = || format!("{of_type}/{}", encoded(draw.pick(&NAMES)));
    let group = draw.pick(&GROUPS);
    let tracked_by = format!(
        "/planes/radius/local/resourceGroups/{group}/providers/{}/{}:reference/{alias}",
        kind.namespace, kind.name
    );
    let (method, path, body) = match (draw.below(6), kind.named_by) {
        (0, _) => {
            let body = json!({"alias": alias, "trackedBy": tracked_by});
            (Method::POST, format!("{of_type}/:delete"), body)
        }
        (1, Some(_)) => (Method::DELETE, by_name(), Value::Null),
        (2, Some(_)) => {
            let body = json!({"properties": properties(None)});
            (Method::PATCH, by_name(), body)
        }
        (3, Some(_)) => {
            let body = json!({"properties": properties(None)});
            (Method::PUT, by_name(), body)
        }
        _ => {
            let name = format!("a-{}", draw.below(50));
            let body = json!({"alias": alias, "trackedBy": tracked_by,
                "properties": properties(Some(&name)), "updateMode": draw.pick(&["merge", "replace"])});
            (Method::POST, format!("{of_type}/:put"), body)
        }
    };
    let path = if draw.one_in(4) {
        path.replacen("/planes/aws/aws/accounts", "/PLANES/Aws/aws/Accounts", 1)
    } else {
        path
    };
    let header = |(name, value)| {
        let value = HeaderValue::from_static(value);
        (HeaderName::from_static(name), value)
    };
    let mut headers = vec![header(("host", "localhost:8787"))];
    if draw.one_in(3) {
        headers.push(header(draw.pick(&HEADERS)))
    } else {
        headers.push(header(("content-type", "application/json")))
    }
    Odd {
        method,
        uri: format!("{path}?{QUERY}").parse().expect("a URI"),
        headers,
        body: match body {
            Value::Null => Vec::new(),
            body => spelled(draw, &body).into_bytes(),
        },
    }
}

fn scope() -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers")
}

/// A segment of a path, with every byte encoded.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Writes a body in one of the ways in which JSON can be written.
fn spelled(draw: &Draw, body: &Value) -> String {
    let mut text = if draw.one_in(3) {
        format!("\n{body:#}\r\n")
    } else {
        body.to_string()
    };
    for number in NUMBERS {
        text = text.replace(&format!("\"{NUMBER}{number}\""), number);
    }
    if draw.one_in(2) {
        return text;
    }
    let escape = |letter: char| {
        if letter.is_ascii() {
            letter.to_string()
        } else {
            let mut units = [0; 2];
            let units = letter.encode_utf16(&mut units).iter();
            units.map(|unit| format!("\\u{unit:04x}")).collect()
        }
    };
    text.chars().map(escape).collect()
}

/// An object, of any shape that a document may have.
fn tree(draw: &Draw) -> Value {
    let mut members = Map::new();
    match draw.below(6) {
        0 => {}
        1 => {
            // The body, its properties and this object are levels, too.
            let depth = draw.below(60);
            let deep = (0..depth).fold(json!({}), |inner, level| match level % 2 {
                0 => json!([inner]),
                _ => json!({ text(draw): inner }),
            });
            members.insert(text(draw), deep);
        }
        2 => members.extend((0..300).map(|number| (format!("{number}"), leaf(draw)))),
        3 => {
            let empty = [json!([]), json!({}), json!([[]]), json!([{}]), json!("")];
            members.extend(empty.map(|empty| (text(draw), empty)));
        }
        4 => {
            let leaves = (0..draw.below(300)).map(|_| leaf(draw));
            members.insert(text(draw), leaves.collect());
        }
        _ => members.extend((0..draw.below(20)).map(|_| (text(draw), leaf(draw)))),
    }
    Value::Object(members)
}

fn leaf(draw: &Draw) -> Value {
    match draw.below(4) {
        0 => json!(draw.one_in(2)),
        1 => json!(format!("{NUMBER}{}", draw.pick(&NUMBERS))),
        _ => json!(text(draw)),
    }
}

fn tags(draw: &Draw) -> Value {
    let many = draw.pick(&[0, 1, 40]);
    let tag = |number| {
        let key = format!("{}{number}", draw.pick(&["ß", "a", "名"]));
        json!({"Key": key, "Value": tag_text(draw)})
    };
    (0..many).map(tag).collect()
}

fn text(draw: &Draw) -> String {
    draw.pick(&TEXTS).to_owned()
}

fn tag_text(draw: &Draw) -> String {
    draw.pick(&TAG_TEXTS).to_owned()
}

fn long_text(draw: &Draw) -> String {
    text(draw).repeat(1 + draw.below(60))
}
