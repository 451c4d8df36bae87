//! The command line. Every flag of a command that keeps running is an environment variable too.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use ucp_api::PathBase;
use ucp_model::TypeName;

/// Declares AWS resources under aliases of your own: the same declaration again is the same resource.
#[derive(Debug, Parser)]
#[command(name = "ucp", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs everything on this machine: API, workers, SQLite and a simulated AWS.
    Dev(Box<Dev>),
    /// Runs the API and the workers against AWS.
    Serve(Box<Serve>),
    /// Applies database migrations.
    Migrate(Migrate),
    /// Seals the database anew under another encryption key, while servers run.
    RotateKey(RotateKey),
    /// Runs the simulated AWS alone.
    Simulator(Simulator),
    /// Tells what a put would do, without AWS and without a server.
    Plan(Box<Plan>),
    /// Prints the OpenAPI document.
    Openapi,
}

#[derive(Debug, Args)]
pub(crate) struct Dev {
    /// Where the database and the encryption key are kept.
    #[arg(long, env = "UCP_DATA_DIR", default_value = ".ucp")]
    pub(crate) data_dir: PathBuf,
    /// Where the API listens; port 0 picks a free one.
    #[arg(long, env = "UCP_LISTEN", default_value = "127.0.0.1:8787")]
    pub(crate) listen: SocketAddr,
    /// Serve planes under this path, such as /apis/api.ucp.dev/v1alpha3.
    #[arg(
        long,
        env = "UCP_PATH_BASE",
        default_value_t,
        hide_default_value = true
    )]
    pub(crate) path_base: PathBase,
    /// Where the simulated AWS listens; port 0 picks a free one.
    #[arg(long, env = "UCP_SIMULATOR_LISTEN", default_value = "127.0.0.1:8788")]
    pub(crate) simulator_listen: SocketAddr,
    /// Perform the story of one VPC, print each exchange, and exit.
    #[arg(long, env = "UCP_DEMO")]
    pub(crate) demo: bool,
    /// `Retry-After` of running operations, in whole seconds.
    #[arg(long, env = "UCP_RETRY_AFTER", default_value = "1s", value_parser = humantime::parse_duration)]
    pub(crate) retry_after: Duration,
    #[command(flatten)]
    pub(crate) types: Types,
    #[command(flatten)]
    pub(crate) aws: SimulatedAws,
    #[command(flatten)]
    pub(crate) work: Work,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// `postgres://…`, or `sqlite://…` for a single process.
    #[arg(long, env = "UCP_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: String,
    /// Where the API listens; port 0 picks a free one.
    #[arg(long, env = "UCP_LISTEN", default_value = "127.0.0.1:8787")]
    pub(crate) listen: SocketAddr,
    /// Serve planes under this path, such as /apis/api.ucp.dev/v1alpha3.
    #[arg(
        long,
        env = "UCP_PATH_BASE",
        default_value_t,
        hide_default_value = true
    )]
    pub(crate) path_base: PathBase,
    /// What this process does.
    #[arg(
        long,
        env = "UCP_ROLES",
        value_delimiter = ',',
        default_value = "api,worker"
    )]
    pub(crate) roles: Vec<Role>,
    /// A TOML file about AWS accounts: the roles that lead to them, and default tags.
    #[arg(long, env = "UCP_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Whether requests about an account that the credentials are not of, and that no role leads to, are refused.
    #[arg(long, env = "UCP_VERIFY_ACCOUNT", default_value_t = true, action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) verify_account: bool,
    /// Where the platform keeps the web identity that credentials of the kind IRSA are got with.
    #[arg(
        long,
        env = "AWS_WEB_IDENTITY_TOKEN_FILE",
        default_value = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
        value_name = "FILE"
    )]
    pub(crate) web_identity_token_file: PathBuf,
    /// Another endpoint than AWS's own, for emulators.
    #[arg(long, env = "UCP_AWS_ENDPOINT_URL")]
    pub(crate) aws_endpoint_url: Option<String>,
    #[command(flatten)]
    pub(crate) keys: EncryptionKeys,
    /// `Retry-After` of running operations, in whole seconds.
    #[arg(long, env = "UCP_RETRY_AFTER", default_value = "5s", value_parser = humantime::parse_duration)]
    pub(crate) retry_after: Duration,
    /// A host name by which clients reach this server, besides loopback; `*` allows all. May be repeated.
    #[arg(long = "allowed-host", env = "UCP_ALLOWED_HOST", value_delimiter = ',')]
    pub(crate) allowed_hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) types: Types,
    #[command(flatten)]
    pub(crate) work: Work,
}

