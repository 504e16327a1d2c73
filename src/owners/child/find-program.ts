import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, isAbsolute, join } from 'node:path'
import { TunnelError } from '../../errors.ts'

/** Looked through after PATH, which a service may lack. */
const USUAL = ['/usr/local/bin', '/usr/bin', '/bin']

/** Whether it is there and may be run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Not there, or not for us: the same to whoever wants to run it.
    return false
  }
}

function onPath(name: string): string | undefined {
  const places = [...(process.env.PATH ?? '').split(delimiter).filter(isAbsolute), ...USUAL]
  return places.map((place) => join(place, name)).find(isProgram)
}

const INSTALL =
  'install it (Debian, Ubuntu and Alpine: openssh-client; Fedora: openssh-clients), or use transport `ssh2`, which needs nothing'

/** Absolute path of ssh: the option `sshPath`, else the first on PATH. @throws TunnelError `ERR_SSH_MISSING` */
export function findSsh(given: string | undefined): string {
  const found = given === undefined ? onPath('ssh') : isProgram(given) ? given : undefined
  if (found !== undefined) return found
  const what = given === undefined ? 'there is no `ssh` on PATH' : `\`sshPath\` (${given}) is not a program that can be run`
  throw missingSsh(what)
}

/** `ERR_SSH_MISSING`, with what to do. */
export function missingSsh(what: string, cause?: unknown): TunnelError {
  return new TunnelError('ERR_SSH_MISSING', `${what}: ${INSTALL}`, {
    ...(cause === undefined ? {} : { cause }),
    phase: 'connect',
  })
}

/**
 * Absolute path of util-linux's setpriv, which has a child killed when its parent dies; `undefined` where there is none. Busybox has a program of
 * that name that cannot.
 */
export function findSetpriv(): string | undefined {
  if (process.platform !== 'linux') return undefined
  const found = onPath('setpriv')
  return found !== undefined && !/busybox|toybox/.test(basename(realpathSync(found))) ? found : undefined
}
