// Runs paths.jsonl through the hub's own file tools; looks at everything outside {ROOT} before and after.
import { lstatSync } from 'node:fs'
import { buildFixture, differences, snapshot } from './fixture.mjs'
import { callOf, verdictOf } from './path-calls.mjs'
import { openPathHub, ownFolders } from './path-hub.mjs'
import { racePath } from './path-race.mjs'
import { scoreCase } from './score.mjs'

const HANG_MS = 20_000
const OUTSIDE_TEXT = 'SECRET'

/** The scores of all cases. */
export async function runPaths(attacks, { raceCalls }) {
  const scores = []
  for (const attack of attacks) scores.push(scoreCase(attack, await runCase(attack, raceCalls)))
  return scores
}

async function runCase(attack, raceCalls) {
  const fixture = await buildFixture(attack)
  const hub = openPathHub(fixture, attack)
  const filled = fixture.fill(attack)
  try {
    if (attack.race) return await racePath(filled, hub, fixture, raceCalls)
    return await callOnce(filled, hub, fixture)
  } finally {
    await hub.close({ abort: true })
    fixture.remove()
  }
}

async function callOnce(attack, hub, fixture) {
  const outside = () => [
    ...snapshot(fixture.base, { except: [fixture.root, ...ownFolders(fixture)], times: true }),
    ...strangersOf(attack, fixture).map(describe),
  ]
  const inside = () => snapshot(fixture.root)
  const before = { outside: outside(), inside: inside() }
  const started = performance.now()
  const [tool, input] = callOf(attack)
  const result = await hub.callDynamic(tool, input, { signal: AbortSignal.timeout(attack.max_ms ?? HANG_MS) })
  const elapsedMs = performance.now() - started
  const got = verdictOf(result)
  return {
    ...got,
    effects: [
      ...differences(before.outside, outside()).map((line) => `outside ${line}`),
      // A refused call leaves nothing half-done: neither a patch of which one part was good, nor a folder for a file.
      ...(got.verdict === 'allow' ? [] : differences(before.inside, inside()).map((line) => `half-done: ${line}`)),
      ...leaked(attack, input, result),
      ...(elapsedMs > (attack.max_ms ?? HANG_MS) ? [`blocked for ${Math.round(elapsedMs)} ms`] : []),
    ],
  }
}

/** Texts that must not be in the result, and are; what the input said may be said again. */
function leaked({ accept = [], expected, forbid_text = [] }, input, result) {
  const mayBeThere = [expected, ...accept].includes('allow') || JSON.stringify(input).includes(OUTSIDE_TEXT)
  const forbidden = [forbid_text, mayBeThere ? [] : OUTSIDE_TEXT].flat()
  const text = JSON.stringify(result)
  return forbidden.filter((word) => text.includes(word)).map((word) => `the result holds ${word}`)
}

/** Absolute paths of the case that are not in its folders at all: /etc/passwd, /tmp/x. */
function strangersOf({ path, dest, setup }, { base }) {
  const words = JSON.stringify([path, dest, setup]).match(/(?<=["\s])\/+[^"\s\\]+/g) ?? []
  return words.filter((word) => !word.startsWith(base) && !/^\/+(proc|dev|sys)\b/.test(word) && !word.includes('..'))
}

function describe(file) {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  return stats ? `${file} ${stats.ino} ${stats.mode} ${stats.size} ${stats.mtimeMs}` : `${file} missing`
}
