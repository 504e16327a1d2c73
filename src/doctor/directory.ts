import { TunnelError } from '../errors.ts'
import { checkPlaceLength } from '../owners/directory/path-length.ts'
import { findPlace } from '../owners/directory/place.ts'
import { look } from '../sweep.ts'
import { type Finding, note, problem, well } from './finding.ts'

/** The longest name that is bound in a tunnel's directory: openssh's control socket, to which ssh appends 17 bytes. */
const CONTROL_NAME_BYTES = 18

/** Where sockets and control files go, and whether their paths fit. */
export async function examineDirectory(runtimeDirectory: string | undefined): Promise<Finding> {
  const about = 'runtime directory'
  try {
    const place = await findPlace(runtimeDirectory)
    checkPlaceLength(place, CONTROL_NAME_BYTES)
    const session = process.env.XDG_RUNTIME_DIR
    if (runtimeDirectory === undefined && session !== undefined && session !== '' && !place.startsWith(session))
      return note(
        about,
        `${place}; XDG_RUNTIME_DIR (${session}) cannot be used`,
        'unset it, or let it name a directory of this user',
      )
    return well(about, place)
  } catch (error) {
    if (!TunnelError.is(error)) throw error
    const at = error.message.lastIndexOf(': ')
    const [what, remedy] = at < 0 ? [error.message, ''] : [error.message.slice(0, at), error.message.slice(at + 2)]
    return problem(about, what, remedy === '' ? 'set runtimeDirectory to a short path that this user owns' : remedy)
  }
}

/** What dead pools have left there. */
export async function examineLeftovers(runtimeDirectory: string | undefined, signal: AbortSignal): Promise<Finding | undefined> {
  const about = 'leftovers'
  const found = await look({ runtimeDirectory, signal }).catch(() => undefined)
  if (found === undefined) return undefined
  if (found.dead.length === 0) return well(about, 'none of dead pools')
  return note(
    about,
    `${found.dead.length} of dead pools: ${found.dead.slice(0, 3).join(', ')}`,
    'the next pool removes them, or `warren sweep --remove`',
  )
}
