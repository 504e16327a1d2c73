/** What the doctor says of one thing. */
export interface Finding {
  /** Of what, in a word or two. */
  readonly about: string
  /** `note`: well, and worth knowing; `problem`: something will fail. */
  readonly is: 'well' | 'note' | 'problem'
  readonly what: string
  /** What to do; empty when there is nothing to do. */
  readonly remedy: string
}

/** All is well. */
export const well = (about: string, what: string): Finding => ({ about, is: 'well', what, remedy: '' })
/** Not what one might expect, and no failure. */
export const note = (about: string, what: string, remedy: string): Finding => ({ about, is: 'note', what, remedy })
/** Something will fail. */
export const problem = (about: string, what: string, remedy: string): Finding => ({ about, is: 'problem', what, remedy })
