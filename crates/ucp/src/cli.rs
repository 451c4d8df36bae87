//! The command line. Every flag of a long-running command is also an environment variable.

mod token;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use crate::pacing;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use ucp_api::{PathBase, Rates};
use ucp_app::Quotas;
use ucp_model::{RateKey, TypeName, valid_tag};

pub(crate) use crate::cli::token::{CreateToken, Database, Expiry, RevokeToken, TokenCommand};

use crate::access::Access;
use crate::audit::Audit;
use crate::rights::Rights;

/// Manages AWS resources under aliases of your choice: the same declaration again yields the same resource.
#[derive(Debug, Parser)]
#[command(name = "ucp", version = crate::version::TEXT)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Daily(ucp_cli::command::Command),
    /// Runs everything on this machine: the API, the workers, SQLite and a simulated AWS.
    Dev(Box<Dev>),
    /// Runs the API and the workers against AWS.
    Serve(Box<Serve>),
    /// Applies database migrations.
    Migrate(Migrate),
    /// Re-encrypts the database under another encryption key, while servers run.
    RotateKey(RotateKey),
    /// Makes, lists and revokes tokens, by which servers know their callers.
    #[command(subcommand)]
    Token(TokenCommand),
    /// Runs only the simulated AWS.
    Simulator(Simulator),
    /// Shows what a put would do, without AWS and without a server.
    Plan(Box<Plan>),
    /// Checks the offerings of a service broker, and prints their catalog.
    Catalog(Catalog),
    /// Prints the OpenAPI document.
    Openapi,
    /// Prints all limits, and how to change them.
    Limits,
}

