import { writeSync } from 'node:fs'
import type { WriteFiles } from '../../packages/core/src/handles.ts'
import { createFilesGuard } from '../../packages/sandbox/src/files/files-guard.ts'

/** Replaces, creates, removes and copies below a root until somebody kills it; says when it has begun. */
const [root, draftsFolder] = process.argv.slice(2) as [string, string]
const guard = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 1000, draftsFolder })
const signal = new AbortController().signal
const handle = guard.handle({ signal: () => signal, canRead: true, canWrite: true, canOverwrite: true }) as WriteFiles

for (let n = 0; ; n += 1) {
  const text = String(n % 10).repeat(200_000)
  const name = `made-${process.pid}-${n}`
  await Promise.all([
    handle.writeText('one.txt', text, { overwrite: true }),
    handle.writeText(`${name}/new.txt`, text),
    handle.copy('tree', `${name}-tree`),
  ])
  await handle.move(`${name}/new.txt`, `${name}/moved.txt`)
  await Promise.all([`${name}-tree`, name].map((path) => handle.remove(path, { recursive: true })))
  if (n === 0) writeSync(1, 'started\n')
}
