use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fault};
use ucp_simulator::{Action, ListResources};

use crate::aws::{Aws, VPC, create, delete, update};

const SUBNET: &str = "AWS::EC2::Subnet";

fn vpc(aws: &mut Aws) -> String {
    aws.succeed(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})))
}

fn count(model: &Value, list: &str) -> usize {
    model[list].as_array().unwrap().len()
}

#[test]
fn the_blocks_of_a_vpc_stand_as_long_as_their_associations() {
    let mut aws = Aws::new();
    let [vpc, other] = [vpc(&mut aws), vpc(&mut aws)];
    let before = aws.get(VPC, &vpc).unwrap();
    assert_eq!(before["Ipv6CidrBlocks"], json!([]));
    assert_eq!(count(&before, "CidrBlockAssociations"), 1);
    let block = "AWS::EC2::VPCCidrBlock";
    let ours = json!({"VpcId": vpc, "AmazonProvidedIpv6CidrBlock": true});
    let also = aws.succeed(&create(block, &ours));
    let ours = aws.succeed(&create(block, &ours));
    let own = json!({"VpcId": vpc, "Ipv6CidrBlock": "2001:db8:1234:1a00::/56"});
    aws.succeed(&create(block, &own));
    let ipv4 =
        json!({"VpcId": vpc, "CidrBlock": "10.1.0.0/16", "AmazonProvidedIpv6CidrBlock": false});
    let ipv4 = aws.succeed(&create(block, &ipv4));
    let live = aws.get(VPC, &vpc).unwrap();
    let blocks = live["Ipv6CidrBlocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 3, "AWS has chosen two");
    assert!(blocks.contains(&own["Ipv6CidrBlock"]));
    let assigned = blocks.iter().filter_map(Value::as_str);
    assert!(assigned.clone().all(|block| block.ends_with("::/56")));
    let association = ipv4.split('|').next().unwrap();
    assert_eq!(live["CidrBlockAssociations"][1], association);
    assert_eq!(count(&live, "CidrBlockAssociations"), 2);
    // A later read, a list and a change of the VPC tell the same; another VPC has none.
    assert_eq!(aws.get(VPC, &vpc).unwrap(), live);
    let patch = json!([{"op": "add", "path": "/EnableDnsSupport", "value": true}]);
    aws.succeed(&update(VPC, &vpc, &patch));
    let changed = aws.get(VPC, &vpc).unwrap();
    assert_eq!(changed["Ipv6CidrBlocks"], live["Ipv6CidrBlocks"]);
    assert_eq!(aws.get(VPC, &other).unwrap()["Ipv6CidrBlocks"], json!([]));
    let snapshots = aws.world.resources(aws.now, &aws.entropy);
    let snapshot = snapshots.iter().find(|it| it.identifier == vpc).unwrap();
    assert_eq!(snapshot.properties, changed);

    aws.succeed(&delete(block, &ours));
    aws.succeed(&delete(block, &also));
    aws.succeed(&delete(block, &ipv4));
    let after = aws.get(VPC, &vpc).unwrap();
    assert_eq!(after["Ipv6CidrBlocks"], json!([own["Ipv6CidrBlock"]]));
    assert_eq!(
        after["CidrBlockAssociations"],
        before["CidrBlockAssociations"]
    );
}

#[test]
fn the_blocks_of_a_subnet_are_its_own_and_those_of_associations() {
    let mut aws = Aws::new();
    let declared = json!({"VpcId": vpc(&mut aws), "Ipv6CidrBlock": "2001:db8:0:1::/64"});
    let subnet = aws.succeed(&create(SUBNET, &declared));
    let own = json!(["2001:db8:0:1::/64"]);
    assert_eq!(aws.get(SUBNET, &subnet).unwrap()["Ipv6CidrBlocks"], own);
    let pool = json!({"SubnetId": subnet, "Ipv6IpamPoolId": "p", "Ipv6NetmaskLength": 64});
    aws.succeed(&create("AWS::EC2::SubnetCidrBlock", &pool));
    let live = aws.get(SUBNET, &subnet).unwrap();
    let mut blocks = live["Ipv6CidrBlocks"].as_array().unwrap().iter();
    assert!(blocks.all(|block| block.as_str().unwrap().ends_with("::/64")));
    assert_eq!(count(&live, "Ipv6CidrBlocks"), 2);
}

#[test]
fn a_target_group_tells_its_load_balancers() {
    let mut aws = Aws::new();
    let [target_group, listener] =
        ["TargetGroup", "Listener"].map(|name| format!("AWS::ElasticLoadBalancingV2::{name}"));
    let group = aws.succeed(&create(&target_group, &json!({"Name": "web"})));
    let targets = json!({"TargetGroups": [{"TargetGroupArn": group}]});
    let declared = json!({
        "LoadBalancerArn": "arn:aws:elasticloadbalancing:us-west-2:123456789012:loadbalancer/app/a/0123456789abcdef",
        "DefaultActions": [{"Type": "forward", "ForwardConfig": targets}],
        "Port": 80,
        "Protocol": "HTTP",
    });
    let made = aws.succeed(&create(&listener, &declared));
    let list = ListResources {
        type_name: target_group.clone(),
        ..ListResources::default()
    };
    assert_eq!(aws.list(&list).unwrap().0, [group.as_str()]);
    let live = aws.get(&target_group, &group).unwrap();
    assert_eq!(
        live["LoadBalancerArns"],
        json!([declared["LoadBalancerArn"]])
    );
    aws.succeed(&delete(&listener, &made));
    let live = aws.get(&target_group, &group).unwrap();
    assert_eq!(live["LoadBalancerArns"], json!([]));
}

#[test]
fn a_database_tells_its_replicas_and_not_itself() {
    let mut aws = Aws::new();
    let database = "AWS::RDS::DBInstance";
    aws.succeed(&create(database, &json!({"DBInstanceIdentifier": "main"})));
    let replica = json!({"DBInstanceIdentifier": "copy", "SourceDBInstanceIdentifier": "main"});
    aws.succeed(&create(database, &replica));
    let replicas = |aws: &mut Aws, name: &str| {
        aws.get(database, name).unwrap()["ReadReplicaDBInstanceIdentifiers"].clone()
    };
    assert_eq!(replicas(&mut aws, "main"), json!(["copy"]));
    assert_eq!(replicas(&mut aws, "copy"), json!([]));
}

#[test]
fn a_read_that_lags_does_not_tell_a_new_association() {
    let mut aws = Aws::new();
    let vpc = vpc(&mut aws);
    let lag = Effect::Lag {
        least_millis: 10_000,
        most_millis: 10_000,
        replicas: 1,
    };
    aws.world.add_fault(fault(lag).on(Action::GetResource));
    let block = json!({"VpcId": vpc, "AmazonProvidedIpv6CidrBlock": true});
    aws.succeed(&create("AWS::EC2::VPCCidrBlock", &block));
    assert_eq!(aws.get(VPC, &vpc).unwrap()["Ipv6CidrBlocks"], json!([]));
    aws.pass(std::time::Duration::from_secs(10));
    let live = aws.get(VPC, &vpc).unwrap();
    assert_eq!(count(&live, "Ipv6CidrBlocks"), 1);
}