/// What seals the database.
#[derive(Debug, Args)]
pub(crate) struct EncryptionKeys {
    /// A file that holds the encryption key, 32 bytes as hexadecimal or base64. Without it the variable
    /// UCP_ENCRYPTION_KEY holds the key itself.
    #[arg(long, env = "UCP_ENCRYPTION_KEY_FILE", value_name = "FILE")]
    pub(crate) encryption_key_file: Option<PathBuf>,
    /// A file that holds another encryption key, which opens what it sealed and seals nothing more. May be repeated. The
    /// variable UCP_PREVIOUS_ENCRYPTION_KEYS holds such keys themselves, separated by commas.
    #[arg(
        long = "previous-encryption-key-file",
        env = "UCP_PREVIOUS_ENCRYPTION_KEY_FILES",
        value_name = "FILE",
        value_delimiter = ','
    )]
    pub(crate) previous_encryption_key_files: Vec<PathBuf>,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Answers requests.
    Api,
    /// Carries operations out.
    Worker,
}

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// `postgres://…` or `sqlite://…`.
    #[arg(long, env = "UCP_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: String,
}

#[derive(Debug, Args)]
pub(crate) struct RotateKey {
    /// `postgres://…` or `sqlite://…`, which a server may be using.
    #[arg(long, env = "UCP_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: String,
    #[command(flatten)]
    pub(crate) keys: EncryptionKeys,
    /// Start a new digest key too. The next put of an alias with write-only properties then sends them again, since what
    /// is known of the old ones can no longer be compared.
    #[arg(long)]
    pub(crate) new_digest_key: bool,
    /// Only tell how much is sealed under which key.
    #[arg(long, conflicts_with = "new_digest_key")]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Simulator {
    /// Where it listens; port 0 picks a free one.
    #[arg(long, env = "UCP_SIMULATOR_LISTEN", default_value = "127.0.0.1:8788")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) types: Types,
    #[command(flatten)]
    pub(crate) aws: SimulatedAws,
}

/// How the simulated AWS behaves.
#[derive(Debug, Args)]
pub(crate) struct SimulatedAws {
    /// The shortest time that a change takes.
    #[arg(long, env = "UCP_SIMULATOR_LATENCY_MIN", default_value = "300ms", value_parser = humantime::parse_duration)]
    pub(crate) simulator_latency_min: Duration,
    /// The longest time that a change takes.
    #[arg(long, env = "UCP_SIMULATOR_LATENCY_MAX", default_value = "800ms", value_parser = humantime::parse_duration)]
    pub(crate) simulator_latency_max: Duration,
    /// Makes identifiers, latencies and faults repeatable.
    #[arg(long, env = "UCP_SIMULATOR_SEED")]
    pub(crate) simulator_seed: Option<u64>,
    /// A fault in JSON, as `POST /_simulator/faults` takes it. May be repeated.
    #[arg(long = "simulator-fault", env = "UCP_SIMULATOR_FAULT")]
    pub(crate) simulator_faults: Vec<String>,
}

/// Which resource types there are.
#[derive(Debug, Args)]
pub(crate) struct Types {
    /// CloudFormation resource type schemas (`*.json`) that add to the built-in ones or replace them.
    #[arg(long, env = "UCP_SCHEMA_DIR", value_name = "DIR")]
    pub(crate) schema_dir: Option<PathBuf>,
}

