//! The judge's verdicts: whether a plan may be carried out, and with which document.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod judge;

use serde_json::{Value, json};
use ucp_model::operation::{Options, ReplacementOrder, ReplacementPolicy};
use ucp_model::{Failure, Identifier, Scope, TypeName};
use ucp_plan::{Judgement, Live, Question, Subject, Verdict};
use ucp_schema::Catalogue;

const LOGS: &str = "AWS::Logs::LogGroup";
const VPC: &str = "AWS::EC2::VPC";

/// A question with defaults that each test overrides.
struct Asked {
    type_name: &'static str,
    declared: Value,
    /// The live model; `Err` if it is unknown whether the resource exists.
    live: Result<Option<Value>, ()>,
    identifier: Option<&'static str>,
    was_ours: bool,
    was_owned: bool,
    policy: ReplacementPolicy,
}

fn asked(type_name: &'static str, declared: Value) -> Asked {
    Asked {
        type_name,
        declared,
        live: Ok(None),
        identifier: None,
        was_ours: false,
        was_owned: false,
        policy: ReplacementPolicy::Refuse,
    }
}

impl Asked {
    fn verdict(&self) -> Result<Verdict, Failure> {
        self.judgement().verdict
    }

    fn judgement(&self) -> Judgement {
        let type_name = TypeName::from_cloudformation(self.type_name).unwrap();
        let schema = Catalogue::embedded().get(&type_name).unwrap();
        let scope = Scope::new("aws", "123456789012", "us-east-1").unwrap();
        let identifier = self.identifier.map(Identifier::new);
        let question = Question {
            desired: &judge::desired(&self.declared, &schema),
            last_applied: None,
            live: match &self.live {
                Ok(Some(live)) => Live::Present(identifier.as_ref().unwrap(), live),
                Ok(None) => Live::Absent,
                Err(_) => Live::Unknown,
            },
            subject: Subject {
                identifier: identifier.as_ref(),
                was_ours: self.was_ours,
                was_owned: self.was_owned,
                has_reference: true,
                ..Subject::new(&scope, &type_name)
            },
            schema: &schema,
            options: Options {
                replacement_policy: self.policy,
                ..Options::default()
            },
        };
        ucp_plan::judge(&question)
    }

    fn done(&self) -> Verdict {
        self.verdict().map_err(|failure| failure.message).unwrap()
    }

    /// The code of the refusal, and the code and target of each detail.
    fn refused(&self) -> (String, Vec<String>) {
        let failure = self.verdict().err().unwrap();
        let detail = |detail: ucp_model::Detail| {
            format!("{} {}", detail.code, detail.target.unwrap_or_default())
        };
        let details = failure.details.into_iter().map(detail);
        (failure.code, details.collect())
    }
}

fn json_of(document: &str) -> Value {
    serde_json::from_str(document).unwrap()
}

#[test]
fn a_create_has_the_declared_document_and_identifier() {
    let Verdict::Create {
        document,
        identifier,
    } = asked(LOGS, json!({"LogGroupName": "logs"})).done()
    else {
        panic!("not a create");
    };
    assert_eq!(document, json!({"LogGroupName": "logs"}));
    assert_eq!(identifier, Some(Identifier::new("logs")));
    let Verdict::Create { identifier, .. } = asked(VPC, json!({"CidrBlock": "10.0.0.0/16"})).done()
    else {
        panic!("not a create");
    };
    assert_eq!(identifier, None);
}

#[test]
fn what_is_created_must_be_valid_and_can_name_nothing_that_aws_sets() {
    let invalid = asked(LOGS, json!({"RetentionInDays": 2}));
    let invalid = invalid.refused();
    assert_eq!(invalid.0, "InvalidRequest");
    assert_eq!(invalid.1, ["InvalidValue /properties/RetentionInDays"]);
    let unsatisfiable = asked(LOGS, json!({"Arn": "arn:aws:logs:a"})).refused();
    assert_eq!(unsatisfiable.1, ["ReadOnlyProperty /properties/Arn"]);
}

#[test]
fn looking_that_told_nothing_is_no_reason_to_refuse() {
    let question = Asked {
        live: Err(()),
        identifier: Some("vpc-1"),
        ..asked(VPC, json!({"CidrBlock": "10.0.0.0/16"}))
    };
    assert!(matches!(question.done(), Verdict::Create { .. }));
}

#[test]
fn a_name_that_aws_assigns_is_refused_unless_it_was_ours() {
    let question = Asked {
        identifier: Some("vpc-1"),
        ..asked(VPC, json!({"CidrBlock": "10.0.0.0/16"}))
    };
    assert_eq!(question.refused().0, "NotFound");
    let gone = Asked {
        was_ours: true,
        ..question
    };
    assert!(matches!(gone.done(), Verdict::Create { .. }));
}

