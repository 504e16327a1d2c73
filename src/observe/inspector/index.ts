/** `ssh-warren/inspector`: see the pool live. */
export type * from '../../api/inspector.ts'
export { createInspectorServer } from './server.ts'
