import { commandHub } from '../lib/commands.mjs'
import { figure } from '../lib/figure.mjs'
import { measureInRounds } from '../lib/measure.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const LINES = [
  'git status',
  'git diff --stat HEAD~1 -- src/',
  'ls -la src && grep -rn "TODO" src | head -20',
  'cd packages/api && npm test -- --run src/user.test.ts',
  'for f in a b c; do cat "$f"; done',
  `cat <<'EOF' > notes.md\n# Notes\n${'a line of the note\n'.repeat(50)}EOF`,
  'find . -name "*.ts" -not -path "./node_modules/*" -exec grep -l foo {} +',
  'ls $(git diff --name-only | xargs -n1 dirname | sort -u)',
  `${'ls; '.repeat(60)}rm -rf /`,
  'env FOO=1 timeout 5 sh -c "npm run build && npm test"',
]
const TIMES = 30

/** What a person or a model waits for the judge: the slowest of twenty, over lines as agents write them. */
export default async function commandVerdict({ rounds }) {
  return withTempFolder(async (folder) => {
    const hub = await commandHub(folder)
    const judge = async () => {
      const costs = []
      for (let time = 0; time < TIMES; time++) {
        for (const command of LINES) {
          const start = performance.now()
          await hub.explain('core/exec.run', { command })
          costs.push(performance.now() - start)
        }
      }
      costs.sort((a, b) => a - b)
      return costs
    }
    const p50 = []
    const samples = await measureInRounds(
      {
        p95: async () => {
          const costs = await judge()
          p50.push(costs[Math.floor(costs.length / 2)])
          return costs[Math.floor(costs.length * 0.95)]
        },
      },
      { rounds },
    )
    await hub.close()
    return [
      figure('verdict, p95', samples.p95, { unit: 'ms', goal: 2 }),
      figure('verdict, p50', p50.slice(-rounds), { unit: 'ms' }),
    ]
  })
}