#[derive(Debug, Args)]
pub(crate) struct Dev {
    /// The directory of the database and the encryption key.
    #[arg(long, env = "UCP_DATA_DIR", default_value = ".ucp")]
    pub(crate) data_dir: PathBuf,
    /// The address that the API listens on; port 0 picks a free port.
    #[arg(long, env = "UCP_LISTEN", default_value = "127.0.0.1:8787")]
    pub(crate) listen: SocketAddr,
    /// A TOML file with default tags, who may do what, and the service broker.
    #[arg(long, env = "UCP_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// An address that serves the Open Service Broker API alone. Without it, the address of the API serves it too.
    #[arg(long, env = "UCP_BROKER_LISTEN", value_name = "ADDRESS")]
    pub(crate) broker_listen: Option<SocketAddr>,
    /// Serve planes under this path, such as /apis/api.ucp.dev/v1alpha3.
    #[arg(
        long,
        env = "UCP_PATH_BASE",
        default_value_t,
        hide_default_value = true
    )]
    pub(crate) path_base: PathBase,
    /// The address that the simulated AWS listens on; port 0 picks a free port.
    #[arg(long, env = "UCP_SIMULATOR_LISTEN", default_value = "127.0.0.1:8788")]
    pub(crate) simulator_listen: SocketAddr,
    /// Create, update and delete a VPC, print each request and reply, and exit.
    #[arg(long, env = "UCP_DEMO")]
    pub(crate) demo: bool,
    /// The `Retry-After` of running operations, rounded down to whole seconds, at least 1.
    #[arg(long, env = "UCP_RETRY_AFTER", default_value = "1s", value_parser = humantime::parse_duration)]
    pub(crate) retry_after: Duration,
    /// Where the schemas of public types come from.
    #[arg(
        long,
        env = "UCP_SCHEMA_SOURCE",
        value_enum,
        default_value = "embedded",
        value_name = "SOURCE"
    )]
    pub(crate) schema_source: SchemaSource,
    #[command(flatten)]
    pub(crate) types: Types,
    #[command(flatten)]
    pub(crate) aws: SimulatedAws,
    #[command(flatten)]
    pub(crate) clients: Clients,
    #[command(flatten)]
    pub(crate) audit: Audit,
    #[command(flatten)]
    pub(crate) work: Work,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// `postgres://…`, with one or several hosts, or `sqlite://…` for a single process. Off loopback, Postgres must speak TLS
    /// unless the URL has another `sslmode`.
    #[arg(long, env = "UCP_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: String,
    /// A `postgres://…` that reaches the same database without a pooler, to be notified by other processes. Behind a
    /// pooler, a process without it polls.
    #[arg(long, env = "UCP_DATABASE_LISTEN_URL", hide_env_values = true)]
    pub(crate) database_listen_url: Option<String>,
    /// The address that the API listens on; port 0 picks a free port.
    #[arg(long, env = "UCP_LISTEN", default_value = "127.0.0.1:8787")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) access: Access,
    #[command(flatten)]
    pub(crate) rights: Rights,
    /// Serve planes under this path, such as /apis/api.ucp.dev/v1alpha3.
    #[arg(
        long,
        env = "UCP_PATH_BASE",
        default_value_t,
        hide_default_value = true
    )]
    pub(crate) path_base: PathBase,
    /// The roles of this process.
    #[arg(
        long,
        env = "UCP_ROLES",
        value_delimiter = ',',
        default_value = "api,worker"
    )]
    pub(crate) roles: Vec<Role>,
    /// A TOML file with the roles to assume in AWS accounts, default tags, who may do what, and the service broker.
    #[arg(long, env = "UCP_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// An address that serves the Open Service Broker API alone. Without it, the address of the API serves it too.
    #[arg(long, env = "UCP_BROKER_LISTEN", value_name = "ADDRESS")]
    pub(crate) broker_listen: Option<SocketAddr>,
    /// Refuse requests about an account unless the credentials belong to it or a role is configured for it.
    #[arg(long, env = "UCP_VERIFY_ACCOUNT", default_value_t = true, action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) verify_account: bool,
    /// The web identity token file, for credentials of the kind IRSA.
    #[arg(
        long,
        env = "AWS_WEB_IDENTITY_TOKEN_FILE",
        default_value = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
        value_name = "FILE"
    )]
    pub(crate) web_identity_token_file: PathBuf,
    /// The endpoint of an AWS emulator, in place of AWS.
    #[arg(long, env = "UCP_AWS_ENDPOINT_URL")]
    pub(crate) aws_endpoint_url: Option<String>,
    #[command(flatten)]
    pub(crate) keys: EncryptionKeys,
    /// The `Retry-After` of running operations, rounded down to whole seconds, at least 1.
    #[arg(long, env = "UCP_RETRY_AFTER", default_value = "5s", value_parser = humantime::parse_duration)]
    pub(crate) retry_after: Duration,
    /// A host name that clients may use for this server, besides loopback; `*` allows all. May be repeated.
    #[arg(long = "allowed-host", env = "UCP_ALLOWED_HOST", value_delimiter = ',')]
    pub(crate) allowed_hosts: Vec<String>,
    /// An address that serves only /healthz and /readyz, and that no limit of the API's connections reaches. The API
    /// serves them too.
    #[arg(long, env = "UCP_PROBE_LISTEN", value_name = "ADDRESS")]
    pub(crate) probe_listen: Option<SocketAddr>,
    /// The ARN of a role that credentials of the kind IRSA may name, in which `*` stands for any characters. May be
    /// repeated. Without it they may name none.
    #[arg(
        long = "allowed-role",
        env = "UCP_ALLOWED_ROLE",
        value_delimiter = ',',
        value_name = "ARN"
    )]
    pub(crate) allowed_roles: Vec<String>,
    /// Where the schemas of public types come from.
    #[arg(
        long,
        env = "UCP_SCHEMA_SOURCE",
        value_enum,
        default_value = "registry",
        value_name = "SOURCE"
    )]
    pub(crate) schema_source: SchemaSource,
    #[command(flatten)]
    pub(crate) types: Types,
    #[command(flatten)]
    pub(crate) clients: Clients,
    #[command(flatten)]
    pub(crate) audit: Audit,
    #[command(flatten)]
    pub(crate) work: Work,
}

