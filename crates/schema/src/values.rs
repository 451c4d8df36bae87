//! Judgement of single declared values, whatever else the resource has.

use std::collections::HashSet;

use serde_json::Value;
use ucp_model::{Baseline, json, pointer};

use crate::{Classes, Declaration, ResourceSchema, Violation, ViolationCode};

/// The keywords below which a schema holds only if the resource has other values, which AWS may show and nobody declares.
const CONDITIONAL: [&str; 4] = ["if", "then", "else", "dependencies"];

/// What is known of the resource that a declaration is about, without a look at it.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    /// There is none: it is certainly created.
    Absent,
    /// There may be one.
    Perhaps {
        /// What was last applied to it, if anything was.
        last: Option<&'a Baseline>,
        /// The [properties of the identifier](ResourceSchema::properties_of_identifier) that it is known by.
        named: Option<&'a Value>,
    },
}

impl ResourceSchema {
    /// Returns all that is wrong with a declaration, whatever AWS has: what [`Declaration::draft`] has `found`, and what is wrong with
    /// single values. If the resource is certainly created, also what is missing; the judge of a create tells that, and what may not be
    /// combined, if nothing else is wrong.
    pub fn all_wrong(
        &self,
        declaration: &Declaration,
        known: Known<'_>,
        mut found: Vec<Violation>,
    ) -> Vec<Violation> {
        let more = match known {
            Known::Absent if found.is_empty() => return found,
            Known::Absent => {
                let mut all = self.validate_model(declaration.properties());
                let of_values = [ViolationCode::MissingProperty, ViolationCode::InvalidValue];
                all.retain(|violation| of_values.contains(&violation.code));
                all
            }
            Known::Perhaps { last, named } => self.validate_values(declaration, last, named),
        };
        let told: HashSet<&Violation> = found.iter().collect();
        let of_other_type = found
            .iter()
            .filter(|it| it.code == ViolationCode::WrongType)
            .map(|it| it.pointer.as_str())
            .collect::<HashSet<&str>>();
        let is_new =
            |it: &Violation| !told.contains(it) && !of_other_type.contains(it.pointer.as_str());
        let more: Vec<Violation> = more.into_iter().filter(is_new).collect();
        found.extend(more);
        found
    }

    /// Returns which single declared values violate an enumeration, a pattern, a range or a length of a text, whatever AWS has. What may
    /// be missing, or not combined, the live resource decides, and what AWS alone sets is as AWS has set it.
    ///
    /// A value that was last applied at the same place is not among them: AWS has taken it, and a schema may lose a word. Neither is one
    /// that no read returns, if one was applied there: nobody knows whether it is another one. The same is true of the name that the
    /// resource is known by.
    fn validate_values(
        &self,
        declaration: &Declaration,
        last: Option<&Baseline>,
        named: Option<&Value>,
    ) -> Vec<Violation> {
        let declared = declaration.properties();
        let is_same = last.is_some_and(|last| last.declared == *declared);
        // Whoever has parsed the declaration has been told what takes too long.
        if is_same || self.takes_too_long(declared).is_some() {
            return Vec::new();
        }
        let mut found = self.violations_in_model(declared, |error| {
            let path = error.evaluation_path().as_str();
            is_single(error.instance()) && !self.is_conditional(path)
        });
        found.retain(|violation| {
            violation.code == ViolationCode::InvalidValue && !self.is_set_by_aws(violation)
        });
        if !found.is_empty() {
            let applied = Applied::of(last, named);
            found.retain(|violation| !applied.has(&violation.pointer, declared));
        }
        found
    }

    fn is_set_by_aws(&self, violation: &Violation) -> bool {
        let segments = violation.pointer.split('/').skip(1).map(pointer::unescape);
        let segments: Vec<String> = segments.collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        self.lists(Classes::READ_ONLY, &segments)
    }

    /// Returns whether a schema holds only for some resources, as far as the path to it tells. That of a pattern begins at the definition
    /// that has it, whoever refers to that.
    fn is_conditional(&self, path: &str) -> bool {
        let mut keywords = path.split('/');
        keywords.any(|keyword| CONDITIONAL.contains(&keyword))
            || path.starts_with("/definitions/") && self.has_conditions()
    }

