/** What each code means and what to do, in a sentence each; longer in docs/errors.md. */
const MEANINGS: Readonly<Record<string, readonly [meaning: string, remedy: string]>> = {
  ERR_ACQUIRE_TIMEOUT: ['No lease in time', 'See what the dial waits for: a place, or the host.'],
  ERR_OPEN_TIMEOUT: ['The host does not answer', 'It is down, or something swallows its packets.'],
  ERR_DNS: ['The name cannot be resolved', 'Check the name and this machine’s resolver.'],
  ERR_REFUSED: ['Connection refused', 'Nothing listens there. Is it the right port, and does sshd run?'],
  ERR_UNREACHABLE: ['No route to the host', 'Route and firewall; a private address needs a jump host.'],
  ERR_RESET: ['Closed before the login was done', 'MaxStartups, a ban (fail2ban) or a firewall. The server’s log says which.'],
  ERR_KEX: ['No algorithm in common', 'The server is too old for what is offered: update it.'],
  ERR_PROTOCOL: ['Does not speak SSH, or breaks its rules', 'Check the port. If it is the right one, do not trust that host.'],
  ERR_HOST_KEY: [
    'The host key is not the known one',
    'Compare it on the machine itself, make it known, then pool.reset(target). It is not dialled until then.',
  ],
  ERR_AUTH: ['Our key is not accepted', 'User name, authorized_keys and its permissions; the server’s log says which.'],
  ERR_KEY_FORMAT: ['The private key cannot be read', 'Wrong passphrase, unsupported type, or no key. Or use an agent.'],
  ERR_AGENT: ['The agent or loader failed', 'Start it; is SSH_AUTH_SOCK set for this process?'],
  ERR_CHANNEL_REFUSED: ['Nothing answers behind the host', 'The tunnel is well. Is the service running, and on that address?'],
  ERR_CHANNEL_TIMEOUT: [
    'The host opened no channel in time',
    'The tunnel is well; the service behind it, or its server, is slow.',
  ],
  ERR_PROHIBITED: ['The server forbids this forward', 'AllowTcpForwarding and PermitOpen on the server.'],
  ERR_FORWARD_FAILED: ['The forward could not be made', 'The message of the rejection says why.'],
  ERR_ADDRESS_IN_USE: ['The address is taken', 'Somebody listens there already.'],
  ERR_RUNTIME_DIRECTORY: ['The runtime directory cannot be used', 'It must exist and belong to this user or root.'],
  ERR_PATH_TOO_LONG: ['A socket path is too long', 'Choose a shorter runtimeDirectory.'],
  ERR_LOCAL_LIMIT: ['This machine is at a limit', 'Descriptors, memory or processes: see `warren doctor`.'],
  ERR_SSH_MISSING: ['There is no ssh here', 'Install OpenSSH’s client, or use the transport ssh2.'],
  ERR_LOST: ['The connection was lost', 'It is dialled again as soon as somebody asks.'],
  ERR_STUCK: ['Something will not die', 'It is forced again and again; the ledger below says what it is.'],
  ERR_POOL_CLOSED: ['The pool was closed', ''],
  ERR_ABORTED: ['Nobody waited for it any more', ''],
}

export const meaningOf = (code: string): string => MEANINGS[code]?.[0] ?? code
export const remedyOf = (code: string): string => MEANINGS[code]?.[1] ?? ''
