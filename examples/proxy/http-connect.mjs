// Reaches an SSH host through an HTTP proxy that allows CONNECT: `connect: throughHttpProxy('http://user:password@proxy:3128')`.
import { request } from 'node:http'

/** What a target's `connect` may be; make it once per proxy: targets share a connection only if their `connect` is the same function. */
export function throughHttpProxy(proxy) {
  const { hostname, port, username, password } = new URL(proxy)
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  return ({ host, port: hostPort, signal }) =>
    new Promise((resolve, reject) => {
      const to = `${host.includes(':') ? `[${host}]` : host}:${hostPort}`
      // The signal ends a dial that is given up or takes too long; what comes late is closed by the pool.
      const asked = request({
        host: hostname,
        port: port || 80,
        method: 'CONNECT',
        path: to,
        headers: { host: to, ...(username && { 'proxy-authorization': `Basic ${login}` }) },
        agent: false,
        signal,
      })
      asked.once('error', reject)
      asked.once('connect', ({ statusCode, statusMessage }, socket, head) => {
        if (statusCode !== 200) {
          socket.destroy()
          reject(new Error(`the proxy answered ${statusCode} ${statusMessage}`))
          return
        }
        // An SSH server may speak first, in the same packet as the proxy's answer.
        if (head.length > 0) socket.unshift(head)
        resolve(socket.setNoDelay(true))
      })
      // A proxy that refuses may also answer as to any other request.
      asked.once('response', (response) => {
        response.destroy()
        reject(new Error(`the proxy answered ${response.statusCode} ${response.statusMessage}`))
      })
      asked.end()
    })
}