    fn has_conditions(&self) -> bool {
        *self.has_conditions.get_or_init(|| {
            let mut found = false;
            json::walk(self.document(), |_, value| {
                let members = value.as_object();
                found |= members.is_some_and(|members| {
                    CONDITIONAL
                        .iter()
                        .any(|keyword| members.contains_key(*keyword))
                });
            });
            found
        })
    }
}

/// Returns whether a value has no others in it.
fn is_single(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// What is there, as far as it is known, by its place. Elements of lists may move.
struct Applied {
    values: HashSet<(String, String)>,
    /// The places of values that no read returns, with all that is in them.
    hidden: HashSet<String>,
}

impl Applied {
    fn of(last: Option<&Baseline>, named: Option<&Value>) -> Self {
        let mut values = HashSet::new();
        for known in last.map(|last| &last.declared).into_iter().chain(named) {
            json::walk(known, |pointer, value| {
                if is_single(value) {
                    let place = pointer::without_indexes(pointer.as_str());
                    values.insert((place, json::canonical(value)));
                }
            });
        }
        let hidden = last.into_iter().flat_map(|last| last.digests.keys());
        Self {
            values,
            hidden: hidden.map(|at| pointer::without_indexes(at)).collect(),
        }
    }

    /// Returns whether what is declared there is what is there, as far as anybody can tell.
    fn has(&self, at: &str, declared: &Value) -> bool {
        let place = pointer::without_indexes(at);
        let ends = place.match_indices('/').map(|(end, _)| end);
        let mut above = ends.skip(1).chain([place.len()]).map(|end| &place[..end]);
        if above.any(|above| self.hidden.contains(above)) {
            return true;
        }
        declared.pointer(at).is_some_and(|value| {
            let value = json::canonical(value);
            self.values.contains(&(place, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;
    use ucp_model::{Digest, TypeName};

    use super::*;
    use crate::Catalogue;

    fn schema(type_name: &str) -> std::sync::Arc<ResourceSchema> {
        let type_name = TypeName::from_cloudformation(type_name).unwrap();
        Catalogue::embedded().get(&type_name).unwrap()
    }

    fn refused(type_name: &str, declared: Value, last: Option<&Baseline>) -> Vec<String> {
        let known = Known::Perhaps { last, named: None };
        let schema = schema(type_name);
        let violations = schema.all_wrong(&Declaration::stored(declared), known, Vec::new());
        violations.into_iter().map(|found| found.pointer).collect()
    }

    fn applied(declared: Value) -> Baseline {
        Baseline {
            declared,
            ..Baseline::default()
        }
    }

    const LOG_GROUP: &str = "AWS::Logs::LogGroup";

    #[test]
    fn a_value_is_refused_whatever_else_is_there() {
        let declared = json!({"LogGroupName": "a b", "RetentionInDays": 8});
        let places = ["/LogGroupName", "/RetentionInDays"];
        assert_eq!(refused(LOG_GROUP, declared.clone(), None), places);
        let other = applied(json!({"LogGroupName": "a b", "RetentionInDays": 9}));
        assert_eq!(
            refused(LOG_GROUP, declared.clone(), Some(&other)),
            ["/RetentionInDays"]
        );
        let same = applied(declared.clone());
        assert_eq!(refused(LOG_GROUP, declared, Some(&same)), [""; 0]);
        // What it needs may be there.
        let part = json!({"InstanceTenancy": "default"});
        assert_eq!(refused("AWS::EC2::VPC", part, None), [""; 0]);
    }

    #[test]
    fn elements_of_lists_may_move() {
        let with = |ports: [i64; 2]| {
            let rule =
                |port| json!({"IpProtocol": "tcp", "FromPort": port, "CidrIp": "10.0.0.0/8"});
            json!({"SecurityGroupIngress": ports.map(rule)})
        };
        let (last, found) = (applied(with([-7, 80])), |ports, last| {
            refused("AWS::EC2::SecurityGroup", with(ports), last)
        });
        let place = |index: usize| format!("/SecurityGroupIngress/{index}/FromPort");
        assert_eq!(found([80, -7], None), [place(1)]);
        assert_eq!(found([80, -7], Some(&last)), [""; 0]);
        assert_eq!(found([-8, -7], Some(&last)), [place(0)]);
    }

    /// Nor is what AWS alone sets, and shows, and users send back.
    #[test]
    fn what_nobody_can_compare_is_not_refused() {
        let authority = "AWS::ACMPCA::CertificateAuthority";
        let declared = json!({"RevocationConfiguration": {"CrlConfiguration": {"Enabled": true, "CrlType": "NONE"}}});
        let at = "/RevocationConfiguration";
        let found = format!("{at}/CrlConfiguration/CrlType");
        assert_eq!(refused(authority, declared.clone(), None), [found]);
        let last = Baseline {
            digests: BTreeMap::from([(at.to_owned(), Digest::default())]),
            ..applied(json!({}))
        };
        assert_eq!(refused(authority, declared, Some(&last)), [""; 0]);
        let scraper = json!({"RoleArn": "arn:aws:iam::1:role/aws-service-role/x/y"});
        assert_eq!(refused("AWS::APS::Scraper", scraper, None), [""; 0]);
    }

    #[test]
    fn the_name_that_it_is_known_by_is_not_refused() {
        let declared = Declaration::stored(json!({"BucketName": "My_Logs"}));
        let bucket = schema("AWS::S3::Bucket");
        let count = |named: &Value| {
            let named = Some(named);
            let known = Known::Perhaps { last: None, named };
            bucket.all_wrong(&declared, known, Vec::new()).len()
        };
        assert_eq!(count(&json!({"BucketName": "My_Logs"})), 0);
        assert_eq!(count(&json!({"BucketName": "other"})), 1);
    }

    #[test]
    fn all_that_is_wrong_is_told_once() {
        let log_group = schema(LOG_GROUP);
        let declared = json!({"LogGroupName": "a b", "RetentionInDays": "x", "Nothing": 1});
        let told = |known| {
            let (declaration, found) = Declaration::draft(
                declared.as_object().cloned().unwrap(),
                &log_group,
                &BTreeMap::new(),
                None,
            );
            let all = log_group.all_wrong(&declaration, known, found).into_iter();
            let mut all: Vec<_> = all.map(|it| (it.pointer, it.code.as_str())).collect();
            all.sort();
            all
        };
        let expected = [
            ("/LogGroupName".to_owned(), "InvalidValue"),
            ("/Nothing".to_owned(), "UnknownProperty"),
            ("/RetentionInDays".to_owned(), "WrongType"),
        ];
        let (last, named) = (None, None);
        for known in [Known::Absent, Known::Perhaps { last, named }] {
            assert_eq!(told(known), expected);
        }
    }

    /// The pattern of a definition is reached by who refers to it under a condition, too.
    #[test]
    fn what_holds_under_a_condition_is_not_judged() {
        let schema = |rule: Value| {
            let mut schema = json!({
                "typeName": "Acme::Test::Thing", "description": "", "additionalProperties": false,
                "definitions": {"P": {"type": "string", "pattern": "^a$"}},
                "properties": {"Id": {"type": "string"}, "X": {"type": "string"}, "Y": {"$ref": "#/definitions/P"}},
                "primaryIdentifier": ["/properties/Id"],
            });
            schema
                .as_object_mut()
                .unwrap()
                .extend(rule.as_object().unwrap().clone());
            ResourceSchema::parse(&schema.to_string()).unwrap()
        };
        let found = |schema: &ResourceSchema, declared: Value| {
            let (last, named) = (None, None);
            let known = Known::Perhaps { last, named };
            schema
                .all_wrong(&Declaration::stored(declared), known, Vec::new())
                .len()
        };
        let plain = schema(json!({}));
        assert_eq!(found(&plain, json!({"Y": "b"})), 1);
        let then = json!({"properties": {"X": {"$ref": "#/definitions/P"}}});
        let conditional = schema(json!({"if": {"required": ["Id"]}, "then": then, "else": then}));
        assert_eq!(found(&conditional, json!({"X": "b"})), 0);
    }
}
