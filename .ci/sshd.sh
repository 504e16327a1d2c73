#!/usr/bin/env bash
# Makes sure that what the tests start is there: OpenSSH's server, tools and dummy of a FIDO key; setpriv and strace. Installs it where it can; never skips.
set -euo pipefail

missing() {
  [ -x /usr/sbin/sshd ] || echo sshd
  command -v ssh >/dev/null || echo ssh
  command -v ssh-keygen >/dev/null || echo ssh-keygen
  [ -e /usr/lib/openssh/regress/misc/sk-dummy/sk-dummy.so ] || echo sk-dummy.so
  command -v setpriv >/dev/null || echo setpriv
  command -v strace >/dev/null || echo strace
}

[ -n "$(missing)" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing what is missing: $(missing | xargs)" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 || echo 'apt-get update failed; trying with the lists there are' >&2
  apt-get install -y -qq --no-install-recommends openssh-server openssh-client openssh-tests util-linux strace >/dev/null || true
fi

[ -n "$(missing)" ] || exit 0

cat >&2 <<TEXT
The tests need OpenSSH, and this is missing: $(missing | xargs)
  Debian, Ubuntu:  sudo apt-get install openssh-server openssh-client openssh-tests util-linux strace
  Fedora, RHEL:    sudo dnf install openssh-server openssh-clients
  Alpine:          sudo apk add openssh
No service has to run: each test starts a private sshd on a free port.
TEXT
exit 1
