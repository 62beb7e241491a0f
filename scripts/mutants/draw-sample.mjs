import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '../fuzz-shell/random.mjs'
import { mutantsOf } from './operators.mjs'

/** No code of ours, or not of a product: tests, what they share, and what is generated. */
const LEFT_OUT = /\.(test|test-d|generated|examples)\.ts$|-suite\.ts$/

/** Draws folder by folder, then an operator, then a place, so that each kind gets its share. */
export function drawSample(root, files, { folders, seed, count }) {
  const random = createRandom(seed)
  const pools = folders.map((folder) => poolOf(root, files, folder)).filter((pool) => pool.size > 0)
  const drawn = []
  while (drawn.length < count && pools.some((pool) => pool.size > 0)) {
    const pool = pools[drawn.length % pools.length]
    if (pool.size === 0) pools.splice(pools.indexOf(pool), 1)
    else drawn.push(takeOne(pool, random))
  }
  return drawn
}

function takeOne(pool, random) {
  const operator = random.pick([...pool.keys()])
  const mutants = pool.get(operator)
  const [mutant] = mutants.splice(random.below(mutants.length), 1)
  if (mutants.length === 0) pool.delete(operator)
  return mutant
}

/** The mutants of a file or folder by their operator. */
function poolOf(root, files, folder) {
  const pool = new Map()
  const sources = files.filter((file) => file === folder || file.startsWith(`${folder}/`))
  for (const file of sources.filter((name) => name.endsWith('.ts') && !LEFT_OUT.test(name))) {
    const source = readFileSync(join(root, file), 'utf8')
    for (const mutant of mutantsOf(source)) {
      if (!pool.has(mutant.operator)) pool.set(mutant.operator, [])
      pool.get(mutant.operator).push({ ...mutant, file, source })
    }
  }
  return pool
}
