import { check, type Rule } from '../options/rules.ts'

/** A leading hyphen would be an option to ssh; white space and control characters would be further words or lines of a config file. */
const user: Rule<string> = {
  expected: 'a user name of at most 255 characters, without white space and control characters, not beginning with `-`',
  accepts: (value): value is string => typeof value === 'string' && value.length <= 255 && /^(?!-)[^\s\p{C}]+$/u.test(value),
}
/** Neither a pattern (`*`, `?`, `!`) nor a list (`,`), a marker (`@`) or a hash (`|`) to known_hosts. */
const alias: Rule<string> = {
  expected: 'at most 255 letters, digits and `. _ : % - [ ]`, not beginning with `-`',
  accepts: (value): value is string =>
    typeof value === 'string' && value.length <= 255 && /^(?!-)[A-Za-z0-9._:%[\]-]+$/.test(value),
}

/** @throws TunnelError `ERR_INVALID_OPTION` */
export function checkUser(given: unknown, name: string): string {
  return check(user, name, given)
}

/** @throws TunnelError `ERR_INVALID_OPTION` */
export function checkAlias(given: unknown, name: string): string {
  return check(alias, name, given)
}
