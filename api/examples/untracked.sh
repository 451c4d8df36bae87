#!/usr/bin/env bash
# Without an alias ucp remembers nothing: each put of a resource that AWS names creates another one.
. "$(dirname "$0")/client.sh"

vpcs=$aws/AWS.EC2/VPC
logs=$aws/AWS.Logs/LogGroup

echo '== Two puts, two VPCs'
call 201 POST "$vpcs/:put" '{"properties":{"CidrBlock":"10.1.0.0/16"}}'
follow
first=$(field resourceId)
call 201 POST "$vpcs/:put" '{"properties":{"CidrBlock":"10.1.0.0/16"}}'
follow
second=$(field resourceId)
[ "$first" != "$second" ] || die "both are $first"

echo '== The properties contain the name of a log group, so the second put finds the first log group'
call 201 POST "$logs/:put" '{"properties":{"LogGroupName":"untracked-example","RetentionInDays":7}}'
follow
call 200 POST "$logs/:put" '{"properties":{"LogGroupName":"untracked-example","RetentionInDays":7}}'
call 200 POST "$logs/:get" '{"properties":{"LogGroupName":"untracked-example"}}'
says '"RetentionInDays":7'

echo '== Delete'
call 202 POST "$logs/:delete" '{"properties":{"LogGroupName":"untracked-example"}}'
follow
call 202 DELETE "$first"
follow
call 202 DELETE "$second"
follow
