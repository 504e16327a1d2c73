import { homedir } from 'node:os'
import { findSetpriv, findSsh, isProgram } from '../../owners/child/find-program.ts'

/** What a dial runs. */
export interface Programs {
  readonly ssh: string
  readonly setpriv: string | undefined
  /** All of a child's environment: what is in ours is not ssh's business, least of all an agent. */
  readonly environment: Readonly<Record<string, string>>
}

function home(): string {
  try {
    return homedir()
  } catch {
    // An arbitrary uid in a container: ssh asks the password file by itself, and says so when it finds nothing.
    return '/'
  }
}

/** Finds ssh and setpriv, once; again when ssh has gone meanwhile. The result throws `ERR_SSH_MISSING`. */
export function programFinder(sshPath: string | undefined): () => Programs {
  let found: Programs | undefined
  return () => {
    if (found !== undefined && isProgram(found.ssh)) return found
    const environment = { PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin', HOME: home(), LANG: 'C' }
    found = { ssh: findSsh(sshPath), setpriv: findSetpriv(), environment }
    return found
  }
}
