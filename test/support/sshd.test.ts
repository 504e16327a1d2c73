import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { typescript } from './child.ts'
import { RawClient } from './raw-client.ts'
import { type Sshd, startSshd } from './sshd.ts'
import { until } from './until.ts'

const refusedAt = async (port: number): Promise<boolean> => {
  const [error] = await once(connect({ host: '127.0.0.1', port }), 'error')
  return error.code === 'ECONNREFUSED'
}

describe('a private sshd', () => {
  let sshd: Sshd

  before(async () => {
    sshd = await startSshd({ config: { AllowTcpForwarding: 'no', AcceptEnv: ['A', 'B'], LogLevel: 'DEBUG1' } })
  })

  after(() => sshd.close())

  it('lets its key in, as configured, and tells of it', async () => {
    await using raw = await RawClient.connect(sshd.target)
    assert.equal((await raw.exec('echo "$USER"')).stdout, `${sshd.user}\n`)
    await assert.rejects(raw.channel(1), /open failed/)
    assert.match(sshd.log(), /Accepted publickey for /)
    assert.match(sshd.log(), /debug1: /)
    assert.ok(sshd.sessions().length > 0)
  })

  it('has no session left once the client has gone, and can end them itself', async () => {
    await until(() => sshd.sessions().length === 0)
    await using raw = await RawClient.connect(sshd.target)
    sshd.killSessions()
    await until(() => raw.socket.closed && sshd.sessions().length === 0)
    await using again = await RawClient.connect(sshd.target)
    await again.roundTrip()
  })

  it('shows another host key and leaves present connections alone', async () => {
    await using raw = await RawClient.connect(sshd.target)
    await sshd.rotateHostKey()
    await assert.rejects(RawClient.connect(sshd.target), /Host denied/)
    await raw.roundTrip()
    const target = { ...sshd.target, hostKey: { pinned: sshd.fingerprint } }
    await using again = await RawClient.connect(target)
    await again.roundTrip()
  })

  it('is down with its sessions after stop, and up on the same port after start', async () => {
    const target = { ...sshd.target, hostKey: { pinned: sshd.fingerprint } }
    await using raw = await RawClient.connect(target)
    await sshd.stop()
    await until(() => raw.socket.closed)
    assert.ok(await refusedAt(sshd.port))
    await sshd.start()
    await using again = await RawClient.connect(target)
    await again.roundTrip()
    await sshd.restart()
  })

  it('leaves nothing', async () => {
    const own = await startSshd()
    assert.ok(existsSync(own.keyPath))
    await own.close()
    await own.close()
    assert.equal(existsSync(own.directory), false)
    assert.ok(await refusedAt(own.port))
  })

  it('dies with its test process', async () => {
    const script = `const { startSshd } = await import(${JSON.stringify(fileURLToPath(new URL('sshd.ts', import.meta.url)))})
      console.log(JSON.stringify(await startSshd().then(({ port, directory }) => ({ port, directory }))))`
    const child = spawn(process.execPath, [...typescript, '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(child.stdout, 'data')
    const { port, directory } = JSON.parse(String(line))
    child.kill('SIGKILL')
    await once(child, 'close')
    await until(() => refusedAt(port))
    const { rmSync } = await import('node:fs')
    rmSync(directory, { recursive: true })
  })
})
