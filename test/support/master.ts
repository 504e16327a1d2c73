import { Buffered } from '../../src/channels/buffered.ts'
import { systemClock } from '../../src/clock.ts'
import type { Target } from '../../src/index.ts'
import { resolvePoolOptions } from '../../src/options.ts'
import type { OwnedDirectory } from '../../src/owners/directory/directory.ts'
import { RuntimeDirectory } from '../../src/owners/directory/runtime-directory.ts'
import { Ledger } from '../../src/owners/ledger.ts'
import { Scope } from '../../src/owners/scope.ts'
import { Targets } from '../../src/target/targets.ts'
import { type Master, startMaster } from '../../src/transport/openssh/master.ts'
import { programFinder } from '../../src/transport/openssh/programs.ts'
import type { Dial } from '../../src/transport/transport.ts'
import { createTrust } from '../../src/trust/host-keys.ts'

/** Dials by an ssh alone, without a pool or a connection on top of it. Disposing of it gives everything back. */
export class Bench implements AsyncDisposable {
  readonly ledger = new Ledger()
  readonly phases: string[] = []
  readonly trust = createTrust()
  readonly #pool = new Scope(this.ledger, 'pool')
  readonly #scopes: Scope[] = []
  readonly #directories: RuntimeDirectory

  constructor(base?: string) {
    this.#directories = new RuntimeDirectory({ base, scope: this.#pool, clock: systemClock })
  }

  /** A private directory. */
  directory(): Promise<OwnedDirectory> {
    return this.#directories.tunnelDirectory(this.#pool, 'bench')
  }

  /** Dials as far as the control socket. */
  async master(
    target: Target,
    more: Partial<Dial> & { sshPath?: string; setpriv?: undefined } = {},
  ): Promise<Master & { readonly scope: Scope }> {
    const scope = new Scope(this.ledger, 'tunnel')
    this.#scopes.push(scope)
    const dial: Dial = {
      target: new Targets(resolvePoolOptions({ transport: 'openssh' })).resolve(target),
      scope,
      jump: undefined,
      directory: () => this.#directories.tunnelDirectory(scope, 'tunnel'),
      signal: AbortSignal.timeout(10_000),
      clock: systemClock,
      trust: this.trust,
      enter: (phase) => this.phases.push(phase),
      admit: async () => {},
      buffered: new Buffered(Number.POSITIVE_INFINITY),
      holdSession: false,
      channelTimeoutMillis: 2_000,
      ...more,
    }
    const programs = programFinder(more.sshPath)()
    return { ...(await startMaster(dial, 'setpriv' in more ? { ...programs, setpriv: undefined } : programs)), scope }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const scope of [...this.#scopes, this.#pool]) {
      scope.ask()
      const force = setTimeout(() => scope.force(), 1_000)
      await scope.emptied()
      clearTimeout(force)
    }
  }
}
