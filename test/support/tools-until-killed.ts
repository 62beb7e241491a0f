import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'

/** Writes, edits and downloads the same three files again and again until somebody kills it; says when a round is over. */
const [base, url, start] = process.argv.slice(2) as [string, string, string]
const hub = createToolHub({
  sandbox: { root: join(base, 'ws'), network: ['127.0.0.1'], privateRanges: ['127.0.0.1/32'] },
  policy: [{ allow: 'write:fs' }, { allow: 'danger:destructive' }, { allow: 'network' }],
  runs: join(base, 'runs'),
  data: join(base, 'data'),
  run: 'victim',
})

/** Counts the first and the last line up, both or none. */
async function editOnce() {
  const read = await hub.callDynamic('core/fs.readText', { path: 'edited.txt' })
  const now = /^head (\d+)\n/.exec((read.data as { text: string } | undefined)?.text ?? '')?.[1]
  const edits = ['head', 'tail'].map((word) => ({
    oldText: `${word} ${now}\n`,
    newText: `${word} ${Number(now) + 1}\n`,
  }))
  return hub.callDynamic('core/fs.edit', { path: 'edited.txt', edits })
}

for (let n = Number(start); ; n += 1) {
  const text = String(n % 10).repeat(200_000)
  const results = await Promise.all([
    hub.callDynamic('core/fs.writeText', { path: 'written.txt', text, overwrite: true }),
    editOnce(),
    hub.callDynamic('core/http.downloadFile', { url: `${url}?${n}`, destPath: 'loaded.txt', overwrite: true }),
  ])
  const errors = results.flatMap(({ error }) => (error ? [`${error.code}: ${error.message}`] : []))
  writeSync(1, `${errors.join(' ')}\n`)
}
