const LONGEST = 300

/** Text from a server or a file as it may be shown: control and invisible characters are spaces, and never longer than `longest`. */
export function shown(text: string, longest = LONGEST): string {
  // What is left out at the beginning and the end must not use up the room, and a long text costs no more than a short one.
  const clean = text
    .slice(0, 2 * longest)
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return clean.length <= longest && text.length <= 2 * longest ? clean : `${clean.slice(0, longest)}…`
}

/** A path as its last name: where things lie is nobody's business who only watches. */
export const withoutFolders = (text: string): string =>
  shown(text, 120).replace(/(?:\.{0,2}|~)(?:\/[^\s/()]+)+(?=\/[^\s/()])/g, '…')
