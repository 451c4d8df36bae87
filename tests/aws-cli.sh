#!/bin/sh
# Runs the unmodified `aws` command line against a simulator: tests/aws-cli.sh http://127.0.0.1:4566
set -eu

endpoint=${1:?"usage: aws-cli.sh ENDPOINT"}
account=210987654321
export AWS_ACCESS_KEY_ID=$account AWS_SECRET_ACCESS_KEY=any AWS_DEFAULT_REGION=eu-central-1
export AWS_PAGER='' AWS_MAX_ATTEMPTS=1
unset AWS_SESSION_TOKEN AWS_PROFILE || true

cloudcontrol() { aws --endpoint-url "$endpoint" --output json cloudcontrol "$@"; }
sts() { aws --endpoint-url "$endpoint" --output json sts "$@"; }
cloudformation() { aws --endpoint-url "$endpoint" --output json cloudformation "$@"; }

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# check WHAT ACTUAL EXPECTED
check() {
    [ "$2" = "$3" ] || fail "$1: expected '$3', got '$2'"
    echo "ok: $1"
}

# member EXPRESSION: reads JSON into `it` and prints the value of a Python expression.
member() {
    python3 -c 'import json, sys; it = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}

# finish WHAT REPLY: waits for the request of a reply to succeed and prints its last progress event.
finish() {
    token=$(echo "$2" | member 'it["ProgressEvent"]["RequestToken"]')
    cloudcontrol wait resource-request-success --request-token "$token" || fail "$1 did not succeed"
    cloudcontrol get-resource-request-status --request-token "$token"
}

# refused WHAT EXCEPTION COMMAND…
refused() {
    what=$1 exception=$2
    shift 2
    if message=$("$@" 2>&1); then fail "$what was not refused"; fi
    case $message in
    *"($exception)"*) echo "ok: $what" ;;
    *) fail "$what: expected $exception, got: $message" ;;
    esac
}

# A unique name, so that the script can be run again with the same simulator.
group="cli/$$"

event=$(finish 'create of a VPC' "$(cloudcontrol create-resource --type-name AWS::EC2::VPC \
    --desired-state '{"CidrBlock":"10.0.0.0/16","Tags":[{"Key":"a","Value":"1"}]}')")
vpc=$(echo "$event" | member 'it["ProgressEvent"]["Identifier"]')
case $vpc in vpc-?????????????????) echo "ok: $vpc" ;; *) fail "not a VPC id: $vpc" ;; esac

reply=$(cloudcontrol create-resource --type-name AWS::Logs::LogGroup --client-token "create-$$" \
    --desired-state "{\"LogGroupName\":\"$group\",\"RetentionInDays\":7}")
first=$(echo "$reply" | member 'it["ProgressEvent"]["RequestToken"]')
repeated=$(cloudcontrol create-resource --type-name AWS::Logs::LogGroup --client-token "create-$$" \
    --desired-state "{\"LogGroupName\":\"$group\",\"RetentionInDays\":7}")
check 'a client token repeats the request' "$(echo "$repeated" | member 'it["ProgressEvent"]["RequestToken"]')" "$first"
refused 'a client token for something else' ClientTokenConflictException \
    cloudcontrol create-resource --type-name AWS::EC2::VPC --client-token "create-$$" --desired-state '{}'
event=$(finish 'create of a log group' "$reply")
check 'identifier' "$(echo "$event" | member 'it["ProgressEvent"]["Identifier"]')" "$group"

live=$(cloudcontrol get-resource --type-name AWS::Logs::LogGroup --identifier "$group")
check 'get-resource' "$(echo "$live" | member 'json.loads(it["ResourceDescription"]["Properties"])["RetentionInDays"]')" 7
check 'arn' "$(echo "$live" | member 'json.loads(it["ResourceDescription"]["Properties"])["Arn"]')" \
    "arn:aws:logs:eu-central-1:$account:log-group:$group:*"

listed=$(cloudcontrol list-resources --type-name AWS::EC2::VPC --page-size 1)
check 'list-resources' "$(echo "$listed" | member "'$vpc' in [each['Identifier'] for each in it['ResourceDescriptions']]")" True

finish 'update' "$(cloudcontrol update-resource --type-name AWS::Logs::LogGroup --identifier "$group" \
    --patch-document '[{"op":"replace","path":"/RetentionInDays","value":14}]')" >/dev/null
live=$(cloudcontrol get-resource --type-name AWS::Logs::LogGroup --identifier "$group")
check 'update-resource' "$(echo "$live" | member 'json.loads(it["ResourceDescription"]["Properties"])["RetentionInDays"]')" 14