/// What clients may take of a server.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Clients {
    /// How many connections clients may have open. Further ones wait. What goes on beside another request over HTTP/2, and
    /// what goes on without its client, count as one each.
    #[arg(long, env = "UCP_MAX_CONNECTIONS", default_value = "1000", value_parser = connections, value_name = "NUMBER")]
    pub(crate) max_connections: usize,
    /// How many of them one address may have; 0 is no limit. By default it is half of --max-connections. Behind a proxy
    /// all clients have one address.
    #[arg(long, env = "UCP_MAX_CONNECTIONS_PER_PEER", value_name = "NUMBER")]
    pub(crate) max_connections_per_peer: Option<usize>,
    /// A client that takes no byte of a reply for this long is disconnected.
    #[arg(long, env = "UCP_WRITE_TIMEOUT", default_value = "10s", value_parser = humantime::parse_duration)]
    pub(crate) write_timeout: Duration,
    /// The time in which a request must be answered, besides the time that it may wait for its operation: the longer of
    /// --verdict-wait and --group-delete-wait.
    #[arg(long, env = "UCP_REQUEST_TIMEOUT", default_value = "60s", value_parser = humantime::parse_duration)]
    pub(crate) request_timeout: Duration,
    /// How many requests a second a caller may send that change something in a resource group, or in an account and
    /// region; 0 is no limit. Twice as many are allowed at once, if there were fewer before.
    #[arg(
        long,
        env = "UCP_WRITE_RATE",
        default_value_t = 0,
        value_name = "NUMBER"
    )]
    pub(crate) write_rate: u32,
    /// How many requests a second a caller may send that read from AWS in an account and region, or validate what would be
    /// put there; 0 is no limit. Twice as many are allowed at once, if there were fewer before.
    #[arg(
        long,
        env = "UCP_AWS_READ_RATE",
        default_value_t = 0,
        value_name = "NUMBER"
    )]
    pub(crate) aws_read_rate: u32,
}

impl Clients {
    /// How often callers may send requests.
    pub(crate) fn rates(self) -> Rates {
        Rates {
            writes: NonZeroU32::new(self.write_rate),
            aws_reads: NonZeroU32::new(self.aws_read_rate),
        }
    }

    /// How many connections one address may have.
    pub(crate) fn per_peer(self) -> Option<usize> {
        match self.max_connections_per_peer {
            None => Some(self.max_connections.div_ceil(2)),
            Some(0) => None,
            Some(given) => Some(given),
        }
    }
}

/// Parses the number of connections.
fn connections(text: &str) -> anyhow::Result<usize> {
    let connections = text.parse()?;
    anyhow::ensure!(connections > 0, "without a connection nobody is served");
    Ok(connections)
}

/// The keys that encrypt the database.
#[derive(Debug, Args)]
pub(crate) struct EncryptionKeys {
    /// A file with the encryption key, 32 bytes in hexadecimal or base64. Without it, the key is read from the
    /// environment variable UCP_ENCRYPTION_KEY.
    #[arg(long, env = "UCP_ENCRYPTION_KEY_FILE", value_name = "FILE")]
    pub(crate) encryption_key_file: Option<PathBuf>,
    /// A file with a previous encryption key, which is used only to decrypt. May be repeated. The environment variable
    /// UCP_PREVIOUS_ENCRYPTION_KEYS may contain such keys, separated by commas.
    #[arg(
        long = "previous-encryption-key-file",
        env = "UCP_PREVIOUS_ENCRYPTION_KEY_FILES",
        value_name = "FILE",
        value_delimiter = ','
    )]
    pub(crate) previous_encryption_key_files: Vec<PathBuf>,
}

