import { spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { openSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { Ledger } from '../../../src/owners/ledger.ts'
import { settleWithin, track } from '../hooks.ts'

// Tests that leave something behind, one thing each, and some that do not: hooks.test.ts runs them and reads what the hooks say.

const listening = (server: Server): Promise<Server> =>
  new Promise((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, () => resolve(server)))

describe('leaky', () => {
  const left: Array<() => unknown> = []

  before(async () => {
    settleWithin(150)
    const server = await listening(createServer())
    left.push(() => server.close())
  })

  after(() => left.forEach((end) => void end()))

  it('child', () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    left.push(() => child.kill())
  })

  it('grandchild', async () => {
    const child = spawn('/bin/sh', ['-c', 'sleep 61 & echo; wait'], { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    left.push(() => process.kill(-(child.pid ?? 0), 'SIGKILL'))
  })

  it('listener', async () => {
    const server = await listening(createServer())
    left.push(() => server.close())
  })

  it('socket', async () => {
    const server = await listening(createServer((socket) => socket.on('error', () => {})))
    const address = server.address()
    const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    server.close()
    left.push(() => socket.destroy())
  })

  it('file', () => {
    openSync('/etc/hostname', 'r')
  })

  it('ledger', () => {
    const ledger = new Ledger()
    ledger.enter('directory', '/run/x', 'root@h:22#1')
    track({ resources: () => ledger.entries() })
  })

  it('many listeners', async () => {
    const emitter = new EventEmitter()
    for (let count = 0; count < 11; count += 1) emitter.on('x', () => {})
    await new Promise(setImmediate)
  })

  it('nothing', async () => {
    const child = spawn('true', { stdio: 'ignore' })
    const server = await listening(createServer())
    track({ resources: () => [] })
    setTimeout(() => {
      server.close()
      child.kill()
    }, 20)
  })

  it('fails by itself', () => {
    const child = spawn('sleep', ['62'], { stdio: 'ignore' })
    left.push(() => child.kill())
    throw new Error('for a reason of its own')
  })

  it('nothing, after all that', () => {})
})
