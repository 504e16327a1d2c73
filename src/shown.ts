const LONGEST = 300

/** Text from a server or a file as it may be shown: without control characters, and bounded. */
export function shown(text: string, longest = LONGEST): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim()
  return clean.length <= longest ? clean : `${clean.slice(0, longest)}…`
}
