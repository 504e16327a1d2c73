import { TunnelError } from '../../errors.ts'
import { shown } from '../../shown.ts'
import type { ConnectionLife } from '../life.ts'
import { refusedChannel } from '../refused-channel.ts'
import type { Bounds, Dial } from '../transport.ts'
import type { ProxyChannel } from './proxy/channel.ts'
import type { ConnectionLayer, Listener } from './proxy/layer.ts'
import type { ChannelKind } from './proxy/messages.ts'

/** A channel that is not opened costs the master a slot for good, and it ends at 16,388 (9.2, by trial): long before that it is succeeded, */
const WORN_AFTER = 4_000
/** and where it cannot be, it opens no more, for the sake of what it carries. */
const MOST_REFUSED = 16_000

/** What channels are opened on. */
export interface Ground {
  readonly dial: Dial
  readonly layer: ConnectionLayer
  readonly life: ConnectionLife
}

/** Opens the channels of one connection, each with an entry in its scope, and counts those that the server does not open. */
export class Openings {
  readonly #ground: Ground
  #refused = 0
  #worn: () => void = () => {}

  constructor(ground: Ground) {
    this.#ground = ground
  }

  /** See `Connection.onWorn`. */
  onWorn(listener: () => void): void {
    this.#worn = listener
  }

  /** Asks the server for a channel. Rejects as `Connection.openChannel` does; then what still comes of it is closed. */
  async open(kind: ChannelKind, label: string, bounds: Bounds, request?: Listener['request']): Promise<ProxyChannel> {
    const { dial, layer, life } = this.#ground
    if (this.#refused >= MOST_REFUSED)
      throw new TunnelError(
        'ERR_LOCAL_LIMIT',
        `no channel to ${label}: after ${this.#refused} that were refused, ssh has no room`,
        {
          phase: 'channel',
        },
      )
    let giveUp: (() => void) | undefined
    const held = dial.scope.hold('channel', label, { force: () => giveUp?.() })
    const start = (settle: (channel: ProxyChannel) => void, fail: (error: unknown) => void): void => {
      giveUp = layer.open(kind, {
        opened: settle,
        refused: ({ reason, text }) => {
          this.#count()
          fail(refusedChannel(reason, shown(text), label))
        },
        request,
        gone: () => held.strike(),
      })
    }
    try {
      return await life.answer(start, bounds, () => tooLate(label, bounds), layer.reading.question())
    } catch (error) {
      if (giveUp === undefined) held.strike()
      else giveUp()
      throw error
    }
  }

  #count(): void {
    this.#refused += 1
    if (this.#refused === WORN_AFTER) this.#worn()
  }
}

/** The server's answer did not come. */
export function tooLate(label: string, { timeoutMillis }: Bounds): TunnelError {
  return new TunnelError('ERR_CHANNEL_TIMEOUT', `the server did not open a channel to ${label} within ${timeoutMillis} ms`, {
    phase: 'channel',
  })
}
