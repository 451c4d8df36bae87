//! What a scenario sees of the simulated AWS: the calls that it got, and the resources that it has.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::World;

impl World {
    /// Counts the calls to AWS of `operation`, such as `CreateResource`.
    pub fn calls(&self, operation: &str) -> usize {
        let log = serde_json::to_value(self.aws.log()).expect("the log is JSON");
        let entries = log.as_array().map(Vec::as_slice).unwrap_or_default();
        entries
            .iter()
            .filter(|entry| entry["operation"] == operation)
            .count()
    }

    /// Returns the calls to AWS, except for `DescribeType`.
    pub fn calls_on_resources(&self) -> Vec<Value> {
        let log = serde_json::to_value(self.aws.log()).expect("the log is JSON");
        let mut entries = log.as_array().cloned().unwrap_or_default();
        entries.retain(|entry| entry["operation"] != "DescribeType");
        entries
    }

    /// Counts the creates sent to AWS, without repetitions under the same client token.
    pub fn creates(&self) -> usize {
        let log = serde_json::to_value(self.aws.log()).expect("the log is JSON");
        let entries = log.as_array().map(Vec::as_slice).unwrap_or_default();
        let creates = entries
            .iter()
            .filter(|entry| entry["operation"] == "CreateResource");
        let tokens: BTreeSet<&str> = creates
            .filter_map(|entry| entry["clientToken"].as_str())
            .collect();
        tokens.len()
    }

    /// Returns the identifiers of the live AWS resources of a type such as `AWS::EC2::VPC`.
    pub fn live(&self, type_name: &str) -> Vec<String> {
        let resources = serde_json::to_value(self.aws.resources()).expect("the resources are JSON");
        let resources = resources.as_array().cloned().unwrap_or_default();
        let of_type = resources
            .iter()
            .filter(|resource| resource["typeName"] == type_name);
        of_type
            .filter_map(|resource| resource["identifier"].as_str().map(str::to_owned))
            .collect()
    }
}
