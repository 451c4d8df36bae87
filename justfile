# The daily commands. https://just.systems; `just` alone lists them.

_list:
    @just --list --unsorted

# Everything on one machine, against a simulated AWS.
dev *flags:
    cargo run --locked -- dev {{ flags }}

# All tests, or those of a package: just test -p ucp-model
test *flags='--workspace':
    cargo test --locked {{ flags }}

# End-to-end tests whose names have a text: just e2e puts::
e2e filter='':
    cargo test --locked --package ucp --test e2e -- {{ filter }}

# Formats the code.
fmt:
    cargo fmt --all

# The compiler's and clippy's lints, as .ci/run has them.
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Dependencies: licences, sources, walls between crates, unused ones. Needs cargo-deny and cargo-shear.
deps:
    cargo deny --locked check bans licenses sources
    cargo shear --locked --deny-warnings

# Writes the OpenAPI document anew.
openapi:
    cargo run --locked -- openapi > api/openapi.json

# Where the time of a build goes.
timings *flags:
    cargo build --locked --timings {{ flags }}

# All that must pass before a commit lands.
ci:
    .ci/run