/// A role of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Serves requests.
    Api,
    /// Carries out operations.
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
    /// `postgres://…` or `sqlite://…`. Servers may be using it.
    #[arg(long, env = "UCP_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: String,
    #[command(flatten)]
    pub(crate) keys: EncryptionKeys,
    /// Also start a new digest key. Stored digests of write-only properties can then no longer be compared, so the next
    /// put of each alias sends these properties again.
    #[arg(long)]
    pub(crate) new_digest_key: bool,
    /// Only count the values that are encrypted under each key.
    #[arg(long, conflicts_with = "new_digest_key")]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Catalog {
    /// The folder with the files of offerings.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) types: Types,
}

#[derive(Debug, Args)]
pub(crate) struct Simulator {
    /// The address to listen on; port 0 picks a free port.
    #[arg(long, env = "UCP_SIMULATOR_LISTEN", default_value = "127.0.0.1:8788")]
    pub(crate) listen: SocketAddr,
    /// A host name that clients may use for the controls, besides loopback; `*` allows all. May be repeated.
    #[arg(long = "allowed-host", env = "UCP_ALLOWED_HOST", value_delimiter = ',')]
    pub(crate) allowed_hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) types: Types,
    #[command(flatten)]
    pub(crate) aws: SimulatedAws,
}

/// The behaviour of the simulated AWS.
#[derive(Debug, Args)]
pub(crate) struct SimulatedAws {
    /// How the simulated AWS behaves.
    #[arg(long, env = "UCP_PROFILE", value_enum, default_value = "honest")]
    pub(crate) profile: Profile,
    /// The minimum duration of a change; by default, that of the profile.
    #[arg(long, env = "UCP_SIMULATOR_LATENCY_MIN", value_parser = humantime::parse_duration)]
    pub(crate) simulator_latency_min: Option<Duration>,
    /// The maximum duration of a change; by default, that of the profile.
    #[arg(long, env = "UCP_SIMULATOR_LATENCY_MAX", value_parser = humantime::parse_duration)]
    pub(crate) simulator_latency_max: Option<Duration>,
    /// The random seed; makes identifiers, latencies and faults reproducible.
    #[arg(long, env = "UCP_SIMULATOR_SEED")]
    pub(crate) simulator_seed: Option<u64>,
    /// A fault in JSON, as accepted by `POST /_simulator/faults`. May be repeated. It comes before those of the profile.
    #[arg(long = "simulator-fault", env = "UCP_SIMULATOR_FAULT")]
    pub(crate) simulator_faults: Vec<String>,
}

/// How a simulated AWS behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// It answers at once and tells the truth. Changes take less than a second.
    Honest,
    /// It does what AWS does every day.
    Realistic,
    /// It also does what AWS does on bad days.
    BadDay,
}

impl From<Profile> for ucp_simulator::Profile {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::Honest => Self::Honest,
            Profile::Realistic => Self::Realistic,
            Profile::BadDay => Self::BadDay,
        }
    }
}

/// Where the schemas of public types come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaSource {
    /// The CloudFormation registry of the account and region; the built-in schemas while it cannot be reached.
    Registry,
    /// The built-in schemas. The registry is asked only for types that are not built in.
    Embedded,
}

impl From<SchemaSource> for ucp_node::SchemaSource {
    fn from(source: SchemaSource) -> Self {
        match source {
            SchemaSource::Registry => Self::Registry,
            SchemaSource::Embedded => Self::Embedded,
        }
    }
}

/// The known resource types.
#[derive(Debug, Args)]
pub(crate) struct Types {
    /// A directory of CloudFormation resource type schemas (`*.json`) that extend or replace the built-in ones.
    #[arg(long, env = "UCP_SCHEMA_DIR", value_name = "DIR")]
    pub(crate) schema_dir: Option<PathBuf>,
}

