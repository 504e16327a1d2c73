import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { closed } from '../../src/testing/closed.ts'
import { startOrigin } from './origin.ts'
import { collected } from './raw-client.ts'
import { startSynHole } from './syn-hole.ts'
import { startTarpit } from './tarpit.ts'
import { until } from './until.ts'

describe('a tarpit', () => {
  it('accepts and never writes', async () => {
    await using tarpit = await startTarpit()
    const socket = connect({ host: tarpit.host, port: tarpit.port })
    await once(socket, 'connect')
    socket.write('SSH-2.0-x\r\n')
    await someTurns()
    assert.equal(socket.bytesRead, 0)
    assert.equal(tarpit.connections, 1)
    const gone = closed(socket)
    socket.destroy()
    await gone
  })

  it('ends with clients in it', async () => {
    const tarpit = await startTarpit()
    const socket = connect({ host: tarpit.host, port: tarpit.port })
    await until(() => tarpit.connections === 1)
    const gone = closed(socket)
    await tarpit.close()
    socket.resume()
    await gone
  })
})

describe('a SYN hole', () => {
  it('lets connects hang on every address, while others answer', async () => {
    await using hole = await startSynHole({ hosts: 3 })
    assert.equal(new Set(hole.addresses).size, 3)
    let answered = 0
    const sockets = hole.addresses.map((host) => connect({ host, port: hole.port }))
    for (const socket of sockets) socket.on('error', () => (answered += 1)).on('connect', () => (answered += 1))
    await someTurns()
    assert.equal(answered, 0)
    assert.ok(sockets.every((socket) => socket.connecting))
    const gone = sockets.map(closed)
    for (const socket of sockets) socket.destroy()
    await Promise.all(gone)
  })
})

/** Time for a host that answers to have answered. */
async function someTurns(): Promise<void> {
  await using origin = await startOrigin()
  for (let turn = 0; turn < 10; turn += 1) {
    const socket = connect({ host: origin.host, port: origin.halfClosePort, allowHalfOpen: true })
    socket.end('x')
    await collected(socket)
  }
}
