#!/usr/bin/env bash
# Leftovers: what ucp could not delete stays known, is deleted again, and can be forgotten. This needs deletes that AWS
# refuses. Start ucp with:
#   dev --simulator-fault '{"match":{"operation":"DeleteResource","typeName":"AWS::EC2::DHCPOptions"},"count":10,
#       "effect":{"kind":"fail","errorCode":"InvalidRequest","message":"It is in use."}}'
. "$(dirname "$0")/client.sh"

group=$groups/example-leftovers
options=$aws/AWS.EC2/DHCPOptions
alias=$group/providers/AWS.EC2/DHCPOptions:reference/main
call 200 PUT "$group?$version" '{"location":"global"}'
call 201 POST "$options/:put" '{"trackedBy":"'$alias'","properties":{"DomainName":"one.example"}}'
follow

# replace NAME: replaces the resource. The old one stays, after five tries to delete it.
replace() {
    call 201 POST "$options/:put" '{"trackedBy":"'$alias'","properties":{"DomainName":"'$1'"},"replacementPolicy":"createBeforeDelete"}'
    follow Failed
    says PartiallyApplied leftovers
}

echo '== A replacement whose old resource cannot be deleted: the message says where it is listed'
replace two.example
call 200 GET "$group/leftovers?$version"
first=$(field id)
resource=$(field resourceId)
says '"reason":"Undeleted"' '"nextTryAt"' 'It is in use.'
call 200 GET "$first?$version"
call 200 GET "$resource"

echo '== Another one, which is forgotten: the resource is left alone'
replace three.example
call 200 GET "$group/leftovers?$version&\$top=10"
second=$(grep -o '"id":"[^"]*/leftovers/[^"]*"' "$scratch/body" | cut -d '"' -f 4 | grep -vF "$first")
call 200 GET "$second?$version"
forgotten=$(field resourceId)
call 204 DELETE "$second?$version"
call 404 GET "$second?$version"
call 200 GET "$forgotten"

echo '== The first is deleted again, a minute after it was entered'
eventually 404 GET "$first?$version"
call 404 GET "$resource"

call 202 DELETE "$forgotten"
follow
call 200 DELETE "$group?$version"
