#!/usr/bin/env bash
# A set: resources that refer to each other, validated, previewed and applied at once.
. "$(dirname "$0")/client.sh"

group=$groups/example-apply
scope=${aws%/providers}
call 200 PUT "$group?$version" '{"location":"global"}'

set='{"scope":"'$scope'","resources":[
    {"alias":"sub","type":"AWS.EC2/Subnet","properties":{"VpcId":{"$reference":"net#/VpcId"},"CidrBlock":"10.0.1.0/24",
        "Tags":[{"Key":"of","Value":{"$concat":["vpc ",{"$reference":"net"}]}}]}},
    {"alias":"net","type":"AWS.EC2/VPC","properties":{"CidrBlock":"10.0.0.0/16"}}],
    "outputs":{"subnet":{"$reference":"sub#/SubnetId"}}}'

echo '== Is it valid? AWS is not called'
call 200 POST "$group/:validate" "$set"
call 400 POST "$group/:validate" '{"scope":"'$scope'","resources":[
    {"alias":"sub","type":"AWS.EC2/Subnet","properties":{"VpcId":{"$reference":"net#/Vpc"}}},
    {"alias":"net","type":"AWS.EC2/VPC","properties":{"CidrBlock":5}}]}'
says '"target":"/resources/0/properties/VpcId"' '"target":"/resources/1/properties/CidrBlock"'

echo '== What would it do? AWS is only read'
call 200 POST "$group/:whatIf" "$set"
says '"status":"Succeeded"' '"changeType":"Create"' '"VpcId":{"$unknown":true}'

echo '== The VPC comes first, and the subnet gets its id'
call 202 POST "$group/:apply" "$set"
follow
says '"percentComplete":100' '"outputs":{"subnet":"subnet-'

echo '== Again: nothing to do'
call 200 POST "$group/:apply" "$set"
says '"status":"Unchanged"'
call 200 POST "$group/:whatIf" "$set"
says '"changeType":"NoChange"'

echo '== What is not listed is deleted'
call 202 POST "$group/:apply" '{"mode":"Complete","scope":"'$scope'","resources":[
    {"alias":"net","type":"AWS.EC2/VPC","properties":{"CidrBlock":"10.0.0.0/16"}}]}'
follow
call 404 GET "$group/providers/AWS.EC2/Subnet:reference/sub"

call 200 DELETE "$group?$version"
