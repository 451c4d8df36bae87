//! Files with which something is wrong, and what is told of each.

use ucp_offerings::{Offerings, SourceFile};
use ucp_schema::Catalogue;

/// A file that is right: what cases change.
const RIGHT: &str = r#"name = "cache"
id = "s-1"
description = "A cache"

[resources.bucket]
type = "AWS::S3::Bucket"
properties.BucketName = "b-((instance_id))"

[resources.topic]
type = "AWS::SNS::Topic"
properties.DisplayName = "((bucket/Arn))"

[parameters.status]
at = "bucket/VersioningConfiguration/Status"
updatable = true

[parameters.label]
type = "string"

[binding]
expires_after = "2d"
renew_after = "1d"
credentials = { arn = "((topic/TopicArn))", until = "((expires_at))" }

[binding.resources.role]
type = "AWS::IAM::Role"
properties.AssumeRolePolicyDocument = { Statement = [] }

[binding.parameters.path]
at = "role/Path"

[[plans]]
id = "p-1"
name = "small"
description = "Small"
updates_to = ["large"]

[[plans]]
id = "p-2"
name = "large"
description = "Large"
presets.bucket.VersioningConfiguration.Status = "Enabled"
"#;

fn told(files: &[(&str, &str)]) -> Vec<String> {
    let files = files.iter().map(|(name, text)| SourceFile {
        name: (*name).to_owned(),
        text: (*text).to_owned(),
    });
    let files: Vec<SourceFile> = files.collect();
    match Offerings::read(&files, &Catalogue::embedded()) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

/// What is replaced in the file, by what, and what is told of it.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    (
        r#"description = "A cache""#,
        r#"description = "A cache"
colour = "red""#,
        &[
            "a.toml:4: `colour` is not a key of an offering, which has `id`, `name`, `description`, `tags`, `metadata`, `sync`, `update_with_bindings`, `resources`, `parameters`, `binding`, `plans`",
        ],
    ),
    (
        "properties.BucketName =",
        "property.BucketName =",
        &[
            "a.toml:7: `property` is not a key of the resource `bucket`, which has `type`, `properties`",
        ],
    ),
    (
        "updatable = true",
        "updateable = true",
        &[
            "a.toml:15: `updateable` is not a key of the parameter `status`, which has `at`, `required`, `updatable`, `type`, `title`, `description`, `default`, `enum`, `pattern`, `minLength`, `maxLength`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`, `minItems`, `maxItems`, `uniqueItems`, `minProperties`, `maxProperties`",
        ],
    ),
    (
        r#"[binding]
"#,
        r#"[binding]
rotateable = true
"#,
        &[
            "a.toml:21: `rotateable` is not a key of `binding`, which has `rotatable`, `requires_app`, `expires_after`, `renew_after`, `credentials`, `endpoints`, `resources`, `parameters`",
        ],
    ),
    (
        r#"description = "Small"
"#,
        r#"description = "Small"
cost = 1
"#,
        &[
            "a.toml:36: `cost` is not a key of a plan, which has `id`, `name`, `description`, `metadata`, `free`, `updates_to`, `replaces_to`, `parameters`, `maintenance`, `presets`",
        ],
    ),
    (
        r#"description = "Small"
"#,
        r#"description = "Small"
maintenance = { version = "1.0.0", when = "now" }
"#,
        &[
            "a.toml:36: `when` is not a key of `maintenance` of a plan, which has `version`, `description`",
        ],
    ),
    (
        r#"description = "Small"
"#,
        r#"description = "Small"
parameters.status.updatable = false
"#,
        &[
            "a.toml:36: `updatable` is not a key of the parameter `status` of a plan, which has `required`, `type`, `title`, `description`, `default`, `enum`, `pattern`, `minLength`, `maxLength`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`, `minItems`, `maxItems`, `uniqueItems`, `minProperties`, `maxProperties`",
        ],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
updatable = true"#,
        &[
            "a.toml:31: `updatable` is not a key of the parameter `path`, which has `at`, `required`, `type`, `title`, `description`, `default`, `enum`, `pattern`, `minLength`, `maxLength`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`, `minItems`, `maxItems`, `uniqueItems`, `minProperties`, `maxProperties`",
        ],
    ),
    (
        r#"[binding]
"#,
        r#"[binding]
endpoints = [{ host = "h", ports = ["1"], name = "n" }]
"#,
        &["a.toml:21: `name` is not a key of an endpoint, which has `host`, `ports`, `protocol`"],
    ),
    (
        "AWS::SNS::Topic",
        "AWS::SNS::Topick",
        &["a.toml:10: the type AWS::SNS::Topick is unknown; did you mean AWS::SNS::Topic?"],
    ),
    (
        "AWS::SNS::Topic",
        "SNS Topic",
        &["a.toml:10: 'SNS Topic' is not an AWS resource type name such as AWS::EC2::VPC"],
    ),
    (
        r#"type = "AWS::IAM::Role"
properties.AssumeRolePolicyDocument = { Statement = [] }"#,
        "properties = 1",
        &[
            "a.toml:25: the resource `role` needs `type`",
            "a.toml:26: `properties` is a table",
        ],
    ),
    (
        r#""bucket/VersioningConfiguration/Status"
updatable"#,
        r#""bucket/VersioningConfiguration/State"
updatable"#,
        &[
            "a.toml:14: AWS::S3::Bucket has no property at /VersioningConfiguration/State, through objects alone",
        ],
    ),
    (
        r#""bucket/VersioningConfiguration/Status"
updatable"#,
        r#""bucket"
updatable"#,
        &["a.toml:14: `bucket` is not a place: it is resource/Path, as in bucket/BucketName"],
    ),
    (
        r#""bucket/VersioningConfiguration/Status"
updatable"#,
        r#""basket/X"
updatable"#,
        &["a.toml:14: an instance has no resource `basket`"],
    ),
    (
        r#""bucket/VersioningConfiguration/Status"
updatable"#,
        r#""role/Path"
updatable"#,
        &["a.toml:14: an instance has no resource `role`"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "bucket/BucketName""#,
        &["a.toml:30: a binding has no resource `bucket`"],
    ),
    (
        r#""bucket/VersioningConfiguration/Status"
updatable"#,
        r#""bucket/Tags/0/Value"
updatable"#,
        &["a.toml:14: AWS::S3::Bucket has no property at /Tags/0/Value, through objects alone"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/RoleId""#,
        &["a.toml:30: /RoleId of AWS::IAM::Role is read-only: AWS alone sets it"],
    ),
    (
        r#"properties.BucketName = "b-((instance_id))""#,
        r#"properties.Arn = "a""#,
        &["a.toml:7: /Arn of AWS::S3::Bucket is read-only: AWS alone sets it"],
    ),
    (
        r#"["large"]"#,
        r#"["huge"]"#,
        &["a.toml:36: there is no plan `huge`"],
    ),
    (
        r#"["large"]"#,
        r#"["small"]"#,
        &["a.toml:36: a plan has no edge to itself; take it out"],
    ),
    (
        r#"["large"]"#,
        r#"["large", "large"]"#,
        &["a.toml:36: the edge to `large` is there already; take one out"],
    ),
    (
        r#"["large"]"#,
        r#"["large"]
replaces_to = ["large"]"#,
        &["a.toml:37: the edge to `large` is there already; take one out"],
    ),
    (
        "((bucket/Arn))",
        "((basket/Arn))",
        &["a.toml:11: `((basket/Arn))` is unknown: there is no such resource"],
    ),
    (
        "((bucket/Arn))",
        "((bucket/Arm))",
        &[
            "a.toml:11: `((bucket/Arm))`: AWS.S3/Bucket has no property at /Arm. Refer to one that it has.",
        ],
    ),
    (
        "((bucket/Arn))",
        "((bucket))",
        &[
            "a.toml:11: `((bucket))` is unknown: say which property of the resource, as in `((bucket/Arn))`",
        ],
    ),
    (
        "((bucket/Arn))",
        "((colour))",
        &[
            "a.toml:11: `((colour))` is unknown: a name is resource/Path, parameters/x, random/x, instance_id, binding_id, organization_guid, space_guid, platform, account, region or expires_at",
        ],
    ),
    (
        "((bucket/Arn))",
        "((parameters/colour))",
        &["a.toml:11: `((parameters/colour))` is unknown: there is no such parameter"],
    ),
    (
        "((bucket/Arn))",
        "((parameters/path))",
        &[
            "a.toml:11: `((parameters/path))` is unknown: it is a parameter of bindings, and this is not in `binding`",
        ],
    ),
    (
        "((bucket/Arn))",
        "((role/Arn))",
        &[
            "a.toml:11: `((role/Arn))` is unknown: it is a resource of bindings, and this is not in `binding`",
        ],
    ),
    (
        "((bucket/Arn))",
        "((binding_id))",
        &["a.toml:11: `((binding_id))` is unknown: only what is in `binding` has a binding"],
    ),
    (
        "((bucket/Arn))",
        "((expires_at))",
        &["a.toml:11: `((expires_at))` is unknown: only what is in `binding` expires"],
    ),
    (
        "((bucket/Arn))",
        "((random/a b))",
        &[
            "a.toml:11: `((random/a b))` is unknown: the name of a random text has letters, digits, - and _",
        ],
    ),
    (
        "((bucket/Arn))",
        "((bucket/Arn",
        &["a.toml:11: `((` is not closed by `))`. Write `((!` for two brackets that are no name"],
    ),
    (
        r#"expires_after = "2d"
renew_after = "1d"
"#,
        "",
        &[
            "a.toml:21: `((expires_at))` is unknown: the binding does not expire; give it `expires_after`",
        ],
    ),
    (
        r#""((topic/TopicArn))""#,
        r#""((role/AssumeRolePolicyDocument/X/0)) ((role/Nothing))""#,
        &[
            "a.toml:23: `((role/Nothing))`: AWS.IAM/Role has no property at /Nothing. Refer to one that it has.",
        ],
    ),
    (
        "{ Statement = [] }",
        r#"{ Statement = [{ "$reference" = "bucket#/Arn" }] }"#,
        &["a.toml:27: `$reference` is not written in files: write `((resource/Path))` instead"],
    ),
    (
        r#"properties.BucketName = "b-((instance_id))""#,
        r#"properties.BucketName = "((topic/TopicName))""#,
        &[
            "a.toml:7: the resources refer to each other in a circle: bucket → topic → bucket; take one of these references out",
        ],
    ),
    (
        "((bucket/Arn))",
        "((topic/TopicName))",
        &["a.toml:11: `topic` refers to itself; take that out"],
    ),
    (
        r#"presets.bucket.VersioningConfiguration.Status = "Enabled""#,
        r#"presets.bucket.BucketName = "((topic/TopicName))""#,
        &[
            "a.toml:36: the plans differ where nothing can be updated: /BucketName of AWS::S3::Bucket is create-only; use `replaces_to`",
            "a.toml:42: the resources refer to each other in a circle: bucket → topic → bucket; take one of these references out",
        ],
    ),
    (
        r#""bucket/VersioningConfiguration/Status"
updatable"#,
        r#""bucket/BucketName"
updatable"#,
        &[
            "a.toml:15: the parameter `status` cannot be updatable: /BucketName of AWS::S3::Bucket is create-only",
        ],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/MaxSessionDuration"
minimum = 1"#,
        &["a.toml:31: `minimum` only narrows: it is 3600 or more"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/MaxSessionDuration"
maximum = "a""#,
        &["a.toml:31: `maximum` is a number"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/MaxSessionDuration"
minLength = 1"#,
        &["a.toml:31: `minLength` is of no use here: the value is integer"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/MaxSessionDuration"
type = "boolean""#,
        &["a.toml:31: `type` cannot be boolean: the value is integer"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
type = "text""#,
        &[
            "a.toml:31: `type` is array, boolean, integer, null, number, object or string, or a list of these",
        ],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
enum = []"#,
        &["a.toml:31: `enum` is a list of different values that is not empty"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
enum = ["/a/", 7]"#,
        &["a.toml:31: `enum` has values that are not allowed here: `7`"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
pattern = "(""#,
        &[
            "a.toml:31: `pattern` is not a regular expression that can be matched in linear time: it is wrong, too large, or refers back",
        ],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
pattern = "(a)\\1""#,
        &[
            "a.toml:31: `pattern` is not a regular expression that can be matched in linear time: it is wrong, too large, or refers back",
        ],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
maxLength = 3
minLength = 4"#,
        &["a.toml:32: no value fits: `minLength` is more than `maxLength`"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
items = {}"#,
        &[
            "a.toml:31: `items` is not a key of the parameter `path`, which has `at`, `required`, `type`, `title`, `description`, `default`, `enum`, `pattern`, `minLength`, `maxLength`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`, `minItems`, `maxItems`, `uniqueItems`, `minProperties`, `maxProperties`",
        ],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/MaxSessionDuration"
exclusiveMinimum = 4"#,
        &["a.toml:31: `exclusiveMinimum` is true or false"],
    ),
    (
        r#"type = "string""#,
        r##"type = "array"
items = { "$ref" = "#/definitions/x" }"##,
        &["a.toml:19: `items` may not have `$ref`: write the schema out"],
    ),
    (
        r#"type = "string""#,
        r#"type = "array"
items = { type = "strings" }"#,
        &["a.toml:19: `items` is not a schema in draft-04"],
    ),
    (
        r#"type = "string""#,
        r#"description = "d""#,
        &["a.toml:17: the parameter `label` needs `at`, or a `type`"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
default = 1"#,
        &["a.toml:31: the default of `path` does not fit: must be a string"],
    ),
    (
        r#"at = "bucket/VersioningConfiguration/Status""#,
        r#"at = "bucket/VersioningConfiguration/Status"
default = "On""#,
        &["a.toml:15: the default of `status` does not fit: must be one of `Enabled`, `Suspended`"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
default = "/a/"
required = true"#,
        &["a.toml:31: what is required has no `default`; take one of them out"],
    ),
    (
        r#"description = "Small"
"#,
        r#"description = "Small"
parameters.status = { default = "Of", enum = ["Enabled", "On"] }
"#,
        &[
            r#"a.toml:36: `enum` has values that are not allowed here: `"On"`"#,
            "a.toml:36: the default of `status` does not fit: must be one of `Enabled`, `Suspended`",
        ],
    ),
    (
        r#"description = "Small"
"#,
        r#"description = "Small"
parameters.colour = {}
"#,
        &["a.toml:36: there is no parameter `colour`"],
    ),
    (
        r#"at = "role/Path""#,
        r#"at = "role/Path"
required = "yes""#,
        &["a.toml:31: `required` of the parameter `path` is true or false"],
    ),
    (
        r#"VersioningConfiguration.Status = "Enabled""#,
        r#"VersioningConfiguration.Status = "On""#,
        &[
            "a.toml:42: AWS::S3::Bucket refuses this: `/VersioningConfiguration/Status`: must be one of `Enabled`, `Suspended`",
        ],
    ),
    (
        r#"VersioningConfiguration.Status = "Enabled""#,
        "VersioningConfiguration.Status = 1",
        &[
            "a.toml:42: AWS::S3::Bucket refuses this: `/VersioningConfiguration/Status`: expected a string, got a number",
            "a.toml:42: AWS::S3::Bucket refuses this: `/VersioningConfiguration/Status`: must be one of `Enabled`, `Suspended`",
        ],
    ),
    (
        r#"VersioningConfiguration.Status = "Enabled""#,
        r#"VersioningConfiguration.State = "Enabled""#,
        &["a.toml:42: AWS::S3::Bucket has no property at /VersioningConfiguration/State"],
    ),
    (
        r#"VersioningConfiguration.Status = "Enabled""#,
        r#"Arn = "a""#,
        &["a.toml:42: /Arn of AWS::S3::Bucket is read-only: AWS alone sets it"],
    ),
    (
        r#"VersioningConfiguration.Status = "Enabled""#,
        r#"CorsConfiguration = { CorsRules = [
{ AllowedMethods = ["GET"], AllowedOrigins = "*" }] }"#,
        &[
            "a.toml:43: AWS::S3::Bucket refuses this: `/CorsConfiguration/CorsRules/0/AllowedOrigins`: expected an array, got a string",
        ],
    ),
    (
        "presets.bucket.VersioningConfiguration.Status",
        "presets.role.Path",
        &["a.toml:42: an instance has no resource `role`"],
    ),
    (
        r#""b-((instance_id))""#,
        "7",
        &["a.toml:7: AWS::S3::Bucket refuses this: `/BucketName`: expected a string, got a number"],
    ),
    (
        "properties.BucketName",
        "properties.BucketNames",
        &[
            "a.toml:7: AWS::S3::Bucket refuses this: `/BucketNames` is not a property of AWS::S3::Bucket; did you mean `BucketName`?",
        ],
    ),
    (
        r#"[parameters.label]
type = "string""#,
        r#"[parameters.label]
at = "bucket/VersioningConfiguration""#,
        &[
            "a.toml:17: the parameter `label` has a place that overlaps with that of `status`; choose places apart",
        ],
    ),
    (
        r#"properties.BucketName = "b-((instance_id))""#,
        r#"properties.VersioningConfiguration = "((parameters/label))""#,
        &[
            "a.toml:13: the place of the parameter `status` is in `VersioningConfiguration`, which the resource sets as a whole",
        ],
    ),
    (
        r#"id = "s-1"
"#,
        "",
        &["a.toml:1: an offering needs `id`"],
    ),
    (
        r#"id = "s-1""#,
        r#"id = """#,
        &["a.toml:2: `id` of an offering is a text that is not empty"],
    ),
    (
        r#"id = "s-1""#,
        r#"id = "s/1""#,
        &["a.toml:2: `s/1` is not an id: 1 to 50 letters, digits, periods, _ and -"],
    ),
    (
        r#"name = "cache""#,
        r#"name = "a cache""#,
        &["a.toml:1: `a cache` is not a name: 1 to 50 letters, digits, periods and -"],
    ),
    (
        r#"description = "A cache"
"#,
        "",
        &["a.toml:1: an offering needs `description`"],
    ),
    (
        r#"id = "p-2"
"#,
        "",
        &["a.toml:38: a plan needs `id`"],
    ),
    (
        r#"name = "large""#,
        r#"name = "small""#,
        &[
            "a.toml:36: there is no plan `large`",
            "a.toml:40: the plan in line 34 is called `small` too",
        ],
    ),
    (
        r#"id = "p-2""#,
        r#"id = "p-1""#,
        &["a.toml:39: the id of a plan `p-1` is that of a.toml:33 too"],
    ),
    (
        "[binding.resources.role]",
        "[binding.resources.Bucket]",
        &[
            "a.toml:25: the name `Bucket` is taken by the resource in line 5, regardless of letter case; choose another one",
            "a.toml:30: a binding has no resource `role`",
        ],
    ),
    (
        "[binding.parameters.path]",
        "[binding.parameters.label]",
        &["a.toml:29: the parameter `label` is in line 17 too; choose another name"],
    ),
    (
        "[parameters.label]",
        r#"[parameters."a/b"]"#,
        &["a.toml:17: `a/b` cannot be the name of a parameter: 1 to 64 letters, digits, - and _"],
    ),
    (
        "[resources.topic]",
        "[resources.random]",
        &[
            "a.toml:9: `random` cannot be the name of a resource: 1 to 26 letters, digits, - and _, and neither `parameters` nor `random`",
            "a.toml:23: `((topic/TopicArn))` is unknown: there is no such resource",
        ],
    ),
    (
        "[resources.topic]",
        r#"[resources."a:b"]"#,
        &[
            "a.toml:9: `a:b` cannot be the name of a resource: 1 to 26 letters, digits, - and _, and neither `parameters` nor `random`",
            "a.toml:23: `((topic/TopicArn))` is unknown: there is no such resource",
        ],
    ),
    (
        r#"id = "s-1""#,
        "id = s-1",
        &["a.toml:2: this is not TOML: string values must be quoted, expected literal string"],
    ),
    (
        r#"description = "A cache""#,
        r#"description = "A cache"
description = "Again""#,
        &["a.toml:4: this is not TOML: duplicate key"],
    ),
    (
        r#"description = "A cache""#,
        "description = 1979-05-27",
        &["a.toml:3: JSON has no dates: write a text"],
    ),
    (
        r#"description = "Large""#,
        r#"description = "Large"
metadata.cost = nan"#,
        &["a.toml:42: JSON has no such number"],
    ),
    (
        r#"expires_after = "2d""#,
        r#"expires_after = "2 days""#,
        &[
            "a.toml:21: `expires_after` is a duration such as 90d or 12h: numbers with the units s, m, h, d, w",
        ],
    ),
    (
        r#"renew_after = "1d""#,
        r#"renew_after = "48h""#,
        &["a.toml:22: `renew_after` is before `expires_after`; make it shorter"],
    ),
    (
        r#"expires_after = "2d"
renew_after = "1d"
credentials = { arn = "((topic/TopicArn))", until = "((expires_at))" }"#,
        r#"renew_after = "1d""#,
        &["a.toml:21: `renew_after` is of no use without `expires_after`"],
    ),
    (
        r#"description = "Small"
"#,
        r#"description = "Small"
maintenance.version = "1"
"#,
        &["a.toml:36: `version` is a semantic version, such as 1.0.0"],
    ),
    (
        r#"description = "Small"
"#,
        r#"description = "Small"
free = "no"
"#,
        &["a.toml:36: `free` of a plan is true or false"],
    ),
    (
        r#"description = "A cache""#,
        r#"description = "A cache"
update_with_bindings = "replace""#,
        &["a.toml:4: `update_with_bindings` is `refuse` or `merge`"],
    ),
    (
        r#"description = "A cache""#,
        r#"description = "A cache"
tags = "s3""#,
        &["a.toml:4: `tags` of an offering is a list of texts"],
    ),
    (
        r#"[binding]
"#,
        r#"[binding]
endpoints = [{ host = "h", ports = [443], protocol = "http" }]
"#,
        &[
            "a.toml:21: `protocol` is one of `tcp`, `udp`, `all`",
            r#"a.toml:21: an endpoint has `ports`: texts such as "443" or "8000-8010""#,
        ],
    ),
    (
        "credentials = { arn",
        "credentials = 1 #",
        &["a.toml:23: `credentials` of `binding` is a table"],
    ),
    (
        r#"[parameters.label]
type = "string""#,
        r#"[parameters.label]
type = "string"
updatable = true
[resources.queue]
type = "AWS::SQS::Queue"
properties.QueueName = "q-((parameters/label))""#,
        &[
            "a.toml:19: the parameter `label` cannot be updatable: /QueueName of AWS::SQS::Queue is create-only",
        ],
    ),
    // The value goes on from the resource that has it.
    (
        r#"[parameters.label]
type = "string""#,
        r#"[parameters.label]
at = "topic/DisplayName"
updatable = true
[resources.other]
type = "AWS::SNS::Topic"
properties.DisplayName = "o-((topic/DisplayName))"
[resources.queue]
type = "AWS::SQS::Queue"
properties.QueueName = "q-((other/DisplayName))""#,
        &[
            "a.toml:19: the parameter `label` cannot be updatable: /QueueName of AWS::SQS::Queue is create-only",
        ],
    ),
    (
        r#"[parameters.label]
type = "string""#,
        r#"[parameters.label]
type = "string"
updatable = true
[resources.other]
type = "AWS::SNS::Topic"
properties.Tags = [{ Key = "a", Value = "((parameters/label))" }]
[resources.queue]
type = "AWS::SQS::Queue"
properties.QueueName = "((other/Tags/0/Value))""#,
        &[
            "a.toml:19: the parameter `label` cannot be updatable: /QueueName of AWS::SQS::Queue is create-only",
        ],
    ),
    (
        r#"[parameters.label]
type = "string""#,
        r#"[resources.queue]
type = "AWS::SQS::Queue"
properties.QueueName = "((bucket/VersioningConfiguration/Status))"
[parameters.label]
type = "string""#,
        &[
            "a.toml:15: the parameter `status` cannot be updatable: /QueueName of AWS::SQS::Queue is create-only",
            "a.toml:39: the plans differ where nothing can be updated: /QueueName of AWS::SQS::Queue is create-only; use `replaces_to`",
        ],
    ),
    (
        r#"[parameters.label]
type = "string""#,
        r#"[parameters.label]
type = "string"
[resources.queue]
type = "AWS::SQS::Queue"
properties.QueueName = "q-((parameters/label))"
[[plans]]
id = "p-3"
name = "none"
description = "None"
updates_to = ["large"]
parameters.status = {}"#,
        &[
            "a.toml:26: the plans differ where nothing can be updated: /QueueName of AWS::SQS::Queue is create-only; use `replaces_to`",
        ],
    ),
    (
        r#"[parameters.label]
type = "string""#,
        r#"[parameters.label]
at = "bucket/BucketName"
[[plans]]
id = "p-3"
name = "none"
description = "None"
updates_to = ["large"]
parameters.status = {}"#,
        &[
            "a.toml:23: the plans differ where nothing can be updated: /BucketName of AWS::S3::Bucket is create-only; use `replaces_to`",
        ],
    ),
    (
        r#"type = "string""#,
        r#"type = "string"
[resources.db]
type = "AWS::RDS::DBInstance"
[resources.other]
type = "AWS::SNS::Topic"
properties.DisplayName = "((db/MasterUserPassword))""#,
        &[
            "a.toml:23: `((db/MasterUserPassword))`: /MasterUserPassword of AWS.RDS/DBInstance is write-only: nobody can read it. Declare the value in both places, or refer to another one.",
        ],
    ),
    (
        "[binding.resources.role]",
        r#"[binding.resources.other]
type = "AWS::IAM::Role"
properties.RoleName = "((role/Arn))"
properties.AssumeRolePolicyDocument = "((other/Arn))"
[binding.resources.role]"#,
        &["a.toml:28: `other` refers to itself; take that out"],
    ),
    (
        r#"description = "Small"
"#,
        r#"description = "Small"
parameters.status = { required = true, default = "Enabled" }
"#,
        &["a.toml:36: what is required has no `default`; take one of them out"],
    ),
    (
        r#"at = "bucket/VersioningConfiguration/Status""#,
        r#"at = "bucket/VersioningConfiguration/Status"
enum = ["Enabled", "Suspended"]
default = "Suspended"
[[plans]]
id = "p-3"
name = "on"
description = "On"
parameters.status = { enum = ["Enabled"] }
[resources.z]
type = "AWS::SNS::Topic"
[parameters.z]
at = "z/DisplayName""#,
        &["a.toml:21: the default of `status` does not fit: must be `Enabled`"],
    ),
    (
        r#"name = "large"
"#,
        r#"name = "large"
parameters = 1
"#,
        &["a.toml:41: `parameters` of a plan is a table"],
    ),
    (
        r#"[[plans]]
id = "p-1"
name = "small"
description = "Small"
updates_to = ["large"]

[[plans]]
id = "p-2"
name = "large"
description = "Large"
presets.bucket.VersioningConfiguration.Status = "Enabled"
"#,
        "",
        &["a.toml:1: an offering needs `[[plans]]`"],
    ),
    (
        r#"[[plans]]
id = "p-1"
name = "small"
description = "Small"
updates_to = ["large"]

[[plans]]"#,
        "[plans]",
        &["a.toml:32: `plans` is a list of at least one table: write `[[plans]]`"],
    ),
    (
        r#""AWS::SNS::Topic"
properties.DisplayName = "((bucket/Arn))""#,
        r#""AWS::AppMesh::Mesh""#,
        &[
            "a.toml:10: AWS::AppMesh::Mesh cannot be created by Cloud Control, so no instance can have one",
            "a.toml:10: AWS::AppMesh::Mesh cannot be deleted by Cloud Control, so no instance can have one",
        ],
    ),
    (
        r#"type = "string""#,
        r#"type = "string"
[resources.x]
type = "AWS::ACMPCA::Certificate"
[parameters.y]
at = "x/ApiPassthrough"
updatable = true"#,
        &[
            "a.toml:23: the parameter `y` cannot be updatable: AWS::ACMPCA::Certificate cannot be updated: it has no update handler",
        ],
    ),
    (
        r#"Status = "Enabled""#,
        r#"Status = "Enabled"
presets.bucket.Tags.Key = "a""#,
        &["a.toml:43: AWS::S3::Bucket has no property at /Tags/Key"],
    ),
    (
        "((bucket/Arn))",
        "((bucket/Tags/0/Key)) ((bucket/Tags/x/Key))",
        &[
            "a.toml:11: `((bucket/Tags/x/Key))`: AWS.S3/Bucket has no property at /Tags/x/Key. Refer to one that it has.",
        ],
    ),
    (
        r#"description = "A cache""#,
        r#"description = "A cache"
metadata = "m""#,
        &["a.toml:4: `metadata` of an offering is a table"],
    ),
    (
        "{ Statement = [] }",
        r#"{ Statement = [{ Effect = { "$unknown" = true } }] }"#,
        &["a.toml:27: `$unknown` is not written in files: write `((resource/Path))` instead"],
    ),
    (
        "name = \"large\"\n",
        "name = \"large\"\nparameters.status = {}\n",
        &["a.toml:41: a preset of the plan sets `status`; take one of them out"],
    ),
];

#[test]
fn the_file_is_right() {
    assert_eq!(told(&[("a.toml", RIGHT)]), Vec::<String>::new());
}

#[test]
fn each_cause_is_told_with_its_line() {
    let mut wrong = Vec::new();
    for (old, new, expected) in CASES {
        assert_eq!(RIGHT.matches(old).count(), 1, "{old}");
        let found = told(&[("a.toml", &RIGHT.replace(old, new))]);
        if &found != expected {
            wrong.push(format!("{new}\n    {}", found.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
}

#[test]
fn all_files_are_told_at_once_by_name_and_line() {
    let second = RIGHT
        .replace("id = \"s-1\"", "id = \"s-2\"\ncolour = 1")
        .replace("id = \"p-2\"", "id = \"p-3\"");
    let found = told(&[
        ("b.toml", &second),
        ("c.toml", "name = \n= 1"),
        ("a.toml", RIGHT),
    ]);
    assert_eq!(
        found,
        [
            "b.toml:1: the name `cache` is that of a.toml:1 too",
            "b.toml:3: `colour` is not a key of an offering, which has `id`, `name`, `description`, `tags`, `metadata`, `sync`, `update_with_bindings`, `resources`, `parameters`, `binding`, `plans`",
            "b.toml:34: the id of a plan `p-1` is that of a.toml:33 too",
            "c.toml:1: this is not TOML: string values must be quoted, expected literal string",
            "c.toml:2: this is not TOML: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`",
        ]
    );
}

#[test]
fn a_type_of_ones_own_needs_handlers_too() {
    let schema = |handlers: &str| {
        format!(
            r#"{{"typeName": "AWS::SNS::Topic", "description": "", "properties": {{"TopicArn": {{"type": "string"}}, "DisplayName": {{"type": "string"}}}},
            "additionalProperties": false, "primaryIdentifier": ["/properties/TopicArn"], "readOnlyProperties": ["/properties/TopicArn"], "handlers": {{{handlers}}}}}"#
        )
    };
    let of = |handlers: &str| {
        let mut catalogue = Catalogue::embedded();
        catalogue.with_schema(&schema(handlers)).unwrap();
        let (name, text) = ("a.toml".to_owned(), RIGHT.to_owned());
        let read = Offerings::read(&[SourceFile { name, text }], &catalogue);
        let problems = read.err().unwrap_or_default();
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(of(r#""create": {}, "delete": {}"#), Vec::<String>::new());
    assert_eq!(
        of(r#""create": {}"#),
        [
            "a.toml:10: AWS::SNS::Topic cannot be deleted by Cloud Control, so no instance can have one"
        ]
    );
    assert_eq!(
        of(r#""delete": {}"#),
        [
            "a.toml:10: AWS::SNS::Topic cannot be created by Cloud Control, so no instance can have one"
        ]
    );
}

/// Returns a file with something that is repeated.
fn repeated(count: usize, one: impl Fn(usize) -> String) -> String {
    let more: String = (0..count).map(one).collect();
    format!("{RIGHT}{more}")
}

#[test]
fn there_is_a_bound_to_everything() {
    let first = |text: &str| told(&[("a.toml", text)]).into_iter().next();
    // The file has one parameter of instances more, and one of bindings.
    let parameters = |count: usize| {
        repeated(count, |index| {
            format!("[parameters.p{index}]\ntype = \"string\"\n")
        })
    };
    assert_eq!(first(&parameters(197)), None);
    assert_eq!(
        first(&parameters(198)).as_deref(),
        Some("a.toml:29: an offering has at most 200 parameters")
    );
    let resources = |count: usize| {
        repeated(count, |index| {
            format!("[resources.r{index}]\ntype = \"AWS::SNS::Topic\"\n")
        })
    };
    assert_eq!(first(&resources(197)), None);
    assert_eq!(
        first(&resources(198)).as_deref(),
        Some("a.toml:25: an offering has at most 200 resources")
    );
    let plans = |count: usize| {
        repeated(count, |index| {
            format!("[[plans]]\nid = \"q{index}\"\nname = \"q{index}\"\ndescription = \"q\"\n")
        })
    };
    assert_eq!(first(&plans(98)), None);
    assert_eq!(
        first(&plans(99)).as_deref(),
        Some("a.toml:435: an offering has at most 100 plans")
    );
    let texts = |count: usize| format!("\"{}\"", "((region))-".repeat(count));
    let of_parts = |count: usize| RIGHT.replace("\"((bucket/Arn))\"", &texts(count));
    assert_eq!(first(&of_parts(50)), None);
    assert_eq!(
        first(&of_parts(51)).as_deref(),
        Some("a.toml:11: a text has at most 100 parts: names, and what is between them")
    );
    let comment = |size: usize| format!("{RIGHT}#{}", "x".repeat(size - RIGHT.len() - 1));
    assert_eq!(first(&comment(1 << 20)), None);
    assert_eq!(
        first(&comment((1 << 20) + 1)).as_deref(),
        Some("a.toml:1: the file is larger than 1048576 bytes; split it")
    );
    let nested = |depth: usize| {
        let value = format!("metadata.x = {}1{}", "[".repeat(depth), "]".repeat(depth));
        RIGHT.replace(
            "description = \"Small\"",
            &format!("description = \"Small\"\n{value}"),
        )
    };
    assert_eq!(first(&nested(60)), None);
    assert_eq!(
        first(&nested(61)).as_deref(),
        Some("a.toml:36: this is nested more than 64 deep")
    );
    assert!(first(&nested(100_000)).is_some());
    // A policy takes any members.
    let place = |depth: usize| {
        let place = "/x".repeat(depth - 1);
        RIGHT
            .replace("role/Path", &format!("topic/DataProtectionPolicy{place}"))
            .replace("[binding.parameters.path]", "[parameters.path]")
    };
    assert_eq!(first(&place(64)), None);
    assert_eq!(
        first(&place(65)).as_deref(),
        Some("a.toml:30: the place is more than 64 deep")
    );
    let options = |count: usize| {
        let options: Vec<String> = (0..count)
            .map(|index| format!("\"option {index:05}\""))
            .collect();
        RIGHT.replace(
            "[parameters.label]\ntype = \"string\"",
            &format!(
                "[parameters.label]\ntype = \"string\"\nenum = [{}]",
                options.join(", ")
            ),
        )
    };
    assert_eq!(first(&options(3_000)), None);
    assert_eq!(
        first(&options(5_000)).as_deref(),
        Some(
            "a.toml:13: the schemas of the parameters are larger than 64000 bytes; let there be fewer, or places deeper in the resources"
        )
    );
    let files: Vec<(String, String)> = (0..201)
        .map(|index| (format!("{index:03}.toml"), String::new()))
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    assert_eq!(
        told(&files),
        ["200.toml:1: a broker has at most 200 offerings"]
    );
}
