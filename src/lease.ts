import { onAbort } from './aborts.ts'
import type { LeaseRecord } from './actors/lease-record.ts'
import { abortedBy } from './actors/waiter.ts'
import type { Forward, ForwardSpec, Forwards, Remote } from './api/forward.ts'
import type { ExecResult, Lease, TunnelSocket } from './api/lease.ts'
import type { TransportName } from './api/target.ts'
import { type Claim, forwardOf } from './channels/forwards.ts'
import type { ChannelSocket } from './channels/socket.ts'
import { TunnelError } from './errors.ts'
import { checkCommand, resolveConnectOptions, resolveExecOptions, resolveSignal } from './options/calls.ts'
import { type ResolvedForward, resolveForward } from './options/forward.ts'
import { resolveRemote } from './options/remote.ts'
import { unlessAborted } from './wait.ts'

/** Gives back a lease that its holder dropped without releasing it. */
const abandoned = new FinalizationRegistry<LeaseRecord>((record) => record.release(undefined, true))
/** A lease is not dropped while a socket or forward made with it is in use. */
const heldBy = new WeakMap<object, UserLease<Forwards>>()

/** What `acquire` resolves with: a claim on an open tunnel, shared with others, until it is released. */
export class UserLease<F extends Forwards> implements Lease<F> {
  readonly #record: LeaseRecord
  readonly forwards: Lease<F>['forwards']

  /** @internal */
  constructor(record: LeaseRecord, claims: ReadonlyMap<string, Claim>) {
    this.#record = record
    const forwards: Record<string, Forward> = Object.create(null)
    for (const [name, claim] of claims) forwards[name] = this.#keep(forwardOf(claim))
    this.forwards = Object.freeze(forwards) as Lease<F>['forwards']
    abandoned.register(this, record, record)
  }

  get id(): string {
    return this.#record.id
  }

  get destination(): string {
    return this.#record.tunnel.target.id
  }

  get generation(): number {
    return this.#record.tunnel.generation
  }

  get transport(): TransportName {
    return this.#record.tunnel.target.transport
  }

  get signal(): AbortSignal {
    return this.#record.signal
  }

  async forward<const S extends ForwardSpec>(spec: S, options?: { signal?: AbortSignal | undefined }): Promise<Forward<S>> {
    const signal = resolveSignal(options)
    const claim = await claimForward(this.#record, resolveForward(spec), signal)
    return this.#keep(forwardOf<S>(claim))
  }

  async connect(
    to: Remote,
    options?: { signal?: AbortSignal | undefined; timeoutMillis?: number | undefined },
  ): Promise<TunnelSocket> {
    const { channelTimeoutMillis } = this.#record.tunnel.parts.options
    const { signal, timeoutMillis } = resolveConnectOptions(options, { signal: undefined, timeoutMillis: channelTimeoutMillis })
    if (signal?.aborted) throw abortedBy(signal)
    const socket = this.#open(resolveRemote(to), timeoutMillis)
    const takeBack = onAbort(signal, () => socket.destroy(abortedBy(signal)))
    try {
      return await socket.whenOpen
    } finally {
      takeBack()
    }
  }

  socket(to: Remote): TunnelSocket {
    return this.#open(resolveRemote(to), this.#record.tunnel.parts.options.channelTimeoutMillis)
  }

  async exec(command: string, options?: Parameters<Lease['exec']>[1]): Promise<ExecResult> {
    const run = resolveExecOptions(options)
    const { refusal, ending, tunnel } = this.#record
    checkCommand(command)
    if (refusal !== undefined) throw refusal
    if (run.signal?.aborted) throw abortedBy(run.signal)
    const controller = new AbortController()
    const notEnded = onAbort(ending, () => controller.abort(ending.reason))
    const notAborted = onAbort(run.signal, () => controller.abort(abortedBy(run.signal)))
    try {
      return await tunnel.up.exec(command, { ...run, signal: controller.signal })
    } finally {
      notEnded()
      notAborted()
    }
  }

  release(fault?: Error): void {
    if (fault !== undefined && !(fault instanceof Error))
      throw new TunnelError('ERR_INVALID_OPTION', 'Expected `fault` to be an Error')
    abandoned.unregister(this.#record)
    this.#record.release(fault)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release()
  }

  #open(to: Remote, timeoutMillis: number): ChannelSocket {
    return this.#keep(this.#record.openSocket(to, timeoutMillis))
  }

  #keep<T extends object>(made: T): T {
    heldBy.set(made, this as unknown as UserLease<Forwards>)
    return made
  }
}

/** Claims a forward for a lease; given up with it. A claim that comes after the lease's end is given up at once. */
export async function claimForward(record: LeaseRecord, spec: ResolvedForward, signal: AbortSignal | undefined): Promise<Claim> {
  if (record.refusal !== undefined) throw record.refusal
  if (signal?.aborted) throw abortedBy(signal)
  const late = (claim: Claim) => void claim.give()
  const claiming = unlessAborted(record.tunnel.forwards.claim(spec), record.ending, late)
  const claim = await unlessAborted(claiming, signal, late).catch((error) => {
    throw signal?.aborted && error === signal.reason ? abortedBy(signal) : error
  })
  if (record.refusal !== undefined) {
    void claim.give()
    throw record.refusal
  }
  const own: Claim = {
    kind: claim.kind,
    address: claim.address,
    idle: () => claim.idle(),
    give: () => {
      record.claims.delete(own)
      return claim.give()
    },
  }
  record.claims.add(own)
  return own
}
