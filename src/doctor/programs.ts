import { createRequire } from 'node:module'
import { TunnelError } from '../errors.ts'
import { askVersion } from '../owners/child/ask-version.ts'
import { findSetpriv, findSsh } from '../owners/child/find-program.ts'
import { shown } from '../shown.ts'
import { type Finding, note, problem, well } from './finding.ts'

/** The oldest whose multiplexing and options transport `openssh` was written for: 8.9 brought session-bind, which agents must know. */
const OLDEST = [8, 0] as const
const TESTED = '9.2'

/** The ssh that transport `openssh` would run. */
export async function examineSsh(sshPath: string | undefined, isNeeded: boolean): Promise<Finding> {
  const about = 'ssh'
  let path: string
  try {
    path = findSsh(sshPath)
  } catch (error) {
    if (!TunnelError.is(error)) throw error
    const [what = '', ...remedy] = error.message.split(': ')
    const only = "only transport 'openssh' needs it; "
    return isNeeded ? problem(about, what, remedy.join(': ')) : note(about, what, `${only}${remedy.join(': ')}`)
  }
  const answer = await askVersion(path)
  if ('failed' in answer)
    return problem(
      about,
      `${path} cannot be run: ${shown(answer.failed, 200)}`,
      'reinstall openssh-client, or name another with sshPath',
    )
  const [, major, minor] = /OpenSSH_(\d+)\.(\d+)/.exec(answer.said) ?? []
  if (major === undefined || minor === undefined)
    return problem(
      about,
      `${path} is not OpenSSH: ${shown(answer.said, 80)}`,
      'install openssh-client, or name OpenSSH with sshPath',
    )
  const isOld = Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1])
  if (isOld)
    return problem(
      about,
      `${path} is OpenSSH ${major}.${minor}`,
      `update it to ${OLDEST.join('.')} or newer (tested: ${TESTED}), or use transport 'ssh2'`,
    )
  return well(about, `OpenSSH ${major}.${minor} at ${path}`)
}

/** What has a child killed when this process dies. */
export function examineSetpriv(): Finding {
  const path = findSetpriv()
  if (path !== undefined) return well('setpriv', path)
  return note(
    'setpriv',
    'there is none of util-linux: after a SIGKILL of this process, children of transport `openssh` live until the next pool starts',
    'install util-linux, or let a pool start, or run `warren sweep --remove`',
  )
}

/** Whether ssh2 has its compiled parts. */
export function examineBinding(): Finding {
  const about = 'ssh2 binding'
  try {
    createRequire(import.meta.url)('ssh2/lib/protocol/crypto/build/Release/sshcrypto.node')
    return well(about, 'native')
  } catch {
    // Not built, or not for this Node: ssh2 does without.
    return note(
      about,
      'not built: ssh2 works without, bulk transfers cost up to twice the CPU',
      'approve ssh2’s install script (`npm install-scripts approve ssh2`, or `npm rebuild ssh2`)',
    )
  }
}
