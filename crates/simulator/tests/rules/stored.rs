use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fault};

use crate::aws::{Aws, create, update};

const ROLE: &str = "AWS::IAM::Role";
const TABLE: &str = "AWS::Cassandra::Table";

#[test]
fn absent_properties_get_the_defaults_of_the_schema() {
    let mut aws = Aws::new();
    let role = json!({"RoleName": "a", "AssumeRolePolicyDocument": {}});
    aws.succeed(&create(ROLE, &role));
    assert_eq!(aws.get(ROLE, "a").unwrap().get("Path"), None);
    aws.world.add_fault(fault(Effect::FillDefaults {}));
    let patch = json!([{"op": "add", "path": "/Description", "value": "x"}]);
    aws.succeed(&update(ROLE, "a", &patch));
    assert_eq!(aws.get(ROLE, "a").unwrap()["Path"], "/");
    // Also within objects and lists, and never what is declared.
    let table = json!({
        "KeyspaceName": "space",
        "TableName": "table",
        "PartitionKeyColumns": [{"ColumnName": "part", "ColumnType": "int"}],
        "ClusteringKeyColumns": [
            {"Column": {"ColumnName": "first", "ColumnType": "int"}, "OrderBy": "DESC"},
            {"Column": {"ColumnName": "second", "ColumnType": "int"}},
        ],
    });
    let id = aws.succeed(&create(TABLE, &table));
    let columns = &aws.get(TABLE, &id).unwrap()["ClusteringKeyColumns"];
    assert_eq!(columns[0]["OrderBy"], "DESC");
    assert_eq!(columns[1]["OrderBy"], "ASC");
}

#[test]
fn sets_and_policies_are_stored_in_another_form() {
    let mut aws = Aws::new();
    aws.world.add_fault(fault(Effect::Restate {}));
    let policy = json!({
        "Version": "2012-10-17",
        "Statement": {
            "Effect": "Allow",
            "Principal": {"Service": ["ecs.amazonaws.com"]},
            "Action": ["sts:AssumeRole"],
        },
    });
    let tags = json!([{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]);
    let role = json!({"RoleName": "a", "AssumeRolePolicyDocument": policy, "Tags": tags});
    aws.succeed(&create(ROLE, &role));
    let stored = aws.get(ROLE, "a").unwrap();
    assert_eq!(stored["Tags"], json!([tags[1], tags[0]]));
    let restated = json!([{
        "Action": "sts:AssumeRole",
        "Effect": "Allow",
        "Principal": {"Service": "ecs.amazonaws.com"},
    }]);
    assert_eq!(stored["AssumeRolePolicyDocument"]["Statement"], restated);
    let names = |value: &Value| -> Vec<String> {
        let members = value.as_object().unwrap();
        members.keys().cloned().collect()
    };
    let document = &stored["AssumeRolePolicyDocument"];
    assert_eq!(names(document), ["Statement", "Version"]);
    assert_eq!(
        names(&document["Statement"][0]),
        ["Action", "Effect", "Principal"]
    );
    // What is stored is stored again as it is.
    let patch = json!([{"op": "add", "path": "/Description", "value": "x"}]);
    aws.succeed(&update(ROLE, "a", &patch));
    let again = aws.get(ROLE, "a").unwrap();
    assert_eq!(again["Tags"], stored["Tags"]);
    assert_eq!(&again["AssumeRolePolicyDocument"], document);
    // A document in text stays a text.
    let text = json!({"RoleName": "b", "AssumeRolePolicyDocument": policy.to_string()});
    aws.succeed(&create(ROLE, &text));
    let stored = aws.get(ROLE, "b").unwrap();
    let text = stored["AssumeRolePolicyDocument"].as_str().unwrap();
    assert_eq!(text, document.to_string());
}

#[test]
fn what_the_schema_describes_keeps_its_shape() {
    let mut aws = Aws::new();
    aws.world.add_fault(fault(Effect::Restate {}));
    let visibility = json!({
        "CloudWatchMetricsEnabled": true,
        "MetricName": "m",
        "SampledRequestsEnabled": true,
    });
    let not =
        json!({"NotStatement": {"Statement": {"GeoMatchStatement": {"CountryCodes": ["CH"]}}}});
    let rules =
        json!([{"Name": "r", "Priority": 0, "Statement": not, "VisibilityConfig": visibility}]);
    let acl = json!({
        "Name": "a",
        "Scope": "REGIONAL",
        "DefaultAction": {"Allow": {}},
        "Rules": rules,
        "VisibilityConfig": visibility,
    });
    let web_acl = "AWS::WAFv2::WebACL";
    let id = aws.succeed(&create(web_acl, &acl));
    assert_eq!(aws.get(web_acl, &id).unwrap()["Rules"], rules);
    // One statement of a policy, which has its members beside the others of the resource.
    let policy = "AWS::Events::EventBusPolicy";
    let statement = json!({"Effect": "Allow", "Principal": "*", "Action": ["events:PutEvents"], "Resource": "*"});
    let declared = json!({"EventBusName": "b", "StatementId": "s", "Statement": statement});
    let id = aws.succeed(&create(policy, &declared));
    assert_eq!(aws.get(policy, &id).unwrap()["Statement"], statement);
}

#[test]
fn create_only_texts_are_shown_otherwise_at_any_depth() {
    let mut aws = Aws::new();
    aws.world.add_fault(fault(Effect::RestateFixed {}));
    // Its identifier is a create-only text; so is what its key schema consists of.
    let table = json!({
        "KeyspaceName": "space",
        "TableName": "table",
        "PartitionKeyColumns": [{"ColumnName": "part", "ColumnType": "int"}],
        "ClientSideTimestampsEnabled": false,
    });
    let id = aws.succeed(&create(TABLE, &table));
    let live = aws.get(TABLE, &id).unwrap();
    assert_eq!(live["TableName"], "table");
    let columns = json!([{"ColumnName": "part.", "ColumnType": "int."}]);
    assert_eq!(live["PartitionKeyColumns"], columns);
}
