import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Line, type Stander } from '../../src/limits/line.ts'

class Person implements Stander<Person> {
  before: Person | undefined
  after: Person | undefined
  isStanding = false
  readonly name: number

  constructor(name: number) {
    this.name = name
  }
}

const namesOf = (line: Line<Person>) => {
  const names: number[] = []
  for (let at = line.first; at !== undefined; at = at.after) names.push(at.name)
  return names
}

describe('Line', () => {
  it('keeps the order of an array, whoever leaves from wherever', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 60 }), (moves) => {
        const people = Array.from({ length: 10 }, (_, name) => new Person(name))
        const line = new Line<Person>()
        let expected: number[] = []
        for (const name of moves) {
          const person = people[name] as Person
          const stood = expected.includes(name)
          expected = stood ? expected.filter((each) => each !== name) : [...expected, name]
          if (stood) assert.equal(line.leave(person), true)
          else line.join(person)
          assert.deepEqual(namesOf(line), expected)
          assert.equal(line.size, expected.length)
        }
      }),
    )
  })

  it('does nothing for one who does not stand in it', () => {
    const line = new Line<Person>()
    line.join(new Person(1))
    assert.equal(line.leave(new Person(2)), false)
    assert.deepEqual(namesOf(line), [1])
  })
})
