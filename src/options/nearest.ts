/** How many characters must be put in, left out or replaced to make `b` from `a` (Levenshtein). */
export function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    above = current
  }
  return above[b.length] ?? 0
}

/** The known name that was most likely meant: one that begins alike (`timeout` for `timeoutMillis`), or differs in about a third of it at most. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const wrong = name.toLowerCase().slice(0, 64)
  let best: { name: string; distance: number } | undefined
  for (const candidate of known) {
    const right = candidate.toLowerCase()
    const beginsAlike = wrong !== right && wrong.length >= 3 && (right.startsWith(wrong) || wrong.startsWith(right))
    const distance = beginsAlike ? 1 : editDistance(wrong, right)
    const isNear = distance <= Math.ceil(Math.max(right.length, wrong.length) / 3)
    if (isNear && distance < (best?.distance ?? Infinity)) best = { name: candidate, distance }
  }
  return best?.name
}
