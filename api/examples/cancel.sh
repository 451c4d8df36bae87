#!/usr/bin/env bash
# Cancel: asks AWS to cancel an operation in progress. It ends as Canceled only if AWS confirms.
. "$(dirname "$0")/client.sh"

group=$groups/example-cancel
gateways=$aws/AWS.EC2/InternetGateway
alias=$group/providers/AWS.EC2/InternetGateway:reference/main
call 200 PUT "$group?$version" '{"location":"global"}'

echo '== Start a create, and cancel it'
call 201 POST "$gateways/:put" '{"trackedBy":"'$alias'"}'
operation=$(header Azure-AsyncOperation)
call 202 POST "$operation/:cancel"
follow Canceled

echo '== The result of an operation does not change'
call 409 POST "$operation/:cancel"

echo '== No resource is left, and the group lists the canceled operation'
call 404 POST "$gateways/:get" '{"trackedBy":"'$alias'"}'
call 200 GET "$group/operations?$version&status=Canceled"
says "${operation##*/}"
call 200 DELETE "$group?$version"
