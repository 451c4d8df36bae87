use serde_json::json;
use ucp_simulator::{Caller, NotInWorld};

use crate::aws::{Aws, LOG_GROUP, create};

#[test]
fn a_resource_is_changed_and_removed_behind_the_back_of_cloud_control() {
    let mut aws = Aws::new();
    aws.succeed(&create(
        LOG_GROUP,
        &json!({"LogGroupName": "a", "RetentionInDays": 7}),
    ));
    let group = (LOG_GROUP, "a");
    for patch in [
        json!({"RetentionInDays": 14, "KmsKeyId": null}),
        json!([{"op": "test", "path": "/RetentionInDays", "value": 14}]),
    ] {
        let changed = aws
            .world
            .patch_out_of_band(None, None, group, &patch, aws.now, &aws.entropy);
        assert_eq!(changed.unwrap().properties["RetentionInDays"], 14);
    }
    let unpatchable =
        aws.world
            .patch_out_of_band(None, None, group, &json!(1), aws.now, &aws.entropy);
    assert!(matches!(unpatchable, Err(NotInWorld::Unpatchable(_))));
    aws.world
        .delete_out_of_band(None, None, group, aws.now, &aws.entropy)
        .unwrap();
    let again = aws
        .world
        .delete_out_of_band(None, None, group, aws.now, &aws.entropy);
    assert_eq!(again, Err(NotInWorld::Absent));
    assert!(aws.get(LOG_GROUP, "a").is_err());
}

#[test]
fn where_a_resource_is_must_be_clear() {
    let mut aws = Aws::new();
    let request = create(LOG_GROUP, &json!({"LogGroupName": "a"}));
    aws.succeed(&request);
    aws.caller = Caller::new("123456789012", "eu-west-1");
    aws.succeed(&request);
    let group = (LOG_GROUP, "a");
    let unclear = aws
        .world
        .delete_out_of_band(None, None, group, aws.now, &aws.entropy);
    assert_eq!(unclear, Err(NotInWorld::Ambiguous));
    aws.world
        .delete_out_of_band(None, Some("eu-west-1"), group, aws.now, &aws.entropy)
        .unwrap();
    assert_eq!(aws.world.resources(aws.now, &aws.entropy).len(), 1);
}
