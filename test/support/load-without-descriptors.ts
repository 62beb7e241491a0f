import { closeSync, openSync } from 'node:fs'
import { lazyModule } from '../../packages/core/src/lazy-module.ts'

/** Loads a module with 0, 1, 2 … free descriptors, first every descriptor being used; prints how each try ended. */
const [file] = process.argv.slice(2) as [string]
const load = lazyModule(() => import(file))
const taken: number[] = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch {
  // None is left.
}
const outcomes: unknown[] = []
for (let free = 0; free < 40; free += 1) {
  outcomes.push(
    await load().then(
      ({ value }) => value,
      ({ code, message, retryable }) => ({ code, message, retryable }),
    ),
  )
  closeSync(taken.pop()!)
}
console.log(JSON.stringify(outcomes))
