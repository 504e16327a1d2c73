import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Every source file of ours, by path from the root. */
export const files = ['machines', 'src'].flatMap((root) =>
  (readdirSync(root, { recursive: true, encoding: 'utf8' }) as string[])
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(root, file)),
)
/** Their text. */
export const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))
/** A file's text with its comments blanked out. */
export const codeOf = (file: string): string =>
  (sources.get(file) ?? '').replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, ''))
