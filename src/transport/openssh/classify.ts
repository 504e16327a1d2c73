import { TunnelError, type TunnelErrorCode } from '../../errors.ts'
import { missingSsh } from '../../owners/child/find-program.ts'
import type { ChildExit } from '../../owners/child.ts'
import { shown } from '../../shown.ts'
import type { Phase } from '../transport.ts'
import { EXIT_WORDS, type ExitWords } from './exit-words.ts'

/** Everything that is known of an ssh that has ended. */
export interface Ended {
  readonly exit: ChildExit
  /** What it said on stderr. */
  readonly said: string
  /** Where the dial was, by what was seen of it; `open`: it was up. */
  readonly phase: Phase
  readonly host: string
  /** Its directory: a path of ours that is nobody's business. */
  readonly directory: string
  /** The only types of host key that were asked for, because keys of these are known. */
  readonly hostKeyTypes: readonly string[] | undefined
  /** `user@host:port` of the jump through which it went, if any. */
  readonly hop?: string | undefined
}

/** Where a dial cannot be any more once ssh has asked our agent for keys: what a server's banner says of these then is not ssh's. */
const BEFORE_LOGIN: ReadonlySet<Phase | undefined> = new Set(['dns', 'connect', 'banner', 'kex', 'hostkey'])

/** The row of the table that fits: the first, and for a login only what a login can fail by. */
function find({ said, phase }: Ended): ExitWords | undefined {
  return EXIT_WORDS.find((row) => row.says.test(said) && !(phase === 'auth' && BEFORE_LOGIN.has(row.phase)))
}

/** Its words as people may read them, from the telling line on: bounded, without control characters and our paths. A server may have had a say in them. */
function wordsOf({ said, directory }: Ended, row: ExitWords | undefined): string {
  const lines = said.replaceAll(`${directory}/`, '').split(/[\r\n]+/)
  const telling = lines.filter((line) => line.trim() !== '' && !/^@+$|^Warning: Permanently added/.test(line.trim()))
  const first = row === undefined ? -1 : telling.findIndex((line) => row.says.test(line))
  return shown((first < 0 ? telling.slice(-6) : telling.slice(first, first + 6)).join('; '))
}

function howItEnded({ code, signal }: ChildExit): string {
  return signal === null ? `exit code ${code}` : `killed by ${signal}`
}

/** Turns the end of an ssh into its reason. Pure: the words, the exit, and where it was. */
export function exitError(ended: Ended): TunnelError {
  const { exit, phase, host, hostKeyTypes, hop } = ended
  const found = find(ended)
  const words = wordsOf(ended, found)
  const how = howItEnded(exit)
  const make = (code: TunnelErrorCode, where: Phase | undefined, advice?: string, isHop?: true) =>
    new TunnelError(
      code,
      `${host}: ${words === '' ? `ssh has ended (${how})` : words}${advice === undefined ? '' : ` (${advice})`}`,
      {
        phase: where,
        hop: isHop && hop,
      },
    )
  // setpriv and sh could not run it: 126 and 127, with the reason in their own words.
  if ((exit.code === 126 || exit.code === 127) && /setpriv: |No such file|not found|Permission denied/.test(ended.said))
    return missingSsh(`${host}: ${words}`)
  if (phase === 'open') return make('ERR_LOST', undefined, how)
  if (exit.signal !== null) return make('ERR_LOST', phase, how)
  if (found === undefined) return make('ERR_RESET', phase)
  if (found.code === 'ERR_KEX' && hostKeyTypes !== undefined && /no matching host key type/.test(ended.said)) {
    const types = hostKeyTypes.join(', ')
    const what = `the host has no key of the types known for it (${types}): its keys have changed; make the new one known`
    return new TunnelError('ERR_HOST_KEY', `${host}: ${what}`, { phase: 'hostkey' })
  }
  return make(found.code, found.phase ?? phase, found.advice, found.isHop)
}
