import { TunnelError } from '../../errors.ts'
import type { Transport } from '../transport.ts'

/** The transport by a child; not there yet, and refused where a target is checked. */
export const opensshTransport: Transport = {
  name: 'openssh',
  needsDirectory: true,
  dial: async () => {
    throw new TunnelError('ERR_UNSUPPORTED', "`transport: 'openssh'` is not in this release yet")
  },
}
