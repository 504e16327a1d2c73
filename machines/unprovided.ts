/** Stands where an owner's work belongs until `provide` puts it there. */
export function unprovided(): never {
  throw new Error('this machine is pure: provide its actors before running it')
}
