import { execFile } from 'node:child_process'

const LONGEST_MILLIS = 5_000

/**
 * Tells systemd how far the service is (sd_notify), by its own program: Node has no datagrams over unix sockets. Needs `Type=notify` and `NotifyAccess=all` in the unit. Resolves with what
 * went wrong, or with nothing; without NOTIFY_SOCKET there is nobody to tell.
 */
export function tellSystemd(word: '--ready' | '--stopping', status: string): Promise<string | undefined> {
  const { NOTIFY_SOCKET, PATH } = process.env
  if (NOTIFY_SOCKET === undefined) return Promise.resolve(undefined)
  return new Promise((resolve) => {
    const env = { NOTIFY_SOCKET, ...(PATH === undefined ? {} : { PATH }) }
    const options = { timeout: LONGEST_MILLIS, killSignal: 'SIGKILL', env } as const
    execFile('systemd-notify', [`--pid=${process.pid}`, word, `--status=${status}`], options, (error) =>
      resolve(error === null ? undefined : `systemd-notify failed: ${error.message.split('\n')[0]}`),
    )
  })
}
