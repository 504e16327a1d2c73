import type { RuntimeDirectory } from './owners/directory/runtime-directory.ts'
import { load } from './owners/load.ts'
import type { OpensshOptions } from './transport/openssh/openssh.ts'
import type { Transport } from './transport/transport.ts'
import type { Trust } from './trust/trust.ts'

/** Makes something at its first use, once; a failure to load is not remembered. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}

const ssh2Transport = once(async () => (await load(() => import('./transport/ssh2/ssh2.ts'))).ssh2Transport)

/** The ssh2 transport, loaded at the first dial: a server that only imports the package pays for neither it nor ssh2. */
export const lazySsh2: Transport = {
  name: 'ssh2',
  needsDirectory: false,
  dial: async (dial) => (await ssh2Transport()).dial(dial),
}

/** The openssh transport, loaded at its first dial. */
export function lazyOpenssh(options: OpensshOptions): Transport {
  const transport = once(async () => (await load(() => import('./transport/openssh/openssh.ts'))).opensshTransport(options))
  return { name: 'openssh', needsDirectory: true, dial: async (dial) => (await transport()).dial(dial) }
}

/** What is known of host keys, read and remembered from the first dial on. */
export function lazyTrust(): Trust {
  const trust = once(async () => (await load(() => import('./trust/host-keys.ts'))).createTrust())
  return { expect: async (target, signal) => (await trust()).expect(target, signal) }
}

/** A pool's directories, from the first unix socket on. */
export function lazyDirectories(
  options: ConstructorParameters<typeof RuntimeDirectory>[0],
): Pick<RuntimeDirectory, 'tunnelDirectory'> {
  const directories = once(
    async () => new (await load(() => import('./owners/directory/runtime-directory.ts'))).RuntimeDirectory(options),
  )
  return { tunnelDirectory: async (...given) => (await directories()).tunnelDirectory(...given) }
}