/// How operations are carried out.
#[derive(Debug, Args)]
pub(crate) struct Work {
    /// How many operations this process steps at once.
    #[arg(long, env = "UCP_WORKERS", default_value_t = 16)]
    pub(crate) workers: usize,
    /// How long a worker holds an operation without a sign of life before others may take it.
    #[arg(long, env = "UCP_LEASE", default_value = "60s", value_parser = humantime::parse_duration)]
    pub(crate) lease: Duration,
    /// How long one call to AWS may take; shorter than the lease. By default a third of it, at most 20s.
    #[arg(long, env = "UCP_CALL_TIMEOUT", value_parser = humantime::parse_duration)]
    pub(crate) call_timeout: Option<Duration>,
    /// How often workers look for work that nobody told them of.
    #[arg(long, env = "UCP_POLL_INTERVAL", default_value = "500ms", value_parser = humantime::parse_duration)]
    pub(crate) poll_interval: Duration,
    /// How long a request waits for the verdict before it answers 201 or 202.
    #[arg(long, env = "UCP_VERDICT_WAIT", default_value = "2s", value_parser = humantime::parse_duration)]
    pub(crate) verdict_wait: Duration,
    /// How long a GET, a list or a `:get` waits for AWS; longer than --call-timeout has no effect.
    #[arg(long, env = "UCP_READ_TIMEOUT", default_value = "20s", value_parser = humantime::parse_duration)]
    pub(crate) read_timeout: Duration,
    /// How long a schema from the CloudFormation registry is used before it is fetched anew in the background. Built-in
    /// types and those of --schema-dir stay as they are.
    #[arg(long, env = "UCP_SCHEMA_TTL", default_value = "24h", value_parser = humantime::parse_duration)]
    pub(crate) schema_ttl: Duration,
    /// How long a DELETE of a resource group waits for its end before it answers 202.
    #[arg(long, env = "UCP_GROUP_DELETE_WAIT", default_value = "30s", value_parser = humantime::parse_duration)]
    pub(crate) group_delete_wait: Duration,
    /// How long an operation that has ended can still be queried.
    #[arg(long, env = "UCP_OPERATION_RETENTION", default_value = "30d", value_parser = humantime::parse_duration)]
    pub(crate) operation_retention: Duration,
}

impl Work {
    /// How long one call to AWS may take.
    pub(crate) fn call_timeout(&self) -> anyhow::Result<Duration> {
        let timeout = self
            .call_timeout
            .unwrap_or_else(|| (self.lease / 3).min(Duration::from_secs(20)));
        anyhow::ensure!(
            timeout < self.lease,
            "--call-timeout ({}) must be shorter than --lease ({}), or a worker could call AWS with a lease that has run out",
            humantime::format_duration(timeout),
            humantime::format_duration(self.lease)
        );
        Ok(timeout)
    }
}

/// What `ucp plan` is asked.
#[derive(Debug, Args)]
#[command(
    override_usage = "ucp plan --type <TYPE> --desired <FILE> [OPTIONS]\n       ucp plan --offline [--schema-dir <DIR>]",
    after_long_help = include_str!("plan/help.txt")
)]
pub(crate) struct Plan {
    /// Answer questions on standard input, a JSON object a line.
    #[arg(long, conflicts_with_all = ["type_name", "current", "desired", "last_applied", "mode", "color", "detailed_exitcode"])]
    pub(crate) offline: bool,
    /// The resource type, in any letter case.
    #[arg(long = "type", value_name = "TYPE", required_unless_present = "offline", value_parser = TypeName::from_cloudformation)]
    pub(crate) type_name: Option<TypeName>,
    /// A file with the properties that AWS returns now; `-` is standard input. Without it there is no resource yet.
    #[arg(long, value_name = "FILE")]
    pub(crate) current: Option<PathBuf>,
    /// A file with the declared properties; `-` is standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "offline")]
    pub(crate) desired: Option<PathBuf>,
    /// A file with the properties that were declared the last time; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) last_applied: Option<PathBuf>,
    /// What becomes of properties that are not declared.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) mode: Mode,
    /// When to use colours. `auto` is on a terminal, unless NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: Color,
    /// Exit with 0 when there is nothing to do, 2 when there is, 1 on errors.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    #[command(flatten)]
    pub(crate) types: Types,
}

/// What becomes of properties that are not declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// They stay.
    #[default]
    Merge,
    /// They are removed.
    Replace,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Wherever it goes.
    Always,
    /// Nowhere.
    Never,
}
