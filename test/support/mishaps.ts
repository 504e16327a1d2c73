import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Names, for the workers, the file for what goes wrong in them while they run no test. */
const JOURNAL = 'WARREN_MISHAPS'

const unheard: string[] = []
let isRunning = false
/** The last test that has begun. */
let running = 'no test'

function note(mishap: string): void {
  const journal = process.env[JOURNAL]
  // No test may be left to fail.
  if (!isRunning && journal !== undefined) appendFileSync(journal, `${mishap}\n`)
  unheard.push(mishap)
}

const noted = new WeakSet<Promise<unknown>>()

function noteRejection(reason: unknown, promise: Promise<unknown>): void {
  // Mocha's listener emits it again.
  if (noted.has(promise)) return
  noted.add(promise)
  note(`unhandledRejection: ${reason instanceof Error ? reason.stack : String(reason)}`)
}

process.on('uncaughtExceptionMonitor', (error, origin) => note(`${origin}: ${error.stack ?? String(error)}`))
/** What a container's first process leaves uncollected is told once per process, whichever file's tests have been there before; openssh/first-process tests it. */
const isOfFirstProcess = ({ name, message }: Error) => name === 'WarrenWarning' && message.includes('pid 1 does not collect')

process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning' && warning.name !== 'DeprecationWarning' && !isOfFirstProcess(warning))
    note(`warning: ${warning.stack ?? String(warning)}`)
})
process.on('exit', (code) => {
  if (!isRunning) return
  process.stderr.write(`${running} ended this process with code ${code}\n`)
  process.exitCode = code === 0 ? 1 : code
})

/** What has gone wrong in this process since the last `forget`: errors and rejections that nobody heard, warnings. */
export function mishaps(): readonly string[] {
  return unheard
}

export function forgetMishaps(): void {
  unheard.length = 0
}

/** From the first test of a file on, what goes wrong fails a test. */
export function startOfTests(): void {
  isRunning = true
  process.setUncaughtExceptionCaptureCallback(null)
  // Mocha alone drops rejections, and takes this listener away at the end of each file.
  process.off('unhandledRejection', noteRejection).on('unhandledRejection', noteRejection)
}

/** Says which test begins. */
export function testBegins(test: Mocha.Test | undefined): void {
  running = `${test?.file}: ${test?.fullTitle()}`
}

/** From the last test of a file to the first of the next, what goes wrong fails the run. */
export function endOfTests(): void {
  isRunning = false
  // A worker must not die of it: mocha would wait for it, and end without a word when nothing else is left.
  process.setUncaughtExceptionCaptureCallback(() => {})
}

/** Before the first worker starts. */
export function openJournal(): void {
  const directory = mkdtempSync(join(tmpdir(), 'mishaps-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  process.env[JOURNAL] = join(directory, 'journal')
}

/** When the last has ended; throws if one of them came to grief between two files. */
export function readJournal(): void {
  const journal = process.env[JOURNAL] ?? ''
  if (existsSync(journal)) throw new Error(`after the tests of a file had ended:\n${readFileSync(journal, 'utf8')}`)
}
