import type { FleetHost } from '../../testing/index.ts'

/** One misfortune: when, to which host, what, and when it is over. */
export interface Misfortune {
  readonly atMillis: number
  readonly host: number
  /** In words, for whoever watches. */
  readonly what: string
  readonly begin: (host: FleetHost) => void
  readonly endMillis?: number
  readonly end?: (host: FleetHost) => void
}

/** What happens in the demo. Hosts recover by themselves, except the one whose key changed: that one is barred until somebody looks. */
export const SCRIPT: readonly Misfortune[] = [
  { atMillis: 1_000, host: 3, what: 'freezes', begin: (host) => host.freeze(), endMillis: 5_500, end: (host) => host.thaw() },
  { atMillis: 1_600, host: 6, what: 'has its connections cut', begin: (host) => host.sever() },
  {
    atMillis: 2_200,
    host: 9,
    what: 'restarts: connections cut and new ones refused',
    begin: (host) => {
      host.refuse(true)
      host.sever()
    },
    endMillis: 5_000,
    end: (host) => host.refuse(false),
  },
  {
    atMillis: 2_800,
    host: 12,
    what: 'becomes slow (150 ms each way)',
    begin: (host) => host.delay(150),
    endMillis: 7_500,
    end: (host) => host.delay(0),
  },
  {
    atMillis: 3_400,
    host: 15,
    what: 'comes back with another host key',
    begin: (host) => {
      host.rotateHostKey()
      host.sever()
    },
  },
  { atMillis: 4_000, host: 18, what: 'sends garbage', begin: (host) => host.garbage() },
  {
    atMillis: 4_600,
    host: 21,
    what: 'loses our key from its authorized_keys',
    begin: (host) => {
      host.rejectAuth(true)
      host.sever()
    },
    endMillis: 8_000,
    end: (host) => host.rejectAuth(false),
  },
  {
    atMillis: 5_200,
    host: 23,
    what: 'answers no channel',
    begin: (host) => host.muteChannels(true),
    endMillis: 8_000,
    end: (host) => host.muteChannels(false),
  },
]
