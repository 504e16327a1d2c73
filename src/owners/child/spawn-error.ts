import { existsSync } from 'node:fs'
import { TunnelError } from '../../errors.ts'
import { missingSsh } from './find-program.ts'

const LIMITS: Readonly<Record<string, string>> = {
  EAGAIN: 'this user, or the container, has as many processes as it may (ulimit -u, pids.max)',
  EMFILE: 'this process has as many descriptors as it may (ulimit -n)',
  ENFILE: 'this machine has as many open files as it can',
  ENOMEM: 'there is no memory for another process',
}

/** Whether the operating system says that something is used up here. */
export function isLocalLimit(code: unknown): boolean {
  return typeof code === 'string' && Object.hasOwn(LIMITS, code)
}

/** Why a child could not be started: `ERR_LOCAL_LIMIT`, which passes, or `ERR_SSH_MISSING`. */
export function spawnError(error: NodeJS.ErrnoException, file: string, cwd: string): TunnelError {
  const { code = '', message } = error
  if (isLocalLimit(code))
    return new TunnelError('ERR_LOCAL_LIMIT', `ssh cannot be started: ${LIMITS[code]}`, { cause: error, phase: 'connect' })
  // Node says ENOENT of the program when it is the directory that is gone.
  if (code === 'ENOENT' && !existsSync(cwd))
    return new TunnelError('ERR_RUNTIME_DIRECTORY', `${cwd} was removed before ssh was started in it`, {
      cause: error,
      phase: 'connect',
    })
  return missingSsh(`${file} cannot be run (${code === '' ? message : code})`, error)
}
