use clap::Args;

/// The account and region of resources.
#[derive(Clone, Debug, Args)]
pub(crate) struct Place {
    /// The AWS account of resources for which nothing else names one.
    #[arg(long, env = "UCP_ACCOUNT", requires = "region")]
    account: Option<String>,
    /// The AWS region of resources for which nothing else names one.
    #[arg(long, env = "UCP_REGION", requires = "account")]
    region: Option<String>,
}

impl Place {
    /// The scope of resources in the account and region, if both are given.
    pub(crate) fn scope(&self) -> Option<String> {
        let (account, region) = (self.account.as_ref()?, self.region.as_ref()?);
        Some(format!(
            "/planes/aws/aws/accounts/{account}/regions/{region}"
        ))
    }
}
