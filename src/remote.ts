import type { Remote } from './api/forward.ts'

/** A remote endpoint as people write it: `127.0.0.1:10998`, `[::1]:80` or a path. */
export function remoteName(to: Remote): string {
  if ('socketPath' in to) return to.socketPath
  const host = to.host ?? '127.0.0.1'
  return host.includes(':') ? `[${host}]:${to.port}` : `${host}:${to.port}`
}