refused 'a create-only property' NotUpdatableException \
    cloudcontrol update-resource --type-name AWS::EC2::VPC --identifier "$vpc" \
    --patch-document '[{"op":"replace","path":"/CidrBlock","value":"10.1.0.0/16"}]'
refused 'an unknown type' TypeNotFoundException cloudcontrol create-resource --type-name AWS::No::Such --desired-state '{}'
refused 'an unknown request' RequestTokenNotFoundException \
    cloudcontrol get-resource-request-status --request-token 00000000-0000-4000-8000-000000000000

refused 'a bad document' ValidationException \
    cloudcontrol create-resource --type-name AWS::EC2::VPC --desired-state '{"CidrBlock":10}'

# An update with an empty patch never ends by itself, so there is time to cancel it.
reply=$(cloudcontrol update-resource --type-name AWS::Logs::LogGroup --identifier "$group" --patch-document '[]')
token=$(echo "$reply" | member 'it["ProgressEvent"]["RequestToken"]')
refused 'a change of a busy resource' ConcurrentOperationException \
    cloudcontrol delete-resource --type-name AWS::Logs::LogGroup --identifier "$group"
event=$(cloudcontrol cancel-resource-request --request-token "$token")
check 'cancel-resource-request' "$(echo "$event" | member 'it["ProgressEvent"]["OperationStatus"]')" CANCEL_IN_PROGRESS
left=60
status=CANCEL_IN_PROGRESS
while [ "$status" = CANCEL_IN_PROGRESS ] && [ "$left" -gt 0 ]; do
    left=$((left - 1))
    status=$(cloudcontrol get-resource-request-status --request-token "$token" | member 'it["ProgressEvent"]["OperationStatus"]')
done
check 'the cancelled request' "$status" CANCEL_COMPLETE

for resource in "AWS::Logs::LogGroup $group" "AWS::EC2::VPC $vpc"; do
    finish "delete of $resource" "$(cloudcontrol delete-resource --type-name "${resource% *}" --identifier "${resource#* }")" >/dev/null
    refused "$resource is gone" ResourceNotFoundException \
        cloudcontrol get-resource --type-name "${resource% *}" --identifier "${resource#* }"
done

requests=$(cloudcontrol list-resource-requests --max-items 2 \
    --resource-request-status-filter Operations=DELETE,OperationStatuses=SUCCESS)
check 'list-resource-requests' \
    "$(echo "$requests" | member '[each["Identifier"] for each in it["ResourceRequestStatusSummaries"]]')" "['$vpc', '$group']"

described=$(cloudformation describe-type --type RESOURCE --type-name AWS::EC2::VPC)
check 'describe-type' "$(echo "$described" | member 'json.loads(it["Schema"])["typeName"], it["ProvisioningType"]')" \
    "('AWS::EC2::VPC', 'FULLY_MUTABLE')"
refused 'an unknown type' TypeNotFoundException cloudformation describe-type --type RESOURCE --type-name AWS::No::Such

types=$(cloudformation list-types --visibility PUBLIC --type RESOURCE --page-size 50 --filters TypeNamePrefix=AWS::EC2::VPC)
check 'list-types' "$(echo "$types" | member '"AWS::EC2::VPC" in [each["TypeName"] for each in it["TypeSummaries"]]')" True
types=$(cloudformation list-types --visibility PUBLIC --type RESOURCE --provisioning-type NON_PROVISIONABLE)
check 'types without handlers' "$(echo "$types" | member 'len(it["TypeSummaries"])')" 159

check 'get-caller-identity' "$(sts get-caller-identity | member 'it["Account"]')" "$account"
role=arn:aws:iam::333333333333:role/guest
refused 'what is no role' ValidationError sts assume-role --role-arn arn:aws:iam::333333333333:user/guest --role-session-name cli
token=$(sts assume-role-with-web-identity --role-arn "$role" --role-session-name cli --web-identity-token token)
check 'assume-role-with-web-identity' "$(echo "$token" | member 'it["AssumedRoleUser"]["Arn"]')" \
    'arn:aws:sts::333333333333:assumed-role/guest/cli'
session=$(sts assume-role --role-arn "$role" --role-session-name cli)
AWS_ACCESS_KEY_ID=$(echo "$session" | member 'it["Credentials"]["AccessKeyId"]')
AWS_SECRET_ACCESS_KEY=$(echo "$session" | member 'it["Credentials"]["SecretAccessKey"]')
AWS_SESSION_TOKEN=$(echo "$session" | member 'it["Credentials"]["SessionToken"]')
export AWS_SESSION_TOKEN
check 'an assumed role' "$(sts get-caller-identity | member 'it["Account"]')" 333333333333

echo 'all as AWS would have it'
