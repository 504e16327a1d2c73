import { TunnelError } from './errors.ts'
import type { ResolvedTarget } from './target.ts'

type Outcome = { destination: string; error?: TunnelError | undefined }

/** Dials ahead, so many at a time as may connect at once; the outcomes come in the order of the targets. */
export async function warmAll(
  targets: readonly ResolvedTarget[],
  acquire: (index: number) => Promise<void>,
  atOnce: number,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < targets.length; index = next++) {
      const destination = targets[index]?.id ?? ''
      try {
        await acquire(index)
        outcomes[index] = { destination }
      } catch (error) {
        if (!TunnelError.is(error)) throw error
        outcomes[index] = { destination, error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, targets.length) }, worker))
  return outcomes
}
