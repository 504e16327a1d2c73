import { once } from 'node:events'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** The streams of a command; its signal ends it early. */
export interface Terminal {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly signal: AbortSignal
}

/** How a command ended: by an exit status or by a signal's name without SIG. */
export type Exit = number | string

interface Step {
  readonly words: readonly string[]
  readonly out: 'stdout' | 'stderr' | 'nowhere'
}

const BYTES_PER_WRITE = 64 * 1024
const SIGNALS = ['ABRT', 'ALRM', 'FPE', 'HUP', 'ILL', 'INT', 'KILL', 'PIPE', 'QUIT', 'SEGV', 'TERM', 'USR1', 'USR2']

/**
 * Runs the few commands a host knows, one after the other, without a process: `echo`, `cat`, `head -c N /dev/zero`, `sleep`, `true`, `false`, `kill -SIG $$`, `exit`,
 * with `;`, quotes, `>&2` and `>/dev/null`. Anything else is not found (127). Each means the same to a real shell.
 */
export async function run(line: string, terminal: Terminal): Promise<Exit> {
  let status: Exit = 0
  for (const step of parse(line)) {
    const [name = '', ...args] = step.words[0] === 'exec' ? step.words.slice(1) : step.words
    if (name === 'exit') return Number(args[0] ?? 0) & 255
    const signal = name === 'kill' ? signalName(args[0] ?? '') : undefined
    if (signal !== undefined) return signal
    status = await command(name, args, step.out, terminal)
  }
  return status
}

/** `TERM` for `TERM`, `SIGTERM`, `-TERM` or `-15`; `undefined` for what SSH has no name for (RFC 4254, section 6.10). */
export function signalName(text: string): string | undefined {
  const word = text.replace(/^-/, '').replace(/^SIG/, '')
  const byNumber = Object.entries(constants.signals)
    .find(([, number]) => String(number) === word)?.[0]
    .slice(3)
  return SIGNALS.find((name) => name === (byNumber ?? word))
}

async function command(name: string, args: readonly string[], out: Step['out'], terminal: Terminal): Promise<Exit> {
  const write = async (stream: Writable, data: string | Buffer): Promise<void> => {
    if (!stream.write(data)) await once(stream, 'drain', { signal: terminal.signal })
  }
  const print = async (data: string | Buffer): Promise<void> => (out === 'nowhere' ? undefined : write(terminal[out], data))
  switch (name) {
    case 'true':
      return 0
    case 'false':
      return 1
    case 'echo':
      await print(`${args.join(' ')}\n`)
      return 0
    case 'sleep':
      await sleep(Number(args[0]) * 1_000, undefined, { signal: terminal.signal })
      return 0
    case 'cat':
      await copy(terminal, out === 'nowhere' ? undefined : terminal[out])
      return 0
    case 'head':
      for (let left = Number(args[1]); left > 0; left -= BYTES_PER_WRITE)
        await print(Buffer.alloc(Math.min(left, BYTES_PER_WRITE)))
      return 0
    default:
      await write(terminal.stderr, `sh: 1: ${name}: not found\n`)
      return 127
  }
}

/** By events, not by the stream's iterator, which can not be interrupted. */
function copy({ stdin, signal }: Terminal, to: Writable | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const resume = (): void => void stdin.resume()
    const onData = (bytes: Buffer): void => {
      if (to?.write(bytes) === false) stdin.pause()
    }
    const settle = (error?: unknown): void => {
      stdin.off('data', onData)
      to?.off('drain', resume)
      if (error === undefined) resolve()
      else reject(error)
    }
    to?.on('drain', resume)
    stdin.on('data', onData).once('end', settle)
    signal.addEventListener('abort', () => settle(signal.reason), { once: true })
  })
}

function parse(line: string): Step[] {
  const steps: Array<{ words: string[]; out: Step['out'] }> = [{ words: [], out: 'stdout' }]
  for (const [token] of line.replace(/>\s+/g, '>').matchAll(/;|(?:'[^']*'|"[^"]*"|[^\s;'"])+/g)) {
    const step = steps.at(-1)
    if (token === ';' || step === undefined) steps.push({ words: [], out: 'stdout' })
    else if (token === '>&2' || token === '1>&2') step.out = 'stderr'
    else if (token === '>/dev/null') step.out = 'nowhere'
    else step.words.push(token.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'))
  }
  return steps.filter((step) => step.words.length > 0)
}
