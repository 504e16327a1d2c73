import { createHmac, randomBytes } from 'node:crypto'
import type { Forward, ForwardSpec } from '../api/forward.ts'
import type { ResolvedForward } from '../options/forward.ts'
import { listenDynamically } from './dynamic-forward.ts'
import type { Listening, TunnelGround } from './ground.ts'
import { listenLocally } from './local-forward.ts'
import { listenRemotely } from './reverse-forward.ts'

interface Shared {
  readonly opening: Promise<Listening>
  claims: number
}

/** One holder's claim on a listener. */
export interface Claim {
  readonly kind: ResolvedForward['kind']
  readonly address: Listening['address']
  /** Resolves when the listener carries nothing that its tunnel must stay for, whoever claims it. */
  idle(): Promise<void>
  /** Gives the claim up; the listener goes with the last one. Resolves when that is done; never rejects. Idempotent. */
  give(): Promise<void>
}

const KEY = randomBytes(32)

/** Equal for equal specs; holds no secret. */
function nameOf(spec: ResolvedForward): string {
  if (spec.kind === 'local') return JSON.stringify(['local', spec.to, spec.listen])
  if (spec.kind === 'reverse') return JSON.stringify(['reverse', spec.remote, spec.to])
  const { credentials, listen } = spec
  const password = credentials && createHmac('sha256', KEY).update(credentials.password.reveal()).digest('hex')
  return JSON.stringify(['dynamic', listen, credentials?.username, password])
}

/** Makes a forward of whichever kind on a tunnel. */
function open(spec: ResolvedForward, ground: TunnelGround): Promise<Listening> {
  if (spec.kind === 'local') return listenLocally(spec, ground)
  return spec.kind === 'dynamic' ? listenDynamically(spec, ground) : listenRemotely(spec, ground)
}

/** The listeners of one tunnel, shared by equal specs. */
export class ForwardTable {
  readonly #ground: TunnelGround
  readonly #byName = new Map<string, Shared>()

  constructor(ground: TunnelGround) {
    this.#ground = ground
  }

  /** Claims the listener for a spec, made by whoever claims it first. Rejects with `ERR_ADDRESS_IN_USE`, `ERR_PATH_TOO_LONG`, `ERR_RUNTIME_DIRECTORY`, `ERR_LOCAL_LIMIT` or `ERR_FORWARD_FAILED`. */
  async claim(spec: ResolvedForward): Promise<Claim> {
    const key = nameOf(spec)
    const shared = this.#byName.get(key) ?? this.#open(key, spec)
    shared.claims += 1
    const give = async (): Promise<void> => {
      shared.claims -= 1
      if (shared.claims > 0) return
      if (this.#byName.get(key) === shared) this.#byName.delete(key)
      await shared.opening.then(
        (listening) => listening.close(),
        () => {
          // It never listened: its failure was told to whoever claimed it.
        },
      )
    }
    try {
      const listening = await shared.opening
      let given: Promise<void> | undefined
      return {
        kind: spec.kind,
        address: listening.address,
        idle: () => listening.idle(),
        give: () => {
          given ??= give()
          return given
        },
      }
    } catch (error) {
      void give()
      throw error
    }
  }

  #open(key: string, spec: ResolvedForward): Shared {
    const shared = { opening: open(spec, this.#ground), claims: 0 }
    this.#byName.set(key, shared)
    return shared
  }
}

/** What a claim looks like to its holder. */
export function forwardOf<S extends ForwardSpec>(claim: Claim): Forward<S> {
  const close = () => claim.give()
  return { kind: claim.kind, address: claim.address as Forward<S>['address'], close, [Symbol.asyncDispose]: close }
}
