import { Buffered } from '../../src/channels/buffered.ts'
import { systemClock } from '../../src/clock.ts'
import type { Target } from '../../src/index.ts'
import { resolvePoolOptions } from '../../src/options.ts'
import { Ledger } from '../../src/owners/ledger.ts'
import { Scope } from '../../src/owners/scope.ts'
import { Targets } from '../../src/target/targets.ts'
import { ssh2Transport } from '../../src/transport/ssh2/ssh2.ts'
import type { Connection } from '../../src/transport/transport.ts'
import { createTrust } from '../../src/trust/host-keys.ts'

/** A connection without a pool around it. Disposing of it gives everything back, by force. */
export interface BareConnection extends AsyncDisposable {
  readonly connection: Connection
  readonly scope: Scope
}

/** Dials by the ssh2 transport alone. */
export async function dialBare(target: Target): Promise<BareConnection> {
  const scope = new Scope(new Ledger(), 'bare')
  const free = async (): Promise<void> => {
    scope.force()
    await scope.emptied()
  }
  try {
    const connection = await ssh2Transport.dial({
      target: new Targets(resolvePoolOptions()).resolve(target),
      scope,
      jump: undefined,
      directory: async () => {
        throw new Error('a bare dial has no directory')
      },
      signal: new AbortController().signal,
      clock: systemClock,
      trust: createTrust(),
      enter: () => {},
      admit: async () => {},
      buffered: new Buffered(Number.POSITIVE_INFINITY),
      holdSession: false,
      channelTimeoutMillis: 2_000,
    })
    return { connection, scope, [Symbol.asyncDispose]: free }
  } catch (error) {
    await free()
    throw error
  }
}
