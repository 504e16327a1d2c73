import { readFileSync } from 'node:fs'
import { transformSync } from 'oxc-transform'

/** The TypeScript module at `path` as JavaScript for the oldest Node we support, with the way back to its lines. */
export function javascript(path) {
  const { code, map, errors } = transformSync(path, readFileSync(path, 'utf8'), {
    target: 'es2022',
    sourcemap: true,
    typescript: { onlyRemoveTypeImports: true },
  })
  if (errors.length > 0)
    throw new SyntaxError(errors.map(({ message, codeframe }) => `${path}: ${message}\n${codeframe}`).join('\n'))
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`
}
