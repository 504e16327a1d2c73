type Stage = 'address' | 'connecting' | 'opening'
/** What has become of one dial, as the rules say it must. */
export interface ModelDial {
  readonly address: string
  readonly isFailing: boolean
  readonly isJump: boolean
  waitsFor: Stage | undefined
  readonly holds: Set<Stage>
  isOver: boolean
}

/** The rules of the limits, written down slowly: arrays, searched from the start each time. */
export class LimitsModel {
  readonly dials: ModelDial[] = []
  readonly #lines: Record<Stage, ModelDial[]> = { address: [], connecting: [], opening: [] }
  readonly #limits: Record<Stage, number>

  constructor(limits: Record<Stage, number>) {
    this.#limits = limits
  }

  enter(dial: Pick<ModelDial, 'address' | 'isFailing' | 'isJump'>): ModelDial {
    const entered: ModelDial = { ...dial, waitsFor: undefined, holds: new Set(), isOver: false }
    this.dials.push(entered)
    this.#stand(entered, 'address')
    return entered
  }

  admit(dial: ModelDial): void {
    this.#stand(dial, 'opening')
  }

  /** The wait ends: of one that has not entered, all of it. */
  abort(dial: ModelDial): void {
    if (dial.waitsFor === 'opening') this.#leaveLine(dial)
    else this.release(dial)
  }

  release(dial: ModelDial): void {
    dial.isOver = true
    this.#leaveLine(dial)
    for (const stage of ['opening', 'connecting', 'address'] as const) {
      dial.holds.delete(stage)
      this.#grant(stage)
    }
  }

  held(stage: Stage, address?: string): ModelDial[] {
    return this.dials.filter((dial) => dial.holds.has(stage) && (address === undefined || dial.address === address))
  }

  #leaveLine(dial: ModelDial): void {
    for (const stage of Object.keys(this.#lines) as Stage[])
      this.#lines[stage] = this.#lines[stage].filter((each) => each !== dial)
    dial.waitsFor = undefined
  }

  #stand(dial: ModelDial, stage: Stage): void {
    dial.waitsFor = stage
    this.#lines[stage].push(dial)
    this.#grant(stage)
  }

  #canHave(dial: ModelDial, stage: Stage): boolean {
    const held = this.held(stage, stage === 'address' ? dial.address : undefined)
    const failing = held.filter((each) => each.isFailing).length
    const limit = this.#limits[stage]
    return held.length < limit && (!dial.isFailing || failing < Math.max(1, Math.floor(limit / 2)))
  }

  #grant(stage: Stage): void {
    for (;;) {
      const order = (dial: ModelDial) => (dial.isFailing ? 2 : 0) + (dial.isJump ? 0 : 1)
      const next = [...this.#lines[stage]].sort((a, b) => order(a) - order(b)).find((dial) => this.#canHave(dial, stage))
      if (next === undefined) return
      this.#leaveLine(next)
      next.holds.add(stage)
      if (stage === 'address') this.#stand(next, 'connecting')
      if (stage !== 'opening') continue
      next.holds.delete('connecting')
      this.#grant('connecting')
    }
  }
}
