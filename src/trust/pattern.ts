/** Whether a known_hosts name list is more than plain names. */
export function isPattern(names: string): boolean {
  return /[*?!]/.test(names)
}

/** Whether a comma-separated list of patterns names this host: one pattern must match, and none that is negated by `!`. */
export function matchesList(list: string, name: string): boolean {
  let matched = false
  for (const entry of list.split(',')) {
    const isNegated = entry.startsWith('!')
    if (!matches(isNegated ? entry.slice(1) : entry, name)) continue
    if (isNegated) return false
    matched = true
  }
  return matched
}

/**
 * `*` is any run of characters, `?` any one. Goes back to the last `*` only, so that no pattern takes more than length × length
 * steps.
 */
function matches(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++
      resume = t
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++resume
    } else {
      return false
    }
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}
