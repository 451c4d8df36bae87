use std::time::Duration;

use ucp_simulator::{
    AssumeRole, AssumeRoleWithWebIdentity, Caller, Exception, ExceptionCode, GetCallerIdentity,
    Reply, Request, Session, Trust,
};

use crate::aws::Aws;

const ROLE: &str = "arn:aws:iam::222222222222:role/team/ucp";

fn assume(aws: &mut Aws, external_id: Option<&str>) -> Result<Session, Exception> {
    let request = Request::AssumeRole(AssumeRole {
        role_arn: ROLE.to_owned(),
        role_session_name: "ucp".to_owned(),
        external_id: external_id.map(str::to_owned),
        duration_seconds: None,
    });
    aws.call(&request).map(session)
}

fn session(reply: Reply) -> Session {
    match reply {
        Reply::Session { session, .. } => session,
        other => panic!("not a session: {other:?}"),
    }
}

fn caller(aws: &Aws, access_key_id: &str) -> Result<Caller, Exception> {
    aws.world.caller(access_key_id, "us-west-2", aws.now)
}

#[test]
fn a_session_acts_in_the_account_of_its_role_until_it_ends() {
    let mut aws = Aws::new();
    let session = assume(&mut aws, None).unwrap();
    aws.pass(Duration::from_secs(3_599));
    let acting = caller(&aws, &session.access_key_id).unwrap();
    assert_eq!(acting.account, "222222222222");
    aws.caller = acting;
    let identity = aws.call(&Request::GetCallerIdentity(GetCallerIdentity {
        access_key_id: session.access_key_id.clone(),
    }));
    let Ok(Reply::Identity { account, arn, .. }) = identity else {
        panic!("not an identity: {identity:?}")
    };
    assert_eq!(account, "222222222222");
    assert_eq!(arn, "arn:aws:sts::222222222222:assumed-role/ucp/ucp");

    aws.pass(Duration::from_secs(1));
    let ended = caller(&aws, &session.access_key_id).unwrap_err();
    assert_eq!(ended.code, ExceptionCode::ExpiredToken);
    let unheard_of = caller(&aws, "ASIA0123456789ABCDEF").unwrap_err();
    assert_eq!(unheard_of.code, ExceptionCode::UnrecognizedClient);
}

#[test]
fn an_access_key_names_an_account() {
    let aws = Aws::new();
    for (key, account) in [
        ("111122223333", "111122223333"),
        ("AKIA111122223333", "111122223333"),
        ("000000000000", "000000000000"),
        ("AKIA000000000000", "000000000000"),
        ("", "000000000000"),
    ] {
        assert_eq!(caller(&aws, key).unwrap().account, account, "{key}");
    }
    for wrong in [
        "test",
        "AKIAIOSFODNN7EXAMPLE",
        "11112222333",
        "AKIA",
        "ASIA111122223333",
    ] {
        let refused = caller(&aws, wrong).unwrap_err();
        assert_eq!(refused.code, ExceptionCode::UnrecognizedClient, "{wrong}");
        let message = refused.message;
        assert!(message.contains("twelve digits"), "{message}");
    }
}

#[test]
fn a_role_may_ask_for_an_external_id_and_for_short_sessions() {
    let mut aws = Aws::new();
    aws.world.trust(Trust {
        role_arn: ROLE.to_owned(),
        external_id: Some("x-1".to_owned()),
        session_millis: Some(50),
    });
    for wrong in [None, Some("x-2")] {
        let refused = assume(&mut aws, wrong).unwrap_err();
        assert_eq!(refused.code, ExceptionCode::AccessDenied);
        assert!(refused.message.contains(ROLE), "{}", refused.message);
    }
    let session = assume(&mut aws, Some("x-1")).unwrap();
    assert_eq!(session.expires_at.since(aws.now), Duration::from_millis(50));
}

#[test]
fn a_web_identity_needs_no_credentials_but_a_token() {
    let mut aws = Aws::new();
    let mut input = AssumeRoleWithWebIdentity {
        role_arn: ROLE.to_owned(),
        role_session_name: "ucp".to_owned(),
        web_identity_token: String::new(),
        duration_seconds: None,
    };
    let refused = aws.call(&Request::AssumeRoleWithWebIdentity(input.clone()));
    assert_eq!(refused.unwrap_err().code, ExceptionCode::Validation);
    input.web_identity_token = "ey".to_owned();
    let begun = aws.call(&Request::AssumeRoleWithWebIdentity(input));
    assert_eq!(begun.map(session).unwrap().account, "222222222222");
}
