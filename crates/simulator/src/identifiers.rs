//! How AWS writes the identifiers and ARNs that it assigns.

/// The style of a property that AWS sets: a text with `{placeholders}`. `{account}` and `{region}` are the caller's,
/// `{uuid}` is one, `{hex:8}`, `{digits:8}`, `{lower:8}` and `{upper:8}` are that many random characters, and a capital
/// stands for a property of the model: `{TopicName}`.
pub(crate) fn style(type_name: &str, property: &str) -> Option<&'static str> {
    STYLES
        .iter()
        .find(|(name, of, _)| *name == type_name && *of == property)
        .map(|(_, _, style)| *style)
}

const STYLES: &[(&str, &str, &str)] = &[
    ("AWS::AmazonMQ::Broker", "Id", "b-{uuid}"),
    ("AWS::Amplify::App", "AppId", "d{lower:13}"),
    (
        "AWS::Amplify::App",
        "Arn",
        "arn:aws:amplify:{region}:{account}:apps/d{lower:13}",
    ),
    ("AWS::ApiGateway::ApiKey", "APIKeyId", "{lower:10}"),
    ("AWS::ApiGateway::Authorizer", "AuthorizerId", "{lower:6}"),
    ("AWS::ApiGateway::Deployment", "DeploymentId", "{lower:6}"),
    ("AWS::ApiGateway::Resource", "ResourceId", "{lower:6}"),
    ("AWS::ApiGateway::RestApi", "RestApiId", "{lower:10}"),
    ("AWS::ApiGateway::RestApi", "RootResourceId", "{lower:10}"),
    ("AWS::ApiGateway::UsagePlan", "Id", "{lower:6}"),
    (
        "AWS::ApiGatewayV2::Api",
        "ApiEndpoint",
        "https://{ApiId}.execute-api.{region}.amazonaws.com",
    ),
    ("AWS::ApiGatewayV2::Api", "ApiId", "{lower:10}"),
    ("AWS::AppConfig::Application", "ApplicationId", "{lower:7}"),
    (
        "AWS::Backup::BackupPlan",
        "BackupPlanArn",
        "arn:aws:backup:{region}:{account}:backup-plan:{BackupPlanId}",
    ),
    (
        "AWS::Batch::ComputeEnvironment",
        "ComputeEnvironmentArn",
        "arn:aws:batch:{region}:{account}:compute-environment/{ComputeEnvironmentName}",
    ),
    (
        "AWS::Batch::JobQueue",
        "JobQueueArn",
        "arn:aws:batch:{region}:{account}:job-queue/{JobQueueName}",
    ),
    ("AWS::Bedrock::Agent", "AgentId", "{upper:10}"),
    (
        "AWS::Bedrock::Guardrail",
        "GuardrailArn",
        "arn:aws:bedrock:{region}:{account}:guardrail/{lower:12}",
    ),
    (
        "AWS::Bedrock::KnowledgeBase",
        "KnowledgeBaseId",
        "{upper:10}",
    ),
    (
        "AWS::CertificateManager::Certificate",
        "CertificateArn",
        "arn:aws:acm:{region}:{account}:certificate/{uuid}",
    ),
    (
        "AWS::CloudFront::Distribution",
        "DomainName",
        "d{lower:13}.cloudfront.net",
    ),
    ("AWS::CloudFront::Distribution", "Id", "E{upper:13}"),
    (
        "AWS::CloudFront::Function",
        "FunctionARN",
        "arn:aws:cloudfront::{account}:function/{Name}",
    ),
    ("AWS::CloudFront::OriginAccessControl", "Id", "E{upper:13}"),
    (
        "AWS::CloudWatch::Alarm",
        "Arn",
        "arn:aws:cloudwatch:{region}:{account}:alarm:{AlarmName}",
    ),
    ("AWS::Cognito::IdentityPool", "Id", "{region}:{uuid}"),
    (
        "AWS::Cognito::UserPool",
        "Arn",
        "arn:aws:cognito-idp:{region}:{account}:userpool/{UserPoolId}",
    ),
    ("AWS::Cognito::UserPool", "UserPoolId", "{region}_{lower:9}"),
    ("AWS::Cognito::UserPoolClient", "ClientId", "{lower:26}"),
    ("AWS::DLM::LifecyclePolicy", "PolicyId", "policy-{hex:17}"),
    (
        "AWS::DataSync::Agent",
        "AgentArn",
        "arn:aws:datasync:{region}:{account}:agent/agent-{hex:17}",
    ),
    (
        "AWS::DataSync::Task",
        "TaskArn",
        "arn:aws:datasync:{region}:{account}:task/task-{hex:17}",
    ),
    (
        "AWS::DataZone::ProjectProfile",
        "DomainIdentifier",
        "dzd-{lower:14}",
    ),
    (
        "AWS::DirectConnect::Connection",
        "ConnectionArn",
        "arn:aws:directconnect:{region}:{account}:dxcon/dxcon-{lower:8}",
    ),
    (
        "AWS::DynamoDB::Table",
        "Arn",
        "arn:aws:dynamodb:{region}:{account}:table/{TableName}",
    ),
    ("AWS::EC2::CapacityReservation", "Id", "cr-{hex:17}"),
    (
        "AWS::EC2::CarrierGateway",
        "CarrierGatewayId",
        "cagw-{hex:17}",
    ),
    (
        "AWS::EC2::ClientVpnEndpoint",
        "Id",
        "cvpn-endpoint-{hex:17}",
    ),
    (
        "AWS::EC2::CustomerGateway",
        "CustomerGatewayId",
        "cgw-{hex:17}",
    ),
    ("AWS::EC2::DHCPOptions", "DhcpOptionsId", "dopt-{hex:17}"),
    ("AWS::EC2::EC2Fleet", "FleetId", "fleet-{uuid}"),
    ("AWS::EC2::EIP", "AllocationId", "eipalloc-{hex:17}"),
    ("AWS::EC2::EIP", "PublicIp", "203.0.113.{digits:2}"),
    ("AWS::EC2::EIPAssociation", "Id", "eipassoc-{hex:17}"),
    ("AWS::EC2::EgressOnlyInternetGateway", "Id", "eigw-{hex:17}"),
    ("AWS::EC2::FlowLog", "Id", "fl-{hex:17}"),
    ("AWS::EC2::Host", "HostId", "h-{hex:17}"),
    ("AWS::EC2::IPAM", "IpamId", "ipam-{hex:17}"),
    ("AWS::EC2::IPAMPool", "IpamPoolId", "ipam-pool-{hex:17}"),
    ("AWS::EC2::Instance", "InstanceId", "i-{hex:17}"),
    ("AWS::EC2::Instance", "VpcId", "vpc-{hex:17}"),
    ("AWS::EC2::InstanceConnectEndpoint", "Id", "eice-{hex:17}"),
    (
        "AWS::EC2::InternetGateway",
        "InternetGatewayId",
        "igw-{hex:17}",
    ),
    ("AWS::EC2::KeyPair", "KeyPairId", "key-{hex:17}"),
    (
        "AWS::EC2::LaunchTemplate",
        "LaunchTemplateId",
        "lt-{hex:17}",
    ),
    ("AWS::EC2::NatGateway", "NatGatewayId", "nat-{hex:17}"),
    ("AWS::EC2::NetworkAcl", "Id", "acl-{hex:17}"),
    (
        "AWS::EC2::NetworkInsightsPath",
        "NetworkInsightsPathId",
        "nip-{hex:17}",
    ),
    ("AWS::EC2::NetworkInterface", "Id", "eni-{hex:17}"),
    ("AWS::EC2::PlacementGroup", "GroupId", "pg-{hex:17}"),
    ("AWS::EC2::PrefixList", "PrefixListId", "pl-{hex:17}"),
    ("AWS::EC2::Route", "CidrBlock", "{DestinationCidrBlock}"),
    ("AWS::EC2::RouteTable", "RouteTableId", "rtb-{hex:17}"),
    ("AWS::EC2::SecurityGroup", "GroupId", "{Id}"),
    ("AWS::EC2::SecurityGroup", "Id", "sg-{hex:17}"),
    ("AWS::EC2::SecurityGroupEgress", "Id", "sgr-{hex:17}"),
    ("AWS::EC2::SecurityGroupIngress", "Id", "sgr-{hex:17}"),
    ("AWS::EC2::SpotFleet", "Id", "sfr-{uuid}"),
    (
        "AWS::EC2::Subnet",
        "NetworkAclAssociationId",
        "aclassoc-{hex:17}",
    ),
    ("AWS::EC2::Subnet", "SubnetId", "subnet-{hex:17}"),
    (
        "AWS::EC2::SubnetCidrBlock",
        "Id",
        "subnet-cidr-assoc-{hex:17}",
    ),
    (
        "AWS::EC2::SubnetRouteTableAssociation",
        "Id",
        "rtbassoc-{hex:17}",
    ),
    ("AWS::EC2::TransitGateway", "Id", "tgw-{hex:17}"),
    (
        "AWS::EC2::TransitGateway",
        "TransitGatewayArn",
        "arn:aws:ec2:{region}:{account}:transit-gateway/{Id}",
    ),
    (
        "AWS::EC2::TransitGatewayAttachment",
        "Id",
        "tgw-attach-{hex:17}",
    ),
    (
        "AWS::EC2::TransitGatewayRouteTable",
        "TransitGatewayRouteTableId",
        "tgw-rtb-{hex:17}",
    ),
    ("AWS::EC2::VPC", "DefaultNetworkAcl", "acl-{hex:17}"),
    ("AWS::EC2::VPC", "DefaultSecurityGroup", "sg-{hex:17}"),
    ("AWS::EC2::VPC", "VpcId", "vpc-{hex:17}"),
    ("AWS::EC2::VPCCidrBlock", "Id", "vpc-cidr-assoc-{hex:17}"),
    ("AWS::EC2::VPCEndpoint", "Id", "vpce-{hex:17}"),
    (
        "AWS::EC2::VPCEndpointService",
        "ServiceId",
        "vpce-svc-{hex:17}",
    ),
    ("AWS::EC2::VPCGatewayAttachment", "AttachmentType", "IGW"),
    ("AWS::EC2::VPCPeeringConnection", "Id", "pcx-{hex:17}"),
    ("AWS::EC2::VPNConnection", "VpnConnectionId", "vpn-{hex:17}"),
    ("AWS::EC2::VPNGateway", "VPNGatewayId", "vgw-{hex:17}"),
    ("AWS::EC2::Volume", "VolumeId", "vol-{hex:17}"),
    (
        "AWS::ECR::Repository",
        "Arn",
        "arn:aws:ecr:{region}:{account}:repository/{RepositoryName}",
    ),
    (
        "AWS::ECR::Repository",
        "RepositoryUri",
        "{account}.dkr.ecr.{region}.amazonaws.com/{RepositoryName}",
    ),
    (
        "AWS::ECS::Cluster",
        "Arn",
        "arn:aws:ecs:{region}:{account}:cluster/{ClusterName}",
    ),
    ("AWS::ECS::Service", "Name", "{ServiceName}"),
    (
        "AWS::ECS::Service",
        "ServiceArn",
        "arn:aws:ecs:{region}:{account}:service/{Cluster}/{ServiceName}",
    ),
    (
        "AWS::ECS::TaskDefinition",
        "TaskDefinitionArn",
        "arn:aws:ecs:{region}:{account}:task-definition/{Family}:1",
    ),
    ("AWS::EFS::AccessPoint", "AccessPointId", "fsap-{hex:17}"),
    (
        "AWS::EFS::FileSystem",
        "Arn",
        "arn:aws:elasticfilesystem:{region}:{account}:file-system/{FileSystemId}",
    ),
    ("AWS::EFS::FileSystem", "FileSystemId", "fs-{hex:17}"),
    ("AWS::EFS::MountTarget", "Id", "fsmt-{hex:17}"),
    (
        "AWS::EKS::Cluster",
        "Arn",
        "arn:aws:eks:{region}:{account}:cluster/{Name}",
    ),
    ("AWS::EKS::Nodegroup", "Id", "{ClusterName}/{NodegroupName}"),
    ("AWS::EMR::Cluster", "Id", "j-{upper:13}"),
    (
        "AWS::ElasticLoadBalancingV2::Listener",
        "ListenerArn",
        "arn:aws:elasticloadbalancing:{region}:{account}:listener/app/lb/{hex:16}/{hex:16}",
    ),
    (
        "AWS::ElasticLoadBalancingV2::ListenerRule",
        "RuleArn",
        "arn:aws:elasticloadbalancing:{region}:{account}:listener-rule/app/lb/{hex:16}/{hex:16}/{hex:16}",
    ),
    (
        "AWS::ElasticLoadBalancingV2::LoadBalancer",
        "LoadBalancerArn",
        "arn:aws:elasticloadbalancing:{region}:{account}:loadbalancer/app/{Name}/{hex:16}",
    ),
    (
        "AWS::ElasticLoadBalancingV2::LoadBalancer",
        "LoadBalancerName",
        "{Name}",
    ),
    (
        "AWS::ElasticLoadBalancingV2::TargetGroup",
        "TargetGroupArn",
        "arn:aws:elasticloadbalancing:{region}:{account}:targetgroup/{Name}/{hex:16}",
    ),
    (
        "AWS::ElasticLoadBalancingV2::TargetGroup",
        "TargetGroupName",
        "{Name}",
    ),
    (
        "AWS::Events::EventBus",
        "Arn",
        "arn:aws:events:{region}:{account}:event-bus/{Name}",
    ),
    (
        "AWS::Events::Rule",
        "Arn",
        "arn:aws:events:{region}:{account}:rule/{Name}",
    ),
    ("AWS::Events::Rule", "RuleName", "{Name}"),
    ("AWS::FSx::FileSystem", "Id", "fs-{hex:17}"),
    ("AWS::GameLift::Fleet", "FleetId", "fleet-{uuid}"),
    (
        "AWS::GlobalAccelerator::Accelerator",
        "AcceleratorArn",
        "arn:aws:globalaccelerator::{account}:accelerator/{uuid}",
    ),
    ("AWS::Glue::Connection", "Name", "connection-{lower:8}"),
    ("AWS::GuardDuty::Detector", "Id", "{hex:32}"),
    (
        "AWS::IAM::ManagedPolicy",
        "PolicyArn",
        "arn:aws:iam::{account}:policy/{ManagedPolicyName}",
    ),
    ("AWS::IAM::ManagedPolicy", "PolicyId", "ANPA{upper:17}"),
    (
        "AWS::IAM::Role",
        "Arn",
        "arn:aws:iam::{account}:role/{RoleName}",
    ),
    ("AWS::IAM::Role", "RoleId", "AROA{upper:17}"),
    (
        "AWS::IAM::User",
        "Arn",
        "arn:aws:iam::{account}:user/{UserName}",
    ),
    ("AWS::IoT::Certificate", "Id", "{hex:64}"),
    (
        "AWS::KMS::Key",
        "Arn",
        "arn:aws:kms:{region}:{account}:key/{KeyId}",
    ),
    (
        "AWS::Kinesis::Stream",
        "Arn",
        "arn:aws:kinesis:{region}:{account}:stream/{Name}",
    ),
    (
        "AWS::KinesisFirehose::DeliveryStream",
        "Arn",
        "arn:aws:firehose:{region}:{account}:deliverystream/{DeliveryStreamName}",
    ),
    (
        "AWS::Lambda::Alias",
        "AliasArn",
        "arn:aws:lambda:{region}:{account}:function:{FunctionName}:{Name}",
    ),
    (
        "AWS::Lambda::EventSourceMapping",
        "EventSourceMappingArn",
        "arn:aws:lambda:{region}:{account}:event-source-mapping:{Id}",
    ),
    (
        "AWS::Lambda::Function",
        "Arn",
        "arn:aws:lambda:{region}:{account}:function:{FunctionName}",
    ),
    (
        "AWS::Lambda::LayerVersion",
        "LayerVersionArn",
        "arn:aws:lambda:{region}:{account}:layer:{LayerName}:{digits:4}",
    ),
    (
        "AWS::Lambda::Version",
        "FunctionArn",
        "arn:aws:lambda:{region}:{account}:function:{FunctionName}:{digits:4}",
    ),
    (
        "AWS::Logs::LogGroup",
        "Arn",
        "arn:aws:logs:{region}:{account}:log-group:{LogGroupName}:*",
    ),
    (
        "AWS::MSK::Cluster",
        "Arn",
        "arn:aws:kafka:{region}:{account}:cluster/{ClusterName}/{uuid}-1",
    ),
    (
        "AWS::MediaConnect::Flow",
        "FlowArn",
        "arn:aws:mediaconnect:{region}:{account}:flow:1-{hex:16}-{hex:12}:{Name}",
    ),
    (
        "AWS::NetworkFirewall::Firewall",
        "FirewallArn",
        "arn:aws:network-firewall:{region}:{account}:firewall/{FirewallName}",
    ),
    (
        "AWS::NetworkFirewall::RuleGroup",
        "RuleGroupArn",
        "arn:aws:network-firewall:{region}:{account}:stateful-rulegroup/{RuleGroupName}",
    ),
    ("AWS::Organizations::Account", "AccountId", "{digits:12}"),
    ("AWS::Organizations::Organization", "Id", "o-{lower:10}"),
    (
        "AWS::Organizations::OrganizationalUnit",
        "Id",
        "ou-{lower:4}-{lower:8}",
    ),
    ("AWS::Organizations::Policy", "Id", "p-{lower:8}"),
    ("AWS::Pinpoint::App", "Id", "{hex:32}"),
    (
        "AWS::RDS::DBCluster",
        "DBClusterArn",
        "arn:aws:rds:{region}:{account}:cluster:{DBClusterIdentifier}",
    ),
    (
        "AWS::RDS::DBInstance",
        "DBInstanceArn",
        "arn:aws:rds:{region}:{account}:db:{DBInstanceIdentifier}",
    ),
    ("AWS::RDS::DBInstance", "DBInstanceStatus", "available"),
    ("AWS::RDS::DBInstance", "DbiResourceId", "db-{upper:26}"),
    ("AWS::Route53::HostedZone", "Id", "Z{upper:20}"),
    (
        "AWS::Route53Resolver::ResolverEndpoint",
        "ResolverEndpointId",
        "rslvr-in-{hex:17}",
    ),
    (
        "AWS::Route53Resolver::ResolverRule",
        "ResolverRuleId",
        "rslvr-rr-{hex:17}",
    ),
    ("AWS::S3::Bucket", "Arn", "arn:aws:s3:::{BucketName}"),
    (
        "AWS::S3::Bucket",
        "DomainName",
        "{BucketName}.s3.amazonaws.com",
    ),
    (
        "AWS::S3::Bucket",
        "DualStackDomainName",
        "{BucketName}.s3.dualstack.{region}.amazonaws.com",
    ),
    (
        "AWS::S3::Bucket",
        "RegionalDomainName",
        "{BucketName}.s3.{region}.amazonaws.com",
    ),
    (
        "AWS::S3::Bucket",
        "WebsiteURL",
        "http://{BucketName}.s3-website-{region}.amazonaws.com",
    ),
    ("AWS::SNS::Subscription", "Arn", "{TopicArn}:{uuid}"),
    (
        "AWS::SNS::Topic",
        "TopicArn",
        "arn:aws:sns:{region}:{account}:{TopicName}",
    ),
    (
        "AWS::SQS::Queue",
        "Arn",
        "arn:aws:sqs:{region}:{account}:{QueueName}",
    ),
    (
        "AWS::SQS::Queue",
        "QueueUrl",
        "https://sqs.{region}.amazonaws.com/{account}/{QueueName}",
    ),
    ("AWS::SSM::MaintenanceWindow", "WindowId", "mw-{hex:17}"),
    ("AWS::SSM::PatchBaseline", "Id", "pb-{hex:17}"),
    (
        "AWS::SageMaker::Model",
        "ModelArn",
        "arn:aws:sagemaker:{region}:{account}:model/{ModelName}",
    ),
    (
        "AWS::Scheduler::Schedule",
        "Arn",
        "arn:aws:scheduler:{region}:{account}:schedule/default/{Name}",
    ),
    (
        "AWS::SecretsManager::Secret",
        "Id",
        "arn:aws:secretsmanager:{region}:{account}:secret:{Name}-{lower:6}",
    ),
    (
        "AWS::ServiceDiscovery::HttpNamespace",
        "Id",
        "ns-{lower:16}",
    ),
    (
        "AWS::ServiceDiscovery::PrivateDnsNamespace",
        "Id",
        "ns-{lower:16}",
    ),
    ("AWS::ServiceDiscovery::Service", "Id", "srv-{lower:16}"),
    (
        "AWS::StepFunctions::StateMachine",
        "Arn",
        "arn:aws:states:{region}:{account}:stateMachine:{StateMachineName}",
    ),
    (
        "AWS::StepFunctions::StateMachine",
        "Name",
        "{StateMachineName}",
    ),
    (
        "AWS::Transfer::Server",
        "Arn",
        "arn:aws:transfer:{region}:{account}:server/{ServerId}",
    ),
    ("AWS::Transfer::Server", "ServerId", "s-{hex:17}"),
    (
        "AWS::VpcLattice::Service",
        "Arn",
        "arn:aws:vpc-lattice:{region}:{account}:service/svc-{hex:17}",
    ),
    (
        "AWS::VpcLattice::ServiceNetwork",
        "Arn",
        "arn:aws:vpc-lattice:{region}:{account}:servicenetwork/sn-{hex:17}",
    ),
    (
        "AWS::WorkSpaces::WorkspacesPool",
        "PoolId",
        "wspool-{lower:9}",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_no_doubles() {
        assert!(STYLES.is_sorted_by(|(a, b, _), (c, d, _)| (a, b) < (c, d)));
    }
}
