#!/usr/bin/env bash
# Deleting a group deletes the resources it owns, the subnet before its VPC, and forgets the others.
. "$(dirname "$0")/client.sh"

group=$groups/example-deletion
references=$group/providers

call 200 PUT "$group?$version" '{"location":"global"}'
call 201 POST "$aws/AWS.EC2/VPC/:put" '{"trackedBy":"'$references/AWS.EC2/VPC:reference/main'","properties":{"CidrBlock":"10.4.0.0/16"}}'
follow
vpc=$(field resourceId)
call 201 POST "$aws/AWS.EC2/Subnet/:put" \
    '{"trackedBy":"'$references/AWS.EC2/Subnet:reference/main'","properties":{"VpcId":"'${vpc##*/}'","CidrBlock":"10.4.1.0/24"}}'
follow
subnet=$(field resourceId)
call 201 PUT "$aws/AWS.Logs/LogGroup/not-owned" '{"properties":{"RetentionInDays":7}}'
follow
call 201 POST "$aws/AWS.Logs/LogGroup/:import" \
    '{"trackedBy":"'$references/AWS.Logs/LogGroup:reference/logs'","primaryIdentifier":"not-owned"}'
call 200 GET "$group/resources?$version"

echo '== DELETE of the group. It waits for a while before it answers 202; respond-async answers at once'
call 202 DELETE "$group?$version" '' --header 'Prefer: respond-async'
follow
call 404 GET "$group?$version"
eventually 404 GET "$subnet"
eventually 404 GET "$vpc"

echo '== The imported log group still exists'
eventually 200 GET "$aws/AWS.Logs/LogGroup/not-owned"
call 202 DELETE "$aws/AWS.Logs/LogGroup/not-owned"
follow
