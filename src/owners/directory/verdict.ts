import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { askOwner, type Sweeping } from './ask-owner.ts'
import { BORN, type Born, readBorn } from './born.ts'
import { messageOf } from './disk-error.ts'
import { ownUid } from './names.ts'
import { OWNER } from './owner-socket.ts'

/** What is known of a directory that bears a pool's name. `refused`: dead if it is again, a second later. */
export type Verdict =
  | { readonly is: 'alive' | 'dead' | 'refused' | 'gone' }
  | {
      readonly is: 'unknown'
      /** In words, for people. */
      readonly why: string
    }

const ALIVE: Verdict = { is: 'alive' }
const DEAD: Verdict = { is: 'dead' }
const REFUSED: Verdict = { is: 'refused' }
const GONE: Verdict = { is: 'gone' }

/** Judges one directory; touches nothing. Where there is any doubt the pool may live. */
export async function judge(path: string, self: Born, sweeping: Sweeping): Promise<Verdict> {
  const verdict = await judgePresent(path, self, sweeping).catch((error) =>
    unknown(`it cannot be examined (${messageOf(error)})`),
  )
  // What another sweeper is just removing looks like this and that.
  return verdict.is === 'unknown' && look(path) === undefined ? GONE : verdict
}

async function judgePresent(path: string, self: Born, sweeping: Sweeping): Promise<Verdict> {
  const stats = look(path)
  if (stats === undefined) return GONE
  const fault = faultOf(stats)
  if (fault !== undefined) return unknown(fault)
  if (look(join(path, BORN)) === undefined) return unknown('nothing in it says who made it (yet)')
  const born = readBorn(join(path, BORN))
  if (born.machine !== self.machine) return unknown('another machine made it')
  const isOtherBoot = born.boot !== '' && self.boot !== '' && born.boot !== self.boot
  const answer = await askOwner(join(path, OWNER), sweeping)
  if (answer === 'connected') return ALIVE
  if (answer === 'ECONNREFUSED') return isOtherBoot ? DEAD : REFUSED
  if (answer === 'ENOENT') return isOtherBoot ? DEAD : unknown('it has no owner socket (yet)')
  if (answer === 'EAGAIN') return unknown('its owner is there, but busy')
  return unknown(`its owner socket cannot be asked (${answer})`)
}

function faultOf(stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return 'it is a symbolic link'
  if (!stats.isDirectory()) return 'it is not a directory'
  if (stats.uid !== ownUid()) return `it belongs to uid ${stats.uid}`
  // What others can write to may change under our hands, a directory in it into a link for one.
  if ((stats.mode & 0o077) !== 0) return 'it is open to other users'
  return undefined
}

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function unknown(why: string): Verdict {
  return { is: 'unknown', why }
}
