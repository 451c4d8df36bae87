# What the examples share: one request, and how an operation is followed to its end. Needs bash and curl, and a running
# ucp; `cargo run --locked -- dev` starts one. Each example is run by itself: api/examples/first-vpc.sh
set -euo pipefail

: "${UCP_URL:=http://127.0.0.1:8787}"
: "${AWS_ACCOUNT:=123456789012}" "${AWS_REGION:=us-west-2}"
# Planes, resource groups and credentials ask for it; AWS resources and operations do not.
version='api-version=2023-10-01-preview'
# Where AWS resources are, in this account and region.
aws=/planes/aws/aws/accounts/$AWS_ACCOUNT/regions/$AWS_REGION/providers
# Where resource groups are.
groups=/planes/radius/local/resourceGroups
polls_max=120

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# call STATUS METHOD URL [BODY [CURL-OPTION…]]: sends a request that has to be answered with STATUS. The URL may be a path.
# The reply's body is in $scratch/body then, its headers are in $scratch/headers.
call() {
    local expected=$1 method=$2 url=$3 body=${4:-}
    shift $(($# < 4 ? $# : 4))
    local arguments=(--silent --show-error --max-time 90 --request "$method"
        --dump-header "$scratch/headers" --output "$scratch/body" --write-out '%{http_code}')
    [ -z "$body" ] || arguments+=(--header 'Content-Type: application/json' --data "$body")
    case $url in /*) url=$UCP_URL$url ;; esac
    : >"$scratch/body"
    echo "> $method ${url#"$UCP_URL"} $body $*"
    status=$(curl "${arguments[@]}" "$@" "$url") || die "cannot reach $url"
    echo "< $status $(cat "$scratch/body")"
    [ "$status" = "$expected" ] || die "$method $url: expected $expected, got $status"
}

# header NAME: a header of the last reply.
header() { tr -d '\r' <"$scratch/headers" | sed -n "s/^$1: //ip"; }

# field NAME: the first text of that name in the last reply. (With jq it would be `jq -r .name`.)
field() { grep -o "\"$1\":\"[^\"]*\"" "$scratch/body" | head -n 1 | cut -d '"' -f 4; }

# says TEXT…: the last reply has to hold each of them.
says() {
    local text
    for text in "$@"; do
        grep -qF -- "$text" "$scratch/body" || die "the reply does not say $text"
    done
}

# silent TEXT: the last reply must not hold it.
silent() { ! grep -qF -- "$1" "$scratch/body" || die "the reply says $1"; }

# follow [STATE]: polls what the last request began until it has ended, as Succeeded unless another STATE is given. The
# status is in $scratch/body then.
follow() {
    local expected=${1:-Succeeded} url state
    url=$(header Azure-AsyncOperation)
    [ -n "$url" ] || die 'there is nothing to follow'
    for ((poll = 0; poll < polls_max; poll++)); do
        sleep "$(header Retry-After)"
        call 200 GET "$url"
        state=$(field status)
        case $state in
        "$expected") return 0 ;;
        Succeeded | Failed | Canceled) die "expected $expected, the operation ended $state" ;;
        esac
    done
    die "the operation did not end within $polls_max polls"
}
