#!/usr/bin/env bash
# Makes sure that PostgreSQL's server is there, which one test starts for itself. Installs it where it can; never skips.
set -euo pipefail

missing() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || echo postgresql
}

[ -n "$(missing)" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo 'installing what is missing: postgresql' >&2
  export DEBIAN_FRONTEND=noninteractive
  # No cluster and no service of its own: the test makes one in a temporary directory.
  mkdir -p /etc/postgresql-common
  [ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
  apt-get update -qq >&2 || echo 'apt-get update failed; trying with the lists there are' >&2
  apt-get install -y -qq --no-install-recommends postgresql >/dev/null || true
fi

[ -n "$(missing)" ] || exit 0

cat >&2 <<TEXT
The tests need PostgreSQL's server (initdb, postgres), and it is missing:
  Debian, Ubuntu:  sudo apt-get install postgresql
  Fedora, RHEL:    sudo dnf install postgresql-server
  Alpine:          sudo apk add postgresql
No service has to run: the test starts a private one that listens on a unix socket alone.
TEXT
exit 1
