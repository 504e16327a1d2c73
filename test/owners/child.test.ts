import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { systemClock } from '../../src/clock.ts'
import { findSetpriv } from '../../src/owners/child/find-program.ts'
import { allProcesses } from '../../src/owners/child/proc.ts'
import { OwnedChild } from '../../src/owners/child.ts'
import { Ledger } from '../../src/owners/ledger.ts'
import { Scope } from '../../src/owners/scope.ts'
import { refusal } from '../support/pool.ts'
import { until } from '../support/until.ts'

const READY = 'echo ready >&2'

/** Those of its group that are more than a name in the kernel's table. */
const livingIn = (group: number) => [...allProcesses()].filter((entry) => entry.group === group && !entry.isZombie)

describe('OwnedChild', () => {
  let ledger: Ledger
  let scope: Scope

  beforeEach(() => {
    ledger = new Ledger()
    scope = new Scope(ledger, 'test')
  })

  const start = (script: string, more: Partial<Parameters<typeof OwnedChild.start>[0]> = {}): Promise<OwnedChild> =>
    OwnedChild.start({
      file: '/bin/sh',
      args: ['-c', script],
      directory: tmpdir(),
      environment: { PATH: process.env.PATH ?? '', LANG: 'C' },
      setpriv: findSetpriv(),
      label: 'sh',
      scope,
      clock: systemClock,
      ...more,
    })
  const ready = async (script: string): Promise<OwnedChild> => {
    const child = await start(script)
    await until(() => child.said().includes('ready'), { what: 'it runs' })
    return child
  }

  it('is in the ledger from before it exists', async () => {
    const starting = start('exit 0')
    assert.deepEqual(
      ledger.entries().map(({ kind, label }) => [kind, label]),
      [['child', 'sh']],
    )
    const child = await starting
    assert.deepEqual(await child.exited, { code: 0, signal: null })
    await scope.emptied()
  })

  for (const [how, script] of [
    ['ends on SIGTERM', `${READY}; sleep 60`],
    ['ends on SIGTERM, and its child with it', `sleep 60 & ${READY}; wait`],
    ['has a child that ignores its end', `(trap "" HUP; sleep 60) & ${READY}; wait`],
    ['has ended already', `${READY}; exit 3`],
  ] as const) {
    it(`is gone, with all of its group, when it is asked and ${how}`, async () => {
      const child = await ready(script)
      scope.ask()
      await scope.emptied()
      assert.deepEqual(livingIn(child.pid), [])
      assert.notEqual(child.exit, undefined)
    })
  }

  for (const [how, script] of [
    ['ignores SIGTERM', `trap "" TERM; ${READY}; while :; do sleep 1; done`],
    ['has a child that ignores SIGTERM', `(trap "" TERM; ${READY}; while :; do sleep 1; done) & wait`],
  ] as const) {
    it(`is gone when it is forced and ${how}`, async () => {
      const child = await ready(script)
      scope.ask()
      assert.equal(ledger.size, 1)
      scope.force()
      await scope.emptied()
      assert.deepEqual(livingIn(child.pid), [])
      assert.equal(child.exit?.signal, 'SIGKILL')
    })
  }

  it('that is stopped does not end when asked, and does when forced', async () => {
    const child = await ready(`${READY}; sleep 60`)
    process.kill(child.pid, 'SIGSTOP')
    scope.ask()
    await new Promise(setImmediate)
    assert.equal(ledger.size, 1)
    scope.force()
    await scope.emptied()
    assert.equal(child.exit?.signal, 'SIGKILL')
  })

  it('that ends by itself takes along what lives on in its group, even what ignores SIGTERM', async () => {
    const child = await start(`(trap "" TERM; ${READY}; while :; do sleep 0.2; done) & while :; do sleep 0.1; done`)
    await until(() => child.said().includes('ready'))
    process.kill(child.pid, 'SIGKILL')
    await child.exited
    assert.equal(ledger.size, 1, 'its group is not empty yet')
    await scope.emptied()
    assert.deepEqual(livingIn(child.pid), [])
  })

  it('is judged by its exit when a helper of its own holds its stderr open', async () => {
    const child = await start(`sleep 60 & ${READY}; exit 5`)
    assert.deepEqual(await child.exited, { code: 5, signal: null })
    assert.match(child.said(), /ready/)
    await scope.emptied()
  })

  it('has all of its last words when it is judged', async () => {
    const child = await start('head -c 12000 /dev/zero | tr "\\0" x >&2; echo " the end" >&2; exit 1')
    await child.exited
    assert.equal(child.said().length, 12_000 + ' the end\n'.length)
    await scope.emptied()
  })

  it('may say as much as it likes: the end of it is kept, in bounds', async () => {
    const child = await start(
      'i=0; while [ $i -lt 200 ]; do head -c 65536 /dev/zero | tr "\\0" y; i=$((i+1)); done >&2; echo last >&2',
    )
    await child.exited
    assert.equal(child.said().length, 16 * 1024)
    assert.ok(child.said().endsWith('last\n'))
    await scope.emptied()
  })

  it('is started after its scope began to end: asked to end at once', async () => {
    scope.ask()
    await start('sleep 60')
    await scope.emptied()
  })

  it('has a group and session of its own, no terminal, no input, and nothing of our environment', async () => {
    process.env.WARREN_CANARY = 'seen'
    const child = await ready(`env >&2; readlink /proc/self/fd/0 >&2; cat; ${READY}; sleep 60`).finally(() => {
      delete process.env.WARREN_CANARY
    })
    const [, , group, session, tty] = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    assert.deepEqual([Number(group), Number(session), Number(tty)], [child.pid, child.pid, 0])
    assert.match(child.said(), /^\/dev\/null$/m)
    const names = [...child.said().matchAll(/^(\w+)=/gm)].map(([, name]) => name)
    assert.deepEqual(
      names.filter((name) => !['PATH', 'LANG', 'PWD', '_', 'SHLVL', 'OLDPWD'].includes(name ?? '')),
      [],
    )
    scope.force()
    await scope.emptied()
  })

  for (const [what, more, code] of [
    ['a program that is not there', { file: '/nonexistent/ssh', setpriv: undefined }, 'ERR_SSH_MISSING'],
    ['a program that may not be run', { file: '/etc/passwd', setpriv: undefined }, 'ERR_SSH_MISSING'],
    ['a directory that is gone', { directory: '/nonexistent' }, 'ERR_RUNTIME_DIRECTORY'],
  ] as const) {
    it(`${what} is ${code}, and leaves nothing`, async () => {
      await refusal(start('exit', more), code, 'connect')
      assert.equal(ledger.size, 0)
    })
  }

  it('leaves no listener on the process', async () => {
    const before = process.listenerCount('exit')
    const child = await ready(`${READY}; sleep 60`)
    assert.equal(process.listenerCount('exit'), before + 1)
    await start('exit 0')
    assert.equal(process.listenerCount('exit'), before + 1)
    process.kill(child.pid, 'SIGKILL')
    await scope.emptied()
    assert.equal(process.listenerCount('exit'), before)
  })
})
