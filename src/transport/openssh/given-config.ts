import { readFile } from 'node:fs/promises'
import { TunnelError } from '../../errors.ts'
import { socketErrorCode } from '../../owners/tcp.ts'
import { shown } from '../../shown.ts'

/**
 * Keywords that add to what was said before instead of being overruled by it, and so would offer keys, open ports or read files that nobody has
 * asked for. `Match … exec` would run a command before anything else is known.
 */
const TAKEN_OUT: ReadonlySet<string> = new Set(
  'include identityfile certificatefile localforward remoteforward dynamicforward permitremoteopen sendenv setenv logverbose ignoreunknown'.split(
    ' ',
  ),
)
const NEVER = 'Match originalhost none.invalid'

function kept(line: string): string {
  const [, keyword = '', rest = ''] = /^\s*"?([A-Za-z0-9]+)"?(.*)$/.exec(line) ?? []
  const name = keyword.toLowerCase()
  if (TAKEN_OUT.has(name)) return ''
  // What depends on a command's outcome, or on passwords and sessions of others, never applies.
  return name === 'match' && /exec|localnetwork|command/i.test(rest) ? NEVER : line
}

/** The text of a config file that a target opts in to, without what it may not decide. Rejects with `ERR_INVALID_OPTION` or `ERR_LOCAL_LIMIT`. */
export async function givenConfig(path: string, signal: AbortSignal): Promise<string> {
  try {
    const text = await readFile(path, { encoding: 'utf8', signal })
    return text.replaceAll('\0', '').split('\n').map(kept).join('\n')
  } catch (cause) {
    signal.throwIfAborted()
    if (socketErrorCode(cause) === 'ERR_LOCAL_LIMIT')
      throw new TunnelError('ERR_LOCAL_LIMIT', `no descriptor is left to read ${shown(path)} with`, { cause, phase: 'connect' })
    throw new TunnelError('ERR_INVALID_OPTION', `\`openssh.configFile\` (${shown(path)}) cannot be read`, {
      cause,
      phase: 'connect',
    })
  }
}
