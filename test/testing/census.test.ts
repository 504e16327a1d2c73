import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { census } from '../../src/testing/index.ts'
import { closeServer } from '../../src/testing/server.ts'
import { until } from '../support/until.ts'

describe('census', () => {
  it('lists children and their children', async () => {
    const before = await census()
    const child = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    const [line] = await once(child.stdout, 'data')
    await until(async () => (await census()).children.includes(`${Number(line)} sleep`))
    assert.ok((await census()).children.includes(`${child.pid} sh`))
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    await once(child, 'close')
    await until(async () => (await census()).children.length === before.children.length)
  })

  it('counts a zombie, and still lists it', async () => {
    // The shell becomes a program that never asks after the child it has inherited.
    const child = spawn('/bin/sh', ['-c', 'true & exec sleep 60'], { stdio: 'ignore' })
    await until(async () => (await census()).zombies === 1)
    assert.equal((await census()).children.filter((entry) => / (true|sh)$/.test(entry)).length, 1)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await until(async () => (await census()).zombies === 0)
  })

  it('names what this process listens on, and nothing that others do', async () => {
    const before = await census()
    const directory = mkdtempSync(join(tmpdir(), 'census-'))
    const path = join(directory, 'socket')
    const [v4, v6] = [await listening({ host: '127.0.0.1', port: 0 }), await listening({ host: '::1', port: 0 })]
    const unix = await listening({ path })
    const port = (server: Server): number => (server.address() as AddressInfo).port
    const expected = [`tcp 127.0.0.1:${port(v4)}`, `tcp [::1]:${port(v6)}`, `unix ${path}`]
    const now = await census()
    assert.deepEqual(
      now.listening.filter((name) => !before.listening.includes(name)),
      expected.sort(),
    )
    assert.equal(now.descriptors, before.descriptors + 3)
    assert.equal(now.handles.TCPServerWrap, (before.handles.TCPServerWrap ?? 0) + 2)
    await Promise.all([v4, v6, unix].map(closeServer))
    rmSync(directory, { recursive: true })
    assert.deepEqual((await census()).listening, before.listening)
    assert.equal((await census()).handles.TCPServerWrap, before.handles.TCPServerWrap)
  })

  it('lists the names in a directory, however deep, and none in one that is gone', async () => {
    const runtimeDirectory = mkdtempSync(join(tmpdir(), 'census-'))
    mkdirSync(join(runtimeDirectory, 'a', 'b'), { recursive: true })
    writeFileSync(join(runtimeDirectory, 'a', 'b', 'c'), '')
    assert.deepEqual((await census({ runtimeDirectory })).files, ['a', 'a/b', 'a/b/c'])
    rmSync(runtimeDirectory, { recursive: true })
    assert.deepEqual((await census({ runtimeDirectory })).files, [])
    assert.deepEqual((await census()).files, [])
  })

  it('counts listeners on process', async () => {
    const before = await census()
    const listener = (): void => {}
    process.on('SIGUSR2', listener)
    assert.equal((await census()).handles['process.on(SIGUSR2)'], 1)
    process.off('SIGUSR2', listener)
    assert.equal((await census()).handles['process.on(SIGUSR2)'], before.handles['process.on(SIGUSR2)'])
  })
})

async function listening(where: ListenOptions): Promise<Server> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(where, resolve))
  return server
}
