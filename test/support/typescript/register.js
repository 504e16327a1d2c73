import { Module, register } from 'node:module'
import { javascript } from './javascript.js'

/**
 * `node --import <this file>` runs TypeScript as it stands, compiled in the process itself: there is no compiler beside it that could die or be late.
 */
register('./hooks.js', import.meta.url)

// What mocha requires is the same module as what is imported.
Module._extensions['.ts'] = (module, file) => module._compile(javascript(file), file, 'module')
