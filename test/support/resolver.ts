import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

const { lookup } = dns

/** The resolver of this process, with answers of our own until `restore`. */
export const resolver = {
  /** Every name that was asked for, since `restore`. */
  asked: [] as string[],

  /** Has it give `name` these addresses, in this order. */
  resolveTo(name: string, addresses: readonly string[]): void {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    const before = dns.lookup
    const replaced = (host: string, options: dns.LookupAllOptions, answer: (...args: never[]) => void): void => {
      if (host !== name) {
        before(host, options, answer as never)
        return
      }
      resolver.asked.push(host)
      process.nextTick(answer as (...args: unknown[]) => void, null, found)
    }
    dns.lookup = replaced as unknown as typeof dns.lookup
    syncBuiltinESMExports()
  },

  restore(): void {
    resolver.asked.length = 0
    dns.lookup = lookup
    syncBuiltinESMExports()
  },
}
