import { CONTAINMENT_TIMEOUT_MILLIS, playAll } from './containment.ts'

describe('containment: a throw at the second call of any action or guard', function () {
  this.timeout(CONTAINMENT_TIMEOUT_MILLIS)
  playAll(2)
})
