#!/usr/bin/env bash
# Replacement: a change of some properties needs a new resource. ucp replaces a resource only on request.
. "$(dirname "$0")/client.sh"

group=$groups/example-replacement
vpcs=$aws/AWS.EC2/VPC
alias=$group/providers/AWS.EC2/VPC:reference/main
call 200 PUT "$group?$version" '{"location":"global"}'
call 201 POST "$vpcs/:put" '{"trackedBy":"'$alias'","properties":{"CidrBlock":"10.2.0.0/16"}}'
follow
old=$(field resourceId)

echo '== Without a policy: an error that names the property'
call 409 POST "$vpcs/:put" '{"trackedBy":"'$alias'","properties":{"CidrBlock":"10.3.0.0/16"}}'
says RequiresReplacement /properties/CidrBlock

echo '== With a policy: createBeforeDelete creates the new VPC first; deleteBeforeCreate is the other order'
call 201 POST "$vpcs/:put" '{"trackedBy":"'$alias'","properties":{"CidrBlock":"10.3.0.0/16"},"replacementPolicy":"createBeforeDelete"}'
follow
new=$(field resourceId)
[ "$new" != "$old" ] || die "it is still $old"
call 404 GET "$old"
call 200 GET "$new"

call 200 DELETE "$group?$version"
