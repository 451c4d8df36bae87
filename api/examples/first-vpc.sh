#!/usr/bin/env bash
# The life of a VPC: created by a put, unchanged by the same put, updated by another, deleted.
. "$(dirname "$0")/client.sh"

group=$groups/first-vpc
vpcs=$aws/AWS.EC2/VPC
alias=$group/providers/AWS.EC2/VPC:reference/main

echo '== A resource group'
call 200 PUT "$group?$version" '{"location":"global"}'

echo '== A VPC under an alias: AWS assigns its name, ucp remembers it under the alias'
call 201 POST "$vpcs/:put" '{"alias":"main","trackedBy":"'$alias'","properties":{"CidrBlock":"10.0.0.0/16"}}'
follow
call 200 GET "$group?$version"
vpc=$(field primaryIdentifier)

echo '== The same put again: nothing to do, and no operation to follow'
eventually 200 POST "$vpcs/:put" '{"alias":"main","trackedBy":"'$alias'","properties":{"CidrBlock":"10.0.0.0/16"}}'
says "\"name\":\"$vpc\""

echo '== A changed put: an update of the same VPC'
call 201 POST "$vpcs/:put" '{"alias":"main","trackedBy":"'$alias'","properties":{"CidrBlock":"10.0.0.0/16","EnableDnsSupport":false}}'
follow
says "$vpc" '"EnableDnsSupport":false'

echo '== The live VPC, by alias'
call 200 POST "$vpcs/:get" '{"trackedBy":"'$alias'"}'
says "\"name\":\"$vpc\"" '"EnableDnsSupport":false'

echo '== Delete: the VPC is gone, and the alias is free'
call 202 POST "$vpcs/:delete" '{"trackedBy":"'$alias'"}'
follow
call 204 POST "$vpcs/:delete" '{"trackedBy":"'$alias'"}'
eventually 404 GET "$vpcs/$vpc"
call 200 DELETE "$group?$version"
