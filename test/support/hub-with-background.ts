import { createToolHub } from '@tool-hub/library/create-tool-hub'

/** A hub that lets a command go on in the background, says its name and waits to be killed. */
const [folder, root, command] = process.argv.slice(2) as [string, string, string]
const hub = createToolHub({
  runs: `${folder}/runs`,
  data: `${folder}/data`,
  run: 'run-lost',
  policy: [{ allow: 'exec' }],
  approve: () => ({ decision: 'allow', by: 'the test' }),
  sandbox: { root },
})
const result = await hub.call('core/exec.run', { command, background: true })
if (!result.ok) throw new Error(result.error.message)
process.stdout.write(`${result.data.sessionId}\n`)
setInterval(() => {}, 1_000)
