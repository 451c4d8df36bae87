#!/usr/bin/env bash
# The story of one VPC: made by a put, left alone by the same put again, changed by another, deleted.
# Needs bash, curl and jq, and a running ucp; `cargo run --release -- dev` starts one.
set -euo pipefail

: "${UCP_URL:=http://127.0.0.1:8787}"
: "${AWS_ACCOUNT:=123456789012}" "${AWS_REGION:=us-west-2}"
api_version=2023-10-01-preview
group_id=/planes/radius/local/resourceGroups/first-vpc
group="$UCP_URL$group_id?api-version=$api_version"
vpcs="$UCP_URL/planes/aws/aws/accounts/$AWS_ACCOUNT/regions/$AWS_REGION/providers/AWS.EC2/VPC"
polls_max=120

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

die() {
    echo "first-vpc.sh: $*" >&2
    exit 1
}

# call METHOD URL [BODY]: sets `status`; the body is in $scratch/body, the headers are in $scratch/headers.
call() {
    local arguments=(--silent --show-error --max-time 60 --request "$1"
        --dump-header "$scratch/headers" --output "$scratch/body" --write-out '%{http_code}')
    if [ $# -gt 2 ]; then
        arguments+=(--header 'Content-Type: application/json' --data "$3")
    fi
    status=$(curl "${arguments[@]}" "$2") || die "cannot reach $2"
    echo "$1 ${2#"$UCP_URL"} -> $status"
    case $status in 2*) ;; *) die "refused: $(cat "$scratch/body")" ;; esac
}

header() { tr -d '\r' <"$scratch/headers" | sed -n "s/^$1: //ip"; }

# Follows the operation that the last call began, if it began one, until it has ended.
follow() {
    local url seconds state
    url=$(header azure-asyncoperation)
    [ -n "$url" ] || return 0
    for ((poll = 0; poll < polls_max; poll++)); do
        seconds=$(header retry-after)
        sleep "${seconds:-1}"
        call GET "$url"
        state=$(jq --raw-output .status "$scratch/body")
        echo "  $state"
        case $state in
        Succeeded) return 0 ;;
        Failed | Canceled) die "the operation ended: $(cat "$scratch/body")" ;;
        esac
    done
    die "the operation did not end within $polls_max polls"
}

# act ACTION PROPERTIES: a put or delete of the VPC under the alias `main`, followed to its end.
act() {
    local body
    body=$(jq --null-input --compact-output --arg group "$group_id" --argjson properties "$2" \
        '{alias: "main", trackedBy: "\($group)/providers/AWS.EC2/VPC:reference/main", properties: $properties}')
    call POST "$vpcs/:$1" "$body"
    local answer=$status
    follow
    status=$answer
}

# Prints the VPCs that the group tracks.
tracked() {
    call GET "$group"
    names=$(jq --raw-output '[.resources[]?.mapsTo.primaryIdentifier] | join(" ")' "$scratch/body")
    echo "  tracked: ${names:-nothing}"
}

echo '== A resource group'
call PUT "$group" '{"location": "global"}'

echo '== A VPC in it'
act put '{"CidrBlock": "10.0.0.0/16"}'
tracked
first=$names

echo '== The same again: nothing to do'
act put '{"CidrBlock": "10.0.0.0/16"}'
[ "$status" = 200 ] || die "expected 200, got $status"
tracked
[ "$names" = "$first" ] || die "expected $first, found $names"

echo '== A change: an update of the same VPC'
act put '{"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false}'
tracked
[ "$names" = "$first" ] || die "expected $first, found $names"

echo '== Gone again'
act delete '{}'
tracked
[ -z "$names" ] || die "still tracked: $names"
