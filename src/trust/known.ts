import type { ResolvedTarget } from '../target.ts'
import { unlessAborted } from '../wait.ts'
import { algorithmsFor, type KnownKey } from './key.ts'
import type { KnownHostsFile } from './known-hosts-file.ts'
import { type KnownHostsLine, keyOf } from './line.ts'

/** What a key is to us. */
export type Verdict = 'known' | 'unknown' | 'changed' | 'revoked'

/** All that is written down about one host. */
export class Known {
  constructor(
    readonly name: string,
    readonly keys: readonly KnownKey[],
    /** Known for the host without its port; they count when nothing is known with it. */
    readonly portlessKeys: readonly KnownKey[] = [],
    readonly revoked: readonly KnownKey[] = [],
    readonly authorities: readonly KnownKey[] = [],
  ) {}

  judge(blob: Buffer): Verdict {
    if (this.isRevoked(blob)) return 'revoked'
    if (this.keys.length > 0) return has(this.keys, blob) ? 'known' : 'changed'
    return has(this.portlessKeys, blob) ? 'known' : 'unknown'
  }

  isRevoked(blob: Buffer): boolean {
    return has(this.revoked, blob)
  }

  /** The keys the host may show when no other will be accepted. */
  acceptable(): readonly KnownKey[] {
    const keys = this.keys.length > 0 ? this.keys : this.portlessKeys
    return keys.filter((key) => !this.isRevoked(key.blob))
  }

  /** The algorithms of those keys, best first. */
  algorithms(): readonly string[] {
    return algorithmsFor(this.acceptable())
  }
}

/**
 * Looks a target up as /usr/bin/ssh does (measured with OpenSSH 9.2p1): under `[host]:port`, and when no key at all is known for
 * that, under the bare host, where only a match counts: another key there leaves the host unknown, not changed. (`ssh-keygen -F`
 * never looks under the bare host.) An alias is looked up as it is. One thing is stricter than ssh's accept-new: a key revoked
 * for the bare host is then refused, not added.
 */
export async function lookUp(files: readonly KnownHostsFile[], target: ResolvedTarget, signal?: AbortSignal): Promise<Known> {
  const tables = await Promise.all(files.map((file) => file.current(signal)))
  const find = async (name: string) =>
    (await unlessAborted(Promise.all(tables.map((table) => table.find(name, signal))), signal)).flat()
  const lines = await find(target.hostKeyName)
  const keys = keysOf(lines, '')
  const host = target.host.toLowerCase()
  const isPorted = target.port !== 22 && target.hostKeyName === `[${host}]:${target.port}`
  const portless = isPorted && keys.length === 0 ? await find(host) : []
  const all = [...lines, ...portless]
  return new Known(target.hostKeyName, keys, keysOf(portless, ''), keysOf(all, '@revoked'), keysOf(all, '@cert-authority'))
}

function keysOf(lines: readonly KnownHostsLine[], marker: KnownHostsLine['marker']): KnownKey[] {
  return lines.flatMap((line) => (line.marker === marker ? (keyOf(line) ?? []) : []))
}

function has(keys: readonly KnownKey[], blob: Buffer): boolean {
  return keys.some((key) => key.blob.equals(blob))
}
