import { TunnelError } from '../../errors.ts'

/** For /bin/sh, which ssh runs a ProxyCommand with: nothing in single quotes means anything. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Within a ProxyCommand, where ssh itself replaces what follows a `%`. */
export const percentEscaped = (text: string): string => text.replaceAll('%', '%%')

/**
 * A word of an ssh config file. Bare where it can be, because OpenSSH before 8.7 knows no backslash within quotes.
 * @throws TunnelError `ERR_INVALID_OPTION` for what ends a line, and for what newer versions of ssh replace (`%`, `$`)
 */
export function configWord(text: string, name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (text === '' || /[\u0000-\u001f\u007f%$]/.test(text))
    throw new TunnelError(
      'ERR_INVALID_OPTION',
      `\`${name}\` holds a character that ssh would give a meaning to (%, $ or a control character); use transport 'ssh2'`,
    )
  if (/^[\w.@:+,/[\]-]+$/.test(text)) return text
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
