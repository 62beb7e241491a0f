import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds } from '../lib/measure.mjs'
import { startPeer } from '../lib/peer.mjs'

const CALLS = 10
const HEAP_MB = 1_000

/** To fork a large process is slow; commands must not pay for what their hub holds. */
export default async function commandLargeHub({ rounds }) {
  const peers = {
    small: await startPeer('exec-true', 'hub', '0'),
    large: await startPeer('exec-true', 'hub', String(HEAP_MB)),
    plainLarge: await startPeer('exec-true', 'spawn', String(HEAP_MB)),
  }
  const contenders = Object.entries(peers).map(([name, peer]) => [
    name,
    async () => (await peer.microsecondsEach(CALLS)) / 1000,
  ])
  const samples = await measureInRounds(Object.fromEntries(contenders), { rounds, warmUps: 1 })
  for (const peer of Object.values(peers)) peer.stop()
  return [
    ratioFigure('hub with 1 GB of heap : small hub', samples.large, samples.small, { goal: 1.5 }),
    figure('hub with 1 GB of heap', samples.large, { unit: 'ms' }),
    figure('small hub', samples.small, { unit: 'ms' }),
    figure('plain spawn with 1 GB of heap', samples.plainLarge, { unit: 'ms' }),
  ]
}
