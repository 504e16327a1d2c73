/** Text that came from outside, fit for a message: no control or invisible characters, never longer than `most`. */
export function printable(text: string, most = 200): string {
  const clean = text.slice(0, most).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
  return text.length > most ? `${clean}…` : clean
}
