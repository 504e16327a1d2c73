/** Why it ends: in words, and with an error code if it is a failure. */
export interface Why {
  readonly reason: string
  readonly code: string | undefined
  /** Whether it is the jump under it that was lost. */
  readonly isJumps: boolean
}

/** A field of something thrown, if it is text. */
export const field = (value: unknown, name: string): string | undefined => {
  const found =
    typeof value === 'object' && value !== null && name in value ? (value as Record<string, unknown>)[name] : undefined
  return typeof found === 'string' ? found : undefined
}

/** What an event says about the end that it brings; an `error` is what an invoked actor failed with. */
export const whyOf = (event: object): Why => {
  if ('error' in event) return { reason: 'could not open', code: field(event.error, 'code') ?? 'ERR_LOST', isJumps: false }
  const fault = field(event, 'message')
  if (fault !== undefined) return { reason: fault, code: 'ERR_LOST', isJumps: false }
  const isJumps = 'isJumps' in event && event.isJumps === true
  return { reason: field(event, 'reason') ?? (isJumps ? 'its jump was lost' : 'lost'), code: field(event, 'code'), isJumps }
}
