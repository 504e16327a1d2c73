import type { Transport } from '../transport.ts'
import { OpensshConnection } from './connection.ts'
import { startMaster } from './master.ts'
import { programFinder } from './programs.ts'

/** What the transport takes from its pool. */
export interface OpensshOptions {
  /** Absolute path of ssh; default: the first on PATH. */
  readonly sshPath: string | undefined
}

/** The transport by a child: one ssh per tunnel, which does everything that OpenSSH can do, with its crypto outside this process. */
export function opensshTransport({ sshPath }: OpensshOptions): Transport {
  const programs = programFinder(sshPath)
  return {
    name: 'openssh',
    needsDirectory: true,
    async dial(dial) {
      return await OpensshConnection.open(dial, await startMaster(dial, programs()))
    },
  }
}
