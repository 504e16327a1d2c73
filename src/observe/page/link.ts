import type { Sample, ShownDestination, ShownDetail, ShownPool } from '../inspector/wire.ts'

/** What the stream says, by the name of the event. */
export interface Said {
  readonly history: readonly Sample[]
  readonly sample: Sample
  readonly pool: ShownPool
  readonly rows: readonly ShownDestination[]
  readonly gone: readonly string[]
  readonly ready: object
}

/** Shows the token of the URL's fragment once, and takes it out of the address bar and the browser's history. */
export async function enter(): Promise<void> {
  const token = location.hash.slice(1)
  if (token === '' || token.startsWith('/')) return
  await fetch('/session', { headers: { authorization: `Bearer ${token}` } })
  history.replaceState(undefined, '', location.pathname)
}

/** Follows the pool's stream; the browser reconnects by itself. `linked` hears whether it is connected. */
export function follow(
  hear: { readonly [Name in keyof Said]: (said: Said[Name]) => void },
  linked: (isUp: boolean) => void,
): void {
  const stream = new EventSource('/stream')
  for (const name of Object.keys(hear) as Array<keyof Said>)
    stream.addEventListener(name, (event) => (hear[name] as (said: unknown) => void)(JSON.parse(event.data)))
  stream.addEventListener('open', () => linked(true))
  stream.addEventListener('error', () => {
    linked(false)
    // Refused, and not only interrupted: the browser does not try again.
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => follow(hear, linked), 2_000)
  })
}

/** What is known of one destination; `undefined` when that cannot be asked now. */
export async function ask(id: string): Promise<ShownDetail | undefined> {
  try {
    const response = await fetch(`/destination?id=${encodeURIComponent(id)}`)
    return response.ok ? await response.json() : undefined
  } catch {
    // The stream tells whether the server is there.
    return undefined
  }
}
