import { type ChildProcess, spawn } from 'node:child_process'
import { isMainThread } from 'node:worker_threads'
import type { Clock } from '../clock.ts'
import { TunnelError } from '../errors.ts'
import { livingChildrenOf, remainsOf, signal } from './child/group.ts'
import { delistChild, enlistChild } from './child/living-children.ts'
import { spawnError } from './child/spawn-error.ts'
import { Tail } from './child/tail.ts'
import { noteUnreaped } from './child/unreaped.ts'
import type { Held, Scope } from './scope.ts'

/** What is kept of what it says on stderr. */
const SAID_BYTES = 16 * 1024
/** From asking ssh's own helper to asking ssh, and from that to asking whatever else is in its group. */
const ASK_MILLIS = 100
const ASK_GROUP_MILLIS = 400
/** Between looks at a group whose leader has ended, doubling. */
const LOOK_MIN_MILLIS = 5
const LOOK_MAX_MILLIS = 500
/** What is in the pipe when a child ends has come by then; a helper that lives on may hold it open for ever. */
const LAST_WORDS_MILLIS = 50

/** What to start, and whose it is. */
export interface ChildRequest {
  /** Absolute path of the program. */
  readonly file: string
  readonly args: readonly string[]
  /** Its working directory. */
  readonly directory: string
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>
  /** util-linux's setpriv, by which it dies with the thread that starts it; `undefined` where there is none. */
  readonly setpriv: string | undefined
  readonly label: string
  readonly scope: Scope
  readonly clock: Clock
}

/** How a child ended, by the operating system. */
export interface ChildExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * One child process in a group of its own, from before it is started until nothing of it is left. It is a direct child in the foreground,
 * so that we collect it ourselves; it never reads, and what it says is kept in bounds. It is judged by its exit, not by the end of its
 * output, which a helper of its own may hold open.
 */
export class OwnedChild {
  readonly pid: number
  /** Resolves when it has ended and its last words are in. */
  readonly exited: Promise<ChildExit>
  readonly #said = new Tail(SAID_BYTES)
  readonly #clock: Clock
  readonly #held: Held
  #exit: ChildExit | undefined
  #timer: unknown
  #lookMillis = LOOK_MIN_MILLIS

  /**
   * Starts it. Rejects with `ERR_LOCAL_LIMIT`, `ERR_SSH_MISSING`, `ERR_RUNTIME_DIRECTORY`, or `ERR_UNSUPPORTED` in a worker thread; then nothing is
   * left of it.
   */
  static async start(request: ChildRequest): Promise<OwnedChild> {
    const { file, args, directory, environment, setpriv, label, scope } = request
    if (!isMainThread) throw inWorker()
    let owned: OwnedChild | undefined
    const held = scope.hold('child', label, { ask: () => owned?.ask(), force: () => owned?.force() })
    try {
      const words = setpriv === undefined ? [file, ...args] : [setpriv, '--pdeathsig', 'TERM', '--', file, ...args]
      const child = spawn(words[0] ?? file, words.slice(1), {
        cwd: directory,
        env: environment,
        // A group and session of its own: a terminal's Ctrl-C is not for it, and it has no terminal to ask on.
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      await started(child)
      owned = new OwnedChild(child, held, request.clock)
    } catch (error) {
      held.strike()
      throw spawnError(error as NodeJS.ErrnoException, file, directory)
    }
    if (scope.isReleasing) owned.ask()
    return owned
  }

  private constructor(child: ChildProcess, held: Held, clock: Clock) {
    this.pid = child.pid as number
    this.#held = held
    this.#clock = clock
    enlistChild(this.pid)
    // The pool holds the process while it has to; an idle tunnel does not.
    child.unref()
    const { stderr } = child
    if (stderr !== null && 'unref' in stderr && typeof stderr.unref === 'function') stderr.unref()
    stderr?.on('data', (chunk: Buffer) => this.#said.push(chunk))
    stderr?.on('error', () => {
      // It has ended: the exit tells.
    })
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signalName) => {
        const exit = { code, signal: signalName }
        this.#exit = exit
        const over = () => {
          clock.clearTimeout(timer)
          stderr?.destroy()
          resolve(exit)
          this.#look()
        }
        const timer = clock.setTimeout(over, LAST_WORDS_MILLIS)
        if (stderr === null || stderr.closed) over()
        else stderr.once('close', over)
      })
    })
  }

  /** How it ended; `undefined` while it runs. */
  get exit(): ChildExit | undefined {
    return this.#exit
  }

  /** The last of what it has said on stderr. */
  said(): string {
    return this.#said.text()
  }

  /** What it has said so far is of no interest any more. */
  forgetSaid(): void {
    this.#said.clear()
  }

  /** Asks it to end. Its helper first: ssh collects a helper that ends before it, and leaves one that outlives it to pid 1 (9.2, by trial). */
  ask(): void {
    if (this.#exit !== undefined) return
    const helpers = livingChildrenOf(this.pid)
    for (const helper of helpers) signal(helper, 'SIGTERM')
    if (helpers.length === 0) this.#askItself()
    else this.#after(ASK_MILLIS, () => this.#askItself())
  }

  /** Ends it, and all that is in its group, also when it is stopped. */
  force(): void {
    if (this.#held.isGone) return
    signal(-this.pid, 'SIGKILL')
    if (this.#exit !== undefined) this.#look()
  }

  #askItself(): void {
    signal(this.pid, 'SIGTERM')
    this.#after(ASK_GROUP_MILLIS, () => signal(-this.pid, 'SIGTERM'))
  }

  #after(millis: number, then: () => void): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = this.#clock.setTimeout(() => {
      if (!this.#held.isGone) then()
    }, millis)
  }

  /** It has ended itself: is anything left in its group? Zombies are pid 1's to collect, and hold nothing. */
  #look(): void {
    if (this.#held.isGone) return
    try {
      const { isAlive, zombies } = remainsOf(this.pid)
      if (!isAlive) {
        noteUnreaped(zombies)
        this.#strike()
        return
      }
    } catch {
      // No descriptor is left to look with: later, then.
    }
    signal(-this.pid, this.#lookMillis < LOOK_MAX_MILLIS ? 'SIGTERM' : 'SIGKILL')
    this.#after(this.#lookMillis, () => this.#look())
    this.#lookMillis = Math.min(LOOK_MAX_MILLIS, 2 * this.#lookMillis)
  }

  #strike(): void {
    this.#clock.clearTimeout(this.#timer)
    delistChild(this.pid)
    this.#held.strike()
  }
}

/**
 * The parent-death signal is that of the thread (reproduced): a worker that is terminated takes its children along, and nobody is left to collect
 * them. They would stay as zombies until this process ends.
 */
const inWorker = () =>
  new TunnelError(
    'ERR_UNSUPPORTED',
    "transport 'openssh' does not work in a worker thread, which cannot collect its children: use the main thread, or 'ssh2'",
    {
      phase: 'connect',
    },
  )

/** Resolves when the kernel has made the process; rejects with why not. */
function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve)
    // Stays: a signal that could not be sent is told by this event, too.
    child.on('error', reject)
  })
}
