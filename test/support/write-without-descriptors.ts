import { closeSync, openSync } from 'node:fs'
import type { WriteFiles } from '../../packages/core/src/handles.ts'
import { createFilesGuard } from '../../packages/sandbox/src/files/files-guard.ts'

/** Changes files with 0, 1, 2 … free descriptors left and prints how each change ended. */
const [root] = process.argv.slice(2) as [string]
const guard = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 1000 })
const signal = new AbortController().signal
const handle = guard.handle({ signal: () => signal, canRead: true, canWrite: true, canOverwrite: true }) as WriteFiles

const taken: number[] = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch {
  // None is left.
}
const code = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error) => error.code,
  )
const outcomes: string[] = []
for (let free = 0; free < 12; free += 1) {
  outcomes.push(
    await code(handle.writeText('old.txt', 'new', { overwrite: true })),
    await code(handle.writeText(`p${free}/q.txt`, 'new')),
    await code(handle.copy('tree', `t${free}`)),
    await code(handle.move('old.txt', `m${free}`).then(() => handle.move(`m${free}`, 'old.txt'))),
    await code(handle.remove(`t${free}`, { recursive: true })),
  )
  closeSync(taken.pop()!)
}
console.log(JSON.stringify(outcomes))
