import { TunnelError } from '../../errors.ts'
import { poolPrefix, RANDOM_BYTES } from './names.ts'

/** Linux's sun_path has 108 bytes, one of them NUL. Node binds a longer path cut short, without an error. */
export const LONGEST_SOCKET_PATH = 107

/** Refuses a path that could not be bound, with `ERR_PATH_TOO_LONG`. */
export function checkPathLength(
  path: string,
  longestBytes = LONGEST_SOCKET_PATH,
  remedy = 'set runtimeDirectory to a shorter path',
): void {
  const bytes = Buffer.byteLength(path)
  if (bytes <= longestBytes) return
  throw new TunnelError(
    'ERR_PATH_TOO_LONG',
    `the socket path ${path} has ${bytes} bytes, the limit is ${longestBytes}: ${remedy}`,
  )
}

/**
 * Refuses a place in which a name of `nameBytes` in a tunnel's directory could not be bound, with `ERR_PATH_TOO_LONG`, before
 * anything is made there.
 */
export function checkPlaceLength(place: string, nameBytes: number): void {
  const own = Buffer.byteLength(place)
  const ours = 1 + poolPrefix().length + RANDOM_BYTES + 1 + RANDOM_BYTES + 1 + nameBytes
  if (own + ours <= LONGEST_SOCKET_PATH) return
  const socket = `socket paths in ${place} would have ${own + ours} bytes, the limit is ${LONGEST_SOCKET_PATH}`
  const remedy = `set runtimeDirectory to a path of at most ${LONGEST_SOCKET_PATH - ours} bytes instead of ${own}`
  throw new TunnelError('ERR_PATH_TOO_LONG', `${socket}: ${remedy}`)
}
