//! Conversion of SDK errors to faults. An SDK error displays only its outermost layer, so the whole chain is put
//! together here.

use std::error::Error;
use std::io::{self, ErrorKind};

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_cloudcontrol::config::http::HttpResponse;
use aws_sdk_cloudcontrol::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sts::operation::assume_role::AssumeRoleError;
use aws_sdk_sts::operation::assume_role_with_web_identity::AssumeRoleWithWebIdentityError;
use ucp_cloud::{Call, Fault, fault_of};
use ucp_model::FaultClass;

pub(crate) fn of<E>(call: Call, error: &SdkError<E, HttpResponse>) -> Fault
where
    E: Error + ProvideErrorMetadata + Send + Sync + 'static,
{
    match error {
        SdkError::ServiceError(context) => {
            let status = context.raw().status().as_u16();
            let meta = context.err().meta();
            match meta.code() {
                Some(code) => {
                    let message = meta.message().map(str::to_owned);
                    let message = message.unwrap_or_else(|| chain(context.err()));
                    fault_of(call, code, &message, status)
                }
                None => unnamed(call, status, &chain(context.err())),
            }
        }
        SdkError::ConstructionFailure(_) => {
            Fault::new(FaultClass::Rejected, "InvalidRequest", chain(error))
        }
        SdkError::DispatchFailure(_) => match lacking_credentials(error) {
            Some(fault) => fault,
            None if found_nobody(error) => {
                Fault::new(FaultClass::Transient, "NetworkFailure", chain(error))
            }
            None => incomplete(call, &chain(error)),
        },
        _ => incomplete(call, &chain(error)),
    }
}

/// The fault of a reply that names no error of AWS: something between has written it, such as a proxy. What its status says
/// was not done, was not done. Any other may stand for a change that AWS has made.
fn unnamed(call: Call, status: u16, message: &str) -> Fault {
    let message = format!("the reply, of status {status}, is none of AWS: {message}");
    match status {
        429 => fault_of(call, "ThrottlingException", &message, status),
        // The request may have been passed on.
        ..400 | 408 => incomplete(call, &message),
        400..500 => fault_of(call, "InvalidRequest", &message, status),
        500.. => fault_of(call, "InternalFailure", &message, status),
    }
}

/// The fault of a missing or incomplete reply.
pub(crate) fn incomplete(call: Call, message: &str) -> Fault {
    match call {
        Call::Read => Fault::new(FaultClass::Transient, "NetworkFailure", message),
        Call::Mutation => Fault::outcome_unknown(message),
    }
}

/// Returns the fault if there were no credentials to sign the call with, so that it was never sent.
fn lacking_credentials(error: &(dyn Error + 'static)) -> Option<Fault> {
    let cause = causes(error).find_map(|cause| cause.downcast_ref::<CredentialsError>())?;
    for cause in causes(cause) {
        if let Some(refused) = cause.downcast_ref::<SdkError<AssumeRoleError, HttpResponse>>() {
            return Some(of(Call::Read, refused));
        }
        let refused =
            cause.downcast_ref::<SdkError<AssumeRoleWithWebIdentityError, HttpResponse>>();
        if let Some(refused) = refused {
            return Some(of(Call::Read, refused));
        }
    }
    let message = chain(cause);
    Some(match cause {
        CredentialsError::ProviderTimedOut(_) | CredentialsError::ProviderError(_) => {
            Fault::new(FaultClass::Transient, "ServiceUnavailable", message)
        }
        _ => Fault::new(FaultClass::Denied, "InvalidCredentials", message),
    })
}

/// Returns whether the call was never sent, because the connection was refused. A host that cannot be reached may have
/// been reached before.
fn found_nobody(error: &(dyn Error + 'static)) -> bool {
    let mut kinds =
        causes(error).filter_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()));
    kinds.any(|kind| kind == ErrorKind::ConnectionRefused)
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        (*error).source()
    })
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
