import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { TunnelError } from '../../errors.ts'

const TYPES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'charts.svg': 'image/svg+xml',
}

export interface PageFile {
  readonly type: string
  readonly body: Buffer
}

/** Beside the package's own files, wherever the bundler put this one; in a working copy, where the build puts them. */
function findFolder(): URL {
  const tried = ['./', '../', '../../', '../../../', '../../../../'].flatMap((up) => [`${up}page/`, `${up}dist/page/`])
  const found = tried.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(new URL('page.js', url)))
  if (found !== undefined) return found
  throw new TunnelError(
    'ERR_UNSUPPORTED',
    "the inspector's page is not where its code is: leave `ssh-warren/inspector` out of your bundle (external); in a working copy: npm run page",
  )
}

/** The page's files by URL path, read once. Rejects with `ERR_UNSUPPORTED` when they are not there. */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const folder = findFolder()
  const read = Object.entries(TYPES).map(async ([name, type]) => {
    const file = { type, body: await readFile(new URL(name, folder)) }
    return [name === 'index.html' ? '/' : `/${name}`, file] as const
  })
  return new Map(await Promise.all(read))
}