/// How operations are carried out.
#[derive(Debug, Args)]
pub(crate) struct Work {
    /// How many operations this process works on at once. One that waits for AWS takes no thread. An AWS account and
    /// region can hold at most half of them.
    #[arg(long, env = "UCP_WORKERS", default_value_t = 512)]
    pub(crate) workers: usize,
    /// How long a worker's lease on an operation lasts without renewal before other workers may claim the operation, at
    /// least 1s. A worker renews it while it waits for AWS.
    #[arg(long, env = "UCP_LEASE", default_value = "10s", value_parser = lease)]
    pub(crate) lease: Duration,
    /// The most calls per second of a class that are made in an AWS account and region, by all processes together; as many
    /// as a second has may be made at once. It is a ceiling over the rate that is learned from AWS. The class is `mutations`: CreateResource, UpdateResource and
    /// DeleteResource; or `reads`: GetResource, ListResources, GetResourceRequestStatus and ListResourceRequests. Give
    /// every process the same. It comes before `[aws_rates]` of --config.
    #[arg(long = "aws-rate", env = "UCP_AWS_RATE", value_delimiter = ',', value_name = "ACCOUNT/REGION/CLASS=N", value_parser = pacing::aws_rate)]
    pub(crate) aws_rates: Vec<(RateKey, f64)>,
    /// How many operations of a resource group have their turn in a row when operations wait for the rate of AWS, at
    /// most 1000. Without it a group has one turn. It comes before `[group_weights]` of --config.
    #[arg(long = "group-weight", env = "UCP_GROUP_WEIGHT", value_delimiter = ',', value_name = "PLANE/GROUP=N", value_parser = pacing::group_weight)]
    pub(crate) group_weights: Vec<(String, u32)>,
    /// The time-out of a call to AWS.
    #[arg(long, env = "UCP_CALL_TIMEOUT", default_value = "20s", value_parser = humantime::parse_duration)]
    pub(crate) call_timeout: Duration,
    /// How often workers look for work that they were not notified of.
    #[arg(long, env = "UCP_POLL_INTERVAL", default_value = "500ms", value_parser = humantime::parse_duration)]
    pub(crate) poll_interval: Duration,
    /// How long a request may look at AWS. If it learns nothing from that, it is accepted, and waits for the rest of
    /// this time for the verdict of its operation before the reply is 201 or 202.
    #[arg(long, env = "UCP_VERDICT_WAIT", default_value = "2s", value_parser = humantime::parse_duration)]
    pub(crate) verdict_wait: Duration,
    /// How long a GET, a list or a `:get` waits for AWS; values above --call-timeout have no effect.
    #[arg(long, env = "UCP_READ_TIMEOUT", default_value = "20s", value_parser = humantime::parse_duration)]
    pub(crate) read_timeout: Duration,
    /// How long a schema from the CloudFormation registry is used before it is refreshed in the background.
    #[arg(long, env = "UCP_SCHEMA_TTL", default_value = "24h", value_parser = humantime::parse_duration)]
    pub(crate) schema_ttl: Duration,
    /// How long a DELETE of a resource group waits for completion before the reply is 202.
    #[arg(long, env = "UCP_GROUP_DELETE_WAIT", default_value = "30s", value_parser = humantime::parse_duration)]
    pub(crate) group_delete_wait: Duration,
    /// How long operations can be queried after their end.
    #[arg(long, env = "UCP_OPERATION_RETENTION", default_value = "30d", value_parser = humantime::parse_duration)]
    pub(crate) operation_retention: Duration,
    /// How long the history has what happened.
    #[arg(long, env = "UCP_HISTORY_RETENTION", default_value = "365d", value_parser = humantime::parse_duration)]
    pub(crate) history_retention: Duration,
    /// A region that requests may name: a name, which need not be known, or a pattern, in which `*` stands for any
    /// characters in the names of known regions. May be repeated.
    #[arg(
        long = "allowed-region",
        env = "UCP_ALLOWED_REGION",
        value_delimiter = ',',
        default_value = "*",
        value_name = "REGION"
    )]
    pub(crate) allowed_regions: Vec<String>,
    /// The number of planes.
    #[arg(long, env = "UCP_QUOTA_PLANES", default_value_t = Quotas::default().planes)]
    pub(crate) quota_planes: usize,
    /// The number of credentials that a plane may have.
    #[arg(long, env = "UCP_QUOTA_CREDENTIALS", default_value_t = Quotas::default().credentials)]
    pub(crate) quota_credentials: usize,
    /// The number of role assignments of all planes.
    #[arg(long, env = "UCP_QUOTA_ROLE_ASSIGNMENTS", default_value_t = Quotas::default().role_assignments)]
    pub(crate) quota_role_assignments: usize,
    /// The number of role assignments that one caller may have given.
    #[arg(long, env = "UCP_QUOTA_CALLER_ROLE_ASSIGNMENTS", default_value_t = Quotas::default().caller_role_assignments)]
    pub(crate) quota_caller_role_assignments: usize,
    /// The number of resource groups that a plane may have.
    #[arg(long, env = "UCP_QUOTA_GROUPS", default_value_t = Quotas::default().groups)]
    pub(crate) quota_groups: usize,
    /// The number of references that a resource group may have.
    #[arg(long, env = "UCP_QUOTA_REFERENCES", default_value_t = Quotas::default().references)]
    pub(crate) quota_references: usize,
    /// The number of leftovers of a resource group, or of an account and region, beyond which it takes no puts.
    #[arg(long, env = "UCP_QUOTA_LEFTOVERS", default_value_t = Quotas::default().leftovers)]
    pub(crate) quota_leftovers: usize,
    /// The number of operations that may be under way in a resource group.
    #[arg(long, env = "UCP_QUOTA_GROUP_OPERATIONS", default_value_t = Quotas::default().group_operations)]
    pub(crate) quota_group_operations: usize,
    /// The number of operations of one caller that may be under way.
    #[arg(long, env = "UCP_QUOTA_CALLER_OPERATIONS", default_value_t = Quotas::default().caller_operations)]
    pub(crate) quota_caller_operations: usize,
    /// The number of operations that may be under way.
    #[arg(long, env = "UCP_QUOTA_OPERATIONS", default_value_t = Quotas::default().operations)]
    pub(crate) quota_operations: usize,
    /// The bytes of the plans that one caller has asked for. Those that were reviewed or carried out do not count,
    /// and the oldest ones make room.
    #[arg(long, env = "UCP_QUOTA_CALLER_PLAN_BYTES", default_value_t = Quotas::default().caller_plan_bytes)]
    pub(crate) quota_caller_plan_bytes: usize,
    /// The same of those that are about one resource group.
    #[arg(long, env = "UCP_QUOTA_GROUP_PLAN_BYTES", default_value_t = Quotas::default().group_plan_bytes)]
    pub(crate) quota_group_plan_bytes: usize,
    /// Of earlier versions. It has no effect: plans are limited by their bytes.
    #[arg(long, env = "UCP_QUOTA_CALLER_PLANS", hide = true)]
    pub(crate) quota_caller_plans: Option<usize>,
    /// What to do with an alias without trackedBy if AWS assigns the identifier, so that each put creates another
    /// resource.
    #[arg(long, env = "UCP_UNTRACKED_ALIAS", default_value = "refuse")]
    pub(crate) untracked_alias: UntrackedAlias,
    /// Whether what is created for a reference gets the tag `ucp:reference`, which proves later that it was. Types without
    /// tags do not get it.
    #[arg(long, env = "UCP_OWNERSHIP_TAGS", default_value = "on")]
    pub(crate) ownership_tags: OwnershipTags,
}

