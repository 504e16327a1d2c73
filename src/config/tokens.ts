import { hostname } from 'node:os'
import { homeDirectory } from '../target/paths.ts'

/** What the percent signs of a config stand for. */
export interface Meanings {
  readonly alias: string
  readonly host: string
  readonly port: number
  readonly user: string
  readonly localUser: string
}

/** Replaces `%h` and its kind (ssh_config(5), TOKENS) and `${NAME}`. What stands for nothing here stays as it is. */
export function expand(text: string, { alias, host, port, user, localUser }: Meanings): string {
  const tokens: Readonly<Record<string, string | undefined>> = {
    '%': '%',
    h: host,
    n: alias,
    p: String(port),
    r: user,
    u: localUser,
    d: homeDirectory(),
    i: process.getuid?.().toString(),
    l: hostname(),
    L: hostname().split('.')[0],
  }
  return text
    .replace(/%(.)/g, (whole, token: string) => tokens[token] ?? whole)
    .replace(/\$\{(\w+)\}/g, (whole, name: string) => process.env[name] ?? whole)
}
