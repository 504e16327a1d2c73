import type { Forward, ForwardSpec } from '../api/forward.ts'
import { TunnelError } from '../errors.ts'
import type { ResolvedForward } from '../options/forward.ts'
import { type Ground, type Listening, type Local, listenLocally } from './local-forward.ts'

interface Shared {
  readonly opening: Promise<Listening>
  claims: number
}

/** One holder's claim on a listener. */
export interface Claim {
  readonly address: Listening['address']
  /** Gives the claim up; the listener goes with the last one. Idempotent. */
  give(): void
}

/** Refuses what this release cannot do; the options were checked already. */
export function refuseUnsupported(spec: ResolvedForward): asserts spec is Local {
  const what = spec.kind !== 'local' ? `${spec.kind} forwards` : spec.isTakingOver ? '`takeOver`' : undefined
  if (what === undefined) return
  throw new TunnelError('ERR_UNSUPPORTED', `${what} are not in this release yet; use a local forward, or \`connect\``, {
    phase: 'forward',
  })
}

/** The listeners of one tunnel, shared by equal specs. */
export class ForwardTable {
  readonly #ground: Ground
  readonly #byspec = new Map<string, Shared>()

  constructor(ground: Ground) {
    this.#ground = ground
  }

  /** Claims the listener for a spec, made by whoever claims it first. Rejects with `ERR_UNSUPPORTED`, `ERR_ADDRESS_IN_USE`, `ERR_PATH_TOO_LONG`, `ERR_RUNTIME_DIRECTORY`, `ERR_LOCAL_LIMIT` or `ERR_FORWARD_FAILED`. */
  async claim(spec: ResolvedForward): Promise<Claim> {
    refuseUnsupported(spec)
    const key = JSON.stringify([spec.to, spec.listen])
    const shared = this.#byspec.get(key) ?? this.#open(key, spec)
    shared.claims += 1
    const give = () => {
      shared.claims -= 1
      if (shared.claims > 0) return
      if (this.#byspec.get(key) === shared) this.#byspec.delete(key)
      shared.opening.then(
        (listening) => listening.close(),
        () => {
          // It never listened: its failure was told to whoever claimed it.
        },
      )
    }
    try {
      const { address } = await shared.opening
      let isGiven = false
      return {
        address,
        give: () => {
          if (isGiven) return
          isGiven = true
          give()
        },
      }
    } catch (error) {
      give()
      throw error
    }
  }

  #open(key: string, spec: Local): Shared {
    const shared = { opening: listenLocally(spec, this.#ground), claims: 0 }
    this.#byspec.set(key, shared)
    return shared
  }
}

/** What a claim looks like to its holder. */
export function forwardOf<S extends ForwardSpec>(claim: Claim): Forward<S> {
  const close = async () => claim.give()
  return { kind: 'local', address: claim.address as Forward<S>['address'], close, [Symbol.asyncDispose]: close }
}
