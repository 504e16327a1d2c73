import { readFile } from 'node:fs/promises'
import type { Target } from '../api/target.ts'
import { TunnelError } from '../errors.ts'
import { invalidOption, quote } from '../options/invalid.ts'
import { load } from '../owners/load.ts'
import { checkPath } from '../target/paths.ts'
import { ConfigReader } from './reader.ts'

/**
 * Reads what ssh would do for `ssh alias` from one config file, as a target: HostName, Port, User, IdentityFile, CertificateFile, ProxyJump,
 * UserKnownHostsFile and HostKeyAlias, for the hops, too. Without IdentityFile the identity is `'ambient'`. No other file is read (`Include`
 * is not followed) and nothing is run (`Match exec` does not hold). What is read is not watched: the target is plain data.
 *
 * @param path the file, `~` being the user's home, such as `~/.ssh/config`
 * @param alias what stands after `ssh` on a command line; one that the file does not name is a host name
 * @returns the target, and the keywords that would hold for it but say nothing to this package, each once, in the order of the file
 * @throws TunnelError `ERR_INVALID_OPTION` for a file that cannot be read or parsed, or hops that go round in circles
 * @example
 * const { target, ignored } = await targetFromConfig('~/.ssh/config', 'gpu-7')
 * await using lease = await pool.acquire(target)
 */
export async function targetFromConfig(path: string, alias: string): Promise<{ target: Target; ignored: readonly string[] }> {
  const file = checkPath(path, 'path')
  if (typeof alias !== 'string' || !/^[^\s\p{C}-]\S*$/u.test(alias))
    throw invalidOption('alias', 'the name of a host in the config', alias)
  const failed = (what: string, cause: unknown) =>
    new TunnelError(
      'ERR_INVALID_OPTION',
      `could not ${what} ${quote(file)}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    )
  const text = await readFile(file, 'utf8').catch((cause) => {
    throw failed('read', cause)
  })
  const { parse } = await load(() => import('ssh-config'))
  let config: ReturnType<typeof parse>
  try {
    config = parse(text)
  } catch (cause) {
    throw failed('parse', cause)
  }
  return new ConfigReader(config).target(alias)
}
