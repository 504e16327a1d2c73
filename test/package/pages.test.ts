import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const root = process.cwd()
const read = (path: string) => readFile(join(root, path), 'utf8')

async function pages(): Promise<string[]> {
  const docs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'))
  return ['README.md', 'CHANGELOG.md', 'SECURITY.md', ...docs.map((name) => `docs/${name}`)]
}

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

describe('the pages', () => {
  it('lead nowhere that does not exist', async () => {
    const dead: string[] = []
    for (const page of await pages()) {
      const text = (await read(page)).replaceAll(/^```[\s\S]*?^```$/gm, '')
      for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(link)) continue
        const [path = '', anchor] = link.split('#')
        const file = path === '' ? page : join(dirname(page), path)
        if (!existsSync(join(root, file))) dead.push(`${page}: ${link}`)
        else if (anchor !== undefined) {
          const headings = [...(await read(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
          if (!headings.includes(anchor)) dead.push(`${page}: ${link}`)
        }
      }
    }
    assert.deepEqual(dead, [])
  })

  it('explain every code of an error, and no other', async () => {
    const contract = await read('src/errors.ts')
    const union = contract.slice(contract.indexOf('export type TunnelErrorCode'), contract.indexOf('const RETRYABLE'))
    const codes = [...union.matchAll(/'(ERR_\w+)'/g)].map(([, code]) => code)
    const explained = [...(await read('docs/errors.md')).matchAll(/^### (ERR_\w+)$/gm)].map(([, code]) => code)
    assert.ok(codes.length > 25)
    assert.deepEqual(explained.toSorted(), codes.toSorted())
  })

  it('name every page of docs in the README', async () => {
    const readme = await read('README.md')
    assert.deepEqual(
      (await pages()).filter((page) => page.startsWith('docs/') && !readme.includes(`(${page})`)),
      [],
    )
  })

  it('show before they explain: the README has at most 300 lines', async () => {
    assert.ok((await read('README.md')).split('\n').length <= 300)
  })
})
