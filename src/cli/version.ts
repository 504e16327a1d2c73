import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

function nameAndVersion(directory: string): { name?: string; version?: string } {
  try {
    return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { name?: string; version?: string }
  } catch {
    return {}
  }
}

/** The version in the nearest package.json of this package above `directory`: sources and bundles lie at different depths. */
export function versionAbove(directory: string): string {
  const { name, version } = nameAndVersion(directory)
  if (name === 'ssh-warren' && version !== undefined) return version
  const parent = dirname(directory)
  return parent === directory ? 'unknown' : versionAbove(parent)
}
