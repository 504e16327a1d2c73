import { fileURLToPath } from 'node:url'
import { javascript } from './javascript.js'

/** Node's hook: the text of the module at `url`. */
export async function load(url, context, nextLoad) {
  if (!/^file:.*\.ts$/.test(url)) return nextLoad(url, context)
  return { format: 'module', shortCircuit: true, source: javascript(fileURLToPath(url)) }
}
