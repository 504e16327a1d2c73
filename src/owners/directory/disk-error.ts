import { TunnelError } from '../../errors.ts'

/** Used up, on this machine or in this process; the same call may succeed once there is room. */
const LIMITS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'EDQUOT', 'EMLINK'])

/** The errno name of a failed system call, if it is one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** What an error says; anything may be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Whether a system call says that there is nothing at this path (any more). */
export function isAbsent(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
}

/**
 * What a failure to make or read something on disk is called: `ERR_LOCAL_LIMIT`, else `ERR_RUNTIME_DIRECTORY` with the remedy.
 */
export function diskError(error: unknown, what: string): TunnelError {
  if (TunnelError.is(error)) return error
  const reason = `${what}: ${messageOf(error)}`
  if (LIMITS.has(codeOf(error))) return new TunnelError('ERR_LOCAL_LIMIT', reason, { cause: error })
  return new TunnelError('ERR_RUNTIME_DIRECTORY', `${reason}; set runtimeDirectory to a directory that this user can write to`, {
    cause: error,
  })
}
