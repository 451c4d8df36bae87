#!/usr/bin/env bash
# Role assignments: owners give others roles over what they own, and take them away.
. "$(dirname "$0")/client.sh"

assignments=/planes/radius/local/providers/System.Resources/roleAssignments
group=$groups/example-roles
call 200 PUT "$group?$version" '{"location":"global"}'

echo '== Give a group a role over a resource group and over an AWS account'
role='{"properties":{"group":"net","role":"contributor","scopes":["'$group'","/planes/aws/aws/accounts/'$AWS_ACCOUNT'"]}}'
call 201 PUT "$assignments/example?$version" "$role"
says createdBy
etag=$(header ETag)

echo '== The same again changes nothing'
call 200 PUT "$assignments/example?$version" "$role"
[ "$(header ETag)" = "$etag" ] || die 'it was written again'

echo '== What is wrong is told at once'
call 400 PUT "$assignments/example?$version" '{"properties":{"user":"bob","role":"king","scopes":["/planets"]}}'
says '$.properties.role' '$.properties.scopes[0]'

echo '== Replace it, unless somebody else has'
call 412 PUT "$assignments/example?$version" "$role" --header 'If-Match: "another"'
call 200 PUT "$assignments/example?$version" "${role/contributor/reader}" --header "If-Match: $etag"
call 200 GET "$assignments?$version"
says '"role":"reader"'

echo '== With the resource group, the role over it is gone'
call 200 DELETE "$group?$version"
call 200 GET "$assignments/example?$version"
silent example-roles

echo '== Take it away'
call 200 DELETE "$assignments/example?$version"
call 204 DELETE "$assignments/example?$version"
