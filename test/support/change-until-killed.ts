import { writeSync } from 'node:fs'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { z } from 'zod'
import { defineTool } from '../../packages/core/src/tool.ts'

/** Changes files of a folder, or takes the changes back, until somebody kills it; says when it has begun. */
const [, , runs, root, task] = process.argv
const churn = defineTool({
  name: 'kill.churn',
  description: 'Changes files in every way, for tests.',
  input: z.strictObject({ n: z.int() }),
  capabilities: ['write:fs', 'danger:destructive'],
  async execute({ n }, { fs }) {
    const overwrite = { overwrite: true }
    await fs.writeText('a.txt', `text ${n}`, overwrite)
    await fs.writeText(`deep/er/${n}.txt`, 'new')
    await fs.move('d', `moved-${n}`)
    await fs.writeText(`moved-${n}/x.txt`, `x ${n}`, overwrite)
    await fs.copy(`moved-${n}`, 'd')
    await fs.remove(`moved-${n}`, { recursive: true })
    await fs.remove(`deep/er/${n}.txt`)
    return n
  },
})
const hub = createToolHub({
  tools: [churn],
  runs,
  ...(task === 'change' && { run: 'victim' }),
  sandbox: { root },
  policy: [{ allow: 'danger:destructive' }],
})
if (task === 'undo') hub.onEvent(() => writeSync(1, 'begun\n'))
if (task === 'undo') await hub.undo({ run: 'victim' })
for (let n = 0; task === 'change'; n++) {
  const result = await hub.call(churn, { n })
  if (!result.ok) throw new Error(result.error.message)
  writeSync(1, 'begun\n')
}
