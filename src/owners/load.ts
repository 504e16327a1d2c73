import { closeSync, openSync } from 'node:fs'
import { TunnelError } from '../errors.ts'

/** What resolving and reading one module opens at once, and some. */
const NEEDED = 4

/**
 * Loads a module on its first use: `load(() => import('tmp'))`. Rejects with `ERR_LOCAL_LIMIT` instead of trying when descriptors are
 * short, because Node remembers a failed import, and even a package.json it could not open, until the process ends (measured, 20.20).
 */
export function load<T>(importing: () => Promise<T>): Promise<T> {
  const spare: number[] = []
  try {
    while (spare.length < NEEDED) spare.push(openSync('/dev/null', 'r'))
  } catch (cause) {
    return Promise.reject(
      new TunnelError('ERR_LOCAL_LIMIT', 'no descriptor is left to load a part of the package with', { cause }),
    )
  } finally {
    for (const descriptor of spare) closeSync(descriptor)
  }
  return importing()
}
