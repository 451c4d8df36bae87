//! The proof of a change: what AWS shows of it, compared with what was sent and with what was there before.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value, json};
use ucp_model::operation::Proof;
use ucp_model::{Digest, TypeName};
use ucp_plan::{Desired, Mode, plan, prove, sent};
use ucp_schema::{Catalogue, Declaration};

/// The proof of a put of `declared`, on a resource that was `before` and is `after`.
fn proof(name: &str, before: Option<&Value>, declared: &Value, after: &Value) -> Proof {
    proof_after(None, name, before, declared, after)
}

/// The same after a put of `last`.
fn proof_after(
    last: Option<&Value>,
    name: &str,
    before: Option<&Value>,
    declared: &Value,
    after: &Value,
) -> Proof {
    let name = TypeName::from_cloudformation(name).unwrap();
    let schema = Catalogue::embedded().get(&name).unwrap();
    let desired = |declared: &Value| {
        let declared = Declaration::stored(declared.clone());
        Desired::new(declared, &schema, |_, value| Digest {
            key_id: "key".to_owned(),
            hmac: value.to_string(),
        })
    };
    let last = last.map(|last| desired(last).baseline);
    let desired = desired(declared);
    let planned = plan(&desired, last.as_ref(), before, &schema, Mode::Replace);
    let sent = sent(&planned, before, &schema);
    prove(
        &sent,
        None,
        &desired,
        last.as_ref(),
        Some(after),
        &schema,
        Mode::Replace,
    )
    .proof
}

fn confirmed(count: u32) -> Proof {
    Proof {
        confirmed: count,
        ..Proof::default()
    }
}

#[test]
fn what_aws_stores_in_another_form_is_confirmed() {
    const QUEUE: &str = "AWS::SQS::Queue";
    let tags = |keys: &[&str]| -> Value {
        let tag = |key: &&str| json!({"Key": key, "Value": "x"});
        keys.iter().map(tag).collect()
    };
    let before = json!({"QueueName": "q", "Tags": tags(&["old"]), "VisibilityTimeout": 30});
    let declared = json!({"QueueName": "q", "Tags": tags(&["b", "a"]), "VisibilityTimeout": "60",
        "RedrivePolicy": {"deadLetterTargetArn": "arn", "maxReceiveCount": 3}});
    let after = json!({"QueueName": "q", "Tags": tags(&["a", "b"]), "VisibilityTimeout": 60,
        "RedrivePolicy": "{\"maxReceiveCount\":3,\"deadLetterTargetArn\":\"arn\"}"});
    assert_eq!(proof(QUEUE, Some(&before), &declared, &after), confirmed(3));

    let ours = json!({"Key": "ucp:reference", "Value": "x"});
    let mut dropped = before.clone();
    dropped["Tags"].as_array_mut().unwrap().push(ours);
    let told = proof(QUEUE, Some(&before), &declared, &dropped);
    let places = ["/RedrivePolicy", "/Tags", "/VisibilityTimeout"];
    assert_eq!(
        (told.confirmed, told.dropped),
        (0, places.map(str::to_owned).into())
    );

    let other = json!({"QueueName": "q", "Tags": tags(&["a"]), "VisibilityTimeout": 45});
    let told = proof(QUEUE, Some(&before), &declared, &other);
    assert_eq!(told.dropped, ["/RedrivePolicy"]);
    assert_eq!(told.different, ["/Tags", "/VisibilityTimeout"]);
}

#[test]
fn what_a_create_sends_is_dropped_if_it_is_not_there() {
    const GROUP: &str = "AWS::Logs::LogGroup";
    let declared = json!({"LogGroupName": "g", "RetentionInDays": 7});
    assert_eq!(proof(GROUP, None, &declared, &declared), confirmed(2));
    let told = proof(GROUP, None, &declared, &json!({"LogGroupName": "g"}));
    assert_eq!(
        (told.confirmed, told.dropped),
        (1, vec!["/RetentionInDays".to_owned()])
    );
}

/// A list is sent as a whole. What reads show of it is as before, and says nothing of the secrets in it.
#[test]
fn secrets_in_a_list_are_not_dropped() {
    const CONNECTION: &str = "AWS::EC2::VPNConnection";
    const TUNNELS: &str = "/VpnTunnelOptionsSpecifications";
    let of = |tunnels: Value| json!({"Type": "ipsec.1", "CustomerGatewayId": "cgw-1", "VpnTunnelOptionsSpecifications": tunnels});
    let secret = |key: &str| json!({"PreSharedKey": key});
    let last = of(json!([secret("a"), secret("b")]));
    let live = of(json!([{}, {}]));
    let declared = of(json!([secret("c"), secret("d")]));
    let told = proof_after(Some(&last), CONNECTION, Some(&live), &declared, &live);
    let unreadable = Proof {
        unreadable: vec![TUNNELS.to_owned()],
        ..Proof::default()
    };
    assert_eq!(told, unreadable);

    // The rest of an element is shown.
    let range = |key: &str| json!({"PreSharedKey": key, "TunnelInsideCidr": "169.254.6.0/30"});
    let declared = of(json!([range("c"), secret("d")]));
    let told = proof_after(Some(&last), CONNECTION, Some(&live), &declared, &live);
    assert_eq!(told.dropped, [TUNNELS]);
    let shown = of(json!([{"TunnelInsideCidr": "169.254.6.0/30"}, {}]));
    let told = proof_after(Some(&last), CONNECTION, Some(&live), &declared, &shown);
    assert_eq!(told, confirmed(1));

    // So is an element that goes.
    let declared = of(json!([secret("c")]));
    let told = proof_after(Some(&last), CONNECTION, Some(&live), &declared, &live);
    assert_eq!(told.dropped, [TUNNELS]);
}

/// What has only secrets is not shown at all.
#[test]
fn what_has_only_secrets_is_unreadable() {
    const FUNCTION: &str = "AWS::Lambda::Function";
    let declared = json!({"FunctionName": "f", "Role": "arn", "Code": {"ZipFile": "x"}});
    let live = json!({"FunctionName": "f", "Role": "arn"});
    let told = proof(FUNCTION, None, &declared, &live);
    assert_eq!(
        (told.confirmed, told.unreadable),
        (2, vec!["/Code".to_owned()])
    );
}
