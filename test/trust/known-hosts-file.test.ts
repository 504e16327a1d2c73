import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import type promises from 'node:fs/promises'
import { join } from 'node:path'
import { KnownHostsFile } from '../../src/trust/known-hosts-file.ts'
import { freshDirectory, makeKey, refused, replacing } from './given.ts'

describe('KnownHostsFile', () => {
  const directory = freshDirectory()
  let key = ''
  before(() => {
    key = makeKey().line
  })
  const path = () => join(directory(), 'known_hosts')
  const sourcesOf = async (file: KnownHostsFile, name: string) =>
    (await (await file.current()).find(name)).map(({ source }) => source)
  /** Long ago enough for the file to be believed unchanged. */
  const settle = (seconds: number) => utimesSync(path(), seconds, seconds)

  it('holds nothing while there is no file, and what is in it once there is', async () => {
    const file = new KnownHostsFile(path())
    assert.deepEqual(await sourcesOf(file, 'alpha'), [])
    writeFileSync(path(), `alpha ${key}\n`)
    assert.deepEqual(await sourcesOf(file, 'alpha'), [`${path()}:1`])
    rmSync(path())
    assert.deepEqual(await sourcesOf(file, 'alpha'), [])
  })

  it('reads once for 1,000 who ask at once, and again only when the file has changed', async () => {
    writeFileSync(path(), `alpha ${key}\n`)
    settle(1_000_000)
    const file = new KnownHostsFile(path())
    let opened = 0
    await replacing(
      'open',
      (open) =>
        (...args: Parameters<typeof open>) => {
          opened++
          return open(...args)
        },
      async () => {
        const tables = await Promise.all(Array.from({ length: 1_000 }, () => file.current()))
        assert.deepEqual([opened, new Set(tables).size], [1, 1])
        await Promise.all(Array.from({ length: 1_000 }, () => file.current()))
        assert.equal(opened, 1)
        writeFileSync(path(), `alpha ${key}\nbeta ${key}\n`)
        settle(1_000_001)
        await Promise.all(Array.from({ length: 1_000 }, () => file.current()))
        assert.equal(opened, 2)
      },
    )
    assert.deepEqual(await sourcesOf(file, 'beta'), [`${path()}:2`])
  })

  it('does not believe yet that a file is the same which was written just now', async () => {
    writeFileSync(path(), `alpha ${key}\n`)
    // However slow the machine: not yet over.
    settle(Date.now() / 1_000 + 1_000)
    const file = new KnownHostsFile(path())
    let opened = 0
    const counting =
      (open: typeof promises.open) =>
      (...args: Parameters<typeof open>) => {
        opened++
        return open(...args)
      }
    await replacing('open', counting, async () => {
      for (let i = 0; i < 3; i++) await file.current()
    })
    assert.equal(opened, 3)
  })

  it('shows whoever asks later what was written meanwhile', async () => {
    writeFileSync(path(), '')
    const file = new KnownHostsFile(path())
    const earlier = file.current()
    await Promise.resolve()
    await Promise.resolve()
    writeFileSync(path(), `alpha ${key}\n`)
    assert.deepEqual(await sourcesOf(file, 'alpha'), [`${path()}:1`])
    await earlier
  })

  it('notices a change of equal size within one tick of the clock, in place or by rename', async () => {
    const file = new KnownHostsFile(path())
    for (let i = 0; i < 30; i++) {
      const [name, other] = i % 2 ? ['alpha', 'gamma'] : ['gamma', 'alpha']
      writeFileSync(i % 3 ? path() : `${path()}.new`, `${name} ${key}\n`)
      if (i % 3 === 0) renameSync(`${path()}.new`, path())
      assert.deepEqual(await sourcesOf(file, name), [`${path()}:1`], `round ${i}`)
      assert.deepEqual(await sourcesOf(file, other), [], `round ${i}`)
    }
  })

  for (const [change, before, after, finds] of [
    [
      'more lines',
      'alpha KEY\n# beta KEY\n',
      'alpha KEY\n# beta KEY\n\ngamma KEY\nalpha KEY\n',
      { alpha: [1, 5], beta: [], gamma: [4] },
    ],
    ['the rest of a line', 'alpha KEY\ngam', 'alpha KEY\ngamma KEY\n', { alpha: [1], gam: [], gamma: [2] }],
    ['a line after one that had no end', 'alpha KEY', 'alpha KEY\nbeta KEY', { alpha: [1], beta: [2] }],
    [
      'another beginning',
      'alpha KEY\nbeta KEY\n',
      'gamma KEY\nbeta KEY\ndelta KEY\n',
      { alpha: [], beta: [2], gamma: [1], delta: [3] },
    ],
    ['fewer lines', 'alpha KEY\nbeta KEY\n', 'alpha KEY\n', { alpha: [1], beta: [] }],
  ] as const) {
    it(`reads ${change} as if it had read the whole file`, async () => {
      const file = new KnownHostsFile(path())
      for (const text of [before, after]) {
        writeFileSync(path(), text.replaceAll('KEY', key))
        await file.current()
      }
      for (const [name, lines] of Object.entries(finds))
        assert.deepEqual(
          await sourcesOf(file, name),
          (lines as readonly number[]).map((line) => `${path()}:${line}`),
        )
    })
  }

  it('takes up hashed names that are added and lets go of those removed', async () => {
    const file = new KnownHostsFile(path())
    const write = (text: string) => {
      writeFileSync(path(), text)
      execFileSync('ssh-keygen', ['-q', '-H', '-f', path()], { stdio: 'ignore' })
    }
    write(`alpha ${key}\n`)
    assert.deepEqual(await sourcesOf(file, 'alpha'), [`${path()}:1`])
    write(`beta ${key}\nalpha ${key}\n`)
    assert.deepEqual(await sourcesOf(file, 'alpha'), [`${path()}:2`])
    assert.deepEqual(await sourcesOf(file, 'beta'), [`${path()}:1`])
    write(`beta ${key}\n`)
    assert.deepEqual(await sourcesOf(file, 'alpha'), [])
  })

  it('takes /dev/null for a file without a line', async () => {
    assert.deepEqual(await sourcesOf(new KnownHostsFile('/dev/null'), 'alpha'), [])
  })

  it('says of what cannot be read what it is and what to do, and reads it once it can', async () => {
    mkdirSync(path())
    const file = new KnownHostsFile(path())
    await assert.rejects(file.current(), refused('ERR_HOST_KEY', path(), 'it is not a file', 'or name another'))
    rmSync(path(), { recursive: true })
    execFileSync('mkfifo', [path()])
    await assert.rejects(file.current(), refused('ERR_HOST_KEY', path(), 'it is not a file'))
    rmSync(path())
    writeFileSync(path(), `alpha ${key}\n`)
    assert.deepEqual(await sourcesOf(file, 'alpha'), [`${path()}:1`])
  })

  for (const [errno, code] of [
    ['EACCES', 'ERR_HOST_KEY'],
    ['EMFILE', 'ERR_LOCAL_LIMIT'],
  ] as const) {
    it(`calls ${errno} ${code}`, async () => {
      const failing = () => () => Promise.reject(Object.assign(new Error(`${errno}: no`), { code: errno }))
      writeFileSync(path(), `alpha ${key}\n`)
      const file = new KnownHostsFile(path())
      await replacing('open', failing, () => assert.rejects(file.current(), refused(code, errno)))
      assert.deepEqual(await sourcesOf(file, 'alpha'), [`${path()}:1`])
    })
  }

  it('lets go of whoever aborts, with the reason, while the file is being looked at', async () => {
    writeFileSync(path(), `alpha ${key}\n`)
    const file = new KnownHostsFile(path())
    let goOn = () => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const holding =
      (open: typeof promises.open) =>
      async (...args: Parameters<typeof open>) => {
        await held
        return open(...args)
      }
    await replacing('open', holding, async () => {
      const leaver = new AbortController()
      const left = file.current(leaver.signal)
      const stayed = file.current()
      leaver.abort(new Error('enough'))
      await assert.rejects(left, /^Error: enough$/)
      goOn()
      await stayed
    })
    assert.deepEqual(await sourcesOf(file, 'alpha'), [`${path()}:1`])
  })
})