/// Whether what is created gets the mark of its reference.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OwnershipTags {
    /// It does.
    On,
    /// It does not. Tags that are there count nevertheless.
    Off,
}

impl From<OwnershipTags> for ucp_engine::OwnershipTags {
    fn from(given: OwnershipTags) -> Self {
        match given {
            OwnershipTags::On => Self::On,
            OwnershipTags::Off => Self::Off,
        }
    }
}

/// What to do with an alias without `trackedBy`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum UntrackedAlias {
    /// Refuse the put.
    Refuse,
    /// Create the resource and ignore the alias.
    Ignore,
}

impl From<UntrackedAlias> for ucp_app::UntrackedAlias {
    fn from(given: UntrackedAlias) -> Self {
        match given {
            UntrackedAlias::Refuse => Self::Refuse,
            UntrackedAlias::Ignore => Self::Ignore,
        }
    }
}

/// The shortest lease. A shorter one may expire before it is renewed.
const LEASE_MIN: Duration = Duration::from_secs(1);

/// Parses the duration of a lease.
fn lease(text: &str) -> anyhow::Result<Duration> {
    let lease = humantime::parse_duration(text)?;
    anyhow::ensure!(
        lease >= LEASE_MIN,
        "a lease must last at least {LEASE_MIN:?}, or it expires before it can be renewed"
    );
    Ok(lease)
}

