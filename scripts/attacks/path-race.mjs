// Runs a race case: another process exchanges an entry with a link to the outside while the op is called.
import { differences, snapshot } from './fixture.mjs'
import { startFlipping } from './flip.mjs'
import { callOf, verdictOf } from './path-calls.mjs'
import { ownFolders } from './path-hub.mjs'
import { openRacePlace } from './race-place.mjs'

const AT_ONCE = 20

/** Makes `raceCalls` calls; allow when some of them went through, deny when none did. */
export async function racePath(attack, hub, fixture, raceCalls) {
  const place = openRacePlace(attack, fixture)
  const input = callOf({ ...attack, confirm: attack.confirm ?? true })
  const forbidden = [attack.forbid_text ?? [], place.forbidden].flat()
  const outside = () => snapshot(fixture.base, { except: [fixture.root, ...ownFolders(fixture)], times: true })
  const before = outside()
  const tally = { allowed: 0, denied: 0, leaks: new Set(), refusal: undefined }
  const flipping = await startFlipping(place.entry, place.link)
  try {
    for (let tries = 0; tries < raceCalls; tries += AT_ONCE) {
      place.prepare(flipping)
      // A run of its own for each round: a hub stops a run that repeats a failing call.
      const run = `race-${tries}`
      const calls = Array.from({ length: AT_ONCE }, () => hub.callDynamic(...input, { run }))
      for (const result of await Promise.all(calls)) count(tally, result, forbidden)
      await hub.endRun(run)
    }
  } finally {
    await flipping.stop()
    place.close()
  }
  const isVain = tally.allowed === 0 || (place.isNamed && tally.denied === 0)
  return {
    ...(tally.allowed > 0 ? { verdict: 'allow' } : tally.refusal),
    ...(isVain && { problem: `${tally.allowed} allowed, ${tally.denied} refused: no race took place` }),
    effects: [...differences(before, outside()).map((line) => `outside ${line}`), ...tally.leaks],
  }
}

function count(tally, result, forbidden) {
  const got = verdictOf(result)
  if (got.verdict === 'allow') tally.allowed += 1
  else tally.denied += 1
  if (got.verdict !== 'allow') tally.refusal = got
  const text = JSON.stringify(result)
  for (const word of forbidden) if (text.includes(word)) tally.leaks.add(`the result holds ${word}`)
}
