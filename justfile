# Common commands (https://just.systems). `just` without arguments lists them.

_list:
    @just --list --unsorted

# Runs everything on one machine, with a simulated AWS.
dev *flags:
    cargo run --locked -- dev {{ flags }}

# Runs all tests, or those of a package: just test -p ucp-model
test *flags='--workspace':
    cargo test --locked {{ flags }}

# Runs the unit tests, and the scenarios in memory.
quick:
    cargo test --locked --workspace -- --skip ::database --skip processes:: --skip matrix:: \
        --skip worlds::memory --skip worlds::sqlite --skip worlds::postgres \
        --skip postgres:: --skip pooled:: --skip sqlite::racing:: --skip sqlite::pairs::

# Runs the end-to-end tests whose names contain a text: just e2e puts::
e2e filter='':
    cargo test --locked --package ucp --test e2e -- {{ filter }}

# Formats the code.
fmt:
    cargo fmt --all

# Runs the lints of the compiler and clippy, as in .ci/run.
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Checks dependencies: licences, sources, layering, unused ones. Needs cargo-deny and cargo-shear.
deps:
    cargo deny --locked check bans licenses sources
    cargo shear --locked --deny-warnings

# Regenerates the OpenAPI document.
openapi:
    cargo run --locked -- openapi > api/openapi.json

# Regenerates the table of limits.
limits:
    cargo run --locked -- limits > docs/limits.md

# Builds and reports where the time goes.
timings *flags:
    cargo build --locked --timings {{ flags }}

# Runs all checks that a commit must pass.
ci:
    .ci/run

# Runs all tests that there are.
nightly:
    .ci/nightly
