import type { Target } from '../../src/index.ts'
import { resolvePoolOptions } from '../../src/options.ts'
import { Targets } from '../../src/target/targets.ts'
import { aliasFor, type ConfigRequest, configText } from '../../src/transport/openssh/config.ts'
import { effective } from './ssh-g.ts'

/** A target that says no more than it must. */
export const plain: Target = { host: 'gpu-7', user: 'ops', identity: { agent: true } }

/** What the config of a target is made from. */
export const request = (target: Partial<Target> = {}, more: Partial<ConfigRequest> = {}): ConfigRequest => ({
  target: new Targets(resolvePoolOptions({ transport: 'openssh' })).resolve({ ...plain, ...target }),
  hostKeyAlgorithms: undefined,
  jump: undefined,
  given: undefined,
  ...more,
})
/** All that ssh reads in it. */
export const ask = (given: ConfigRequest) => effective(configText(given), aliasFor(given.target))
/** One keyword of it. */
export const one = (given: ConfigRequest, keyword: string) => ask(given).get(keyword)?.join('|')
