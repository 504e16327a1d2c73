import { TunnelError } from '../../errors.ts'
import { refusedByHop } from '../through-jump.ts'
import type { Dial, Transport } from '../transport.ts'
import { OpensshConnection } from './connection.ts'
import { startMaster } from './master.ts'
import { programFinder } from './programs.ts'

/** What the transport takes from its pool. */
export interface OpensshOptions {
  /** Absolute path of ssh; default: the first on PATH. */
  readonly sshPath: string | undefined
}

/** Behind a jump ssh sees nothing but a stream that has ended: why it did is told to us, if we ask for the same. */
async function explained(error: unknown, dial: Dial): Promise<unknown> {
  const { jump, target, signal } = dial
  if (jump === undefined || signal.aborted || !TunnelError.is(error) || error.code !== 'ERR_RESET') return error
  try {
    const stream = await jump.open(target, signal)
    stream.destroy()
    return error
  } catch (cause) {
    return signal.aborted ? signal.reason : refusedByHop(cause, dial, jump)
  }
}

/** The transport by a child: one ssh per tunnel, which does everything that OpenSSH can do, with its crypto outside this process. */
export function opensshTransport({ sshPath }: OpensshOptions): Transport {
  const programs = programFinder(sshPath)
  return {
    name: 'openssh',
    needsDirectory: true,
    async dial(dial) {
      try {
        return await OpensshConnection.open(dial, await startMaster(dial, programs()))
      } catch (error) {
        throw await explained(error, dial)
      }
    },
  }
}
