import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Has tsx start its compiler, which it does at the first file that it has not compiled before: in the middle of a test, the two sockets to
 * that process would count as the test's.
 */
export async function startCompiler(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'compiler-'))
  try {
    // As a module: what is required is compiled in another way.
    const file = join(directory, 'unknown.mts')
    await writeFile(file, `export const unknown: string = '${directory}'\n`)
    await import(pathToFileURL(file).href)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
