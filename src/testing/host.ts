import type { Remote } from '../api/forward.ts'
import type { Jump, Target } from '../api/target.ts'
import type { FleetHost } from './contract.ts'
import { Daemon } from './daemon.ts'
import { Door } from './door.ts'
import { HEALTH_PORT } from './health.ts'
import { clientKeyPair } from './keys.ts'
import type { Tally } from './tally.ts'
import { Wires } from './wires.ts'

/** A host: a door, wires that suffer what the switches say, and a daemon at their end. */
export class Host implements FleetHost {
  readonly target: Target
  readonly http: Remote = { host: '127.0.0.1', port: HEALTH_PORT }
  readonly #door: Door
  readonly #wires: Wires
  readonly #daemon: Daemon
  readonly #tally: Tally

  private constructor(
    door: Door,
    wires: Wires,
    daemon: Daemon,
    tally: Tally,
    about: { label: string; behind: FleetHost | undefined },
  ) {
    this.#door = door
    this.#wires = wires
    this.#daemon = daemon
    this.#tally = tally
    this.target = {
      host: '127.0.0.1',
      port: door.port,
      user: 'fleet',
      identity: { key: clientKeyPair().private },
      hostKey: { pinned: daemon.hostKey.fingerprint },
      label: about.label,
      ...(about.behind && { jumps: jumpsOver(about.behind.target) }),
    }
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(about: { label: string; behind: FleetHost | undefined }): Promise<Host> {
    const tally: Tally = { connections: 0, logins: 0, channels: 0, openChannels: 0, requests: 0 }
    const daemon = new Daemon(tally)
    const wires = new Wires({ allowHalfOpen: false })
    const door = await Door.open((socket) => {
      tally.connections += 1
      daemon.serve(wires.add(socket))
    })
    return new Host(door, wires, daemon, tally, about)
  }

  get counts(): Readonly<Tally> {
    return { ...this.#tally }
  }

  freeze(): void {
    this.#wires.change({ isFrozen: true })
  }

  thaw(): void {
    this.#wires.change({ isFrozen: false })
  }

  refuse(on = true): void {
    if (on) this.#door.shut()
    else this.#door.reopen()
  }

  sever(): void {
    this.#wires.sever()
  }

  delay(millis: number): void {
    this.#wires.change({ delayMillis: millis })
  }

  muteChannels(on = true): void {
    this.#daemon.muteChannels(on)
  }

  rotateHostKey(): void {
    this.#daemon.rotateHostKey()
  }

  rejectAuth(on = true): void {
    this.#daemon.rejectAuth(on)
  }

  swallowFin(on = true): void {
    this.#wires.change({ swallowsFin: on })
  }

  garbage(): void {
    this.#wires.garbage('client')
  }

  /** Frees the listener and every socket, whatever the switches say. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#door.close(), this.#wires.close(), this.#daemon.close()])
  }
}

function jumpsOver({ host, port, user, identity, hostKey, jumps = [] }: Target): Jump[] {
  return [...jumps, { host, port, user, identity, hostKey }]
}
