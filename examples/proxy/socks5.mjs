// Reaches an SSH host through a SOCKS5 proxy: `connect: throughSocks5({ host: '127.0.0.1', port: 1080 })`. Needs `npm install socks`.
import { SocksClient } from 'socks'

/** What a target's `connect` may be; make it once per proxy: targets share a connection only if their `connect` is the same function. */
export function throughSocks5({ host, port, username, password }) {
  return async (to) => {
    const dial = SocksClient.createConnection({
      command: 'connect',
      proxy: { host, port, type: 5, userId: username, password },
      // Names are resolved by the proxy.
      destination: { host: to.host, port: to.port },
    })
    // It knows no signal: when the dial is given up the pool waits no longer, and what comes late it closes.
    const { socket } = await dial
    return socket.setNoDelay(true)
  }
}
