import { constants } from 'node:fs'
import { access, lstat, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { TunnelError } from '../../errors.ts'
import { diskError } from './disk-error.ts'
import { ownUid } from './names.ts'

const STICKY = 0o1000
const WRITABLE_BY_OTHERS = 0o022

/**
 * Where runtime directories go: the named directory, else $XDG_RUNTIME_DIR if it can be used, else the temporary directory. Links
 * are resolved here, once; `fits` may refuse what came out. Rejects with `ERR_RUNTIME_DIRECTORY` and the remedy, or with what
 * `fits` threw.
 */
export async function findPlace(named: string | undefined, fits: (place: string) => void = () => {}): Promise<string> {
  const check = async (path: string): Promise<string> => {
    const place = await usable(path).catch((error) =>
      Promise.reject(diskError(error, `cannot use ${path} for runtime directories`)),
    )
    fits(place)
    return place
  }
  if (named !== undefined) {
    await refuseLink(named)
    return check(named)
  }
  const session = process.env.XDG_RUNTIME_DIR
  if (session !== undefined && isAbsolute(session)) {
    try {
      return await check(session)
    } catch {
      // Set by habit more than by choice (left over from another user, not there in a container): the next one will do.
    }
  }
  return check(tmpdir())
}

/** A name that somebody chose must mean the same directory tomorrow; the defaults may be links (/tmp on macOS). */
async function refuseLink(named: string): Promise<void> {
  const path = resolve(named)
  const stats = await lstat(path).catch(() => undefined)
  if (!stats?.isSymbolicLink()) return
  throw unfit(path, 'is a symbolic link', `set runtimeDirectory to ${await realpath(path).catch(() => 'a directory')} itself`)
}

async function usable(path: string): Promise<string> {
  const place = await realpath(path)
  const stats = await lstat(place)
  if (!stats.isDirectory()) throw unfit(place, 'is not a directory', 'set runtimeDirectory to one')
  if (stats.uid !== 0 && stats.uid !== ownUid()) {
    throw unfit(place, `belongs to uid ${stats.uid}`, `set runtimeDirectory to a directory of root or of uid ${ownUid()}`)
  }
  if ((stats.mode & WRITABLE_BY_OTHERS) !== 0 && (stats.mode & STICKY) === 0) {
    throw unfit(
      place,
      'can be written to by others and is not sticky',
      `chmod go-w or chmod +t it, or set runtimeDirectory to another`,
    )
  }
  await access(place, constants.W_OK | constants.X_OK)
  return place
}

function unfit(path: string, fault: string, remedy: string): TunnelError {
  return new TunnelError('ERR_RUNTIME_DIRECTORY', `${path} ${fault}, so no runtime directory is made in it: ${remedy}`)
}
