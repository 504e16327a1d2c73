/** Maps with at most `bound` at work, in the order of `items`; rejects with the first failure, once those at work have ended. */
export async function inParallel<T, R>(items: readonly T[], bound: number, fn: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length)
  const rest = items.entries()
  let isFailed = false
  const work = async (): Promise<void> => {
    for (const [index, item] of rest) {
      if (isFailed) return
      try {
        results[index] = await fn(item)
      } catch (error) {
        isFailed = true
        throw error
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: bound }, work))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return results
}
