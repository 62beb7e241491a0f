const SAMPLES = new Map([
  ['string', 'test'],
  ['number', 2],
  ['integer', 2],
  ['boolean', true],
  ['array', []],
  ['object', {}],
])

/** Arguments that a tool takes: those that it must have, each of its type. */
export function makeArguments({ properties = {}, required = [] }) {
  return Object.fromEntries(required.map((name) => [name, SAMPLES.get(properties[name]?.type) ?? 'test']))
}
