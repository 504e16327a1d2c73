import type { Socket } from 'node:net'
import type { ServerChannel } from 'ssh2'
import { sendEof } from './ssh2-inside.ts'

/** Joins a channel and a socket as sshd does: each end travels on its own, and a socket that breaks closes the channel. */
export function bridge(channel: ServerChannel, socket: Socket): void {
  channel.on('data', (bytes: Buffer) => {
    if (!socket.write(bytes)) channel.pause()
  })
  socket.on('drain', () => channel.resume())
  channel.on('end', () => socket.end())
  // What the client has sent before still goes out.
  channel.on('close', () => socket.destroySoon())
  channel.on('error', () => socket.destroy())

  socket.on('data', (bytes: Buffer) => {
    if (!channel.write(bytes)) socket.pause()
  })
  channel.on('drain', () => socket.resume())
  socket.on('end', () => sendEof(channel))
  // Both ends have gone, or it broke; `end` waits for what is still to be sent.
  socket.on('close', () => channel.end())
}