#[test]
fn an_update_has_the_patch_and_answers_only_for_what_it_breaks_itself() {
    let question = Asked {
        live: Ok(Some(
            json!({"LogGroupName": "logs", "RetentionInDays": 2, "LogGroupClass": "STANDARD"}),
        )),
        identifier: Some("logs"),
        ..asked(
            LOGS,
            json!({"LogGroupName": "logs", "LogGroupClass": "STANDARD"}),
        )
    };
    assert!(matches!(question.done(), Verdict::Nothing));
    let declared = json!({"LogGroupName": "logs", "DataProtectionPolicy": {"Version": "1"}});
    let changed = Asked {
        declared,
        ..question
    };
    let Verdict::Update {
        identifier,
        document,
    } = changed.done()
    else {
        panic!("not an update");
    };
    assert_eq!(identifier, Identifier::new("logs"));
    let value = json!({"Version": "1"});
    assert_eq!(
        json_of(&document),
        json!([{"op": "add", "path": "/DataProtectionPolicy", "value": value}])
    );
    let broken = Asked {
        declared: json!({"LogGroupName": "logs", "RetentionInDays": 4}),
        live: Ok(Some(json!({"LogGroupName": "logs", "RetentionInDays": 1}))),
        ..changed
    };
    assert_eq!(
        broken.refused().1,
        ["InvalidValue /properties/RetentionInDays"]
    );
}

/// AWS refuses a second one of a name, whoever has it.
#[test]
fn a_custom_name_that_a_replacement_keeps_is_warned_of() {
    const SERVICE: &str = "AWS::ECS::Service";
    let service = |name: &str, strategy: &str| json!({"ServiceName": name, "Cluster": "prod", "SchedulingStrategy": strategy});
    let warned = |name: &str, policy| {
        let question = Asked {
            live: Ok(Some(service("web", "REPLICA"))),
            identifier: Some("arn|prod"),
            was_owned: true,
            policy,
            ..asked(SERVICE, service(name, "DAEMON"))
        };
        let warnings = question.judgement().plan.warnings.into_iter();
        let warnings = warnings.map(|warning| (warning.code.as_str(), warning.path));
        warnings.collect::<Vec<_>>()
    };
    use ReplacementPolicy::{CreateBeforeDelete, DeleteBeforeCreate, Refuse};
    let kept = [("KeepsName", "/ServiceName".to_owned())];
    assert_eq!(warned("web", CreateBeforeDelete), kept);
    for (name, policy) in [
        ("web-2", CreateBeforeDelete),
        ("web", DeleteBeforeCreate),
        ("web", Refuse),
    ] {
        assert_eq!(warned(name, policy), [], "{name} {policy:?}");
    }
}

#[test]
fn a_replacement_is_made_only_when_asked_for() {
    let question = Asked {
        live: Ok(Some(json!({"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16"}))),
        identifier: Some("vpc-1"),
        ..asked(VPC, json!({"CidrBlock": "10.1.0.0/16"}))
    };
    let (code, details) = question.refused();
    assert_eq!(code, "RequiresReplacement");
    assert_eq!(details, ["RequiresReplacement /properties/CidrBlock"]);
    use ReplacementOrder as Order;
    use ReplacementPolicy as Policy;
    for (policy, was_owned, expected) in [
        (Policy::CreateBeforeDelete, true, Order::CreateBeforeDelete),
        (Policy::CreateBeforeDelete, false, Order::CreateBeforeDelete),
        (Policy::DeleteBeforeCreate, true, Order::DeleteBeforeCreate),
        // A resource that is not owned is not deleted, so it cannot be deleted first.
        (Policy::DeleteBeforeCreate, false, Order::CreateBeforeDelete),
    ] {
        let question = Asked {
            policy,
            was_owned,
            live: question.live.clone(),
            declared: question.declared.clone(),
            ..question
        };
        let Verdict::Replace {
            old,
            order,
            create,
            identifier,
        } = question.done()
        else {
            panic!("not a replacement");
        };
        assert_eq!(old, Identifier::new("vpc-1"));
        assert_eq!(order, expected);
        assert_eq!(identifier, None);
        let sent_first = (order == Order::CreateBeforeDelete).then(|| question.declared.clone());
        assert_eq!(create.map(|create| create.desired_state()), sent_first);
    }
}

#[test]
fn two_resources_cannot_have_one_identifier() {
    const POLICY: &str = "AWS::SNS::TopicInlinePolicy";
    let question = Asked {
        live: Ok(Some(json!({"TopicArn": "arn:a", "PolicyDocument": {}}))),
        identifier: Some("arn:b"),
        policy: ReplacementPolicy::CreateBeforeDelete,
        ..asked(POLICY, json!({"TopicArn": "arn:b", "PolicyDocument": {}}))
    };
    let failure = question.verdict().err().unwrap();
    assert_eq!(failure.code, "RequiresReplacement");
    assert!(
        failure.message.contains("same identifier"),
        "{}",
        failure.message
    );
}

#[test]
fn a_name_that_somebody_else_has_is_named() {
    let scope = Scope::new("aws", "123456789012", "us-east-1").unwrap();
    let type_name = TypeName::from_cloudformation(LOGS).unwrap();
    let subject = Subject::new(&scope, &type_name);
    let failure = subject.name_is_taken(&Identifier::new("theirs"));
    let taken = scope.resource(&type_name, &Identifier::new("theirs"));
    assert_eq!(failure.code, "Conflict");
    assert_eq!(failure.details[0].target.as_deref(), Some(taken.as_str()));
}