/// The arguments of `ucp plan`.
#[derive(Debug, Args)]
#[command(
    override_usage = "ucp plan --type <TYPE> --desired <FILE> [OPTIONS]\n       ucp plan --offline [--schema-dir <DIR>]",
    after_long_help = include_str!("plan/help.txt")
)]
pub(crate) struct Plan {
    /// Read questions from standard input, one JSON object per line, and print an answer to each.
    #[arg(long, conflicts_with_all = ["type_name", "current", "desired", "last_applied", "mode", "default_tags", "replacement_policy", "color", "detailed_exitcode"])]
    pub(crate) offline: bool,
    /// The resource type, AWS::EC2::VPC or AWS.EC2/VPC, in any letter case.
    #[arg(long = "type", value_name = "TYPE", required_unless_present = "offline", value_parser = TypeName::parse)]
    pub(crate) type_name: Option<TypeName>,
    /// A file with the properties that AWS returns now; `-` is standard input. Omit it if there is no resource yet. All
    /// files may be JSON or YAML.
    #[arg(long, value_name = "FILE")]
    pub(crate) current: Option<PathBuf>,
    /// A file with the declared properties; `-` is standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "offline")]
    pub(crate) desired: Option<PathBuf>,
    /// A file with the previously declared properties; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) last_applied: Option<PathBuf>,
    /// What to do with properties that are not declared.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) mode: Mode,
    /// A default tag, as KEY=VALUE; declared tags win. May be repeated.
    #[arg(long = "default-tag", value_name = "KEY=VALUE", value_parser = tag)]
    pub(crate) default_tags: Vec<(String, String)>,
    /// How the put would replace the resource if a change requires it. Without it, the put would be refused.
    #[arg(long, value_enum, value_name = "POLICY")]
    pub(crate) replacement_policy: Option<ReplacementPolicy>,
    /// When to use colours; `auto` uses them on a terminal, unless NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: Color,
    /// Exit with 0 if nothing would change, 2 if something would, and 1 on errors.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    #[command(flatten)]
    pub(crate) types: Types,
}

/// What to do with properties that are not declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Keep them.
    #[default]
    Merge,
    /// Remove them.
    Replace,
}

/// How to replace a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplacementPolicy {
    /// Create the new resource first.
    #[value(name = "createBeforeDelete")]
    CreateBeforeDelete,
    /// Delete the old resource first.
    #[value(name = "deleteBeforeCreate")]
    DeleteBeforeCreate,
}

/// Parses a tag.
fn tag(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    valid_tag(key, value).map_err(|error| error.to_string())?;
    Ok((key.to_owned(), value.to_owned()))
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    struct Defaults {
        #[command(flatten)]
        work: Work,
    }

    /// What a process leased or renewed at the moment of its end is held for a whole lease. Then others find it when they
    /// look for work the next time, at the latest.
    #[test]
    fn operations_of_a_process_that_was_killed_go_on_within_15_seconds() {
        let Work {
            lease,
            poll_interval,
            ..
        } = Defaults::parse_from(["ucp"]).work;
        let longest = lease + poll_interval;
        assert!(longest <= Duration::from_secs(15), "{longest:?}");
    }
}
