import { TunnelError, type TunnelErrorCode } from '../../errors.ts'

/** What one check came to. */
export interface Outcome {
  readonly target: string
  readonly label: string | undefined
  readonly ok: boolean
  readonly latencyMillis: number
  readonly status: number | undefined
  readonly code: TunnelErrorCode | 'HTTP' | undefined
  readonly phase: string | undefined
  /** `user@host:port` of the jump that failed. */
  readonly hop: string | undefined
  /** What happened, in a sentence. */
  readonly message: string
  /** What to do next; empty when there is nothing. */
  readonly advice: string
}

const ADVICE: Partial<Record<TunnelErrorCode, string>> = {
  ERR_AUTH:
    'Is the user name right, and the public key in its ~/.ssh/authorized_keys? Name a key with --identity, or use --agent.',
  ERR_KEY_FORMAT: 'Give another --identity, or put the key into an agent (ssh-add) and use --agent.',
  ERR_AGENT: 'Start an agent (eval "$(ssh-agent)"; ssh-add), or name a key with --identity.',
  ERR_DNS: 'Check the name, or give the address.',
  ERR_REFUSED: 'Nothing listens there: check the port, and that sshd runs.',
  ERR_UNREACHABLE: 'Check the route and the firewall; a host behind a bastion needs --jump.',
  ERR_OPEN_TIMEOUT: 'The host is down, or something swallows the packets; allow more time with --timeout.',
  ERR_ACQUIRE_TIMEOUT: 'The host is down, or something swallows the packets; allow more time with --timeout.',
  ERR_RESET: 'Too many logins at once (MaxStartups), a ban (fail2ban) or a firewall; try later, or with a smaller --concurrency.',
  ERR_PROTOCOL: 'Check the port: what answers there is not an SSH server.',
  ERR_KEX: 'The server is too old for what is offered here: update it.',
  ERR_CHANNEL_REFUSED: 'The SSH part works. Nothing answers at --to on the host: is the service running, and on that address?',
  ERR_CHANNEL_TIMEOUT: 'The SSH part works, but the host did not connect to --to in time.',
  ERR_PROHIBITED: 'The SSH part works, but its server forbids forwarding there (AllowTcpForwarding, PermitOpen).',
  ERR_LOST: 'The connection broke in the middle of the check; try again.',
}

/** What to do about an error, in the words of the command line. */
export function adviceOn(error: unknown): string {
  if (!TunnelError.is(error)) return 'The SSH part works; see the service on the host.'
  const { hop } = error
  if (hop === undefined) return adviceOnHost(error)
  if (error.code === 'ERR_PROHIBITED') return `The jump ${hop} forbids forwarding to the host (AllowTcpForwarding, PermitOpen).`
  const advice = adviceOnHost(error)
  return advice === '' ? '' : `The jump ${hop} is what fails. ${advice}`
}

function adviceOnHost(error: TunnelError): string {
  if (error.code !== 'ERR_HOST_KEY') return ADVICE[error.code] ?? ''
  const shown = [...error.message.matchAll(/SHA256:[A-Za-z0-9+/]{43}/g)].at(-1)?.[0]
  if (shown === undefined) return 'Compare the key with the machine itself, then pin it with --host-key.'
  return `If that is the machine you mean (on it: ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), accept it with --host-key ${shown}`
}
