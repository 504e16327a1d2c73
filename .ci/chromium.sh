#!/usr/bin/env bash
# Makes sure that there is a Chromium for the tests of the inspector's page. Installs Debian's where it can; never skips.
set -euo pipefail
browser=${CHROMIUM:-/usr/bin/chromium}
[ -x "$browser" ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo 'installing chromium' >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 || echo 'apt-get update failed; trying with the lists there are' >&2
  apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null || true
fi
[ -x "$browser" ] && exit 0

cat >&2 <<TEXT
The tests of the inspector's page need Chromium at $browser:
  Debian:  sudo apt-get install chromium
or name another by CHROMIUM=/path/to/chromium.
TEXT
exit 1
