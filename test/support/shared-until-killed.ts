import { writeSync } from 'node:fs'
import { addLine, openSharedStore, sharedHub } from './shared-hub.ts'

/**
 * Calls a tool with side effects again and again, and kills itself around the write that shares a line of the third call:
 * `started` or `ended`, `before` it is in the store or `after`. Prints each call that was acknowledged.
 */
const [, , folder, machine, root, line, moment] = process.argv as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
]
const store = openSharedStore(folder)
const { append } = store.segments
const die = () => process.kill(process.pid, 'SIGKILL')
let calls = 0
Object.assign(store.segments, {
  async append(batch: Parameters<typeof append>[0]) {
    const isIt = calls === 3 && batch.some(({ lines }) => lines.includes(`"type":"call-${line}"`))
    if (isIt && moment === 'before') die()
    const outcomes = await append(batch)
    if (isIt && moment === 'after') die()
    return outcomes
  },
})
const hub = sharedHub(machine, store, { sandbox: { root }, run: 'victim' })
for (;;) {
  calls++
  const result = await hub.call(addLine, { path: 'a.txt', line: `line ${calls}` })
  if (!result.ok) throw new Error(result.error.message)
  writeSync(1, `${calls}\n`)
}
