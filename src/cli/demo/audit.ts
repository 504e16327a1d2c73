import type { TunnelPool } from '../../api/pool.ts'
import type { Census } from '../../testing/index.ts'
import { assertNoLeaks } from '../../testing/index.ts'

/** What is left of a closed pool, by its own ledger and by the kernel, in lines; empty when nothing is. */
export async function audit(pool: TunnelPool, baseline: Census): Promise<{ lines: string[]; isClean: boolean }> {
  const { opened, closed, lost, failed } = pool.stats
  const lines = [`tunnels: ${opened} opened, ${closed} closed (${lost} of them lost), ${failed} dials failed`]
  try {
    await assertNoLeaks(pool, { baseline })
  } catch (error) {
    return { lines: [...lines, 'LEFT BEHIND:', error instanceof Error ? error.message : String(error)], isClean: false }
  }
  return {
    lines: [...lines, 'left by the ledger: 0', 'left by the kernel: 0 children, 0 sockets, 0 listeners, 0 files'],
    isClean: opened === closed,
  }
}
