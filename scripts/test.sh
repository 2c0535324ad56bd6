#!/usr/bin/env bash
# Everything that must hold before a change goes in: format, lints, tests.
# The same command on a laptop, on a fresh Debian machine with a Rust toolchain, and in CI.
# All steps share the dev profile, so nothing is built twice.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

started_at=$SECONDS

step() {
    printf '\n==> %s\n' "$*"
}

run() {
    step "$*"
    "$@"
}

# Prints the Debian packages of missing programs: a line is a program and the packages it comes in. Tests start a PostgreSQL of
# their own, in a directory of their own; the programs for it need not be on the PATH.
missing_packages() {
    local program package
    while read -r program package; do
        command -v "$program" >/dev/null || compgen -G "/usr/lib/postgresql/*/bin/$program" >/dev/null ||
            printf '%s\n' "$package"
    done <<'PROGRAMS'
cc gcc libc6-dev
initdb postgresql
PROGRAMS
}

install_missing() {
    local packages as_root=()
    packages=$(missing_packages)
    if [[ -z $packages ]]; then
        return
    fi
    packages=${packages//$'\n'/ }
    if ! command -v apt-get >/dev/null; then
        printf 'Please install first: %s\n' "$packages" >&2
        exit 1
    fi
    if [[ $EUID -ne 0 ]]; then
        if ! command -v sudo >/dev/null; then
            printf 'Please install first, as root: apt-get install %s\n' "$packages" >&2
            exit 1
        fi
        as_root=(sudo)
    fi
    export DEBIAN_FRONTEND=noninteractive
    run "${as_root[@]}" apt-get update --quiet
    # Word splitting is meant: one argument per package.
    # shellcheck disable=SC2086
    run "${as_root[@]}" apt-get install --quiet --yes --no-install-recommends $packages
}

# Runs a cargo subcommand, or says that the toolchain lacks it.
run_component() {
    local component=$1
    shift
    if cargo "$1" --version >/dev/null 2>&1; then
        run cargo "$@"
    else
        step "SKIPPED cargo $1: this toolchain has no $component (rustup component add $component)"
        skipped+=("cargo $1")
    fi
}

if ! command -v cargo >/dev/null; then
    printf 'Please install a Rust toolchain first: cargo is not on the PATH.\n' >&2
    exit 1
fi

skipped=()
install_missing
run_component rustfmt fmt --all --check
run_component clippy clippy --workspace --all-targets --locked -- -D warnings
run cargo test --workspace --locked

step "passed in $((SECONDS - started_at)) s"
if [[ ${#skipped[@]} -gt 0 ]]; then
    printf 'Skipped, because the toolchain lacks them: %s\n' "${skipped[*]}"
fi
