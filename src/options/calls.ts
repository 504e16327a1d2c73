import type { Lease } from '../api/lease.ts'
import type { TunnelPool } from '../api/pool.ts'
import type { Bounds, Run } from '../transport/transport.ts'
import { invalidSecret } from './invalid.ts'
import { checkNames, checkObject, namesOf } from './names.ts'
import { check, duration, flag, label, room, signal } from './rules.ts'

type OptionsOf<Method extends (...args: never) => unknown, Index extends number> = NonNullable<Parameters<Method>[Index]>
type ConnectOptions = OptionsOf<Lease['connect'], 1>
type ExecOptions = OptionsOf<Lease['exec'], 1>
type ProbeOptions = OptionsOf<TunnelPool['probe'], 1>
type RetireOptions = OptionsOf<TunnelPool['retire'], 1>
type ListenOptions = OptionsOf<TunnelPool['listen'], 2>

/** What `probe` was asked for, complete. */
export interface ResolvedProbeOptions extends Bounds {
  readonly isDialing: boolean
}
/** What `retire` was asked for, complete. */
export interface ResolvedRetireOptions {
  readonly reason: string | undefined
  readonly isForced: boolean
}
/** What `listen` was asked for, complete. */
export interface ResolvedListenOptions {
  readonly isEager: boolean
  readonly signal: AbortSignal | undefined
  readonly label: string | undefined
}

const SIGNAL = new Set(['signal'])
const CONNECT = namesOf<ConnectOptions>({ signal: true, timeoutMillis: true })
const EXEC = namesOf<ExecOptions>({ signal: true, timeoutMillis: true, input: true, maxOutputBytes: true })
const PROBE = namesOf<ProbeOptions>({ dial: true, signal: true, timeoutMillis: true })
const RETIRE = namesOf<RetireOptions>({ reason: true, force: true })
const LISTEN = namesOf<ListenOptions>({ eager: true, signal: true, label: true })
const CLOSE = new Set(['timeoutMillis'])
const NOTHING = Object.freeze({})

function checked<T extends object>(given: T | undefined, names: ReadonlySet<string>): T {
  if (given === undefined) return NOTHING as T
  checkNames(checkObject('options', given), names)
  return given
}
const signalOf = (given: { signal?: AbortSignal | undefined }) =>
  given.signal === undefined ? undefined : check(signal, 'signal', given.signal)
const timeoutOf = (given: { timeoutMillis?: number | undefined }, unless: number) =>
  given.timeoutMillis === undefined ? unless : check(duration, 'timeoutMillis', given.timeoutMillis)
const flagOf = (name: string, given: boolean | undefined) => given !== undefined && check(flag, name, given)
const labelOf = (name: string, given: string | undefined) => (given === undefined ? undefined : check(label, name, given))

/** The options of `warm` and of `lease.forward`: a signal at most. @throws TunnelError `ERR_INVALID_OPTION`, as do all of these */
export function resolveSignal(given: { signal?: AbortSignal | undefined } | undefined): AbortSignal | undefined {
  return given === undefined ? undefined : signalOf(checked(given, SIGNAL))
}

/** The options of `lease.connect`; without any it is `unless` itself, made once per pool. */
export function resolveConnectOptions(given: OptionsOf<Lease['connect'], 1> | undefined, unless: Bounds): Bounds {
  if (given === undefined) return unless
  checked(given, CONNECT)
  return { signal: signalOf(given), timeoutMillis: timeoutOf(given, unless.timeoutMillis) }
}

/** The options of `lease.exec`: no bound in time unless given, one MiB of each stream. */
export function resolveExecOptions(given: ExecOptions | undefined): Run {
  const { input, maxOutputBytes, ...bounds } = checked(given, EXEC)
  if (input !== undefined && typeof input !== 'string' && !(input instanceof Uint8Array)) {
    throw invalidSecret('input', 'a string or a Uint8Array', input)
  }
  return {
    signal: signalOf(bounds),
    timeoutMillis: timeoutOf(bounds, Infinity),
    input,
    maxOutputBytes: maxOutputBytes === undefined ? 1_048_576 : check(room, 'maxOutputBytes', maxOutputBytes),
  }
}

/** The command of `lease.exec`. May hold a secret, so it is never shown. */
export function checkCommand(command: string): string {
  if (typeof command === 'string' && command !== '' && !command.includes('\0')) return command
  throw invalidSecret('command', 'a non-empty string without NUL', command)
}

/** The options of `probe`. */
export function resolveProbeOptions(given: ProbeOptions | undefined, unlessMillis: number): ResolvedProbeOptions {
  const options = checked(given, PROBE)
  return { isDialing: flagOf('dial', options.dial), signal: signalOf(options), timeoutMillis: timeoutOf(options, unlessMillis) }
}

/** The options of `retire`. */
export function resolveRetireOptions(given: RetireOptions | undefined): ResolvedRetireOptions {
  const options = checked(given, RETIRE)
  return { reason: labelOf('reason', options.reason), isForced: flagOf('force', options.force) }
}

/** The options of `listen`. */
export function resolveListenOptions(given: ListenOptions | undefined): ResolvedListenOptions {
  const options = checked(given, LISTEN)
  return { isEager: flagOf('eager', options.eager), signal: signalOf(options), label: labelOf('label', options.label) }
}

/** How long `close` may take before it forces. */
export function resolveCloseTimeout(given: { timeoutMillis?: number | undefined } | undefined, unlessMillis: number): number {
  return timeoutOf(checked(given, CLOSE), unlessMillis)
}
